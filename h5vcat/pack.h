/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bytes to send: a growing buffer, and a bounded cursor to take them apart again.
 */
#ifndef H5VCAT_PACK_H
#define H5VCAT_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct pack {
    char *bytes;
    size_t size, room;
    bool failed; /* out of memory; later puts do nothing */
};

static inline void pack_put(struct pack *p, const void *data, size_t size)
{
    if (p->failed || size == 0)
        return;
    if (p->size + size > p->room) {
        size_t room = 2 * p->room + size + 256;
        char *bytes = realloc(p->bytes, room);
        if (!bytes) {
            p->failed = true;
            return;
        }
        p->bytes = bytes;
        p->room = room;
    }
    memcpy(p->bytes + p->size, data, size);
    p->size += size;
}

static inline void pack_u64(struct pack *p, uint64_t v)
{
    pack_put(p, &v, sizeof v);
}

/* Size and bytes; NULL is told apart from empty. */
static inline void pack_blob(struct pack *p, const void *data, size_t size)
{
    pack_u64(p, data ? (uint64_t)size : UINT64_MAX);
    if (data)
        pack_put(p, data, size);
}

struct unpack {
    const char *at, *end;
    bool failed; /* ran over the end; what came out since is zero */
};

static inline const void *unpack_get(struct unpack *u, size_t size)
{
    if (u->failed || (size_t)(u->end - u->at) < size) {
        u->failed = true;
        return NULL;
    }
    const void *p = u->at;
    u->at += size;
    return p;
}

static inline uint64_t unpack_u64(struct unpack *u)
{
    uint64_t v = 0;
    const void *p = unpack_get(u, sizeof v);
    if (p)
        memcpy(&v, p, sizeof v);
    return v;
}

static inline const void *unpack_blob(struct unpack *u, size_t *size)
{
    uint64_t n = unpack_u64(u);
    *size = 0;
    if (u->failed || n == UINT64_MAX)
        return NULL;
    const void *p = unpack_get(u, (size_t)n);
    if (p)
        *size = (size_t)n;
    return p;
}

#endif

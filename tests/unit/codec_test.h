/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the tests of vector-codec share: buffers that end at a page which may not be touched, so that reading
 * or writing a byte too far is a crash under any build, and WKB and WKT spelled in strings.
 */
#ifndef CODEC_TEST_H
#define CODEC_TEST_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "suite.h"
#include "vcodec.h"

/* Room for size bytes that end where a page without access begins. Never freed: a test is a process. */
static inline uint8_t *guarded(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t room = (size + page - 1) / page * page;
    uint8_t *base = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(base != MAP_FAILED);
    ck_assert_int_eq(mprotect(base + room, page, PROT_NONE), 0);
    return base + room - size;
}

struct bytes {
    uint8_t *data;
    size_t size;
};

/* Hexadecimal digits, blanks between them ignored, as guarded bytes. */
static inline struct bytes from_hex(const char *hex)
{
    uint8_t raw[4096];
    size_t n = 0;
    for (const char *p = hex; *p; p += 2) {
        while (*p == ' ')
            p++;
        if (!*p)
            break;
        char digits[3] = {p[0], p[1], 0};
        ck_assert(n < sizeof raw);
        raw[n++] = (uint8_t)strtoul(digits, NULL, 16);
    }
    struct bytes b = {guarded(n), n};
    memcpy(b.data, raw, n);
    return b;
}

/* The WKB of a WKT that must be good. */
static inline struct bytes from_wkt(const char *wkt)
{
    uint8_t raw[1 << 16];
    struct vcodec_info info;
    struct h5vec_error err = {0};
    enum h5vec_status status =
        vcodec_wkt_read(wkt, strlen(wkt), VCODEC_ALLOW_NONFINITE, raw, sizeof raw, &info, &err);
    ck_assert_msg(!status && info.wkb_size <= sizeof raw, "%s: %s", wkt, err.msg);
    struct bytes b = {guarded(info.wkb_size), info.wkb_size};
    memcpy(b.data, raw, b.size);
    return b;
}

/* The WKT of a WKB that must be good, in buffer. */
static inline const char *to_wkt(struct bytes wkb, char *buffer, size_t capacity)
{
    size_t length = 0;
    struct h5vec_error err = {0};
    enum h5vec_status status = vcodec_wkt_write(wkb.data, wkb.size, buffer, capacity, &length, &err);
    ck_assert_msg(!status && length < capacity, "%s", err.msg);
    buffer[length] = '\0';
    return buffer;
}

#endif

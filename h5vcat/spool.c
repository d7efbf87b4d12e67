/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A spool is a log: appended pieces follow each other whatever their stream, and each stream has the list of
 * its extents in the log, in order. Pieces of one stream that meet in the log join into one extent.
 */
#include "error.h"
#include "spool.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "file.h"

struct extent {
    uint64_t at;   /* first byte in the stream */
    uint64_t log;  /* first byte in the log */
    uint64_t size; /* bytes */
};

struct stream {
    struct extent *extents;
    size_t count, room;
    uint64_t length;
};

struct spool {
    char *directory;
    size_t memory; /* limit of buffer */
    char *buffer;  /* the log's bytes while fd < 0 */
    size_t room;
    uint64_t length; /* of the log */
    int fd;
    struct stream *streams;
    int count;
};

enum h5vec_status h5vcat_spool_new(const char *directory, size_t memory, struct spool **out,
                                   struct h5vec_error *err)
{
    struct spool *s = calloc(1, sizeof *s);
    char *copy = strdup(directory);
    if (!s || !copy) {
        free(s);
        free(copy);
        return h5vcat_no_memory(err);
    }
    *s = (struct spool){.directory = copy, .memory = memory, .fd = -1};
    *out = s;
    return H5VEC_OK;
}

void h5vcat_spool_free(struct spool *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->count; i++)
        free(s->streams[i].extents);
    if (s->fd >= 0)
        close(s->fd);
    free(s->streams);
    free(s->buffer);
    free(s->directory);
    free(s);
}

enum h5vec_status h5vcat_spool_stream(struct spool *s, int *stream, struct h5vec_error *err)
{
    struct stream *p = realloc(s->streams, ((size_t)s->count + 1) * sizeof *p);
    if (!p)
        return h5vcat_no_memory(err);
    s->streams = p;
    p[s->count] = (struct stream){0};
    *stream = s->count++;
    return H5VEC_OK;
}

uint64_t h5vcat_spool_length(const struct spool *s, int stream)
{
    return s->streams[stream].length;
}

/* Move the log to a file that vanishes with its descriptor. */
static enum h5vec_status to_file(struct spool *s, struct h5vec_error *err)
{
    size_t length = strlen(s->directory) + 32;
    char *path = malloc(length);
    if (!path)
        return h5vcat_no_memory(err);
    snprintf(path, length, "%s/.h5vcat-spool-XXXXXX", s->directory);
    s->fd = mkstemp(path);
    if (s->fd >= 0)
        unlink(path);
    free(path);
    if (s->fd < 0) {
        h5vec_error_set(err, H5VEC_E_IO, 0, "%s: cannot make a temporary file here: %s", s->directory,
                        strerror(errno));
        return H5VEC_E_IO;
    }
    enum h5vec_status st = H5VEC_OK;
    if (s->length)
        st = h5vcat_file_write(s->fd, s->directory, 0, s->buffer, s->length, err);
    free(s->buffer);
    s->buffer = NULL;
    return st;
}

static enum h5vec_status log_append(struct spool *s, const void *data, size_t size, struct h5vec_error *err)
{
    if (s->fd < 0 && s->length + size > s->memory) {
        enum h5vec_status st = to_file(s, err);
        if (st)
            return st;
    }
    if (s->fd >= 0)
        return h5vcat_file_write(s->fd, s->directory, s->length, data, size, err);
    if (s->length + size > s->room) {
        size_t room = 2 * s->room + size + 4096;
        char *p = realloc(s->buffer, room);
        if (!p)
            return h5vcat_no_memory(err);
        s->buffer = p;
        s->room = room;
    }
    memcpy(s->buffer + s->length, data, size);
    return H5VEC_OK;
}

enum h5vec_status h5vcat_spool_append(struct spool *s, int stream, const void *data, size_t size,
                                      struct h5vec_error *err)
{
    if (size == 0)
        return H5VEC_OK;
    enum h5vec_status st = log_append(s, data, size, err);
    if (st)
        return st;
    struct stream *t = &s->streams[stream];
    struct extent *last = t->count ? &t->extents[t->count - 1] : NULL;
    if (last && last->log + last->size == s->length) {
        last->size += size;
    } else {
        if (!t->extents || t->count == t->room) {
            size_t room = t->room ? 2 * t->room : 4;
            struct extent *p = realloc(t->extents, room * sizeof *p);
            if (!p)
                return h5vcat_no_memory(err);
            t->extents = p;
            t->room = room;
        }
        t->extents[t->count++] = (struct extent){t->length, s->length, size};
    }
    t->length += size;
    s->length += size;
    return H5VEC_OK;
}

/* The extent that holds byte offset of the stream. */
static size_t find(const struct stream *t, uint64_t offset)
{
    size_t lo = 0, hi = t->count;
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        if (t->extents[mid].at <= offset)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

enum h5vec_status h5vcat_spool_read(struct spool *s, int stream, uint64_t offset, void *data, size_t size,
                                    struct h5vec_error *err)
{
    const struct stream *t = &s->streams[stream];
    if (offset > t->length || size > t->length - offset)
        return h5vec_error_set(err, H5VEC_E_INTERNAL, 0, "read past the end of a spooled stream");
    char *to = data;
    for (size_t i = size ? find(t, offset) : 0; size > 0; i++) {
        const struct extent *e = &t->extents[i];
        uint64_t skip = offset - e->at;
        size_t n = e->size - skip < size ? (size_t)(e->size - skip) : size;
        enum h5vec_status st = H5VEC_OK;
        if (s->fd < 0)
            memcpy(to, s->buffer + e->log + skip, n);
        else
            st = h5vcat_file_read(s->fd, s->directory, e->log + skip, to, n, err);
        if (st)
            return st;
        to += n;
        offset += n;
        size -= n;
    }
    return H5VEC_OK;
}

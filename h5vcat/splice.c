/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Deflate is a sequence of blocks of symbols; a symbol means the same wherever it stands, as long as the 32
 * KiB of bytes before it are the same and its block's header is. So:
 *
 * - A whole stream is copied from its first block to its last, with the last one's final-block bit cleared.
 * - A part that begins where the stream does ends with the last symbol that fits, its block's own
 * end-of-block code, and a new block for the at most 257 bytes that are left.
 * - A part that begins later begins with 32 KiB deflated anew, since symbols may refer to bytes that are no
 * longer before them, but not further back than that; then its block's header is repeated, and the symbols
 * follow.
 *
 * Bits land anywhere in a byte, so all copies shift. A stored block's bytes stand on byte borders in both
 * streams: its zero fill is made anew, and from there on nothing needs shifting.
 */
#include "error.h"
#include "splice.h"
#include <libdeflate.h>
#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>
#include "deflate_scan.h"
#include "deflate_tables.h"
#include "filters.h"

#define REACH 32768 /* how far back a match may refer */

struct h5vcat_splice {
    struct coder *coder;
    struct deflate_scanner *scanner;
    struct pipeline pipeline; /* deflate alone */
    enum h5vcat_encoder encoder;
    struct h5vcat_splice_counts counts;
    /* The output: size whole bytes, then `pending` bits of the next one. */
    uint8_t *out;
    size_t room, size;
    unsigned pending;
    uint64_t bits;
    bool full;
    uint32_t adler;
    /* Where h5vcat_splice_raw works. */
    uint8_t *deflated, *inflated;
    size_t deflated_room, inflated_room;
};

/* ---- Writing bits ------------------------------------------------------------------------------------ */

static bool has_room(struct h5vcat_splice *s, uint64_t bytes)
{
    s->full = s->full || bytes > s->room - s->size;
    return !s->full;
}

/* n <= 56 bits. */
static void put(struct h5vcat_splice *s, uint64_t v, unsigned n)
{
    if (!has_room(s, 8))
        return;
    s->bits |= v << s->pending;
    for (s->pending += n; s->pending >= 8; s->pending -= 8, s->bits >>= 8)
        s->out[s->size++] = (uint8_t)s->bits;
}

static void fill_byte(struct h5vcat_splice *s)
{
    put(s, 0, (8 - s->pending) % 8);
}

static void put_bytes(struct h5vcat_splice *s, const void *bytes, size_t n)
{
    if (!has_room(s, n))
        return;
    memcpy(s->out + s->size, bytes, n);
    s->size += n;
}

/* A stored block that is not the last. */
static void put_stored(struct h5vcat_splice *s, const void *bytes, size_t n)
{
    put(s, 0, 3);
    fill_byte(s);
    put(s, n | (~n & 0xffff) << 16, 32);
    put_bytes(s, bytes, n);
}

/* n <= 8 bits of the input from bit on. */
static unsigned get(const uint8_t *in, uint64_t bit, unsigned n)
{
    unsigned shift = bit % 8, v = (unsigned)in[bit / 8] >> shift;
    if (shift + n > 8)
        v |= (unsigned)in[bit / 8 + 1] << (8 - shift);
    return v & ((1u << n) - 1);
}

/* n bytes of the input from bit on, to a byte border of the output. */
static void copy_bytes(struct h5vcat_splice *s, const uint8_t *in, uint64_t bit, size_t n)
{
    const uint8_t *from = in + bit / 8;
    unsigned shift = bit % 8;
    uint8_t *to = s->out + s->size, *end = to + n;
    s->size += n;
    if (shift == 0) {
        memcpy(to, from, n);
        return;
    }
    for (; end - to >= 8; to += 7, from += 7) { /* the eighth byte is written again */
        h5vcat_deflate_store64(to, h5vcat_deflate_load64(from) >> shift);
    }
    for (; to < end; to++, from++)
        *to = (uint8_t)(from[0] >> shift | from[1] << (8 - shift));
}

/* Bits [bit, end) of the input. */
static void copy_bits(struct h5vcat_splice *s, const uint8_t *in, uint64_t bit, uint64_t end)
{
    if (bit >= end || !has_room(s, (end - bit) / 8 + 16))
        return;
    while (s->pending && bit < end) {
        unsigned n = 8 - s->pending;
        n = n < end - bit ? n : (unsigned)(end - bit);
        put(s, get(in, bit, n), n);
        bit += n;
    }
    size_t n = (size_t)((end - bit) / 8);
    copy_bytes(s, in, bit, n);
    bit += 8 * n;
    if (bit < end)
        put(s, get(in, bit, (unsigned)(end - bit)), (unsigned)(end - bit));
}

/* The same, with the final-block bit of the header at `last` cleared if it is among them. */
static void copy_not_final(struct h5vcat_splice *s, const uint8_t *in, uint64_t bit, uint64_t end,
                           uint64_t last)
{
    if (last >= bit && last < end) {
        copy_bits(s, in, bit, last);
        put(s, 0, 1);
        bit = last + 1;
    }
    copy_bits(s, in, bit, end);
}

/* The same, with the fill of the first stored block made anew. */
static void copy_blocks(struct h5vcat_splice *s, const uint8_t *in, uint64_t bit, uint64_t end,
                        const struct deflate_scan *scan)
{
    if (scan->stored >= bit && scan->stored < end) {
        copy_not_final(s, in, bit, scan->stored + 3, scan->last);
        fill_byte(s);
        bit = (scan->stored + 3 + 7) / 8 * 8;
    }
    copy_not_final(s, in, bit, end, scan->last);
}

/* What lies between the two borders of a scan. */
static void copy_part(struct h5vcat_splice *s, const uint8_t *in, const uint8_t *raw,
                      const struct deflate_scan *scan)
{
    const struct deflate_border *b = &scan->begin, *e = &scan->end;
    bool together = b->header && b->header == e->header;
    uint64_t bit = b->bit;
    if (b->header && b->type == 0) {
        put_stored(s, raw + b->raw, together ? e->raw - b->raw : b->left);
        bit = b->bit + 8 * (uint64_t)b->left;
        if (together)
            return;
    } else if (b->header) {
        put(s, 0, 1);
        copy_bits(s, in, b->header + 1, b->body);
    }
    if (e->header && e->type == 0) {
        copy_blocks(s, in, bit, e->header, scan);
        put_stored(s, raw + e->block_raw, e->raw - e->block_raw);
        return;
    }
    copy_blocks(s, in, bit, e->bit, scan);
    if (e->header)
        put(s, e->end_code, e->end_bits);
}

/* ---- New, begin, finish ------------------------------------------------------------------------------ */

enum h5vec_status h5vcat_splice_new(struct h5vcat_splice **out, struct h5vec_error *err)
{
    struct h5vcat_splice *s = calloc(1, sizeof *s);
    if (!s)
        return h5vcat_no_memory(err);
    s->scanner = h5vcat_deflate_scanner_new();
    if (!s->scanner || h5vcat_coder_new(&s->coder, err)) {
        h5vcat_splice_free(s);
        return h5vcat_no_memory(err);
    }
    s->pipeline.count = 1;
    s->pipeline.filter[0].id = H5Z_FILTER_DEFLATE;
    *out = s;
    return H5VEC_OK;
}

void h5vcat_splice_free(struct h5vcat_splice *s)
{
    if (!s)
        return;
    h5vcat_coder_free(s->coder);
    h5vcat_deflate_scanner_free(s->scanner);
    free(s->deflated);
    free(s->inflated);
    free(s);
}

void h5vcat_splice_run_begin(struct h5vcat_splice *s, enum h5vcat_encoder encoder, int level, void *out,
                             size_t room)
{
    s->encoder = encoder;
    s->pipeline.level = level;
    s->pipeline.filter[0].value = (unsigned)level;
    s->out = out;
    s->room = room;
    s->size = s->pending = 0;
    s->bits = 0;
    s->full = false;
    s->adler = 1;
}

void h5vcat_splice_begin(struct h5vcat_splice *s, enum h5vcat_encoder encoder, int level, void *out,
                         size_t room)
{
    h5vcat_splice_run_begin(s, encoder, level, out, room);
    put(s, 0x9c78, 16); /* a window of 32 KiB, the usual level */
}

static enum h5vec_status finish(const struct h5vcat_splice *s, size_t *size, struct h5vec_error *err)
{
    if (s->full)
        return h5vec_error_set(err, H5VEC_E_ARG, 0, "the joined stream does not fit %zu bytes", s->room);
    *size = s->size;
    return H5VEC_OK;
}

enum h5vec_status h5vcat_splice_finish(struct h5vcat_splice *s, size_t *size, struct h5vec_error *err)
{
    put(s, 3, 10); /* a last block, of fixed codes, with nothing in it */
    fill_byte(s);
    put(s, __builtin_bswap32(s->adler), 32);
    return finish(s, size, err);
}

enum h5vec_status h5vcat_splice_run_finish(struct h5vcat_splice *s, size_t *size, uint32_t *adler,
                                           struct h5vec_error *err)
{
    if (s->pending)
        put_stored(s, "", 0);
    enum h5vec_status st = finish(s, size, err);
    if (!st)
        *adler = s->adler;
    return st;
}

const struct h5vcat_splice_counts *h5vcat_splice_counted(const struct h5vcat_splice *s)
{
    return &s->counts;
}

/* ---- Appending --------------------------------------------------------------------------------------- */

void h5vcat_splice_run(struct h5vcat_splice *s, const void *run, size_t size, size_t raw_size, uint32_t adler)
{
    if (s->pending)
        put_stored(s, "", 0);
    put_bytes(s, run, size);
    s->adler = (uint32_t)adler32_combine(s->adler, adler, (z_off_t)raw_size);
}

/* All of a stream. */
static enum deflate_result append_whole(struct h5vcat_splice *s, const uint8_t *stream, size_t size,
                                        void *raw, size_t raw_size, struct deflate_scan *scan)
{
    enum deflate_result result =
        h5vcat_deflate_scan(s->scanner, stream, size, raw, raw_size, 0, raw_size, scan);
    if (result)
        return result;
    copy_part(s, stream, raw, scan);
    s->adler = (uint32_t)adler32_combine(s->adler, scan->adler, (z_off_t)raw_size);
    return DEFLATE_OK;
}

static bool grow(uint8_t **buffer, size_t *room, size_t size)
{
    if (size <= *room)
        return true;
    free(*buffer);
    *buffer = malloc(size);
    *room = *buffer ? size : 0;
    return *buffer;
}

enum h5vec_status h5vcat_splice_raw(struct h5vcat_splice *s, const void *bytes, size_t count,
                                    struct h5vec_error *err)
{
    struct deflate_scan scan;
    size_t size;
    if (count == 0)
        return H5VEC_OK;
    if (!grow(&s->deflated, &s->deflated_room, h5vcat_coder_bound(&s->pipeline, count)) ||
        !grow(&s->inflated, &s->inflated_room, count))
        return h5vcat_no_memory(err);
    enum h5vec_status st =
        h5vcat_coder_encode(s->coder, &s->pipeline, s->encoder, bytes, count, s->deflated, &size, err);
    if (st)
        return st;
    if (append_whole(s, s->deflated, size, s->inflated, count, &scan))
        return h5vec_error_set(err, H5VEC_E_INTERNAL, 0, "a stream of our own cannot be read");
    s->counts.encoded += count;
    return H5VEC_OK;
}

/* A part of a stream: rim, symbols, rim. */
static enum h5vec_status append_part(struct h5vcat_splice *s, const uint8_t *stream, const uint8_t *raw,
                                     size_t from, size_t to, const struct deflate_scan *scan,
                                     struct h5vec_error *err)
{
    size_t begin = scan->begin.raw, end = scan->end.raw;
    if (begin >= end)
        return h5vcat_splice_raw(s, raw + from, to - from, err);
    enum h5vec_status st = h5vcat_splice_raw(s, raw + from, begin - from, err);
    if (st)
        return st;
    copy_part(s, stream, raw, scan);
    s->adler = libdeflate_adler32(s->adler, raw + begin, end - begin);
    s->counts.spliced += end - begin;
    return h5vcat_splice_raw(s, raw + end, to - end, err);
}

enum h5vec_status h5vcat_splice_stream(struct h5vcat_splice *s, const void *stream, size_t size, void *raw,
                                       size_t raw_size, size_t from, size_t to, struct h5vec_error *err)
{
    struct deflate_scan scan;
    enum deflate_result result;
    enum h5vec_status st = H5VEC_OK;
    if (from == 0 && to == raw_size) {
        result = append_whole(s, stream, size, raw, raw_size, &scan);
        s->counts.copied += result ? 0 : raw_size;
    } else {
        size_t begin = from == 0 ? 0 : to - from < REACH ? to : from + REACH;
        result = h5vcat_deflate_scan(s->scanner, stream, size, raw, raw_size, begin, to, &scan);
        if (!result)
            st = append_part(s, stream, raw, from, to, &scan, err);
    }
    if (result)
        return h5vec_error_set(err, H5VEC_E_DATA, 0, "%s", h5vcat_deflate_why(result));
    s->counts.surplus += size - scan.used;
    return st;
}

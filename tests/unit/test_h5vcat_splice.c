/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Joined streams against zlib and libdeflate: both must give back the bytes, whatever the streams were made
 * by and wherever they were cut. And the scanner against zlib: it accepts what zlib accepts, and nothing
 * else.
 */
#include <libdeflate.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include "deflate_scan.h"
#include "h5vcat_splice.h"
#include "splice.h"
#include "suite.h"

#define MOST ((size_t)100 * 1024) /* bytes of a piece */
#define PIECES 8

static uint64_t state;

/* Under valgrind, a part of the cases. */
static uint64_t fewer(void)
{
    return getenv("H5VEC_FEWER_CASES") ? 4 : 1;
}

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % below);
}

/* Text, runs, small numbers, noise and repeats, in stretches. */
static void fill(uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t stretch = 1 + draw(draw(4) ? 3000 : 60000), kind = draw(6), back = 1 + draw(32768);
        for (; stretch > 0 && i < n; stretch--, i++) {
            if (kind == 0)
                bytes[i] = (uint8_t)draw(256);
            else if (kind == 1)
                bytes[i] = (uint8_t)("etaoin shrdlu"[draw(13)]);
            else if (kind == 2)
                bytes[i] = i % 4 ? 0 : (uint8_t)draw(9);
            else if (kind == 3 || i < back)
                bytes[i] = 7;
            else
                bytes[i] = draw(40) ? bytes[i - back] : (uint8_t)draw(256);
        }
    }
}

/* By zlib: any level, strategy, window and memory, now and then flushed, which makes blocks of all kinds and
 * sizes. */
static size_t deflate_by_zlib(const uint8_t *raw, size_t n, uint8_t *out, size_t room)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)raw, .next_out = out, .avail_out = (uInt)room};
    static const int flushes[] = {Z_NO_FLUSH, Z_PARTIAL_FLUSH, Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_BLOCK};
    ck_assert_int_eq(
        deflateInit2(&z, (int)draw(10), Z_DEFLATED, 9 + (int)draw(7), 1 + (int)draw(9), (int)draw(5)), Z_OK);
    size_t step = draw(3) ? n + 1 : 1 + draw(draw(2) ? 200 : 20000);
    for (size_t at = 0; at < n; at += step) {
        z.avail_in = (uInt)(step < n - at ? step : n - at);
        ck_assert_int_ge(deflate(&z, flushes[draw(5)]), Z_BUF_ERROR);
        ck_assert_uint_eq(z.avail_in, 0);
        if (draw(50) == 0)
            deflateParams(&z, (int)draw(10), (int)draw(5));
    }
    ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return room - z.avail_out;
}

static size_t deflate_any(const uint8_t *raw, size_t n, uint8_t *out, size_t room)
{
    if (draw(2))
        return deflate_by_zlib(raw, n, out, room);
    struct libdeflate_compressor *c = libdeflate_alloc_compressor((int)draw(13));
    size_t size = libdeflate_zlib_compress(c, raw, n, out, room);
    libdeflate_free_compressor(c);
    ck_assert_uint_gt(size, 0);
    return size;
}

/* Both readers give back the bytes. */
static void check_readers(const uint8_t *stream, size_t size, const uint8_t *raw, size_t n)
{
    uint8_t *back = malloc(n + 1);
    uLongf length = (uLongf)n + 1;
    size_t got = 0;
    ck_assert_int_eq(uncompress(back, &length, stream, (uLong)size), Z_OK);
    ck_assert_uint_eq(length, n);
    ck_assert(memcmp(back, raw, n) == 0);
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    ck_assert_int_eq(libdeflate_zlib_decompress(d, stream, size, back, n + 1, &got), LIBDEFLATE_SUCCESS);
    ck_assert_uint_eq(got, n);
    ck_assert(memcmp(back, raw, n) == 0);
    libdeflate_free_decompressor(d);
    free(back);
}

struct bench {
    struct h5vcat_splice *splice, *runs;
    uint8_t *raw, *stream, *work, *out, *whole;
    size_t room;
};

static void set_up(struct bench *b)
{
    *b = (struct bench){.room = (size_t)PIECES * (2 * MOST + 100000)};
    ck_assert(h5vcat_splice_new(&b->splice, NULL) == H5VEC_OK &&
              h5vcat_splice_new(&b->runs, NULL) == H5VEC_OK);
    b->raw = malloc(MOST);
    b->work = malloc(MOST);
    b->stream = malloc(b->room);
    b->out = malloc(b->room);
    b->whole = malloc((size_t)PIECES * MOST);
}

static void tear_down(struct bench *b)
{
    h5vcat_splice_free(b->splice);
    h5vcat_splice_free(b->runs);
    free(b->raw);
    free(b->work);
    free(b->stream);
    free(b->out);
    free(b->whole);
}

/* A size and a cut of it, often at an end. */
static size_t draw_cut(size_t *from, size_t *to)
{
    size_t n = draw(4) ? draw(MOST) : draw(300);
    *from = draw(2) ? 0 : draw((uint32_t)n + 1);
    *to = draw(2) ? n : *from + draw((uint32_t)(n - *from) + 1);
    return n;
}

/* Append a random piece; its bytes go to whole + *total. */
static void append(struct bench *b, struct h5vcat_splice *s, size_t *total)
{
    size_t from, to, n = draw_cut(&from, &to);
    struct h5vec_error err = {0};
    fill(b->raw, n);
    if (draw(6) == 0) {
        from = 0;
        to = n;
        ck_assert_msg(h5vcat_splice_raw(s, b->raw, n, &err) == H5VEC_OK, "%s", err.msg);
    } else {
        size_t size = deflate_any(b->raw, n, b->stream, b->room), more = draw(3) ? 0 : draw(20);
        memset(b->stream + size, 0x55, more);
        uint64_t surplus = h5vcat_splice_counted(s)->surplus;
        ck_assert_msg(h5vcat_splice_stream(s, b->stream, size + more, b->work, n, from, to, &err) == H5VEC_OK,
                      "%s", err.msg);
        ck_assert(memcmp(b->work, b->raw, n) == 0);
        ck_assert_uint_eq(h5vcat_splice_counted(s)->surplus - surplus, more);
    }
    memcpy(b->whole + *total, b->raw + from, to - from);
    *total += to - from;
}

/* Pieces that first become a run. */
static void append_run(struct bench *b, size_t *total)
{
    size_t begin = *total, size = 0;
    uint32_t adler = 0;
    uint8_t *run = malloc(b->room);
    h5vcat_splice_run_begin(b->runs, H5VCAT_ENCODER_LIBDEFLATE, 1, run, b->room);
    append(b, b->runs, total);
    ck_assert(h5vcat_splice_run_finish(b->runs, &size, &adler, NULL) == H5VEC_OK);
    h5vcat_splice_run(b->splice, run, size, *total - begin, adler);
    free(run);
}

START_TEST(test_random_cuts)
{
    struct bench b;
    set_up(&b);
    for (uint64_t seed = 0; seed < 60 / fewer(); seed++) {
        state = seed * 10 + (uint64_t)_i;
        size_t total = 0, size = 0;
        int pieces = (int)draw(PIECES);
        h5vcat_splice_begin(b.splice, draw(4) ? H5VCAT_ENCODER_LIBDEFLATE : H5VCAT_ENCODER_ZLIB,
                            1 + (int)draw(9), b.out, b.room);
        for (int i = 0; i < pieces; i++) {
            if (draw(4))
                append(&b, b.splice, &total);
            else
                append_run(&b, &total);
        }
        ck_assert(h5vcat_splice_finish(b.splice, &size, NULL) == H5VEC_OK);
        check_readers(b.out, size, b.whole, total);
    }
    const struct h5vcat_splice_counts *n = h5vcat_splice_counted(b.splice);
    ck_assert(n->copied > 0 && n->spliced > 0 && n->encoded > 0 && n->surplus > 0);
    tear_down(&b);
}
END_TEST

/* A cut costs 32 KiB at its begin (and what is left of a stored block), 257 bytes at its end. */
START_TEST(test_only_rims_are_encoded)
{
    struct bench b;
    size_t n = MOST, size = 0;
    set_up(&b);
    state = 5;
    fill(b.raw, n);
    uLongf length = (uLongf)b.room;
    ck_assert_int_eq(compress2(b.stream, &length, b.raw, (uLong)n, 6), Z_OK);
    h5vcat_splice_begin(b.splice, H5VCAT_ENCODER_LIBDEFLATE, 5, b.out, b.room);
    ck_assert(h5vcat_splice_stream(b.splice, b.stream, length, b.work, n, 0, 60000, NULL) == H5VEC_OK);
    ck_assert_uint_le(h5vcat_splice_counted(b.splice)->encoded, 257);
    ck_assert(h5vcat_splice_stream(b.splice, b.stream, length, b.work, n, 60000, n, NULL) == H5VEC_OK);
    ck_assert_uint_le(h5vcat_splice_counted(b.splice)->encoded, 257 + 32768 + 257);
    ck_assert(h5vcat_splice_finish(b.splice, &size, NULL) == H5VEC_OK);
    check_readers(b.out, size, b.raw, n);
    ck_assert_uint_lt(size, length + length / 100 + 300);
    /* One byte too few: nothing is written behind it, and it is said. */
    b.out[size - 1] = 0xee;
    h5vcat_splice_begin(b.splice, H5VCAT_ENCODER_LIBDEFLATE, 5, b.out, size - 1);
    ck_assert(h5vcat_splice_stream(b.splice, b.stream, length, b.work, n, 0, 60000, NULL) == H5VEC_OK);
    ck_assert(h5vcat_splice_stream(b.splice, b.stream, length, b.work, n, 60000, n, NULL) == H5VEC_OK);
    ck_assert(h5vcat_splice_finish(b.splice, &size, NULL) == H5VEC_E_ARG);
    tear_down(&b);
}
END_TEST

/* What zlib makes of a stream that should hold n bytes: HDF5's filter gives inflate the same. */
static bool zlib_reads(const uint8_t *stream, size_t size, uint8_t *raw, size_t n)
{
    z_stream z = {
        .next_in = (Bytef *)(uintptr_t)stream, .avail_in = (uInt)size, .next_out = raw, .avail_out = (uInt)n};
    ck_assert_int_eq(inflateInit(&z), Z_OK);
    int code = inflate(&z, Z_FINISH);
    inflateEnd(&z);
    return code == Z_STREAM_END && z.avail_out == 0;
}

static void check_verdict(struct deflate_scanner *s, const uint8_t *stream, size_t size, size_t n)
{
    struct deflate_scan scan;
    uint8_t *copy = malloc(size + 1), *ours = malloc(n + 1), *theirs = malloc(n + 1);
    memcpy(copy, stream, size);
    bool good = zlib_reads(copy, size, theirs, n);
    enum deflate_result result = h5vcat_deflate_scan(s, copy, size, ours, n, 0, n, &scan);
    ck_assert_msg(good == (result == DEFLATE_OK), "seed %llu: zlib %d, %s", (unsigned long long)state, good,
                  h5vcat_deflate_why(result));
    ck_assert(!good || memcmp(ours, theirs, n) == 0);
    free(copy);
    free(ours);
    free(theirs);
}

/* Recompute the checksum, so that a change inside can go unnoticed by it. */
static void mend(uint8_t *stream, size_t size, size_t n)
{
    uint8_t *raw = malloc(n + 1);
    z_stream z = {.next_in = stream + 2, .avail_in = (uInt)size - 2, .next_out = raw, .avail_out = (uInt)n};
    ck_assert_int_eq(inflateInit2(&z, -15), Z_OK);
    if (inflate(&z, Z_FINISH) == Z_STREAM_END && z.avail_in >= 4) {
        uint32_t sum = libdeflate_adler32(1, raw, n - z.avail_out);
        for (unsigned i = 0; i < 4; i++)
            z.next_in[i] = (uint8_t)(sum >> (24 - 8 * i));
    }
    inflateEnd(&z);
    free(raw);
}

START_TEST(test_damage)
{
    struct bench b;
    struct deflate_scanner *s = h5vcat_deflate_scanner_new();
    set_up(&b);
    for (uint64_t seed = 0; seed < 300 / fewer(); seed++) {
        state = seed * 10 + (uint64_t)_i;
        size_t n = draw(2) ? draw(200) : draw(20000);
        fill(b.raw, n);
        size_t size = deflate_any(b.raw, n, b.stream, b.room);
        check_verdict(s, b.stream, size, n);
        for (uint32_t i = draw(3); i > 0; i--) /* headers more often than data */
            b.stream[draw(draw(2) && size > 80 ? 80 : (uint32_t)size)] ^= (uint8_t)(1u << draw(8));
        if (size > 6 && draw(2))
            mend(b.stream, size, n);
        size_t cut = draw(4) ? size : draw((uint32_t)size + 1);
        check_verdict(s, b.stream, cut, n + draw(2));
    }
    h5vcat_deflate_scanner_free(s);
    tear_down(&b);
}
END_TEST

/* ---- Streams by hand ----------------------------------------------------------------------------------- */

struct hand {
    uint8_t bytes[400];
    size_t bits;
};

static void put(struct hand *h, uint32_t v, unsigned n)
{
    for (; n > 0; n--, v >>= 1, h->bits++)
        h->bytes[h->bits / 8] |= (uint8_t)((v & 1) << h->bits % 8);
}

/* A dynamic block's header with these code lengths, each as itself. Code lengths 0, 1 and 15 get 2 bits each.
 */
static void put_lengths(struct hand *h, unsigned lengths, unsigned distances, const uint8_t *bits_of)
{
    static const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    put(h, 5, 3);
    put(h, lengths - 257, 5);
    put(h, distances - 1, 5);
    put(h, 15, 4);
    for (int i = 0; i < 19; i++)
        put(h, order[i] < 4 ? 2 : 0, 3);
    for (unsigned i = 0; i < lengths + distances; i++)
        put(h, (bits_of[i] & 1u) << 1 | bits_of[i] >> 1, 2);
}

/* Sets of code lengths at the limits, followed by zeros: as zlib finds. */
START_TEST(test_headers_by_hand)
{
    static const struct {
        unsigned lengths, distances;
        uint8_t lit, end, dist0, dist1;
    } cases[] = {{286, 30, 0, 1, 1, 0}, {287, 30, 0, 1, 1, 0}, {288, 1, 0, 1, 1, 0}, {286, 31, 0, 1, 1, 0},
                 {257, 32, 0, 1, 1, 0}, {257, 1, 0, 1, 0, 0},  {257, 1, 1, 1, 0, 0}, {257, 1, 1, 0, 1, 0},
                 {257, 1, 1, 2, 1, 0},  {257, 2, 1, 1, 1, 1},  {257, 2, 1, 1, 2, 0}, {257, 2, 1, 1, 1, 2},
                 {257, 2, 1, 1, 2, 2},  {257, 1, 0, 2, 1, 0},  {257, 1, 0, 0, 0, 0}, {257, 1, 3, 1, 1, 0}};
    struct deflate_scanner *s = h5vcat_deflate_scanner_new();
    int good = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t symbols = 0; symbols < 64; symbols++)
            for (size_t n = 0; n < 3; n++) {
                struct hand h = {{0x78, 0x9c}, 16};
                uint8_t bits_of[320] = {0};
                bits_of['a'] = cases[i].lit;
                bits_of[256] = cases[i].end;
                bits_of[cases[i].lengths] = cases[i].dist0;
                bits_of[cases[i].lengths + 1] = cases[i].dist1;
                put_lengths(&h, cases[i].lengths, cases[i].distances, bits_of);
                put(&h, symbols, 6);
                size_t size = (h.bits + 7) / 8 + 8;
                mend(h.bytes, size, 10);
                uint8_t raw[4];
                good += zlib_reads(h.bytes, size, raw, n);
                check_verdict(s, h.bytes, size, n);
            }
    ck_assert_int_gt(good, 50);
    h5vcat_deflate_scanner_free(s);
}
END_TEST

/* The beginnings that are refused, and nothing at all. */
START_TEST(test_beginnings)
{
    struct deflate_scanner *s = h5vcat_deflate_scanner_new();
    for (unsigned first = 0; first < 65536; first++) {
        uint8_t stream[] = {(uint8_t)(first >> 8), (uint8_t)first, 3, 0, 0, 0, 0, 1};
        check_verdict(s, stream, sizeof stream, 0);
    }
    uint8_t raw[1], dictionary[] = {0x78, 0xbb, 0, 0, 0, 1, 3, 0, 0, 0, 0, 1};
    struct deflate_scan scan;
    ck_assert_int_eq(h5vcat_deflate_scan(s, dictionary, sizeof dictionary, raw, 0, 0, 0, &scan),
                     DEFLATE_DICTIONARY);
    for (size_t n = 0; n < 8; n++)
        check_verdict(s, (const uint8_t[]){0x78, 0x9c, 3, 0, 0, 0, 0, 1}, n, 0);
    h5vcat_deflate_scanner_free(s);
}
END_TEST

/* A million blocks with nothing in them, then one byte. */
START_TEST(test_tiny_blocks)
{
    struct h5vcat_splice *s;
    size_t blocks = (size_t)(1000000 / fewer()), room = blocks * 10 / 8 + 100, size = 0;
    uint8_t *stream = calloc(1, room), *out = malloc(2 * room), raw;
    ck_assert(h5vcat_splice_new(&s, NULL) == H5VEC_OK);
    stream[0] = 0x78;
    stream[1] = 0x9c;
    size_t bit = 16;
    for (size_t i = 0; i < blocks; i++, bit += 10)
        stream[(bit + 1) / 8] |= (uint8_t)(1u << (bit + 1) % 8);
    bit = (bit + 7) / 8; /* 10 bits a block: whole bytes */
    static const uint8_t last[] = {1, 1, 0, 0xfe, 0xff, 'x', 0, 0x79, 0, 0x79};
    memcpy(stream + bit, last, sizeof last);
    size = bit + sizeof last;
    h5vcat_splice_begin(s, H5VCAT_ENCODER_LIBDEFLATE, 6, out, 2 * room);
    ck_assert(h5vcat_splice_raw(s, "abc", 3, NULL) == H5VEC_OK);
    ck_assert(h5vcat_splice_stream(s, stream, size, &raw, 1, 0, 1, NULL) == H5VEC_OK);
    ck_assert(h5vcat_splice_finish(s, &size, NULL) == H5VEC_OK);
    check_readers(out, size, (const uint8_t *)"abcx", 4);
    h5vcat_splice_free(s);
    free(stream);
    free(out);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("h5vcat_splice");
    TCase *c = tcase_create("splice");
    tcase_add_loop_test(c, test_random_cuts, 0, 10);
    tcase_add_test(c, test_only_rims_are_encoded);
    tcase_add_loop_test(c, test_damage, 0, 10);
    tcase_add_test(c, test_headers_by_hand);
    tcase_add_test(c, test_beginnings);
    tcase_add_test(c, test_tiny_blocks);
    suite_add_tcase(suite, c);
    return run_suite(suite);
}

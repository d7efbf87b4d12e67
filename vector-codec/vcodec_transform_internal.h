/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of the coordinate transform share: the form's header, the scratch memory, the words that
 * values become. docs/codec.md is the specification.
 */
#ifndef VCODEC_TRANSFORM_INTERNAL_H
#define VCODEC_TRANSFORM_INTERNAL_H

#include <stdbool.h>
#include "vcodec_internal.h"
#include "vcodec_transform.h"

#define VCODEC_PLAIN_HEADER 16
#define VCODEC_FORM_HEADER 192
#define VCODEC_SECTION_BYTES 40
#define VCODEC_ORDINATES 4 /* x y z m: the four streams of values */
#define VCODEC_MAX_DECIMALS 15

/* How the values of an ordinate are kept. */
enum vcodec_kind {
    VCODEC_KIND_NONE = 0,      /* there are none */
    VCODEC_KIND_DECIMAL32 = 1, /* k = round(x * 10^decimals), arithmetic modulo 2^32 */
    VCODEC_KIND_DECIMAL64 = 2, /* the same modulo 2^64, |k| < 2^51 */
    VCODEC_KIND_BITS = 3,      /* the double's bits, the sign moved (vcodec_move_sign) */
};

struct vcodec_ordinate {
    uint8_t kind, decimals;
    uint8_t delta;                   /* 1: a start is the zigzag of its difference to the start before */
    uint8_t start_width, rest_width; /* byte planes */
    uint64_t starts, rest, escapes;  /* first values of runs, other values, values kept as they are */
};

/* The header of an encoded chunk. */
struct vcodec_form {
    bool coded; /* else the raw bytes follow */
    uint64_t raw_size;
    uint64_t sections, heads, members, counts, kept; /* elements of the streams */
    bool closed; /* each whole ring of two points or more ends where it begins: its last point is left out */
    bool paired; /* planes of x's and y's starts alternate byte by byte */
    struct vcodec_ordinate ordinate[VCODEC_ORDINATES];
};

/* A stretch of the raw bytes: bytes kept as they are, a run of points that began before it, `rings` rings of
 * the polygon that this run belongs to, geometries. */
struct vcodec_section {
    uint64_t kept;
    uint64_t dim;    /* enum vcodec_dim, of the run and the rings */
    uint64_t points; /* in the run */
    uint64_t rings;
    uint64_t length; /* bytes behind those kept */
};

/* Points one after the other, at offset in the raw bytes. */
struct vcodec_run {
    uint64_t offset;
    uint64_t points : 61, ring : 1, dim : 2; /* ring: a whole ring of two points or more */
};

struct vcodec_escape {
    uint64_t at; /* encoding: index among the ordinate's values; later the place in the raw bytes */
    uint64_t bits;
};

struct vcodec_buffer {
    void *data;
    size_t room; /* bytes */
};

struct vcodec_transform {
    struct vcodec_buffer sections, heads, members, counts, runs; /* what the scan finds */
    struct vcodec_buffer starts[VCODEC_ORDINATES], rest[VCODEC_ORDINATES];
    struct vcodec_buffer escapes, words;
    size_t run_count;
};

/* Room for at least size bytes; what was in it stays. False: no memory. */
bool vcodec_reserve(struct vcodec_buffer *b, size_t size);

enum h5vec_status vcodec_transform_no_memory(struct h5vec_error *err);

/* Header to and from bytes. Reading checks every field on its own and the form's size against `size`. */
void vcodec_form_write(const struct vcodec_form *f, uint8_t *out);
enum h5vec_status vcodec_form_read(const uint8_t *in, size_t size, struct vcodec_form *f,
                                   struct h5vec_error *err);

/* Find the structure of raw: fills t->sections, heads, members, counts and runs, and the counts of *f. */
bool vcodec_scan(struct vcodec_transform *t, const uint8_t *raw, size_t size, struct vcodec_form *f);

/* The low `width` bytes of n words to as many planes of n bytes, and back. Pairs: x's and y's bytes alternate
 * in planes of 2 n. */
void vcodec_planes32(const uint32_t *words, size_t n, unsigned width, uint8_t *planes);
void vcodec_planes64(const uint64_t *words, size_t n, unsigned width, uint8_t *planes);
void vcodec_words32(const uint8_t *planes, size_t n, unsigned width, uint32_t *words);
void vcodec_words64(const uint8_t *planes, size_t n, unsigned width, uint64_t *words);
void vcodec_pair(const uint8_t *x, const uint8_t *y, size_t n, uint8_t *pairs);
void vcodec_unpair(const uint8_t *pairs, size_t n, uint8_t *x, uint8_t *y);

/* What the files of the encoder share. */
struct vcodec_encoder {
    struct vcodec_transform *t;
    const uint8_t *raw;
    struct vcodec_form form;
    uint8_t *out;
    size_t at, room;
    bool full;      /* does not fit: the plain form is as small */
    size_t escapes; /* of the ordinates so far */
};

static inline uint64_t *vcodec_starts_of(const struct vcodec_encoder *e, unsigned j)
{
    return e->t->starts[j].data;
}

static inline uint64_t *vcodec_rest_of(const struct vcodec_encoder *e, unsigned j)
{
    return e->t->rest[j].data;
}

/* Points of a run that have values: a closed ring's last one has none. */
static inline uint64_t vcodec_stored_points(const struct vcodec_encoder *e, const struct vcodec_run *run)
{
    return run->points - (run->ring && e->form.closed);
}

/* Gather the values of ordinate j into t->starts[j] and t->rest[j] and make integers of them, by decimals if
 * it has them, else of its bits; escapes are appended to t->escapes. False: no memory. */
bool vcodec_convert(struct vcodec_encoder *e, unsigned j);

/* Which of x y z m the k-th ordinate of a point is. */
static inline unsigned vcodec_ordinate_index(unsigned dim, unsigned k)
{
    return dim == VCODEC_XYM && k == 2 ? 3 : k;
}

/* Which ordinate of a point is j of x y z m; -1: none. */
static inline int vcodec_ordinate_place(unsigned dim, unsigned j)
{
    static const int8_t place[4][VCODEC_ORDINATES] = {
        {0, 1, -1, -1}, {0, 1, 2, -1}, {0, 1, -1, 2}, {0, 1, 2, 3}};
    return place[dim][j];
}

/* Type and dimension of an ISO type code. */
static inline bool vcodec_iso_code(uint32_t code, unsigned *type, unsigned *dim)
{
    *dim = code / 1000;
    *type = code % 1000;
    return *dim <= VCODEC_XYZM && *type >= VCODEC_POINT && *type <= VCODEC_GEOMETRYCOLLECTION;
}

static inline unsigned vcodec_word_bytes(unsigned kind)
{
    return kind == VCODEC_KIND_NONE ? 0 : kind == VCODEC_KIND_DECIMAL32 ? 4 : 8;
}

/* 10^decimals, exact. */
static inline double vcodec_scale(unsigned decimals)
{
    static const double power[VCODEC_MAX_DECIMALS + 1] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                          1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    return power[decimals];
}

/* Doubles in [2^52, 2^53) have the integer in their low bits: adding VCODEC_MAGIC (1.5 * 2^52) rounds to an
 * integer of less than 2^51, and the bits' difference is that integer. */
#define VCODEC_MAGIC 6755399441055744.0
#define VCODEC_MAGIC_BITS UINT64_C(0x4338000000000000)

static inline double vcodec_as_double(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline uint64_t vcodec_as_bits(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* The sign goes from bit 63 to bit 55, the eight bits between one up: the top byte is then the same for all
 * numbers of usual size, and the next one has the sign with the leading digits. */
static inline uint64_t vcodec_move_sign(uint64_t bits)
{
    return (bits & ((UINT64_C(1) << 55) - 1)) | bits >> 63 << 55 | (bits & UINT64_C(0x7f80000000000000)) << 1;
}

static inline uint64_t vcodec_restore_sign(uint64_t word)
{
    return (word & ((UINT64_C(1) << 55) - 1)) | (word >> 55 & 1) << 63 |
           (word >> 1 & UINT64_C(0x7f80000000000000));
}

static inline uint32_t vcodec_zigzag32(uint32_t v)
{
    return v << 1 ^ (0u - (v >> 31));
}

static inline uint64_t vcodec_zigzag64(uint64_t v)
{
    return v << 1 ^ (UINT64_C(0) - (v >> 63));
}

static inline uint32_t vcodec_unzigzag32(uint32_t v)
{
    return v >> 1 ^ (0u - (v & 1));
}

static inline uint64_t vcodec_unzigzag64(uint64_t v)
{
    return v >> 1 ^ (UINT64_C(0) - (v & 1));
}

#endif

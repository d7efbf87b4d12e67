/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of vector-codec share: little-endian loads and stores, the visitor through which the WKB
 * walker hands out a geometry, and the sink that makes canonical WKB and its info from either encoding.
 */
#ifndef VCODEC_INTERNAL_H
#define VCODEC_INTERNAL_H

#include <string.h>
#include "vcodec.h"

/* Points are handed on in blocks of at most this many, so that whatever holds one fits on the stack. */
#define VCODEC_BLOCK_POINTS 128
#define VCODEC_BLOCK_BYTES (sizeof(double) * 4 * VCODEC_BLOCK_POINTS)

/* Bytes of the smallest members: a header, and a count or the coordinates of an XY point. */
#define VCODEC_WKB_HEADER 5
#define VCODEC_WKB_EMPTY (VCODEC_WKB_HEADER + 4)

static inline uint32_t vcodec_load32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? v : __builtin_bswap32(v);
}

static inline uint64_t vcodec_load64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? v : __builtin_bswap64(v);
}

static inline void vcodec_store32(uint8_t *p, uint32_t v)
{
    v = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? v : __builtin_bswap32(v);
    memcpy(p, &v, sizeof v);
}

static inline void vcodec_store64(uint8_t *p, uint64_t v)
{
    v = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? v : __builtin_bswap64(v);
    memcpy(p, &v, sizeof v);
}

static inline double vcodec_load_double(const uint8_t *p)
{
    uint64_t bits = vcodec_load64(p);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline void vcodec_store_double(uint8_t *p, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    vcodec_store64(p, bits);
}

static inline uint32_t vcodec_ordinates(enum vcodec_dim dim)
{
    return dim == VCODEC_XY ? 2 : dim == VCODEC_XYZM ? 4 : 3;
}

/* "Point" to "Triangle" for WKB's type codes 1 to 17, else NULL. */
const char *vcodec_code_name(uint32_t code);

/* Whether a code is one of enum vcodec_type; Curve and Surface (13 and 14) are names of families only. */
static inline bool vcodec_is_type(uint32_t code)
{
    return code >= VCODEC_POINT && code <= VCODEC_TRIANGLE && code != 13 && code != 14;
}

/* "XY", "XYZ", "XYM", "XYZM", a constant string. */
const char *vcodec_dim_name(enum vcodec_dim dim);

/* May a geometry of this type be a direct member of a collection of that one? */
bool vcodec_may_hold(enum vcodec_type collection, enum vcodec_type member);

/* What a walk over a geometry meets, in order. A geometry or ring is followed by its points or members and by
 * its end; points come in blocks. An empty point has count 0 and no points. */
struct vcodec_visitor {
    void (*geometry)(void *self, enum vcodec_type type, enum vcodec_dim dim, uint32_t count);
    void (*ring)(void *self, uint32_t count);
    void (*points)(void *self, const uint8_t *points, size_t n); /* n points, little-endian doubles */
    void (*end_ring)(void *self);
    void (*end_geometry)(void *self, enum vcodec_type type);
};

/* Walk the WKB geometry that fills wkb[0 .. size). *srid as in struct vcodec_info. */
enum h5vec_status vcodec_wkb_walk(const uint8_t *wkb, size_t size, const struct vcodec_visitor *visitor,
                                  void *self, bool *has_srid, int32_t *srid, struct h5vec_error *err);

/* Takes a geometry's parts and makes canonical WKB and info of them. Bytes that do not fit in capacity are
 * counted, not written. */
struct vcodec_sink {
    uint8_t *out;
    size_t capacity;
    size_t size; /* bytes so far */
    bool started;
    struct vcodec_info info;
    size_t ordinates;
    uint64_t run; /* points of the current line or ring, with its first and last x and y */
    double first[2], last[2];
};

extern const struct vcodec_visitor vcodec_sink_visitor;

void vcodec_sink_init(struct vcodec_sink *sink, uint8_t *out, size_t capacity);
void vcodec_sink_geometry(void *sink, enum vcodec_type type, enum vcodec_dim dim, uint32_t count);
void vcodec_sink_ring(void *sink, uint32_t count);
void vcodec_sink_points(void *sink, const uint8_t *points, size_t n);
void vcodec_sink_end_ring(void *sink);
void vcodec_sink_end_geometry(void *sink, enum vcodec_type type);

/* Set the count of a geometry or ring that was begun with another one, when the sink's size was `end` after
 * it. */
void vcodec_sink_set_count(struct vcodec_sink *sink, size_t end, uint32_t count);

/* Where the next block of points may be put together: in the output itself if it has room, else in scratch
 * (VCODEC_BLOCK_BYTES). */
static inline uint8_t *vcodec_sink_block(struct vcodec_sink *sink, uint8_t *scratch)
{
    bool room = sink->size <= sink->capacity && sink->capacity - sink->size >= VCODEC_BLOCK_BYTES;
    return room ? sink->out + sink->size : scratch;
}

/* The complete info. */
void vcodec_sink_finish(struct vcodec_sink *sink, struct vcodec_info *info);

#endif

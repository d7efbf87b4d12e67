/* SPDX-License-Identifier: BSD-3-Clause
 *
 * WKB in. One recursive walk over ISO WKB and EWKB hands what it finds to a visitor; every function on the
 * way checks that the bytes are there before it reads them, and that a count can be true before any work is
 * done for it. Sizes are compared by division, so that no product of a count can wrap.
 */
#include "vcodec_internal.h"

#include <inttypes.h>

#define EWKB_Z UINT32_C(0x80000000)
#define EWKB_M UINT32_C(0x40000000)
#define EWKB_SRID UINT32_C(0x20000000)
#define EWKB_FLAGS (EWKB_Z | EWKB_M | EWKB_SRID)

struct walk {
    const uint8_t *begin, *at, *end;
    const struct vcodec_visitor *visitor;
    void *self;
    bool has_srid;
    int32_t srid;
    struct h5vec_error *err;
};

struct head {
    bool big_endian;
    enum vcodec_type type;
    enum vcodec_dim dim;
};

/* The collection that a geometry is a direct member of; none around the outermost. */
struct parent {
    const struct head *head;
    unsigned depth; /* collections around the geometry */
};

static enum h5vec_status geometry(struct walk *w, struct parent parent);

static size_t left(const struct walk *w)
{
    return (size_t)(w->end - w->at);
}

static uint64_t offset(const struct walk *w)
{
    return (uint64_t)(w->at - w->begin);
}

/* n bytes are there, or an error at the place where the input ends. */
static enum h5vec_status need(const struct walk *w, size_t n, const char *what)
{
    if (left(w) >= n)
        return H5VEC_OK;
    return h5vec_error_set(w->err, H5VEC_E_TRUNCATED, offset(w),
                           "WKB ends within %s: %zu bytes needed, %zu left", what, n, left(w));
}

static uint32_t take32(struct walk *w, bool big_endian)
{
    uint32_t v = vcodec_load32(w->at);
    w->at += sizeof v;
    return big_endian ? __builtin_bswap32(v) : v;
}

/* A type code in head, or an error: thousands (ISO) or flags (EWKB) say the dimension, never both. */
static enum h5vec_status decode_type(struct walk *w, uint32_t code, struct head *head)
{
    bool flagged = (code & EWKB_FLAGS) != 0;
    uint32_t base = code & ~EWKB_FLAGS;
    uint32_t dim = base / 1000;
    if (flagged)
        dim = (code & EWKB_Z ? 1u : 0) | (code & EWKB_M ? 2u : 0); /* as enum vcodec_dim's bits */
    else
        base %= 1000;
    const char *name = vcodec_code_name(base);
    if (!name || dim > VCODEC_XYZM)
        return h5vec_error_set(
            w->err, H5VEC_E_WKB_TYPE, offset(w),
            "unknown WKB geometry type 0x%08" PRIx32 ": neither an ISO code nor EWKB's flags", code);
    if (!vcodec_is_type(base))
        return h5vec_error_set(w->err, H5VEC_E_UNSUPPORTED, offset(w), "geometry type not supported: %s",
                               name);
    head->type = (enum vcodec_type)base;
    head->dim = (enum vcodec_dim)dim;
    return H5VEC_OK;
}

static enum h5vec_status take_srid(struct walk *w, bool big_endian)
{
    enum h5vec_status status = need(w, sizeof(uint32_t), "an SRID");
    if (status)
        return status;
    uint64_t at = offset(w);
    int32_t srid = (int32_t)take32(w, big_endian);
    if (w->has_srid && srid != w->srid)
        return h5vec_error_set(w->err, H5VEC_E_MEMBER, at,
                               "SRID %" PRId32 " inside a geometry of SRID %" PRId32, srid, w->srid);
    w->has_srid = true;
    w->srid = srid;
    return H5VEC_OK;
}

static enum h5vec_status take_head(struct walk *w, struct head *head)
{
    enum h5vec_status status = need(w, VCODEC_WKB_HEADER, "a geometry's header");
    if (status)
        return status;
    if (*w->at > 1)
        return h5vec_error_set(w->err, H5VEC_E_WKB_TYPE, offset(w), "byte order mark %u: 0 or 1 expected",
                               *w->at);
    head->big_endian = *w->at++ == 0;
    uint32_t code = vcodec_load32(w->at);
    if (head->big_endian)
        code = __builtin_bswap32(code);
    status = decode_type(w, code, head);
    if (status)
        return status;
    w->at += sizeof code;
    return code & EWKB_SRID ? take_srid(w, head->big_endian) : H5VEC_OK;
}

/* A count of things that take at least `smallest` bytes each. */
static enum h5vec_status take_count(struct walk *w, bool big_endian, size_t smallest, const char *what,
                                    uint32_t *count)
{
    enum h5vec_status status = need(w, sizeof *count, "a count");
    if (status)
        return status;
    uint64_t at = offset(w);
    *count = take32(w, big_endian);
    if (*count > left(w) / smallest)
        return h5vec_error_set(w->err, H5VEC_E_COUNT, at, "%" PRIu32 " %s cannot fit in the %zu bytes left",
                               *count, what, left(w));
    return H5VEC_OK;
}

static void swap_doubles(uint8_t *out, const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        vcodec_store64(out + 8 * i, __builtin_bswap64(vcodec_load64(in + 8 * i)));
}

/* Hand out n points of big-endian doubles. A function of its own keeps its block out of the recursion's
 * frames. */
static __attribute__((noinline)) void swapped_points(struct walk *w, size_t ordinates, size_t n)
{
    uint8_t block[VCODEC_BLOCK_BYTES];
    while (n) {
        size_t part = n < VCODEC_BLOCK_POINTS ? n : VCODEC_BLOCK_POINTS;
        swap_doubles(block, w->at, part * ordinates);
        w->visitor->points(w->self, block, part);
        w->at += part * ordinates * sizeof(double);
        n -= part;
    }
}

/* Hand out n points that are known to be there. */
static void points(struct walk *w, const struct head *head, size_t n)
{
    size_t ordinates = vcodec_ordinates(head->dim);
    if (head->big_endian) {
        swapped_points(w, ordinates, n);
        return;
    }
    w->visitor->points(w->self, w->at, n);
    w->at += n * ordinates * sizeof(double);
}

/* All ordinates NaN: how WKB spells POINT EMPTY. */
static bool point_is_empty(const struct walk *w, const struct head *head)
{
    const uint64_t infinity = UINT64_C(0x7ff0000000000000);
    for (size_t i = 0; i < vcodec_ordinates(head->dim); i++) {
        uint64_t bits = vcodec_load64(w->at + 8 * i);
        if (head->big_endian)
            bits = __builtin_bswap64(bits);
        if ((bits & ~(UINT64_C(1) << 63)) <= infinity)
            return false;
    }
    return true;
}

static enum h5vec_status point(struct walk *w, const struct head *head)
{
    size_t size = vcodec_ordinates(head->dim) * sizeof(double);
    enum h5vec_status status = need(w, size, "a point");
    if (status)
        return status;
    bool empty = point_is_empty(w, head);
    w->visitor->geometry(w->self, VCODEC_POINT, head->dim, !empty);
    if (empty)
        w->at += size;
    else
        points(w, head, 1);
    return H5VEC_OK;
}

static enum h5vec_status take_point_count(struct walk *w, const struct head *head, uint32_t *count)
{
    return take_count(w, head->big_endian, vcodec_ordinates(head->dim) * sizeof(double), "points", count);
}

/* A line, of straight parts or of arcs. */
static enum h5vec_status linestring(struct walk *w, const struct head *head)
{
    uint32_t count = 0;
    enum h5vec_status status = take_point_count(w, head, &count);
    if (status)
        return status;
    w->visitor->geometry(w->self, head->type, head->dim, count);
    points(w, head, count);
    return H5VEC_OK;
}

/* A polygon or triangle. */
static enum h5vec_status polygon(struct walk *w, const struct head *head)
{
    uint32_t rings = 0;
    enum h5vec_status status = take_count(w, head->big_endian, sizeof rings, "rings", &rings);
    if (status)
        return status;
    w->visitor->geometry(w->self, head->type, head->dim, rings);
    for (uint32_t i = 0; i < rings; i++) {
        uint32_t count = 0;
        status = take_point_count(w, head, &count);
        if (status)
            return status;
        w->visitor->ring(w->self, count);
        points(w, head, count);
        w->visitor->end_ring(w->self);
    }
    return H5VEC_OK;
}

static enum h5vec_status collection(struct walk *w, const struct head *head, unsigned depth)
{
    if (depth == VCODEC_MAX_DEPTH)
        return h5vec_error_set(w->err, H5VEC_E_DEPTH, offset(w), "collections nested deeper than %d",
                               VCODEC_MAX_DEPTH);
    size_t smallest = head->type == VCODEC_MULTIPOINT
                          ? VCODEC_WKB_HEADER + vcodec_ordinates(head->dim) * sizeof(double)
                          : VCODEC_WKB_EMPTY;
    uint32_t members = 0;
    enum h5vec_status status = take_count(w, head->big_endian, smallest, "members", &members);
    if (status)
        return status;
    w->visitor->geometry(w->self, head->type, head->dim, members);
    for (uint32_t i = 0; i < members && !status; i++)
        status = geometry(w, (struct parent){head, depth + 1});
    return status;
}

static enum h5vec_status check_member(struct walk *w, uint64_t at, const struct head *parent,
                                      const struct head *head)
{
    if (!vcodec_may_hold(parent->type, head->type))
        return h5vec_error_set(w->err, H5VEC_E_MEMBER, at, "a %s in a %s", vcodec_type_name(head->type),
                               vcodec_type_name(parent->type));
    if (parent->dim != head->dim)
        return h5vec_error_set(w->err, H5VEC_E_MEMBER, at, "a %s of dimension %s in a %s of dimension %s",
                               vcodec_type_name(head->type), vcodec_dim_name(head->dim),
                               vcodec_type_name(parent->type), vcodec_dim_name(parent->dim));
    return H5VEC_OK;
}

static enum h5vec_status geometry(struct walk *w, struct parent parent)
{
    uint64_t at = offset(w);
    struct head head;
    enum h5vec_status status = take_head(w, &head);
    if (!status && parent.head)
        status = check_member(w, at, parent.head, &head);
    if (status)
        return status;
    switch (head.type) {
    case VCODEC_POINT:
        status = point(w, &head);
        break;
    case VCODEC_LINESTRING:
    case VCODEC_CIRCULARSTRING:
        status = linestring(w, &head);
        break;
    case VCODEC_POLYGON:
    case VCODEC_TRIANGLE:
        status = polygon(w, &head);
        break;
    default:
        status = collection(w, &head, parent.depth);
        break;
    }
    if (!status)
        w->visitor->end_geometry(w->self, head.type);
    return status;
}

enum h5vec_status vcodec_wkb_walk(const uint8_t *wkb, size_t size, const struct vcodec_visitor *visitor,
                                  void *self, bool *has_srid, int32_t *srid, struct h5vec_error *err)
{
    struct walk w = {.begin = wkb,
                     .at = wkb,
                     .end = size ? wkb + size : wkb,
                     .visitor = visitor,
                     .self = self,
                     .err = err};
    enum h5vec_status status = geometry(&w, (struct parent){NULL, 0});
    if (status)
        return status;
    if (w.at != w.end)
        return h5vec_error_set(err, H5VEC_E_TRAILING, offset(&w), "%zu bytes after the end of the geometry",
                               left(&w));
    *has_srid = w.has_srid;
    *srid = w.srid;
    return H5VEC_OK;
}

enum h5vec_status vcodec_wkb_canonical(const uint8_t *wkb, size_t size, uint8_t *out, size_t capacity,
                                       struct vcodec_info *info, struct h5vec_error *err)
{
    struct vcodec_sink sink;
    vcodec_sink_init(&sink, out, capacity);
    enum h5vec_status status =
        vcodec_wkb_walk(wkb, size, &vcodec_sink_visitor, &sink, &sink.info.has_srid, &sink.info.srid, err);
    if (!status)
        vcodec_sink_finish(&sink, info);
    return status;
}

enum h5vec_status vcodec_wkb_scan(const uint8_t *wkb, size_t size, struct vcodec_info *info,
                                  struct h5vec_error *err)
{
    return vcodec_wkb_canonical(wkb, size, NULL, 0, info, err);
}

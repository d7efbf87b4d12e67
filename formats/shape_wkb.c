/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A shape becomes canonical WKB: a part a line or ring, in the order of the file; one part is the simple
 * type, several are the multi-geometry. Z is there if the shape's type has it, M if any was measured; what
 * was not is NaN then.
 */
#include "shapefile.h"

#include <math.h>
#include <string.h>

#define NO_DATA (-1e38) /* measures below it say that there is none */

struct out {
    const SHPObject *shape;
    uint8_t *at;
    bool z, m;
};

static void put32(struct out *out, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        *out->at++ = (uint8_t)(value >> 8 * i);
}

static void put_double(struct out *out, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put32(out, (uint32_t)bits);
    put32(out, (uint32_t)(bits >> 32));
}

static void put_type(struct out *out, enum vcodec_type type)
{
    *out->at++ = 1;
    put32(out, (uint32_t)type + (out->z ? 1000u : 0u) + (out->m ? 2000u : 0u));
}

static bool is_measure(double m)
{
    return isfinite(m) && m > NO_DATA;
}

static void put_points(struct out *out, int first, int count)
{
    const SHPObject *shape = out->shape;
    for (int i = first; i < first + count; i++) {
        put_double(out, shape->padfX[i]);
        put_double(out, shape->padfY[i]);
        if (out->z)
            put_double(out, shape->padfZ[i]);
        if (out->m)
            put_double(out, is_measure(shape->padfM[i]) ? shape->padfM[i] : (double)NAN);
    }
}

static void put_run(struct out *out, const struct h5vec_format_ring *part)
{
    put32(out, (uint32_t)part->count);
    put_points(out, part->first, part->count);
}

static void put_multipoint(struct out *out)
{
    put_type(out, VCODEC_MULTIPOINT);
    put32(out, (uint32_t)out->shape->nVertices);
    for (int i = 0; i < out->shape->nVertices; i++) {
        put_type(out, VCODEC_POINT);
        put_points(out, i, 1);
    }
}

static void put_lines(struct out *out, const struct h5vec_format_rings *parts)
{
    if (parts->count != 1) {
        put_type(out, parts->count ? VCODEC_MULTILINESTRING : VCODEC_LINESTRING);
        put32(out, (uint32_t)parts->count);
    }
    for (size_t i = 0; i < parts->count; i++) {
        put_type(out, VCODEC_LINESTRING);
        put_run(out, &parts->ring[i]);
    }
}

/* Rings of the polygon that begins at order[i]. */
static size_t rings_of(const struct h5vec_format_rings *rings, size_t i)
{
    size_t n = 1;
    while (i + n < rings->count && rings->ring[rings->order[i + n]].outer == (int)rings->order[i])
        n++;
    return n;
}

static void put_polygons(struct out *out, const struct h5vec_format_rings *rings)
{
    uint32_t polygons = 0;
    for (size_t i = 0; i < rings->count; i += rings_of(rings, i))
        polygons++;
    if (polygons != 1) {
        put_type(out, polygons ? VCODEC_MULTIPOLYGON : VCODEC_POLYGON);
        put32(out, polygons);
    }
    for (size_t i = 0, n; i < rings->count; i += n) {
        n = rings_of(rings, i);
        put_type(out, VCODEC_POLYGON);
        put32(out, (uint32_t)n);
        for (size_t k = i; k < i + n; k++)
            put_run(out, &rings->ring[rings->order[k]]);
    }
}

/* The parts that have vertices. */
static enum h5vec_status find_parts(struct h5vec_format_rings *parts, const SHPObject *shape,
                                    struct h5vec_error *err)
{
    size_t n = shape->nParts > 0 ? (size_t)shape->nParts : 0;
    if (!h5vec_format_grow(&parts->ring, &parts->capacity, n, sizeof *parts->ring) ||
        !h5vec_format_grow(&parts->order, &parts->order_capacity, n, sizeof *parts->order))
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for the parts of a shape");
    parts->count = 0;
    if (shape->nVertices > 0 && (n == 0 || shape->panPartStart[0] != 0))
        return h5vec_error_set(err, H5VEC_E_FORMAT_RECORD, 0, "vertices that belong to no part");
    for (size_t i = 0; i < n; i++) {
        int first = shape->panPartStart[i], end = i + 1 < n ? shape->panPartStart[i + 1] : shape->nVertices;
        if (first < 0 || end < first || end > shape->nVertices)
            return h5vec_error_set(err, H5VEC_E_FORMAT_RECORD, 0, "part %zu begins behind its end", i + 1);
        if (end > first)
            parts->ring[parts->count++] = (struct h5vec_format_ring){.first = first, .count = end - first};
    }
    return H5VEC_OK;
}

static bool all_finite(const double *values, int n)
{
    double trace = 0; /* v - v is 0 for a finite v, NaN else */
    for (int i = 0; i < n; i++)
        trace += values[i] - values[i];
    return trace == 0;
}

static bool any_measure(const SHPObject *shape)
{
    bool any = false;
    for (int i = 0; shape->bMeasureIsUsed && shape->padfM && i < shape->nVertices && !any; i++)
        any = is_measure(shape->padfM[i]);
    return any;
}

enum kind { POINTS, LINES, POLYGONS, MULTIPOINTS, OTHER };

static enum kind kind_of(int type, bool *has_z)
{
    *has_z = type >= SHPT_POINTZ && type <= SHPT_MULTIPOINTZ;
    switch (type) {
    case SHPT_POINT:
    case SHPT_POINTZ:
    case SHPT_POINTM:
        return POINTS;
    case SHPT_ARC:
    case SHPT_ARCZ:
    case SHPT_ARCM:
        return LINES;
    case SHPT_POLYGON:
    case SHPT_POLYGONZ:
    case SHPT_POLYGONM:
        return POLYGONS;
    case SHPT_MULTIPOINT:
    case SHPT_MULTIPOINTZ:
    case SHPT_MULTIPOINTM:
        return MULTIPOINTS;
    default:
        return OTHER;
    }
}

static enum h5vec_status check(const SHPObject *shape, enum kind kind, bool z, struct h5vec_error *err)
{
    if (kind == OTHER)
        return h5vec_error_set(err, H5VEC_E_UNSUPPORTED, 0, "shapes of type %d are not supported",
                               shape->nSHPType);
    int n = shape->nVertices;
    if (n < 0 || (kind == POINTS && n != 1))
        return h5vec_error_set(err, H5VEC_E_FORMAT_RECORD, 0, "a shape of %d vertices", n);
    if (n > 0 && (!shape->padfX || !shape->padfY || (z && !shape->padfZ)))
        return h5vec_error_set(err, H5VEC_E_FORMAT_RECORD, 0, "a shape without coordinates");
    if (!all_finite(shape->padfX, n) || !all_finite(shape->padfY, n) || (z && !all_finite(shape->padfZ, n)))
        return h5vec_error_set(err, H5VEC_E_NONFINITE, 0, "a coordinate that is not finite");
    return H5VEC_OK;
}

/* The most that a shape's WKB takes: a polygon of one ring for each part, or a point for each vertex. */
static size_t bound(const struct out *out, const struct h5vec_format_rings *parts, enum kind kind)
{
    size_t vertex = 8 * (2 + (size_t)out->z + (size_t)out->m) + (kind == MULTIPOINTS ? 5 : 0);
    return 9 + 13 * parts->count + vertex * (size_t)out->shape->nVertices;
}

enum h5vec_status h5vec_format_shape_wkb(struct h5vec_format_rows *rows, struct h5vec_format_rings *rings,
                                         const SHPObject *shape, struct vcodec_info *info,
                                         struct h5vec_error *err)
{
    struct out out = {.shape = shape};
    enum kind kind = kind_of(shape->nSHPType, &out.z);
    enum h5vec_status status = check(shape, kind, out.z, err);
    rings->count = 0;
    if (status == H5VEC_OK && (kind == LINES || kind == POLYGONS))
        status = find_parts(rings, shape, err);
    if (status != H5VEC_OK)
        return status;
    if (kind == POLYGONS && !h5vec_format_rings_nest(rings, shape))
        return h5vec_error_set(err, H5VEC_E_FORMAT_RECORD, 0, "its %zu rings are too many to nest",
                               rings->count);
    out.m = any_measure(shape);
    uint8_t *wkb = h5vec_format_rows_wkb(rows, bound(&out, rings, kind));
    if (!wkb)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for a shape");
    out.at = wkb;
    if (kind == POINTS) {
        put_type(&out, VCODEC_POINT);
        put_points(&out, 0, 1);
    } else if (kind == MULTIPOINTS) {
        put_multipoint(&out);
    } else if (kind == LINES) {
        put_lines(&out, rings);
    } else {
        put_polygons(&out, rings);
    }
    return vcodec_wkb_scan(wkb, (size_t)(out.at - wkb), info, err);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * vector-codec: the bytes of a geometry. WKB and WKT in and out, envelope, vertex count and Hilbert key,
 * with libc alone. Every function is local (no MPI), thread-safe and independent of the locale; every read is
 * bounded, so any bytes are safe input. Coordinates are doubles in the units of their CRS; order x y [z] [m].
 */
#ifndef VCODEC_H
#define VCODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "h5vec_status.h"

/* So many collections (multi-geometries are such) may stand one in another; more is H5VEC_E_DEPTH. */
#define VCODEC_MAX_DEPTH 128

/* OGC's types, numbered as in WKB. Those from CircularString on are read as WKB only, and never written as
 * WKT. */
enum vcodec_type {
    VCODEC_POINT = 1,
    VCODEC_LINESTRING = 2,
    VCODEC_POLYGON = 3,
    VCODEC_MULTIPOINT = 4,
    VCODEC_MULTILINESTRING = 5,
    VCODEC_MULTIPOLYGON = 6,
    VCODEC_GEOMETRYCOLLECTION = 7,
    VCODEC_CIRCULARSTRING = 8,
    VCODEC_COMPOUNDCURVE = 9,
    VCODEC_CURVEPOLYGON = 10,
    VCODEC_MULTICURVE = 11,
    VCODEC_MULTISURFACE = 12,
    VCODEC_POLYHEDRALSURFACE = 15,
    VCODEC_TIN = 16,
    VCODEC_TRIANGLE = 17,
};

/* Which ordinates follow x and y. */
enum vcodec_dim {
    VCODEC_XY = 0,
    VCODEC_XYZ = 1,
    VCODEC_XYM = 2,
    VCODEC_XYZM = 3,
};

/* A box in x and y. Empty is +inf +inf -inf -inf, the neutral element of a union. */
struct vcodec_box {
    double xmin, ymin, xmax, ymax;
};

/* What one pass over a geometry tells. It is empty if no vertex has an x or y other than NaN, so that nothing
 * enters the box; a curve's box is that of its points, which an arc may leave. It is (structurally) invalid
 * if it has a line of one point, or a ring that has one to three points or does not end at the x and y it
 * begins with (rings that are curves are not judged). SRIDs within a geometry must agree. */
struct vcodec_info {
    enum vcodec_type type; /* of the outermost geometry */
    enum vcodec_dim dim;
    bool empty;
    bool invalid;
    bool nonfinite;        /* a NaN or infinity among the ordinates, other than POINT EMPTY's */
    bool has_srid;         /* EWKB's SRID or "SRID=n;" was there */
    int32_t srid;          /* 0 without has_srid */
    uint64_t vertices;     /* points in all parts; an empty point counts 0 */
    size_t wkb_size;       /* bytes of the canonical ISO WKB */
    struct vcodec_box box; /* NaN ordinates do not enter; empty box if nothing does */
};

/* A box that contains nothing. */
struct vcodec_box vcodec_box_empty(void);

/* The smallest box around both. */
struct vcodec_box vcodec_box_union(struct vcodec_box a, struct vcodec_box b);

/* One pass over the ISO WKB or EWKB geometry that begins at wkb and must end at wkb + size (else
 * H5VEC_E_TRAILING): checks all of it and fills *info. Builds no object, allocates nothing. */
enum h5vec_status vcodec_wkb_scan(const uint8_t *wkb, size_t size, struct vcodec_info *info,
                                  struct h5vec_error *err);

/* Like vcodec_wkb_scan, and writes the canonical form (ISO WKB, little endian, no SRID) to out.
 * snprintf-like: writes only if it fits in capacity bytes; info->wkb_size is always the size needed, and a
 * return of H5VEC_OK with info->wkb_size > capacity means that nothing useful is in out. out may be NULL if
 * capacity is 0. The canonical form is never longer than the input: capacity = size always fits. */
enum h5vec_status vcodec_wkb_canonical(const uint8_t *wkb, size_t size, uint8_t *out, size_t capacity,
                                       struct vcodec_info *info, struct h5vec_error *err);

/* Parse one WKT (or "SRID=n;WKT") geometry in text[0 .. size), surrounding white space allowed, a UTF-8 BOM
 * at its start too, no NUL needed, and write its canonical WKB to out as vcodec_wkb_canonical does.
 * vcodec_wkt_bound(size) bytes always suffice. flags: 0 or VCODEC_ALLOW_NONFINITE. err->offset is the byte
 * where the error is, and err->msg says what was expected. */
#define VCODEC_ALLOW_NONFINITE 1u /* nan and inf are ordinates; a point of NaNs only stays an error */
enum h5vec_status vcodec_wkt_read(const char *text, size_t size, unsigned flags, uint8_t *out,
                                  size_t capacity, struct vcodec_info *info, struct h5vec_error *err);

/* Bytes that hold the canonical WKB of any WKT of size bytes. */
size_t vcodec_wkt_bound(size_t size);

/* Write the WKT of a WKB geometry with the shortest digits that read back to the same doubles, no NUL.
 * snprintf-like: *length is always the full length; out holds min(*length, capacity) bytes of it. Curves,
 * triangles and what has them are H5VEC_E_UNSUPPORTED. */
enum h5vec_status vcodec_wkt_write(const uint8_t *wkb, size_t size, char *out, size_t capacity,
                                   size_t *length, struct h5vec_error *err);

/* Write a WKB geometry as a geometry object of GeoJSON (RFC 7946), compact, with the same digits; an empty
 * one has empty "coordinates" (or "geometries"). As vcodec_wkt_write; besides, M is H5VEC_E_UNSUPPORTED and a
 * NaN or infinite ordinate H5VEC_E_NONFINITE. */
enum h5vec_status vcodec_geojson_write(const uint8_t *wkb, size_t size, char *out, size_t capacity,
                                       size_t *length, struct h5vec_error *err);

/* Correctly rounded double of the decimal number (optional sign, digits with an optional point, optional
 * exponent) at text[0 .. size); *length = bytes taken. H5VEC_E_WKT_NUMBER if there is none
 * or it overflows. */
enum h5vec_status vcodec_number_read(const char *text, size_t size, double *value, size_t *length);

/* Shortest decimal that reads back to value, at most VCODEC_NUMBER_MAX bytes, no NUL; returns its length. */
#define VCODEC_NUMBER_MAX 32
size_t vcodec_number_write(double value, char out[VCODEC_NUMBER_MAX]);

/* Position of point (x, y) along the Hilbert curve of 2^32 x 2^32 cells over box (docs/format.md has the
 * orientation). A point outside is clamped, NaN counts as the lower border, a box without extent in an axis
 * gives cell 0 there. */
uint64_t vcodec_hilbert(double x, double y, struct vcodec_box box);

/* "Point", "LineString", ... as OGC and GeoParquet spell them, a constant string. */
const char *vcodec_type_name(enum vcodec_type type);

/* Types and dimensions as bits of a set: bit type - 1 + 8 * dim up to GeometryCollection, the others (in the
 * order of their numbers, from 0) 32 + n + 8 * dim. */
uint64_t vcodec_type_bit(enum vcodec_type type, enum vcodec_dim dim);

/* Which ones bit 0 to 63 stands for; false: none. */
bool vcodec_type_of_bit(unsigned bit, enum vcodec_type *type, enum vcodec_dim *dim);

#endif

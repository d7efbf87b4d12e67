/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of the shapefile format share.
 */
#ifndef H5VEC_SHAPEFILE_H
#define H5VEC_SHAPEFILE_H

#include <iconv.h>
#include <shapefil.h>
#include "format_internal.h"

/* ---- Files as shapelib reads them (shape_files.c): with a window of our own, and never written. ---- */
struct h5vec_format_shape_file {
    int fd;
    bool there, owned;
    uint8_t *made; /* contents in memory instead of a file */
    uint64_t size, at;
    uint8_t *window;
    uint64_t window_at;
    size_t window_size;
    int error; /* errno of the last read that failed */
};

struct h5vec_format_shape_files {
    char *stem; /* the path without its last extension */
    struct h5vec_format_shape_file shp, shx, dbf, cpg, prj;
};

/* Open the siblings that are there; shp must be set up. A .shx that is missing is made from the .shp. */
enum h5vec_status h5vec_format_shape_files_open(struct h5vec_format_shape_files *files, const char *path,
                                                struct h5vec_error *err);
void h5vec_format_shape_files_close(struct h5vec_format_shape_files *files);

/* Hooks, and the name to open, for shapelib to find these files. */
#define H5VEC_FORMAT_SHAPE_NAME 32
void h5vec_format_shape_hooks(struct h5vec_format_shape_files *files, SAHooks *hooks,
                              char name[H5VEC_FORMAT_SHAPE_NAME]);

/* Up to size bytes at an offset; *got is less only at the end. */
enum h5vec_status h5vec_format_shape_read(struct h5vec_format_shape_file *file, void *buffer, size_t size,
                                          uint64_t offset, size_t *got, struct h5vec_error *err);

/* ---- A shape as WKB (shape_wkb.c). ---- */
struct h5vec_format_ring {
    int first, count; /* vertices */
    int outer;        /* index of the ring that it is a hole of; its own: it is none */
    double area;      /* twice, negative if clockwise */
    struct vcodec_box box;
};

/* Rings that were in use before are used again. */
struct h5vec_format_rings {
    struct h5vec_format_ring *ring;
    size_t *order; /* outer rings by xmin, then all rings as they are written */
    size_t count, capacity, order_capacity;
};

/* Which ring is a hole of which: one that is not clockwise is a hole of the smallest clockwise one that it
 * lies in; if there is none it is a polygon itself. False: nesting them would take too long. */
bool h5vec_format_rings_nest(struct h5vec_format_rings *rings, const SHPObject *shape);

/* Add the WKB of a shape that is not null to the row at hand. H5VEC_E_FORMAT_RECORD says what is wrong with
 * the shape. */
enum h5vec_status h5vec_format_shape_wkb(struct h5vec_format_rows *rows, struct h5vec_format_rings *rings,
                                         const SHPObject *shape, struct vcodec_info *info,
                                         struct h5vec_error *err);

/* ---- Text of the .dbf (shape_text.c). ---- */

/* A converter to UTF-8 from the encoding that shapelib names ("1252" in a .cpg, "LDID/87", NULL for none);
 * (iconv_t)-1: text is UTF-8 already. */
enum h5vec_status h5vec_format_encoding_open(const char *code_page, iconv_t *converter,
                                             struct h5vec_error *err);

struct h5vec_format_shape {
    struct h5vec_format_shape_files files;
    SHPHandle records;
    DBFHandle table; /* NULL: no .dbf */
    iconv_t converter;
    char *crs;  /* NULL: no .prj */
    char *text; /* a converted value; four bytes for each of the longest field */
    size_t text_capacity;
    struct h5vec_format_rings rings;
    uint32_t next, count; /* records, counted from 0 */
};

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Inside of h5vec_layer_check: the check of geometries and index (layer_check.c) and that of columns
 * (layer_check_columns.c) count and tell their findings through one record.
 */
#ifndef H5VEC_LAYER_CHECK_H
#define H5VEC_LAYER_CHECK_H

#include "layer_internal.h"

/* Kinds of findings; the first few of each are told, the rest counted. */
enum h5vec_layer_kind_of_finding {
    H5VEC_LAYER_F_SHAPE,   /* cannot be opened as a layer */
    H5VEC_LAYER_F_READ,    /* HDF5 cannot read it */
    H5VEC_LAYER_F_OFFSETS, /* wrong offsets */
    H5VEC_LAYER_F_VALID,   /* wrong validity, or bytes where nothing is valid */
    H5VEC_LAYER_F_WKB,     /* WKB that is not well formed or not canonical */
    H5VEC_LAYER_F_BOX,     /* a wrong box */
    H5VEC_LAYER_F_BLOCK,   /* a wrong block */
    H5VEC_LAYER_F_TREE,    /* a wrong tree */
    H5VEC_LAYER_F_GEO,     /* attribute geo is not true */
    H5VEC_LAYER_F_TEXT,    /* text that is not UTF-8 */
    H5VEC_LAYER_F_END
};

/* Limits of one read while checking. */
enum { H5VEC_LAYER_CHECK_ROWS = 65536, H5VEC_LAYER_CHECK_BYTES = 4 << 20 };

struct h5vec_layer_check {
    struct h5vec_layer *layer;
    h5vec_layer_finding finding;
    void *context;
    uint64_t of_kind[H5VEC_LAYER_F_END];
    struct h5vec_layer_buffer canonical; /* a feature's canonical WKB */
    struct h5vec_layer_geo seen;         /* types and box of the rows */
    struct h5vec_layer_blocks blocks;    /* as they should be; the last may still grow */
    uint64_t blocks_done;
    bool bad_rows;     /* some row's WKB is bad: types, box and vertices are not all known */
    bool bad_in_block; /* one of the block that grows */
};

/* Count a finding, and tell it if it is among the first of its kind. */
void h5vec_layer_check_tell(struct h5vec_layer_check *check, enum h5vec_layer_kind_of_finding kind,
                            const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* A read that failed: what is wrong with the file becomes a finding and *goes_on false; anything else (no
 * memory) is returned. With status H5VEC_OK, *goes_on is true. */
enum h5vec_status h5vec_layer_check_read(struct h5vec_layer_check *check, enum h5vec_status status,
                                         const struct h5vec_error *inner, bool *goes_on,
                                         struct h5vec_error *err);

/* Check all offsets of ragged values; *right tells whether they can be used. */
enum h5vec_status h5vec_layer_check_offsets(struct h5vec_layer_check *check,
                                            const struct h5vec_layer_ragged *ragged, bool *right,
                                            struct h5vec_error *err);

enum h5vec_status h5vec_layer_check_columns(struct h5vec_layer_check *check, struct h5vec_error *err);

/* The tree, if there is one. Boxes and offsets have been checked. */
enum h5vec_status h5vec_layer_check_rtree(struct h5vec_layer_check *check, struct h5vec_error *err);

#endif

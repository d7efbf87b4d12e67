/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Inside of the tree: what the query and the check share.
 */
#ifndef H5VEC_LAYER_RTREE_INTERNAL_H
#define H5VEC_LAYER_RTREE_INTERNAL_H

#include "h5vec_layer_rtree.h"
#include "layer_internal.h"

/* Nodes of a level, boxes or row numbers that are read at once. */
enum { H5VEC_LAYER_RTREE_WINDOW = 4096 };

/* Rows [first, first + count) of a dataset. */
struct h5vec_layer_window {
    uint64_t first, count;
    void *data;
};

struct h5vec_layer_rtree {
    uint64_t leaves;
    struct h5vec_layer_source nodes, rows, bbox;
    unsigned levels;
    int64_t begin[H5VEC_LAYER_RTREE_LEVELS + 1]; /* of each level in nodes */
    struct h5vec_layer_window level[H5VEC_LAYER_RTREE_LEVELS], row, box;
    uint64_t *candidate;
    size_t candidates;
};

/* Make sure that row i of the dataset is in the window: if it is not, the window begins there, and ends at
 * end or before. type: in memory. */
enum h5vec_status h5vec_layer_rtree_slide(const struct h5vec_layer_source *source, hid_t type, uint64_t i,
                                          uint64_t end, struct h5vec_layer_window *window,
                                          struct h5vec_error *err);

/* The row of a leaf, checked to be one. */
enum h5vec_status h5vec_layer_rtree_row(struct h5vec_layer_rtree *tree, uint64_t leaf, uint64_t *row,
                                        struct h5vec_error *err);

#endif

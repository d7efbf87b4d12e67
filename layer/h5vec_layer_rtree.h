/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tree of a layer (index/rtree, docs/format.md section 6): a packed R-tree over the rows' boxes, its
 * leaves in Hilbert order. How levels and nodes follow from the leaves, for whoever makes one, and a query by
 * box. Everything is local.
 */
#ifndef H5VEC_LAYER_RTREE_H
#define H5VEC_LAYER_RTREE_H

#include "h5vec_layer.h"

#define H5VEC_LAYER_RTREE_NODE 16   /* children of a node */
#define H5VEC_LAYER_RTREE_LEVELS 16 /* at most: 16^16 = 2^64 leaves */

/* A row of index/rtree/nodes. */
struct h5vec_layer_node {
    float xmin, ymin, xmax, ymax;
};
_Static_assert(sizeof(struct h5vec_layer_node) == 16, "the file's layout is packed");

/* ---- Making ----------------------------------------------------------------------------------------- */

/* index/rtree/levels of a tree of n < 2^63 leaves: level l is the nodes [levels[l], levels[l + 1]). Returns
 * the number of levels. */
unsigned h5vec_layer_rtree_levels(uint64_t n, int64_t levels[H5VEC_LAYER_RTREE_LEVELS + 1]);

/* The nodes of level 0 over n leaves in order, into nodes[0 .. ceil(n / 16)). */
void h5vec_layer_rtree_pack(const struct vcodec_box *leaves, size_t n, struct h5vec_layer_node *nodes);

/* The nodes over n nodes of the level below, likewise. */
void h5vec_layer_rtree_join(const struct h5vec_layer_node *below, size_t n, struct h5vec_layer_node *nodes);

/* The key by which leaves (and rows, where they are sorted) are ordered: false if the box has none, and comes
 * after all that have one. extent: h5vec_layer_order_extent over all boxes. Equal keys keep the order of
 * rows. */
bool h5vec_layer_order_key(struct vcodec_box box, struct vcodec_box extent, uint64_t *key);

/* extent united with box, if all four numbers of box are finite. Begin with vcodec_box_empty(). */
struct vcodec_box h5vec_layer_order_extent(struct vcodec_box extent, struct vcodec_box box);

/* ---- Query ------------------------------------------------------------------------------------------ */

struct h5vec_layer_rtree;

/* Told each row that was found, once. Anything but H5VEC_OK ends the query, which returns it. */
typedef enum h5vec_status (*h5vec_layer_found)(void *context, uint64_t row, struct h5vec_error *err);

/* Open the tree of a layer whose info->has_rtree is true (else H5VEC_E_LAYER_INVALID). Checks shape and
 * levels, not the nodes. Takes 3 MiB, and a chunk of each dataset. Free it before the layer. */
enum h5vec_status h5vec_layer_rtree_open(const struct h5vec_layer *layer, struct h5vec_layer_rtree **tree,
                                         struct h5vec_error *err);
void h5vec_layer_rtree_free(struct h5vec_layer_rtree *tree);

/* Find the rows whose geometry/bbox touches box (borders count). They come in the order of the leaves, but
 * within each 65,536 that were looked at in ascending order: all of them ascending in a tree without
 * index/rtree/rows. A wrong number in what the query goes through is H5VEC_E_LAYER_INVALID. */
enum h5vec_status h5vec_layer_rtree_query(struct h5vec_layer_rtree *tree, struct vcodec_box box,
                                          h5vec_layer_found found, void *context, struct h5vec_error *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Check a layer's tree: that its leaves are all rows, once each, and that its nodes are the rounded unions of
 * what is below them. Leaves come in runs, whose boxes are read in the order of rows; rows are ticked off in
 * a bitmap that covers so many of them at a time.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "layer_check.h"
#include "layer_rtree.h"

enum {
    RUN = 1 << 18,   /* leaves whose boxes are in memory together */
    TICKED = 1 << 25 /* rows of the bitmap */
};

/* What a check holds. */
struct tree_check {
    struct h5vec_layer_check *check;
    struct h5vec_layer_rtree *tree;
    struct place {
        uint64_t row;
        size_t leaf; /* in the run */
    } * place;
    struct vcodec_box *box;
    struct h5vec_layer_node *right; /* what nodes should be */
    uint8_t *ticked;
};

static int by_row(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return (x->row > y->row) - (x->row < y->row);
}

/* The boxes of leaves [first, first + n). */
static enum h5vec_status read_leaves(struct tree_check *t, uint64_t first, size_t n, struct h5vec_error *err)
{
    struct h5vec_layer_rtree *tree = t->tree;
    enum h5vec_status status = H5VEC_OK;
    for (size_t i = 0; i < n && status == H5VEC_OK; i++) {
        t->place[i].leaf = i;
        status = h5vec_layer_rtree_row(tree, first + i, &t->place[i].row, err);
    }
    if (status == H5VEC_OK && tree->rows.id >= 0)
        qsort(t->place, n, sizeof *t->place, by_row);
    for (size_t i = 0; i < n && status == H5VEC_OK; i++) {
        uint64_t row = t->place[i].row;
        status = h5vec_layer_rtree_slide(&tree->bbox, H5T_NATIVE_DOUBLE, row, tree->leaves, &tree->box, err);
        if (status == H5VEC_OK)
            t->box[t->place[i].leaf] = ((const struct vcodec_box *)tree->box.data)[row - tree->box.first];
    }
    return status;
}

/* Compare nodes [first, first + n) of a level with what they should be. */
static enum h5vec_status compare(struct tree_check *t, unsigned level, uint64_t first, size_t n,
                                 struct h5vec_error *err)
{
    struct h5vec_layer_rtree *tree = t->tree;
    struct h5vec_layer_window *window = &tree->level[level];
    for (uint64_t k = 0; k < n; k++) {
        uint64_t i = (uint64_t)tree->begin[level] + first + k;
        enum h5vec_status status = h5vec_layer_rtree_slide(&tree->nodes, H5T_NATIVE_FLOAT, i,
                                                           (uint64_t)tree->begin[level + 1], window, err);
        if (status != H5VEC_OK)
            return status;
        const struct h5vec_layer_node *a =
                                          (const struct h5vec_layer_node *)window->data + (i - window->first),
                                      *b = &t->right[k];
        if (a->xmin != b->xmin || a->ymin != b->ymin || a->xmax != b->xmax || a->ymax != b->ymax)
            h5vec_layer_check_tell(t->check, H5VEC_LAYER_F_TREE,
                                   "%s: node %" PRIu64 ": is not the box of its %s", tree->nodes.path, i,
                                   level ? "children" : "leaves");
    }
    return H5VEC_OK;
}

static enum h5vec_status check_lowest(struct tree_check *t, struct h5vec_error *err)
{
    enum h5vec_status status = H5VEC_OK;
    for (uint64_t i = 0; i < t->tree->leaves && status == H5VEC_OK; i += RUN) {
        size_t n = t->tree->leaves - i < RUN ? (size_t)(t->tree->leaves - i) : RUN;
        status = read_leaves(t, i, n, err);
        if (status != H5VEC_OK)
            break;
        h5vec_layer_rtree_pack(t->box, n, t->right);
        status = compare(t, 0, i / H5VEC_LAYER_RTREE_NODE, (n - 1) / H5VEC_LAYER_RTREE_NODE + 1, err);
    }
    return status;
}

/* A level by the one below it, as the file has it. */
static enum h5vec_status check_level(struct tree_check *t, unsigned level, struct h5vec_error *err)
{
    enum { NODES = H5VEC_LAYER_RTREE_WINDOW }; /* a multiple of 16 */
    struct h5vec_layer_rtree *tree = t->tree;
    struct h5vec_layer_window *below = &tree->level[level - 1];
    uint64_t begin = (uint64_t)tree->begin[level - 1], end = (uint64_t)tree->begin[level];
    enum h5vec_status status = H5VEC_OK;
    for (uint64_t i = begin; i < end && status == H5VEC_OK; i += NODES) {
        below->count = 0; /* so that it begins at i */
        status = h5vec_layer_rtree_slide(&tree->nodes, H5T_NATIVE_FLOAT, i, end, below, err);
        if (status != H5VEC_OK)
            break;
        size_t n = (size_t)below->count;
        h5vec_layer_rtree_join(below->data, n, t->right);
        status = compare(t, level, (i - begin) / H5VEC_LAYER_RTREE_NODE, (n - 1) / H5VEC_LAYER_RTREE_NODE + 1,
                         err);
    }
    return status;
}

/* Every row must be some leaf's: as there are as many leaves as rows, none is two leaves' then. */
static enum h5vec_status check_all_rows(struct tree_check *t, struct h5vec_error *err)
{
    uint64_t rows = t->tree->leaves;
    for (uint64_t first = 0; first < rows; first += TICKED) {
        memset(t->ticked, 0, TICKED / 8);
        for (uint64_t leaf = 0; leaf < rows; leaf++) {
            uint64_t row;
            enum h5vec_status status = h5vec_layer_rtree_row(t->tree, leaf, &row, err);
            if (status != H5VEC_OK)
                return status;
            if (row >= first && row - first < TICKED)
                t->ticked[(row - first) / 8] |= (uint8_t)(1u << (row - first) % 8);
        }
        for (uint64_t row = first; row < rows && row - first < TICKED; row++)
            if (!(t->ticked[(row - first) / 8] >> (row - first) % 8 & 1))
                h5vec_layer_check_tell(t->check, H5VEC_LAYER_F_TREE, "%s: row %" PRIu64 " is missing",
                                       t->tree->rows.path, row);
    }
    return H5VEC_OK;
}

static enum h5vec_status check_tree(struct tree_check *t, struct h5vec_error *err)
{
    enum h5vec_status status = check_lowest(t, err);
    for (unsigned level = 1; level < t->tree->levels && status == H5VEC_OK; level++)
        status = check_level(t, level, err);
    return status == H5VEC_OK && t->tree->rows.id >= 0 ? check_all_rows(t, err) : status;
}

enum h5vec_status h5vec_layer_check_rtree(struct h5vec_layer_check *check, struct h5vec_error *err)
{
    struct tree_check t = {.check = check,
                           .place = malloc(RUN * sizeof *t.place),
                           .box = malloc(RUN * sizeof *t.box),
                           .right = malloc((RUN / H5VEC_LAYER_RTREE_NODE) * sizeof *t.right),
                           .ticked = malloc(TICKED / 8)};
    struct h5vec_error inner = {0};
    bool goes_on;
    enum h5vec_status status = H5VEC_OK;
    if (!t.place || !t.box || !t.right || !t.ticked)
        status = h5vec_error_set(&inner, H5VEC_E_NOMEM, 0, H5VEC_LAYER_PATH_RTREE ": no memory");
    if (status == H5VEC_OK)
        status = h5vec_layer_rtree_open(check->layer, &t.tree, &inner);
    if (status == H5VEC_OK)
        status = check_tree(&t, &inner);
    status = h5vec_layer_check_read(check, status, &inner, &goes_on, err);
    h5vec_layer_rtree_free(t.tree);
    free(t.place);
    free(t.box);
    free(t.right);
    free(t.ticked);
    return status;
}

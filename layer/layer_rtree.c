/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Query a layer's tree. Nodes are visited depth first, and a step down or to the right never goes back in any
 * level: of each level one window of nodes is in memory, and each window is read once a query. Leaves that
 * the query gets to are collected by row number, and their boxes looked at in ascending order. Numbers come
 * from the file and are not believed.
 */
#include "layer_rtree.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum {
    CANDIDATES = 65536, /* rows whose boxes are looked at in order */
    CACHE = 64 << 20    /* the largest chunk that is kept; a larger one is decoded for each window */
};

/* ---- Opening ---------------------------------------------------------------------------------------- */

/* Open again with a cache that holds a chunk, since windows are smaller. */
static enum h5vec_status keep_chunk(hid_t group, struct h5vec_layer_source *source, size_t row_bytes,
                                    struct h5vec_error *err)
{
    hsize_t chunk[H5S_MAX_RANK] = {0};
    hid_t dcpl = H5Dget_create_plist(source->id), dapl = H5Pcreate(H5P_DATASET_ACCESS),
          again = H5I_INVALID_HID;
    bool ok = dcpl >= 0 && dapl >= 0;
    if (ok && H5Pget_layout(dcpl) == H5D_CHUNKED)
        ok = H5Pget_chunk(dcpl, H5S_MAX_RANK, chunk) >= 0;
    size_t bytes = chunk[0] <= CACHE / row_bytes ? (size_t)chunk[0] * row_bytes : 0;
    if (ok && bytes > 0)
        ok = H5Pset_chunk_cache(dapl, 101, bytes, 1.0) >= 0;
    if (ok)
        ok = (again = H5Dopen2(group, source->path, dapl)) >= 0;
    enum h5vec_status status =
        ok ? H5VEC_OK : h5vec_layer_error_hdf5(err, "%s: cannot be opened again", source->path);
    if (ok) {
        H5Dclose(source->id);
        source->id = again;
    }
    if (dapl >= 0)
        H5Pclose(dapl);
    if (dcpl >= 0)
        H5Pclose(dcpl);
    return status;
}

static enum h5vec_status open_cached(hid_t group, const char *path, struct h5vec_layer_expected expected,
                                     size_t row_bytes, struct h5vec_layer_source *source,
                                     struct h5vec_error *err)
{
    enum h5vec_status status = h5vec_layer_source_open(group, path, expected, source, err);
    return status == H5VEC_OK && source->id >= 0 ? keep_chunk(group, source, row_bytes, err) : status;
}

/* The levels follow from the number of rows; what the file says must be the same. */
static enum h5vec_status check_levels(hid_t group, struct h5vec_layer_rtree *tree, struct h5vec_error *err)
{
    int64_t stored[H5VEC_LAYER_RTREE_LEVELS + 1];
    struct h5vec_layer_source levels;
    tree->levels = h5vec_layer_rtree_levels(tree->leaves, tree->begin);
    struct h5vec_layer_expected expected = {H5VEC_LAYER_ROLE_RTREE_LEVELS, true, false, tree->levels + 1};
    enum h5vec_status status =
        h5vec_layer_source_open(group, H5VEC_LAYER_PATH_RTREE_LEVELS, expected, &levels, err);
    if (status == H5VEC_OK)
        status = h5vec_layer_read_run(&levels, H5T_NATIVE_INT64, 0, tree->levels + 1, stored, err);
    for (unsigned i = 0; status == H5VEC_OK && i <= tree->levels; i++)
        if (stored[i] != tree->begin[i])
            status = h5vec_error_set(err, H5VEC_E_LAYER_INVALID, 0,
                                     "%s: level %u begins at %" PRId64 ", not %" PRId64, levels.path, i,
                                     stored[i], tree->begin[i]);
    h5vec_layer_source_close(&levels);
    return status;
}

static bool make_windows(struct h5vec_layer_rtree *tree)
{
    bool ok = (tree->row.data = malloc(H5VEC_LAYER_RTREE_WINDOW * sizeof(int64_t))) != NULL &&
              (tree->box.data = malloc(H5VEC_LAYER_RTREE_WINDOW * sizeof(struct vcodec_box))) != NULL &&
              (tree->candidate = malloc(CANDIDATES * sizeof *tree->candidate)) != NULL;
    for (unsigned l = 0; l < tree->levels && ok; l++)
        ok = (tree->level[l].data = malloc(H5VEC_LAYER_RTREE_WINDOW * sizeof(struct h5vec_layer_node))) !=
             NULL;
    return ok;
}

enum h5vec_status h5vec_layer_rtree_open(const struct h5vec_layer *layer, struct h5vec_layer_rtree **tree,
                                         struct h5vec_error *err)
{
    struct h5vec_layer_rtree *made = calloc(1, sizeof *made);
    if (!made)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, H5VEC_LAYER_PATH_RTREE ": no memory");
    made->nodes = made->rows = made->bbox = h5vec_layer_absent;
    made->leaves = layer->info.rows;
    enum h5vec_status status = check_levels(layer->group, made, err);
    struct h5vec_layer_expected nodes = {H5VEC_LAYER_ROLE_RTREE_NODES, true, false,
                                         (uint64_t)made->begin[made->levels]},
                                rows = {H5VEC_LAYER_ROLE_RTREE_ROWS, false, false, made->leaves},
                                bbox = {H5VEC_LAYER_ROLE_BBOX, true, false, made->leaves};
    if (status == H5VEC_OK)
        status = open_cached(layer->group, H5VEC_LAYER_PATH_RTREE_NODES, nodes,
                             sizeof(struct h5vec_layer_node), &made->nodes, err);
    if (status == H5VEC_OK)
        status =
            open_cached(layer->group, H5VEC_LAYER_PATH_RTREE_ROWS, rows, sizeof(int64_t), &made->rows, err);
    if (status == H5VEC_OK)
        status = open_cached(layer->group, H5VEC_LAYER_PATH_BBOX, bbox, sizeof(struct vcodec_box),
                             &made->bbox, err);
    if (status == H5VEC_OK && !make_windows(made))
        status = h5vec_error_set(err, H5VEC_E_NOMEM, 0, H5VEC_LAYER_PATH_RTREE ": no memory");
    if (status == H5VEC_OK)
        *tree = made;
    else
        h5vec_layer_rtree_free(made);
    return status;
}

void h5vec_layer_rtree_free(struct h5vec_layer_rtree *tree)
{
    if (!tree)
        return;
    h5vec_layer_source_close(&tree->nodes);
    h5vec_layer_source_close(&tree->rows);
    h5vec_layer_source_close(&tree->bbox);
    for (unsigned l = 0; l < H5VEC_LAYER_RTREE_LEVELS; l++)
        free(tree->level[l].data);
    free(tree->row.data);
    free(tree->box.data);
    free(tree->candidate);
    free(tree);
}

/* ---- Query ------------------------------------------------------------------------------------------ */

enum h5vec_status h5vec_layer_rtree_slide(const struct h5vec_layer_source *source, hid_t type, uint64_t i,
                                          uint64_t end, struct h5vec_layer_window *window,
                                          struct h5vec_error *err)
{
    if (i >= window->first && i - window->first < window->count)
        return H5VEC_OK;
    window->first = i;
    window->count = 0;
    uint64_t count = end - i < H5VEC_LAYER_RTREE_WINDOW ? end - i : H5VEC_LAYER_RTREE_WINDOW;
    enum h5vec_status status = h5vec_layer_read_run(source, type, i, count, window->data, err);
    if (status == H5VEC_OK)
        window->count = count;
    return status;
}

static bool touches(const struct h5vec_layer_node *node, const struct vcodec_box *box)
{
    return node->xmin <= box->xmax && node->xmax >= box->xmin && node->ymin <= box->ymax &&
           node->ymax >= box->ymin;
}

/* Whether node k of a level touches box. */
static enum h5vec_status look(struct h5vec_layer_rtree *tree, unsigned level, uint64_t k,
                              struct vcodec_box box, bool *hit, struct h5vec_error *err)
{
    struct h5vec_layer_window *window = &tree->level[level];
    uint64_t i = (uint64_t)tree->begin[level] + k;
    enum h5vec_status status = h5vec_layer_rtree_slide(&tree->nodes, H5T_NATIVE_FLOAT, i,
                                                       (uint64_t)tree->begin[level + 1], window, err);
    if (status != H5VEC_OK)
        return status;
    const struct h5vec_layer_node *node = (const struct h5vec_layer_node *)window->data + (i - window->first);
    if (isnan(node->xmin) || isnan(node->ymin) || isnan(node->xmax) || isnan(node->ymax))
        return h5vec_error_set(err, H5VEC_E_LAYER_INVALID, 0, "%s: node %" PRIu64 " is not a box",
                               tree->nodes.path, i);
    *hit = touches(node, &box);
    return H5VEC_OK;
}

static int ascending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Tell those of the candidates whose own box touches box. */
static enum h5vec_status judge(struct h5vec_layer_rtree *tree, struct vcodec_box box, h5vec_layer_found found,
                               void *context, struct h5vec_error *err)
{
    enum h5vec_status status = H5VEC_OK;
    if (tree->rows.id >= 0)
        qsort(tree->candidate, tree->candidates, sizeof *tree->candidate, ascending);
    for (size_t c = 0; c < tree->candidates && status == H5VEC_OK; c++) {
        uint64_t row = tree->candidate[c];
        status = h5vec_layer_rtree_slide(&tree->bbox, H5T_NATIVE_DOUBLE, row, tree->leaves, &tree->box, err);
        if (status != H5VEC_OK)
            break;
        const struct vcodec_box *own = (const struct vcodec_box *)tree->box.data + (row - tree->box.first);
        if (own->xmin <= box.xmax && own->xmax >= box.xmin && own->ymin <= box.ymax && own->ymax >= box.ymin)
            status = found(context, row, err);
    }
    tree->candidates = 0;
    return status;
}

enum h5vec_status h5vec_layer_rtree_row(struct h5vec_layer_rtree *tree, uint64_t leaf, uint64_t *row,
                                        struct h5vec_error *err)
{
    *row = leaf;
    if (tree->rows.id < 0)
        return H5VEC_OK;
    enum h5vec_status status =
        h5vec_layer_rtree_slide(&tree->rows, H5T_NATIVE_INT64, leaf, tree->leaves, &tree->row, err);
    if (status != H5VEC_OK)
        return status;
    int64_t stored = ((const int64_t *)tree->row.data)[leaf - tree->row.first];
    if (stored < 0 || (uint64_t)stored >= tree->leaves)
        return h5vec_error_set(err, H5VEC_E_LAYER_INVALID, 0,
                               "%s: leaf %" PRIu64 ": there is no row %" PRId64, tree->rows.path, leaf,
                               stored);
    *row = (uint64_t)stored;
    return H5VEC_OK;
}

/* Collect the leaves of node k of level 0. */
static enum h5vec_status collect(struct h5vec_layer_rtree *tree, uint64_t k, struct h5vec_error *err)
{
    uint64_t leaf = k * H5VEC_LAYER_RTREE_NODE;
    uint64_t end =
        tree->leaves - leaf < H5VEC_LAYER_RTREE_NODE ? tree->leaves : leaf + H5VEC_LAYER_RTREE_NODE;
    enum h5vec_status status = H5VEC_OK;
    for (; leaf < end && status == H5VEC_OK; leaf++)
        status = h5vec_layer_rtree_row(tree, leaf, &tree->candidate[tree->candidates++], err);
    return status;
}

enum h5vec_status h5vec_layer_rtree_query(struct h5vec_layer_rtree *tree, struct vcodec_box box,
                                          h5vec_layer_found found, void *context, struct h5vec_error *err)
{
    enum h5vec_status status = H5VEC_OK;
    unsigned level = tree->levels ? tree->levels - 1 : 0;
    uint64_t k = 0;
    tree->candidates = 0;
    while (level < tree->levels && status == H5VEC_OK) {
        bool hit = false;
        status = look(tree, level, k, box, &hit, err);
        if (status == H5VEC_OK && hit && level > 0) { /* down, to the first child */
            level--;
            k *= H5VEC_LAYER_RTREE_NODE;
            continue;
        }
        if (status == H5VEC_OK && hit)
            status = collect(tree, k, err);
        if (status == H5VEC_OK && tree->candidates > CANDIDATES - H5VEC_LAYER_RTREE_NODE)
            status = judge(tree, box, found, context, err);
        /* To the next sibling, or past the parent if there is none. The root has none: the way ends above it.
         */
        for (k++; level < tree->levels && (k % H5VEC_LAYER_RTREE_NODE == 0 ||
                                           k == (uint64_t)(tree->begin[level + 1] - tree->begin[level]));
             level++)
            k = (k - 1) / H5VEC_LAYER_RTREE_NODE + 1;
    }
    return status == H5VEC_OK ? judge(tree, box, found, context, err) : status;
}

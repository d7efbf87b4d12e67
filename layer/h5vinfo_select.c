/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which rows an export has: a range, or those of it whose box touches a given one. The latter are found
 * through the layer's tree, or else its blocks, and kept as bits of a window of rows, so that they come in
 * order and memory is bounded however many there are.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "h5vec_layer_rtree.h"
#include "h5vinfo_export.h"

enum {
    WINDOW = 1 << 27, /* rows of a window: 16 MiB of bits */
    BLOCKS = 1024,    /* that are read at once */
    BOXES = 65536     /* as well */
};

enum h5vec_status h5vinfo_select(struct h5vec_layer *layer, const struct h5vinfo_wanted *wanted,
                                 struct h5vinfo_selection *selection, struct h5vec_error *err)
{
    uint64_t rows = h5vec_layer_info(layer)->rows;
    *selection = (struct h5vinfo_selection){.layer = layer, .wanted = wanted, .end = wanted->end};
    if (wanted->end == UINT64_MAX)
        selection->end = rows;
    if (wanted->first > rows || selection->end > rows)
        return h5vec_error_set(err, H5VEC_E_USAGE, 0,
                               "--rows: the layer has %" PRIu64 " rows, numbered from 0", rows);
    if (!wanted->has_box)
        return H5VEC_OK;
    uint64_t most = selection->end - wanted->first < WINDOW ? selection->end - wanted->first : WINDOW;
    selection->bits = malloc((size_t)most / 8 + 1);
    return selection->bits ? H5VEC_OK
                           : h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for the rows that are found");
}

void h5vinfo_select_free(struct h5vinfo_selection *selection)
{
    free(selection->bits);
}

static enum h5vec_status set_bit(void *context, uint64_t row, struct h5vec_error *err)
{
    struct h5vinfo_selection *s = context;
    (void)err;
    if (row >= s->window && row < s->window_end)
        s->bits[(row - s->window) / 8] |= (uint8_t)(1u << (row - s->window) % 8);
    return H5VEC_OK;
}

static enum h5vec_status look_in_tree(struct h5vinfo_selection *s, struct h5vec_error *err)
{
    struct h5vec_layer_rtree *tree = NULL;
    enum h5vec_status status = h5vec_layer_rtree_open(s->layer, &tree, err);
    if (status == H5VEC_OK)
        status = h5vec_layer_rtree_query(tree, s->wanted->box, set_bit, s, err);
    h5vec_layer_rtree_free(tree);
    return status;
}

static bool touch(const struct vcodec_box *a, const struct vcodec_box *b)
{
    return a->xmin <= b->xmax && a->xmax >= b->xmin && a->ymin <= b->ymax && a->ymax >= b->ymin;
}

/* Compare the boxes of rows [i, end). */
static enum h5vec_status look_at_rows(struct h5vinfo_selection *s, uint64_t i, uint64_t end,
                                      struct h5vec_error *err)
{
    enum h5vec_status status = H5VEC_OK;
    for (uint64_t j; i < end && status == H5VEC_OK; i = j) {
        struct h5vec_layer_batch batch = {0};
        j = end - i < BOXES ? end : i + BOXES;
        status = h5vec_layer_read(s->layer, i, j, H5VEC_LAYER_READ_BBOX, &batch, err);
        for (uint64_t k = 0; k < batch.rows && batch.box && status == H5VEC_OK; k++)
            if (touch(&batch.box[k], &s->wanted->box))
                status = set_bit(s, i + k, err);
    }
    return status;
}

static enum h5vec_status look_in_blocks(struct h5vinfo_selection *s, struct h5vec_error *err)
{
    struct h5vec_layer_block *block = malloc(BLOCKS * sizeof *block);
    uint64_t count = h5vec_layer_info(s->layer)->blocks;
    enum h5vec_status status = H5VEC_OK;
    if (!block)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for the block index");
    for (uint64_t b = 0; b < count && status == H5VEC_OK; b += BLOCKS) {
        size_t n = count - b < BLOCKS ? (size_t)(count - b) : BLOCKS;
        status = h5vec_layer_read_blocks(s->layer, b, n, block, err);
        for (size_t k = 0; k < n && status == H5VEC_OK; k++) {
            uint64_t first = block[k].first_row, rows = h5vec_layer_info(s->layer)->rows;
            if (first > rows || block[k].rows > rows - first)
                status = h5vec_error_set(
                    err, H5VEC_E_LAYER_INVALID, 0,
                    H5VEC_LAYER_PATH_BLOCKS ": block %" PRIu64 ": there are no such rows", b + k);
            else if (touch(&block[k].bbox, &s->wanted->box) && first < s->window_end &&
                     first + block[k].rows > s->window)
                status = look_at_rows(s, first, first + block[k].rows, err);
        }
    }
    free(block);
    return status;
}

/* Let the window begin at row i. */
static enum h5vec_status move_window(struct h5vinfo_selection *s, uint64_t i, struct h5vec_error *err)
{
    s->window = i;
    s->window_end = s->end - i < WINDOW ? s->end : i + WINDOW;
    memset(s->bits, 0, (size_t)(s->window_end - i) / 8 + 1);
    return h5vec_layer_info(s->layer)->has_rtree ? look_in_tree(s, err) : look_in_blocks(s, err);
}

static bool is_set(const struct h5vinfo_selection *s, uint64_t row)
{
    return s->bits[(row - s->window) / 8] >> (row - s->window) % 8 & 1;
}

enum h5vec_status h5vinfo_select_next(struct h5vinfo_selection *s, uint64_t i, uint64_t *first, uint64_t *end,
                                      struct h5vec_error *err)
{
    if (!s->bits) {
        *first = i;
        *end = s->end;
        return H5VEC_OK;
    }
    enum h5vec_status status = H5VEC_OK;
    for (; i < s->end; i++) {
        if (i >= s->window_end && (status = move_window(s, i, err)) != H5VEC_OK)
            return status;
        if (is_set(s, i))
            break;
    }
    *first = *end = i;
    while (*end < s->window_end && i < s->end && is_set(s, *end))
        ++*end;
    return H5VEC_OK;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Check a layer against the rules of docs/format.md, batch by batch. What the file says of its geometries
 * (boxes, blocks, types) is compared with what the codec says of the WKB; offsets are checked first, as
 * nothing can be read by wrong ones.
 */
#include "layer_check.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOLD = 10 }; /* findings of a kind that are told one by one */

void h5vec_layer_check_tell(struct h5vec_layer_check *check, enum h5vec_layer_kind_of_finding kind,
                            const char *fmt, ...)
{
    if (check->of_kind[kind]++ >= TOLD)
        return;
    char line[sizeof(struct h5vec_error)];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    check->finding(check->context, line);
}

/* Say how many findings were not told; returns the number of all. */
static uint64_t tell_rest(const struct h5vec_layer_check *check)
{
    static const char *const kinds[H5VEC_LAYER_F_END] = {
        "a wrong shape",
        "data that cannot be read",
        "wrong offsets",
        "wrong validity",
        "WKB that is malformed or not canonical",
        "a wrong box",
        "a wrong block",
        "a wrong tree",
        "a wrong geo attribute",
        "text that is not UTF-8",
    };
    uint64_t total = 0;
    for (size_t i = 0; i < H5VEC_LAYER_F_END; i++) {
        char line[128];
        total += check->of_kind[i];
        if (check->of_kind[i] <= TOLD)
            continue;
        snprintf(line, sizeof line, "%s: %" PRIu64 " more findings", kinds[i], check->of_kind[i] - TOLD);
        check->finding(check->context, line);
    }
    return total;
}

enum h5vec_status h5vec_layer_check_read(struct h5vec_layer_check *check, enum h5vec_status status,
                                         const struct h5vec_error *inner, bool *goes_on,
                                         struct h5vec_error *err)
{
    *goes_on = status == H5VEC_OK;
    if (status == H5VEC_OK)
        return H5VEC_OK;
    if (status != H5VEC_E_HDF5 && status != H5VEC_E_LAYER_INVALID)
        return h5vec_error_set(err, status, inner->offset, "%s", inner->msg);
    h5vec_layer_check_tell(check, H5VEC_LAYER_F_READ, "%s", inner->msg);
    return H5VEC_OK;
}

/* Check a window of offsets; the first is that of row `row`. Returns whether all are in order. */
static bool check_window(struct h5vec_layer_check *check, const char *path, uint64_t row,
                         const int64_t *offsets, uint64_t n)
{
    bool right = true;
    for (uint64_t k = 0; k + 1 < n; k++) {
        if (offsets[k + 1] >= offsets[k] && offsets[k] >= 0 &&
            offsets[k + 1] - offsets[k] <= H5VEC_LAYER_MAX_FEATURE)
            continue;
        h5vec_layer_check_tell(check, H5VEC_LAYER_F_OFFSETS,
                               "%s: row %" PRIu64 ": bytes %" PRId64 " to %" PRId64
                               " are not a range of at most %" PRId64 " bytes",
                               path, row + k, offsets[k], offsets[k + 1], H5VEC_LAYER_MAX_FEATURE);
        right = false;
    }
    return right;
}

enum h5vec_status h5vec_layer_check_offsets(struct h5vec_layer_check *check,
                                            const struct h5vec_layer_ragged *ragged, bool *right,
                                            struct h5vec_error *err)
{
    struct h5vec_layer_buffer *window = &check->layer->window;
    const char *path = ragged->offsets.path;
    uint64_t rows = check->layer->info.rows;
    enum h5vec_status status =
        h5vec_layer_buffer_need(window, H5VEC_LAYER_CHECK_ROWS + 1, sizeof(int64_t), path, err);
    if (status != H5VEC_OK)
        return status;
    const int64_t *offsets = window->data;
    *right = true;
    uint64_t n = 1;
    /* Windows overlap by one offset; a layer without rows has one window of one. */
    for (uint64_t i = 0; i == 0 || i < rows; i += n - 1) {
        struct h5vec_error inner = {0};
        bool goes_on;
        n = rows - i < H5VEC_LAYER_CHECK_ROWS ? rows - i + 1 : H5VEC_LAYER_CHECK_ROWS + 1;
        status = h5vec_layer_read_run(&ragged->offsets, H5T_NATIVE_INT64, i, n, window->data, &inner);
        status = h5vec_layer_check_read(check, status, &inner, &goes_on, err);
        if (!goes_on) {
            *right = false;
            return status;
        }
        if (i == 0 && offsets[0] != 0) {
            h5vec_layer_check_tell(check, H5VEC_LAYER_F_OFFSETS, "%s: begins with %" PRId64 ", not 0", path,
                                   offsets[0]);
            *right = false;
        }
        *right = check_window(check, path, i, offsets, n) && *right;
        if (n == 1)
            break;
    }
    if (offsets[n - 1] != (int64_t)ragged->data.rows) {
        h5vec_layer_check_tell(check, H5VEC_LAYER_F_OFFSETS,
                               "%s: ends with %" PRId64 ", but %s has %" PRIu64 " bytes", path,
                               offsets[n - 1], ragged->data.path, ragged->data.rows);
        *right = false;
    }
    return H5VEC_OK;
}

static bool same_box(const struct vcodec_box *a, const struct vcodec_box *b)
{
    return a->xmin == b->xmin && a->ymin == b->ymin && a->xmax == b->xmax && a->ymax == b->ymax;
}

/* Scan the WKB of a row. *good = false if there is something wrong with it. */
static enum h5vec_status check_wkb(struct h5vec_layer_check *check, uint64_t row, const uint8_t *wkb,
                                   size_t size, struct vcodec_info *info, bool *good, struct h5vec_error *err)
{
    struct h5vec_error inner = {0};
    enum h5vec_status status = h5vec_layer_buffer_need(&check->canonical, size, 1, H5VEC_LAYER_PATH_WKB, err);
    if (status != H5VEC_OK)
        return status;
    *good = vcodec_wkb_canonical(wkb, size, check->canonical.data, size, info, &inner) == H5VEC_OK;
    if (!*good)
        h5vec_layer_check_tell(check, H5VEC_LAYER_F_WKB,
                               H5VEC_LAYER_PATH_WKB ": row %" PRIu64 ": byte %" PRIu64 ": %s", row,
                               inner.offset, inner.msg);
    else if (info->wkb_size != size || memcmp(check->canonical.data, wkb, size) != 0) {
        h5vec_layer_check_tell(
            check, H5VEC_LAYER_F_WKB,
            H5VEC_LAYER_PATH_WKB ": row %" PRIu64 ": not canonical (ISO WKB, little endian)", row);
    }
    return H5VEC_OK;
}

/* Compare a complete block with the file's. */
static enum h5vec_status check_block(struct h5vec_layer_check *check, const struct h5vec_layer_block *right,
                                     bool doubtful, struct h5vec_error *err)
{
    uint64_t i = check->blocks_done++;
    struct h5vec_layer_block block;
    struct h5vec_error inner = {0};
    bool goes_on;
    if (i >= check->layer->info.blocks)
        return H5VEC_OK; /* told at the end */
    enum h5vec_status status = h5vec_layer_read_blocks(check->layer, i, 1, &block, &inner);
    status = h5vec_layer_check_read(check, status, &inner, &goes_on, err);
    if (!goes_on)
        return status;
    const char *what = NULL;
    if (block.first_row != right->first_row || block.rows != right->rows)
        what = "rows";
    else if (block.first_byte != right->first_byte || block.bytes != right->bytes)
        what = "bytes";
    else if (!doubtful && block.vertices != right->vertices)
        what = "vertices";
    else if (!doubtful && !same_box(&block.bbox, &right->bbox))
        what = "bbox";
    if (what)
        h5vec_layer_check_tell(check, H5VEC_LAYER_F_BLOCK,
                               H5VEC_LAYER_PATH_BLOCKS ": block %" PRIu64 ": wrong %s", i, what);
    return H5VEC_OK;
}

static enum h5vec_status add_to_block(struct h5vec_layer_check *check, uint64_t row, int64_t begin,
                                      int64_t end, const struct vcodec_info *info, bool good,
                                      struct h5vec_error *err)
{
    enum h5vec_status status = h5vec_layer_blocks_add(&check->blocks, row, (uint64_t)begin, (uint64_t)end,
                                                      info->vertices, info->box);
    if (status != H5VEC_OK)
        return h5vec_error_set(err, status, 0, H5VEC_LAYER_PATH_BLOCKS ": no memory");
    if (check->blocks.count > 1) {
        status = check_block(check, &check->blocks.block[0], check->bad_in_block, err);
        h5vec_layer_blocks_drop(&check->blocks, 1);
        check->bad_in_block = false;
    }
    check->bad_in_block = check->bad_in_block || !good;
    check->bad_rows = check->bad_rows || !good;
    return status;
}

static enum h5vec_status check_row(struct h5vec_layer_check *check, const struct h5vec_layer_batch *batch,
                                   size_t k, struct h5vec_error *err)
{
    uint64_t row = batch->first_row + k;
    int64_t begin = batch->offsets[k], end = batch->offsets[k + 1];
    struct vcodec_info info = {.box = vcodec_box_empty()};
    bool good = true, is_there = !batch->valid || batch->valid[k] != 0;
    enum h5vec_status status = H5VEC_OK;
    if (batch->valid && batch->valid[k] > 1)
        h5vec_layer_check_tell(check, H5VEC_LAYER_F_VALID,
                               H5VEC_LAYER_PATH_VALID ": row %" PRIu64 ": %u, not 0 or 1", row,
                               batch->valid[k]);
    if (is_there) {
        status = check_wkb(check, row, batch->wkb + begin, (size_t)(end - begin), &info, &good, err);
        if (status == H5VEC_OK && good)
            check->seen.types |= vcodec_type_bit(info.type, info.dim);
    } else if (begin != end) {
        h5vec_layer_check_tell(check, H5VEC_LAYER_F_VALID,
                               H5VEC_LAYER_PATH_VALID ": row %" PRIu64 ": null, but has %" PRId64
                                                      " bytes of WKB",
                               row, end - begin);
    }
    if (status != H5VEC_OK)
        return status;
    if (good && !same_box(&batch->box[k], &info.box))
        h5vec_layer_check_tell(check, H5VEC_LAYER_F_BOX,
                               H5VEC_LAYER_PATH_BBOX ": row %" PRIu64 ": not the box of %s", row,
                               is_there ? "its WKB" : "a null geometry");
    if (good)
        check->seen.box = vcodec_box_union(check->seen.box, info.box);
    return add_to_block(check, row, batch->first_byte + begin, batch->first_byte + end, &info, good, err);
}

/* All rows, batch by batch; *whole tells whether they could be read to the end. */
static enum h5vec_status check_rows(struct h5vec_layer_check *check, bool *whole, struct h5vec_error *err)
{
    struct h5vec_layer *layer = check->layer;
    *whole = true;
    for (uint64_t i = 0, j = 0; i < layer->info.rows; i = j) {
        struct h5vec_layer_batch batch;
        struct h5vec_error inner = {0};
        enum h5vec_status status =
            h5vec_layer_fit(layer, i, H5VEC_LAYER_CHECK_ROWS, H5VEC_LAYER_CHECK_BYTES, &j, &inner);
        if (status == H5VEC_OK)
            status = h5vec_layer_read(layer, i, j, H5VEC_LAYER_READ_ALL, &batch, &inner);
        status = h5vec_layer_check_read(check, status, &inner, whole, err);
        if (!*whole)
            return status;
        for (size_t k = 0; k < batch.rows; k++)
            if ((status = check_row(check, &batch, k, err)) != H5VEC_OK)
                return status;
    }
    return H5VEC_OK;
}

static void check_geo(struct h5vec_layer_check *check)
{
    const struct h5vec_layer_geo *geo = &check->layer->geo;
    struct vcodec_box right = check->seen.box;
    if (!isfinite(right.xmin) || !isfinite(right.ymin) || !isfinite(right.xmax) || !isfinite(right.ymax))
        right = vcodec_box_empty(); /* JSON has no infinity: such a box is left out */
    if (geo->types != check->seen.types)
        h5vec_layer_check_tell(check, H5VEC_LAYER_F_GEO,
                               "attribute geo: geometry_types are not those of the rows");
    if (!same_box(&geo->box, &right))
        h5vec_layer_check_tell(check, H5VEC_LAYER_F_GEO, "attribute geo: bbox is not that of the rows");
}

/* After the last row: the last block, the number of blocks, and attribute geo. */
static enum h5vec_status check_end(struct h5vec_layer_check *check, struct h5vec_error *err)
{
    enum h5vec_status status = H5VEC_OK;
    if (check->blocks.count > 0)
        status = check_block(check, &check->blocks.block[0], check->bad_in_block, err);
    if (check->blocks_done != check->layer->info.blocks)
        h5vec_layer_check_tell(check, H5VEC_LAYER_F_BLOCK,
                               H5VEC_LAYER_PATH_BLOCKS ": %" PRIu64 " blocks where %" PRIu64 " are needed",
                               check->layer->info.blocks, check->blocks_done);
    if (!check->bad_rows)
        check_geo(check);
    return status;
}

static enum h5vec_status check_layer(struct h5vec_layer_check *check, struct h5vec_error *err)
{
    bool right = false;
    enum h5vec_status status = h5vec_layer_check_offsets(check, &check->layer->wkb, &right, err);
    if (status == H5VEC_OK && right)
        status = check_rows(check, &right, err);
    if (status == H5VEC_OK && right)
        status = check_end(check, err);
    if (status == H5VEC_OK && check->layer->info.has_rtree)
        status = h5vec_layer_check_rtree(check, err);
    return status == H5VEC_OK ? h5vec_layer_check_columns(check, err) : status;
}

enum h5vec_status h5vec_layer_check(hid_t loc, const char *path, h5vec_layer_finding finding, void *context,
                                    uint64_t *findings, struct h5vec_error *err)
{
    struct h5vec_layer_check check = {.finding = finding, .context = context};
    struct h5vec_error inner = {0};
    h5vec_layer_geo_init(&check.seen);
    enum h5vec_status status = h5vec_layer_open(loc, path, &check.layer, &inner);
    if (status == H5VEC_OK)
        status = check_layer(&check, err);
    else if (status == H5VEC_E_NOMEM)
        h5vec_error_set(err, status, 0, "%s", inner.msg);
    else {
        h5vec_layer_check_tell(&check, H5VEC_LAYER_F_SHAPE, "%s", inner.msg);
        status = H5VEC_OK;
    }
    if (status == H5VEC_OK)
        *findings = tell_rest(&check);
    h5vec_layer_free(check.layer);
    h5vec_layer_blocks_free(&check.blocks);
    free(check.canonical.data);
    return status;
}

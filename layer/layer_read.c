/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Read rows of a layer into the layer's buffers. Offsets come from the file and are not believed: they are
 * compared with each other and with the length of the data before anything is allocated or read by them.
 */
#include "layer_internal.h"

#include <inttypes.h>
#include <stdlib.h>

enum { WINDOW = 65536 }; /* offsets that are looked at in one read */

enum h5vec_status h5vec_layer_buffer_need(struct h5vec_layer_buffer *buffer, uint64_t count, size_t element,
                                          const char *what, struct h5vec_error *err)
{
    size_t bytes;
    if (!__builtin_mul_overflow(count, element, &bytes)) {
        if (bytes <= buffer->capacity && buffer->data)
            return H5VEC_OK;
        void *grown = realloc(buffer->data, bytes ? bytes : 1);
        if (grown) {
            buffer->data = grown;
            buffer->capacity = bytes;
            return H5VEC_OK;
        }
    }
    return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "%s: no memory for %" PRIu64 " elements", what, count);
}

/* Select rows [i, i + n) in the file's space; *memory is a space of as many elements. */
static bool select_rows(hid_t file, uint64_t i, uint64_t n, hid_t *memory)
{
    hsize_t start[H5S_MAX_RANK] = {0}, count[H5S_MAX_RANK];
    int rank = H5Sget_simple_extent_dims(file, count, NULL);
    if (rank < 1)
        return false;
    start[0] = i;
    count[0] = n;
    *memory = H5Screate_simple(rank, count, NULL);
    return *memory >= 0 && H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0;
}

enum h5vec_status h5vec_layer_read_run(const struct h5vec_layer_source *source, hid_t mem_type, uint64_t i,
                                       uint64_t n, void *out, struct h5vec_error *err)
{
    if (n == 0)
        return H5VEC_OK;
    enum h5vec_status status = H5VEC_OK;
    hid_t memory = H5I_INVALID_HID, file = H5Dget_space(source->id);
    if (file < 0 || !select_rows(file, i, n, &memory) ||
        H5Dread(source->id, mem_type, memory, file, H5P_DEFAULT, out) < 0) {
        status = H5VEC_E_HDF5;
        h5vec_layer_error_hdf5(err, "%s: rows %" PRIu64 " to %" PRIu64 " cannot be read", source->path, i,
                               i + n - 1);
    }
    if (memory >= 0)
        H5Sclose(memory);
    if (file >= 0)
        H5Sclose(file);
    return status;
}

enum h5vec_status h5vec_layer_offsets(struct h5vec_layer *layer, uint64_t i, size_t n, int64_t *out,
                                      struct h5vec_error *err)
{
    return h5vec_layer_read_run(&layer->wkb.offsets, H5T_NATIVE_INT64, i, n, out, err);
}

enum h5vec_status h5vec_layer_read_offsets(const struct h5vec_layer_ragged *ragged, uint64_t i, uint64_t j,
                                           struct h5vec_layer_buffer *buffer, int64_t *first,
                                           struct h5vec_error *err)
{
    const char *path = ragged->offsets.path;
    uint64_t n = j - i + 1;
    if (n == 0)
        return h5vec_error_set(err, H5VEC_E_ARG, 0, "%s: a range that ends before it begins", path);
    enum h5vec_status status = h5vec_layer_buffer_need(buffer, n, sizeof(int64_t), path, err);
    if (status == H5VEC_OK)
        status = h5vec_layer_read_run(&ragged->offsets, H5T_NATIVE_INT64, i, n, buffer->data, err);
    if (status != H5VEC_OK)
        return status;
    int64_t *offsets = buffer->data;
    int64_t base = offsets[0], before = base;
    if (base < 0 || (uint64_t)offsets[n - 1] > ragged->data.rows)
        return h5vec_error_set(err, H5VEC_E_LAYER_INVALID, 0,
                               "%s: rows %" PRIu64 " to %" PRIu64 " leave the %" PRIu64 " bytes of %s", path,
                               i, j, ragged->data.rows, ragged->data.path);
    for (uint64_t k = 0; k < n; k++) {
        if (offsets[k] < before)
            return h5vec_error_set(err, H5VEC_E_LAYER_INVALID, 0, "%s: decreases at %" PRIu64, path, i + k);
        before = offsets[k];
        offsets[k] -= base;
    }
    *first = base;
    return H5VEC_OK;
}

/* Bytes [first, first + size) of ragged values into buffer. */
static enum h5vec_status read_bytes(const struct h5vec_layer_ragged *ragged, int64_t first, int64_t size,
                                    struct h5vec_layer_buffer *buffer, struct h5vec_error *err)
{
    enum h5vec_status status = h5vec_layer_buffer_need(buffer, (uint64_t)size, 1, ragged->data.path, err);
    if (status != H5VEC_OK)
        return status;
    return h5vec_layer_read_run(&ragged->data, H5T_NATIVE_UINT8, (uint64_t)first, (uint64_t)size,
                                buffer->data, err);
}

/* Rows [i, j) of a dataset of n-byte rows into buffer. */
static enum h5vec_status read_rows(const struct h5vec_layer_source *source, hid_t mem_type, size_t row_bytes,
                                   uint64_t i, uint64_t j, struct h5vec_layer_buffer *buffer,
                                   struct h5vec_error *err)
{
    enum h5vec_status status = h5vec_layer_buffer_need(buffer, j - i, row_bytes, source->path, err);
    return status == H5VEC_OK ? h5vec_layer_read_run(source, mem_type, i, j - i, buffer->data, err) : status;
}

static enum h5vec_status check_range(const struct h5vec_layer *layer, uint64_t i, uint64_t j,
                                     struct h5vec_error *err)
{
    if (i <= j && j <= layer->info.rows)
        return H5VEC_OK;
    return h5vec_error_set(err, H5VEC_E_ARG, 0, "rows [%" PRIu64 ", %" PRIu64 ") of a layer of %" PRIu64, i,
                           j, layer->info.rows);
}

enum h5vec_status h5vec_layer_read(struct h5vec_layer *layer, uint64_t i, uint64_t j, unsigned what,
                                   struct h5vec_layer_batch *batch, struct h5vec_error *err)
{
    struct h5vec_layer_batch made = {.first_row = i, .rows = (size_t)(j - i)};
    enum h5vec_status status = check_range(layer, i, j, err);
    if (status == H5VEC_OK)
        status = h5vec_layer_read_offsets(&layer->wkb, i, j, &layer->offsets_buffer, &made.first_byte, err);
    if (status == H5VEC_OK)
        made.offsets = layer->offsets_buffer.data;
    if (status == H5VEC_OK && (what & H5VEC_LAYER_READ_WKB)) {
        status = read_bytes(&layer->wkb, made.first_byte, made.offsets[made.rows], &layer->wkb_buffer, err);
        made.wkb = layer->wkb_buffer.data;
    }
    if (status == H5VEC_OK && (what & H5VEC_LAYER_READ_BBOX)) {
        status = read_rows(&layer->bbox, H5T_NATIVE_DOUBLE, sizeof *made.box, i, j, &layer->box_buffer, err);
        made.box = layer->box_buffer.data;
    }
    if (status == H5VEC_OK && (what & H5VEC_LAYER_READ_VALID) && layer->info.has_valid) {
        status = read_rows(&layer->valid, H5T_NATIVE_UINT8, 1, i, j, &layer->valid_buffer, err);
        made.valid = layer->valid_buffer.data;
    }
    if (status == H5VEC_OK)
        *batch = made;
    return status;
}

enum h5vec_status h5vec_layer_fit_ragged(struct h5vec_layer *layer, const struct h5vec_layer_ragged *ragged,
                                         uint64_t i, uint64_t max_rows, uint64_t max_bytes, uint64_t *j,
                                         struct h5vec_error *err)
{
    uint64_t rows = layer->info.rows, end = rows - i < max_rows ? rows : i + max_rows, at = i, bytes = 0;
    while (at < end) {
        uint64_t stop = end - at < WINDOW ? end : at + WINDOW;
        int64_t first;
        enum h5vec_status status = h5vec_layer_read_offsets(ragged, at, stop, &layer->window, &first, err);
        if (status != H5VEC_OK)
            return status;
        const int64_t *offsets = layer->window.data;
        uint64_t k = 0;
        while (k < stop - at && bytes + (uint64_t)offsets[k + 1] <= max_bytes)
            k++;
        bytes += (uint64_t)offsets[k];
        at += k;
        if (at < stop)
            break;
    }
    *j = at == i && i < rows ? i + 1 : at;
    return H5VEC_OK;
}

enum h5vec_status h5vec_layer_fit(struct h5vec_layer *layer, uint64_t i, uint64_t max_rows,
                                  uint64_t max_bytes, uint64_t *j, struct h5vec_error *err)
{
    enum h5vec_status status = check_range(layer, i, i, err);
    return status == H5VEC_OK ? h5vec_layer_fit_ragged(layer, &layer->wkb, i, max_rows, max_bytes, j, err)
                              : status;
}

enum h5vec_status h5vec_layer_fit_column(struct h5vec_layer *layer, size_t column, uint64_t i,
                                         uint64_t max_rows, uint64_t max_bytes, uint64_t *j,
                                         struct h5vec_error *err)
{
    if (column >= layer->info.columns)
        return h5vec_error_set(err, H5VEC_E_ARG, 0, "column %zu of %zu", column, layer->info.columns);
    enum h5vec_status status = check_range(layer, i, i, err);
    if (status != H5VEC_OK)
        return status;
    const struct h5vec_layer_column *shown = &layer->shown[column];
    if (shown->kind == H5VEC_LAYER_TEXT)
        return h5vec_layer_fit_ragged(layer, &layer->parts[column].text, i, max_rows, max_bytes, j, err);
    uint64_t rows = shown->row_bytes > max_bytes / max_rows ? max_bytes / shown->row_bytes + 1 : max_rows;
    *j = layer->info.rows - i < rows ? layer->info.rows : i + rows;
    return H5VEC_OK;
}

enum h5vec_status h5vec_layer_read_column(struct h5vec_layer *layer, size_t column, uint64_t i, uint64_t j,
                                          struct h5vec_layer_values *values, struct h5vec_error *err)
{
    if (column >= layer->info.columns)
        return h5vec_error_set(err, H5VEC_E_ARG, 0, "column %zu of %zu", column, layer->info.columns);
    const struct h5vec_layer_parts *parts = &layer->parts[column];
    const struct h5vec_layer_column *shown = &layer->shown[column];
    struct h5vec_layer_values made = {0};
    enum h5vec_status status = check_range(layer, i, j, err);
    if (status == H5VEC_OK && shown->kind == H5VEC_LAYER_TEXT) {
        int64_t first = 0;
        status = h5vec_layer_read_offsets(&parts->text, i, j, &layer->column_offsets, &first, err);
        made.offsets = layer->column_offsets.data;
        if (status == H5VEC_OK)
            status = read_bytes(&parts->text, first, made.offsets[j - i], &layer->column_data, err);
    } else if (status == H5VEC_OK) {
        status = read_rows(&parts->fixed, shown->type, shown->row_bytes, i, j, &layer->column_data, err);
    }
    made.data = layer->column_data.data;
    if (status == H5VEC_OK && shown->has_valid) {
        status = read_rows(&parts->valid, H5T_NATIVE_UINT8, 1, i, j, &layer->column_valid, err);
        made.valid = layer->column_valid.data;
    }
    if (status == H5VEC_OK)
        *values = made;
    return status;
}

enum h5vec_status h5vec_layer_read_blocks(struct h5vec_layer *layer, uint64_t i, size_t n,
                                          struct h5vec_layer_block *out, struct h5vec_error *err)
{
    hid_t type = h5vec_layer_block_type(true);
    if (type < 0)
        return h5vec_layer_error_hdf5(err, "the type of the block index cannot be made");
    enum h5vec_status status = h5vec_layer_read_run(&layer->blocks, type, i, n, out, err);
    H5Tclose(type);
    return status;
}

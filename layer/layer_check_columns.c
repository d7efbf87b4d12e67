/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Check the attribute columns of a layer: text's offsets and UTF-8, validity, and that all of it can be read.
 */
#include "layer_check.h"

#include <inttypes.h>
#include "vcodec_utf8.h"

/* The values [i, i + n) of a column that has been read. */
static void check_values(struct h5vec_layer_check *check, const struct h5vec_layer_column *column,
                         const struct h5vec_layer_values *values, uint64_t i, uint64_t n)
{
    for (uint64_t k = 0; k < n; k++) {
        if (values->valid && values->valid[k] > 1)
            h5vec_layer_check_tell(check, H5VEC_LAYER_F_VALID, "valid/%s: row %" PRIu64 ": %u, not 0 or 1",
                                   column->link, i + k, values->valid[k]);
        if (!values->offsets)
            continue;
        const char *text = (const char *)values->data + values->offsets[k];
        size_t size = (size_t)(values->offsets[k + 1] - values->offsets[k]);
        if (values->valid && values->valid[k] == 0 && size > 0)
            h5vec_layer_check_tell(check, H5VEC_LAYER_F_VALID,
                                   "valid/%s: row %" PRIu64 ": no value, but has %zu bytes of text",
                                   column->link, i + k, size);
        size_t good = vcodec_utf8_check(text, size);
        if (good < size)
            h5vec_layer_check_tell(check, H5VEC_LAYER_F_TEXT,
                                   "columns/%s: row %" PRIu64 ": byte %zu is not UTF-8 without NUL",
                                   column->link, i + k, good);
    }
}

static enum h5vec_status check_column(struct h5vec_layer_check *check, size_t c, struct h5vec_error *err)
{
    struct h5vec_layer *layer = check->layer;
    bool right = true;
    enum h5vec_status status = H5VEC_OK;
    if (layer->shown[c].kind == H5VEC_LAYER_TEXT)
        status = h5vec_layer_check_offsets(check, &layer->parts[c].text, &right, err);
    for (uint64_t i = 0, j = 0; status == H5VEC_OK && right && i < layer->info.rows; i = j) {
        struct h5vec_layer_values values = {0};
        struct h5vec_error inner = {0};
        status =
            h5vec_layer_fit_column(layer, c, i, H5VEC_LAYER_CHECK_ROWS, H5VEC_LAYER_CHECK_BYTES, &j, &inner);
        if (status == H5VEC_OK)
            status = h5vec_layer_read_column(layer, c, i, j, &values, &inner);
        status = h5vec_layer_check_read(check, status, &inner, &right, err);
        if (right)
            check_values(check, &layer->shown[c], &values, i, j - i);
    }
    return status;
}

enum h5vec_status h5vec_layer_check_columns(struct h5vec_layer_check *check, struct h5vec_error *err)
{
    enum h5vec_status status = H5VEC_OK;
    for (size_t c = 0; c < check->layer->info.columns && status == H5VEC_OK; c++)
        status = check_column(check, c, err);
    return status;
}

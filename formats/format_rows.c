/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rows of a batch: arrays that are filled row by row and kept for the next batch. A row is begun, gets
 * its geometry behind the last row's, its texts behind the columns' last ones and its other values at its
 * place, and is ended or, if its record turns out to be malformed, aborted: then it never was.
 */
#include "format_internal.h"

#include <stdlib.h>
#include <string.h>

/* Reallocate the array whose address is in *slot (a pointer of any type) to capacity elements. */
static bool regrow(void *slot, size_t capacity, size_t element)
{
    void *array;
    memcpy(&array, slot, sizeof array);
    array = capacity > SIZE_MAX / element ? NULL : realloc(array, capacity * element);
    if (array)
        memcpy(slot, &array, sizeof array);
    return array != NULL;
}

bool h5vec_format_grow(void *slot, size_t *capacity, size_t need, size_t element)
{
    if (need <= *capacity)
        return true;
    size_t size = *capacity < 8 ? 16 : *capacity * 2;
    if (size < need)
        size = need;
    if (!regrow(slot, size, element))
        return false;
    *capacity = size;
    return true;
}

size_t h5vec_format_type_size(enum h5vec_format_type type)
{
    if (type == H5VEC_FORMAT_TEXT)
        return 0;
    return type == H5VEC_FORMAT_BOOLEAN ? sizeof(uint8_t) : sizeof(int64_t);
}

static bool regrow_column(struct h5vec_format_builder *column, size_t capacity)
{
    bool text = column->type == H5VEC_FORMAT_TEXT;
    return regrow(&column->valid, capacity, sizeof *column->valid) &&
           (text ? regrow(&column->offsets, capacity + 1, sizeof *column->offsets)
                 : regrow(&column->values, capacity, h5vec_format_type_size(column->type)));
}

/* Room for one more row in every array (offsets have one more element). */
static bool reserve_row(struct h5vec_format_rows *rows)
{
    if (rows->count < rows->capacity)
        return true;
    size_t capacity = rows->capacity ? rows->capacity * 2 : 256;
    if (!regrow(&rows->offsets, capacity + 1, sizeof *rows->offsets) ||
        !regrow(&rows->box, capacity, sizeof *rows->box) ||
        !regrow(&rows->valid, capacity, sizeof *rows->valid) ||
        !regrow(&rows->vertices, capacity, sizeof *rows->vertices))
        return false;
    for (size_t i = 0; i < rows->columns; i++)
        if (!regrow_column(&rows->column[i], capacity))
            return false;
    rows->capacity = capacity;
    return true;
}

bool h5vec_format_rows_begin(struct h5vec_format_rows *rows)
{
    if (!reserve_row(rows))
        return false;
    rows->offsets[rows->count] = (int64_t)rows->wkb_size;
    for (size_t i = 0; i < rows->columns; i++) {
        struct h5vec_format_builder *column = &rows->column[i];
        size_t size = h5vec_format_type_size(column->type);
        column->valid[rows->count] = 0;
        if (size == 0)
            column->offsets[rows->count] = (int64_t)column->size;
        else
            memset(column->values + rows->count * size, 0, size);
    }
    return true;
}

uint8_t *h5vec_format_rows_wkb(struct h5vec_format_rows *rows, size_t size)
{
    if (size > SIZE_MAX - rows->wkb_size ||
        !h5vec_format_grow(&rows->wkb, &rows->wkb_capacity, rows->wkb_size + size, 1))
        return NULL;
    return rows->wkb + rows->wkb_size;
}

bool h5vec_format_rows_text(struct h5vec_format_rows *rows, size_t i, const char *text, size_t size)
{
    struct h5vec_format_builder *column = &rows->column[i];
    if (!h5vec_format_grow(&column->data, &column->capacity, column->size + size, 1))
        return false;
    if (size > 0)
        memcpy(column->data + column->size, text, size);
    column->size += size;
    return true;
}

static void set_value(struct h5vec_format_rows *rows, size_t i, const void *value, size_t size)
{
    memcpy(rows->column[i].values + rows->count * size, value, size);
    rows->column[i].valid[rows->count] = 1;
}

void h5vec_format_rows_integer(struct h5vec_format_rows *rows, size_t i, int64_t value)
{
    set_value(rows, i, &value, sizeof value);
}

void h5vec_format_rows_float(struct h5vec_format_rows *rows, size_t i, double value)
{
    set_value(rows, i, &value, sizeof value);
}

void h5vec_format_rows_boolean(struct h5vec_format_rows *rows, size_t i, bool value)
{
    uint8_t byte = value;
    set_value(rows, i, &byte, sizeof byte);
}

void h5vec_format_rows_end(struct h5vec_format_rows *rows, const struct vcodec_info *info)
{
    size_t row = rows->count++;
    rows->box[row] = info ? info->box : vcodec_box_empty();
    rows->valid[row] = info != NULL;
    rows->vertices[row] = info ? info->vertices : 0;
    if (info) {
        rows->wkb_size += info->wkb_size;
        rows->geometry_types |= vcodec_type_bit(info->type, info->dim);
        rows->invalid += info->invalid;
    }
    rows->offsets[row + 1] = (int64_t)rows->wkb_size;
    for (size_t i = 0; i < rows->columns; i++)
        if (rows->column[i].type == H5VEC_FORMAT_TEXT)
            rows->column[i].offsets[row + 1] = (int64_t)rows->column[i].size;
}

void h5vec_format_rows_abort(struct h5vec_format_rows *rows)
{
    for (size_t i = 0; i < rows->columns; i++)
        if (rows->column[i].type == H5VEC_FORMAT_TEXT)
            rows->column[i].size = (size_t)rows->column[i].offsets[rows->count];
}

enum h5vec_status h5vec_format_rows_column(struct h5vec_format_rows *rows, const char *name, size_t size,
                                           enum h5vec_format_type type, struct h5vec_error *err)
{
    if (rows->columns == H5VEC_FORMAT_MAX_COLUMNS)
        return h5vec_error_set(err, H5VEC_E_FORMAT_TOO_LONG, 0, "more than %d columns",
                               H5VEC_FORMAT_MAX_COLUMNS);
    struct h5vec_format_builder *grown = realloc(rows->column, (rows->columns + 1) * sizeof *grown);
    if (grown)
        rows->column = grown;
    char *copy = grown ? malloc(size + 1) : NULL;
    if (!copy)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for a column");
    if (size > 0)
        memcpy(copy, name, size);
    copy[size] = '\0';
    rows->column[rows->columns++] = (struct h5vec_format_builder){.name = copy, .type = type};
    return H5VEC_OK;
}

static void free_column(struct h5vec_format_builder *column)
{
    free(column->name);
    free(column->data);
    free(column->offsets);
    free(column->valid);
    free(column->values);
}

void h5vec_format_rows_drop_column(struct h5vec_format_rows *rows, size_t i)
{
    free_column(&rows->column[i]);
    rows->columns--;
    memmove(&rows->column[i], &rows->column[i + 1], (rows->columns - i) * sizeof rows->column[0]);
}

void h5vec_format_rows_clear(struct h5vec_format_rows *rows)
{
    rows->count = 0;
    rows->wkb_size = 0;
    rows->geometry_types = 0;
    rows->invalid = 0;
    for (size_t i = 0; i < rows->columns; i++)
        rows->column[i].size = 0;
}

void h5vec_format_rows_free(struct h5vec_format_rows *rows)
{
    free(rows->wkb);
    free(rows->offsets);
    free(rows->box);
    free(rows->valid);
    free(rows->vertices);
    for (size_t i = 0; i < rows->columns; i++)
        free_column(&rows->column[i]);
    free(rows->column);
    free(rows->view);
}

/* Bytes of a row in the arrays of a column. */
static size_t row_size(const struct h5vec_format_builder *column)
{
    size_t size = h5vec_format_type_size(column->type);
    return sizeof *column->valid + (size ? size : sizeof *column->offsets);
}

size_t h5vec_format_rows_bytes(const struct h5vec_format_rows *rows)
{
    size_t per_row = sizeof *rows->offsets + sizeof *rows->box + sizeof *rows->valid + sizeof *rows->vertices;
    size_t bytes = rows->wkb_size;
    for (size_t i = 0; i < rows->columns; i++) {
        per_row += row_size(&rows->column[i]);
        bytes += rows->column[i].size;
    }
    return bytes + rows->count * per_row;
}

size_t h5vec_format_rows_memory(const struct h5vec_format_rows *rows)
{
    size_t per_row = sizeof *rows->offsets + sizeof *rows->box + sizeof *rows->valid + sizeof *rows->vertices;
    size_t bytes = rows->wkb_capacity;
    for (size_t i = 0; i < rows->columns; i++) {
        per_row += row_size(&rows->column[i]);
        bytes += rows->column[i].capacity + sizeof rows->column[i];
    }
    return bytes + rows->capacity * per_row;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rows of a batch: arrays that are filled record by record and kept for the next batch. The codec parses
 * WKT straight into the batch's WKB; when it does not fit, the array grows to what the codec says and the
 * text is parsed once more (rare, as the array doubles; and the bound known beforehand is several times too
 * large).
 */
#include "format_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "vcodec_utf8.h"

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

static enum h5vec_status no_memory(const struct h5vec_format_reader *reader, struct h5vec_error *err)
{
    return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "line %" PRIu64 ": no memory for the row",
                           reader->input.line);
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
    for (size_t i = 0; i < rows->columns; i++) {
        struct h5vec_format_text *column = &rows->column[i];
        if (!regrow(&column->offsets, capacity + 1, sizeof *column->offsets) ||
            !regrow(&column->valid, capacity, sizeof *column->valid))
            return false;
    }
    rows->capacity = capacity;
    return true;
}

/* The geometry at hand has an SRID: the same as all rows before it. */
static enum h5vec_status check_srid(struct h5vec_format_reader *reader, const struct vcodec_info *info,
                                    const char *at, struct h5vec_error *err)
{
    int32_t srid = info->has_srid ? info->srid : 0;
    if (reader->has_geometry && srid != reader->srid)
        return h5vec_format_input_error(&reader->input, at, H5VEC_E_FORMAT_RECORD, err,
                                        "SRID %" PRId32 ", but the rows before have %" PRId32, srid,
                                        reader->srid);
    reader->has_geometry = true;
    reader->srid = srid;
    return H5VEC_OK;
}

static enum h5vec_status add_geometry(struct h5vec_format_reader *reader,
                                      const struct h5vec_format_field *field, struct h5vec_error *err)
{
    struct h5vec_format_rows *rows = &reader->rows;
    struct vcodec_info info;
    struct h5vec_error inner = {0};
    for (;;) {
        size_t space = rows->wkb_capacity - rows->wkb_size;
        enum h5vec_status status = vcodec_wkt_read(
            field->text, field->size, 0, rows->wkb ? rows->wkb + rows->wkb_size : NULL, space, &info, &inner);
        if (status != H5VEC_OK) {
            size_t offset = inner.offset < field->size ? (size_t)inner.offset : field->size;
            return h5vec_format_input_error(&reader->input, field->text + offset, status, err, "%s",
                                            inner.msg);
        }
        if (info.wkb_size <= space)
            break;
        if (!h5vec_format_grow(&rows->wkb, &rows->wkb_capacity, rows->wkb_size + info.wkb_size, 1))
            return no_memory(reader, err);
    }
    rows->wkb_size += info.wkb_size;
    rows->box[rows->count] = info.box;
    rows->valid[rows->count] = 1;
    rows->vertices[rows->count] = info.vertices;
    rows->geometry_types |= UINT32_C(1) << ((unsigned)info.type - 1 + 8 * (unsigned)info.dim);
    rows->invalid += info.invalid;
    return check_srid(reader, &info, field->text, err);
}

static void add_null(struct h5vec_format_rows *rows)
{
    rows->box[rows->count] = vcodec_box_empty();
    rows->valid[rows->count] = 0;
    rows->vertices[rows->count] = 0;
}

/* Append a field's text to a column, two quotes made one. */
static enum h5vec_status add_text(struct h5vec_format_reader *reader, struct h5vec_format_text *column,
                                  const struct h5vec_format_field *field, struct h5vec_error *err)
{
    size_t good = vcodec_utf8_check(field->text, field->size);
    if (good < field->size)
        return h5vec_format_input_error(&reader->input, field->text + good, H5VEC_E_FORMAT_RECORD, err,
                                        field->text[good] ? "not UTF-8 text" : "a NUL byte in the text");
    if (!h5vec_format_grow(&column->data, &column->capacity, column->size + field->size, 1))
        return no_memory(reader, err);
    const char *from = field->text, *end = from + field->size;
    while (from < end) {
        const char *quote = field->doubled ? memchr(from, '"', (size_t)(end - from)) : NULL;
        size_t length = quote ? (size_t)(quote - from) + 1 : (size_t)(end - from);
        memcpy(column->data + column->size, from, length);
        column->size += length;
        from += length + (quote != NULL);
    }
    return H5VEC_OK;
}

enum h5vec_status h5vec_format_rows_column(struct h5vec_format_reader *reader,
                                           const struct h5vec_format_field *name, struct h5vec_error *err)
{
    struct h5vec_format_rows *rows = &reader->rows;
    struct h5vec_format_text *grown = realloc(rows->column, (rows->columns + 1) * sizeof *grown);
    if (!grown)
        return no_memory(reader, err);
    rows->column = grown;
    struct h5vec_format_text *column = &rows->column[rows->columns++];
    *column = (struct h5vec_format_text){0};
    enum h5vec_status status = add_text(reader, column, name, err);
    if (status != H5VEC_OK)
        return status;
    column->name = malloc(column->size + 1);
    if (!column->name)
        return no_memory(reader, err);
    if (column->size > 0)
        memcpy(column->name, column->data, column->size);
    column->name[column->size] = '\0';
    return H5VEC_OK;
}

static void free_column(struct h5vec_format_text *column)
{
    free(column->name);
    free(column->data);
    free(column->offsets);
    free(column->valid);
}

void h5vec_format_rows_drop_column(struct h5vec_format_rows *rows, size_t i)
{
    free_column(&rows->column[i]);
    rows->columns--;
    memmove(&rows->column[i], &rows->column[i + 1], (rows->columns - i) * sizeof rows->column[0]);
}

enum h5vec_status h5vec_format_rows_add(struct h5vec_format_reader *reader, struct h5vec_format_field *fields,
                                        size_t count, struct h5vec_error *err)
{
    struct h5vec_format_rows *rows = &reader->rows;
    if (count != reader->field_count)
        return h5vec_format_input_error(&reader->input, fields[0].text, H5VEC_E_FORMAT_RECORD, err,
                                        "%zu field%s, but the first line has %zu", count,
                                        count == 1 ? "" : "s", reader->field_count);
    if (!reserve_row(rows))
        return no_memory(reader, err);
    rows->offsets[rows->count] = (int64_t)rows->wkb_size;
    enum h5vec_status status = H5VEC_OK;
    struct h5vec_format_text *column = rows->column;
    for (size_t i = 0; i < count && status == H5VEC_OK; i++) {
        const struct h5vec_format_field *field = &fields[i];
        if (i != reader->geometry_field) {
            column->offsets[rows->count] = (int64_t)column->size;
            column->valid[rows->count] = field->size > 0 || field->quoted;
            status = add_text(reader, column, field, err);
            column->offsets[rows->count + 1] = (int64_t)column->size;
            column++;
        } else if (h5vec_format_blank(field->text, field->size)) {
            add_null(rows);
        } else {
            status = add_geometry(reader, field, err);
        }
    }
    rows->count++;
    rows->offsets[rows->count] = (int64_t)rows->wkb_size;
    return status;
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

size_t h5vec_format_rows_bytes(const struct h5vec_format_rows *rows)
{
    size_t per_row = sizeof *rows->offsets + sizeof *rows->box + sizeof *rows->valid + sizeof *rows->vertices;
    size_t bytes = rows->wkb_size;
    for (size_t i = 0; i < rows->columns; i++) {
        per_row += sizeof *rows->column->offsets + sizeof *rows->column->valid;
        bytes += rows->column[i].size;
    }
    return bytes + rows->count * per_row;
}

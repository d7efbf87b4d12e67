/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A record of text becomes a row. The codec parses WKT straight into the batch's WKB; when it does not fit,
 * the array grows to what the codec says and the text is parsed once more (rare, as the array doubles; and
 * the bound known beforehand is several times too large).
 */
#include "format_internal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "vcodec_utf8.h"

static enum h5vec_status no_memory(const struct h5vec_format_reader *reader, struct h5vec_error *err)
{
    return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "line %" PRIu64 ": no memory for the row",
                           reader->input.line);
}

enum h5vec_status h5vec_format_check_srid(const struct h5vec_format_reader *reader,
                                          const struct vcodec_info *info, const char *at,
                                          struct h5vec_error *err)
{
    int32_t srid = info->has_srid ? info->srid : 0;
    if (reader->has_geometry && srid != reader->srid)
        return h5vec_format_input_error(&reader->input, at, H5VEC_E_FORMAT_RECORD, err,
                                        "SRID %" PRId32 ", but the rows before have %" PRId32, srid,
                                        reader->srid);
    return H5VEC_OK;
}

enum h5vec_status h5vec_format_read_wkt(struct h5vec_format_reader *reader,
                                        const struct h5vec_format_field *field, struct vcodec_info *info,
                                        struct h5vec_error *err)
{
    struct h5vec_format_rows *rows = &reader->rows;
    struct h5vec_error inner = {0};
    unsigned flags = reader->options.allow_nonfinite ? VCODEC_ALLOW_NONFINITE : 0;
    for (;;) {
        size_t space = rows->wkb_capacity - rows->wkb_size;
        enum h5vec_status status =
            vcodec_wkt_read(field->text, field->size, flags, rows->wkb ? rows->wkb + rows->wkb_size : NULL,
                            space, info, &inner);
        if (status != H5VEC_OK) {
            size_t offset = inner.offset < field->size ? (size_t)inner.offset : field->size;
            return h5vec_format_input_error(&reader->input, field->text + offset, status, err, "%s",
                                            inner.msg);
        }
        if (info->wkb_size <= space)
            return h5vec_format_check_srid(reader, info, field->text, err);
        if (!h5vec_format_rows_wkb(rows, info->wkb_size))
            return no_memory(reader, err);
    }
}

static enum h5vec_status read_coordinate(const struct h5vec_format_reader *reader,
                                         const struct h5vec_format_field *field, double *value,
                                         struct h5vec_error *err)
{
    if (h5vec_format_blank(field->text, field->size))
        return h5vec_format_input_error(&reader->input, field->text, H5VEC_E_FORMAT_RECORD, err,
                                        "one coordinate without the other");
    if (!h5vec_format_read_float(field->text, field->size, reader->options.allow_nonfinite, value))
        return h5vec_format_input_error(&reader->input, field->text, H5VEC_E_FORMAT_RECORD, err,
                                        "a coordinate that is not a decimal number");
    return H5VEC_OK;
}

static void store_double(uint8_t *to, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 8; i++)
        to[i] = (uint8_t)(bits >> 8 * i);
}

static enum h5vec_status read_point(struct h5vec_format_reader *reader,
                                    const struct h5vec_format_field *fields, struct vcodec_info *info,
                                    struct h5vec_error *err)
{
    static const uint8_t head[5] = {1, VCODEC_POINT};
    enum { SIZE = sizeof head + 2 * sizeof(double) };
    double x = 0, y = 0;
    enum h5vec_status status = read_coordinate(reader, &fields[reader->x_field], &x, err);
    if (status == H5VEC_OK)
        status = read_coordinate(reader, &fields[reader->y_field], &y, err);
    if (status != H5VEC_OK)
        return status;
    if (isnan(x) && isnan(y))
        return h5vec_format_input_error(&reader->input, fields[reader->x_field].text, H5VEC_E_NONFINITE, err,
                                        "a point of nan only would read back as empty");
    uint8_t *wkb = h5vec_format_rows_wkb(&reader->rows, SIZE);
    if (!wkb)
        return no_memory(reader, err);
    memcpy(wkb, head, sizeof head);
    store_double(wkb + sizeof head, x);
    store_double(wkb + sizeof head + sizeof x, y);
    return vcodec_wkb_scan(wkb, SIZE, info, err);
}

static bool is_blank(const struct h5vec_format_field *field)
{
    return h5vec_format_blank(field->text, field->size);
}

static enum h5vec_status read_geometry(struct h5vec_format_reader *reader,
                                       const struct h5vec_format_field *fields, struct vcodec_info *info,
                                       bool *is_null, struct h5vec_error *err)
{
    if (reader->geometry_field != H5VEC_FORMAT_NO_FIELD) {
        const struct h5vec_format_field *wkt = &fields[reader->geometry_field];
        *is_null = is_blank(wkt);
        if (*is_null)
            return H5VEC_OK;
        return h5vec_format_is_hex_wkb(wkt->text, wkt->size)
                   ? h5vec_format_read_hex_wkb(reader, wkt, info, err)
                   : h5vec_format_read_wkt(reader, wkt, info, err);
    }
    *is_null = is_blank(&fields[reader->x_field]) && is_blank(&fields[reader->y_field]);
    return *is_null ? H5VEC_OK : read_point(reader, fields, info, err);
}

/* Append a field's text to column i, two quotes made one. */
static enum h5vec_status read_text(struct h5vec_format_reader *reader, size_t i,
                                   const struct h5vec_format_field *field, struct h5vec_error *err)
{
    size_t good = vcodec_utf8_check(field->text, field->size);
    if (good < field->size)
        return h5vec_format_input_error(&reader->input, field->text + good, H5VEC_E_FORMAT_RECORD, err,
                                        field->text[good] ? "not UTF-8 text" : "a NUL byte in the text");
    reader->rows.column[i].valid[reader->rows.count] = field->size > 0 || field->quoted;
    const char *from = field->text, *end = from + field->size;
    while (from < end) {
        const char *quote = field->doubled ? memchr(from, '"', (size_t)(end - from)) : NULL;
        size_t length = quote ? (size_t)(quote - from) + 1 : (size_t)(end - from);
        if (!h5vec_format_rows_text(&reader->rows, i, from, length))
            return no_memory(reader, err);
        from += length + (quote != NULL);
    }
    return H5VEC_OK;
}

/* bad: the record is known to be malformed, and counted. */
static enum h5vec_status read_value(struct h5vec_format_reader *reader, size_t i,
                                    const struct h5vec_format_field *field, bool *bad,
                                    struct h5vec_error *err)
{
    struct h5vec_error inner = {0}, what;
    if (reader->rows.column[i].type == H5VEC_FORMAT_TEXT)
        return read_text(reader, i, field, err);
    enum h5vec_status status = h5vec_format_value_set(&reader->rows, i, field->text, field->size,
                                                      reader->options.allow_nonfinite, &inner);
    if (status == H5VEC_OK)
        return H5VEC_OK;
    h5vec_format_input_error(&reader->input, field->text, status, &what, "%s", inner.msg);
    if (reader->options.on_bad == H5VEC_FORMAT_BAD_NULL) {
        if (!*bad)
            h5vec_format_note_bad(reader, &what);
        *bad = true;
        return H5VEC_OK;
    }
    if (err)
        *err = what;
    return status;
}

enum h5vec_status h5vec_format_pass_geometry(struct h5vec_format_reader *reader, enum h5vec_status status,
                                             const struct h5vec_error *what, bool *is_null,
                                             struct h5vec_error *err)
{
    if (reader->options.on_bad == H5VEC_FORMAT_BAD_NULL && h5vec_format_is_malformed(status)) {
        h5vec_format_note_bad(reader, what);
        *is_null = true;
        return H5VEC_OK;
    }
    if (status != H5VEC_OK && err)
        *err = *what;
    return status;
}

void h5vec_format_row_end(struct h5vec_format_reader *reader, const struct vcodec_info *info)
{
    h5vec_format_rows_end(&reader->rows, info);
    if (info && !reader->has_geometry) {
        reader->has_geometry = true;
        reader->srid = info->has_srid ? info->srid : 0;
    }
}

enum h5vec_status h5vec_format_record_add(struct h5vec_format_reader *reader,
                                          struct h5vec_format_field *fields, size_t count,
                                          struct h5vec_error *err)
{
    struct vcodec_info info = {0};
    bool is_null = false;
    if (count != reader->field_count)
        return h5vec_format_input_error(&reader->input, fields[0].text, H5VEC_E_FORMAT_RECORD, err,
                                        "%zu field%s, but the first line has %zu", count,
                                        count == 1 ? "" : "s", reader->field_count);
    if (!h5vec_format_rows_begin(&reader->rows))
        return no_memory(reader, err);
    struct h5vec_error what;
    enum h5vec_status status = read_geometry(reader, fields, &info, &is_null, &what);
    bool bad = status != H5VEC_OK;
    status = h5vec_format_pass_geometry(reader, status, &what, &is_null, err);
    for (size_t i = 0, column = 0; i < count && status == H5VEC_OK; i++)
        if (h5vec_format_is_attribute(reader, i))
            status = read_value(reader, column++, &fields[i], &bad, err);
    if (status != H5VEC_OK) {
        h5vec_format_rows_abort(&reader->rows);
        return status;
    }
    h5vec_format_row_end(reader, is_null ? NULL : &info);
    return H5VEC_OK;
}

enum h5vec_status h5vec_format_record_row(struct h5vec_format_reader *reader, bool *added,
                                          struct h5vec_error *err)
{
    size_t count = 0, size = 0;
    *added = false;
    enum h5vec_status status = reader->class->record(reader, &count, &size, err);
    if (status != H5VEC_OK || size == 0)
        return status;
    status = h5vec_format_record_add(reader, reader->fields, count, err);
    if (status != H5VEC_OK)
        return status;
    h5vec_format_input_take(&reader->input, size);
    reader->taken += size;
    *added = true;
    return H5VEC_OK;
}

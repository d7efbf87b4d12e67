/* SPDX-License-Identifier: BSD-3-Clause
 *
 * WKT, one geometry a line. Either a line is WKT as a whole, tabs included, or tabs divide it into fields,
 * one of which is the WKT; the first line decides which, and which field. Blank lines are skipped.
 */
#include "format_internal.h"

#include <stdio.h>
#include <string.h>

/* Divide line[0 .. size) at its tabs into reader->fields. */
static enum h5vec_status divide(struct h5vec_format_reader *reader, char *line, size_t size, size_t *count,
                                struct h5vec_error *err)
{
    char *end = line + size;
    size_t n = 0;
    for (;;) {
        if (n > H5VEC_FORMAT_MAX_COLUMNS)
            return h5vec_format_input_error(&reader->input, line, H5VEC_E_FORMAT_RECORD, err,
                                            "the line has too many fields");
        if (!h5vec_format_grow(&reader->fields, &reader->fields_capacity, n + 1, sizeof *reader->fields))
            return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for the fields of a line");
        char *tab = line < end ? memchr(line, '\t', (size_t)(end - line)) : NULL;
        char *stop = tab ? tab : end;
        reader->fields[n++] = (struct h5vec_format_field){.text = line, .size = (size_t)(stop - line)};
        if (!tab)
            break;
        line = tab + 1;
    }
    *count = n;
    return H5VEC_OK;
}

static enum h5vec_status name_columns(struct h5vec_format_reader *reader, struct h5vec_error *err)
{
    for (size_t i = 0; i < reader->field_count; i++) {
        char name[32];
        size_t length = (size_t)snprintf(name, sizeof name, "column_%zu", i + 1);
        if (i == reader->geometry_field)
            continue;
        enum h5vec_status status =
            h5vec_format_rows_column(&reader->rows, name, length, H5VEC_FORMAT_TEXT, err);
        if (status != H5VEC_OK)
            return status;
    }
    return H5VEC_OK;
}

static bool is_whole_wkt(const char *line, size_t size)
{
    struct vcodec_info info;
    return vcodec_wkt_read(line, size, 0, NULL, 0, &info, NULL) == H5VEC_OK;
}

static enum h5vec_status probe(struct h5vec_format_reader *reader, size_t size, bool *is,
                               struct h5vec_error *err)
{
    char *line = reader->input.buffer + reader->input.begin;
    reader->field_count = 1;
    reader->geometry_field = 0;
    *is = h5vec_format_is_wkt(line, size);
    if (!memchr(line, '\t', size) || (*is && is_whole_wkt(line, size)))
        return H5VEC_OK;
    size_t count;
    enum h5vec_status status = divide(reader, line, size, &count, err);
    if (status != H5VEC_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        if (!h5vec_format_is_wkt(reader->fields[i].text, reader->fields[i].size))
            continue;
        *is = true;
        reader->field_count = count;
        reader->geometry_field = i;
        return name_columns(reader, err);
    }
    return H5VEC_OK;
}

static enum h5vec_status row(struct h5vec_format_reader *reader, bool *added, struct h5vec_error *err)
{
    struct h5vec_format_input *input = &reader->input;
    size_t size, next;
    *added = false;
    for (;;) {
        enum h5vec_status status = h5vec_format_input_line(input, &size, &next, err);
        if (status != H5VEC_OK || next == 0)
            return status;
        if (!h5vec_format_blank(input->buffer + input->begin, size))
            break;
        h5vec_format_input_take(input, next);
        reader->taken += next;
    }
    char *line = input->buffer + input->begin;
    struct h5vec_format_field whole = {.text = line, .size = size};
    struct h5vec_format_field *fields = &whole;
    size_t count = 1;
    if (reader->field_count > 1) {
        enum h5vec_status status = divide(reader, line, size, &count, err);
        if (status != H5VEC_OK)
            return status;
        fields = reader->fields;
    }
    enum h5vec_status status = h5vec_format_record_add(reader, fields, count, err);
    if (status != H5VEC_OK)
        return status;
    h5vec_format_input_take(input, next);
    reader->taken += next;
    *added = true;
    return H5VEC_OK;
}

static enum h5vec_status skip(struct h5vec_format_reader *reader, struct h5vec_error *err)
{
    size_t size, next;
    enum h5vec_status status = h5vec_format_input_line(&reader->input, &size, &next, err);
    if (status != H5VEC_OK)
        return status;
    h5vec_format_input_take(&reader->input, next);
    reader->taken += next;
    return H5VEC_OK;
}

const struct h5vec_format_class h5vec_format_wkt = {.name = "WKT", .probe = probe, .row = row, .skip = skip};

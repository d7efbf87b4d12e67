/* SPDX-License-Identifier: BSD-3-Clause
 *
 * WKT or hexadecimal WKB, one geometry a line. Either a line is WKT as a whole, tabs included, or tabs (or
 * the character of another separator) divide it into fields, one of which is the WKT; the first line decides
 * which, and which field. Blank lines are skipped.
 */
#include "format_internal.h"

#include <stdio.h>
#include <string.h>

/* Divide line[0 .. size) at its separators into reader->fields. */
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
        char *tab = line < end ? memchr(line, reader->separator, (size_t)(end - line)) : NULL;
        char *stop = tab ? tab : end;
        reader->fields[n++] = (struct h5vec_format_field){.text = line, .size = (size_t)(stop - line)};
        if (!tab)
            break;
        line = tab + 1;
    }
    *count = n;
    return H5VEC_OK;
}

enum { COLUMN_NAME = 32 };

static void column_name(size_t field, char name[COLUMN_NAME])
{
    snprintf(name, COLUMN_NAME, "column_%zu", field + 1);
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

static bool is_whole_wkt(const struct h5vec_format_reader *reader, const char *line, size_t size)
{
    struct vcodec_info info;
    unsigned flags = reader->options.allow_nonfinite ? VCODEC_ALLOW_NONFINITE : 0;
    return vcodec_wkt_read(line, size, flags, NULL, 0, &info, NULL) == H5VEC_OK;
}

/* Which of the fields is the geometry: the one that the options name, or the first that is WKT. */
static size_t find_wkt(const struct h5vec_format_reader *reader, size_t count)
{
    const char *wanted = reader->options.wkt_column;
    /* "SRID=n;WKT" is one field. */
    for (size_t i = 0; i < count && reader->separator == ';'; i++)
        if (reader->fields[i].size >= 5 && h5vec_format_is_word(reader->fields[i].text, 5, "srid="))
            return H5VEC_FORMAT_NO_FIELD;
    for (size_t i = 0; i < count; i++) {
        char name[COLUMN_NAME];
        column_name(i, name);
        if ((!wanted || h5vec_format_is_named(wanted, strlen(wanted), name, i + 1)) &&
            h5vec_format_is_geometry(reader->fields[i].text, reader->fields[i].size))
            return i;
    }
    return H5VEC_FORMAT_NO_FIELD;
}

/* The first at which the first line divides into fields with WKT among them is the text's. */
static const char separators[] = "\t|;";

static enum h5vec_status probe(struct h5vec_format_reader *reader, size_t size, bool *is,
                               struct h5vec_error *err)
{
    char *line = reader->input.buffer + reader->input.begin;
    bool wkt = h5vec_format_is_geometry(line, size);
    if (reader->options.x_column)
        return H5VEC_OK;
    for (const char *separator = separators; *separator && !(wkt && is_whole_wkt(reader, line, size));
         separator++) {
        reader->separator = *separator;
        if (!memchr(line, *separator, size))
            continue;
        enum h5vec_status status = divide(reader, line, size, &reader->field_count, err);
        if (status != H5VEC_OK)
            return status;
        reader->geometry_field = find_wkt(reader, reader->field_count);
        *is = reader->geometry_field != H5VEC_FORMAT_NO_FIELD;
        if (*is)
            return name_columns(reader, err);
    }
    reader->field_count = 1;
    reader->geometry_field = 0;
    *is = wkt;
    return H5VEC_OK;
}

static enum h5vec_status record(struct h5vec_format_reader *reader, size_t *count, size_t *size,
                                struct h5vec_error *err)
{
    size_t length;
    enum h5vec_status status = h5vec_format_next_line(reader, &length, size, err);
    if (status != H5VEC_OK || *size == 0)
        return status;
    char *line = reader->input.buffer + reader->input.begin;
    if (reader->field_count > 1)
        return divide(reader, line, length, count, err);
    if (!h5vec_format_grow(&reader->fields, &reader->fields_capacity, 1, sizeof *reader->fields))
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for the fields of a line");
    reader->fields[0] = (struct h5vec_format_field){.text = line, .size = length};
    *count = 1;
    return H5VEC_OK;
}

const struct h5vec_format_class h5vec_format_wkt = {.name = "WKT",
                                                    .probe = probe,
                                                    .row = h5vec_format_record_row,
                                                    .record = record,
                                                    .skip = h5vec_format_skip_line};

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parsers that callers have registered. The list only grows: a place in it is taken by a compare and swap, so
 * that no lock is needed. A parser fills the row of its line through the setters below.
 */
#include "format_internal.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "vcodec_utf8.h"

static _Atomic(const struct h5vec_format_parser *) parsers[H5VEC_FORMAT_MAX_PARSERS];

enum h5vec_status h5vec_format_register(const struct h5vec_format_parser *parser, struct h5vec_error *err)
{
    if (parser->sizeof_parser != sizeof *parser || !parser->name || !parser->probe || !parser->record)
        return h5vec_error_set(err, H5VEC_E_ARG, 0,
                               "a parser needs its size, a name, and the functions probe and record");
    for (size_t i = 0; i < H5VEC_FORMAT_MAX_PARSERS; i++) {
        const struct h5vec_format_parser *expected = NULL;
        if (atomic_compare_exchange_strong(&parsers[i], &expected, parser))
            return H5VEC_OK;
    }
    return h5vec_error_set(err, H5VEC_E_ARG, 0, "%d parsers are registered, no more can be",
                           H5VEC_FORMAT_MAX_PARSERS);
}

static void drop_columns(struct h5vec_format_rows *rows)
{
    while (rows->columns > 0)
        h5vec_format_rows_drop_column(rows, rows->columns - 1);
}

static enum h5vec_status probe(struct h5vec_format_reader *reader, size_t size, bool *is,
                               struct h5vec_error *err)
{
    const char *line = reader->input.buffer + reader->input.begin;
    *is = false;
    for (size_t i = 0; i < H5VEC_FORMAT_MAX_PARSERS; i++) {
        const struct h5vec_format_parser *parser = atomic_load(&parsers[i]);
        if (!parser)
            break;
        enum h5vec_status status = parser->probe(reader, line, size, is, err);
        if (status != H5VEC_OK)
            return status;
        if (*is) {
            reader->parser = parser;
            break;
        }
        drop_columns(&reader->rows);
        if (reader->free_state)
            reader->free_state(reader->state);
        h5vec_format_set_state(reader, NULL, NULL);
    }
    return H5VEC_OK;
}

static enum h5vec_status add_row(struct h5vec_format_reader *reader, const char *line, size_t size,
                                 bool *is_row, struct h5vec_error *err)
{
    if (!h5vec_format_rows_begin(&reader->rows))
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for the row");
    reader->is_null = true;
    *is_row = true;
    enum h5vec_status status = reader->parser->record(reader, line, size, is_row, err);
    if (status == H5VEC_OK && *is_row)
        h5vec_format_row_end(reader, reader->is_null ? NULL : &reader->info);
    else
        h5vec_format_rows_abort(&reader->rows);
    return status;
}

static enum h5vec_status row(struct h5vec_format_reader *reader, bool *added, struct h5vec_error *err)
{
    size_t size, next;
    *added = false;
    while (!*added) {
        enum h5vec_status status = h5vec_format_next_line(reader, &size, &next, err);
        if (status != H5VEC_OK || next == 0)
            return status;
        bool is_row = false;
        status = add_row(reader, reader->input.buffer + reader->input.begin, size, &is_row, err);
        if (status != H5VEC_OK)
            return status;
        h5vec_format_input_take(&reader->input, next);
        reader->taken += next;
        *added = is_row;
    }
    return H5VEC_OK;
}

const struct h5vec_format_class h5vec_format_registered = {
    .name = "registered", .probe = probe, .row = row, .skip = h5vec_format_skip_line};

/* ---- What a parser calls ---- */

enum h5vec_status h5vec_format_add_column(struct h5vec_format_reader *reader, const char *name,
                                          enum h5vec_format_type type, struct h5vec_error *err)
{
    size_t size = strlen(name);
    if (vcodec_utf8_check(name, size) < size)
        return h5vec_error_set(err, H5VEC_E_FORMAT_RECORD, 0, "a column's name that is not UTF-8 text");
    return h5vec_format_rows_column(&reader->rows, name, size, type, err);
}

void h5vec_format_set_state(struct h5vec_format_reader *reader, void *state, void (*release)(void *state))
{
    reader->state = state;
    reader->free_state = release;
}

void *h5vec_format_state(const struct h5vec_format_reader *reader)
{
    return reader->state;
}

static enum h5vec_status keep_geometry(struct h5vec_format_reader *reader, enum h5vec_status status,
                                       const struct h5vec_error *what, struct h5vec_error *err)
{
    reader->is_null = false;
    return h5vec_format_pass_geometry(reader, status, what, &reader->is_null, err);
}

enum h5vec_status h5vec_format_set_wkt(struct h5vec_format_reader *reader, const char *text, size_t size,
                                       struct h5vec_error *err)
{
    /* The text of a field is not written to. */
    struct h5vec_format_field field = {.size = size};
    memcpy(&field.text, &text, sizeof text);
    struct h5vec_error what;
    if (h5vec_format_blank(text, size))
        return H5VEC_OK;
    enum h5vec_status status = h5vec_format_read_wkt(reader, &field, &reader->info, &what);
    return keep_geometry(reader, status, &what, err);
}

static enum h5vec_status read_wkb(struct h5vec_format_reader *reader, const uint8_t *wkb, size_t size,
                                  struct h5vec_error *err)
{
    const char *line = reader->input.buffer + reader->input.begin;
    struct h5vec_error inner = {0};
    uint8_t *to = h5vec_format_rows_wkb(&reader->rows, size);
    if (!to)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for a geometry");
    enum h5vec_status status = vcodec_wkb_canonical(wkb, size, to, size, &reader->info, &inner);
    if (status != H5VEC_OK)
        return h5vec_format_input_error(&reader->input, line, status, err, "%s", inner.msg);
    return h5vec_format_check_srid(reader, &reader->info, line, err);
}

enum h5vec_status h5vec_format_set_wkb(struct h5vec_format_reader *reader, const void *wkb, size_t size,
                                       struct h5vec_error *err)
{
    struct h5vec_error what;
    enum h5vec_status status = read_wkb(reader, wkb, size, &what);
    return keep_geometry(reader, status, &what, err);
}

static bool holds(const struct h5vec_format_reader *reader, size_t column, enum h5vec_format_type type)
{
    return column < reader->rows.columns && reader->rows.column[column].type == type;
}

/* The column is there and holds values of this type; integers may be times, too. */
static enum h5vec_status check_column(const struct h5vec_format_reader *reader, size_t column,
                                      enum h5vec_format_type type, struct h5vec_error *err)
{
    if (holds(reader, column, type) ||
        (type == H5VEC_FORMAT_INTEGER && holds(reader, column, H5VEC_FORMAT_TIME)))
        return H5VEC_OK;
    return h5vec_error_set(err, H5VEC_E_ARG, 0, "the parser %s sets a value of type %s in column %zu",
                           h5vec_format_name(reader), h5vec_format_type_name(type), column);
}

enum h5vec_status h5vec_format_set_text(struct h5vec_format_reader *reader, size_t column, const char *text,
                                        size_t size, struct h5vec_error *err)
{
    enum h5vec_status status = check_column(reader, column, H5VEC_FORMAT_TEXT, err);
    size_t good = vcodec_utf8_check(text, size);
    if (status != H5VEC_OK)
        return status;
    if (good < size)
        return h5vec_format_refuse(reader, reader->input.buffer + reader->input.begin, err,
                                   text[good] ? "not UTF-8 text" : "a NUL byte in the text");
    if (!h5vec_format_rows_text(&reader->rows, column, text, size))
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for a value");
    reader->rows.column[column].valid[reader->rows.count] = 1;
    return H5VEC_OK;
}

enum h5vec_status h5vec_format_set_integer(struct h5vec_format_reader *reader, size_t column, int64_t value,
                                           struct h5vec_error *err)
{
    enum h5vec_status status = check_column(reader, column, H5VEC_FORMAT_INTEGER, err);
    if (status == H5VEC_OK)
        h5vec_format_rows_integer(&reader->rows, column, value);
    return status;
}

enum h5vec_status h5vec_format_set_float(struct h5vec_format_reader *reader, size_t column, double value,
                                         struct h5vec_error *err)
{
    enum h5vec_status status = check_column(reader, column, H5VEC_FORMAT_FLOAT, err);
    if (status == H5VEC_OK)
        h5vec_format_rows_float(&reader->rows, column, value);
    return status;
}

enum h5vec_status h5vec_format_set_boolean(struct h5vec_format_reader *reader, size_t column, bool value,
                                           struct h5vec_error *err)
{
    enum h5vec_status status = check_column(reader, column, H5VEC_FORMAT_BOOLEAN, err);
    if (status == H5VEC_OK)
        h5vec_format_rows_boolean(&reader->rows, column, value);
    return status;
}

enum h5vec_status h5vec_format_refuse(const struct h5vec_format_reader *reader, const char *at,
                                      struct h5vec_error *err, const char *fmt, ...)
{
    char text[sizeof err->msg];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return h5vec_format_input_error(&reader->input, at, H5VEC_E_FORMAT_RECORD, err, "%s", text);
}

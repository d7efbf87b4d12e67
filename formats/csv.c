/* SPDX-License-Identifier: BSD-3-Clause
 *
 * CSV (RFC 4180) with a header line and a geometry. A record is divided where it lies in the window; if the
 * window ends before the record does, more is read and the record is divided anew (the window doubles, so
 * that is cheap). Strict: a quote inside an unquoted field, text after a closing quote and a lone carriage
 * return are errors. Empty lines are skipped.
 */
#include "format_internal.h"

#include <string.h>
#include "vcodec_utf8.h"

/* One record on its way through. p moves from input->begin on; what[] says what was wrong at p. */
struct record {
    char *p, *end;
    bool at_end; /* the input ends at end */
    size_t count;
};

enum outcome {
    FIELD,      /* a field, and a comma after it */
    LAST_FIELD, /* a field, and the record's end after it */
    MORE,       /* the window ends before the field does */
    BAD_QUOTE,  /* at p: a quote inside an unquoted field */
    BAD_AFTER,  /* at p: text after the closing quote */
    BAD_CR,     /* at p: a carriage return that is not before a line feed */
    BAD_OPEN,   /* the input ends inside quotes */
    BAD_COUNT,  /* at p: more fields than a format may have */
};

/* What ends a field at record->p: moves past it. */
static enum outcome end_of_field(struct record *record, enum outcome otherwise)
{
    if (record->p == record->end)
        return record->at_end ? LAST_FIELD : MORE;
    if (*record->p == ',') {
        record->p++;
        return FIELD;
    }
    if (*record->p == '\n') {
        record->p++;
        return LAST_FIELD;
    }
    if (*record->p != '\r')
        return otherwise;
    if (record->p + 1 == record->end) {
        if (!record->at_end)
            return MORE;
        record->p++;
        return LAST_FIELD;
    }
    if (record->p[1] != '\n')
        return BAD_CR;
    record->p += 2;
    return LAST_FIELD;
}

static enum outcome quoted_field(struct record *record, struct h5vec_format_field *field)
{
    char *from = record->p + 1;
    *field = (struct h5vec_format_field){.text = from, .quoted = true};
    for (;;) {
        char *quote = from < record->end ? memchr(from, '"', (size_t)(record->end - from)) : NULL;
        if (!quote)
            return record->at_end ? BAD_OPEN : MORE;
        if (quote + 1 == record->end && !record->at_end)
            return MORE;
        if (quote + 1 < record->end && quote[1] == '"') {
            field->doubled = true;
            from = quote + 2;
            continue;
        }
        field->size = (size_t)(quote - field->text);
        record->p = quote + 1;
        return end_of_field(record, BAD_AFTER);
    }
}

static enum outcome next_field(struct record *record, struct h5vec_format_field *field)
{
    if (record->p < record->end && *record->p == '"')
        return quoted_field(record, field);
    char *p = record->p;
    while (p < record->end && *p != ',' && *p != '\n' && *p != '\r' && *p != '"')
        p++;
    *field = (struct h5vec_format_field){.text = record->p, .size = (size_t)(p - record->p)};
    record->p = p;
    return end_of_field(record, BAD_QUOTE);
}

static enum h5vec_status refuse(const struct h5vec_format_input *input, const struct record *record,
                                const struct h5vec_format_field *field, enum outcome outcome,
                                struct h5vec_error *err)
{
    static const char *const words[] = {
        [BAD_QUOTE] = "a quote inside a field that does not begin with one",
        [BAD_AFTER] = "text after the quote that closes the field",
        [BAD_CR] = "a carriage return without a line feed",
        [BAD_OPEN] = "the input ends before the quote that opens here is closed",
        [BAD_COUNT] = "the record has too many fields",
    };
    const char *at = outcome == BAD_OPEN ? field->text - 1 : record->p;
    return h5vec_format_input_error(input, at, H5VEC_E_FORMAT_RECORD, err, "%s", words[outcome]);
}

/* Divide the record at the window's begin into reader->fields. *size = its bytes with its end; 0 at the end
 * of the input. */
static enum h5vec_status divide(struct h5vec_format_reader *reader, size_t *count, size_t *size,
                                struct h5vec_error *err)
{
    struct h5vec_format_input *input = &reader->input;
    enum outcome outcome = MORE;
    struct record record;
    for (;;) {
        record = (struct record){
            .p = input->buffer + input->begin, .end = input->buffer + input->end, .at_end = input->at_end};
        if (record.p == record.end && record.at_end) {
            *count = 0;
            *size = 0;
            return H5VEC_OK;
        }
        do {
            if (!h5vec_format_grow(&reader->fields, &reader->fields_capacity, record.count + 1,
                                   sizeof *reader->fields))
                return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for the fields of a record");
            outcome = next_field(&record, &reader->fields[record.count++]);
            if (outcome == FIELD && record.count > H5VEC_FORMAT_MAX_COLUMNS)
                outcome = BAD_COUNT;
        } while (outcome == FIELD);
        if (outcome != MORE)
            break;
        enum h5vec_status status = h5vec_format_input_more(input, err);
        if (status != H5VEC_OK)
            return status;
    }
    if (outcome != LAST_FIELD)
        return refuse(input, &record, &reader->fields[record.count - 1], outcome, err);
    *count = record.count;
    *size = (size_t)(record.p - (input->buffer + input->begin));
    return H5VEC_OK;
}

/* The next record that is not an empty line. */
static enum h5vec_status next_record(struct h5vec_format_reader *reader, size_t *count, size_t *size,
                                     struct h5vec_error *err)
{
    for (;;) {
        enum h5vec_status status = divide(reader, count, size, err);
        if (status != H5VEC_OK || *size == 0)
            return status;
        const struct h5vec_format_field *first = reader->fields;
        const struct h5vec_format_field *last = first + *count - 1;
        size_t length = (size_t)(last->text + last->size + last->quoted - first->text) + first->quoted;
        if (length > reader->input.max_record)
            return h5vec_format_input_error(&reader->input, first->text - first->quoted,
                                            H5VEC_E_FORMAT_TOO_LONG, err,
                                            "the record is longer than %zu bytes", reader->input.max_record);
        if (length > 0)
            return H5VEC_OK;
        h5vec_format_input_take(&reader->input, *size);
        reader->taken += *size;
    }
}

/* The header's field as a column: its name in UTF-8, two quotes made one. */
static enum h5vec_status add_column(struct h5vec_format_reader *reader,
                                    const struct h5vec_format_field *field, struct h5vec_error *err)
{
    size_t good = vcodec_utf8_check(field->text, field->size);
    if (h5vec_format_is_geometry(field->text, field->size))
        return h5vec_format_input_error(
            &reader->input, field->text, H5VEC_E_FORMAT_UNKNOWN, err,
            "a geometry where CSV has the names of its columns: add a header line");
    if (good < field->size)
        return h5vec_format_input_error(&reader->input, field->text + good, H5VEC_E_FORMAT_RECORD, err,
                                        "a column's name that is not UTF-8 text");
    enum h5vec_status status =
        h5vec_format_rows_column(&reader->rows, field->text, field->size, H5VEC_FORMAT_TEXT, err);
    if (status != H5VEC_OK || !field->doubled)
        return status;
    char *from = reader->rows.column[reader->rows.columns - 1].name, *to = from;
    for (; *from; from++) {
        *to++ = *from;
        from += from[0] == '"';
    }
    *to = '\0';
    return H5VEC_OK;
}

/* All fields of the header become columns; the geometry's are taken out again when they are known. */
static enum h5vec_status read_header(struct h5vec_format_reader *reader, struct h5vec_error *err)
{
    size_t size = 0;
    enum h5vec_status status = divide(reader, &reader->field_count, &size, err);
    for (size_t i = 0; i < reader->field_count && status == H5VEC_OK; i++)
        status = add_column(reader, &reader->fields[i], err);
    if (status == H5VEC_OK)
        h5vec_format_input_take(&reader->input, size);
    return status;
}

/* Which field of the first record is a geometry. That it is malformed is for row to say. */
static enum h5vec_status find_wkt(struct h5vec_format_reader *reader, struct h5vec_error *err)
{
    size_t count = 0, size = 0;
    enum h5vec_status status = next_record(reader, &count, &size, err);
    if (status != H5VEC_OK)
        return status == H5VEC_E_FORMAT_RECORD ? H5VEC_OK : status;
    if (size == 0 || count != reader->field_count)
        return H5VEC_OK;
    for (size_t i = 0; i < count && reader->geometry_field == H5VEC_FORMAT_NO_FIELD; i++)
        if (h5vec_format_is_geometry(reader->fields[i].text, reader->fields[i].size))
            reader->geometry_field = i;
    return H5VEC_OK;
}

static void drop_geometry(struct h5vec_format_reader *reader)
{
    size_t x = reader->x_field, y = reader->y_field;
    if (reader->geometry_field != H5VEC_FORMAT_NO_FIELD) {
        h5vec_format_rows_drop_column(&reader->rows, reader->geometry_field);
        return;
    }
    h5vec_format_rows_drop_column(&reader->rows, x > y ? x : y); /* the later one first */
    h5vec_format_rows_drop_column(&reader->rows, x > y ? y : x);
}

/* The columns that the options name. */
static enum h5vec_status take_named(struct h5vec_format_reader *reader, struct h5vec_error *err)
{
    const struct h5vec_format_options *options = &reader->options;
    if (options->wkt_column)
        return h5vec_format_csv_named(&reader->rows, options->wkt_column, &reader->geometry_field, err);
    enum h5vec_status status =
        h5vec_format_csv_named(&reader->rows, options->x_column, &reader->x_field, err);
    if (status == H5VEC_OK)
        status = h5vec_format_csv_named(&reader->rows, options->y_column, &reader->y_field, err);
    if (status == H5VEC_OK && reader->x_field == reader->y_field)
        status = h5vec_error_set(err, H5VEC_E_FORMAT_UNKNOWN, 0, "x and y are the same column");
    return status;
}

static enum h5vec_status find_geometry(struct h5vec_format_reader *reader, struct h5vec_error *err)
{
    if (reader->options.wkt_column || reader->options.x_column)
        return take_named(reader, err);
    enum h5vec_status status = H5VEC_OK;
    reader->geometry_field = h5vec_format_csv_wkt(&reader->rows);
    /* A single column must have a known name: else a WKT file whose first line is wrong would lose that line.
     */
    if (reader->geometry_field == H5VEC_FORMAT_NO_FIELD && reader->field_count > 1)
        status = find_wkt(reader, err);
    if (status == H5VEC_OK && reader->geometry_field == H5VEC_FORMAT_NO_FIELD)
        status = h5vec_format_csv_pair(&reader->rows, &reader->x_field, &reader->y_field, err);
    return status;
}

/* The last format that is tried: it takes the header from the window before it knows. */
static enum h5vec_status probe(struct h5vec_format_reader *reader, size_t line_size, bool *is,
                               struct h5vec_error *err)
{
    (void)line_size; /* a header may have line ends inside quotes */
    reader->field_count = 0;
    enum h5vec_status status = read_header(reader, err);
    /* What is not even divisible into fields is not CSV, rather than bad CSV. */
    if (status != H5VEC_OK)
        return status == H5VEC_E_FORMAT_RECORD ? H5VEC_OK : status;
    status = find_geometry(reader, err);
    *is = status == H5VEC_OK &&
          (reader->geometry_field != H5VEC_FORMAT_NO_FIELD || reader->x_field != H5VEC_FORMAT_NO_FIELD);
    if (*is)
        drop_geometry(reader);
    return status;
}

/* A record that cannot be divided ends with its line. */
static enum h5vec_status skip(struct h5vec_format_reader *reader, struct h5vec_error *err)
{
    size_t count = 0, size = 0, length;
    enum h5vec_status status = divide(reader, &count, &size, err);
    if (status == H5VEC_E_FORMAT_RECORD)
        status = h5vec_format_input_line(&reader->input, &length, &size, err);
    if (status != H5VEC_OK)
        return status;
    h5vec_format_input_take(&reader->input, size);
    reader->taken += size;
    return H5VEC_OK;
}

const struct h5vec_format_class h5vec_format_csv = {
    .name = "CSV", .probe = probe, .row = h5vec_format_record_row, .record = next_record, .skip = skip};

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which type each column has: as the caller says ("NAME=TYPE,..."), else of text as its first records show.
 * The records looked at begin with the file, so that every reader of a part of it infers the same.
 */
#include "format_internal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of records that are looked at. The first record is looked at however long it is. */
enum { SAMPLE = 1024 * 1024 };

/* ---- Types that are given ---- */

/* One NAME=TYPE of a list. */
struct entry {
    const char *name;
    size_t name_size;
    enum h5vec_format_type type;
};

/* The entry at *list, which is moved to the next one. A name may have '=' in it. */
static bool next_entry(const char **list, struct entry *entry, struct h5vec_error *err)
{
    const char *begin = *list, *end = begin + strcspn(begin, ","), *equals = NULL;
    *list = *end ? end + 1 : end;
    for (const char *p = begin; p < end; p++)
        equals = *p == '=' ? p : equals;
    for (unsigned type = 0; equals && type < H5VEC_FORMAT_TYPES; type++) {
        const char *name = h5vec_format_type_name((enum h5vec_format_type)type);
        if (strlen(name) != (size_t)(end - equals - 1) || memcmp(name, equals + 1, strlen(name)) != 0)
            continue;
        *entry = (struct entry){begin, (size_t)(equals - begin), (enum h5vec_format_type)type};
        return true;
    }
    h5vec_error_set(err, H5VEC_E_USAGE, 0,
                    "--types: '%.*s' is not NAME=TYPE with a TYPE of text, integer, float, boolean or time",
                    (int)(end - begin < 100 ? end - begin : 100), begin);
    return false;
}

enum h5vec_status h5vec_format_types_check(const char *types, struct h5vec_error *err)
{
    struct entry entry;
    do {
        if (!next_entry(&types, &entry, err))
            return H5VEC_E_USAGE;
    } while (*types);
    return H5VEC_OK;
}

bool h5vec_format_is_named(const char *text, size_t size, const char *name, size_t number)
{
    if (size > 1 && text[0] == '#') {
        size_t n = 0;
        for (size_t i = 1; i < size && n <= H5VEC_FORMAT_MAX_COLUMNS; i++) {
            if (text[i] < '0' || text[i] > '9')
                return false;
            n = n * 10 + (size_t)(text[i] - '0');
        }
        return n == number;
    }
    return strlen(name) == size && memcmp(name, text, size) == 0;
}

bool h5vec_format_is_attribute(const struct h5vec_format_reader *reader, size_t field)
{
    return field != reader->geometry_field && field != reader->x_field && field != reader->y_field;
}

/* The field that column i is, counted from 0. */
static size_t field_of(const struct h5vec_format_reader *reader, size_t i)
{
    size_t field = 0;
    for (;; field++)
        if (h5vec_format_is_attribute(reader, field) && i-- == 0)
            return field;
}

static bool is_star(const struct entry *entry)
{
    return entry->name_size == 1 && entry->name[0] == '*';
}

/* Give the columns that an entry names its type. */
static bool give(struct h5vec_format_reader *reader, const struct entry *entry)
{
    bool found = is_star(entry);
    for (size_t i = 0; i < reader->rows.columns; i++) {
        struct h5vec_format_builder *column = &reader->rows.column[i];
        bool named =
            h5vec_format_is_named(entry->name, entry->name_size, column->name, field_of(reader, i) + 1);
        found = found || named;
        if (!named && !(is_star(entry) && !column->given))
            continue;
        column->type = entry->type;
        column->given = true;
        column->exact = false;
    }
    return found;
}

/* "*" gives its type to those that no other entry names, wherever it stands. */
static enum h5vec_status give_all(struct h5vec_format_reader *reader, bool stars, struct h5vec_error *err)
{
    struct entry entry;
    for (const char *list = reader->options.types; *list;) {
        if (!next_entry(&list, &entry, err))
            return H5VEC_E_USAGE;
        if (is_star(&entry) == stars && !give(reader, &entry))
            return h5vec_error_set(err, H5VEC_E_FORMAT_UNKNOWN, 0,
                                   "--types: there is no attribute column %.*s",
                                   (int)(entry.name_size < 100 ? entry.name_size : 100), entry.name);
    }
    return H5VEC_OK;
}

/* ---- Types that are inferred ---- */

/* What the values of a column so far may be. */
struct guess {
    unsigned types; /* bits 1 << type */
    bool any;       /* there were values */
};

static void look_at(const struct h5vec_format_reader *reader, size_t count, struct guess *guess)
{
    for (size_t field = 0, i = 0; field < count; field++) {
        const struct h5vec_format_field *value = &reader->fields[field];
        if (!h5vec_format_is_attribute(reader, field))
            continue;
        if (!h5vec_format_blank(value->text, value->size)) {
            if (guess[i].types != 1u << H5VEC_FORMAT_TEXT)
                guess[i].types &=
                    h5vec_format_value_types(value->text, value->size, reader->options.allow_nonfinite);
            guess[i].any = true;
        }
        i++;
    }
}

/* Look at whole records in the window up to SAMPLE bytes, the first of which is known to be there; nothing is
 * taken. A record that cannot be divided ends the sample. */
static void look_at_records(struct h5vec_format_reader *reader, size_t first, struct guess *guess)
{
    struct h5vec_format_input *input = &reader->input, kept = *input;
    size_t taken = reader->taken, held = input->end - input->begin;
    if (held > SAMPLE || !input->at_end) {
        size_t size = held < SAMPLE ? held : SAMPLE;
        while (size > 0 && input->buffer[input->begin + size - 1] != '\n')
            size--;
        input->end = input->begin + (size > first ? size : first);
    }
    input->at_end = true; /* nothing more is read */
    size_t count = 0, size = 0;
    while (reader->class->record(reader, &count, &size, NULL) == H5VEC_OK && size > 0) {
        if (count == reader->field_count)
            look_at(reader, count, guess);
        h5vec_format_input_take(input, size);
    }
    *input = kept;
    reader->taken = taken;
}

static void decide(struct h5vec_format_builder *column, const struct guess *guess)
{
    static const enum h5vec_format_type order[] = {H5VEC_FORMAT_BOOLEAN, H5VEC_FORMAT_INTEGER,
                                                   H5VEC_FORMAT_FLOAT, H5VEC_FORMAT_TIME};
    if (column->given)
        return;
    column->undecided = !guess->any;
    for (size_t k = 0; guess->any && k < sizeof order / sizeof order[0]; k++)
        if (guess->types & 1u << order[k]) {
            column->type = order[k];
            column->exact = true;
            return;
        }
}

static enum h5vec_status infer(struct h5vec_format_reader *reader, struct h5vec_error *err)
{
    size_t count = 0, size = 0;
    for (size_t i = 0; i < reader->rows.columns; i++)
        reader->rows.column[i].undecided = !reader->rows.column[i].given;
    enum h5vec_status status = reader->class->record(reader, &count, &size, err);
    if (status == H5VEC_E_IO || status == H5VEC_E_NOMEM)
        return status;
    if (status != H5VEC_OK || size == 0) /* what is wrong with the first record is for row to say */
        return H5VEC_OK;
    status = h5vec_format_input_fill(&reader->input, SAMPLE, err);
    if (status != H5VEC_OK)
        return status;
    struct guess *guess = calloc(reader->rows.columns, sizeof *guess);
    if (!guess)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for columns");
    for (size_t i = 0; i < reader->rows.columns; i++)
        guess[i].types = UINT_MAX;
    look_at_records(reader, size, guess);
    for (size_t i = 0; i < reader->rows.columns; i++)
        decide(&reader->rows.column[i], &guess[i]);
    free(guess);
    return H5VEC_OK;
}

enum h5vec_status h5vec_format_types_decide(struct h5vec_format_reader *reader, struct h5vec_error *err)
{
    enum h5vec_status status = H5VEC_OK;
    if (reader->options.types) {
        status = give_all(reader, false, err);
        if (status == H5VEC_OK)
            status = give_all(reader, true, err);
    }
    bool all = true;
    for (size_t i = 0; i < reader->rows.columns; i++)
        all = all && reader->rows.column[i].given;
    return status == H5VEC_OK && !all && reader->class->record ? infer(reader, err) : status;
}

bool h5vec_format_column_retype(struct h5vec_format_reader *reader, size_t i, enum h5vec_format_type type)
{
    struct h5vec_format_builder *column = &reader->rows.column[i];
    bool wider =
        type == H5VEC_FORMAT_TEXT || (column->type == H5VEC_FORMAT_INTEGER && type == H5VEC_FORMAT_FLOAT);
    if (column->type == type)
        return true;
    if (!column->undecided && !wider)
        return false;
    column->exact = true;
    column->type = type;
    return true;
}

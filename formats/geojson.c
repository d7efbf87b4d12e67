/* SPDX-License-Identifier: BSD-3-Clause
 *
 * GeoJSON (RFC 7946): newline-delimited features or geometries, text sequences (RFC 8142), and documents. How
 * the records lie in the text is decided by its beginning; then each is found by its line, by the next RS, or
 * by its brackets, and is looked at only as a whole. Strings have no raw newlines, so where the first record
 * is a line, every record is one, and the text can be read in parts.
 *
 * The columns are those of the records in the first MiB. If the text goes on behind them, there is a column
 * for what the others have besides.
 */
#include "geojson.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD = 1 << 20, RS = 0x1E };

/* A record in the window: text .. end, and where the next one is looked for. */
struct span {
    const char *text, *end, *next;
};

enum found {
    RECORD,
    MORE,   /* the window ends before the record does */
    END,    /* of the input; of a collection's array, which is at span->next */
    BROKEN, /* at span->next is something else than records have between them */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && (is_blank(*p) || *p == RS))
        p++;
    return p;
}

static void trim(struct span *span)
{
    while (span->end > span->text && is_blank(span->end[-1]))
        span->end--;
}

/* The next record ends before a character (RS), or behind it (newline). */
static enum found find_delimited(const char *p, const char *end, bool at_end, char delimiter,
                                 struct span *span)
{
    p = skip_blanks(p, end);
    if (p == end)
        return at_end ? END : MORE;
    const char *stop = memchr(p, delimiter, (size_t)(end - p));
    if (!stop && !at_end)
        return MORE;
    *span = (struct span){p, stop ? stop : end, stop ? stop + 1 : end};
    trim(span);
    return RECORD;
}

static enum found find_value(const char *p, const char *end, bool at_end, struct span *span)
{
    p = skip_blanks(p, end);
    if (p == end)
        return at_end ? END : MORE;
    const char *stop = *p == '{' ? h5vec_format_json_end(p, end) : NULL;
    *span = (struct span){p, stop ? stop : end, stop ? stop : end};
    if (*p != '{') {
        span->next = p;
        return BROKEN;
    }
    return stop || at_end ? RECORD : MORE;
}

/* The next member of "features"; after: one has been before. */
static enum found find_member(const char *p, const char *end, bool at_end, bool after, struct span *span)
{
    p = skip_blanks(p, end);
    span->next = p;
    if (p == end)
        return at_end ? BROKEN : MORE;
    if (*p == ']')
        return END;
    if (after && *p != ',')
        return BROKEN;
    enum found found = find_value(p + after, end, at_end, span);
    return found == END ? BROKEN : found;
}

static enum found find(const struct h5vec_format_geojson *g, const char *p, const char *end, bool at_end,
                       bool after, struct span *span)
{
    switch (g->mode) {
    case H5VEC_FORMAT_GEOJSON_LINES:
        return find_delimited(p, end, at_end, '\n', span);
    case H5VEC_FORMAT_GEOJSON_SEQUENCE:
        return find_delimited(p, end, at_end, RS, span);
    case H5VEC_FORMAT_GEOJSON_VALUES:
        return find_value(p, end, at_end, span);
    default:
        return find_member(p, end, at_end, after, span);
    }
}

/* ---- Behind the features of a collection ---- */

static bool read_tail(struct h5vec_format_geojson *g, struct h5vec_format_json *j)
{
    struct h5vec_format_json_text name, type;
    const char *at;
    bool more = false;
    while (h5vec_format_json_more(j, false, '}', &more) && more) {
        (void)h5vec_format_json_peek(j);
        at = j->p;
        if (!h5vec_format_json_name(j, &name))
            return false;
        if (h5vec_format_json_is(&name, "type")) {
            if (!h5vec_format_json_string(j, &type))
                return false;
            g->typed = h5vec_format_json_is(&type, "FeatureCollection");
        } else if (h5vec_format_json_is(&name, "features")) {
            return h5vec_format_json_fail(j, at, H5VEC_E_FORMAT_UNKNOWN, "a second array of features");
        } else if (h5vec_format_json_is(&name, "crs") ? !h5vec_format_geojson_crs(g, j)
                                                      : !h5vec_format_json_skip(j)) {
            return false;
        }
    }
    if (j->status != H5VEC_OK)
        return false;
    if (h5vec_format_json_peek(j) != '\0' || j->p != j->end)
        return h5vec_format_json_fail(j, j->p, H5VEC_E_TRAILING,
                                      "text after the end of the FeatureCollection");
    return g->typed || h5vec_format_json_fail(j, j->p, H5VEC_E_FORMAT_UNKNOWN,
                                              "an object with features that is no FeatureCollection");
}

/* `at` is the window's place of the ']'. What is wrong from here on is an error whatever on_bad is. */
static enum h5vec_status end_collection(struct h5vec_format_reader *reader, const char *at,
                                        struct h5vec_error *err)
{
    struct h5vec_format_input *input = &reader->input;
    struct h5vec_format_geojson *g = reader->state;
    h5vec_format_input_take(input, (size_t)(at - (input->buffer + input->begin)));
    while (!input->at_end) {
        enum h5vec_status status = h5vec_format_input_more(input, err);
        if (status != H5VEC_OK)
            return status;
    }
    struct h5vec_format_json j = {.p = input->buffer + input->begin + 1, .end = input->buffer + input->end};
    if (!read_tail(g, &j))
        return h5vec_format_input_error(input, j.at, H5VEC_E_FORMAT_UNKNOWN, err, "%s", j.what);
    h5vec_format_input_take(input, input->end - input->begin);
    g->ended = true;
    return H5VEC_OK;
}

/* ---- Records ---- */

/* The next record, in the window; *there = false at the end. */
static enum h5vec_status next_record(struct h5vec_format_reader *reader, struct span *span, bool *there,
                                     struct h5vec_error *err)
{
    struct h5vec_format_input *input = &reader->input;
    struct h5vec_format_geojson *g = reader->state;
    enum found found;
    *there = false;
    if (g->ended)
        return H5VEC_OK;
    while ((found = find(g, input->buffer + input->begin, input->buffer + input->end, input->at_end, g->after,
                         span)) == MORE) {
        enum h5vec_status status = h5vec_format_input_more(input, err);
        if (status != H5VEC_OK)
            return status;
    }
    if (found == BROKEN)
        return h5vec_format_input_error(input, span->next, H5VEC_E_FORMAT_UNKNOWN, err,
                                        span->next == input->buffer + input->end
                                            ? "the file ends inside its FeatureCollection"
                                            : "not GeoJSON: another feature is expected");
    if (found == END)
        return g->mode == H5VEC_FORMAT_GEOJSON_COLLECTION ? end_collection(reader, span->next, err)
                                                          : H5VEC_OK;
    *there = true;
    if ((size_t)(span->end - span->text) > input->max_record)
        return h5vec_format_input_error(input, span->text, H5VEC_E_FORMAT_TOO_LONG, err,
                                        "the record is longer than %zu bytes", input->max_record);
    return H5VEC_OK;
}

static void take(struct h5vec_format_reader *reader, const struct span *span)
{
    struct h5vec_format_geojson *g = reader->state;
    size_t size = (size_t)(span->next - (reader->input.buffer + reader->input.begin));
    h5vec_format_input_take(&reader->input, size);
    reader->taken += size;
    g->after = true;
}

static enum h5vec_status row(struct h5vec_format_reader *reader, bool *added, struct h5vec_error *err)
{
    struct span span;
    enum h5vec_status status = next_record(reader, &span, added, err);
    if (status != H5VEC_OK || !*added)
        return status;
    status = h5vec_format_geojson_row(reader, span.text, (size_t)(span.end - span.text), err);
    if (status == H5VEC_OK)
        take(reader, &span);
    return status;
}

static enum h5vec_status skip(struct h5vec_format_reader *reader, struct h5vec_error *err)
{
    struct span span;
    bool there;
    enum h5vec_status status = next_record(reader, &span, &there, err);
    if (status == H5VEC_OK && there)
        take(reader, &span);
    return status;
}

/* ---- Recognising ---- */

static void free_state(void *state)
{
    struct h5vec_format_geojson *g = state;
    free(g->columns);
    free(g->slots);
    free(g->scratch);
    free(g->rest[0]);
    free(g->rest[1]);
    free(g->crs);
    free(g);
}

/* Whether the object at j is a FeatureCollection, by the members before its features; then j is behind their
 * '['. */
static bool read_header(struct h5vec_format_geojson *g, struct h5vec_format_json *j, bool *collection)
{
    static const char *const of_record[] = {"geometry", "properties", "coordinates", "geometries"};
    struct h5vec_format_json_text name, type;
    bool more = false;
    *collection = false;
    if (!h5vec_format_json_take(j, '{'))
        return false;
    for (bool first = true; h5vec_format_json_more(j, first, '}', &more) && more; first = false) {
        if (!h5vec_format_json_name(j, &name))
            return false;
        if (h5vec_format_json_is(&name, "features")) {
            *collection = true;
            return h5vec_format_json_take(j, '[');
        }
        for (size_t i = 0; i < sizeof of_record / sizeof of_record[0] && !g->typed; i++)
            if (h5vec_format_json_is(&name, of_record[i]))
                return true;
        if (h5vec_format_json_is(&name, "type")) {
            if (!h5vec_format_json_string(j, &type))
                return false;
            g->typed = h5vec_format_json_is(&type, "FeatureCollection");
            if (!g->typed)
                return true;
        } else if (h5vec_format_json_is(&name, "crs") && g->typed ? !h5vec_format_geojson_crs(g, j)
                                                                  : !h5vec_format_json_skip(j)) {
            return false;
        }
    }
    return j->status == H5VEC_OK;
}

/* Find out whether it is a collection; if so, go into it. A header that is no JSON is for the first record to
 * say. */
static enum h5vec_status enter_collection(struct h5vec_format_reader *reader, bool *is,
                                          struct h5vec_error *err)
{
    struct h5vec_format_input *input = &reader->input;
    struct h5vec_format_json j;
    for (;;) {
        j = (struct h5vec_format_json){.p = input->buffer + input->begin, .end = input->buffer + input->end};
        if (read_header(reader->state, &j, is))
            break;
        *is = false;
        if (input->at_end || j.at != j.end)
            return j.status == H5VEC_E_NOMEM ? h5vec_error_set(err, j.status, 0, "%s", j.what) : H5VEC_OK;
        enum h5vec_status status = h5vec_format_input_more(input, err);
        if (status != H5VEC_OK)
            return status;
    }
    if (*is)
        h5vec_format_input_take(input, (size_t)(j.p - (input->buffer + input->begin)));
    return H5VEC_OK;
}

/* The mode: how does the first record end? */
static enum h5vec_status choose_mode(struct h5vec_format_reader *reader, bool sequence,
                                     struct h5vec_error *err)
{
    struct h5vec_format_geojson *g = reader->state;
    struct span span;
    bool there = false;
    if (!sequence) {
        enum h5vec_status status = enter_collection(reader, &there, err);
        g->mode = H5VEC_FORMAT_GEOJSON_COLLECTION;
        if (status != H5VEC_OK || there)
            return status;
    }
    g->mode = sequence ? H5VEC_FORMAT_GEOJSON_SEQUENCE : H5VEC_FORMAT_GEOJSON_VALUES;
    enum h5vec_status status = next_record(reader, &span, &there, err);
    if (status == H5VEC_OK && (!there || !memchr(span.text, '\n', (size_t)(span.end - span.text))))
        g->mode = H5VEC_FORMAT_GEOJSON_LINES;
    return status;
}

/* Make columns of the records in the window; *whole: there are no others. */
static enum h5vec_status look_ahead(struct h5vec_format_reader *reader, bool *whole, struct h5vec_error *err)
{
    struct h5vec_format_input *input = &reader->input;
    enum h5vec_status status = h5vec_format_input_fill(input, HEAD, err);
    const char *p = input->buffer + input->begin, *end = input->buffer + input->end;
    const char *limit = end - p > HEAD ? p + HEAD : end;
    struct span span;
    bool after = false;
    *whole = false;
    while (status == H5VEC_OK) {
        enum found found = find(reader->state, p, end, input->at_end, after, &span);
        *whole = found == END;
        if (found != RECORD || (span.next > limit && after))
            break;
        status = h5vec_format_geojson_columns(reader, span.text, (size_t)(span.end - span.text), err);
        p = span.next;
        after = true;
    }
    return status;
}

/* Read the first record for what it says of the CRS; it is read again. */
static enum h5vec_status find_crs(struct h5vec_format_reader *reader, struct h5vec_error *err)
{
    struct h5vec_format_geojson *g = reader->state;
    enum h5vec_format_on_bad on_bad = reader->options.on_bad;
    struct span span;
    bool there;
    if (!g->crs_known &&
        find(g, reader->input.buffer + reader->input.begin, reader->input.buffer + reader->input.end,
             reader->input.at_end, false, &span) == RECORD) {
        reader->options.on_bad = H5VEC_FORMAT_BAD_ERROR;
        there = h5vec_format_geojson_row(reader, span.text, (size_t)(span.end - span.text), NULL) == H5VEC_OK;
        (void)there; /* what is malformed is told when its turn comes */
        reader->options.on_bad = on_bad;
        h5vec_format_rows_clear(&reader->rows);
        reader->rows.capacity = 0; /* the arrays are made anew when the types of the columns are known */
    }
    if (!g->crs_known)
        g->crs = strdup("OGC:CRS84");
    bool good = g->crs_known || g->crs;
    g->crs_known = true;
    reader->crs = g->crs;
    return good ? H5VEC_OK : h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for the CRS");
}

static enum h5vec_status set_up(struct h5vec_format_reader *reader, bool sequence, struct h5vec_error *err)
{
    struct h5vec_format_geojson *g = reader->state;
    bool whole = true;
    enum h5vec_status status = choose_mode(reader, sequence, err);
    if (status == H5VEC_OK)
        status = look_ahead(reader, &whole, err);
    reader->whole = g->mode != H5VEC_FORMAT_GEOJSON_LINES;
    if (status == H5VEC_OK && !whole) {
        g->other = reader->rows.columns;
        status = h5vec_format_rows_column(&reader->rows, "other", 5, H5VEC_FORMAT_TEXT, err);
    }
    if (status == H5VEC_OK)
        status = find_crs(reader, err);
    h5vec_format_geojson_types(reader);
    return status;
}

/* How many blanks the input begins with; lines of nothing else are taken. */
static enum h5vec_status count_blanks(struct h5vec_format_input *input, size_t *blanks,
                                      struct h5vec_error *err)
{
    for (;;) {
        const char *begin = input->buffer + input->begin, *end = input->buffer + input->end, *p = begin;
        while (p < end && is_blank(*p))
            p++;
        *blanks = (size_t)(p - begin);
        if (p < end || input->at_end)
            return H5VEC_OK;
        while (p > begin && p[-1] != '\n')
            p--;
        h5vec_format_input_take(input, (size_t)(p - begin));
        enum h5vec_status status = h5vec_format_input_more(input, err);
        if (status != H5VEC_OK)
            return status;
    }
}

enum h5vec_status h5vec_format_geojson_probe(struct h5vec_format_reader *reader, bool *is,
                                             struct h5vec_error *err)
{
    struct h5vec_format_input *input = &reader->input;
    size_t blanks = 0;
    enum h5vec_status status = count_blanks(input, &blanks, err);
    const char *p = input->buffer + input->begin + blanks;
    *is = status == H5VEC_OK && p < input->buffer + input->end && (*p == '{' || *p == RS);
    if (!*is)
        return status;
    bool sequence = *p == RS;
    h5vec_format_input_take(input, blanks);
    struct h5vec_format_geojson *g = calloc(1, sizeof *g);
    if (!g)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for a reader");
    g->other = SIZE_MAX;
    g->ordinates = 2;
    reader->class = &h5vec_format_geojson;
    h5vec_format_set_state(reader, g, free_state);
    return set_up(reader, sequence, err);
}

const struct h5vec_format_class h5vec_format_geojson = {.name = "GeoJSON", .row = row, .skip = skip};

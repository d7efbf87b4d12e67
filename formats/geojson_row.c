/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A Feature of GeoJSON becomes a row. Its properties, and its members other than type, geometry, properties,
 * bbox and crs, go into columns by their names; the column that follows the last one is tried first, as most
 * features have theirs in one order. What has no column is kept as JSON in the column "other". Numbers, true
 * and false, arrays and objects are kept as they are written.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "geojson.h"
#include "vcodec_utf8.h"

static uint64_t hash_of(bool member, const char *name, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ member; /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static bool is_called(const struct h5vec_format_reader *reader, size_t i, bool member, const char *name,
                      size_t size)
{
    const struct h5vec_format_geojson *g = reader->state;
    const char *own = reader->rows.column[i].name;
    return g->columns[i].member == member && strncmp(own, name, size) == 0 && own[size] == '\0';
}

/* The column of this name, SIZE_MAX: there is none. */
static size_t find_column(const struct h5vec_format_reader *reader, bool member, const char *name,
                          size_t size)
{
    const struct h5vec_format_geojson *g = reader->state;
    if (g->expected < g->count && is_called(reader, g->expected, member, name, size))
        return g->expected;
    if (g->count == 0)
        return SIZE_MAX;
    uint64_t hash = hash_of(member, name, size);
    for (size_t slot = hash % g->slot_count; g->slots[slot] != 0; slot = (slot + 1) % g->slot_count) {
        size_t i = g->slots[slot] - 1;
        if (g->columns[i].hash == hash && is_called(reader, i, member, name, size))
            return i;
    }
    return SIZE_MAX;
}

static void insert(struct h5vec_format_geojson *g, size_t i)
{
    size_t slot = g->columns[i].hash % g->slot_count;
    while (g->slots[slot] != 0)
        slot = (slot + 1) % g->slot_count;
    g->slots[slot] = i + 1;
}

/* Room for one more column; the table is at most half full. */
static bool reserve_column(struct h5vec_format_geojson *g)
{
    if (!h5vec_format_grow(&g->columns, &g->capacity, g->count + 1, sizeof *g->columns))
        return false;
    if (2 * (g->count + 1) <= g->slot_count)
        return true;
    size_t count = g->slot_count ? 2 * g->slot_count : 64;
    size_t *slots = calloc(count, sizeof *slots);
    if (!slots)
        return false;
    free(g->slots);
    g->slots = slots;
    g->slot_count = count;
    for (size_t i = 0; i < g->count; i++)
        insert(g, i);
    return true;
}

static enum h5vec_status add_column(struct h5vec_format_reader *reader, bool member, const char *name,
                                    size_t size, struct h5vec_error *err)
{
    struct h5vec_format_geojson *g = reader->state;
    if (!reserve_column(g))
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for a column");
    enum h5vec_status status = h5vec_format_rows_column(&reader->rows, name, size, H5VEC_FORMAT_TEXT, err);
    if (status != H5VEC_OK)
        return status;
    g->columns[g->count] = (struct h5vec_format_geojson_column){
        .member = member, .hash = hash_of(member, name, size), .types = UINT_MAX};
    insert(g, g->count++);
    return H5VEC_OK;
}

/* What a string says: where it lies, or in the scratch. */
static bool plain(struct h5vec_format_geojson *g, struct h5vec_format_json *j,
                  const struct h5vec_format_json_text *text, const char **out, size_t *size)
{
    *out = text->text;
    *size = text->size;
    if (!text->escaped)
        return true;
    if (!h5vec_format_grow(&g->scratch, &g->scratch_capacity, text->size, 1))
        return h5vec_format_json_fail(j, text->text, H5VEC_E_NOMEM, "no memory for a string");
    *out = g->scratch;
    return h5vec_format_json_unescape(j, text, g->scratch, size);
}

/* ---- The columns that a record has ---- */

/* A value of a column: which types could hold it? A string is text, whatever it says. */
static void note_types(struct h5vec_format_geojson_column *column, const char *value, size_t size)
{
    unsigned types = 1u << H5VEC_FORMAT_TEXT;
    if (*value == 'n')
        return;
    if (!strchr("\"[{", *value))
        types |= h5vec_format_value_types(value, size, false) & ~(1u << H5VEC_FORMAT_TIME);
    column->types &= types;
    column->any = true;
}

void h5vec_format_geojson_types(struct h5vec_format_reader *reader)
{
    static const enum h5vec_format_type order[] = {H5VEC_FORMAT_BOOLEAN, H5VEC_FORMAT_INTEGER,
                                                   H5VEC_FORMAT_FLOAT};
    const struct h5vec_format_geojson *g = reader->state;
    for (size_t i = 0; i < g->count; i++) {
        struct h5vec_format_builder *column = &reader->rows.column[i];
        column->undecided = !g->columns[i].any;
        for (size_t k = 0; g->columns[i].any && k < sizeof order / sizeof order[0]; k++)
            if (!column->exact && g->columns[i].types & 1u << order[k]) {
                column->type = order[k];
                column->exact = true;
            }
    }
}

/* A name of the record at j is a column; its value is passed over. */
static bool meet(struct h5vec_format_reader *reader, struct h5vec_format_json *j, bool member,
                 const struct h5vec_format_json_text *text)
{
    struct h5vec_format_geojson *g = reader->state;
    struct h5vec_error err = {0};
    const char *name;
    size_t size;
    if (!plain(g, j, text, &name, &size))
        return false;
    size_t i = find_column(reader, member, name, size);
    g->expected = i == SIZE_MAX ? g->count : i + 1;
    if (i == SIZE_MAX) {
        enum h5vec_status status = add_column(reader, member, name, size, &err);
        if (status != H5VEC_OK)
            return h5vec_format_json_fail(j, text->text, status, "%.150s", err.msg);
        i = g->count - 1;
    }
    (void)h5vec_format_json_peek(j);
    const char *value = j->p;
    if (!h5vec_format_json_skip(j))
        return false;
    note_types(&g->columns[i], value, (size_t)(j->p - value));
    return true;
}

static bool meet_properties(struct h5vec_format_reader *reader, struct h5vec_format_json *j)
{
    struct h5vec_format_json_text name;
    bool more = false;
    if (h5vec_format_json_peek(j) != '{')
        return h5vec_format_json_skip(j);
    j->p++;
    for (bool first = true; h5vec_format_json_more(j, first, '}', &more) && more; first = false)
        if (!h5vec_format_json_name(j, &name) || !meet(reader, j, false, &name))
            return false;
    return j->status == H5VEC_OK;
}

/* Which members of a Feature are no columns; those of a geometry show that it is one. */
static bool is_any(const struct h5vec_format_json_text *name, const char *const *names)
{
    for (; *names; names++)
        if (h5vec_format_json_is(name, *names))
            return true;
    return false;
}
static const char *const no_columns[] = {"type", "geometry", "bbox", "crs", NULL};
static const char *const of_geometry[] = {"coordinates", "geometries", NULL};

enum h5vec_status h5vec_format_geojson_columns(struct h5vec_format_reader *reader, const char *text,
                                               size_t size, struct h5vec_error *err)
{
    struct h5vec_format_json j = {.p = text, .end = text + vcodec_utf8_check(text, size)};
    struct h5vec_format_json_text name, value;
    bool more = false, good = h5vec_format_json_take(&j, '{');
    for (bool first = true; good && h5vec_format_json_more(&j, first, '}', &more) && more; first = false) {
        if (!h5vec_format_json_name(&j, &name) || is_any(&name, of_geometry))
            break;
        if (h5vec_format_json_is(&name, "type"))
            good = h5vec_format_json_string(&j, &value) && h5vec_format_json_is(&value, "Feature");
        else if (h5vec_format_json_is(&name, "properties"))
            good = meet_properties(reader, &j);
        else
            good = is_any(&name, no_columns) ? h5vec_format_json_skip(&j) : meet(reader, &j, true, &name);
    }
    if (j.status == H5VEC_E_NOMEM || j.status == H5VEC_E_FORMAT_TOO_LONG)
        return h5vec_error_set(err, j.status, 0, "%s", j.what);
    return H5VEC_OK; /* what is malformed is for the row to say */
}

/* ---- Rows ---- */

static bool append(struct h5vec_format_geojson *g, struct h5vec_format_json *j, int to, const char *text,
                   size_t size)
{
    if (!h5vec_format_grow(&g->rest[to], &g->rest_capacity[to], g->rest_size[to] + size, 1))
        return h5vec_format_json_fail(j, j->p, H5VEC_E_NOMEM, "no memory for a value");
    memcpy(g->rest[to] + g->rest_size[to], text, size);
    g->rest_size[to] += size;
    return true;
}

/* "name":value as they are written, for the column of the rest. */
static bool keep_rest(struct h5vec_format_geojson *g, struct h5vec_format_json *j, bool member,
                      const struct h5vec_format_json_text *name)
{
    int to = !member;
    (void)h5vec_format_json_peek(j);
    const char *value = j->p;
    return h5vec_format_json_skip(j) && (g->rest_size[to] == 0 || append(g, j, to, ",", 1)) &&
           append(g, j, to, name->text - 1, name->size + 2) && append(g, j, to, ":", 1) &&
           append(g, j, to, value, (size_t)(j->p - value));
}

/* A value of a column that is not text. A string is one only if the caller has given the type. */
static bool set_typed(struct h5vec_format_reader *reader, struct h5vec_format_json *j, size_t i,
                      const char *at, const char *says, size_t size)
{
    const struct h5vec_format_builder *column = &reader->rows.column[i];
    struct h5vec_error inner = {0};
    if (strchr(column->given ? "[{" : "[{\"", *at))
        return h5vec_format_json_fail(
            j, at, H5VEC_E_FORMAT_RECORD,
            "column %.60s: not of type %s; as text it is read with --types NAME=text", column->name,
            h5vec_format_type_name(column->type));
    enum h5vec_status status =
        h5vec_format_value_set(&reader->rows, i, says, size, reader->options.allow_nonfinite, &inner);
    return status == H5VEC_OK || h5vec_format_json_fail(j, at, status, "%.150s", inner.msg);
}

static bool set_value(struct h5vec_format_reader *reader, struct h5vec_format_json *j, size_t i)
{
    struct h5vec_format_json_text text = {0};
    char c = h5vec_format_json_peek(j);
    const char *value = j->p, *says = value;
    size_t size;
    if (c == '"') {
        if (!h5vec_format_json_string(j, &text) || !plain(reader->state, j, &text, &says, &size))
            return false;
    } else {
        if (!h5vec_format_json_skip(j))
            return false;
        size = (size_t)(j->p - value);
    }
    if (c == 'n')
        return true;
    if (reader->rows.column[i].type != H5VEC_FORMAT_TEXT)
        return set_typed(reader, j, i, value, says, size);
    reader->rows.column[i].valid[reader->rows.count] = 1;
    return h5vec_format_rows_text(&reader->rows, i, says, size) ||
           h5vec_format_json_fail(j, value, H5VEC_E_NOMEM, "no memory for a value");
}

static bool set_column(struct h5vec_format_reader *reader, struct h5vec_format_json *j, bool member,
                       const struct h5vec_format_json_text *text)
{
    struct h5vec_format_geojson *g = reader->state;
    const char *name;
    size_t size;
    if (!plain(g, j, text, &name, &size))
        return false;
    size_t i = find_column(reader, member, name, size);
    if (i == SIZE_MAX && g->other != SIZE_MAX)
        return keep_rest(g, j, member, text);
    if (i == SIZE_MAX)
        return h5vec_format_json_fail(j, text->text - 1, H5VEC_E_FORMAT_RECORD,
                                      "no feature that was there when the file was opened has a %s %.*s",
                                      member ? "member" : "property", (int)(size > 60 ? 60 : size), name);
    g->expected = i + 1;
    if (g->columns[i].seen == g->record)
        return h5vec_format_json_fail(j, text->text - 1, H5VEC_E_FORMAT_RECORD, "the %s %.*s is there twice",
                                      member ? "member" : "property", (int)(size > 60 ? 60 : size), name);
    g->columns[i].seen = g->record;
    return set_value(reader, j, i);
}

static bool set_properties(struct h5vec_format_reader *reader, struct h5vec_format_json *j)
{
    struct h5vec_format_json_text name;
    bool more = false;
    if (h5vec_format_json_peek(j) == 'n')
        return h5vec_format_json_skip(j);
    if (!h5vec_format_json_take(j, '{'))
        return false;
    for (bool first = true; h5vec_format_json_more(j, first, '}', &more) && more; first = false)
        if (!h5vec_format_json_name(j, &name) || !set_column(reader, j, false, &name))
            return false;
    return j->status == H5VEC_OK;
}

static enum h5vec_status told(const struct h5vec_format_reader *reader, const struct h5vec_format_json *j,
                              struct h5vec_error *err)
{
    return h5vec_format_input_error(&reader->input, j->at, j->status, err, "%s", j->what);
}

/* A geometry that is malformed, but JSON, is null if the caller wants it so. */
static bool set_geometry(struct h5vec_format_reader *reader, struct h5vec_format_json *j)
{
    struct h5vec_format_json past = *j;
    struct h5vec_error what;
    if (h5vec_format_geojson_geometry(reader, j, &reader->is_null))
        return true;
    if (reader->options.on_bad != H5VEC_FORMAT_BAD_NULL || !h5vec_format_is_malformed(j->status) ||
        !h5vec_format_json_skip(&past))
        return false;
    told(reader, j, &what);
    h5vec_format_note_bad(reader, &what);
    reader->is_null = true;
    *j = past;
    return true;
}

/* Members that decide what an object is, and that have been there. */
struct feature {
    bool type, geometry, properties;
    bool bare; /* it is a geometry */
};

static bool once(struct h5vec_format_json *j, bool *there, const char *name)
{
    if (*there)
        return h5vec_format_json_fail(j, j->p, H5VEC_E_FORMAT_RECORD, "the member %s is there twice", name);
    *there = true;
    return true;
}

static bool set_type(struct h5vec_format_json *j, struct feature *f)
{
    struct h5vec_format_json_text type;
    const char *at = j->p;
    if (!once(j, &f->type, "type") || !h5vec_format_json_string(j, &type))
        return false;
    f->bare = !h5vec_format_json_is(&type, "Feature");
    return !h5vec_format_json_is(&type, "FeatureCollection") ||
           h5vec_format_json_fail(j, at, H5VEC_E_FORMAT_RECORD,
                                  "a FeatureCollection among features: it must be a file of its own");
}

static bool set_member(struct h5vec_format_reader *reader, struct h5vec_format_json *j, struct feature *f)
{
    struct h5vec_format_json_text name;
    if (!h5vec_format_json_name(j, &name))
        return false;
    if (h5vec_format_json_is(&name, "type"))
        return set_type(j, f);
    if (h5vec_format_json_is(&name, "geometry"))
        return once(j, &f->geometry, "geometry") && set_geometry(reader, j);
    if (h5vec_format_json_is(&name, "properties"))
        return once(j, &f->properties, "properties") && set_properties(reader, j);
    if (h5vec_format_json_is(&name, "crs"))
        return h5vec_format_geojson_crs(reader->state, j);
    if (h5vec_format_json_is(&name, "bbox"))
        return h5vec_format_json_skip(j);
    f->bare = !f->type && is_any(&name, of_geometry);
    return f->bare ? h5vec_format_json_skip(j) : set_column(reader, j, true, &name);
}

static bool set_feature(struct h5vec_format_reader *reader, struct h5vec_format_json *j)
{
    struct feature f = {0};
    const char *at = j->p;
    bool more = false;
    if (!h5vec_format_json_take(j, '{'))
        return false;
    for (bool first = true; h5vec_format_json_more(j, first, '}', &more) && more && !f.bare; first = false)
        if (!set_member(reader, j, &f))
            return false;
    if (f.bare) {
        j->p = at;
        return set_geometry(reader, j);
    }
    if (j->status != H5VEC_OK)
        return false;
    return f.type || h5vec_format_json_fail(j, at, H5VEC_E_FORMAT_RECORD, "an object without type");
}

/* What has no column, as the JSON of a Feature that has nothing else. */
static bool set_rest(struct h5vec_format_reader *reader, struct h5vec_format_json *j)
{
    struct h5vec_format_geojson *g = reader->state;
    static const char properties[] = ",\"properties\":{";
    size_t comma = g->rest_size[0] == 0;
    if (g->rest_size[0] + g->rest_size[1] == 0)
        return true;
    struct h5vec_format_rows *rows = &reader->rows;
    bool good = h5vec_format_rows_text(rows, g->other, "{", 1) &&
                h5vec_format_rows_text(rows, g->other, g->rest[0], g->rest_size[0]);
    if (g->rest_size[1] > 0)
        good = good &&
               h5vec_format_rows_text(rows, g->other, properties + comma, sizeof properties - 1 - comma) &&
               h5vec_format_rows_text(rows, g->other, g->rest[1], g->rest_size[1]) &&
               h5vec_format_rows_text(rows, g->other, "}", 1);
    rows->column[g->other].valid[rows->count] = 1;
    return (good && h5vec_format_rows_text(rows, g->other, "}", 1)) ||
           h5vec_format_json_fail(j, j->p, H5VEC_E_NOMEM, "no memory for a value");
}

enum h5vec_status h5vec_format_geojson_row(struct h5vec_format_reader *reader, const char *text, size_t size,
                                           struct h5vec_error *err)
{
    struct h5vec_format_geojson *g = reader->state;
    struct h5vec_format_json j = {.p = text, .end = text + size};
    size_t good = vcodec_utf8_check(text, size);
    if (good < size)
        return h5vec_format_input_error(&reader->input, text + good, H5VEC_E_FORMAT_RECORD, err,
                                        text[good] ? "not UTF-8 text" : "a NUL byte in the text");
    if (!h5vec_format_rows_begin(&reader->rows))
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for the row");
    g->record++;
    g->expected = 0;
    g->rest_size[0] = g->rest_size[1] = 0;
    reader->is_null = true;
    bool done = set_feature(reader, &j) && set_rest(reader, &j);
    if (done && (h5vec_format_json_peek(&j) != '\0' || j.p != j.end))
        done = h5vec_format_json_fail(&j, j.p, H5VEC_E_TRAILING, "text after the end of the object");
    if (!done) {
        h5vec_format_rows_abort(&reader->rows);
        return told(reader, &j, err);
    }
    h5vec_format_row_end(reader, reader->is_null ? NULL : &reader->info);
    return H5VEC_OK;
}

/* ---- The CRS ---- */

/* The name in {"type": "name", "properties": {"name": ...}}. */
static bool find_name(struct h5vec_format_json *j, struct h5vec_format_json_text *found, int depth)
{
    struct h5vec_format_json_text name;
    bool more = false, is = false;
    if (!h5vec_format_json_take(j, '{'))
        return false;
    for (bool first = true; h5vec_format_json_more(j, first, '}', &more) && more; first = false) {
        if (!h5vec_format_json_name(j, &name))
            return false;
        if (depth == 0 && h5vec_format_json_is(&name, "properties") && h5vec_format_json_peek(j) == '{')
            is = find_name(j, found, 1) || is;
        else if (depth == 1 && h5vec_format_json_is(&name, "name"))
            is = h5vec_format_json_string(j, found);
        else
            h5vec_format_json_skip(j);
    }
    return is && j->status == H5VEC_OK;
}

bool h5vec_format_geojson_crs(struct h5vec_format_geojson *g, struct h5vec_format_json *j)
{
    static const char crs84[] = "OGC:CRS84", urn[] = "urn:ogc:def:crs:OGC:1.3:CRS84";
    struct h5vec_format_json_text text = {0};
    const char *name = NULL;
    size_t size = 0;
    bool is_null = h5vec_format_json_peek(j) == 'n';
    const char *at = j->p;
    if (is_null) {
        if (!h5vec_format_json_skip(j))
            return false;
    } else {
        if (!find_name(j, &text, 0))
            return h5vec_format_json_fail(j, at, H5VEC_E_FORMAT_RECORD, "a crs that is not a name");
        if (!plain(g, j, &text, &name, &size))
            return false;
        if (size == sizeof urn - 1 && memcmp(name, urn, size) == 0) {
            name = crs84;
            size = sizeof crs84 - 1;
        }
    }
    if (!g->crs_known) {
        g->crs_known = true;
        g->crs = is_null ? NULL : strndup(name, size);
        return is_null || g->crs || h5vec_format_json_fail(j, at, H5VEC_E_NOMEM, "no memory for the CRS");
    }
    bool same = is_null ? !g->crs : g->crs && strncmp(g->crs, name, size) == 0 && g->crs[size] == '\0';
    return same || h5vec_format_json_fail(
                       j, at, H5VEC_E_FORMAT_RECORD, "the crs %.*s, but that of the first feature is %.60s",
                       (int)(size > 60 ? 60 : size), is_null ? "" : name, g->crs ? g->crs : "null");
}

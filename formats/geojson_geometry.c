/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A geometry of GeoJSON becomes WKB. The bytes are written as the text is read; counts are filled in behind.
 * The dimension is that of the first position, but headers are written before it: they have that of the last
 * geometry, and where this proves wrong, the geometry is begun anew, which costs no more than what stands
 * before its first position. A "type" behind its coordinates is found by going past those first.
 */
#include <string.h>
#include "geojson.h"

struct shape {
    struct h5vec_format_reader *reader;
    struct h5vec_format_json *j;
    size_t size;        /* bytes behind the rows' WKB */
    unsigned ordinates; /* of a position */
    bool fixed;         /* a position has said so */
    bool again;         /* it has said otherwise: begin anew */
};

static uint8_t *room(struct shape *s, size_t bytes)
{
    uint8_t *wkb = h5vec_format_rows_wkb(&s->reader->rows, s->size + bytes);
    if (!wkb) {
        h5vec_format_json_fail(s->j, s->j->p, H5VEC_E_NOMEM, "no memory for the geometry");
        return NULL;
    }
    s->size += bytes;
    return wkb + s->size - bytes;
}

static void store(uint8_t *to, uint64_t bits, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(bits >> 8 * i);
}

static void store_count(struct shape *s, size_t at, uint32_t count)
{
    store(s->reader->rows.wkb + s->reader->rows.wkb_size + at, count, 4);
}

/* A geometry's header, and a count of 0 unless it is a point; *count: where that is. */
static bool put_head(struct shape *s, enum vcodec_type type, size_t *count)
{
    uint8_t *to = room(s, type == VCODEC_POINT ? 5 : 9);
    if (!to)
        return false;
    to[0] = 1;
    store(to + 1, (uint64_t)type + (s->ordinates == 3 ? 1000 : 0), 4);
    if (type != VCODEC_POINT)
        store(to + 5, 0, 4);
    *count = s->size - 4;
    return true;
}

static bool put_position(struct shape *s, const double *values)
{
    uint8_t *to = room(s, s->ordinates * sizeof *values);
    for (unsigned i = 0; to && i < s->ordinates; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        store(to + i * sizeof bits, bits, sizeof bits);
    }
    return to != NULL;
}

static bool check_ordinates(struct shape *s, const char *at, unsigned n)
{
    if (n < 2 || n > 3)
        return h5vec_format_json_fail(s->j, at, H5VEC_E_FORMAT_RECORD,
                                      "a position of %u number%s: GeoJSON has two or three", n,
                                      n == 1 ? "" : "s");
    if (n == s->ordinates) {
        s->fixed = true;
        return true;
    }
    if (s->fixed)
        return h5vec_format_json_fail(s->j, at, H5VEC_E_FORMAT_RECORD,
                                      "a position of %u numbers in a geometry whose others have %u", n,
                                      s->ordinates);
    s->ordinates = n;
    s->again = true;
    return false;
}

/* The numbers of a position, behind its '['. empty: there may be none, which is *count = 0. */
static bool position(struct shape *s, bool empty, bool *none)
{
    double values[4];
    unsigned n = 0;
    const char *at = s->j->p;
    bool more = false;
    while (h5vec_format_json_more(s->j, n == 0, ']', &more) && more) {
        if (!h5vec_format_json_number(s->j, &values[n < 3 ? n : 3]))
            return false;
        n += n < 4;
    }
    if (s->j->status != H5VEC_OK)
        return false;
    *none = empty && n == 0;
    return *none || (check_ordinates(s, at, n) && put_position(s, values));
}

static bool point(struct shape *s)
{
    static const uint64_t nan = UINT64_C(0x7ff8000000000000);
    size_t count;
    bool none;
    if (!put_head(s, VCODEC_POINT, &count) || !h5vec_format_json_take(s->j, '[') || !position(s, true, &none))
        return false;
    uint8_t *to = none ? room(s, s->ordinates * sizeof nan) : NULL;
    for (unsigned i = 0; to && i < s->ordinates; i++)
        store(to + i * sizeof nan, nan, sizeof nan);
    return !none || to;
}

/* An array of positions, its number at `count`. */
static bool positions(struct shape *s, size_t count)
{
    uint32_t n = 0;
    bool more = false, none;
    if (!h5vec_format_json_take(s->j, '['))
        return false;
    for (; h5vec_format_json_more(s->j, n == 0, ']', &more) && more; n++)
        if (!h5vec_format_json_take(s->j, '[') || !position(s, false, &none))
            return false;
    store_count(s, count, n);
    return s->j->status == H5VEC_OK;
}

static bool rings(struct shape *s, size_t count)
{
    uint32_t n = 0;
    bool more = false;
    if (!h5vec_format_json_take(s->j, '['))
        return false;
    for (; h5vec_format_json_more(s->j, n == 0, ']', &more) && more; n++)
        if (!room(s, 4) || !positions(s, s->size - 4))
            return false;
    store_count(s, count, n);
    return s->j->status == H5VEC_OK;
}

static bool coordinates(struct shape *s, enum vcodec_type type)
{
    uint32_t n = 0;
    size_t count;
    bool more = false;
    if (type == VCODEC_POINT)
        return point(s);
    if (!put_head(s, type, &count))
        return false;
    if (type == VCODEC_LINESTRING)
        return positions(s, count);
    if (type == VCODEC_POLYGON)
        return rings(s, count);
    if (!h5vec_format_json_take(s->j, '['))
        return false;
    enum vcodec_type member = (enum vcodec_type)(type - 3); /* MultiPoint's are points, and so on */
    for (; h5vec_format_json_more(s->j, n == 0, ']', &more) && more; n++)
        if (!coordinates(s, member))
            return false;
    store_count(s, count, n);
    return s->j->status == H5VEC_OK;
}

static bool type_of(struct h5vec_format_json *j, enum vcodec_type *type)
{
    struct h5vec_format_json_text name;
    const char *at = j->p;
    if (!h5vec_format_json_string(j, &name))
        return false;
    for (int t = VCODEC_POINT; t <= VCODEC_GEOMETRYCOLLECTION; t++)
        if (h5vec_format_json_is(&name, vcodec_type_name((enum vcodec_type)t))) {
            *type = (enum vcodec_type)t;
            return true;
        }
    return h5vec_format_json_fail(j, at, H5VEC_E_UNSUPPORTED, "geometry type not supported: %.*s",
                                  (int)(name.size > 40 ? 40 : name.size), name.text);
}

static bool object(struct shape *s, unsigned depth);

static bool members(struct shape *s, unsigned depth)
{
    uint32_t n = 0;
    size_t count;
    bool more = false;
    if (depth == VCODEC_MAX_DEPTH)
        return h5vec_format_json_fail(s->j, s->j->p, H5VEC_E_DEPTH, "collections nested deeper than %d",
                                      VCODEC_MAX_DEPTH);
    if (!put_head(s, VCODEC_GEOMETRYCOLLECTION, &count) || !h5vec_format_json_take(s->j, '['))
        return false;
    for (; h5vec_format_json_more(s->j, n == 0, ']', &more) && more; n++)
        if (!object(s, depth + 1))
            return false;
    store_count(s, count, n);
    return s->j->status == H5VEC_OK;
}

/* What is known of a geometry object while its members are read. */
struct known {
    bool has_type, done;
    enum vcodec_type type;
    const char *parts; /* its coordinates or geometries, passed over for want of the type */
};

static bool read_parts(struct shape *s, struct known *k, unsigned depth)
{
    k->done = true;
    return k->type == VCODEC_GEOMETRYCOLLECTION ? members(s, depth) : coordinates(s, k->type);
}

static bool member(struct shape *s, struct known *k, unsigned depth)
{
    struct h5vec_format_json *j = s->j;
    struct h5vec_format_json_text name;
    const char *at = j->p;
    if (!h5vec_format_json_name(j, &name))
        return false;
    bool type = h5vec_format_json_is(&name, "type");
    bool parts = h5vec_format_json_is(&name, "coordinates") || h5vec_format_json_is(&name, "geometries");
    if ((type && k->has_type) || (parts && (k->done || k->parts)))
        return h5vec_format_json_fail(j, at, H5VEC_E_FORMAT_RECORD, "the member %.*s is there twice",
                                      (int)name.size, name.text);
    if (type) {
        k->has_type = true;
        return type_of(j, &k->type);
    }
    if (h5vec_format_json_is(&name, "crs"))
        return h5vec_format_geojson_crs(s->reader->state, j);
    if (parts && k->has_type) {
        const char *wanted = k->type == VCODEC_GEOMETRYCOLLECTION ? "geometries" : "coordinates";
        if (!h5vec_format_json_is(&name, wanted))
            return h5vec_format_json_fail(j, at, H5VEC_E_FORMAT_RECORD, "a %s has %s",
                                          vcodec_type_name(k->type), wanted);
        return read_parts(s, k, depth);
    }
    if (parts) {
        (void)h5vec_format_json_peek(j);
        k->parts = j->p;
    }
    return h5vec_format_json_skip(j);
}

static bool object(struct shape *s, unsigned depth)
{
    struct h5vec_format_json *j = s->j;
    struct known k = {0};
    const char *at = j->p;
    bool more = false;
    if (!h5vec_format_json_take(j, '{'))
        return false;
    for (bool first = true; h5vec_format_json_more(j, first, '}', &more) && more; first = false)
        if (!member(s, &k, depth))
            return false;
    if (j->status != H5VEC_OK)
        return false;
    if (k.has_type && k.parts) {
        const char *behind = j->p;
        j->p = k.parts;
        if (!read_parts(s, &k, depth))
            return false;
        j->p = behind;
    }
    return k.done || h5vec_format_json_fail(j, at, H5VEC_E_FORMAT_RECORD, "a geometry without %s",
                                            k.has_type ? "coordinates" : "type");
}

bool h5vec_format_geojson_geometry(struct h5vec_format_reader *reader, struct h5vec_format_json *j,
                                   bool *is_null)
{
    struct h5vec_format_geojson *g = reader->state;
    struct h5vec_error inner = {0};
    *is_null = h5vec_format_json_peek(j) == 'n';
    if (*is_null)
        return h5vec_format_json_skip(j);
    const char *at = j->p;
    struct shape s = {.reader = reader, .j = j, .ordinates = g->ordinates};
    bool done = object(&s, 0);
    if (!done && s.again && j->status == H5VEC_OK) {
        j->p = at;
        s.size = 0;
        s.fixed = true;
        done = object(&s, 0);
    }
    g->ordinates = s.ordinates;
    if (!done)
        return false;
    const uint8_t *wkb = reader->rows.wkb + reader->rows.wkb_size;
    enum h5vec_status status = vcodec_wkb_scan(wkb, s.size, &reader->info, &inner);
    return status == H5VEC_OK || h5vec_format_json_fail(j, at, status, "%.150s", inner.msg);
}

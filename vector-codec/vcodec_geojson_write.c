/* SPDX-License-Identifier: BSD-3-Clause
 *
 * GeoJSON out: a visitor of the WKB walk that writes a geometry object of RFC 7946. A geometry that has a
 * name there (the outermost one, and members of a GeometryCollection) is an object, a member of another
 * collection or a ring an array of positions. What JSON cannot hold is found on the way and told at the end.
 */
#include <math.h>
#include "vcodec_number.h"

struct text {
    char *out;
    size_t capacity;
    size_t length; /* of all text so far, also what did not fit */
    unsigned ordinates;
    bool follows;                        /* something stands before the next part in the same array */
    unsigned depth;                      /* geometries that are open */
    uint8_t types[VCODEC_MAX_DEPTH + 2]; /* theirs */
    bool measured, nonfinite;
};

static void put(struct text *t, const char *text, size_t n)
{
    if (t->length < t->capacity) {
        size_t room = t->capacity - t->length;
        memcpy(t->out + t->length, text, n < room ? n : room);
    }
    t->length += n;
}

static void put_string(struct text *t, const char *text)
{
    put(t, text, strlen(text));
}

static void open_array(struct text *t)
{
    put_string(t, t->follows ? ",[" : "[");
    t->follows = false;
}

/* Whether the innermost open geometry is an object, and not an array inside one. */
static bool is_object(const struct text *t)
{
    return t->depth == 1 || t->types[t->depth - 2] == VCODEC_GEOMETRYCOLLECTION;
}

static void json_geometry(void *self, enum vcodec_type type, enum vcodec_dim dim, uint32_t count)
{
    struct text *t = self;
    (void)count;
    t->measured = t->measured || dim == VCODEC_XYM || dim == VCODEC_XYZM;
    t->ordinates = vcodec_ordinates(dim);
    t->types[t->depth++] = (uint8_t)type;
    if (!is_object(t)) {
        open_array(t);
        return;
    }
    put_string(t, t->follows ? ",{\"type\":\"" : "{\"type\":\"");
    put_string(t, vcodec_type_name(type));
    put_string(t, type == VCODEC_GEOMETRYCOLLECTION ? "\",\"geometries\":[" : "\",\"coordinates\":[");
    t->follows = false;
}

static void json_ring(void *self, uint32_t count)
{
    (void)count;
    open_array(self);
}

/* The digits of WKT, but -0 has a point: as an integer it would lose its sign. */
static void put_number(struct text *t, double value)
{
    char number[VCODEC_NUMBER_MAX];
    t->nonfinite = t->nonfinite || !isfinite(value);
    put(t, number, vcodec_number_write(value, number));
    if (value == 0 && signbit(value))
        put(t, ".0", 2);
}

static void json_points(void *self, const uint8_t *points, size_t n)
{
    struct text *t = self;
    bool bare = t->types[t->depth - 1] == VCODEC_POINT; /* its array is the position */
    for (; n > 0; n--) {
        if (!bare)
            open_array(t);
        for (unsigned i = 0; i < t->ordinates; i++, points += sizeof(double)) {
            put(t, ",", i > 0);
            put_number(t, vcodec_load_double(points));
        }
        put(t, "]", !bare);
        t->follows = true;
    }
}

static void json_end_ring(void *self)
{
    struct text *t = self;
    put(t, "]", 1);
    t->follows = true;
}

static void json_end_geometry(void *self, enum vcodec_type type)
{
    struct text *t = self;
    (void)type;
    put(t, "]}", is_object(t) ? 2 : 1);
    t->depth--;
    t->follows = true;
}

enum h5vec_status vcodec_geojson_write(const uint8_t *wkb, size_t size, char *out, size_t capacity,
                                       size_t *length, struct h5vec_error *err)
{
    static const struct vcodec_visitor visitor = {
        .geometry = json_geometry,
        .ring = json_ring,
        .points = json_points,
        .end_ring = json_end_ring,
        .end_geometry = json_end_geometry,
    };
    struct text t = {.out = out, .capacity = capacity};
    bool has_srid;
    int32_t srid;
    enum h5vec_status status = vcodec_wkb_walk(wkb, size, &visitor, &t, &has_srid, &srid, err);
    if (status)
        return status;
    if (t.measured)
        return h5vec_error_set(err, H5VEC_E_UNSUPPORTED, 0, "M, which GeoJSON has no place for");
    if (t.nonfinite)
        return h5vec_error_set(err, H5VEC_E_NONFINITE, 0,
                               "a coordinate that is not finite, which JSON cannot write");
    *length = t.length;
    return H5VEC_OK;
}

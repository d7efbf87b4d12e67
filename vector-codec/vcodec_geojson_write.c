/* SPDX-License-Identifier: BSD-3-Clause
 *
 * GeoJSON out: a visitor of the WKB walk that writes a geometry object of RFC 7946. A geometry that has a
 * name there (the outermost one, and members of a GeometryCollection) is an object, a member of another
 * collection or a ring an array of positions. What JSON cannot hold is found on the way and told at the end.
 */
#include <math.h>
#include "vcodec_writer.h"

struct json {
    struct vcodec_writer text;
    bool measured, nonfinite;
};

static void open_array(struct vcodec_writer *t)
{
    vcodec_writer_put_string(t, t->follows ? ",[" : "[");
    t->follows = false;
}

/* Whether the innermost open geometry is an object, and not an array inside one. */
static bool is_object(const struct vcodec_writer *t)
{
    return t->depth == 1 || t->types[t->depth - 2] == VCODEC_GEOMETRYCOLLECTION;
}

static void json_geometry(void *self, enum vcodec_type type, enum vcodec_dim dim, uint32_t count)
{
    struct json *j = self;
    struct vcodec_writer *t = &j->text;
    (void)count;
    vcodec_writer_note_type(t, type);
    j->measured = j->measured || dim == VCODEC_XYM || dim == VCODEC_XYZM;
    t->ordinates = vcodec_ordinates(dim);
    t->types[t->depth++] = (uint8_t)type;
    if (!is_object(t)) {
        open_array(t);
        return;
    }
    vcodec_writer_put_string(t, t->follows ? ",{\"type\":\"" : "{\"type\":\"");
    vcodec_writer_put_string(t, vcodec_type_name(type));
    vcodec_writer_put_string(t, type == VCODEC_GEOMETRYCOLLECTION ? "\",\"geometries\":["
                                                                  : "\",\"coordinates\":[");
    t->follows = false;
}

static void json_ring(void *self, uint32_t count)
{
    (void)count;
    open_array(self);
}

/* The digits of WKT, but -0 has a point: as an integer it would lose its sign. */
static void put_number(struct json *j, double value)
{
    struct vcodec_writer *t = &j->text;
    char number[VCODEC_NUMBER_MAX];
    j->nonfinite = j->nonfinite || !isfinite(value);
    vcodec_writer_put(t, number, vcodec_number_write(value, number));
    if (value == 0 && signbit(value))
        vcodec_writer_put(t, ".0", 2);
}

static void json_points(void *self, const uint8_t *points, size_t n)
{
    struct vcodec_writer *t = self;
    bool bare = t->types[t->depth - 1] == VCODEC_POINT; /* its array is the position */
    for (; n > 0; n--) {
        if (!bare)
            open_array(t);
        for (unsigned i = 0; i < t->ordinates; i++, points += sizeof(double)) {
            vcodec_writer_put(t, ",", i > 0);
            put_number(self, vcodec_load_double(points));
        }
        vcodec_writer_put(t, "]", !bare);
        t->follows = true;
    }
}

static void json_end_ring(void *self)
{
    struct vcodec_writer *t = self;
    vcodec_writer_put(t, "]", 1);
    t->follows = true;
}

static void json_end_geometry(void *self, enum vcodec_type type)
{
    struct vcodec_writer *t = self;
    (void)type;
    vcodec_writer_put(t, "]}", is_object(t) ? 2 : 1);
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
    struct json j = {.text = {.out = out, .capacity = capacity}};
    enum h5vec_status status = vcodec_writer_walk(wkb, size, &visitor, &j.text, "GeoJSON", err);
    if (status)
        return status;
    if (j.measured)
        return h5vec_error_set(err, H5VEC_E_UNSUPPORTED, 0, "M, which GeoJSON has no place for");
    if (j.nonfinite)
        return h5vec_error_set(err, H5VEC_E_NONFINITE, 0,
                               "a coordinate that is not finite, which JSON cannot write");
    *length = j.text.length;
    return H5VEC_OK;
}

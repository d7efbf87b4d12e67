/* SPDX-License-Identifier: BSD-3-Clause
 *
 * WKT out: a visitor of the WKB walk that writes text. "MULTIPOINT Z ((1 2 3),EMPTY)": a space before each
 * parenthesis that follows a word, none elsewhere.
 */
#include "vcodec_writer.h"

static void put_word(struct vcodec_writer *t, const char *name)
{
    char upper[32];
    size_t n = 0;
    for (; name[n]; n++)
        upper[n] = (char)(name[n] >= 'a' ? name[n] - 'a' + 'A' : name[n]);
    vcodec_writer_put(t, upper, n);
}

static void separate(struct vcodec_writer *t)
{
    if (t->follows)
        vcodec_writer_put(t, ",", 1);
    t->follows = false;
}

static void text_geometry(void *self, enum vcodec_type type, enum vcodec_dim dim, uint32_t count)
{
    static const char *const tags[] = {"", " Z", " M", " ZM"};
    struct vcodec_writer *t = self;
    bool tagged = t->depth == 0 || t->types[t->depth - 1] == VCODEC_GEOMETRYCOLLECTION;
    vcodec_writer_note_type(t, type);
    separate(t);
    if (tagged) {
        put_word(t, vcodec_type_name(type));
        vcodec_writer_put_string(t, tags[dim]);
    }
    const char *open = count ? " (" : " EMPTY";
    vcodec_writer_put_string(t, tagged ? open : open + 1);
    t->ordinates = vcodec_ordinates(dim);
    t->types[t->depth++] = (uint8_t)(count ? type : 0);
}

static void text_ring(void *self, uint32_t count)
{
    struct vcodec_writer *t = self;
    separate(t);
    vcodec_writer_put_string(t, count ? "(" : "EMPTY");
    t->types[t->depth++] = (uint8_t)(count ? VCODEC_LINESTRING : 0);
}

static void text_points(void *self, const uint8_t *points, size_t n)
{
    struct vcodec_writer *t = self;
    for (; n > 0; n--) {
        separate(t);
        for (unsigned i = 0; i < t->ordinates; i++, points += sizeof(double)) {
            char number[1 + VCODEC_NUMBER_MAX] = " ";
            size_t length = vcodec_number_write(vcodec_load_double(points), number + 1);
            vcodec_writer_put(t, number + (i == 0), length + (i != 0));
        }
        t->follows = true;
    }
}

static void text_end(struct vcodec_writer *t)
{
    if (t->types[--t->depth] != 0)
        vcodec_writer_put(t, ")", 1);
    t->follows = true;
}

static void text_end_ring(void *self)
{
    text_end(self);
}

static void text_end_geometry(void *self, enum vcodec_type type)
{
    (void)type;
    text_end(self);
}

enum h5vec_status vcodec_wkt_write(const uint8_t *wkb, size_t size, char *out, size_t capacity,
                                   size_t *length, struct h5vec_error *err)
{
    static const struct vcodec_visitor visitor = {
        .geometry = text_geometry,
        .ring = text_ring,
        .points = text_points,
        .end_ring = text_end_ring,
        .end_geometry = text_end_geometry,
    };
    struct vcodec_writer t = {.out = out, .capacity = capacity};
    enum h5vec_status status = vcodec_writer_walk(wkb, size, &visitor, &t, "WKT", err);
    if (!status)
        *length = t.length;
    return status;
}

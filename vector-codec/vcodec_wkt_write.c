/* SPDX-License-Identifier: BSD-3-Clause
 *
 * WKT out: a visitor of the WKB walk that writes text. "MULTIPOINT Z ((1 2 3),EMPTY)": a space before each
 * parenthesis that follows a word, none elsewhere.
 */
#include "vcodec_number.h"

struct text {
    char *out;
    size_t capacity;
    size_t length; /* of all text so far, also what did not fit */
    unsigned ordinates;
    bool follows;                        /* something stands before the next part in the same parentheses */
    unsigned depth;                      /* geometries that are open */
    uint8_t types[VCODEC_MAX_DEPTH + 2]; /* theirs */
    enum vcodec_type unsupported;        /* the first type met that is not written; 0: none */
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

static void put_word(struct text *t, const char *name)
{
    char upper[32];
    size_t n = 0;
    for (; name[n]; n++)
        upper[n] = (char)(name[n] >= 'a' ? name[n] - 'a' + 'A' : name[n]);
    put(t, upper, n);
}

static void separate(struct text *t)
{
    if (t->follows)
        put(t, ",", 1);
    t->follows = false;
}

static void text_geometry(void *self, enum vcodec_type type, enum vcodec_dim dim, uint32_t count)
{
    static const char *const tags[] = {"", " Z", " M", " ZM"};
    struct text *t = self;
    bool tagged = t->depth == 0 || t->types[t->depth - 1] == VCODEC_GEOMETRYCOLLECTION;
    if (type > VCODEC_GEOMETRYCOLLECTION && !t->unsupported)
        t->unsupported = type;
    separate(t);
    if (tagged) {
        put_word(t, vcodec_type_name(type));
        put_string(t, tags[dim]);
    }
    const char *open = count ? " (" : " EMPTY";
    put_string(t, tagged ? open : open + 1);
    t->ordinates = vcodec_ordinates(dim);
    t->types[t->depth++] = (uint8_t)(count ? type : 0);
}

static void text_ring(void *self, uint32_t count)
{
    struct text *t = self;
    separate(t);
    put_string(t, count ? "(" : "EMPTY");
    t->types[t->depth++] = (uint8_t)(count ? VCODEC_LINESTRING : 0);
}

static void text_points(void *self, const uint8_t *points, size_t n)
{
    struct text *t = self;
    for (; n > 0; n--) {
        separate(t);
        for (unsigned i = 0; i < t->ordinates; i++, points += sizeof(double)) {
            char number[1 + VCODEC_NUMBER_MAX] = " ";
            size_t length = vcodec_number_write(vcodec_load_double(points), number + 1);
            put(t, number + (i == 0), length + (i != 0));
        }
        t->follows = true;
    }
}

static void text_end(struct text *t)
{
    if (t->types[--t->depth] != 0)
        put(t, ")", 1);
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
    struct text t = {.out = out, .capacity = capacity};
    bool has_srid;
    int32_t srid;
    enum h5vec_status status = vcodec_wkb_walk(wkb, size, &visitor, &t, &has_srid, &srid, err);
    if (!status && t.unsupported)
        return h5vec_error_set(err, H5VEC_E_UNSUPPORTED, 0, "geometry type not supported as WKT: %s",
                               vcodec_type_name(t.unsupported));
    if (!status)
        *length = t.length;
    return status;
}

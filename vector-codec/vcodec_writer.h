/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text out of the WKB walk: what the writers of WKT and GeoJSON have in common. Internal to vector-codec/.
 */
#ifndef VCODEC_WRITER_H
#define VCODEC_WRITER_H

#include "vcodec_number.h"

/* The first member of a visitor's own state. */
struct vcodec_writer {
    char *out;
    size_t capacity;
    size_t length; /* of all text so far, also what did not fit */
    unsigned ordinates;
    bool follows;                        /* something stands before the next part in the same brackets */
    unsigned depth;                      /* geometries that are open */
    uint8_t types[VCODEC_MAX_DEPTH + 2]; /* theirs */
    enum vcodec_type unsupported;        /* the first type met that is not written; 0: none */
};

static inline void vcodec_writer_put(struct vcodec_writer *t, const char *text, size_t n)
{
    if (t->length < t->capacity) {
        size_t room = t->capacity - t->length;
        memcpy(t->out + t->length, text, n < room ? n : room);
    }
    t->length += n;
}

static inline void vcodec_writer_put_string(struct vcodec_writer *t, const char *text)
{
    vcodec_writer_put(t, text, strlen(text));
}

/* A geometry of this type begins: WKT and GeoJSON have no curves, and nothing that is made of them. */
static inline void vcodec_writer_note_type(struct vcodec_writer *t, enum vcodec_type type)
{
    if (type > VCODEC_GEOMETRYCOLLECTION && !t->unsupported)
        t->unsupported = type;
}

/* Walk with t as the visitor's state. A type that is not written in format (a name) is
 * H5VEC_E_UNSUPPORTED. */
static inline enum h5vec_status vcodec_writer_walk(const uint8_t *wkb, size_t size,
                                                   const struct vcodec_visitor *visitor,
                                                   struct vcodec_writer *t, const char *format,
                                                   struct h5vec_error *err)
{
    bool has_srid;
    int32_t srid;
    enum h5vec_status status = vcodec_wkb_walk(wkb, size, visitor, t, &has_srid, &srid, err);
    if (!status && t->unsupported)
        return h5vec_error_set(err, H5VEC_E_UNSUPPORTED, 0, "geometry type not supported as %s: %s", format,
                               vcodec_type_name(t->unsupported));
    return status;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * libdeflate at the level that stands for zlib's packs most data smaller than the inputs' filters did, and
 * some larger. While the balance is good it encodes everything; where it would become negative, zlib at the
 * inputs' level does.
 */
#include "keep.h"
#include "H5Zh5vec.h"

/* With the coordinate transform on one side only, sizes say nothing about encoders. */
static bool codec_changes(const struct merge *m, const struct item *it, const struct page_item *p)
{
    struct pipeline in;
    if (it->role != H5VEC_LAYER_ROLE_WKB)
        return false;
    bool out = h5vcat_pipeline_find(&p->storage.pipeline, H5Z_FILTER_H5VEC) >= 0;
    return h5vcat_pipeline_get(h5vcat_schema_plist(m->schema, it->dcpl), it->element, &in, NULL) ||
           (h5vcat_pipeline_find(&in, H5Z_FILTER_H5VEC) >= 0) != out;
}

enum h5vec_status h5vcat_keep_encode(const struct merge *m, struct keeper *k, struct page_item *p,
                                     const void *raw, uint64_t bytes, uint64_t used, void *to, size_t *size,
                                     struct h5vec_error *err)
{
    const struct item *it = &m->schema->items[p->item];
    enum h5vcat_encoder encoder = m->options->encoder;
    bool watched = m->options->compress == H5VCAT_COMPRESS_KEEP && encoder == H5VCAT_ENCODER_LIBDEFLATE &&
                   it->raw_seen > 0 && h5vcat_pipeline_find(&p->storage.pipeline, H5Z_FILTER_DEFLATE) >= 0 &&
                   !codec_changes(m, it, p);
    double expected = watched ? (double)used * (double)it->stored_seen / (double)it->raw_seen : 0;
    /* Encoding twice is for finding out: once two chunks in a row have told, only one in 16 is tried. */
    bool open = k->streak > -2 && k->streak < 2, attempt = open || ++k->skipped % 16 == 0;
    if (watched && k->balance < expected && (p->zlib_wins || (k->streak < 0 && !attempt)))
        encoder = H5VCAT_ENCODER_ZLIB;
    enum h5vec_status st =
        h5vcat_coder_encode(m->coder, &p->storage.pipeline, encoder, raw, (size_t)bytes, to, size, err);
    if (!st && watched && attempt && encoder == H5VCAT_ENCODER_LIBDEFLATE &&
        k->balance + expected < (double)*size) {
        size_t ours = *size;
        encoder = H5VCAT_ENCODER_ZLIB;
        st = h5vcat_coder_encode(m->coder, &p->storage.pipeline, encoder, raw, (size_t)bytes, to, size, err);
        p->zlib_wins = *size < ours;
        if (p->zlib_wins)
            k->streak = k->streak < 0 ? k->streak - 1 : -1;
        else
            k->streak = k->streak > 0 ? k->streak + 1 : 1;
        if (!st && !p->zlib_wins)
            st = h5vcat_coder_encode(m->coder, &p->storage.pipeline, H5VCAT_ENCODER_LIBDEFLATE, raw,
                                     (size_t)bytes, to, size, err);
    }
    if (watched)
        k->balance += expected - (double)*size;
    return st;
}

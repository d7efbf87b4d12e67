/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Deflate, shuffle, fletcher32 and the coordinate transform. The layout of shuffled bytes and the checksum
 * are HDF5's (File Format Specification, filter pipeline message; Fletcher, IEEE Trans. Comm. 30(1), 1982).
 */
#include "error.h"
#include "filters.h"
#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "H5Zh5vec.h"
#include "h5vec_layer.h"
#include "vcodec_transform.h"

#define LEVELS 13

struct coder {
    struct libdeflate_decompressor *inflater;
    struct libdeflate_compressor *deflaters[LEVELS]; /* made when first used */
    struct vcodec_transform *transform;              /* made when first used */
    z_stream zlib;
    int zlib_level; /* -1: zlib is not set up */
    char *scratch[2];
    size_t room[2];
};

/* ---- Pipelines --------------------------------------------------------------------------------------- */

enum h5vec_status h5vcat_pipeline_get(hid_t dcpl, size_t element, struct pipeline *p, struct h5vec_error *err)
{
    memset(p, 0, sizeof *p);
    if (H5Pget_layout(dcpl) != H5D_CHUNKED)
        return H5VEC_OK;
    int n = H5Pget_nfilters(dcpl);
    if (n < 0 || n > PIPELINE_MAX)
        return h5vec_layer_error_hdf5(err, "cannot read the filter pipeline");
    for (int i = 0; i < n; i++) {
        unsigned values[8] = {0}, flags = 0, config;
        size_t count = 8;
        H5Z_filter_t id = H5Pget_filter2(dcpl, (unsigned)i, &flags, &count, values, 0, NULL, &config);
        if (id < 0)
            return h5vec_layer_error_hdf5(err, "cannot read the filter pipeline");
        p->filter[i].id = id;
        p->filter[i].flags = flags;
        p->filter[i].value = count ? values[0] : 0;
        if (id == H5Z_FILTER_SHUFFLE)
            p->filter[i].value = (unsigned)element;
    }
    p->count = n;
    return H5VEC_OK;
}

bool h5vcat_pipeline_is_ours(const struct pipeline *p, H5Z_filter_t *foreign)
{
    int deflates = 0, transforms = 0;
    for (int i = 0; i < p->count; i++) {
        H5Z_filter_t id = p->filter[i].id;
        deflates += id == H5Z_FILTER_DEFLATE;
        transforms += id == H5Z_FILTER_H5VEC;
        if (deflates > 1 || transforms > 1 || (id == H5Z_FILTER_H5VEC && deflates > 0) ||
            (id != H5Z_FILTER_DEFLATE && id != H5Z_FILTER_SHUFFLE && id != H5Z_FILTER_FLETCHER32 &&
             id != H5Z_FILTER_H5VEC)) {
            *foreign = id;
            return false;
        }
    }
    return true;
}

bool h5vcat_pipeline_equal(const struct pipeline *a, const struct pipeline *b)
{
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++)
        if (a->filter[i].id != b->filter[i].id || a->filter[i].value != b->filter[i].value)
            return false;
    return true;
}

int h5vcat_pipeline_find(const struct pipeline *p, H5Z_filter_t id)
{
    for (int i = 0; i < p->count; i++)
        if (p->filter[i].id == id)
            return i;
    return -1;
}

const char *h5vcat_filter_name(H5Z_filter_t id, char name[32])
{
    static const struct {
        H5Z_filter_t id;
        const char *name;
    } known[] = {{H5Z_FILTER_DEFLATE, "deflate"},
                 {H5Z_FILTER_SHUFFLE, "shuffle"},
                 {H5Z_FILTER_FLETCHER32, "fletcher32"},
                 {H5Z_FILTER_SZIP, "szip"},
                 {H5Z_FILTER_NBIT, "nbit"},
                 {H5Z_FILTER_SCALEOFFSET, "scaleoffset"},
                 {H5Z_FILTER_H5VEC, "vector"},
                 {32000, "lzf"},
                 {32001, "blosc"},
                 {32004, "lz4"},
                 {32008, "bitshuffle"},
                 {32013, "zfp"},
                 {32015, "zstd"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].id == id)
            return known[i].name;
    snprintf(name, 32, "filter %d", (int)id);
    return name;
}

/* ---- The coder --------------------------------------------------------------------------------------- */

enum h5vec_status h5vcat_coder_new(struct coder **out, struct h5vec_error *err)
{
    struct coder *c = calloc(1, sizeof *c);
    if (c)
        c->inflater = libdeflate_alloc_decompressor();
    if (!c || !c->inflater) {
        free(c);
        return h5vcat_no_memory(err);
    }
    c->zlib_level = -1;
    *out = c;
    return H5VEC_OK;
}

void h5vcat_coder_free(struct coder *c)
{
    if (!c)
        return;
    libdeflate_free_decompressor(c->inflater);
    for (int i = 0; i < LEVELS; i++)
        libdeflate_free_compressor(c->deflaters[i]);
    if (c->zlib_level >= 0)
        deflateEnd(&c->zlib);
    vcodec_transform_free(c->transform);
    free(c->scratch[0]);
    free(c->scratch[1]);
    free(c);
}

/* Scratch buffer which with at least size bytes. */
static char *scratch(struct coder *c, int which, size_t size)
{
    if (c->room[which] < size) {
        free(c->scratch[which]);
        c->scratch[which] = malloc(size);
        c->room[which] = c->scratch[which] ? size : 0;
    }
    return c->scratch[which];
}

size_t h5vcat_coder_bound(const struct pipeline *p, size_t size)
{
    /* libdeflate 1.14's bound is below zlib's for tiny inputs: take the larger one. */
    for (int i = 0; i < p->count; i++) {
        if (p->filter[i].id == H5Z_FILTER_FLETCHER32)
            size += 4;
        else if (p->filter[i].id == H5Z_FILTER_H5VEC)
            size = vcodec_transform_bound(size);
        else if (p->filter[i].id == H5Z_FILTER_DEFLATE) {
            size_t ours = libdeflate_zlib_compress_bound(NULL, size), theirs = compressBound((uLong)size);
            size = ours > theirs ? ours : theirs;
        } else if (p->filter[i].id != H5Z_FILTER_SHUFFLE) { /* HDF5 does it (foreign.c): a generous guess */
            size += size / 2 + 4096;
        }
    }
    return size;
}

/* ---- Shuffle ----------------------------------------------------------------------------------------- */

#define TILE 1024 /* elements: a tile's input and output stay in the first-level cache */

static void shuffle(const uint8_t *in, uint8_t *out, size_t size, size_t element)
{
    size_t n = size / element;
    for (size_t tile = 0; tile < n; tile += TILE) {
        size_t end = tile + TILE < n ? tile + TILE : n;
        for (size_t j = 0; j < element; j++) {
            const uint8_t *from = in + j;
            uint8_t *to = out + j * n;
            for (size_t i = tile; i < end; i++)
                to[i] = from[i * element];
        }
    }
    memcpy(out + n * element, in + n * element, size - n * element);
}

static void unshuffle(const uint8_t *in, uint8_t *out, size_t size, size_t element)
{
    size_t n = size / element;
    for (size_t tile = 0; tile < n; tile += TILE) {
        size_t end = tile + TILE < n ? tile + TILE : n;
        for (size_t j = 0; j < element; j++) {
            const uint8_t *from = in + j * n;
            uint8_t *to = out + j;
            for (size_t i = tile; i < end; i++)
                to[i * element] = from[i];
        }
    }
    memcpy(out + n * element, in + n * element, size - n * element);
}

/* ---- Fletcher32 -------------------------------------------------------------------------------------- */

static uint32_t fold(uint32_t sum)
{
    return (sum & 0xffff) + (sum >> 16);
}

/* Over big-endian 16-bit words; an odd last byte is a word's high byte. */
static uint32_t fletcher32(const uint8_t *data, size_t size)
{
    uint32_t sum1 = 0, sum2 = 0;
    size_t words = size / 2;
    while (words > 0) {
        size_t run = words > 360 ? 360 : words; /* what 32 bits hold without a carry */
        words -= run;
        for (; run > 0; run--, data += 2) {
            sum1 += (uint32_t)data[0] << 8 | data[1];
            sum2 += sum1;
        }
        sum1 = fold(sum1);
        sum2 = fold(sum2);
    }
    if (size % 2) {
        sum1 = fold(sum1 + ((uint32_t)data[0] << 8));
        sum2 = fold(sum2 + sum1);
    }
    return fold(sum2) << 16 | fold(sum1);
}

static void put_le32(uint8_t *to, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(v >> 8 * i);
}

/* HDF5 before 1.6.3 swapped the bytes of each half on little-endian machines; its readers accept both. */
static bool checksum_matches(const uint8_t *stored, uint32_t sum)
{
    uint8_t now[4], old[4];
    put_le32(now, sum);
    put_le32(old, (sum & 0x00ff00ff) << 8 | (sum >> 8 & 0x00ff00ff));
    return memcmp(stored, now, 4) == 0 || memcmp(stored, old, 4) == 0;
}

size_t h5vcat_fletcher32_append(void *bytes, size_t size)
{
    put_le32((uint8_t *)bytes + size, fletcher32(bytes, size));
    return size + 4;
}

bool h5vcat_fletcher32_matches(const void *stored, size_t size)
{
    return size >= 4 && checksum_matches((const uint8_t *)stored + size - 4, fletcher32(stored, size - 4));
}

/* ---- Deflate ----------------------------------------------------------------------------------------- */

static enum h5vec_status deflate_zlib(struct coder *c, int level, const void *in, size_t size, void *out,
                                      size_t room, size_t *out_size, struct h5vec_error *err)
{
    if (c->zlib_level != level) {
        if (c->zlib_level >= 0)
            deflateEnd(&c->zlib);
        c->zlib_level = -1;
        memset(&c->zlib, 0, sizeof c->zlib);
        if (deflateInit(&c->zlib, level > 9 ? 9 : level) != Z_OK)
            return h5vcat_no_memory(err);
        c->zlib_level = level;
    }
    deflateReset(&c->zlib);
    c->zlib.next_in = (Bytef *)(uintptr_t)in;
    c->zlib.avail_in = (uInt)size;
    c->zlib.next_out = out;
    c->zlib.avail_out = (uInt)room;
    if (deflate(&c->zlib, Z_FINISH) != Z_STREAM_END)
        return h5vec_error_set(err, H5VEC_E_INTERNAL, 0, "zlib could not deflate a chunk");
    *out_size = room - c->zlib.avail_out;
    return H5VEC_OK;
}

static enum h5vec_status deflate_chunk(struct coder *c, enum h5vcat_encoder encoder, int level,
                                       const void *in, size_t size, void *out, size_t *out_size,
                                       struct h5vec_error *err)
{
    size_t ours = libdeflate_zlib_compress_bound(NULL, size), theirs = compressBound((uLong)size);
    size_t room = ours > theirs ? ours : theirs;
    if (encoder == H5VCAT_ENCODER_ZLIB)
        return deflate_zlib(c, level, in, size, out, room, out_size, err);
    if (!c->deflaters[level])
        c->deflaters[level] = libdeflate_alloc_compressor(level);
    if (!c->deflaters[level])
        return h5vcat_no_memory(err);
    *out_size = libdeflate_zlib_compress(c->deflaters[level], in, size, out, room);
    if (*out_size == 0)
        return h5vec_error_set(err, H5VEC_E_INTERNAL, 0, "libdeflate could not deflate a chunk");
    return H5VEC_OK;
}

/* What HDF5's filter reads is read: bytes after the stream are ignored, a longer stream is cut. The stream
 * holds out_size bytes, or, if actual is not NULL, *actual bytes, at most out_size. */
static enum h5vec_status inflate_zlib(const void *in, size_t size, void *out, size_t out_size, size_t *actual,
                                      struct h5vec_error *err)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)in, .avail_in = (uInt)size};
    if (inflateInit(&z) != Z_OK)
        return h5vcat_no_memory(err);
    z.next_out = out;
    z.avail_out = (uInt)out_size;
    int code = inflate(&z, Z_FINISH);
    size_t left = z.avail_out;
    const char *why = z.msg;
    inflateEnd(&z);
    if (code == Z_STREAM_END && actual)
        *actual = out_size - left;
    if (code == Z_STREAM_END && (left == 0 || actual))
        return H5VEC_OK;
    if (code == Z_STREAM_END)
        return h5vec_error_set(err, H5VEC_E_DATA, 0, "the deflate stream holds %zu bytes, %zu were expected",
                               out_size - left, out_size);
    if (code == Z_BUF_ERROR && left == 0)
        return h5vec_error_set(err, H5VEC_E_DATA, 0, "the deflate stream holds more than %zu bytes",
                               out_size);
    if (code == Z_BUF_ERROR)
        return h5vec_error_set(err, H5VEC_E_DATA, 0, "the deflate stream is cut off");
    return h5vec_error_set(err, H5VEC_E_DATA, 0, "the deflate stream is damaged (%s)",
                           why ? why : zError(code));
}

static enum h5vec_status inflate_chunk(struct coder *c, const void *in, size_t size, void *out,
                                       size_t out_size, size_t *actual, struct h5vec_error *err)
{
    size_t used;
    if (libdeflate_zlib_decompress_ex(c->inflater, in, size, out, out_size, &used, actual) ==
        LIBDEFLATE_SUCCESS)
        return H5VEC_OK;
    return inflate_zlib(in, size, out, out_size, actual, err);
}

/* ---- The coordinate transform ------------------------------------------------------------------------ */

static enum h5vec_status transform_ready(struct coder *c, struct h5vec_error *err)
{
    return c->transform ? H5VEC_OK : vcodec_transform_new(&c->transform, err);
}

static enum h5vec_status restore_chunk(struct coder *c, const void *in, size_t size, void *out,
                                       size_t out_size, struct h5vec_error *err)
{
    enum h5vec_status st = transform_ready(c, err);
    if (!st)
        st = vcodec_transform_decode(c->transform, in, size, out, out_size, err);
    if (!st || st == H5VEC_E_NOMEM)
        return st;
    if (err)
        err->status = H5VEC_E_DATA; /* its message says what is wrong with the bytes */
    return H5VEC_E_DATA;
}

/* ---- A chunk ----------------------------------------------------------------------------------------- */

static enum h5vec_status encode_one(struct coder *c, const struct pipeline *p, enum h5vcat_encoder encoder,
                                    int i, const void *in, size_t size, void *out, size_t *out_size,
                                    struct h5vec_error *err)
{
    switch (p->filter[i].id) {
    case H5Z_FILTER_SHUFFLE:
        shuffle(in, out, size, p->filter[i].value);
        *out_size = size;
        return H5VEC_OK;
    case H5Z_FILTER_FLETCHER32:
        memcpy(out, in, size);
        *out_size = h5vcat_fletcher32_append(out, size);
        return H5VEC_OK;
    case H5Z_FILTER_H5VEC: {
        enum h5vec_status st = transform_ready(c, err);
        return st ? st : vcodec_transform_encode(c->transform, in, size, out, out_size, err);
    }
    default:
        return deflate_chunk(c, encoder, encoder == H5VCAT_ENCODER_ZLIB ? (int)p->filter[i].value : p->level,
                             in, size, out, out_size, err);
    }
}

enum h5vec_status h5vcat_coder_encode(struct coder *c, const struct pipeline *p, enum h5vcat_encoder encoder,
                                      const void *raw, size_t size, void *out, size_t *out_size,
                                      struct h5vec_error *err)
{
    const void *in = raw;
    size_t in_size = size, bound = h5vcat_coder_bound(p, size);
    for (int i = 0; i < p->count; i++) {
        void *to = i == p->count - 1 ? out : scratch(c, i % 2, bound);
        if (!to)
            return h5vcat_no_memory(err);
        enum h5vec_status st = encode_one(c, p, encoder, i, in, in_size, to, &in_size, err);
        if (st)
            return st;
        in = to;
    }
    if (p->count == 0)
        memcpy(out, raw, size);
    *out_size = in_size;
    return H5VEC_OK;
}

/* What undoing filter i of a chunk yields, in bytes: known from raw_size up to deflate, and from the size of
 * the input behind it, where only a checksum changes it. Behind the coordinate transform it is known (*exact)
 * only where deflate does not come between: else it is the most that there can be. */
static size_t size_before(const struct pipeline *p, unsigned mask, int i, size_t raw_size, size_t size,
                          bool *exact)
{
    int deflate = h5vcat_pipeline_find(p, H5Z_FILTER_DEFLATE);
    *exact = true;
    if (deflate >= 0 && deflate < i && !(mask >> deflate & 1))
        return p->filter[i].id == H5Z_FILTER_FLETCHER32 && size >= 4 ? size - 4 : size;
    for (int k = 0; k < i; k++) {
        if (mask >> k & 1)
            continue;
        if (p->filter[k].id == H5Z_FILTER_FLETCHER32) {
            raw_size += 4;
        } else if (p->filter[k].id == H5Z_FILTER_H5VEC) {
            raw_size = vcodec_transform_bound(raw_size);
            *exact = false;
        }
    }
    return raw_size;
}

/* Undo filter i: in of *size bytes to out, which has room bytes, all of which are the result if exact; *size
 * becomes the size of the result. */
static enum h5vec_status decode_one(struct coder *c, const struct pipeline *p, int i, const uint8_t *in,
                                    size_t *size, void *out, size_t room, bool exact, struct h5vec_error *err)
{
    size_t n = *size;
    if (p->filter[i].id == H5Z_FILTER_DEFLATE) {
        *size = room;
        return inflate_chunk(c, in, n, out, room, exact ? NULL : size, err);
    }
    if (p->filter[i].id == H5Z_FILTER_H5VEC) {
        *size = room;
        return restore_chunk(c, in, n, out, room, err);
    }
    if (p->filter[i].id == H5Z_FILTER_FLETCHER32) {
        if (n < 4)
            return h5vec_error_set(err, H5VEC_E_DATA, 0, "stored in %zu bytes, too few for a checksum", n);
        if (!h5vcat_fletcher32_matches(in, n))
            return h5vec_error_set(err, H5VEC_E_DATA, 0, "the fletcher32 checksum does not match");
        n -= 4;
    }
    if (exact ? n != room : n > room)
        return h5vec_error_set(err, H5VEC_E_DATA, 0, "holds %zu bytes, %zu were expected", n, room);
    if (p->filter[i].id == H5Z_FILTER_SHUFFLE)
        unshuffle(in, out, n, p->filter[i].value);
    else
        memcpy(out, in, n);
    *size = n;
    return H5VEC_OK;
}

enum h5vec_status h5vcat_coder_decode(struct coder *c, const struct pipeline *p, unsigned mask,
                                      const void *stored, size_t stored_size, void *raw, size_t raw_size,
                                      struct h5vec_error *err)
{
    int first = 0; /* the filter that is undone last */
    while (first < p->count && mask >> first & 1)
        first++;
    const void *in = stored;
    size_t size = stored_size;
    for (int i = p->count - 1; i >= first; i--) {
        if (mask >> i & 1)
            continue;
        bool exact;
        size_t room = size_before(p, mask, i, raw_size, size, &exact);
        void *to = i == first ? raw : scratch(c, i % 2, room);
        if (!to)
            return h5vcat_no_memory(err);
        enum h5vec_status st = decode_one(c, p, i, in, &size, to, room, exact, err);
        if (st)
            return st;
        in = to;
    }
    if (first < p->count)
        return H5VEC_OK;
    if (size != raw_size)
        return h5vec_error_set(err, H5VEC_E_DATA, 0, "holds %zu bytes, %zu were expected", size, raw_size);
    memcpy(raw, stored, raw_size);
    return H5VEC_OK;
}

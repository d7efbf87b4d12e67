/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Decoding. The planes become words again, as a whole; then one walk over the heads and counts writes the
 * WKB, each run's values where they belong; escaped values are put over it last. Every stream has a cursor
 * that is checked before it moves, and nothing is written beyond the section's end.
 */
#include "vcodec_transform_internal.h"

/* An ordinate's words and how far they are used up. */
struct values {
    const void *starts, *rest; /* uint32_t of 32-bit decimals, else uint64_t */
    uint64_t start, rest_at;
    uint64_t before; /* the start before, if they are differences */
    double scale;
};

struct decoder {
    struct vcodec_transform *t;
    const uint8_t *in;
    struct vcodec_form form;
    const uint8_t *sections, *kept, *heads, *members, *counts, *rest, *starts, *escapes; /* the streams */
    const uint32_t *member_words, *count_words;
    uint64_t head, member, count, kept_at; /* cursors */
    struct values values[VCODEC_ORDINATES];
    uint8_t *out;
    size_t at;
    const char *wrong;
};

static bool fail(struct decoder *d, const char *what)
{
    d->wrong = what;
    return false;
}

/* ---- Streams ----------------------------------------------------------------------------------------- */

static void lay_out(struct decoder *d)
{
    const struct vcodec_form *f = &d->form;
    d->sections = d->in + VCODEC_FORM_HEADER;
    d->kept = d->sections + f->sections * VCODEC_SECTION_BYTES;
    d->heads = d->kept + f->kept;
    d->members = d->heads + f->heads;
    d->counts = d->members + 4 * f->members;
    d->rest = d->counts + 4 * f->counts;
    d->starts = d->rest;
    for (int j = 0; j < VCODEC_ORDINATES; j++)
        d->starts += f->ordinate[j].rest * f->ordinate[j].rest_width;
    d->escapes = d->starts;
    for (int j = 0; j < VCODEC_ORDINATES; j++)
        d->escapes += f->ordinate[j].starts * f->ordinate[j].start_width;
}

static bool unpack_counts(struct decoder *d)
{
    struct vcodec_transform *t = d->t;
    size_t members = (size_t)d->form.members, counts = (size_t)d->form.counts;
    if (!vcodec_reserve(&t->members, 4 * members) || !vcodec_reserve(&t->counts, 4 * counts))
        return false;
    vcodec_words32(d->members, members, 4, t->members.data);
    vcodec_words32(d->counts, counts, 4, t->counts.data);
    d->member_words = t->members.data;
    d->count_words = t->counts.data;
    return true;
}

/* n words of an ordinate of this kind from planes to b. */
static bool unpack_words(struct vcodec_buffer *b, const uint8_t *planes, size_t n, unsigned kind,
                         unsigned width)
{
    if (!vcodec_reserve(b, n * vcodec_word_bytes(kind)))
        return false;
    if (n > 0 && kind == VCODEC_KIND_DECIMAL32)
        vcodec_words32(planes, n, width, b->data);
    else if (n > 0)
        vcodec_words64(planes, n, width, b->data);
    return true;
}

static bool unpack_rest(struct decoder *d)
{
    const uint8_t *from = d->rest;
    for (int j = 0; j < VCODEC_ORDINATES; j++) {
        const struct vcodec_ordinate *o = &d->form.ordinate[j];
        size_t n = (size_t)o->rest;
        if (!unpack_words(&d->t->rest[j], from, n, o->kind, o->rest_width))
            return false;
        d->values[j].rest = d->t->rest[j].data;
        d->values[j].scale = vcodec_scale(o->decimals);
        from += n * o->rest_width;
    }
    return true;
}

static bool unpack_starts(struct decoder *d)
{
    const uint8_t *from = d->starts;
    size_t pairs = d->form.paired ? (size_t)d->form.ordinate[0].starts * d->form.ordinate[0].start_width : 0;
    if (pairs) {
        if (!vcodec_reserve(&d->t->words, 2 * pairs))
            return false;
        vcodec_unpair(from, pairs, d->t->words.data, (uint8_t *)d->t->words.data + pairs);
    }
    for (int j = 0; j < VCODEC_ORDINATES; j++) {
        const struct vcodec_ordinate *o = &d->form.ordinate[j];
        size_t n = (size_t)o->starts;
        const uint8_t *planes = pairs && j < 2 ? (uint8_t *)d->t->words.data + (size_t)j * pairs : from;
        if (!unpack_words(&d->t->starts[j], planes, n, o->kind, o->start_width))
            return false;
        d->values[j].starts = d->t->starts[j].data;
        from += n * o->start_width;
    }
    return true;
}

/* ---- Runs -------------------------------------------------------------------------------------------- */

static inline uint64_t decimal32(uint32_t k, double scale)
{
    return vcodec_as_bits((double)(int32_t)k / scale);
}

static inline uint64_t decimal64(uint64_t k, double scale)
{
    return vcodec_as_bits((vcodec_as_double(k + VCODEC_MAGIC_BITS) - VCODEC_MAGIC) / scale);
}

/* The start at i. */
static inline uint32_t take_start32(struct values *v, bool delta, uint64_t i)
{
    uint32_t k = ((const uint32_t *)v->starts)[i];
    if (delta)
        v->before = k = (uint32_t)v->before + vcodec_unzigzag32(k);
    return k;
}

static inline uint64_t take_start64(struct values *v, bool delta, uint64_t i)
{
    uint64_t k = ((const uint64_t *)v->starts)[i];
    if (delta)
        v->before = k = v->before + vcodec_unzigzag64(k);
    return k;
}

static inline uint64_t value64(uint64_t k, bool decimal, double scale)
{
    return decimal ? decimal64(k, scale) : vcodec_restore_sign(k);
}

/* A run: a start and n other values. */
static void put_decimals32(struct values *v, bool delta, uint64_t n, uint8_t *to, size_t stride)
{
    const uint32_t *rest = (const uint32_t *)v->rest + v->rest_at;
    uint32_t k = take_start32(v, delta, v->start);
    double scale = v->scale;
    vcodec_store64(to, decimal32(k, scale));
    for (uint64_t i = 0; i < n; i++) {
        to += stride;
        k += vcodec_unzigzag32(rest[i]);
        vcodec_store64(to, decimal32(k, scale));
    }
}

static void put_words64(struct values *v, bool delta, bool decimal, uint64_t n, uint8_t *to, size_t stride)
{
    const uint64_t *rest = (const uint64_t *)v->rest + v->rest_at;
    uint64_t k = take_start64(v, delta, v->start);
    double scale = v->scale;
    vcodec_store64(to, value64(k, decimal, scale));
    for (uint64_t i = 0; i < n; i++) {
        to += stride;
        k += vcodec_unzigzag64(rest[i]);
        vcodec_store64(to, value64(k, decimal, scale));
    }
}

/* Write n > 0 points of an ordinate. */
static bool put_values(struct decoder *d, unsigned j, uint64_t n, uint8_t *to, size_t stride)
{
    const struct vcodec_ordinate *o = &d->form.ordinate[j];
    struct values *v = &d->values[j];
    if (v->start == o->starts || n - 1 > o->rest - v->rest_at)
        return fail(d, "fewer values than its counts say");
    if (o->kind == VCODEC_KIND_DECIMAL32)
        put_decimals32(v, o->delta, n - 1, to, stride);
    else if (o->kind == VCODEC_KIND_DECIMAL64)
        put_words64(v, o->delta, true, n - 1, to, stride);
    else
        put_words64(v, o->delta, false, n - 1, to, stride);
    v->start++;
    v->rest_at += n - 1;
    return true;
}

/* n runs of one point each, stride bytes apart. */
static bool put_starts(struct decoder *d, unsigned j, uint64_t n, uint8_t *to, size_t stride)
{
    const struct vcodec_ordinate *o = &d->form.ordinate[j];
    struct values *v = &d->values[j];
    if (n > o->starts - v->start)
        return fail(d, "fewer values than its counts say");
    uint64_t end = v->start + n;
    double scale = v->scale;
    if (o->kind == VCODEC_KIND_DECIMAL32)
        for (uint64_t i = v->start; i < end; i++, to += stride)
            vcodec_store64(to, decimal32(take_start32(v, o->delta, i), scale));
    else
        for (uint64_t i = v->start; i < end; i++, to += stride)
            vcodec_store64(to,
                           value64(take_start64(v, o->delta, i), o->kind == VCODEC_KIND_DECIMAL64, scale));
    v->start = end;
    return true;
}

/* Write a run of `points` points, which fit. ring: a whole ring. */
static bool put_run(struct decoder *d, uint64_t points, bool ring, unsigned dim)
{
    unsigned ordinates = vcodec_ordinates((enum vcodec_dim)dim);
    size_t stride = ordinates * sizeof(double);
    bool closes = ring && d->form.closed && points >= 2;
    uint8_t *to = d->out + d->at;
    if (points == 0)
        return true;
    for (unsigned k = 0; k < ordinates; k++)
        if (!put_values(d, vcodec_ordinate_index(dim, k), points - closes, to + 8 * (size_t)k, stride))
            return false;
    if (closes)
        memcpy(to + (size_t)(points - 1) * stride, to, stride);
    d->at += (size_t)points * stride;
    return true;
}

/* ---- The walk ---------------------------------------------------------------------------------------- */

/* The count and points of a line or ring; *cut: the section ends before the points do. */
static bool put_points(struct decoder *d, size_t end, bool ring, unsigned dim, bool *cut)
{
    if (d->count == d->form.counts || end - d->at < 4)
        return fail(d, "a count is missing, or has no room");
    uint32_t count = d->count_words[d->count++];
    vcodec_store32(d->out + d->at, count);
    d->at += 4;
    size_t fit = (end - d->at) / (vcodec_ordinates((enum vcodec_dim)dim) * sizeof(double));
    *cut = count > fit;
    return put_run(d, *cut ? fit : count, ring && !*cut, dim);
}

/* All the points that have the next head, one after the other; at least one has room. */
static bool put_point_row(struct decoder *d, size_t end, unsigned dim)
{
    unsigned ordinates = vcodec_ordinates((enum vcodec_dim)dim);
    size_t stride = 5 + ordinates * sizeof(double), fit = (end - d->at) / stride, n = 0;
    uint64_t left = d->form.heads - d->head;
    const uint8_t *heads = d->heads + d->head;
    uint8_t *to = d->out + d->at;
    for (; n < fit && n < left && heads[n] == heads[0]; n++) {
        to[n * stride] = 1;
        vcodec_store32(to + n * stride + 1, dim * 1000 + VCODEC_POINT);
    }
    for (unsigned k = 0; k < ordinates; k++)
        if (!put_starts(d, vcodec_ordinate_index(dim, k), n, to + 5 + 8 * (size_t)k, stride))
            return false;
    d->head += n;
    d->at += n * stride;
    return true;
}

/* A geometry's head and own points, or a row of points; *rings: rings to come. */
static bool put_geometry(struct decoder *d, size_t end, uint64_t *rings, unsigned *dim, bool *cut)
{
    if (d->head == d->form.heads || end - d->at < 9)
        return fail(d, "a geometry is missing, or has no room");
    unsigned head = d->heads[d->head], type = head & 7;
    *dim = head >> 3;
    if (*dim > VCODEC_XYZM || type == 0)
        return fail(d, "an unknown geometry type");
    if (type == VCODEC_POINT) {
        if (end - d->at < 5 + vcodec_ordinates((enum vcodec_dim) * dim) * sizeof(double))
            return fail(d, "a point has no room");
        return put_point_row(d, end, *dim);
    }
    d->head++;
    d->out[d->at] = 1;
    vcodec_store32(d->out + d->at + 1, *dim * 1000 + type);
    d->at += 5;
    if (type == VCODEC_LINESTRING)
        return put_points(d, end, false, *dim, cut);
    if (d->member == d->form.members)
        return fail(d, "a count is missing");
    uint32_t members = d->member_words[d->member++];
    vcodec_store32(d->out + d->at, members);
    d->at += 4;
    *rings = type == VCODEC_POLYGON ? members : 0;
    return true;
}

static bool put_section(struct decoder *d, const uint8_t *section)
{
    uint64_t kept = vcodec_load64(section), dim64 = vcodec_load64(section + 8),
             points = vcodec_load64(section + 16), rings = vcodec_load64(section + 24),
             length = vcodec_load64(section + 32), left = d->form.raw_size - d->at;
    unsigned dim = (unsigned)dim64;
    if (dim64 > VCODEC_XYZM || kept > left || length > left - kept || kept > d->form.kept - d->kept_at)
        return fail(d, "a section that does not fit");
    if (points > length / (vcodec_ordinates((enum vcodec_dim)dim) * sizeof(double)))
        return fail(d, "a run that does not fit");
    if (kept)
        memcpy(d->out + d->at, d->kept + d->kept_at, (size_t)kept);
    d->kept_at += kept;
    d->at += (size_t)kept;
    size_t end = d->at + (size_t)length;
    bool cut = false;
    if (!put_run(d, points, false, dim))
        return false;
    while (d->at < end && !cut) {
        bool ok;
        if (rings > 0) {
            ok = put_points(d, end, true, dim, &cut);
            rings--;
        } else {
            ok = put_geometry(d, end, &rings, &dim, &cut);
        }
        if (!ok)
            return false;
    }
    return d->at == end || fail(d, "a run is cut within a section");
}

static bool put_escapes(struct decoder *d)
{
    const uint8_t *from = d->escapes;
    for (int j = 0; j < VCODEC_ORDINATES; j++) {
        size_t n = (size_t)d->form.ordinate[j].escapes;
        uint64_t place = 0;
        for (size_t i = 0; i < n; i++) {
            uint64_t distance, bits;
            uint8_t bytes[2][8];
            for (size_t w = 0; w < 8; w++) {
                bytes[0][w] = from[w * n + i];
                bytes[1][w] = from[(8 + w) * n + i];
            }
            distance = vcodec_load64(bytes[0]);
            bits = vcodec_load64(bytes[1]);
            if (distance > d->form.raw_size || place + distance > d->form.raw_size - 8 ||
                d->form.raw_size < 8)
                return fail(d, "an escaped value lies outside");
            place += distance;
            vcodec_store64(d->out + place, bits);
        }
        from += 16 * n;
    }
    return true;
}

static bool all_used(const struct decoder *d)
{
    bool all = d->at == d->form.raw_size && d->kept_at == d->form.kept && d->head == d->form.heads &&
               d->member == d->form.members && d->count == d->form.counts;
    for (int j = 0; j < VCODEC_ORDINATES; j++)
        all = all && d->values[j].start == d->form.ordinate[j].starts &&
              d->values[j].rest_at == d->form.ordinate[j].rest;
    return all;
}

static bool decode_coded(struct decoder *d)
{
    for (uint64_t i = 0; i < d->form.sections; i++)
        if (!put_section(d, d->sections + i * VCODEC_SECTION_BYTES))
            return false;
    return (all_used(d) || fail(d, "its streams hold more than its sections take")) && put_escapes(d);
}

enum h5vec_status vcodec_transform_decode(struct vcodec_transform *t, const uint8_t *encoded, size_t size,
                                          uint8_t *out, size_t raw_size, struct h5vec_error *err)
{
    struct decoder d = {.t = t, .in = encoded, .out = out};
    enum h5vec_status status = vcodec_form_read(encoded, size, &d.form, err);
    if (status)
        return status;
    if (d.form.raw_size != raw_size)
        return h5vec_error_set(err, H5VEC_E_TRANSFORM, 8, "holds %llu bytes, %zu were expected",
                               (unsigned long long)d.form.raw_size, raw_size);
    if (!d.form.coded) {
        if (raw_size)
            memcpy(out, encoded + VCODEC_PLAIN_HEADER, raw_size);
        return H5VEC_OK;
    }
    lay_out(&d);
    if (!unpack_counts(&d) || !unpack_rest(&d) || !unpack_starts(&d))
        return vcodec_transform_no_memory(err);
    if (!decode_coded(&d))
        return h5vec_error_set(err, H5VEC_E_TRANSFORM, d.at, "not what the coordinate transform writes: %s",
                               d.wrong);
    return H5VEC_OK;
}

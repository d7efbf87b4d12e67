/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Encoding: the scan says where the points are, their values become integers, and these are written as byte
 * planes, all but the first of each run as differences to the value before. First values stand apart because
 * they jump: among the differences they would put noise into planes that are zero without them.
 */
#include "vcodec_transform_internal.h"

#define STARTS_SAMPLE 256 /* starts of each of four places that decide about differences */

/* Closed rings lose their last points. */
static void drop_last_points(struct vcodec_encoder *e)
{
    const struct vcodec_run *runs = e->t->runs.data;
    for (size_t i = 0; i < e->t->run_count && e->form.closed; i++)
        for (unsigned k = 0; runs[i].ring && k < vcodec_ordinates((enum vcodec_dim)runs[i].dim); k++)
            e->form.ordinate[vcodec_ordinate_index(runs[i].dim, k)].rest--;
}

/* ---- Words ------------------------------------------------------------------------------------------- */

/* Words of an ordinate's rest: zigzag of the difference to the value before, in 4 or 8 bytes each. Returns
 * the or of all. */
static uint64_t rest_words32(const struct vcodec_encoder *e, unsigned j, uint32_t *words)
{
    const uint64_t *v = vcodec_rest_of(e, j), *starts = vcodec_starts_of(e, j);
    size_t n = (size_t)e->form.ordinate[j].rest, at = 0;
    for (size_t i = 1; i < n; i++)
        words[i] = vcodec_zigzag32((uint32_t)v[i] - (uint32_t)v[i - 1]);
    const struct vcodec_run *runs = e->t->runs.data;
    for (size_t i = 0; i < e->t->run_count; i++) {
        if (vcodec_ordinate_place(runs[i].dim, j) < 0)
            continue;
        size_t points = (size_t)vcodec_stored_points(e, &runs[i]);
        if (points > 1)
            words[at] = vcodec_zigzag32((uint32_t)v[at] - (uint32_t)*starts);
        at += points - 1;
        starts++;
    }
    uint32_t any = 0;
    for (size_t i = 0; i < n; i++)
        any |= words[i];
    return any;
}

static uint64_t rest_words64(const struct vcodec_encoder *e, unsigned j, uint64_t *words)
{
    const uint64_t *v = vcodec_rest_of(e, j), *starts = vcodec_starts_of(e, j);
    size_t n = (size_t)e->form.ordinate[j].rest, at = 0;
    for (size_t i = 1; i < n; i++)
        words[i] = vcodec_zigzag64(v[i] - v[i - 1]);
    const struct vcodec_run *runs = e->t->runs.data;
    for (size_t i = 0; i < e->t->run_count; i++) {
        if (vcodec_ordinate_place(runs[i].dim, j) < 0)
            continue;
        size_t points = (size_t)vcodec_stored_points(e, &runs[i]);
        if (points > 1)
            words[at] = vcodec_zigzag64(v[at] - *starts);
        at += points - 1;
        starts++;
    }
    uint64_t any = 0;
    for (size_t i = 0; i < n; i++)
        any |= words[i];
    return any;
}

static uint8_t width_of(uint64_t any)
{
    uint8_t width = 1;
    while (width < 8 && any >> 8 * width)
        width++;
    return width;
}

/* log2(n) in 64ths. */
static unsigned log2_64(uint64_t n)
{
    unsigned whole = 63 - (unsigned)__builtin_clzll(n | 1);
    uint64_t fraction = whole >= 6 ? n >> (whole - 6) : n << (6 - whole);
    return 64 * whole + (unsigned)(fraction & 63);
}

/* About the bits that a sample of starts takes in planes of bytes: by the chance that two bytes of a plane
 * are equal. In 64ths of a bit per start. */
static unsigned starts_cost(const uint64_t *v, size_t n, const struct vcodec_ordinate *o, bool delta)
{
    size_t part = (n - 1) / 4, m = part < STARTS_SAMPLE ? part : STARTS_SAMPLE;
    bool narrow = o->kind == VCODEC_KIND_DECIMAL32;
    unsigned cost = 0;
    for (unsigned w = 0; w < (narrow ? 4u : 8u); w++) {
        uint16_t histogram[256] = {0};
        uint64_t squares = 0;
        for (size_t p = 0; p < 4; p++)
            for (size_t i = 1 + p * part; i < 1 + p * part + m; i++) {
                uint64_t z = vcodec_zigzag64(v[i] - v[i - 1]);
                histogram[(delta ? z : v[i]) >> 8 * w & 0xff]++;
            }
        for (int b = 0; b < 256; b++)
            squares += (uint64_t)histogram[b] * histogram[b];
        cost += 2 * log2_64(4 * m) - log2_64(squares);
    }
    return cost;
}

/* Make words of the starts of ordinate j in place: themselves, or zigzags of differences where that is
 * smaller. */
static void start_words(struct vcodec_encoder *e, unsigned j)
{
    struct vcodec_ordinate *o = &e->form.ordinate[j];
    uint64_t *v = vcodec_starts_of(e, j), any = 0;
    size_t n = (size_t)o->starts;
    o->delta = n >= 64 && starts_cost(v, n, o, true) < starts_cost(v, n, o, false);
    uint64_t mask = o->kind == VCODEC_KIND_DECIMAL32 ? UINT32_MAX : UINT64_MAX, before = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t k = v[i];
        uint64_t narrow = vcodec_zigzag32((uint32_t)(k - before)), wide = vcodec_zigzag64(k - before);
        v[i] = !o->delta ? k & mask : mask == UINT32_MAX ? narrow : wide;
        before = k;
        any |= v[i];
    }
    o->start_width = width_of(any);
}

/* ---- Writing ----------------------------------------------------------------------------------------- */

/* Room for n elements of `bytes` bytes, or NULL and full. */
static uint8_t *take(struct vcodec_encoder *e, uint64_t n, unsigned bytes)
{
    if (e->full || n > (e->room - e->at) / bytes) {
        e->full = true;
        return NULL;
    }
    uint8_t *p = e->out + e->at;
    e->at += (size_t)n * bytes;
    return p;
}

static void write_structure(struct vcodec_encoder *e)
{
    const struct vcodec_form *f = &e->form;
    const struct vcodec_section *sections = e->t->sections.data;
    uint8_t *to = take(e, f->sections, VCODEC_SECTION_BYTES);
    for (size_t i = 0; to && i < f->sections; i++) {
        const uint64_t fields[] = {sections[i].kept, sections[i].dim, sections[i].points, sections[i].rings,
                                   sections[i].length};
        for (size_t k = 0; k < 5; k++, to += 8)
            vcodec_store64(to, fields[k]);
    }
    size_t from = 0;
    for (size_t i = 0; i < f->sections; i++) {
        uint8_t *kept = take(e, sections[i].kept, 1);
        if (kept)
            memcpy(kept, e->raw + from, (size_t)sections[i].kept);
        from += (size_t)(sections[i].kept + sections[i].length);
    }
    uint8_t *heads = take(e, f->heads, 1), *members = take(e, f->members, 4), *counts = take(e, f->counts, 4);
    if (!counts)
        return;
    if (f->heads)
        memcpy(heads, e->t->heads.data, (size_t)f->heads);
    vcodec_planes32(e->t->members.data, (size_t)f->members, 4, members);
    vcodec_planes32(e->t->counts.data, (size_t)f->counts, 4, counts);
}

static void start_planes(const struct vcodec_encoder *e, unsigned j, uint8_t *planes)
{
    const struct vcodec_ordinate *o = &e->form.ordinate[j];
    vcodec_planes64(vcodec_starts_of(e, j), (size_t)o->starts, o->start_width, planes);
}

/* Planes of x's and y's starts that alternate byte by byte, by way of t->words. */
static bool write_pairs(struct vcodec_encoder *e)
{
    const struct vcodec_ordinate *x = &e->form.ordinate[0];
    size_t bytes = (size_t)x->starts * x->start_width;
    uint8_t *to = take(e, 2 * x->starts, x->start_width);
    if (!to)
        return true;
    if (!vcodec_reserve(&e->t->words, 2 * bytes))
        return false;
    uint8_t *planes = e->t->words.data;
    start_planes(e, 0, planes);
    start_planes(e, 1, planes + bytes);
    vcodec_pair(planes, planes + bytes, bytes, to);
    return true;
}

static bool write_starts(struct vcodec_encoder *e)
{
    struct vcodec_ordinate *o = e->form.ordinate;
    for (unsigned j = 0; j < VCODEC_ORDINATES; j++)
        if (o[j].starts)
            start_words(e, j);
    e->form.paired = o[0].starts > 0 && vcodec_word_bytes(o[0].kind) == vcodec_word_bytes(o[1].kind);
    if (e->form.paired) {
        o[0].start_width = o[0].start_width > o[1].start_width ? o[0].start_width : o[1].start_width;
        o[1].start_width = o[0].start_width;
        if (!write_pairs(e))
            return false;
    }
    for (unsigned j = e->form.paired ? 2 : 0; j < VCODEC_ORDINATES; j++) {
        uint8_t *to = o[j].starts ? take(e, o[j].starts, o[j].start_width) : NULL;
        if (to)
            start_planes(e, j, to);
    }
    return true;
}

static bool write_rest(struct vcodec_encoder *e, unsigned j)
{
    struct vcodec_ordinate *o = &e->form.ordinate[j];
    size_t n = (size_t)o->rest;
    if (n == 0)
        return true;
    if (!vcodec_reserve(&e->t->words, n * vcodec_word_bytes(o->kind)))
        return false;
    bool narrow = o->kind == VCODEC_KIND_DECIMAL32;
    void *words = e->t->words.data;
    o->rest_width = width_of(narrow ? rest_words32(e, j, words) : rest_words64(e, j, words));
    uint8_t *to = take(e, n, o->rest_width);
    if (to && narrow)
        vcodec_planes32(words, n, o->rest_width, to);
    else if (to)
        vcodec_planes64(words, n, o->rest_width, to);
    return true;
}

/* Per ordinate: planes of the distances between escapes' places, planes of their bits. */
static bool write_escapes(struct vcodec_encoder *e)
{
    const struct vcodec_escape *escape = e->t->escapes.data;
    if (e->escapes == 0)
        return true;
    for (unsigned j = 0; j < VCODEC_ORDINATES; j++) {
        size_t n = (size_t)e->form.ordinate[j].escapes;
        uint8_t *places = n ? take(e, n, 8) : NULL, *bits = n ? take(e, n, 8) : NULL;
        if (!bits)
            continue;
        if (!vcodec_reserve(&e->t->words, 16 * n))
            return false;
        uint64_t *word = e->t->words.data, before = 0;
        for (size_t i = 0; i < n; i++) {
            word[i] = escape[i].at - before;
            word[n + i] = escape[i].bits;
            before = escape[i].at;
        }
        vcodec_planes64(word, n, 8, places);
        vcodec_planes64(word + n, n, 8, bits);
        escape += n;
    }
    return true;
}

/* False: no memory. e->full: not worth it. The rest comes before the starts, which its differences need as
 * they are. */
static bool write_coded(struct vcodec_encoder *e)
{
    bool ok = true;
    e->at = VCODEC_FORM_HEADER;
    e->full = e->at > e->room;
    write_structure(e);
    for (unsigned j = 0; j < VCODEC_ORDINATES && ok && !e->full; j++)
        ok = e->form.ordinate[j].starts == 0 || (vcodec_convert(e, j) && write_rest(e, j));
    if (ok && !e->full)
        ok = write_starts(e) && write_escapes(e);
    if (ok && !e->full)
        vcodec_form_write(&e->form, e->out);
    return ok;
}

enum h5vec_status vcodec_transform_encode(struct vcodec_transform *t, const uint8_t *raw, size_t size,
                                          uint8_t *out, size_t *out_size, struct h5vec_error *err)
{
    struct vcodec_encoder e = {.t = t,
                               .raw = raw,
                               .form = {.coded = true, .raw_size = size},
                               .out = out,
                               .room = vcodec_transform_bound(size)};
    if (!vcodec_scan(t, raw, size, &e.form))
        return vcodec_transform_no_memory(err);
    if (e.form.ordinate[0].starts == 0) {
        e.full = true;
    } else {
        drop_last_points(&e);
        if (!write_coded(&e))
            return vcodec_transform_no_memory(err);
    }
    if (e.full) {
        vcodec_form_write(&(struct vcodec_form){.raw_size = size}, out);
        if (size)
            memcpy(out + VCODEC_PLAIN_HEADER, raw, size);
        e.at = vcodec_transform_bound(size);
    }
    *out_size = e.at;
    return H5VEC_OK;
}

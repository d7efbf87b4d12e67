/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Encoding. The scan says where the points are. Each ordinate is gathered into two arrays, the runs' first
 * values and all others, turned into integers as a whole (loops over arrays, for the compiler to vectorise),
 * and written as byte planes: others as differences to the value before. First values stand apart because
 * they jump: among the differences they would put noise into planes that are zero without them.
 */
#include "vcodec_transform_internal.h"

#define SAMPLE 128        /* values of each array that decide about the scale */
#define BLOCK 256         /* values converted between two looks at whether all fitted */
#define STARTS_SAMPLE 256 /* starts of each of four places that decide about differences */

struct encoder {
    struct vcodec_transform *t;
    const uint8_t *raw;
    struct vcodec_form form;
    uint8_t *out;
    size_t at, room;
    bool full;      /* does not fit: the plain form is as small */
    size_t escapes; /* of the ordinates so far */
};

static uint64_t *starts_of(const struct encoder *e, unsigned j)
{
    return e->t->starts[j].data;
}

static uint64_t *rest_of(const struct encoder *e, unsigned j)
{
    return e->t->rest[j].data;
}

/* ---- Gathering --------------------------------------------------------------------------------------- */

static uint64_t stored_points(const struct encoder *e, const struct vcodec_run *run)
{
    return run->points - (run->ring && e->form.closed);
}

/* Closed rings lose their last points. */
static void drop_last_points(struct encoder *e)
{
    const struct vcodec_run *runs = e->t->runs.data;
    for (size_t i = 0; i < e->t->run_count && e->form.closed; i++)
        for (unsigned k = 0; runs[i].ring && k < vcodec_ordinates((enum vcodec_dim)runs[i].dim); k++)
            e->form.ordinate[vcodec_ordinate_index(runs[i].dim, k)].rest--;
}

static void gather(const struct encoder *e, unsigned j)
{
    uint64_t *starts = starts_of(e, j), *rest = rest_of(e, j);
    const struct vcodec_run *runs = e->t->runs.data;
    for (size_t i = 0; i < e->t->run_count; i++) {
        int place = vcodec_ordinate_place(runs[i].dim, j);
        if (place < 0)
            continue;
        size_t stride = vcodec_ordinates((enum vcodec_dim)runs[i].dim) * sizeof(double);
        size_t n = (size_t)stored_points(e, &runs[i]);
        const uint8_t *from = e->raw + runs[i].offset + 8 * (size_t)place;
        *starts++ = vcodec_load64(from);
        if (stride == 16)
            for (size_t k = 1; k < n; k++)
                rest[k - 1] = vcodec_load64(from + 16 * k);
        else
            for (size_t k = 1; k < n; k++)
                rest[k - 1] = vcodec_load64(from + stride * k);
        rest += n - 1;
    }
}

/* ---- Decimals ---------------------------------------------------------------------------------------- */

/* round(x * scale) if it is an integer below 2^51 that divided by scale gives back x; *bad's bits tell. */
static inline uint64_t to_integer(uint64_t bits, double scale, uint64_t *bad)
{
    double shifted = vcodec_as_double(bits) * scale + VCODEC_MAGIC;
    uint64_t k = vcodec_as_bits(shifted) - VCODEC_MAGIC_BITS;
    uint64_t back = vcodec_as_bits((shifted - VCODEC_MAGIC) / scale);
    *bad = (back ^ bits) | (k + (UINT64_C(1) << 51)) >> 52;
    return k;
}

static unsigned fitting(const uint64_t *sample, unsigned n, unsigned decimals)
{
    double scale = vcodec_scale(decimals);
    unsigned fit = 0;
    for (unsigned i = 0; i < n; i++) {
        uint64_t bad;
        to_integer(sample[i], scale, &bad);
        fit += bad == 0;
    }
    return fit;
}

static unsigned take_sample(const uint64_t *values, uint64_t n, uint64_t *sample)
{
    uint64_t step = n / SAMPLE + 1, taken = 0;
    for (uint64_t i = 0; i < n; i += step)
        sample[taken++] = values[i];
    return (unsigned)taken;
}

/* Decimals that most of a sample have, or -1. */
static int find_decimals(const struct encoder *e, unsigned j)
{
    uint64_t sample[2 * SAMPLE];
    const struct vcodec_ordinate *o = &e->form.ordinate[j];
    unsigned n = take_sample(starts_of(e, j), o->starts, sample), best = 0;
    n += take_sample(rest_of(e, j), o->rest, sample + n);
    int decimals = -1;
    for (unsigned d = 0; d <= VCODEC_MAX_DECIMALS && best < n; d++) {
        unsigned fit = fitting(sample, n, d);
        if (fit > best) {
            best = fit;
            decimals = (int)d;
        }
    }
    return 4 * best >= 3 * n ? decimals : -1;
}

/* Note value i, which does not fit, and take the one before for it: a difference of 0. */
static bool escape(struct encoder *e, uint64_t *values, size_t i, size_t most)
{
    struct vcodec_buffer *b = &e->t->escapes;
    size_t need = (e->escapes + 1) * sizeof(struct vcodec_escape);
    if (e->escapes >= most || (need > b->room && !vcodec_reserve(b, need + need / 2 + 4096)))
        return false;
    ((struct vcodec_escape *)b->data)[e->escapes++] = (struct vcodec_escape){i, values[i]};
    values[i] = i ? values[i - 1] : 0;
    return true;
}

/* Turn values into integers; `wide` collects bits that are set if some need more than 32. False if more than
 * `most` escapes would be needed. */
static bool to_integers(struct encoder *e, uint64_t *values, size_t n, double scale, size_t most,
                        uint64_t *wide)
{
    for (size_t begin = 0; begin < n; begin += BLOCK) {
        size_t m = n - begin < BLOCK ? n - begin : BLOCK;
        uint64_t integers[BLOCK], any = 0, range = 0, bad;
        uint64_t *block = values + begin;
        for (size_t i = 0; i < m; i++) {
            integers[i] = to_integer(block[i], scale, &bad);
            any |= bad;
            range |= (integers[i] + (UINT64_C(1) << 31)) >> 32;
        }
        for (size_t i = 0; any && i < m; i++) {
            integers[i] = to_integer(block[i], scale, &bad);
            if (!bad)
                block[i] = integers[i];
            else if (!escape(e, values, begin + i, most))
                return false;
            integers[i] = block[i];
        }
        memcpy(block, integers, m * sizeof *block);
        if (any) {
            range = 0;
            for (size_t i = 0; i < m; i++)
                range |= (block[i] + (UINT64_C(1) << 31)) >> 32;
        }
        *wide |= range;
    }
    return true;
}

static void to_moved_bits(uint64_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = vcodec_move_sign(values[i]);
}

/* An escape's index, in the ordinate's starts or rest, becomes its place in the raw bytes. A dropped last
 * point of a ring whose first is escaped is escaped as well. */
static bool locate_escapes(struct encoder *e, unsigned j, size_t first, size_t of_starts)
{
    struct vcodec_ordinate *o = &e->form.ordinate[j];
    size_t n = e->escapes - first;
    if (n == 0)
        return true;
    if (!vcodec_reserve(&e->t->escapes, (e->escapes + n + of_starts) * sizeof(struct vcodec_escape)))
        return false;
    struct vcodec_escape *list = e->t->escapes.data, *to = list + e->escapes;
    const struct vcodec_escape *s = list + first, *s_end = s + of_starts, *r = s_end,
                               *r_end = list + e->escapes;
    const struct vcodec_run *runs = e->t->runs.data;
    uint64_t start = 0, rest = 0;
    for (size_t i = 0; i < e->t->run_count; i++) {
        int place = vcodec_ordinate_place(runs[i].dim, j);
        if (place < 0)
            continue;
        uint64_t stride = vcodec_ordinates((enum vcodec_dim)runs[i].dim) * sizeof(double);
        uint64_t at = runs[i].offset + 8 * (uint64_t)place, n_rest = stored_points(e, &runs[i]) - 1;
        bool dropped = runs[i].ring && e->form.closed, escaped = s < s_end && s->at == start;
        uint64_t bits = escaped ? s->bits : 0;
        if (escaped) {
            *to++ = (struct vcodec_escape){at, bits};
            s++;
        }
        for (; r < r_end && r->at < rest + n_rest; r++)
            *to++ = (struct vcodec_escape){at + (r->at - rest + 1) * stride, r->bits};
        if (escaped && dropped)
            *to++ = (struct vcodec_escape){at + (n_rest + 1) * stride, bits};
        start++;
        rest += n_rest;
    }
    size_t located = (size_t)(to - (list + e->escapes));
    memmove(list + first, list + e->escapes, located * sizeof *list);
    e->escapes = first + located;
    o->escapes = located;
    return true;
}

/* Gather ordinate j and make integers of it, by decimals if it has them, else of its bits. */
static bool convert(struct encoder *e, unsigned j)
{
    struct vcodec_ordinate *o = &e->form.ordinate[j];
    size_t starts = (size_t)o->starts, rest = (size_t)o->rest, first = e->escapes;
    if (!vcodec_reserve(&e->t->starts[j], starts * 8) || !vcodec_reserve(&e->t->rest[j], rest * 8))
        return false;
    gather(e, j);
    int decimals = find_decimals(e, j);
    size_t most = first + (starts + rest) / 4;
    uint64_t wide = 0;
    if (decimals >= 0 &&
        to_integers(e, starts_of(e, j), starts, vcodec_scale((unsigned)decimals), most, &wide)) {
        size_t of_starts = e->escapes - first;
        if (to_integers(e, rest_of(e, j), rest, vcodec_scale((unsigned)decimals), most, &wide)) {
            o->kind = wide ? VCODEC_KIND_DECIMAL64 : VCODEC_KIND_DECIMAL32;
            o->decimals = (uint8_t)decimals;
            return locate_escapes(e, j, first, of_starts);
        }
    }
    if (decimals >= 0) {
        e->escapes = first;
        gather(e, j);
    }
    o->kind = VCODEC_KIND_BITS;
    to_moved_bits(starts_of(e, j), starts);
    to_moved_bits(rest_of(e, j), rest);
    return true;
}

/* ---- Words ------------------------------------------------------------------------------------------- */

/* Words of an ordinate's rest: zigzag of the difference to the value before, in 4 or 8 bytes each. Returns
 * the or of all. */
static uint64_t rest_words32(const struct encoder *e, unsigned j, uint32_t *words)
{
    const uint64_t *v = rest_of(e, j), *starts = starts_of(e, j);
    size_t n = (size_t)e->form.ordinate[j].rest, at = 0;
    for (size_t i = 1; i < n; i++)
        words[i] = vcodec_zigzag32((uint32_t)v[i] - (uint32_t)v[i - 1]);
    const struct vcodec_run *runs = e->t->runs.data;
    for (size_t i = 0; i < e->t->run_count; i++) {
        if (vcodec_ordinate_place(runs[i].dim, j) < 0)
            continue;
        size_t points = (size_t)stored_points(e, &runs[i]);
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

static uint64_t rest_words64(const struct encoder *e, unsigned j, uint64_t *words)
{
    const uint64_t *v = rest_of(e, j), *starts = starts_of(e, j);
    size_t n = (size_t)e->form.ordinate[j].rest, at = 0;
    for (size_t i = 1; i < n; i++)
        words[i] = vcodec_zigzag64(v[i] - v[i - 1]);
    const struct vcodec_run *runs = e->t->runs.data;
    for (size_t i = 0; i < e->t->run_count; i++) {
        if (vcodec_ordinate_place(runs[i].dim, j) < 0)
            continue;
        size_t points = (size_t)stored_points(e, &runs[i]);
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
static void start_words(struct encoder *e, unsigned j)
{
    struct vcodec_ordinate *o = &e->form.ordinate[j];
    uint64_t *v = starts_of(e, j), any = 0;
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
static uint8_t *take(struct encoder *e, uint64_t n, unsigned bytes)
{
    if (e->full || n > (e->room - e->at) / bytes) {
        e->full = true;
        return NULL;
    }
    uint8_t *p = e->out + e->at;
    e->at += (size_t)n * bytes;
    return p;
}

static void write_structure(struct encoder *e)
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

static void start_planes(const struct encoder *e, unsigned j, uint8_t *planes)
{
    const struct vcodec_ordinate *o = &e->form.ordinate[j];
    vcodec_planes64(starts_of(e, j), (size_t)o->starts, o->start_width, planes);
}

/* Planes of x's and y's starts that alternate byte by byte, by way of t->words. */
static bool write_pairs(struct encoder *e)
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

static bool write_starts(struct encoder *e)
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

static bool write_rest(struct encoder *e, unsigned j)
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
static bool write_escapes(struct encoder *e)
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
static bool write_coded(struct encoder *e)
{
    bool ok = true;
    e->at = VCODEC_FORM_HEADER;
    e->full = e->at > e->room;
    write_structure(e);
    for (unsigned j = 0; j < VCODEC_ORDINATES && ok && !e->full; j++)
        ok = e->form.ordinate[j].starts == 0 || (convert(e, j) && write_rest(e, j));
    if (ok && !e->full)
        ok = write_starts(e) && write_escapes(e);
    if (ok && !e->full)
        vcodec_form_write(&e->form, e->out);
    return ok;
}

enum h5vec_status vcodec_transform_encode(struct vcodec_transform *t, const uint8_t *raw, size_t size,
                                          uint8_t *out, size_t *out_size, struct h5vec_error *err)
{
    struct encoder e = {.t = t,
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

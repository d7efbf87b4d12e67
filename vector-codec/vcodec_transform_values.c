/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An ordinate's values as integers. They are gathered into two arrays, the runs' first values and all others,
 * and converted there, so that the loops run over arrays. Every integer is tried backwards: only one that
 * gives back the same bits is taken.
 */
#include "vcodec_transform_internal.h"

#include <float.h>

#define SAMPLE 128 /* values of each array that decide about the scale */
#define BLOCK 256  /* values converted between two looks at whether all fitted */

_Static_assert(FLT_EVAL_METHOD == 0,
               "doubles are computed as doubles: products and quotients are rounded once");

/* ---- Gathering --------------------------------------------------------------------------------------- */

static void gather(const struct vcodec_encoder *e, unsigned j)
{
    uint64_t *starts = vcodec_starts_of(e, j), *rest = vcodec_rest_of(e, j);
    const struct vcodec_run *runs = e->t->runs.data;
    for (size_t i = 0; i < e->t->run_count; i++) {
        int place = vcodec_ordinate_place(runs[i].dim, j);
        if (place < 0)
            continue;
        size_t stride = vcodec_ordinates((enum vcodec_dim)runs[i].dim) * sizeof(double);
        size_t n = (size_t)vcodec_stored_points(e, &runs[i]);
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
static int find_decimals(const struct vcodec_encoder *e, unsigned j)
{
    uint64_t sample[2 * SAMPLE];
    const struct vcodec_ordinate *o = &e->form.ordinate[j];
    unsigned n = take_sample(vcodec_starts_of(e, j), o->starts, sample), best = 0;
    n += take_sample(vcodec_rest_of(e, j), o->rest, sample + n);
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
static bool escape(struct vcodec_encoder *e, uint64_t *values, size_t i, size_t most)
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
static bool to_integers(struct vcodec_encoder *e, uint64_t *values, size_t n, double scale, size_t most,
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
static bool locate_escapes(struct vcodec_encoder *e, unsigned j, size_t first, size_t of_starts)
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
        uint64_t at = runs[i].offset + 8 * (uint64_t)place, n_rest = vcodec_stored_points(e, &runs[i]) - 1;
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

bool vcodec_convert(struct vcodec_encoder *e, unsigned j)
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
        to_integers(e, vcodec_starts_of(e, j), starts, vcodec_scale((unsigned)decimals), most, &wide)) {
        size_t of_starts = e->escapes - first;
        if (to_integers(e, vcodec_rest_of(e, j), rest, vcodec_scale((unsigned)decimals), most, &wide)) {
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
    to_moved_bits(vcodec_starts_of(e, j), starts);
    to_moved_bits(vcodec_rest_of(e, j), rest);
    return true;
}

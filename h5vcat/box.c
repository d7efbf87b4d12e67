/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Copies between row-major arrays that cover boxes of one index space. Trailing dimensions in which both
 * arrays and the copied box have the same extent are folded into one run, so that whole rows are one memcpy.
 */
#include "box.h"
#include <string.h>
#define XXH_INLINE_ALL /* the state on the stack, and faster for short pieces */
#include <xxhash.h>

hsize_t h5vcat_box_volume(const struct box *b)
{
    hsize_t n = 1;
    for (int d = 0; d < b->rank; d++)
        n *= b->count[d];
    return n;
}

bool h5vcat_box_intersect(const struct box *a, const struct box *b, struct box *out)
{
    out->rank = a->rank;
    for (int d = 0; d < a->rank; d++) {
        hsize_t lo = a->start[d] > b->start[d] ? a->start[d] : b->start[d];
        hsize_t enda = a->start[d] + a->count[d], endb = b->start[d] + b->count[d];
        hsize_t hi = enda < endb ? enda : endb;
        if (lo >= hi)
            return false;
        out->start[d] = lo;
        out->count[d] = hi - lo;
    }
    return true;
}

/* Position of index in the array that covers b, in elements. */
static hsize_t position(const struct box *b, const hsize_t *index)
{
    hsize_t at = 0;
    for (int d = 0; d < b->rank; d++)
        at = at * b->count[d] + (index[d] - b->start[d]);
    return at;
}

/* Step index to the next row of box b, where dimensions from fold on belong to one run; false after the last.
 */
static bool next_run(const struct box *b, int fold, hsize_t *index)
{
    for (int d = fold - 1; d >= 0; d--) {
        if (++index[d] < b->start[d] + b->count[d])
            return true;
        index[d] = b->start[d];
    }
    return false;
}

void h5vcat_box_copy(const struct box *what, size_t size, const void *from, const struct box *from_box,
                     void *to, const struct box *to_box)
{
    int fold = what->rank; /* dimensions fold .. rank - 1 are contiguous in both arrays */
    hsize_t run = 1;
    while (fold > 0) {
        run *= what->count[--fold];
        if (what->count[fold] != from_box->count[fold] || what->count[fold] != to_box->count[fold])
            break;
    }
    hsize_t index[H5S_MAX_RANK];
    memcpy(index, what->start, sizeof index);
    do {
        const char *source = (const char *)from + position(from_box, index) * size;
        memcpy((char *)to + position(to_box, index) * size, source, run * size);
    } while (next_run(what, fold, index));
}

uint64_t h5vcat_box_hash(const struct box *what, size_t size, const void *array, const struct box *array_box,
                         uint64_t seed)
{
    XXH64_state_t state;
    hsize_t index[H5S_MAX_RANK], run = 1;
    int fold = what->rank;
    while (fold > 0) {
        run *= what->count[--fold];
        if (what->count[fold] != array_box->count[fold])
            break;
    }
    memcpy(index, what->start, sizeof index);
    XXH64_reset(&state, seed);
    do
        XXH64_update(&state, (const char *)array + position(array_box, index) * size, run * size);
    while (next_run(what, fold, index));
    return XXH64_digest(&state);
}

void h5vcat_fill_elements(void *to, size_t n, size_t size, const void *value)
{
    if (!value) {
        memset(to, 0, n * size);
        return;
    }
    char *p = to;
    size_t total = n * size, done = total < size ? total : size;
    memcpy(p, value, done);
    while (done < total) { /* double what is there */
        size_t step = done < total - done ? done : total - done;
        memcpy(p + done, p, step);
        done += step;
    }
}

void h5vcat_box_fill_outside(const struct box *keep, size_t size, const void *value, void *to,
                             const struct box *to_box)
{
    /* Peel off one dimension after the other: what lies before and after keep in dimension d, with the
     * dimensions before d already cut down to keep. */
    struct box rest = *to_box;
    for (int d = 0; d < to_box->rank; d++) {
        struct box side = rest;
        hsize_t end = rest.start[d] + rest.count[d], keep_end = keep->start[d] + keep->count[d];
        for (int after = 0; after < 2; after++) {
            side.start[d] = after ? keep_end : rest.start[d];
            side.count[d] = after ? end - keep_end : keep->start[d] - rest.start[d];
            if (h5vcat_box_volume(&side) == 0)
                continue;
            hsize_t index[H5S_MAX_RANK];
            memcpy(index, side.start, sizeof index);
            hsize_t run = side.count[side.rank - 1];
            do {
                h5vcat_fill_elements((char *)to + position(to_box, index) * size, run, size, value);
            } while (next_run(&side, side.rank - 1, index));
        }
        rest.start[d] = keep->start[d];
        rest.count[d] = keep->count[d];
    }
}

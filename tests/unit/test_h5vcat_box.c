/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Boxes against loops over every element.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "box.h"
#include "suite.h"

#define MAX_RANK 5

static uint32_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

/* A random box inside outer (all of it where whole). */
static struct box inside(const struct box *outer, uint32_t whole)
{
    struct box b = *outer;
    for (int d = 0; d < b.rank; d++) {
        if (draw(100) < whole)
            continue;
        hsize_t from = draw((uint32_t)b.count[d]);
        b.start[d] += from;
        b.count[d] = 1 + draw((uint32_t)(b.count[d] - from));
    }
    return b;
}

static struct box random_box(int rank)
{
    struct box b = {.rank = rank};
    for (int d = 0; d < rank; d++) {
        b.start[d] = draw(7);
        b.count[d] = 1 + draw(6);
    }
    return b;
}

/* Element index of the i-th element of box b. */
static void index_of(const struct box *b, hsize_t i, hsize_t *index)
{
    for (int d = b->rank - 1; d >= 0; d--) {
        index[d] = b->start[d] + i % b->count[d];
        i /= b->count[d];
    }
}

static hsize_t position(const struct box *b, const hsize_t *index)
{
    hsize_t at = 0;
    for (int d = 0; d < b->rank; d++)
        at = at * b->count[d] + index[d] - b->start[d];
    return at;
}

static int contains(const struct box *b, const hsize_t *index)
{
    for (int d = 0; d < b->rank; d++)
        if (index[d] < b->start[d] || index[d] >= b->start[d] + b->count[d])
            return 0;
    return 1;
}

START_TEST(copy_moves_exactly_the_box)
{
    seed = (uint32_t)_i;
    int rank = 1 + (int)draw(MAX_RANK);
    size_t size = 1 + draw(9);
    struct box what = random_box(rank), from = what, to = what;
    for (int d = 0; d < rank; d++) { /* arrays that contain it, the same or larger */
        hsize_t before = draw(3) ? 0 : draw((uint32_t)what.start[d] + 1), after = draw(3) ? 0 : draw(4);
        from.start[d] -= before;
        from.count[d] += before + after;
        before = draw(3) ? 0 : draw((uint32_t)what.start[d] + 1);
        to.start[d] -= before;
        to.count[d] += before + (draw(3) ? 0 : draw(4));
    }
    size_t nf = h5vcat_box_volume(&from) * size, nt = h5vcat_box_volume(&to) * size;
    unsigned char *f = malloc(nf), *t = malloc(nt), *expected = malloc(nt);
    for (size_t i = 0; i < nf; i++)
        f[i] = (unsigned char)draw(256);
    memset(t, 0xEE, nt);
    memset(expected, 0xEE, nt);
    for (hsize_t i = 0; i < h5vcat_box_volume(&what); i++) {
        hsize_t index[H5S_MAX_RANK] = {0};
        index_of(&what, i, index);
        memcpy(expected + position(&to, index) * size, f + position(&from, index) * size, size);
    }
    h5vcat_box_copy(&what, size, f, &from, t, &to);
    ck_assert_mem_eq(t, expected, nt);
    ck_assert_uint_eq(h5vcat_box_hash(&what, size, f, &from, 7), h5vcat_box_hash(&what, size, t, &to, 7));
    free(f);
    free(t);
    free(expected);
}
END_TEST

START_TEST(fill_touches_only_the_outside)
{
    seed = (uint32_t)_i + 5000;
    size_t size = 1 + draw(9);
    struct box to = random_box(1 + (int)draw(MAX_RANK)), keep = inside(&to, 40);
    size_t n = h5vcat_box_volume(&to) * size;
    unsigned char *t = malloc(n), value[10];
    for (size_t i = 0; i < size; i++)
        value[i] = (unsigned char)(i + 1);
    memset(t, 0xEE, n);
    const void *fill = draw(2) ? value : NULL;
    h5vcat_box_fill_outside(&keep, size, fill, t, &to);
    for (hsize_t i = 0; i < h5vcat_box_volume(&to); i++) {
        hsize_t index[H5S_MAX_RANK] = {0};
        index_of(&to, i, index);
        for (size_t b = 0; b < size; b++) {
            int wanted = contains(&keep, index) ? 0xEE : fill ? value[b] : 0;
            ck_assert_int_eq(t[i * size + b], wanted);
        }
    }
    free(t);
}
END_TEST

START_TEST(intersection_is_what_both_contain)
{
    seed = (uint32_t)_i + 9000;
    int rank = 1 + (int)draw(3);
    struct box a = random_box(rank), b = random_box(rank), both = {0};
    int any = h5vcat_box_intersect(&a, &b, &both);
    hsize_t count = 0;
    for (hsize_t i = 0; i < h5vcat_box_volume(&a); i++) {
        hsize_t index[H5S_MAX_RANK] = {0};
        index_of(&a, i, index);
        count += (hsize_t)contains(&b, index);
        ck_assert_int_eq(contains(&b, index), any && contains(&both, index));
    }
    ck_assert_uint_eq(count, any ? h5vcat_box_volume(&both) : 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("h5vcat_box");
    TCase *t = tcase_create("against loops");
    tcase_add_loop_test(t, copy_moves_exactly_the_box, 0, 500);
    tcase_add_loop_test(t, fill_touches_only_the_outside, 0, 300);
    tcase_add_loop_test(t, intersection_is_what_both_contain, 0, 300);
    suite_add_tcase(s, t);
    return run_suite(s);
}

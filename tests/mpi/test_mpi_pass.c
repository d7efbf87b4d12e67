/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Torn records are passed to the rank before: every rank has a share of one string, in which some places end
 * a record; what each rank has in the end must be what the string says.
 */
#include "mpi_test.h"

#include <stdlib.h>
#include <string.h>
#include "pass.h"

#define LENGTH 500

static char text[LENGTH];
static size_t cut[LENGTH + 1]; /* where each rank's share begins */

static uint32_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

/* Records of random length, at times longer than several shares; shares of random length, some empty. */
static void make(uint32_t longest)
{
    for (size_t i = 0; i < LENGTH; i++)
        text[i] = (char)(draw(longest) == 0 ? '\n' : 'a' + (int)draw(26));
    for (int r = 1; r < ranks; r++)
        cut[r] = draw(4) ? draw(LENGTH + 1) : cut[r - 1];
    cut[0] = 0;
    cut[ranks] = LENGTH;
    for (int r = 1; r < ranks; r++) /* in order */
        for (int s = r; s > 1 && cut[s] < cut[s - 1]; s--) {
            size_t swap = cut[s];
            cut[s] = cut[s - 1];
            cut[s - 1] = swap;
        }
}

/* Behind the first newline at or behind a place; the text's end if there is none. */
static size_t record_end(size_t at)
{
    const char *newline = memchr(text + at, '\n', LENGTH - at);
    return newline ? (size_t)(newline - text) + 1 : LENGTH;
}

static void pass(size_t limit, size_t most)
{
    struct h5vec_error err = {0};
    size_t lo = cut[rank], hi = cut[rank + 1], end = rank ? record_end(lo) : 0;
    struct torn t = {.gives = rank > 0, .takes = rank + 1 < ranks, .most = most};
    t.open = rank > 0 && rank + 1 < ranks && (end > hi || lo == hi || text[end - 1] != '\n');
    if (rank > 0) {
        size_t stop = end < hi ? end : hi;
        ck_assert_int_eq(h5vcat_pass_append(&t, text + lo, stop - lo, &err), H5VEC_OK);
    }
    bool owns = rank == 0 || !t.open;
    ck_assert_int_eq(h5vcat_pass_torn(MPI_COMM_WORLD, &t, limit, &err), H5VEC_OK);
    size_t want = owns && rank + 1 < ranks ? record_end(hi) - hi : 0;
    want = want < most ? want : most;
    ck_assert_uint_eq(t.tail_size, want);
    ck_assert_int_eq(want ? memcmp(t.tail, text + hi, want) : 0, 0);
    h5vcat_pass_free(&t);
}

START_TEST(tails_are_what_the_text_says)
{
    static const uint32_t longest[] = {2, 20, 200, 100000};
    static const size_t limits[] = {9, 40, LENGTH};
    seed = (uint32_t)_i;
    make(longest[_i % 4]);
    pass(limits[_i % 3], _i % 5 ? LENGTH : 10);
}
END_TEST

START_TEST(nobody_passes_anything)
{
    struct torn t = {.most = 10};
    struct h5vec_error err = {0};
    ck_assert_int_eq(h5vcat_pass_torn(MPI_COMM_WORLD, &t, 1, &err), H5VEC_OK);
    ck_assert_uint_eq(t.tail_size, 0);
    h5vcat_pass_free(&t);
}
END_TEST

int main(int argc, char **argv)
{
    begin_mpi(&argc, &argv);
    Suite *s = suite_create("mpi_pass");
    TCase *t = tcase_create("torn records");
    tcase_add_loop_test(t, tails_are_what_the_text_says, 0, 60);
    tcase_add_test(t, nobody_passes_anything);
    suite_add_tcase(s, t);
    return run_mpi_suite(s);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Streams of a spool against plain arrays, in memory, in a file, and moving from one to the other.
 */
#include <stdlib.h>
#include <string.h>
#include "spool.h"
#include "suite.h"

#define STREAMS 3
#define ROOM 60000

static uint32_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

static const size_t limits[] = {0, 1, 1000, 20000, (size_t)1 << 30};

START_TEST(what_was_appended_is_read)
{
    struct spool *s = NULL;
    struct h5vec_error err;
    unsigned char *copy[STREAMS], *back = malloc(ROOM);
    size_t length[STREAMS] = {0};
    int stream[STREAMS];
    seed = (uint32_t)_i;
    ck_assert_int_eq(h5vcat_spool_new(".", limits[_i % 5], &s, &err), H5VEC_OK);
    for (int i = 0; i < STREAMS; i++) {
        copy[i] = malloc(ROOM);
        ck_assert_int_eq(h5vcat_spool_stream(s, &stream[i], &err), H5VEC_OK);
    }
    for (int step = 0; step < 300; step++) {
        int i = (int)draw(STREAMS);
        size_t n = draw(200);
        for (size_t k = 0; k < n; k++)
            copy[i][length[i] + k] = (unsigned char)draw(256);
        ck_assert_int_eq(h5vcat_spool_append(s, stream[i], copy[i] + length[i], n, &err), H5VEC_OK);
        length[i] += n;
        ck_assert_uint_eq(h5vcat_spool_length(s, stream[i]), length[i]);
        i = (int)draw(STREAMS);
        size_t from = draw((uint32_t)length[i] + 1), size = draw((uint32_t)(length[i] - from) + 1);
        ck_assert_int_eq(h5vcat_spool_read(s, stream[i], from, back, size, &err), H5VEC_OK);
        ck_assert_mem_eq(back, copy[i] + from, size);
    }
    ck_assert_int_eq(h5vcat_spool_read(s, stream[0], length[0], back, 1, &err), H5VEC_E_INTERNAL);
    ck_assert_int_eq(h5vcat_spool_read(s, stream[0], UINT64_MAX, back, 2, &err), H5VEC_E_INTERNAL);
    for (int i = 0; i < STREAMS; i++)
        free(copy[i]);
    free(back);
    h5vcat_spool_free(s);
}
END_TEST

START_TEST(a_directory_that_is_missing_is_named)
{
    struct spool *s = NULL;
    struct h5vec_error err;
    int stream;
    ck_assert_int_eq(h5vcat_spool_new("/nonexistent/directory", 0, &s, &err), H5VEC_OK);
    ck_assert_int_eq(h5vcat_spool_stream(s, &stream, &err), H5VEC_OK);
    ck_assert_int_eq(h5vcat_spool_append(s, stream, "x", 1, &err), H5VEC_E_IO);
    ck_assert_ptr_nonnull(strstr(err.msg, "/nonexistent/directory"));
    h5vcat_spool_free(s);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("h5vcat_spool");
    TCase *t = tcase_create("streams");
    tcase_add_loop_test(t, what_was_appended_is_read, 0, 20);
    tcase_add_test(t, a_directory_that_is_missing_is_named);
    suite_add_tcase(s, t);
    return run_suite(s);
}

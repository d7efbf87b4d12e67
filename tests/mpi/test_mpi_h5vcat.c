/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The library under MPI: every rank leaves with the same status and message, and a merge can follow another
 * in one process, after a failure too.
 */
#include "mpi_test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "agree.h"
#include "h5vcat.h"
#include "h5vec_hdf5.h"

static char in[64], out[64];

/* Whether all ranks have the same bytes. */
static int same_everywhere(const void *bytes, int size)
{
    char first[1024];
    memcpy(first, bytes, (size_t)size);
    MPI_Bcast(first, size, MPI_BYTE, 0, MPI_COMM_WORLD);
    int equal = memcmp(first, bytes, (size_t)size) == 0, all;
    MPI_Allreduce(&equal, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return all;
}

START_TEST(the_lowest_failing_rank_is_heard)
{
    for (int fails = 0; fails < ranks; fails++) {
        struct h5vec_error err = {0};
        enum h5vec_status st = H5VEC_OK;
        if (rank >= fails) /* several fail; the lowest counts */
            st = h5vec_error_set(&err, H5VEC_E_DATA, (uint64_t)rank, "rank %d failed", rank);
        char expected[64];
        snprintf(expected, sizeof expected, "rank %d failed", fails);
        ck_assert_int_eq(h5vcat_agree(MPI_COMM_WORLD, st, &err), H5VEC_E_DATA);
        ck_assert_str_eq(err.msg, expected);
        ck_assert_uint_eq(err.offset, (uint64_t)fails);
    }
    struct h5vec_error err = {0};
    ck_assert_int_eq(h5vcat_agree(MPI_COMM_WORLD, H5VEC_OK, &err), H5VEC_OK);
}
END_TEST

static void make_input(void)
{
    if (rank == 0) {
        hid_t file = H5Fcreate(in, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        hsize_t n = 1000;
        int values[1000];
        for (int i = 0; i < 1000; i++)
            values[i] = i;
        hid_t space = H5Screate_simple(1, &n, NULL);
        hid_t dset = H5Dcreate2(file, "d", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Dwrite(dset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
        H5Dclose(dset);
        H5Sclose(space);
        H5Fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static int output_is_right(void)
{
    int values[2000] = {0}, wrong = 0;
    hid_t file = H5Fopen(out, H5F_ACC_RDONLY, H5P_DEFAULT), dset = H5Dopen2(file, "d", H5P_DEFAULT);
    H5Dread(dset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(dset);
    H5Fclose(file);
    for (int i = 0; i < 2000; i++)
        wrong += values[i] != i % 1000;
    return wrong == 0;
}

START_TEST(merges_follow_each_other)
{
    struct h5vcat_report report = {0};
    struct h5vec_error err = {0};
    const char *good[] = {in, in}, *bad[] = {in, "missing.h5"};
    struct h5vcat_options o = {.sizeof_options = sizeof o,
                               .output = out,
                               .inputs = good,
                               .input_count = 2,
                               .force = true,
                               .verify = true};
    make_input();
    for (int round = 0; round < 3; round++) {
        o.inputs = bad;
        ck_assert_int_eq(h5vcat_merge(MPI_COMM_WORLD, &o, &report, &err), H5VEC_E_IO);
        ck_assert_ptr_nonnull(strstr(err.msg, "missing.h5"));
        ck_assert(same_everywhere(&err, (int)sizeof err));
        o.inputs = good;
        o.write = round % 2 ? H5VCAT_WRITE_COLLECTIVE : H5VCAT_WRITE_DIRECT;
        ck_assert_int_eq(h5vcat_merge(MPI_COMM_WORLD, &o, &report, &err), H5VEC_OK);
        ck_assert_uint_eq(report.rows, 2000);
        ck_assert(report.verified);
        ck_assert(output_is_right());
        MPI_Barrier(MPI_COMM_WORLD);
    }
    o.sizeof_options = 1;
    ck_assert_int_eq(h5vcat_merge(MPI_COMM_WORLD, &o, &report, &err), H5VEC_E_ARG);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        unlink(in);
        unlink(out);
    }
}
END_TEST

int main(int argc, char **argv)
{
    begin_mpi(&argc, &argv);
    snprintf(in, sizeof in, "mpi_in_%d.h5", ranks);
    snprintf(out, sizeof out, "mpi_out_%d.h5", ranks);
    Suite *s = suite_create("mpi_h5vcat");
    TCase *t = tcase_create("library");
    tcase_add_test(t, the_lowest_failing_rank_is_heard);
    tcase_add_test(t, merges_follow_each_other);
    suite_add_tcase(s, t);
    return run_mpi_suite(s);
}

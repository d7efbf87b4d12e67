/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules 2 and 7: place, chunk by chunk. Each test's chunks are written by another process.
 */
#include "vfd_test.h"

#include <unistd.h>

enum { CHUNK = 1000 };
#define CHUNK_BYTES ((hsize_t)CHUNK * sizeof(int))

static const char *path;
static hid_t file;

static void setup(void)
{
    path = scratch("place");
    file = create_placed(path, 0, 0);
}

static void teardown(void)
{
    unlink(path);
}

static haddr_t reserve(hsize_t size)
{
    haddr_t addr;
    ck_assert_msg(H5FD_h5vec_reserve(file, size, &addr) >= 0, "%s", error_text());
    ck_assert(addr % 4096 == 0);
    return addr;
}

static void put_chunk(hid_t dataset, int i, haddr_t at, uint32_t mask)
{
    int chunk[CHUNK];
    for (int j = 0; j < CHUNK; j++)
        chunk[j] = i * CHUNK + j;
    write_from_child(path, at, chunk, sizeof chunk);
    ck_assert_msg(place_chunk(file, dataset, (hsize_t)i * CHUNK, at, CHUNK_BYTES, mask) >= 0, "%s",
                  error_text());
}

static void close_and_expect(const char *name, hsize_t count)
{
    hsize_t n;
    ck_assert_msg(H5Fclose(file) >= 0, "%s", error_text());
    int *values = read_ints(path, name, &n);
    ck_assert(n == count);
    expect_ascending(values, n);
}

START_TEST(create_reserve_place_close)
{
    hid_t d = create_chunked(file, "d", 4000, 0, CHUNK, H5P_DEFAULT);
    haddr_t at = reserve(4 * CHUNK_BYTES);
    for (int i = 3; i >= 0; i--)
        put_chunk(d, i, at + (hsize_t)i * CHUNK_BYTES, 0);
    H5Dclose(d);
    close_and_expect("d", 4000);
}
END_TEST

START_TEST(rule7_partial_edge_chunk)
{
    hid_t d = create_chunked(file, "d", 3500, 3500, CHUNK, H5P_DEFAULT);
    haddr_t at = reserve(4 * CHUNK_BYTES);
    for (int i = 0; i < 4; i++)
        put_chunk(d, i, at + (hsize_t)i * CHUNK_BYTES, 0);
    H5Dclose(d);
    close_and_expect("d", 3500);
}
END_TEST

START_TEST(rule7_chunk_larger_than_the_current_dimension)
{
    hid_t d = create_chunked(file, "d", 10, 0, CHUNK, H5P_DEFAULT);
    put_chunk(d, 0, reserve(CHUNK_BYTES), 0);
    H5Dclose(d);
    close_and_expect("d", 10);
}
END_TEST

/* HDF5 refuses a chunk larger than a fixed maximum dimension; the planner clips it. */
START_TEST(rule7_chunk_clipped_to_a_fixed_dimension)
{
    hid_t d, dcpl = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t n = 10, chunk = CHUNK;
    hid_t space = H5Screate_simple(1, &n, &n);
    H5Pset_chunk(dcpl, 1, &chunk);
    ck_assert(H5Dcreate2(file, "no", H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT) < 0);
    d = create_chunked(file, "d", n, n, n, H5P_DEFAULT);
    int values[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    haddr_t at = reserve(sizeof values);
    write_from_child(path, at, values, sizeof values);
    ck_assert(place_chunk(file, d, 0, at, sizeof values, 0) >= 0);
    H5Dclose(d);
    H5Pclose(dcpl);
    H5Sclose(space);
    close_and_expect("d", 10);
}
END_TEST

/* A mask of 1 says that the only filter was not applied. */
START_TEST(rule7_chunk_filter_mask)
{
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_deflate(dcpl, 6);
    hid_t d = create_chunked(file, "d", 2000, 0, CHUNK, dcpl);
    haddr_t at = reserve(2 * CHUNK_BYTES);
    put_chunk(d, 0, at, 1);
    put_chunk(d, 1, at + CHUNK_BYTES, 1);
    H5Dclose(d);
    H5Pclose(dcpl);
    close_and_expect("d", 2000);
}
END_TEST

/* The encoded bytes of chunk 0 of a dataset with this pipeline, as HDF5 itself makes them. */
static hsize_t encode(hid_t dcpl, unsigned char *bytes)
{
    char other[512];
    int values[CHUNK];
    hsize_t size, offset = 0;
    uint32_t mask;
    snprintf(other, sizeof other, "%s.model", path);
    for (int i = 0; i < CHUNK; i++)
        values[i] = i;
    hid_t f = H5Fcreate(other, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
          d = create_chunked(f, "d", CHUNK, 0, CHUNK, dcpl);
    ck_assert(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0 && H5Dflush(d) >= 0);
    ck_assert(H5Dget_chunk_storage_size(d, &offset, &size) >= 0);
    ck_assert(size <= 2 * CHUNK_BYTES);
    ck_assert(H5Dread_chunk(d, H5P_DEFAULT, &offset, &mask, bytes) >= 0 && mask == 0);
    H5Dclose(d);
    H5Fclose(f);
    unlink(other);
    return size;
}

START_TEST(rule7_fletcher32_and_deflate)
{
    unsigned char bytes[2 * CHUNK_BYTES];
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    if (_i & 1)
        H5Pset_shuffle(dcpl);
    if (_i & 2)
        H5Pset_deflate(dcpl, 6);
    H5Pset_fletcher32(dcpl);
    hsize_t size = encode(dcpl, bytes);
    hid_t d = create_chunked(file, "d", CHUNK, 0, CHUNK, dcpl);
    haddr_t at = reserve(size);
    write_from_child(path, at, bytes, size);
    ck_assert(place_chunk(file, d, 0, at, size, 0) >= 0);
    H5Dclose(d);
    H5Pclose(dcpl);
    close_and_expect("d", CHUNK);
}
END_TEST

/* Early allocation: the dataset is placed in H5Dcreate, and the fill value HDF5 writes then is dropped. */
START_TEST(rule7_early_contiguous_fill_is_dropped)
{
    enum { N = 300000 }; /* several of HDF5's fill buffers */
    int fill = -7, *values = malloc(N * sizeof *values);
    hsize_t n = N;
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &n, NULL);
    H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &fill);
    H5Pset_fill_time(dcpl, H5D_FILL_TIME_ALLOC);
    H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY);
    for (int i = 0; i < N; i++)
        values[i] = i;
    haddr_t at = reserve(N * sizeof *values);
    write_from_child(path, at, values, N * sizeof *values);
    ck_assert(H5FD_h5vec_place(file, at, N * sizeof *values) >= 0);
    hid_t d = H5Dcreate2(file, "d", H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    ck_assert_msg(d >= 0, "%s", error_text());
    ck_assert(H5Dget_offset(d) == at);
    H5Dclose(d);
    H5Pclose(dcpl);
    H5Sclose(space);
    free(values);
    close_and_expect("d", N);
}
END_TEST

/* Unplaced raw data comes from the zones and is written. */
START_TEST(unplaced_data_is_written)
{
    int values[5000];
    hsize_t n = 5000;
    hid_t space = H5Screate_simple(1, &n, NULL);
    for (int i = 0; i < 5000; i++)
        values[i] = i;
    reserve(4096);
    hid_t d = H5Dcreate2(file, "d", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    reserve(4096);
    H5Dclose(d);
    H5Sclose(space);
    close_and_expect("d", 5000);
}
END_TEST

/* Placed beyond every reservation: the file reaches there, and later zones are behind it. */
START_TEST(place_outside_reservations)
{
    hid_t d = create_chunked(file, "d", 2000, 0, CHUNK, H5P_DEFAULT);
    const haddr_t far = 1 << 20;
    put_chunk(d, 0, far, 0);
    ck_assert(reserve(10) >= far + CHUNK_BYTES);
    put_chunk(d, 1, far + 100000, 0);
    H5Dclose(d);
    close_and_expect("d", 2000);
}
END_TEST

START_TEST(reserve_of_nothing)
{
    haddr_t a = reserve(0), b = reserve(0), c = reserve(1), d = reserve(0);
    ck_assert(a == b && b == c && d == c + 4096);
    ck_assert(H5Fclose(file) >= 0);
}
END_TEST

START_TEST(rule2_allocation_of_another_size_is_an_error)
{
    hid_t d = create_chunked(file, "d", 4000, 0, CHUNK, H5P_DEFAULT);
    haddr_t at = reserve(4 * CHUNK_BYTES);
    char bytes[CHUNK_BYTES + 1] = {0};
    hsize_t offset = 0;
    ck_assert(H5FD_h5vec_place(file, at, CHUNK_BYTES) >= 0);
    ck_assert(H5Dwrite_chunk(d, H5P_DEFAULT, 0, &offset, CHUNK_BYTES + 1, bytes) < 0);
    ck_assert_msg(error_says("but 4000 were placed"), "%s", error_text());
    H5Dclose(d);
}
END_TEST

START_TEST(rule2_place_twice_is_an_error)
{
    haddr_t at = reserve(2 * CHUNK_BYTES);
    ck_assert(H5FD_h5vec_place(file, at, CHUNK_BYTES) >= 0);
    ck_assert(H5FD_h5vec_place(file, at + CHUNK_BYTES, CHUNK_BYTES) < 0);
    ck_assert_msg(error_says("were not allocated yet"), "%s", error_text());
    ck_assert(H5Fclose(file) < 0);
    ck_assert_msg(error_says("left unfinished: what was placed last was never allocated"), "%s",
                  error_text());
    ck_assert(H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT) < 0);
}
END_TEST

START_TEST(rule2_placed_ranges_cannot_overlap)
{
    hid_t d = create_chunked(file, "d", 4000, 0, CHUNK, H5P_DEFAULT);
    haddr_t at = reserve(4 * CHUNK_BYTES);
    put_chunk(d, 0, at, 0);
    for (haddr_t shift = 0; shift < CHUNK_BYTES; shift += CHUNK_BYTES - 1) {
        ck_assert(H5FD_h5vec_place(file, at + shift, CHUNK_BYTES) < 0);
        ck_assert_msg(error_says("overlaps one placed before"), "%s", error_text());
    }
    ck_assert(H5FD_h5vec_place(file, 100, CHUNK_BYTES) < 0);
    ck_assert_msg(error_says("overlaps a metadata zone"), "%s", error_text());
    ck_assert(H5FD_h5vec_place(file, at, 0) < 0);
    ck_assert(H5FD_h5vec_place(file, HADDR_UNDEF - 10, 20) < 0);
    ck_assert(H5FD_h5vec_place(file, INT64_MAX, 20) < 0);
    ck_assert(H5FD_h5vec_reserve(file, INT64_MAX, &at) < 0);
    ck_assert_msg(error_says("beyond the largest address"), "%s", error_text());
    H5Dclose(d);
    ck_assert(H5Fclose(file) >= 0);
}
END_TEST

/* A chunk that is there already is not allocated again, so placing it once more is noticed. */
START_TEST(rule2_chunk_written_again)
{
    hid_t d = create_chunked(file, "d", CHUNK, 0, CHUNK, H5P_DEFAULT);
    haddr_t at = reserve(3 * CHUNK_BYTES);
    put_chunk(d, 0, at, 0);
    ck_assert(place_chunk(file, d, 0, at + CHUNK_BYTES, CHUNK_BYTES, 0) >= 0);
    ck_assert(H5FD_h5vec_place(file, at + 2 * CHUNK_BYTES, CHUNK_BYTES) < 0);
    H5Dclose(d);
}
END_TEST

/* Files that placement cannot serve. */
START_TEST(rule6_wrong_files_are_refused)
{
    haddr_t addr;
    char other[512];
    snprintf(other, sizeof other, "%s.other", path);
    hid_t fapl = h5vec_fapl(0, 0), fcpl = placement_fcpl();

    hid_t f = H5Fcreate(other, H5F_ACC_TRUNC, fcpl, H5P_DEFAULT);
    ck_assert(H5FD_h5vec_reserve(f, 10, &addr) < 0 && H5FD_h5vec_place(f, 10, 10) < 0);
    ck_assert_msg(error_says("not opened through the driver h5vec"), "%s", error_text());
    H5Fclose(f);

    f = H5Fopen(other, H5F_ACC_RDONLY, fapl);
    ck_assert(H5FD_h5vec_reserve(f, 10, &addr) < 0);
    ck_assert_msg(error_says("open for reading only"), "%s", error_text());
    H5Fclose(f);

    f = H5Fcreate(other, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    ck_assert(H5FD_h5vec_reserve(f, 10, &addr) < 0);
    ck_assert_msg(error_says("H5F_FSPACE_STRATEGY_NONE"), "%s", error_text());
    H5Fclose(f);

    ck_assert(H5Pset_alignment(fapl, 1, 4096) >= 0);
    f = H5Fcreate(other, H5F_ACC_TRUNC, fcpl, fapl);
    ck_assert(H5FD_h5vec_reserve(f, 10, &addr) < 0);
    ck_assert_msg(error_says("H5Pset_alignment"), "%s", error_text());
    H5Fclose(f);

    ck_assert(H5FD_h5vec_reserve(H5I_INVALID_HID, 10, &addr) < 0);
    ck_assert(H5FD_h5vec_reserve(file, 10, NULL) < 0);
    H5Pclose(fapl);
    H5Pclose(fcpl);
    unlink(other);
}
END_TEST

/* A user block moves all addresses; what place and reserve speak of are file offsets. */
START_TEST(user_block)
{
    hid_t fapl = h5vec_fapl(0, 0), fcpl = placement_fcpl();
    H5Fclose(file);
    H5Pset_userblock(fcpl, 1024);
    file = H5Fcreate(path, H5F_ACC_TRUNC, fcpl, fapl);
    hid_t d = create_chunked(file, "d", 2000, 0, CHUNK, H5P_DEFAULT);
    haddr_t at = reserve(2 * CHUNK_BYTES);
    put_chunk(d, 0, at, 0);
    put_chunk(d, 1, at + CHUNK_BYTES, 0);
    H5Dclose(d);
    H5Pclose(fapl);
    H5Pclose(fcpl);
    ck_assert(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    ck_assert(H5Fis_accessible(path, H5P_DEFAULT) == 0); /* the signature is held back here too */
    close_and_expect("d", 2000);
}
END_TEST

START_TEST(bad_config_is_refused)
{
    struct H5FD_h5vec_config c = {.sizeof_config = sizeof c, .alignment = 3000},
                             d = {.sizeof_config = sizeof d + 8},
                             e = {.sizeof_config = sizeof e, .alignment = 256},
                             ok = {.sizeof_config = 2 * sizeof(size_t), .first_zone = 77};
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    ck_assert(H5Pset_fapl_h5vec(fapl, &c) < 0);
    ck_assert_msg(error_says("power of two"), "%s", error_text());
    ck_assert(H5Pset_fapl_h5vec(fapl, &d) < 0 && H5Pset_fapl_h5vec(fapl, &e) < 0);
    ck_assert(H5Pset_fapl_h5vec(fapl, &ok) >= 0 && H5Pset_fapl_h5vec(fapl, NULL) >= 0);
    H5Pclose(fapl);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("place");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, create_reserve_place_close);
    tcase_add_test(tcase, rule7_partial_edge_chunk);
    tcase_add_test(tcase, rule7_chunk_larger_than_the_current_dimension);
    tcase_add_test(tcase, rule7_chunk_clipped_to_a_fixed_dimension);
    tcase_add_test(tcase, rule7_chunk_filter_mask);
    tcase_add_loop_test(tcase, rule7_fletcher32_and_deflate, 0, 4);
    tcase_add_test(tcase, rule7_early_contiguous_fill_is_dropped);
    tcase_add_test(tcase, unplaced_data_is_written);
    tcase_add_test(tcase, place_outside_reservations);
    tcase_add_test(tcase, reserve_of_nothing);
    tcase_add_test(tcase, rule2_allocation_of_another_size_is_an_error);
    tcase_add_test(tcase, rule2_place_twice_is_an_error);
    tcase_add_test(tcase, rule2_placed_ranges_cannot_overlap);
    tcase_add_test(tcase, rule2_chunk_written_again);
    tcase_add_test(tcase, rule6_wrong_files_are_refused);
    tcase_add_test(tcase, user_block);
    tcase_add_test(tcase, bad_config_is_refused);
    return run_tests("vfd_place", tcase);
}

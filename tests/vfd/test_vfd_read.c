/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading through HDF5: the values are those that HDF5's own driver gives, however they come: from an image,
 * from the metadata cache, joined or as asked; and how many system calls that takes.
 */
#define SCRATCH "read"
#include "read_test.h"

/* A dataset whose chunks do not fit the chunk cache: HDF5 reads single pieces of it. */
static hid_t open_large(hid_t file, int which)
{
    hid_t dapl = H5Pcreate(H5P_DATASET_ACCESS);
    if (which == 2)
        H5Pset_chunk_cache(dapl, 0, 0, 0);
    hid_t d = H5Dopen2(file, large[which], dapl);
    ck_assert(d >= 0);
    H5Pclose(dapl);
    return d;
}

static void random_selection(hid_t space, unsigned *seed)
{
    hsize_t start[2], stride[2], count[2], points[2 * 50];
    const hsize_t dims[2] = {ROWS, COLUMNS};
    if (rand_r(seed) % 4 == 0) {
        for (int i = 0; i < 100; i++)
            points[i] = (hsize_t)rand_r(seed) % dims[i % 2];
        ck_assert(H5Sselect_elements(space, H5S_SELECT_SET, 50, points) >= 0);
        return;
    }
    for (int i = 0; i < 2; i++) {
        start[i] = (hsize_t)rand_r(seed) % dims[i];
        stride[i] = 1 + (hsize_t)rand_r(seed) % 20;
        count[i] = 1 + (hsize_t)rand_r(seed) % ((dims[i] - start[i] - 1) / stride[i] + 1);
    }
    ck_assert(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL) >= 0);
}

/* Read a random selection and check it against values, or write one there too. */
static void random_step(hid_t file, int *values, unsigned *seed, bool write)
{
    int which = rand_r(seed) % 3;
    hid_t d = open_large(file, which), space = H5Dget_space(d);
    int *mine = malloc(sizeof *mine * ROWS * COLUMNS), *all = values + (ptrdiff_t)which * ROWS * COLUMNS;
    random_selection(space, seed);
    memcpy(mine, all, sizeof *mine * ROWS * COLUMNS);
    if (write) {
        for (int i = 0; i < ROWS * COLUMNS; i++)
            mine[i] = rand_r(seed);
        ck_assert(H5Dwrite(d, H5T_NATIVE_INT, space, space, H5P_DEFAULT, mine) >= 0);
        H5Sselect_all(space);
    } else { /* what is not selected stays */
        ck_assert(H5Dread(d, H5T_NATIVE_INT, space, space, H5P_DEFAULT, mine) >= 0);
        ck_assert_msg(memcmp(mine, all, sizeof *mine * ROWS * COLUMNS) == 0, "%s", large[which]);
    }
    if (write) {
        ck_assert(H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) >= 0);
    }
    free(mine);
    H5Sclose(space);
    H5Dclose(d);
}

static int *expected_values(void)
{
    int *values = malloc(sizeof *values * 3 * ROWS * COLUMNS);
    for (int i = 0; i < 3 * ROWS * COLUMNS; i++)
        values[i] = i % (ROWS * COLUMNS) * 7 + i / (ROWS * COLUMNS);
    return values;
}

static hid_t old_fapl(void)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(fapl, H5F_LIBVER_EARLIEST, H5F_LIBVER_V110);
    return fapl;
}

START_TEST(any_selection_of_any_layout)
{
    unsigned seed = (unsigned)_i;
    int mode = _i % MODES, *values = expected_values();
    hid_t fapl = _i % 2 ? sec2_fapl() : old_fapl();
    make_file(fapl, _i % 3 ? 0 : 2048);
    H5Pclose(fapl);
    reads.stutter = _i >= 2 * MODES;
    hid_t file = open_as(mode, H5F_ACC_RDONLY);
    for (int i = 0; i < 40; i++)
        random_step(file, values, &seed, false);
    expect_all(file);
    H5Fclose(file);
    free(values);
}
END_TEST

/* What is written is read back, through the same open file and after it. */
START_TEST(own_writes_are_seen)
{
    unsigned seed = (unsigned)_i;
    int mode = _i % MODES, *values = expected_values();
    hid_t fapl = fapl_of(mode);
    make_file(fapl, _i % 3 ? 0 : 2048);
    H5Pclose(fapl);
    for (int round = 0; round < 3; round++) {
        hid_t file = open_as(mode, H5F_ACC_RDWR);
        for (int i = 0; i < 12; i++) {
            char name[32];
            snprintf(name, sizeof name, "new%d-%d", round, i);
            random_step(file, values, &seed, i % 3 == 0);
            H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
            ck_assert(i % 4 || H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
        }
        expect_all(file);
        ck_assert(H5Fclose(file) >= 0);
        file = round % 2 ? open_as(mode, H5F_ACC_RDONLY) : H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        for (int i = 0; i < 10; i++)
            random_step(file, values, &seed, false);
        ck_assert(H5Lexists(file, "new0-11", H5P_DEFAULT) > 0);
        expect_all(file);
        H5Fclose(file);
    }
    free(values);
}
END_TEST

static int calls_to_look_at_all(int mode)
{
    hid_t file = open_as(mode, H5F_ACC_RDONLY);
    expect_all(file);
    H5Fclose(file);
    int calls = reads.calls;
    reads.calls = 0;
    return calls;
}

START_TEST(metadata_takes_few_calls)
{
    hid_t fapl = _i ? sec2_fapl() : old_fapl();
    make_file(fapl, 0);
    H5Pclose(fapl);
    reads.calls = 0;
    int as_asked = calls_to_look_at_all(AS_ASKED);
    ck_assert_int_gt(as_asked, 300);
    ck_assert_int_lt(calls_to_look_at_all(ADAPTIVE), as_asked / 20);
    ck_assert_int_lt(calls_to_look_at_all(BLOCKS), as_asked / 5);
    /* A small file, taken whole; what kind of file it is was read before. */
    ck_assert_int_eq(calls_to_look_at_all(DEFAULT), 2);
    ck_assert_int_eq(calls_to_look_at_all(IMAGE), 2);
}
END_TEST

/* Rows read one by one must not become a call each: HDF5's sieve buffer is on only for drivers without
 * vectors. */
START_TEST(rows_one_by_one)
{
    hid_t fapl = sec2_fapl();
    make_file(fapl, 0);
    H5Pclose(fapl);
    hid_t file = open_as(ADAPTIVE, _i ? H5F_ACC_RDWR : H5F_ACC_RDONLY), d = open_large(file, 0);
    hid_t space = H5Dget_space(d);
    hsize_t start[2] = {0, 0}, count[2] = {1, COLUMNS};
    hid_t row = H5Screate_simple(2, count, NULL);
    int values[COLUMNS];
    reads.calls = 0;
    for (; start[0] < ROWS; start[0]++) {
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
        ck_assert(H5Dread(d, H5T_NATIVE_INT, row, space, H5P_DEFAULT, values) >= 0);
        ck_assert(values[0] == (int)start[0] * COLUMNS * 7 && values[1] == values[0] + 7);
    }
    /* 64 KiB hold 32 rows */
    ck_assert_msg(reads.calls <= ROWS / 32 + 1, "%d calls", reads.calls);
    H5Sclose(row);
    H5Sclose(space);
    H5Dclose(d);
    H5Fclose(file);
}
END_TEST

START_TEST(strided_and_scattered_pieces_are_joined)
{
    hid_t fapl = sec2_fapl();
    make_file(fapl, 0);
    H5Pclose(fapl);
    hid_t file = open_as(ADAPTIVE, H5F_ACC_RDONLY);
    for (int which = 0; which < 3; which += 2) {
        hid_t d = open_large(file, which), space = H5Dget_space(d);
        hsize_t start[2] = {0, 1}, stride[2] = {1, 2}, count[2] = {ROWS, COLUMNS / 2};
        int *values = malloc(sizeof *values * ROWS * COLUMNS);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL);
        reads.calls = 0;
        ck_assert(H5Dread(d, H5T_NATIVE_INT, space, space, H5P_DEFAULT, values) >= 0);
        ck_assert(values[1] == 7 + which && values[ROWS * COLUMNS - 1] == (ROWS * COLUMNS - 1) * 7 + which);
        /* as HDF5's sieve buffer of 64 KiB; of chunks a few more until it is clear where reading goes on */
        int most = ROWS * COLUMNS * (int)sizeof *values / 65536 + (which ? 12 : 1);
        ck_assert_msg(reads.calls <= most, "%s: %d calls", large[which], reads.calls);
        free(values);
        H5Sclose(space);
        H5Dclose(d);
    }
    H5Fclose(file);
}
END_TEST

/* HDF5 converts, and knows which chunks are not there. */
START_TEST(converted_values_and_missing_chunks)
{
    hid_t fapl = sec2_fapl(), file, dcpl = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t n = 10000, chunk = 100, start = 5, stride = 3, count = 3000;
    const int fill = 42, values[2] = {1, 2};
    make_file(fapl, 0);
    file = H5Fopen(path, H5F_ACC_RDWR, fapl);
    hid_t space = H5Screate_simple(1, &n, NULL), memory = H5Screate_simple(1, &count, NULL);
    H5Pset_chunk(dcpl, 1, &chunk);
    H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &fill);
    hid_t d = H5Dcreate2(file, "holes", H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    for (hsize_t i = 0; i < 2; i++) {
        hsize_t at = 150 + i * 5000, one = 1;
        hid_t single = H5Screate_simple(1, &one, NULL);
        H5Sselect_elements(space, H5S_SELECT_SET, 1, &at);
        ck_assert(H5Dwrite(d, H5T_NATIVE_INT, single, space, H5P_DEFAULT, &values[i]) >= 0);
        H5Sclose(single);
    }
    H5Dclose(d);
    H5Fclose(file);
    file = open_as(ADAPTIVE, _i ? H5F_ACC_RDWR : H5F_ACC_RDONLY);
    hid_t dapl = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_chunk_cache(dapl, 0, 0, 0);
    d = H5Dopen2(file, "holes", dapl);
    double *got = malloc(sizeof *got * ROWS * COLUMNS);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, &count, NULL);
    ck_assert(H5Dread(d, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, got) >= 0);
    for (hsize_t i = 0, at = start; i < count; i++, at += stride)
        ck_assert(got[i] == (at == 150 ? 1 : at == 5150 ? 2 : 42)); /* exact: small whole numbers */
    H5Dclose(d);
    for (int which = 0; which < 3; which++) {
        d = open_large(file, which);
        ck_assert(H5Dread(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, got) >= 0);
        int i = 0;
        while (i < ROWS * COLUMNS && got[i] == i * 7 + which)
            i++;
        ck_assert(i == ROWS * COLUMNS);
        H5Dclose(d);
    }
    free(got);
    H5Pclose(dapl);
    H5Pclose(dcpl);
    H5Sclose(memory);
    H5Sclose(space);
    H5Fclose(file);
    H5Pclose(fapl);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("read");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, any_selection_of_any_layout, 0, 3 * MODES);
    tcase_add_loop_test(tcase, own_writes_are_seen, 0, 2 * MODES);
    tcase_add_loop_test(tcase, metadata_takes_few_calls, 0, 2);
    tcase_add_loop_test(tcase, rows_one_by_one, 0, 2);
    tcase_add_test(tcase, strided_and_scattered_pieces_are_joined);
    tcase_add_loop_test(tcase, converted_values_and_missing_chunks, 0, 2);
    return run_tests("vfd_read", tcase);
}

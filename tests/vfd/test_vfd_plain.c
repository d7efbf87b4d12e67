/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Without placement the driver is a POSIX driver like HDF5's own (sec2).
 */
#include "vfd_test.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *path;

static void setup(void)
{
    path = scratch("plain");
}

static void teardown(void)
{
    unlink(path);
}

static hid_t create(hid_t fcpl)
{
    hid_t fapl = h5vec_fapl(0, 0), file = H5Fcreate(path, H5F_ACC_TRUNC, fcpl, fapl);
    ck_assert_msg(file >= 0, "%s", error_text());
    H5Pclose(fapl);
    return file;
}

static hid_t open_rw(hid_t fapl)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, fapl);
    ck_assert_msg(file >= 0, "%s", error_text());
    return file;
}

static off_t size_of(void)
{
    struct stat st;
    ck_assert(stat(path, &st) == 0);
    return st.st_size;
}

START_TEST(the_handle_is_a_file_descriptor)
{
    hid_t file = create(H5P_DEFAULT), fapl = H5Pcreate(H5P_FILE_ACCESS);
    void *handles[2] = {NULL, NULL}; /* the second: nothing is written behind the first */
    struct stat a, b;
    ck_assert(H5Fget_vfd_handle(file, fapl, handles) >= 0 && handles[1] == NULL);
    int *fd = handles[0];
    ck_assert(fstat(*fd, &a) == 0 && stat(path, &b) == 0 && a.st_ino == b.st_ino);
    ck_assert(H5Fget_vfd_handle(file, H5P_DEFAULT, (void **)&fd) >= 0 && fstat(*fd, &a) == 0);
    ck_assert(H5FD_h5vec_usage(file, NULL, NULL) >= 0);
    H5Pclose(fapl);
    H5Fclose(file);
}
END_TEST

static bool has_signature(void)
{
    char bytes[8] = "";
    int fd = open(path, O_RDONLY);
    ck_assert(fd >= 0 && pread(fd, bytes, 8, 0) >= 0);
    close(fd);
    return memcmp(bytes, "\211HDF\r\n\032\n", 8) == 0;
}

/* In placement, before close; else before the first flush, as with sec2. */
START_TEST(rule9_new_file_has_no_signature_before_close)
{
    bool placed = _i > 0, flushed_before = _i == 2;
    hid_t file = placed ? create_placed(path, 0, 0) : create(H5P_DEFAULT), again;
    haddr_t unused;
    ck_assert(!flushed_before || (H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0 && has_signature()));
    ck_assert(!placed || H5FD_h5vec_reserve(file, 0, &unused) >= 0);
    if (placed)
        H5Gclose(H5Gcreate2(file, "d", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    else
        write_ints(file, "d", 1000);
    ck_assert(!has_signature());
    ck_assert(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    ck_assert(has_signature() == !placed);
    hid_t fapl = h5vec_fapl(0, 0);
    again = H5Fopen(path, H5F_ACC_RDWR, fapl); /* the same open file: cmp finds it */
    ck_assert_msg(again >= 0 && H5Lexists(again, "d", H5P_DEFAULT) > 0, "%s", error_text());
    H5Fclose(again);
    ck_assert(has_signature() == !placed);
    ck_assert(H5Fclose(file) >= 0);
    ck_assert(has_signature());
    H5Pclose(fapl);
    if (!placed)
        expect_ints(path, "d", 1000);
}
END_TEST

START_TEST(errors_give_errno)
{
    hid_t fapl = h5vec_fapl(0, 0);
    ck_assert(H5Fopen("/nonexistent/file.h5", H5F_ACC_RDONLY, fapl) < 0);
    ck_assert_msg(error_says("errno = 2,"), "%s", error_text());
    ck_assert(H5Fcreate("/nonexistent/file.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl) < 0);
    ck_assert_msg(error_says("errno = 2,"), "%s", error_text());
    H5Fclose(create(H5P_DEFAULT));
    ck_assert(H5Fcreate(path, H5F_ACC_EXCL, H5P_DEFAULT, fapl) < 0);
    ck_assert(H5Fis_accessible(path, fapl) > 0);
    ck_assert(H5Fdelete(path, fapl) >= 0 && access(path, F_OK) < 0);
    ck_assert(H5Fdelete(path, fapl) < 0);
    H5Pclose(fapl);
}
END_TEST

START_TEST(a_locked_file_is_refused)
{
    hid_t fapl = h5vec_fapl(0, 0);
    H5Pset_file_locking(fapl, 1, 1);
    H5Fclose(create(H5P_DEFAULT));
    int fd = open(path, O_RDWR);
    ck_assert(flock(fd, LOCK_SH | LOCK_NB) == 0);
    ck_assert(H5Fopen(path, H5F_ACC_RDWR, fapl) < 0);
    ck_assert_msg(error_says("unable to lock file") && error_says("errno = 11,"), "%s", error_text());
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, fapl);
    ck_assert(file >= 0);
    H5Fclose(file);
    close(fd);
    H5Fclose(open_rw(fapl));
    H5Pclose(fapl);
}
END_TEST

/* What was there stays, what is new is readable, and nothing is padded. */
START_TEST(old_files_are_extended)
{
    hid_t sec2 = sec2_fapl(), mine = h5vec_fapl(0, 0);
    for (int i = 0; i < 6; i++) {
        char name[16];
        snprintf(name, sizeof name, "d%d", i);
        hid_t fapl = i % 2 ? mine : sec2;
        hid_t file = i ? open_rw(fapl) : H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
        write_ints(file, name, 1000);
        ck_assert(H5Fclose(file) >= 0);
    }
    for (int i = 0; i < 6; i++) {
        char name[16];
        snprintf(name, sizeof name, "d%d", i);
        expect_ints(path, name, 1000);
    }
    ck_assert_msg(size_of() < 6 * 4000 + 20000, "%ld bytes", (long)size_of());
    H5Pclose(sec2);
    H5Pclose(mine);
}
END_TEST

START_TEST(placement_in_an_old_file_begins_past_its_end)
{
    hid_t fcpl = placement_fcpl(), fapl = h5vec_fapl(0, 0);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, fcpl, H5P_DEFAULT);
    write_ints(file, "old", 1000);
    H5Fclose(file);
    ck_assert(truncate(path, 100000) == 0); /* something of others behind it */
    write_outside(path, 99999, "x", 1);
    file = open_rw(fapl);
    hid_t d = create_chunked(file, "new", 1000, 0, 1000, H5P_DEFAULT);
    haddr_t at;
    int values[1000];
    for (int i = 0; i < 1000; i++)
        values[i] = i;
    ck_assert_msg(H5FD_h5vec_reserve(file, sizeof values, &at) >= 0, "%s", error_text());
    ck_assert(at >= 100000 && at % 4096 == 0);
    write_outside(path, at, values, sizeof values);
    ck_assert(place_chunk(file, d, 0, at, sizeof values, 0) >= 0);
    H5Gclose(H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Dclose(d);
    ck_assert_msg(H5Fclose(file) >= 0, "%s", error_text());
    expect_ints(path, "old", 1000);
    expect_ints(path, "new", 1000);
    char byte = 0;
    int fd = open(path, O_RDONLY);
    ck_assert(pread(fd, &byte, 1, 99999) == 1 && byte == 'x');
    close(fd);
    H5Pclose(fcpl);
    H5Pclose(fapl);
}
END_TEST

START_TEST(a_read_past_the_end_gives_zeros)
{
    hid_t fapl = h5vec_fapl(0, 0), dcpl = H5Pcreate(H5P_DATASET_CREATE), file = create(H5P_DEFAULT);
    hsize_t n = 100000;
    hid_t space = H5Screate_simple(1, &n, NULL);
    unsigned char *bytes = malloc(n);
    memset(bytes, 1, n);
    H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER);
    H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY);
    hid_t d = H5Dcreate2(file, "d", H5T_NATIVE_UCHAR, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    ck_assert(H5Dread(d, H5T_NATIVE_UCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) >= 0);
    hsize_t zeros = 0;
    while (zeros < n && bytes[zeros] == 0)
        zeros++;
    ck_assert(zeros == n);
    H5Dclose(d);
    H5Sclose(space);
    H5Pclose(dcpl);
    H5Pclose(fapl);
    free(bytes);
    H5Fclose(file);
}
END_TEST

/* Superblocks of every version, free space kept in the file, paged allocation. */
START_TEST(kinds_of_files)
{
    static const H5F_libver_t lows[] = {H5F_LIBVER_EARLIEST, H5F_LIBVER_V18, H5F_LIBVER_V110};
    hid_t fcpl = H5Pcreate(H5P_FILE_CREATE), fapl = h5vec_fapl(0, 0);
    H5F_fspace_strategy_t strategy = (H5F_fspace_strategy_t)(_i % 4);
    H5Pset_file_space_strategy(fcpl, strategy, _i % 8 >= 4 && strategy <= H5F_FSPACE_STRATEGY_PAGE, 1);
    H5Pset_file_space_page_size(fcpl, 512);
    H5Pset_libver_bounds(fapl, lows[_i / 8], H5F_LIBVER_V110);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, fcpl, fapl);
    ck_assert_msg(file >= 0, "%s", error_text());
    write_ints(file, "a", 3000);
    ck_assert(H5Fclose(file) >= 0);
    for (int round = 0; round < 3; round++) {
        char name[16];
        file = open_rw(fapl);
        snprintf(name, sizeof name, "r%d", round);
        write_ints(file, name, 500 + round);
        ck_assert(H5Ldelete(file, round ? "x" : "a", H5P_DEFAULT) >= 0);
        write_ints(file, "x", 777);
        ck_assert_msg(H5Fclose(file) >= 0, "%s", error_text());
    }
    expect_ints(path, "x", 777);
    for (int round = 0; round < 3; round++) {
        char name[16];
        snprintf(name, sizeof name, "r%d", round);
        expect_ints(path, name, 500 + round);
    }
    H5Pclose(fcpl);
    H5Pclose(fapl);
}
END_TEST

START_TEST(the_access_list_of_a_file_opens_another)
{
    hid_t file = create(H5P_DEFAULT), fapl = H5Fget_access_plist(file);
    ck_assert(fapl >= 0);
    H5Fclose(file);
    file = open_rw(fapl);
    ck_assert(H5FD_h5vec_usage(file, NULL, NULL) >= 0);
    H5Fclose(file);
    H5Pclose(fapl);
}
END_TEST

/* Two datasets grow by turns, so that metadata zones come to lie behind raw data, and are deleted. */
START_TEST(an_emptied_file_is_as_small_as_an_empty_one)
{
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE), fapl = h5vec_fapl(0, 0), d[2];
    hsize_t n = 8000, few = 25;
    hid_t space = H5Screate_simple(1, &n, NULL), small = H5Screate_simple(1, &few, NULL);
    H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY);
    H5Fclose(create(H5P_DEFAULT));
    off_t empty = size_of();
    hid_t file = create(H5P_DEFAULT);
    for (int i = 0; i < 2; i++)
        d[i] = H5Dcreate2(file, i ? "b" : "a", H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    for (int i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i / 2);
        H5Aclose(H5Acreate2(d[i % 2], name, H5T_NATIVE_INT, small, H5P_DEFAULT, H5P_DEFAULT));
        ck_assert(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    }
    for (int i = 0; i < 2; i++) {
        H5Dclose(d[i]);
        ck_assert(H5Ldelete(file, i ? "b" : "a", H5P_DEFAULT) >= 0);
    }
    ck_assert_msg(H5Fclose(file) >= 0, "%s", error_text());
    ck_assert_msg(size_of() == empty, "%ld bytes, empty %ld", (long)size_of(), (long)empty);
    H5Sclose(space);
    H5Sclose(small);
    H5Pclose(dcpl);
    H5Pclose(fapl);
}
END_TEST

START_TEST(by_name_once_registered)
{
    H5Pclose(h5vec_fapl(0, 0));
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    ck_assert(H5Pset_driver_by_name(fapl, H5FD_H5VEC_NAME, NULL) >= 0);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    ck_assert_msg(file >= 0 && H5FD_h5vec_usage(file, NULL, NULL) >= 0, "%s", error_text());
    H5Fclose(file);
    ck_assert(H5Pset_driver_by_name(fapl, H5FD_H5VEC_NAME, "zone=x") >= 0);
    ck_assert(H5Fopen(path, H5F_ACC_RDONLY, fapl) < 0);
    ck_assert_msg(error_says("zone=x is not possible"), "%s", error_text());
    H5Pclose(fapl);
}
END_TEST

START_TEST(the_library_can_be_closed_and_used_again)
{
    for (int i = 0; i < 3; i++) {
        hid_t file = create(H5P_DEFAULT);
        write_ints(file, "d", 100);
        H5Fclose(file);
        ck_assert(H5close() >= 0);
        H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    }
    expect_ints(path, "d", 100);
}
END_TEST

/* The same random work through both drivers leaves the same content. */
enum { NAMES = 12 };

static void random_work(hid_t fapl, hid_t fcpl, unsigned seed, const char *where)
{
    hid_t file = H5Fcreate(where, H5F_ACC_TRUNC, fcpl, fapl), scalar = H5Screate(H5S_SCALAR);
    ck_assert_msg(file >= 0, "%s", error_text());
    char name[32];
    for (int step = 0; step < 150; step++) {
        int what = rand_r(&seed) % 6, which = rand_r(&seed) % NAMES, value = rand_r(&seed);
        snprintf(name, sizeof name, "n%d", which);
        bool there = H5Lexists(file, name, H5P_DEFAULT) > 0;
        if (!there) {
            write_ints(file, name, 1 + value % 5000);
        } else if (what == 0) {
            ck_assert(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
        } else if (what == 1) {
            hid_t d = H5Dopen2(file, name, H5P_DEFAULT);
            hsize_t n = 1 + (hsize_t)value % 9000;
            ck_assert(H5Dset_extent(d, &n) >= 0);
            H5Dclose(d);
        } else if (what == 2) {
            hid_t fp = H5Fget_create_plist(file);
            H5Pclose(fp);
            H5Fclose(file);
            file = H5Fopen(where, H5F_ACC_RDWR, fapl);
            ck_assert_msg(file >= 0, "%s", error_text());
        } else {
            hid_t d = H5Dopen2(file, name, H5P_DEFAULT);
            char attribute[32];
            snprintf(attribute, sizeof attribute, "a%d", value % 20);
            if (H5Aexists(d, attribute) > 0) {
                ck_assert(H5Adelete(d, attribute) >= 0);
            } else {
                hid_t a = H5Acreate2(d, attribute, H5T_NATIVE_INT, scalar, H5P_DEFAULT, H5P_DEFAULT);
                ck_assert(H5Awrite(a, H5T_NATIVE_INT, &value) >= 0);
                H5Aclose(a);
            }
            H5Dclose(d);
        }
    }
    H5Sclose(scalar);
    ck_assert_msg(H5Fclose(file) >= 0, "%s", error_text());
}

static void compare_attributes(hid_t a, hid_t b)
{
    char name[32];
    for (int i = 0; i < 20; i++) {
        int x = 0, y = 1;
        snprintf(name, sizeof name, "a%d", i);
        htri_t there = H5Aexists(a, name);
        ck_assert(there == H5Aexists(b, name));
        if (there <= 0)
            continue;
        hid_t p = H5Aopen(a, name, H5P_DEFAULT), q = H5Aopen(b, name, H5P_DEFAULT);
        ck_assert(H5Aread(p, H5T_NATIVE_INT, &x) >= 0 && H5Aread(q, H5T_NATIVE_INT, &y) >= 0 && x == y);
        H5Aclose(p);
        H5Aclose(q);
    }
}

static void compare_files(const char *one, const char *two)
{
    hid_t a = H5Fopen(one, H5F_ACC_RDONLY, H5P_DEFAULT), b = H5Fopen(two, H5F_ACC_RDONLY, H5P_DEFAULT);
    ck_assert(a >= 0 && b >= 0);
    for (int i = 0; i < NAMES; i++) {
        char name[32];
        hsize_t n, m;
        snprintf(name, sizeof name, "n%d", i);
        htri_t there = H5Lexists(a, name, H5P_DEFAULT);
        ck_assert(there == H5Lexists(b, name, H5P_DEFAULT));
        if (there <= 0)
            continue;
        int *x = read_ints(one, name, &n), *y = read_ints(two, name, &m);
        ck_assert(n == m && memcmp(x, y, n * sizeof *x) == 0);
        free(x);
        free(y);
        hid_t p = H5Dopen2(a, name, H5P_DEFAULT), q = H5Dopen2(b, name, H5P_DEFAULT);
        compare_attributes(p, q);
        H5Dclose(p);
        H5Dclose(q);
    }
    H5Fclose(a);
    H5Fclose(b);
}

START_TEST(random_work_like_sec2)
{
    char other[600];
    snprintf(other, sizeof other, "%s.sec2", path);
    hid_t mine = mode_fapl(_i % WRITE_MODES), sec2 = sec2_fapl(), fcpl = H5Pcreate(H5P_FILE_CREATE);
    H5F_fspace_strategy_t strategy = (H5F_fspace_strategy_t)(_i / WRITE_MODES % 4);
    if (_i % 4)
        H5Pset_libver_bounds(mine, H5F_LIBVER_V110, H5F_LIBVER_V110);
    H5Pset_file_space_strategy(fcpl, strategy, _i % 3 == 0 && strategy <= H5F_FSPACE_STRATEGY_PAGE, 1);
    random_work(mine, fcpl, (unsigned)_i, path);
    random_work(sec2, fcpl, (unsigned)_i, other);
    compare_files(path, other);
    unlink(other);
    H5Pclose(mine);
    H5Pclose(sec2);
    H5Pclose(fcpl);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("plain");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, the_handle_is_a_file_descriptor);
    tcase_add_loop_test(tcase, rule9_new_file_has_no_signature_before_close, 0, 3);
    tcase_add_test(tcase, errors_give_errno);
    tcase_add_test(tcase, a_locked_file_is_refused);
    tcase_add_test(tcase, old_files_are_extended);
    tcase_add_test(tcase, placement_in_an_old_file_begins_past_its_end);
    tcase_add_test(tcase, a_read_past_the_end_gives_zeros);
    tcase_add_loop_test(tcase, kinds_of_files, 0, 24);
    tcase_add_test(tcase, the_access_list_of_a_file_opens_another);
    tcase_add_test(tcase, an_emptied_file_is_as_small_as_an_empty_one);
    tcase_add_test(tcase, by_name_once_registered);
    tcase_add_test(tcase, the_library_can_be_closed_and_used_again);
    tcase_add_loop_test(tcase, random_work_like_sec2, 0, 8 * WRITE_MODES);
    return run_tests("vfd_plain", tcase);
}

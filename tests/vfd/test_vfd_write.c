/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ordinary writing, with every setting of the write buffer: what others see and when, what is left when the
 * process dies, SWMR, and how large files get.
 */
#include "thread_count.h"
#include "vfd_test.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *path;

static void setup(void)
{
    path = scratch("write");
}

static void teardown(void)
{
    unlink(path);
}

static hid_t create(int mode, hid_t fcpl)
{
    hid_t fapl = mode_fapl(mode), file = H5Fcreate(path, H5F_ACC_TRUNC, fcpl, fapl);
    ck_assert_msg(file >= 0, "%s: %s", write_modes[mode], error_text());
    H5Pclose(fapl);
    return file;
}

START_TEST(what_is_flushed_is_there_for_others)
{
    hid_t file = create(_i, H5P_DEFAULT);
    setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
    ck_assert(H5Fis_accessible(path, H5P_DEFAULT) <= 0);
    for (int i = 1; i <= 5; i++) {
        char name[16];
        snprintf(name, sizeof name, "d%d", i);
        write_ints(file, name, 1000 * i);
        ck_assert(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
        expect_ints(path, name, 1000 * i);
    }
    ck_assert(H5Fclose(file) >= 0);
    expect_ints(path, "d5", 5000);
    ck_assert_int_eq(thread_count(), 1);
}
END_TEST

START_TEST(what_is_flushed_survives_a_kill)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        hid_t file = create(_i, H5P_DEFAULT);
        write_ints(file, "a", 3000);
        ck_assert(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
        write_ints(file, "b", 3000);
        kill(getpid(), SIGKILL);
    }
    ck_assert(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    expect_ints(path, "a", 3000);
}
END_TEST

/* The other way round, and again: each driver adds to what the other has written. */
START_TEST(drivers_take_turns)
{
    hid_t mine = mode_fapl(_i), sec2 = H5Pcreate(H5P_FILE_ACCESS);
    H5Fclose(create(_i, H5P_DEFAULT));
    for (int i = 0; i < 8; i++) {
        char name[16];
        snprintf(name, sizeof name, "d%d", i);
        hid_t file = H5Fopen(path, H5F_ACC_RDWR, i % 2 ? sec2 : mine);
        ck_assert_msg(file >= 0, "%s", error_text());
        write_ints(file, name, 700 * (i + 1));
        ck_assert(i < 3 || i == 5 ||
                  H5Ldelete(file,
                            i == 4   ? "d1"
                            : i == 3 ? "d0"
                            : i == 6 ? "d3"
                                     : "d5",
                            H5P_DEFAULT) >= 0);
        ck_assert(H5Fclose(file) >= 0);
    }
    expect_ints(path, "d2", 2100);
    expect_ints(path, "d4", 3500);
    expect_ints(path, "d7", 5600);
    H5Pclose(mine);
    H5Pclose(sec2);
}
END_TEST

/* A caller of H5Fget_vfd_handle sees the bytes that were written before. */
START_TEST(the_handle_shows_what_was_written)
{
    hid_t file = create(_i, H5P_DEFAULT);
    hsize_t n = 2000;
    int *values = malloc(n * sizeof *values), *back = malloc(n * sizeof *values), *fd = NULL;
    for (int i = 0; i < (int)n; i++)
        values[i] = i * 7;
    hid_t space = H5Screate_simple(1, &n, NULL),
          d = H5Dcreate2(file, "d", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    ck_assert(H5Dflush(d) >= 0);
    H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    haddr_t at = H5Dget_offset(d);
    ck_assert(H5Fget_vfd_handle(file, H5P_DEFAULT, (void **)&fd) >= 0);
    ck_assert(pread(*fd, back, n * sizeof *back, (off_t)at) == (ssize_t)(n * sizeof *back));
    ck_assert(memcmp(values, back, n * sizeof *back) == 0);
    H5Dclose(d);
    H5Sclose(space);
    H5Fclose(file);
    free(values);
    free(back);
}
END_TEST

START_TEST(a_user_block_is_the_users)
{
    char text[1024], back[1024];
    hid_t fcpl = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_userblock(fcpl, sizeof text);
    hid_t file = create(_i, fcpl);
    memset(text, 'u', sizeof text);
    write_outside(path, 0, text, sizeof text);
    write_ints(file, "a", 2000);
    ck_assert(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    write_ints(file, "b", 2000);
    ck_assert(H5Fclose(file) >= 0);
    expect_ints(path, "a", 2000);
    expect_ints(path, "b", 2000);
    FILE *f = fopen(path, "rb");
    ck_assert(fread(back, 1, sizeof back, f) == sizeof back && memcmp(text, back, sizeof back) == 0);
    fclose(f);
    H5Pclose(fcpl);
}
END_TEST

/* H5Pset_alignment and paged files: HDF5 counts on the next block being at the end. */
START_TEST(hdf5_aligns)
{
    hid_t fapl = mode_fapl(0), fcpl = H5Pcreate(H5P_FILE_CREATE), dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY);
    if (_i)
        H5Pset_file_space_strategy(fcpl, H5F_FSPACE_STRATEGY_PAGE, 0, 1);
    else
        H5Pset_alignment(fapl, 1000, 4096);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, fcpl, fapl);
    hsize_t n = 1024;
    hid_t space = H5Screate_simple(1, &n, NULL);
    for (int i = 0; i < 30; i++) {
        char name[16];
        snprintf(name, sizeof name, "d%d", i);
        hid_t d = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
        ck_assert(d >= 0 && H5Dget_offset(d) % 4096 == 0);
        H5Dclose(d);
    }
    ck_assert(H5Fclose(file) >= 0);
    H5Sclose(space);
    H5Pclose(dcpl);
    H5Pclose(fcpl);
    H5Pclose(fapl);
}
END_TEST

/* A process that was forked has no thread, and ends all the same; the parent's file is whole. */
START_TEST(a_forked_process_ends)
{
    hid_t file = create(_i, H5P_DEFAULT);
    int status;
    write_ints(file, "d", 2000000); /* enough for a thread */
    pid_t child = fork();
    if (child == 0) {
        (void)H5Fclose(file);
        _exit(0);
    }
    ck_assert(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert(H5Fclose(file) >= 0);
    expect_ints(path, "d", 2000000);
}
END_TEST

/* ---- SWMR ---------------------------------------------------------------------------------------------- */

enum { ROWS = 3000, STEP = 100 };

static void append(hid_t d, hsize_t from)
{
    int values[STEP];
    hsize_t n = from + STEP, step = STEP;
    for (int i = 0; i < STEP; i++)
        values[i] = (int)from + i;
    hid_t memory = H5Screate_simple(1, &step, NULL);
    ck_assert(H5Dset_extent(d, &n) >= 0);
    hid_t space = H5Dget_space(d);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &from, NULL, &step, NULL);
    ck_assert(H5Dwrite(d, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, values) >= 0);
    ck_assert(H5Dflush(d) >= 0);
    H5Sclose(space);
    H5Sclose(memory);
}

/* The writer's process: by the flag of H5Fopen or by H5Fstart_swmr_write. It waits with the second half of
 * the rows until the reader has seen some. */
static void swmr_writer(hid_t fapl, bool start, int ready, int seen)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    hid_t d = create_chunked(file, "d", 0, 0, 37, H5P_DEFAULT);
    if (start) {
        ck_assert_msg(H5Fstart_swmr_write(file) >= 0, "%s", error_text());
    } else {
        H5Dclose(d);
        H5Fclose(file);
        file = H5Fopen(path, H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE, fapl);
        ck_assert_msg(file >= 0, "%s", error_text());
        d = H5Dopen2(file, "d", H5P_DEFAULT);
    }
    ck_assert(write(ready, "r", 1) == 1);
    for (hsize_t row = 0; row < ROWS; row += STEP) {
        char byte;
        if (row == ROWS / 2)
            ck_assert(read(seen, &byte, 1) == 1);
        append(d, row);
        usleep(1000);
    }
    H5Dclose(d);
    ck_assert(H5Fclose(file) >= 0);
    _exit(0);
}

/* All rows that are there are right, always; in the end all are there. */
static int swmr_reader(hid_t fapl, int seen)
{
    int looks = 0, values[ROWS];
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, fapl);
    ck_assert_msg(file >= 0, "%s", error_text());
    hid_t d = H5Dopen2(file, "d", H5P_DEFAULT);
    for (hsize_t n = 0; n < ROWS;) {
        hsize_t before = n;
        ck_assert(H5Drefresh(d) >= 0);
        hid_t space = H5Dget_space(d);
        n = (hsize_t)H5Sget_simple_extent_npoints(space);
        ck_assert(n >= before && n <= ROWS);
        ck_assert(n == 0 || H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
        H5Sclose(space);
        for (int i = 0; i < (int)(n / STEP * STEP);
             i++) /* the last step's extent may be there before its rows */
            ck_assert(values[i] == i || i >= (int)n - STEP);
        if (n > before && looks++ == 0)
            ck_assert(write(seen, "s", 1) == 1);
    }
    H5Dclose(d);
    H5Fclose(file);
    return looks;
}

START_TEST(swmr)
{
    hid_t mine = mode_fapl(_i % WRITE_MODES), sec2 = H5Pcreate(H5P_FILE_ACCESS);
    int status, ready[2], seen[2];
    char byte;
    H5Pset_libver_bounds(mine, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    H5Pset_libver_bounds(sec2, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    H5Pset_file_locking(sec2, 0, 1);
    ck_assert(pipe(ready) == 0 && pipe(seen) == 0);
    pid_t child = fork();
    if (child == 0)
        swmr_writer(mine, _i / WRITE_MODES % 2, ready[1], seen[0]);
    ck_assert(read(ready[0], &byte, 1) == 1);
    int looks = swmr_reader(_i / WRITE_MODES < 2 ? sec2 : mine, seen[1]);
    ck_assert_msg(looks >= 2, "rows came in %d parts only", looks);
    ck_assert(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    expect_ints(path, "d", ROWS);
    H5Pclose(mine);
    H5Pclose(sec2);
    close(ready[0]);
    close(ready[1]);
    close(seen[0]);
    close(seen[1]);
}
END_TEST

/* Readers rely on the order of writes, so none may wait: a chunk is in the file when H5Dwrite_chunk returns.
 */
START_TEST(swmr_writes_do_not_wait)
{
    hid_t fapl = mode_fapl(_i % WRITE_MODES);
    int values[100], back[100] = {0};
    hsize_t row = 0, size;
    haddr_t addr;
    unsigned mask;
    H5Pset_libver_bounds(fapl, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    hid_t id = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl),
          d = create_chunked(id, "d", 100, 0, 100, H5P_DEFAULT);
    if (_i < WRITE_MODES) {
        ck_assert_msg(H5Fstart_swmr_write(id) >= 0, "%s", error_text());
    } else {
        H5Dclose(d);
        H5Fclose(id);
        id = H5Fopen(path, H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE, fapl);
        d = H5Dopen2(id, "d", H5P_DEFAULT);
    }
    for (int i = 0; i < 100; i++)
        values[i] = 3 * i;
    ck_assert(H5Dwrite_chunk(d, H5P_DEFAULT, 0, &row, sizeof values, values) >= 0);
    ck_assert(H5Dget_chunk_info_by_coord(d, &row, &mask, &addr, &size) >= 0);
    FILE *f = fopen(path, "rb");
    ck_assert(f && fseek(f, (long)addr, SEEK_SET) == 0 && fread(back, 1, sizeof back, f) == sizeof back);
    ck_assert(memcmp(values, back, sizeof back) == 0);
    fclose(f);
    H5Dclose(d);
    ck_assert(H5Fclose(id) >= 0);
    H5Pclose(fapl);
}
END_TEST

/* ---- Sizes --------------------------------------------------------------------------------------------- */

static long written(hid_t fapl, int kind, int n)
{
    struct stat st;
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE), file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    hsize_t size = 300;
    hid_t space = H5Screate_simple(1, &size, NULL);
    int values[300] = {0};
    if (kind % 2)
        H5Pset_chunk(dcpl, 1, &size);
    for (int i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "dataset %d", i);
        hid_t d = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
        ck_assert(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
        H5Dclose(d);
    }
    ck_assert(H5Fclose(file) >= 0);
    ck_assert(stat(path, &st) == 0);
    H5Sclose(space);
    H5Pclose(dcpl);
    return (long)st.st_size;
}

START_TEST(files_are_about_as_large_as_sec2s)
{
    static const int counts[] = {0, 1, 3, 20, 100, 1000};
    hid_t mine = mode_fapl(0), sec2 = H5Pcreate(H5P_FILE_ACCESS);
    if (_i / 2) {
        H5Pset_libver_bounds(mine, H5F_LIBVER_V110, H5F_LIBVER_V110);
        H5Pset_libver_bounds(sec2, H5F_LIBVER_V110, H5F_LIBVER_V110);
    }
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        long theirs = written(sec2, _i, counts[i]), ours = written(mine, _i, counts[i]);
        ck_assert_msg(ours <= theirs + theirs / 16 + 2048, "kind %d, %d datasets: %ld, with sec2 %ld", _i,
                      counts[i], ours, theirs);
    }
    H5Pclose(mine);
    H5Pclose(sec2);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("write");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, what_is_flushed_is_there_for_others, 0, WRITE_MODES);
    tcase_add_loop_test(tcase, what_is_flushed_survives_a_kill, 0, WRITE_MODES);
    tcase_add_loop_test(tcase, drivers_take_turns, 0, WRITE_MODES);
    tcase_add_loop_test(tcase, the_handle_shows_what_was_written, 0, WRITE_MODES);
    tcase_add_loop_test(tcase, a_user_block_is_the_users, 0, WRITE_MODES);
    tcase_add_loop_test(tcase, hdf5_aligns, 0, 2);
    tcase_add_loop_test(tcase, a_forked_process_ends, 0, WRITE_MODES);
    tcase_add_loop_test(tcase, swmr, 0, 4 * WRITE_MODES);
    tcase_add_loop_test(tcase, swmr_writes_do_not_wait, 0, 2 * WRITE_MODES);
    tcase_add_loop_test(tcase, files_are_about_as_large_as_sec2s, 0, 4);
    return run_tests("vfd_write", tcase);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The write buffer against a plain array, without HDF5: in random sequences every read gives what was
 * written, in the file are only bytes that were, and every failure of the system is told. Also built with
 * ThreadSanitizer. The system calls are replaced here (linked with --wrap).
 */
#include "H5FDh5vec_behind.h"
#include "thread_count.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SPAN = 300000, STEPS = 3000, FOREIGN = 0xee };

ssize_t __real_pwrite64(int fd, const void *bytes, size_t size, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t size, off_t offset);
ssize_t __real_pread64(int fd, void *bytes, size_t size, off_t offset);
ssize_t __wrap_pread64(int fd, void *bytes, size_t size, off_t offset);

/* Set before the buffer is used, counted by both threads. */
static struct {
    _Atomic int writes, fail_from, fail_count, error; /* calls [fail_from, fail_from + fail_count) fail */
    _Atomic bool stutter;
    _Atomic long delay; /* nanoseconds a call */
    _Atomic size_t largest;
} calls;

ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t size, off_t offset)
{
    int n = calls.writes++;
    struct timespec pause = {0, calls.delay};
    if (calls.delay)
        nanosleep(&pause, NULL);
    if (calls.stutter && n % 2) {
        errno = EINTR;
        return -1;
    }
    if (n >= calls.fail_from && n - calls.fail_from < calls.fail_count) {
        errno = calls.error;
        return -1;
    }
    if (size > calls.largest)
        calls.largest = size;
    return __real_pwrite64(fd, bytes, calls.stutter && size > 7 ? 1 + size / 3 : size, offset);
}

ssize_t __wrap_pread64(int fd, void *bytes, size_t size, off_t offset)
{
    return __real_pread64(fd, bytes, calls.stutter && size > 7 ? 1 + size / 3 : size, offset);
}

static char path[512];
static int fd;
static unsigned char *model, *back;
static bool *mine; /* bytes that were written here */

static void setup(void)
{
    const char *dir = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/h5vec-behind-%ld", dir ? dir : "/tmp", (long)getpid());
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    ck_assert(fd >= 0);
    memset(&calls, 0, sizeof calls);
    model = malloc(SPAN);
    back = malloc(SPAN);
    mine = calloc(SPAN, sizeof *mine);
    memset(model, FOREIGN, SPAN);
    ck_assert(__real_pwrite64(fd, model, SPAN, 0) == SPAN);
}

static void teardown(void)
{
    close(fd);
    unlink(path);
    free(model);
    free(back);
    free(mine);
}

static int put(struct H5FD_h5vec_behind *b, unsigned *seed, uint64_t addr, size_t size)
{
    unsigned char *bytes = malloc(size);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)rand_r(seed);
    memcpy(model + addr, bytes, size);
    memset(mine + addr, true, size * sizeof *mine);
    int error = H5FD_h5vec_behind_write(b, addr, size, bytes);
    free(bytes);
    return error;
}

/* Somebody else writes where we have not: those bytes must survive. */
static void others_write(unsigned *seed)
{
    for (int i = 0; i < 20; i++) {
        size_t at = (size_t)rand_r(seed) % SPAN;
        unsigned char byte = (unsigned char)rand_r(seed);
        if (!mine[at]) {
            ck_assert(__real_pwrite64(fd, &byte, 1, (off_t)at) == 1);
            model[at] = byte;
        }
    }
}

static void expect_file(void)
{
    ck_assert(__real_pread64(fd, back, SPAN, 0) == SPAN);
    ck_assert(memcmp(back, model, SPAN) == 0);
}

static const struct {
    uint64_t block, buffer;
    bool async;
} modes[] = {{4096, 4096, false},
             {4096, 65536, false},
             {16384, 65536, false},
             {1 << 22, 1 << 26, false},
             {1, 1, false},
             {4096, 8192, true},
             {4096, 65536, true},
             {16384, 65536, true},
             {1 << 22, 1 << 26, true},
             {1, 1, true},
             {100000, 1 << 20, true},
             {1 << 30, 20000, true}};
enum { MODES = sizeof modes / sizeof *modes };

static struct H5FD_h5vec_behind *begin(int mode)
{
    struct H5FD_h5vec_behind *b =
        H5FD_h5vec_behind_new(fd, modes[mode].block, modes[mode].buffer, modes[mode].async);
    ck_assert(b != NULL);
    return b;
}

static size_t random_size(unsigned *seed)
{
    static const size_t sizes[] = {8, 100, 600, 5000, 40000};
    return 1 + (size_t)rand_r(seed) % sizes[rand_r(seed) % 5];
}

START_TEST(like_an_array)
{
    unsigned seed = (unsigned)_i;
    struct H5FD_h5vec_behind *b = begin(_i % MODES);
    calls.stutter = _i / MODES == 1;
    calls.delay = _i / MODES == 2 ? 20000 : 0;
    for (int step = 0; step < STEPS / (calls.delay ? 10 : 1); step++) {
        size_t size = random_size(&seed);
        uint64_t addr = (uint64_t)rand_r(&seed) % (SPAN - size);
        int what = rand_r(&seed) % 100;
        if (what < 60) {
            ck_assert(put(b, &seed, addr, size) == 0);
        } else if (what < 95) {
            ck_assert(H5FD_h5vec_behind_read(b, addr, size, back) == 0);
            ck_assert(memcmp(back, model + addr, size) == 0);
        } else if (what < 98) {
            others_write(&seed);
        } else {
            ck_assert(H5FD_h5vec_behind_drain(b, addr) == 0);
            expect_file();
        }
    }
    ck_assert(H5FD_h5vec_behind_drain(b, 0) == 0);
    expect_file();
    ck_assert(H5FD_h5vec_behind_free(b) == 0);
}
END_TEST

/* A byte here, a byte there: more extents than a block keeps. */
START_TEST(every_other_byte)
{
    struct H5FD_h5vec_behind *b = begin(_i ? 8 : 3);
    unsigned seed = 1;
    for (uint64_t addr = 0; addr < SPAN; addr += 2)
        ck_assert(put(b, &seed, addr, 1) == 0);
    ck_assert(H5FD_h5vec_behind_read(b, 0, SPAN, back) == 0);
    ck_assert(memcmp(back, model, SPAN) == 0);
    ck_assert(H5FD_h5vec_behind_drain(b, 0) == 0);
    expect_file();
    ck_assert(H5FD_h5vec_behind_free(b) == 0);
}
END_TEST

START_TEST(neighbours_go_down_together)
{
    struct H5FD_h5vec_behind *b = begin(3);
    unsigned seed = 1;
    for (uint64_t i = 0; i < 5000; i++) /* in any order */
        ck_assert(put(b, &seed, i * 7919 % 5000 * 50, 50) == 0);
    ck_assert_int_eq(calls.writes, 0);
    ck_assert(H5FD_h5vec_behind_drain(b, 0) == 0);
    ck_assert_int_eq(calls.writes, 1);
    ck_assert_uint_eq(calls.largest, 250000);
    expect_file();
    ck_assert(H5FD_h5vec_behind_free(b) == 0);
}
END_TEST

START_TEST(a_large_write_goes_straight_down)
{
    struct H5FD_h5vec_behind *b = begin(1);
    unsigned seed = 1;
    ck_assert(put(b, &seed, 100, 100000) == 0);
    ck_assert(calls.writes == 1 && calls.largest == 100000);
    ck_assert(put(b, &seed, 50, 3) == 0);
    ck_assert(put(b, &seed, 51, 20000) == 0); /* over pending bytes: in blocks, after them */
    ck_assert(H5FD_h5vec_behind_drain(b, 0) == 0);
    expect_file();
    ck_assert(H5FD_h5vec_behind_free(b) == 0);
}
END_TEST

/* What a file that is whole consists of is replaced last, so a disk that fills up leaves it as it was. */
START_TEST(a_whole_file_is_changed_last)
{
    struct H5FD_h5vec_behind *b = begin(3);
    unsigned seed = 1;
    ck_assert(put(b, &seed, 100, 100) == 0);
    ck_assert(put(b, &seed, 199900, 300) == 0);
    calls.fail_count = 1;
    calls.error = ENOSPC;
    ck_assert(H5FD_h5vec_behind_drain(b, 200000) == ENOSPC);
    memset(model, FOREIGN, 200000);
    ck_assert(__real_pread64(fd, back, 200000, 0) == 200000 && memcmp(back, model, 200000) == 0);
    ck_assert(H5FD_h5vec_behind_free(b) == 0);
}
END_TEST

/* The call that fails, for each of the first ones, once or for good: somebody is told; when the disk works
 * again a drain brings everything down; nothing hangs and no thread is left. */
START_TEST(every_failure_is_told)
{
    int mode = _i % MODES, told = 0, before = thread_count();
    ck_assert_int_gt(before, 0);
    for (int nth = 0; nth < 12; nth++) {
        unsigned seed = (unsigned)nth;
        struct H5FD_h5vec_behind *b = begin(mode);
        calls.writes = 0;
        calls.fail_from = nth;
        calls.fail_count = _i / MODES ? 1 << 20 : 1;
        calls.error = nth % 2 ? EIO : ENOSPC;
        calls.delay = nth % 3 ? 0 : 100000;
        told = 0;
        for (int step = 0; step < 60; step++) {
            int error =
                put(b, &seed, (uint64_t)rand_r(&seed) % (SPAN - 9000), 1 + (size_t)rand_r(&seed) % 9000);
            ck_assert(error == 0 || error == calls.error);
            told += error != 0;
        }
        told += H5FD_h5vec_behind_drain(b, 0) == calls.error;
        ck_assert(told > 0 || calls.writes <= nth);
        calls.fail_count = 0;
        int late = H5FD_h5vec_behind_drain(b, 0); /* of the thread, after the drain that failed */
        ck_assert(late == 0 || (modes[mode].async && late == calls.error));
        ck_assert(H5FD_h5vec_behind_free(b) == 0);
        struct timespec pause = {0, 1000000};
        for (int i = 0; i < 1000 && thread_count() > before; i++) /* the kernel takes a moment to forget it */
            nanosleep(&pause, NULL);
        ck_assert_int_eq(thread_count(), before);
    }
}
END_TEST

/* Bytes of a write that failed in the background are still there, and newer ones for their place win. */
START_TEST(what_failed_in_the_background_still_waits)
{
    struct H5FD_h5vec_behind *b = begin(6); /* a thousand bytes do not wait there for more */
    unsigned seed = 1;
    struct timespec pause = {0, 30000000};
    calls.fail_count = 1;
    calls.error = EIO;
    calls.delay = 20000000;
    ck_assert(put(b, &seed, 1000, 1200) == 0);
    nanosleep(&pause, NULL); /* in flight by now, or failed */
    int error = put(b, &seed, 1500, 1000);
    nanosleep(&pause, NULL);
    ck_assert(H5FD_h5vec_behind_read(b, 0, SPAN, back) == 0);
    if (error) { /* and so was not taken */
        memset(model + 2200, FOREIGN, 300);
        memcpy(model + 1500, back + 1500, 700);
    }
    ck_assert(memcmp(back, model, SPAN) == 0);
    ck_assert(H5FD_h5vec_behind_drain(b, 0) == (error ? 0 : EIO));
    expect_file();
    ck_assert(H5FD_h5vec_behind_free(b) == 0);
}
END_TEST

START_TEST(an_error_nobody_heard_of_is_returned_at_the_end)
{
    struct H5FD_h5vec_behind *b = begin(6);
    unsigned seed = 1;
    calls.fail_count = 1;
    calls.error = EIO;
    ck_assert(put(b, &seed, 0, 1500) == 0);
    struct timespec pause = {0, 1000000};
    for (int i = 0; i < 5000 && calls.writes == 0; i++)
        nanosleep(&pause, NULL);
    ck_assert(calls.writes == 1);
    nanosleep(&pause, NULL);
    ck_assert(H5FD_h5vec_behind_free(b) == EIO);
}
END_TEST

/* With a slow disk the program does not wait for it, until the buffer is full. */
START_TEST(the_program_goes_on)
{
    struct H5FD_h5vec_behind *b = H5FD_h5vec_behind_new(fd, 16384, 1 << 20, true);
    unsigned seed = 1;
    struct timespec t0, t1;
    calls.delay = 50000000;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    for (uint64_t i = 0; i < 10; i++)
        ck_assert(put(b, &seed, i * 16384, 16384) == 0);
    clock_gettime(CLOCK_MONOTONIC, &t1);
    double seconds = (double)(t1.tv_sec - t0.tv_sec) + 1e-9 * (double)(t1.tv_nsec - t0.tv_nsec);
    ck_assert_msg(seconds < 0.4, "%g s", seconds); /* ten calls take 0.5 s */
    ck_assert(H5FD_h5vec_behind_drain(b, 0) == 0);
    ck_assert_int_eq(calls.writes, 10);
    expect_file();
    ck_assert(H5FD_h5vec_behind_free(b) == 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("vfd_behind");
    TCase *tcase = tcase_create("behind");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, like_an_array, 0, 3 * MODES);
    tcase_add_loop_test(tcase, every_other_byte, 0, 2);
    tcase_add_test(tcase, neighbours_go_down_together);
    tcase_add_test(tcase, a_large_write_goes_straight_down);
    tcase_add_test(tcase, a_whole_file_is_changed_last);
    tcase_add_loop_test(tcase, every_failure_is_told, 0, 2 * MODES);
    tcase_add_test(tcase, what_failed_in_the_background_still_waits);
    tcase_add_test(tcase, an_error_nobody_heard_of_is_returned_at_the_end);
    tcase_add_test(tcase, the_program_goes_on);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

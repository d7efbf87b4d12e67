/* SPDX-License-Identifier: BSD-3-Clause
 *
 * When the system fails: every failure is reported with its errno, and no unfinished file looks finished. The
 * system calls of the driver are replaced here (linked with --wrap).
 */
#include "vfd_test.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

ssize_t __real_pwrite64(int fd, const void *bytes, size_t size, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t size, off_t offset);
ssize_t __real_pread64(int fd, void *bytes, size_t size, off_t offset);
ssize_t __wrap_pread64(int fd, void *bytes, size_t size, off_t offset);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_ftruncate64(int fd, off_t size);
int __wrap_ftruncate64(int fd, off_t size);

/* Counted by the driver's thread too. */
static struct {
    bool stutter; /* every other call is interrupted, and only some bytes are moved */
    _Atomic int calls, writes_until_error, writes_failing, fired;
    int pwrite_error, fsync_error, ftruncate_error;
    int fsyncs_until_error;
    _Atomic off_t disk; /* where the disk ends for this file, or 0 */
} faults;

static bool interrupted(void)
{
    if (!faults.stutter || faults.calls++ % 2)
        return false;
    errno = EINTR;
    return true;
}

static size_t some(size_t size)
{
    return faults.stutter && size > 7 ? 1 + size / 3 : size;
}

static int failing(int error)
{
    errno = error;
    return error ? -1 : 0;
}

ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t size, off_t offset)
{
    if (interrupted())
        return -1;
    if (faults.pwrite_error && faults.writes_until_error-- <= 0 && faults.writes_failing-- > 0) {
        faults.fired++;
        return failing(faults.pwrite_error);
    }
    if (faults.disk && offset + (off_t)size > faults.disk) {
        faults.fired++;
        if (offset >= faults.disk)
            return failing(ENOSPC);
        size = (size_t)(faults.disk - offset);
    }
    return __real_pwrite64(fd, bytes, some(size), offset);
}

ssize_t __wrap_pread64(int fd, void *bytes, size_t size, off_t offset)
{
    return interrupted() ? -1 : __real_pread64(fd, bytes, some(size), offset);
}

int __wrap_fsync(int fd)
{
    if (interrupted() || (faults.fsyncs_until_error-- <= 0 && failing(faults.fsync_error)))
        return -1;
    return __real_fsync(fd);
}

int __wrap_ftruncate64(int fd, off_t size)
{
    if (interrupted() || failing(faults.ftruncate_error))
        return -1;
    return __real_ftruncate64(fd, size);
}

static const char *path;
static hid_t file;

static void setup(void)
{
    memset(&faults, 0, sizeof faults);
    faults.writes_failing = INT_MAX;
    path = scratch("faults");
    file = create_placed(path, 0, 0);
}

static void teardown(void)
{
    H5Eclear2(H5E_DEFAULT);
    unlink(path);
}

static void work(void)
{
    haddr_t at;
    char name[32];
    ck_assert(H5FD_h5vec_reserve(file, 8000, &at) >= 0);
    hid_t d = create_chunked(file, "d", 1000, 0, 1000, H5P_DEFAULT);
    int values[1000];
    for (int i = 0; i < 1000; i++)
        values[i] = i;
    write_outside(path, at, values, sizeof values);
    ck_assert(place_chunk(file, d, 0, at, 4000, 0) >= 0);
    H5Dclose(d);
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "group %d", i);
        H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    }
}

static void expect_unfinished(const char *why)
{
    ck_assert(H5Fclose(file) < 0);
    ck_assert_msg(error_says(why), "%s", error_text());
    ck_assert(H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT) < 0);
}

START_TEST(interrupted_and_short_calls)
{
    hsize_t n;
    faults.stutter = true;
    work();
    ck_assert_msg(H5Fclose(file) >= 0, "%s", error_text());
    hid_t fapl = h5vec_fapl(0, 0);
    file = H5Fopen(path, H5F_ACC_RDONLY, fapl);
    ck_assert_msg(file >= 0, "%s", error_text());
    ck_assert(H5Lexists(file, "group 199", H5P_DEFAULT) > 0);
    H5Fclose(file);
    H5Pclose(fapl);
    int *values = read_ints(path, "d", &n);
    ck_assert(n == 1000 && values[999] == 999);
    free(values);
}
END_TEST

START_TEST(disk_full_in_close)
{
    work();
    faults.pwrite_error = ENOSPC;
    expect_unfinished("errno = 28,");
}
END_TEST

START_TEST(disk_full_in_flush_and_space_again)
{
    work();
    faults.pwrite_error = ENOSPC;
    ck_assert(H5Fflush(file, H5F_SCOPE_GLOBAL) < 0);
    ck_assert_msg(error_says("errno = 28,"), "%s", error_text());
    faults.pwrite_error = 0;
    expect_unfinished("left unfinished: an earlier write to it failed");
}
END_TEST

START_TEST(fsync_fails_before_the_superblock)
{
    work();
    faults.fsync_error = EIO;
    expect_unfinished("unable to fsync file");
}
END_TEST

START_TEST(fsync_fails_after_the_superblock)
{
    work();
    faults.fsync_error = EIO;
    faults.fsyncs_until_error = 1;
    ck_assert(H5Fclose(file) < 0);
    ck_assert_msg(error_says("errno = 5,"), "%s", error_text());
}
END_TEST

START_TEST(the_file_cannot_grow)
{
    work();
    faults.ftruncate_error = EFBIG;
    expect_unfinished("errno = 27,");
}
END_TEST

/* No replaced calls: the kernel says so. */
START_TEST(file_size_limit)
{
    struct rlimit before, limit;
    ck_assert(getrlimit(RLIMIT_FSIZE, &before) == 0);
    limit = before;
    limit.rlim_cur = 20000;
    signal(SIGXFSZ, SIG_IGN);
    work();
    ck_assert(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    expect_unfinished("errno = 27,");
    ck_assert(setrlimit(RLIMIT_FSIZE, &before) == 0);
}
END_TEST

START_TEST(small_tmpfs)
{
    static char inside[64];
    char dir[] = "/tmp/h5vec-vfd-XXXXXX";
    ck_assert(mkdtemp(dir) != NULL);
    snprintf(inside, sizeof inside, "%s/f.h5", dir);
    if (mount("none", dir, "tmpfs", 0, "size=64k") < 0) {
        fprintf(stderr, "small_tmpfs: not run: cannot mount (%s)\n", strerror(errno));
        rmdir(dir);
        return;
    }
    H5Fclose(file);
    unlink(path);
    path = inside;
    file = create_placed(path, 0, 0);
    for (int i = 0; i < 2000; i++) {
        char name[32];
        snprintf(name, sizeof name, "group %d", i);
        H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    }
    bool failed = H5Fclose(file) < 0, said = error_says("errno = 28,"),
         refused = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT) < 0;
    umount(dir);
    rmdir(dir);
    ck_assert(failed && said && refused);
}
END_TEST

/* Rule 9: a process that dies leaves no HDF5 file, whether it had flushed or not. */
START_TEST(rule9_killed_before_close)
{
    int status;
    H5Fclose(file);
    pid_t child = fork();
    if (child == 0) {
        file = create_placed(path, 0, 0);
        work();
        if (_i)
            H5Fflush(file, H5F_SCOPE_GLOBAL);
        kill(getpid(), SIGKILL);
    }
    ck_assert(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    hid_t fapl = h5vec_fapl(0, 0);
    ck_assert(H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT) < 0 && H5Fopen(path, H5F_ACC_RDONLY, fapl) < 0);
    ck_assert(H5Fis_accessible(path, H5P_DEFAULT) == 0);
    H5Pclose(fapl);
}
END_TEST

/* ---- Ordinary writing, in every mode ------------------------------------------------------------------- */

static bool try_ints(hid_t id, const char *name, int n)
{
    hsize_t size = (hsize_t)n;
    int *values = malloc(size * sizeof *values);
    for (int i = 0; i < n; i++)
        values[i] = i;
    hid_t space = H5Screate_simple(1, &size, NULL),
          d = H5Dcreate2(id, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = d >= 0 && H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    good = d >= 0 && H5Dclose(d) >= 0 && good;
    H5Sclose(space);
    free(values);
    return good;
}

enum { WROTE = 10, TOLD, NOT_TOLD, NO_START };

/* In a process of its own, so that HDF5's end of it is tested too: a file with one dataset is flushed; of
 * what comes then, the n-th write of the driver fails, once or for good, or the disk ends n KiB further. */
enum { ONCE, FOR_GOOD, FULL, KINDS };

static int failing_work(int mode, int kind, int nth)
{
    char name[16];
    struct stat st;
    hid_t fapl = mode_fapl(mode), id = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    if (id < 0 || !try_ints(id, "a", 3000) || H5Fflush(id, H5F_SCOPE_GLOBAL) < 0 || stat(path, &st) < 0)
        return NO_START;
    H5Pclose(fapl);
    faults.writes_until_error = nth;
    faults.writes_failing = kind == ONCE ? 1 : INT_MAX;
    faults.fired = 0;
    faults.pwrite_error = kind == FULL ? 0 : nth % 2 ? EIO : ENOSPC;
    faults.disk = kind == FULL ? st.st_size + (off_t)3000 * nth : 0;
    bool good = true;
    for (int i = 0; i < 12; i++) {
        snprintf(name, sizeof name, "b%d", i);
        good = try_ints(id, name, 500 + 400 * i) && good;
        good = (i % 5 != 4 || H5Fflush(id, H5F_SCOPE_GLOBAL) >= 0) && good;
    }
    good = H5Fclose(id) >= 0 && good;
    return !faults.fired ? (good ? WROTE : NO_START) : good ? NOT_TOLD : TOLD;
}

static int run(int mode, int kind, int nth)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        (void)!freopen("/dev/null", "w", stderr); /* HDF5 itself complains at exit */
        exit(failing_work(mode, kind, nth));
    }
    ck_assert(waitpid(child, &status, 0) == child);
    ck_assert_msg(WIFEXITED(status), "%s, write %d: signal %d", write_modes[mode], nth, WTERMSIG(status));
    return WEXITSTATUS(status);
}

static bool has_ints(hid_t id, const char *name, int n)
{
    int *values = calloc((size_t)n, sizeof *values);
    hid_t d = H5Dopen2(id, name, H5P_DEFAULT);
    bool good = d >= 0 && H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    for (int i = 0; i < n && good; i++)
        good = values[i] == i;
    if (d >= 0)
        H5Dclose(d);
    free(values);
    return good;
}

/* Every failure is told, and the process ends. On a full disk, what was flushed stays as it was where the
 * buffer holds all that comes after. */
START_TEST(the_nth_write_fails)
{
    int mode = _i / KINDS, kind = _i % KINDS, fired = 0;
    bool stays = kind == FULL && (mode == 0 || mode == 5);
    H5Fclose(file);
    setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
    for (int nth = 0; nth < 60; nth += nth < 12 ? 1 : 6) {
        int outcome = run(mode, kind, nth);
        ck_assert_msg(outcome == WROTE || outcome == TOLD, "%s, kind %d, write %d: %d", write_modes[mode],
                      kind, nth, outcome);
        fired += outcome == TOLD;
        hid_t id = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        ck_assert_msg(id >= 0 || (outcome == TOLD && !stays), "%s, write %d", write_modes[mode], nth);
        if (stays || outcome == WROTE)
            ck_assert_msg(has_ints(id, "a", 3000), "%s, write %d", write_modes[mode], nth);
        if (outcome == WROTE)
            ck_assert_msg(has_ints(id, "b11", 4900), "%s, write %d", write_modes[mode], nth);
        if (id >= 0)
            H5Fclose(id);
    }
    ck_assert_int_gt(fired, 0);
}
END_TEST

/* Short and interrupted calls, in every mode. */
START_TEST(stuttering)
{
    H5Fclose(file);
    faults.stutter = true;
    hid_t fapl = mode_fapl(_i);
    file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "d%d", i);
        ck_assert(try_ints(file, name, 100 + 500 * i));
        ck_assert(i % 7 || H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
        ck_assert(has_ints(file, name, 100 + 500 * i));
    }
    ck_assert_msg(H5Fclose(file) >= 0, "%s", error_text());
    file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "d%d", i);
        ck_assert(has_ints(file, name, 100 + 500 * i));
    }
    H5Fclose(file);
    H5Pclose(fapl);
}
END_TEST

/* The disk is full, the program hears of it in a flush, makes room, and goes on. */
START_TEST(room_again_before_placement)
{
    H5Fclose(file);
    hid_t fapl = mode_fapl(_i);
    file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    ck_assert(try_ints(file, "d", 1000));
    faults.pwrite_error = ENOSPC;
    ck_assert(H5Fflush(file, H5F_SCOPE_GLOBAL) < 0);
    ck_assert_msg(error_says("errno = 28,"), "%s", error_text());
    faults.pwrite_error = 0;
    (void)H5Fflush(file,
                   H5F_SCOPE_GLOBAL); /* may still have to tell of what failed behind the first's back */
    ck_assert_msg(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0, "%s", error_text());
    ck_assert_msg(H5Fclose(file) >= 0, "%s", error_text());
    file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    ck_assert(file >= 0 && has_ints(file, "d", 1000));
    H5Fclose(file);
    H5Pclose(fapl);
}
END_TEST

/* What a failed fsync has lost no other can bring back: the file is never called whole again. */
START_TEST(fsync_failed_for_good)
{
    H5Fclose(file);
    hid_t fapl = mode_fapl(5);
    file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    ck_assert(try_ints(file, "d", 1000));
    faults.fsync_error = EIO;
    ck_assert(H5Fflush(file, H5F_SCOPE_GLOBAL) < 0);
    ck_assert_msg(error_says("errno = 5,"), "%s", error_text());
    faults.fsync_error = 0;
    ck_assert(H5Fflush(file, H5F_SCOPE_GLOBAL) < 0);
    expect_unfinished("an earlier write to it failed");
    H5Pclose(fapl);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("faults");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, interrupted_and_short_calls);
    tcase_add_test(tcase, disk_full_in_close);
    tcase_add_test(tcase, disk_full_in_flush_and_space_again);
    tcase_add_test(tcase, fsync_fails_before_the_superblock);
    tcase_add_test(tcase, fsync_fails_after_the_superblock);
    tcase_add_test(tcase, the_file_cannot_grow);
    tcase_add_test(tcase, file_size_limit);
    tcase_add_test(tcase, small_tmpfs);
    tcase_add_loop_test(tcase, rule9_killed_before_close, 0, 2);
    tcase_add_loop_test(tcase, the_nth_write_fails, 0, KINDS * WRITE_MODES);
    tcase_add_loop_test(tcase, stuttering, 0, WRITE_MODES);
    tcase_add_loop_test(tcase, room_again_before_placement, 0, WRITE_MODES);
    tcase_add_test(tcase, fsync_failed_for_good);
    return run_tests("vfd_faults", tcase);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * When the system fails: every failure is reported with its errno, and no unfinished file looks finished. The
 * system calls of the driver are replaced here (linked with --wrap).
 */
#include "vfd_test.h"

#include <errno.h>
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

static struct {
    bool stutter; /* every other call is interrupted, and only some bytes are moved */
    int calls, pwrite_error, fsync_error, ftruncate_error;
    int fsyncs_until_error;
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
    if (interrupted() || failing(faults.pwrite_error))
        return -1;
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
    return run_tests("vfd_faults", tcase);
}

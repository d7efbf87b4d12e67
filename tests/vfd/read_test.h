/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the programs that test reading share: system calls that are counted and disturbed (linked with --wrap,
 * once in a program), ways of opening, and a file to read. SCRATCH: a name for it, defined before.
 */
#ifndef READ_TEST_H
#define READ_TEST_H

#include "vfd_test.h"

#include <H5FDdevelop.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

ssize_t __real_pread64(int fd, void *bytes, size_t size, off_t offset);
ssize_t __wrap_pread64(int fd, void *bytes, size_t size, off_t offset);
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

enum { MEMORY = 1 << 28 }; /* a single allocation gets less than that, when limited */
static bool memory_limited;

void *__wrap_malloc(size_t size)
{
    return memory_limited && size >= MEMORY ? NULL : __real_malloc(size);
}

static struct {
    int calls;
    bool stutter; /* every other call is interrupted, and only some bytes are read */
    bool threads; /* somebody else than the main thread has called */
    pthread_t main;
    pthread_mutex_t lock;
} reads = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int count_call(void)
{
    pthread_mutex_lock(&reads.lock);
    int n = reads.calls++;
    reads.threads |= !pthread_equal(reads.main, pthread_self());
    pthread_mutex_unlock(&reads.lock);
    return n;
}

ssize_t __wrap_pread64(int fd, void *bytes, size_t size, off_t offset)
{
    int n = count_call();
    if (reads.stutter && n % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    return __real_pread64(fd, bytes, reads.stutter && size > 7 ? 1 + size / 3 : size, offset);
}

static const char *path;

static void setup(void)
{
    path = scratch(SCRATCH);
    reads.main = pthread_self();
    reads.calls = 0;
    reads.stutter = reads.threads = false;
}

static void teardown(void)
{
    unlink(path);
}

enum mode { DEFAULT, IMAGE, ADAPTIVE, TINY, BLOCKS, AS_ASKED, MODES };

static hid_t fapl_of(int mode)
{
    struct H5FD_h5vec_config config = {.sizeof_config = sizeof config};
    hid_t fapl = sec2_fapl();
    config.image = mode == IMAGE     ? H5FD_H5VEC_IMAGE_ALWAYS
                   : mode == DEFAULT ? H5FD_H5VEC_IMAGE_AUTO
                                     : H5FD_H5VEC_IMAGE_NEVER;
    config.meta_cache = mode == TINY ? 4096 : mode == AS_ASKED ? H5FD_H5VEC_NONE : 0;
    config.meta_block = mode == BLOCKS ? 4096 : mode == TINY ? H5FD_H5VEC_NONE : 0;
    ck_assert_msg(H5Pset_fapl_h5vec(fapl, &config) >= 0, "%s", error_text());
    return fapl;
}

static hid_t open_as(int mode, unsigned flags)
{
    hid_t fapl = fapl_of(mode), file = H5Fopen(path, flags, fapl);
    ck_assert_msg(file >= 0, "%s", error_text());
    H5Pclose(fapl);
    return file;
}

/* 30 groups of 10 small datasets with attributes, old and new style, and three large ones. */
enum { ROWS = 700, COLUMNS = 500 };
static const char *const large[] = {"contiguous", "chunked", "large_chunks"};

static void make_large(hid_t file, int which)
{
    hsize_t dims[2] = {ROWS, COLUMNS}, chunk[2] = {100, 100};
    hid_t space = H5Screate_simple(2, dims, NULL), dcpl = H5Pcreate(H5P_DATASET_CREATE);
    hid_t dapl = H5Pcreate(H5P_DATASET_ACCESS);
    int *values = malloc(sizeof *values * ROWS * COLUMNS);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        values[i] = i * 7 + which;
    if (which > 0)
        H5Pset_chunk(dcpl, 2, chunk);
    hid_t d = H5Dcreate2(file, large[which], H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, dapl);
    ck_assert(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    free(values);
    H5Dclose(d);
    H5Pclose(dapl);
    H5Pclose(dcpl);
    H5Sclose(space);
}

static void make_file(hid_t fapl, hsize_t user_block)
{
    hid_t fcpl = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_userblock(fcpl, user_block);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, fcpl, fapl);
    ck_assert_msg(file >= 0, "%s", error_text());
    for (int i = 0; i < 3; i++)
        make_large(file, i);
    for (int g = 0; g < 30; g++) {
        char name[32];
        snprintf(name, sizeof name, "g%d", g);
        hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        for (int i = 0; i < 10; i++) {
            snprintf(name, sizeof name, "d%d", i);
            H5Dclose(create_chunked(group, name, (hsize_t)(g * 10 + i), 0, 50, H5P_DEFAULT));
        }
        H5Gclose(group);
    }
    ck_assert(H5Fclose(file) >= 0);
    H5Pclose(fcpl);
}

/* Look at every small dataset. */
static void expect_all(hid_t file)
{
    for (int g = 0; g < 30; g++)
        for (int i = 9; i >= 0; i--) {
            char name[32];
            snprintf(name, sizeof name, "g%d/d%d", g, i);
            hid_t d = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(d);
            ck_assert_msg(H5Sget_simple_extent_npoints(space) == g * 10 + i, "%s", name);
            H5Sclose(space);
            H5Dclose(d);
        }
}

#endif

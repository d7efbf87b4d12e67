/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pread and pwrite in a loop, and how files are aligned. One call moves at most 1 GiB: Linux cuts longer ones
 * off at 2 GiB.
 */
#include "file.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP ((size_t)1 << 30)
#define MIN_ALIGNMENT 4096

enum h5vec_status h5vcat_file_write(int fd, const char *name, uint64_t offset, const void *data, size_t size,
                                    struct h5vec_error *err)
{
    const char *p = data;
    while (size > 0) {
        ssize_t n = pwrite(fd, p, size < STEP ? size : STEP, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return h5vec_error_set(err, H5VEC_E_IO, offset, "%s: cannot write: %s", name, strerror(errno));
        p += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return H5VEC_OK;
}

enum h5vec_status h5vcat_file_read(int fd, const char *name, uint64_t offset, void *data, size_t size,
                                   struct h5vec_error *err)
{
    char *p = data;
    while (size > 0) {
        ssize_t n = pread(fd, p, size < STEP ? size : STEP, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return h5vec_error_set(err, H5VEC_E_IO, offset, "%s: cannot read: %s", name, strerror(errno));
        if (n == 0)
            return h5vec_error_set(err, H5VEC_E_DATA, offset, "%s: the file ends before byte %llu", name,
                                   (unsigned long long)(offset + size));
        p += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return H5VEC_OK;
}

uint64_t h5vcat_file_alignment(const char *directory)
{
    struct stat st;
    uint64_t a = MIN_ALIGNMENT;
    if (stat(directory, &st) == 0)
        while (a < (uint64_t)st.st_blksize && a < (uint64_t)16 << 20)
            a *= 2;
    return a;
}

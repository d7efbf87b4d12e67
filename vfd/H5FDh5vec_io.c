/* SPDX-License-Identifier: BSD-3-Clause
 *
 * POSIX calls may be interrupted and may do less than asked; here that is hidden.
 */
#include "H5FDh5vec_io.h"

#include <errno.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* Linux moves at most 2 GiB less a page at once, and other systems refuse more. */
enum { IO_MAX = 1 << 30 };

static size_t portion(size_t size)
{
    return size < IO_MAX ? size : IO_MAX;
}

int H5FD_h5vec_io_read(int fd, void *buffer, size_t size, uint64_t offset)
{
    unsigned char *to = buffer;
    while (size > 0) {
        ssize_t n = pread(fd, to, portion(size), (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        if (n == 0) {
            memset(to, 0, size);
            return 0;
        }
        to += n;
        size -= (size_t)n;
        offset += (uint64_t)n;
    }
    return 0;
}

int H5FD_h5vec_io_write(int fd, const void *buffer, size_t size, uint64_t offset)
{
    const unsigned char *from = buffer;
    while (size > 0) {
        ssize_t n = pwrite(fd, from, portion(size), (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : EIO;
        from += n;
        size -= (size_t)n;
        offset += (uint64_t)n;
    }
    return 0;
}

int H5FD_h5vec_io_sync(int fd)
{
    int result;
    do
        result = fsync(fd);
    while (result < 0 && errno == EINTR);
    return result < 0 && errno != EINVAL ? errno : 0;
}

int H5FD_h5vec_io_resize(int fd, uint64_t size)
{
    int result;
    do
        result = ftruncate(fd, (off_t)size);
    while (result < 0 && errno == EINTR);
    return result < 0 ? errno : 0;
}

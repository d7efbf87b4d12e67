/* SPDX-License-Identifier: BSD-3-Clause
 *
 * To be loaded with LD_PRELOAD: counts a program's pread and preadv calls and the bytes they gave, and makes
 * each take at least H5VEC_READ_DELAY microseconds longer, as slow storage would. At exit, appends one line
 * of JSON to the file H5VEC_READ_LOG.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

ssize_t pread64(int fd, void *to, size_t size, off_t offset);
ssize_t preadv64(int fd, const struct iovec *parts, int n, off_t offset);

static atomic_ullong calls, bytes;

static ssize_t count(ssize_t n)
{
    const char *delay = getenv("H5VEC_READ_DELAY");
    long nanoseconds = delay ? 1000 * atol(delay) : 0;
    struct timespec wait = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    if (nanoseconds > 0)
        nanosleep(&wait, NULL);
    calls++;
    bytes += n > 0 ? (unsigned long long)n : 0;
    return n;
}

__attribute__((visibility("default"))) ssize_t pread64(int fd, void *to, size_t size, off_t offset)
{
    static ssize_t (*real)(int, void *, size_t, off_t);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pread64");
    return count(real(fd, to, size, offset));
}

__attribute__((visibility("default"))) ssize_t preadv64(int fd, const struct iovec *parts, int n,
                                                        off_t offset)
{
    static ssize_t (*real)(int, const struct iovec *, int, off_t);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "preadv64");
    return count(real(fd, parts, n, offset));
}

__attribute__((destructor)) static void report(void)
{
    const char *name = getenv("H5VEC_READ_LOG");
    FILE *log = name ? fopen(name, "a") : NULL;
    if (!log)
        return;
    fprintf(log, "{\"calls\": %llu, \"bytes\": %llu}\n", (unsigned long long)calls,
            (unsigned long long)bytes);
    fclose(log);
}

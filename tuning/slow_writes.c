/* SPDX-License-Identifier: BSD-3-Clause
 *
 * To be loaded with LD_PRELOAD: makes each pwrite of a program take H5VEC_WRITE_DELAY microseconds longer
 * (1000 if not set), and another for each H5VEC_WRITE_RATE bytes (100, that is 100 MB/s), as storage would
 * where the caller waits for each call.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long setting(const char *name, long otherwise)
{
    const char *value = getenv(name);
    return value ? strtol(value, NULL, 10) : otherwise;
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset);

__attribute__((visibility("default"))) ssize_t pwrite64(int fd, const void *bytes, size_t size,
                                                        off64_t offset)
{
    typedef ssize_t function(int, const void *, size_t, off64_t);
    static function *real;
    static long call, rate;
    if (!real) {
        call = setting("H5VEC_WRITE_DELAY", 1000);
        rate = setting("H5VEC_WRITE_RATE", 100);
        *(void **)&real = dlsym(RTLD_NEXT, "pwrite64");
    }
    long us = call + (long)(size / (size_t)rate);
    struct timespec pause = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&pause, NULL);
    return real(fd, bytes, size, offset);
}

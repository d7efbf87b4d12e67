/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading more than was asked for saves calls and costs bytes; which is dearer depends on the storage. In the
 * page cache a call costs as much as some thousand bytes, across a network as much as a hundred thousand and
 * more. So calls are timed, and one number, what a call is worth in bytes, decides everything: how large a
 * read is better done as asked, how far reading may jump and still go on, how much is read ahead.
 *
 * There are some windows, each where reading goes on. A read closely behind the last one moves that window
 * there, twice as large each time; one that jumps takes the window that was not used for longest, and hardly
 * more than was asked for, since small datasets are read here and there.
 */
#include "H5FDh5vec_sieve.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    WORTH_MIN = 4096, /* of a call to the kernel, in bytes of memory */
    WINDOW_MAX = 512 << 10,
    WINDOW_GROWS = 64 << 10, /* a window gets so large, whatever a call is worth, */
    WINDOW_FIRST = 8 << 10,  /* and is so large where reading goes on for the first time */
    TIMED_MAX = 64 << 10,    /* of larger reads the bytes are the cost, not the call */
    TIMED_EVERY = 8,
};

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A call took so long: the cheapest of the last ones counts, since any may have been interrupted. Storage is
 * taken to give a byte a nanosecond, the page cache four. */
static void learn(struct H5FD_h5vec_sieve *sieve, uint64_t nanoseconds, size_t size)
{
    uint64_t least = nanoseconds > size / 4 ? nanoseconds - size / 4 : 0;
    memmove(sieve->costs + 1, sieve->costs, sizeof sieve->costs - sizeof *sieve->costs);
    sieve->costs[0] = least;
    for (unsigned i = 1; i < H5FD_H5VEC_COSTS; i++)
        least = sieve->costs[i] < least ? sieve->costs[i] : least;
    sieve->worth = least > WINDOW_MAX ? WINDOW_MAX : least > WORTH_MIN ? (size_t)least : WORTH_MIN;
}

static int load(struct H5FD_h5vec_sieve *sieve, uint64_t addr, size_t size, void *buffer)
{
    uint64_t n = sieve->loads++;
    if (size > TIMED_MAX || (n >= H5FD_H5VEC_COSTS && n % TIMED_EVERY != 0))
        return sieve->load(sieve->context, addr, size, buffer);
    uint64_t start = now();
    int error = sieve->load(sieve->context, addr, size, buffer);
    learn(sieve, now() - start, size);
    return error;
}

/* Copy [addr, addr + size), if the window has it. */
static inline int copy(struct H5FD_h5vec_window *window, uint64_t addr, size_t size, void *buffer)
{
    uint64_t offset = addr - window->addr;
    if (addr < window->addr || size > window->size || offset > window->size - size)
        return 0;
    if (size == 4)
        memcpy(buffer, window->bytes + offset, 4); /* code without a call: some selections are all of these */
    else if (size == 8)
        memcpy(buffer, window->bytes + offset, 8);
    else
        memcpy(buffer, window->bytes + offset, size);
    window->last_end = addr + size;
    return 1;
}

/* Copy it from any window. If none has it: the one to move there, and how much of the file it shall hold. */
static int copy_or_choose(struct H5FD_h5vec_sieve *sieve, uint64_t addr, size_t size, void *buffer,
                          size_t *more)
{
    unsigned oldest = 0, near = H5FD_H5VEC_WINDOWS;
    for (unsigned i = 0; i < H5FD_H5VEC_WINDOWS; i++) {
        struct H5FD_h5vec_window *window = &sieve->windows[i];
        if (copy(window, addr, size, buffer)) {
            sieve->current = i;
            return 1;
        }
        if (window->used > 0 && addr >= window->last_end && addr - window->last_end <= sieve->worth / 4)
            near = i;
        if (window->used < sieve->windows[oldest].used)
            oldest = i;
    }
    sieve->current = near < H5FD_H5VEC_WINDOWS ? near : oldest;
    size_t most = sieve->worth > WINDOW_GROWS ? sieve->worth : WINDOW_GROWS;
    size_t first = sieve->worth / 8 > WINDOW_FIRST ? sieve->worth / 8 : WINDOW_FIRST;
    size_t before = sieve->windows[sieve->current].size, twice = 2 * (before > size ? before : size);
    twice = twice > first ? twice : first;
    *more = near == H5FD_H5VEC_WINDOWS ? sieve->worth / 32 : twice < most ? twice : most;
    return 0;
}

/* Move a window there. False: nothing is in it, because memory is out or reading more than was asked for
 * failed. */
static int move(struct H5FD_h5vec_sieve *sieve, struct H5FD_h5vec_window *window, uint64_t addr, size_t size)
{
    window->addr = addr;
    window->size = 0;
    if (size > window->room) {
        size_t room = size > WINDOW_GROWS ? size : WINDOW_GROWS;
        free(window->bytes);
        window->bytes = malloc(room);
        window->room = window->bytes ? room : 0;
    }
    if (!window->bytes || load(sieve, addr, size, window->bytes) != 0)
        return 0;
    window->size = size;
    return 1;
}

int H5FD_h5vec_sieve_read(struct H5FD_h5vec_sieve *sieve, uint64_t addr, size_t size, void *buffer,
                          uint64_t end)
{
    struct H5FD_h5vec_window *window = &sieve->windows[sieve->current];
    size_t more;
    int error = 0;
    if (copy(window, addr, size, buffer))
        return 0;
    if (size >= sieve->worth) /* the first read, too: nothing is known yet */
        return load(sieve, addr, size, buffer);
    if (!copy_or_choose(sieve, addr, size, buffer, &more)) {
        window = &sieve->windows[sieve->current];
        if (addr >= end || more > end - addr)
            more = addr < end ? (size_t)(end - addr) : 0;
        if (more <= size || !move(sieve, window, addr, more) || !copy(window, addr, size, buffer)) {
            window->size = 0; /* it only remembers where */
            window->last_end = addr + size;
            error = load(sieve, addr, size, buffer);
        }
    }
    sieve->windows[sieve->current].used = ++sieve->clock;
    return error;
}

void H5FD_h5vec_sieve_clear(struct H5FD_h5vec_sieve *sieve)
{
    for (unsigned i = 0; i < H5FD_H5VEC_WINDOWS; i++)
        free(sieve->windows[i].bytes);
    memset(sieve->windows, 0, sizeof sieve->windows);
}

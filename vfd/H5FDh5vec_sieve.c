/* SPDX-License-Identifier: BSD-3-Clause
 *
 * HDF5 has one sieve buffer for each open dataset; a driver does not know datasets, so there are some
 * windows, each where reading goes on. A read close behind the last one, or as far from it as that was from
 * the one before, moves that window there, as large as HDF5's buffer, and larger each time: then the end of
 * the data is far, too. Inside of a selection, which is of one dataset, close is further. A read that jumps
 * takes the window that was not used for longest, and little more than was asked for, since small datasets
 * are read here and there.
 */
#include "H5FDh5vec_sieve.h"

#include <stdlib.h>

enum { WINDOW_MAX = 512 << 10, JUMP = 8192 };

static bool goes_on(const struct H5FD_h5vec_sieve *sieve, const struct H5FD_h5vec_window *window,
                    uint64_t addr)
{
    bool inside = sieve->inside && window == &sieve->windows[sieve->current];
    uint64_t gap = addr - window->last_end;
    if (window->used == 0 || addr < window->last_end || gap > sieve->size)
        return false;
    return inside || gap <= JUMP || addr - window->last == window->stride;
}

/* The window where reading goes on, and how much to read; else the oldest. */
static struct H5FD_h5vec_window *choose(struct H5FD_h5vec_sieve *sieve, uint64_t addr, size_t *size)
{
    unsigned oldest = 0;
    for (unsigned i = 0; i < H5FD_H5VEC_WINDOWS; i++) {
        struct H5FD_h5vec_window *window = &sieve->windows[i];
        oldest = window->used < sieve->windows[oldest].used ? i : oldest;
        if (!goes_on(sieve, window, addr))
            continue;
        *size = 2 * window->size < WINDOW_MAX ? 2 * window->size : WINDOW_MAX;
        *size = *size > sieve->size ? *size : sieve->size;
        return window;
    }
    *size = JUMP < sieve->size ? JUMP : sieve->size;
    return &sieve->windows[oldest];
}

/* Move a window there. False: nothing is in it, because memory is out or reading more than was asked for
 * failed. */
static bool move(struct H5FD_h5vec_sieve *sieve, struct H5FD_h5vec_window *window, uint64_t addr, size_t size)
{
    if (size > window->room) {
        free(window->bytes);
        window->bytes = malloc(size);
        window->room = window->bytes ? size : 0;
    }
    window->addr = addr;
    window->size = 0;
    if (!window->bytes || sieve->load(sieve->context, addr, size, window->bytes) != 0)
        return false;
    window->size = size;
    return true;
}

/* Where a window was read last. */
static void note(struct H5FD_h5vec_window *window, uint64_t addr, size_t size)
{
    window->stride = addr - window->last;
    window->last = addr;
    window->last_end = addr + size;
}

/* Read what is in the current window. */
static bool hit_current(struct H5FD_h5vec_sieve *sieve, uint64_t addr, size_t size, void *buffer)
{
    struct H5FD_h5vec_window *window = &sieve->windows[sieve->current];
    uint64_t offset = addr - window->addr;
    if (addr < window->addr || size > window->size || offset > window->size - size)
        return false;
    H5FD_h5vec_sieve_copy(buffer, window->bytes + offset, size);
    note(window, addr, size);
    return true;
}

/* Look into all windows, the current one first. */
static bool hit(struct H5FD_h5vec_sieve *sieve, uint64_t addr, size_t size, void *buffer)
{
    unsigned before = sieve->current;
    if (hit_current(sieve, addr, size, buffer))
        return true;
    for (unsigned i = 0; i < H5FD_H5VEC_WINDOWS; i++) {
        sieve->current = i;
        if (hit_current(sieve, addr, size, buffer))
            return true;
    }
    sieve->current = before;
    return false;
}

/* Past the windows: what is asked for is as much as would be read. The window only remembers where. */
static int read_past(struct H5FD_h5vec_sieve *sieve, struct H5FD_h5vec_window *window, uint64_t addr,
                     size_t size, void *buffer)
{
    window->size = 0;
    note(window, addr, size);
    return sieve->load(sieve->context, addr, size, buffer);
}

int H5FD_h5vec_sieve_read(struct H5FD_h5vec_sieve *sieve, uint64_t addr, size_t size, void *buffer,
                          uint64_t end)
{
    int error = 0;
    if (size >= sieve->size)
        return sieve->load(sieve->context, addr, size, buffer);
    if (!hit(sieve, addr, size, buffer)) {
        size_t more;
        struct H5FD_h5vec_window *window = choose(sieve, addr, &more);
        if (addr >= end || more > end - addr)
            more = addr < end ? (size_t)(end - addr) : 0;
        sieve->current = (unsigned)(window - sieve->windows);
        if (more <= size || !move(sieve, window, addr, more) || !hit_current(sieve, addr, size, buffer))
            error = read_past(sieve, window, addr, size, buffer);
    }
    sieve->windows[sieve->current].used = ++sieve->clock;
    return error;
}

void H5FD_h5vec_sieve_drop(struct H5FD_h5vec_sieve *sieve, uint64_t addr, uint64_t size)
{
    for (unsigned i = 0; i < H5FD_H5VEC_WINDOWS; i++) {
        struct H5FD_h5vec_window *window = &sieve->windows[i];
        bool before = addr < window->addr && size <= window->addr - addr;
        if (!before && addr < window->addr + window->size)
            window->size = 0;
    }
}

void H5FD_h5vec_sieve_clear(struct H5FD_h5vec_sieve *sieve)
{
    for (unsigned i = 0; i < H5FD_H5VEC_WINDOWS; i++)
        free(sieve->windows[i].bytes);
    memset(sieve->windows, 0, sizeof sieve->windows);
}

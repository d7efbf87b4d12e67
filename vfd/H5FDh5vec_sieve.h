/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Small reads of raw data, joined where that is cheaper than what was asked for. No HDF5.
 */
#ifndef H5FDH5VEC_SIEVE_H
#define H5FDH5VEC_SIEVE_H

#include <stddef.h>
#include <stdint.h>

enum { H5FD_H5VEC_WINDOWS = 8, H5FD_H5VEC_COSTS = 4 };

/* [addr, addr + size) of the file, in memory with room for more. */
struct H5FD_h5vec_window {
    uint64_t addr;
    size_t size, room;
    unsigned char *bytes;
    uint64_t last_end; /* of what was read last */
    uint64_t used;     /* when, by the sieve's clock; 0: never */
};

struct H5FD_h5vec_sieve {
    /* Fills buffer with [addr, addr + size) of the file, zeros past its end. Returns 0 or an errno. */
    int (*load)(void *context, uint64_t addr, size_t size, void *buffer);
    void *context;
    /* These begin as zeros. */
    uint64_t clock;
    uint64_t loads;
    uint64_t
        costs[H5FD_H5VEC_COSTS]; /* of the last calls that were timed: nanoseconds, the bytes not counted */
    size_t worth;                /* so many bytes can be read or copied in place of a call */
    unsigned current;
    struct H5FD_h5vec_window windows[H5FD_H5VEC_WINDOWS];
};

/* Read [addr, addr + size), which does not overflow; nothing more is read past end. Returns 0 or an errno. */
int H5FD_h5vec_sieve_read(struct H5FD_h5vec_sieve *sieve, uint64_t addr, size_t size, void *buffer,
                          uint64_t end);
void H5FD_h5vec_sieve_clear(struct H5FD_h5vec_sieve *sieve);

#endif

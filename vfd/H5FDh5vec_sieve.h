/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Small reads of contiguous raw data, joined: what HDF5's sieve buffers do, which it does not use when a
 * driver reads selections. No HDF5.
 */
#ifndef H5FDH5VEC_SIEVE_H
#define H5FDH5VEC_SIEVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { H5FD_H5VEC_WINDOWS = 32 };

/* [addr, addr + size) of the file, in memory with room for more. */
struct H5FD_h5vec_window {
    uint64_t addr;
    size_t size, room;
    unsigned char *bytes;
    uint64_t last, last_end, stride; /* what was read last, and how far that was from what was read before */
    uint64_t used;                   /* when, by the sieve's clock */
};

struct H5FD_h5vec_sieve {
    size_t size; /* of HDF5's sieve buffer; 0: nothing is kept */
    /* These begin as zeros. */
    bool inside; /* the next read is of the same selection as the last: set by the caller */
    uint64_t clock;
    unsigned current;
    struct H5FD_h5vec_window windows[H5FD_H5VEC_WINDOWS];
    /* Fills buffer with [addr, addr + size) of the file, zeros past its end. Returns 0 or an errno. */
    int (*load)(void *context, uint64_t addr, size_t size, void *buffer);
    void *context;
};

/* Small sizes as code without a call. */
static inline void H5FD_h5vec_sieve_copy(void *to, const void *from, size_t size)
{
    if (size == 4)
        memcpy(to, from, 4);
    else if (size == 8)
        memcpy(to, from, 8);
    else
        memcpy(to, from, size);
}

/* Read [addr, addr + size), which does not overflow; nothing more is read past end. Returns 0 or an errno. */
int H5FD_h5vec_sieve_read(struct H5FD_h5vec_sieve *sieve, uint64_t addr, size_t size, void *buffer,
                          uint64_t end);
/* Forget [addr, addr + size), UINT64_MAX: to the end. */
void H5FD_h5vec_sieve_drop(struct H5FD_h5vec_sieve *sieve, uint64_t addr, uint64_t size);
void H5FD_h5vec_sieve_clear(struct H5FD_h5vec_sieve *sieve);

#endif

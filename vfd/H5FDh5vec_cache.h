/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The metadata of one open file, read in large pieces and kept: a bounded cache of what a load function
 * reads. No HDF5, no I/O of its own, no thread.
 *
 * The cache holds nothing that is not below it: a write goes to the file, and is copied into what is cached
 * there. Any of it can be forgotten at any time, and is when memory is out; a read fails only if loading
 * just the bytes that were asked for does. Errors are errno numbers, 0 is success.
 */
#ifndef H5FDH5VEC_CACHE_H
#define H5FDH5VEC_CACHE_H

#include <stddef.h>
#include <stdint.h>

struct H5FD_h5vec_cache;

struct H5FD_h5vec_cache_config {
    uint64_t capacity; /* bytes kept; what is needed to find them comes on top (about 8 %) */
    uint64_t block;    /* bytes loaded at a time, at multiples of it, rounded up to pages; 0: adaptive */
    uint64_t gap;      /* adaptive: bytes of other things that are read to reach more metadata */
    /* Fills buffer with [addr, addr + size), zeros where the file has none. Returns 0 or an errno. */
    int (*load)(void *context, uint64_t addr, size_t size, void *buffer);
    void *context; /* for load */
};

/* NULL when memory is out. */
struct H5FD_h5vec_cache *H5FD_h5vec_cache_new(const struct H5FD_h5vec_cache_config *config);
void H5FD_h5vec_cache_free(struct H5FD_h5vec_cache *cache);

/* Nothing is read ahead past end, the end of the file (by at most a page). Addresses in it are counted from
 * base. Both are 0 at first. */
void H5FD_h5vec_cache_bounds(struct H5FD_h5vec_cache *cache, uint64_t base, uint64_t end);
/* Read [addr, addr + size), where addr + size does not overflow. */
int H5FD_h5vec_cache_read(struct H5FD_h5vec_cache *cache, uint64_t addr, size_t size, void *buffer);
/* The file was changed there. */
void H5FD_h5vec_cache_write(struct H5FD_h5vec_cache *cache, uint64_t addr, size_t size, const void *bytes);
/* Forget [addr, addr + size); size may be UINT64_MAX: to the end. */
void H5FD_h5vec_cache_drop(struct H5FD_h5vec_cache *cache, uint64_t addr, uint64_t size);

#endif

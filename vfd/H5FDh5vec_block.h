/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A block of a file that waits to be written: a buffer, and which of its bytes were written to it. The others
 * are nobody's business: other processes may own them.
 */
#ifndef H5FDH5VEC_BLOCK_H
#define H5FDH5VEC_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct H5FD_h5vec_extent {
    size_t begin, end; /* in the block, begin < end */
};

struct H5FD_h5vec_block {
    uint64_t addr; /* in the file */
    size_t size;
    unsigned char *bytes;
    struct H5FD_h5vec_extent *dirty; /* in order, apart from each other by at least a byte */
    size_t count, room;
    size_t dirty_size; /* bytes */
    uint64_t since;    /* when the first of them came */
};

/* NULL when memory is out. */
struct H5FD_h5vec_block *H5FD_h5vec_block_new(size_t size);
void H5FD_h5vec_block_free(struct H5FD_h5vec_block *block);

/* The part of [addr, addr + size) that is in the block: [*from, *to) in the file. false: none. */
bool H5FD_h5vec_block_part(const struct H5FD_h5vec_block *block, uint64_t addr, uint64_t size, uint64_t *from,
                           uint64_t *to);
/* Write size bytes at offset, which are in the block. 0, or ENOMEM and nothing changed. */
int H5FD_h5vec_block_put(struct H5FD_h5vec_block *block, size_t offset, size_t size, const void *bytes);
/* Replace what buffer, the bytes of [addr, addr + size), has in common with the dirty bytes. */
void H5FD_h5vec_block_overlay(const struct H5FD_h5vec_block *block, uint64_t addr, uint64_t size,
                              unsigned char *buffer);
/* No byte is dirty any more. */
void H5FD_h5vec_block_clean(struct H5FD_h5vec_block *block);
/* Write the dirty bytes within [from, to) of the file; they stay dirty. 0 or an errno. */
int H5FD_h5vec_block_write(const struct H5FD_h5vec_block *block, int fd, uint64_t from, uint64_t to);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where a file's metadata is, as far as it says so itself: the metadata that was read names the addresses of
 * more. No HDF5, no I/O. Hints may be wrong or missing; they only decide what is worth reading ahead.
 */
#ifndef H5FDH5VEC_HINTS_H
#define H5FDH5VEC_HINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { H5FD_H5VEC_PAGE = 512 }; /* hints and the cache know the file by pages of so many bytes */

/* All zero is empty. Takes at most 1/4096 of the size of the file. */
struct H5FD_h5vec_hints {
    uint64_t **segments;
    size_t count;
};

/* Note every address found in size bytes of the file. Addresses in a file are counted from base; what is not
 * below end is none. No memory: nothing is noted. */
void H5FD_h5vec_hints_learn(struct H5FD_h5vec_hints *hints, const unsigned char *bytes, size_t size,
                            uint64_t base, uint64_t end);
/* Is there metadata in [page * H5FD_H5VEC_PAGE, (page + 1) * H5FD_H5VEC_PAGE)? */
bool H5FD_h5vec_hints_has(const struct H5FD_h5vec_hints *hints, uint64_t page);
void H5FD_h5vec_hints_clear(struct H5FD_h5vec_hints *hints);

#endif

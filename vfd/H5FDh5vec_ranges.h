/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A set of bytes of a file, kept as disjoint ranges [begin, end). Ranges that touch become one, so a million
 * chunks placed one after the other are one range.
 */
#ifndef H5FDH5VEC_RANGES_H
#define H5FDH5VEC_RANGES_H

#include <stdbool.h>
#include <stdint.h>

/* All zero is the empty set. */
struct H5FD_h5vec_ranges {
    void *root;
};

/* Add [begin, end), begin < end. 0, or -1 when memory is out (the set then lacks some of its bytes). */
int H5FD_h5vec_ranges_add(struct H5FD_h5vec_ranges *set, uint64_t begin, uint64_t end);
bool H5FD_h5vec_ranges_cover(const struct H5FD_h5vec_ranges *set, uint64_t begin, uint64_t end);
bool H5FD_h5vec_ranges_overlap(const struct H5FD_h5vec_ranges *set, uint64_t begin, uint64_t end);
void H5FD_h5vec_ranges_clear(struct H5FD_h5vec_ranges *set);

#endif

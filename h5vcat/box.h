/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Boxes of elements in row-major arrays of up to H5S_MAX_RANK dimensions.
 */
#ifndef H5VCAT_BOX_H
#define H5VCAT_BOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "h5vec_hdf5.h"

struct box {
    int rank;
    hsize_t start[H5S_MAX_RANK];
    hsize_t count[H5S_MAX_RANK];
};

/* Elements of a box. */
hsize_t h5vcat_box_volume(const struct box *b);

/* The part of a that is also in b; false if there is none. */
bool h5vcat_box_intersect(const struct box *a, const struct box *b, struct box *out);

/* Copy the elements of box what between two arrays: from covers the box from_box of the same index space, to
 * covers to_box; both are row-major and what lies in both. size: bytes of an element. */
void h5vcat_box_copy(const struct box *what, size_t size, const void *from, const struct box *from_box,
                     void *to, const struct box *to_box);

/* Fill the whole of to_box's array outside of keep (a box inside it) with copies of value (NULL: zeros). */
void h5vcat_box_fill_outside(const struct box *keep, size_t size, const void *value, void *to,
                             const struct box *to_box);

/* XXH64 of the bytes of box what, row-major, wherever they lie in the array that covers array_box. */
uint64_t h5vcat_box_hash(const struct box *what, size_t size, const void *array, const struct box *array_box,
                         uint64_t seed);

/* n copies of value (NULL: zeros) of size bytes. */
void h5vcat_fill_elements(void *to, size_t n, size_t size, const void *value);

#endif

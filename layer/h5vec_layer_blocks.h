/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The block index of a layer (index/blocks): rows in runs of about 64 KiB of WKB, each with its box, so that
 * a reader finds what a query box can touch, and ranks share work by vertices. Where blocks begin is a
 * function of row and offset alone: the same index comes out whatever the number of ranks that made it.
 */
#ifndef H5VEC_LAYER_BLOCKS_H
#define H5VEC_LAYER_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "h5vec_hdf5.h"
#include "vcodec.h"

#define H5VEC_LAYER_BLOCK_ROWS 65536 /* a block begins at every multiple of this many rows ... */
#define H5VEC_LAYER_BLOCK_BYTES                                                                              \
    65536 /* ... and at each row that starts in another run of bytes than the last */

/* One entry; the compound type in the file has these members, packed (72 bytes). */
struct h5vec_layer_block {
    uint64_t first_row;
    uint64_t rows;
    uint64_t first_byte; /* offsets[first_row] */
    uint64_t bytes;
    uint64_t vertices;
    struct vcodec_box bbox; /* union of the rows' boxes; in the file float64 [4] */
};
_Static_assert(sizeof(struct h5vec_layer_block) == 72, "the file's layout is packed");

/* Whether a block begins at this row. offset = offsets[row], previous = offsets[row - 1] (ignored for row 0).
 */
static inline bool h5vec_layer_block_starts(uint64_t row, uint64_t offset, uint64_t previous)
{
    return row % H5VEC_LAYER_BLOCK_ROWS == 0 ||
           offset / H5VEC_LAYER_BLOCK_BYTES != previous / H5VEC_LAYER_BLOCK_BYTES;
}

/* Add what b holds to a; b's rows must follow a's. Joins the parts of a block that two ranks made. */
void h5vec_layer_block_join(struct h5vec_layer_block *a, const struct h5vec_layer_block *b);

/* HDF5's compound type: little endian as in the file, or native as struct h5vec_layer_block. The caller
 * closes it; negative on failure, with the reason on HDF5's error stack. */
hid_t h5vec_layer_block_type(bool native);

/* Blocks of a run of rows, in order. The last one may still grow. Begin with {0} (nothing to free until the
 * first add), or set previous_offset when the run does not begin at row 0 (offsets[first row of the run -
 * 1]). */
struct h5vec_layer_blocks {
    struct h5vec_layer_block *block;
    size_t count, capacity;
    uint64_t previous_offset; /* where the last added row begins */
};

/* Add a row: it is at offset .. next_offset of geometry/wkb (as in the output file). The first row of a run
 * starts an entry in any case: a run that begins in the middle of a block has a first entry that is to be
 * joined with the last one of the run before it (h5vec_layer_block_starts tells). H5VEC_OK or H5VEC_E_NOMEM.
 */
enum h5vec_status h5vec_layer_blocks_add(struct h5vec_layer_blocks *blocks, uint64_t row, uint64_t offset,
                                         uint64_t next_offset, uint64_t vertices, struct vcodec_box box);

/* Forget the first n < count blocks (they have been written), so that memory stays bounded. */
void h5vec_layer_blocks_drop(struct h5vec_layer_blocks *blocks, size_t n);

void h5vec_layer_blocks_free(struct h5vec_layer_blocks *blocks);

#endif

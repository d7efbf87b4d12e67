/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who owns which bytes of a file: the driver's one cursor. No I/O here.
 *
 * Until placement begins the space is like any HDF5 file's: everything up to `cursor` is HDF5's, and
 * allocations are made at the end. From then on each byte below `cursor` is in a metadata zone, in a
 * reservation or in a placed range (or in a gap between them, to keep their starts aligned); HDF5's own
 * allocations come from the current zone [pos, end), and when that is full from a new one at the cursor.
 */
#ifndef H5FDH5VEC_SPACE_H
#define H5FDH5VEC_SPACE_H

#include <stdbool.h>

#include "H5FDh5vec.h"
#include "H5FDh5vec_ranges.h"

struct H5FD_h5vec_space {
    struct H5FD_h5vec_config config; /* defaults filled in, but for the sizes of zones */
    haddr_t limit;                   /* largest address */
    bool placing;
    haddr_t cursor;   /* the end of all that is owned by somebody: what get_eoa reports */
    haddr_t pos, end; /* the current zone: first free byte, end */
    hsize_t zones_size, zones_used;
    struct H5FD_h5vec_ranges zones, placed;
    haddr_t pending_addr; /* of the place call that was not used yet */
    hsize_t pending_size; /* 0: none */
};

enum H5FD_h5vec_write { H5FD_H5VEC_WRITE_ERROR = -1, H5FD_H5VEC_WRITE_KEEP, H5FD_H5VEC_WRITE_DROP };

/* All but clear return a negative value on failure, with the reason on HDF5's error stack. */

/* Begin placement (once). created: the file is new; eof: its size. */
herr_t H5FD_h5vec_space_begin(struct H5FD_h5vec_space *space, bool created, haddr_t eof);
herr_t H5FD_h5vec_space_reserve(struct H5FD_h5vec_space *space, hsize_t size, haddr_t *addr);
herr_t H5FD_h5vec_space_place(struct H5FD_h5vec_space *space, haddr_t addr, hsize_t size);

/* HDF5's side. raw: an allocation that a pending place call is for. */
herr_t H5FD_h5vec_space_alloc(struct H5FD_h5vec_space *space, bool raw, hsize_t size, haddr_t *addr);
herr_t H5FD_h5vec_space_set_eoa(struct H5FD_h5vec_space *space, haddr_t eoa);
void H5FD_h5vec_space_free(struct H5FD_h5vec_space *space, haddr_t addr, hsize_t size);
/* What to do with a write of HDF5 (size > 0, no overflow). */
enum H5FD_h5vec_write H5FD_h5vec_space_write(const struct H5FD_h5vec_space *space, haddr_t addr,
                                             hsize_t size);

/* Give back the unused tail of the current zone if nothing lies behind it. */
void H5FD_h5vec_space_trim(struct H5FD_h5vec_space *space);
void H5FD_h5vec_space_clear(struct H5FD_h5vec_space *space);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who owns which bytes of a file: the driver's one cursor. No I/O here.
 *
 * Until placement begins everything up to `cursor` is HDF5's: metadata is allocated in the current zone
 * [pos, end), and when that is full in a larger one at the cursor, raw data at the cursor. A zone that is the
 * last thing in the file ends, for HDF5, where its used part does. From then on each byte below `cursor` is
 * in a metadata zone, in a reservation or in a placed range (or in a gap between them, to keep their starts
 * aligned); all of HDF5's own allocations come from the current zone.
 */
#ifndef H5FDH5VEC_SPACE_H
#define H5FDH5VEC_SPACE_H

#include <stdbool.h>

#include "H5FDh5vec.h"
#include "H5FDh5vec_ranges.h"

struct H5FD_h5vec_zone {
    haddr_t start, pos, end;
};

struct H5FD_h5vec_space {
    struct H5FD_h5vec_config config; /* defaults filled in, but for the sizes of zones */
    haddr_t limit;                   /* largest address */
    bool placing;
    bool plain;         /* before placement: all at the end, since HDF5 pages or aligns the file itself */
    haddr_t cursor;     /* the end of all that is owned by somebody */
    haddr_t start;      /* of the current zone, before placement */
    haddr_t pos, end;   /* the current zone: first free byte, end */
    hsize_t meta_block; /* before placement: the smallest zone, as H5Pset_meta_block_size says; 0: 2 KiB */
    struct H5FD_h5vec_zone *left; /* before placement: earlier zones that are not full */
    size_t left_count, left_room;
    hsize_t zones_size, zones_used;
    struct H5FD_h5vec_ranges zones, placed;
    haddr_t pending_addr; /* of the place call that was not used yet */
    hsize_t pending_size; /* 0: none */
};

enum H5FD_h5vec_write { H5FD_H5VEC_WRITE_ERROR = -1, H5FD_H5VEC_WRITE_KEEP, H5FD_H5VEC_WRITE_DROP };

/* All that return herr_t return a negative value on failure, with the reason on HDF5's error stack. */

/* Begin placement (once). created: the file is new; eof: its size. */
herr_t H5FD_h5vec_space_begin(struct H5FD_h5vec_space *space, bool created, haddr_t eof);
herr_t H5FD_h5vec_space_reserve(struct H5FD_h5vec_space *space, hsize_t size, haddr_t *addr);
herr_t H5FD_h5vec_space_place(struct H5FD_h5vec_space *space, haddr_t addr, hsize_t size);

/* HDF5's side: get_eoa, alloc, set_eoa, free. raw: raw data, which a pending place call is for. */
haddr_t H5FD_h5vec_space_eoa(const struct H5FD_h5vec_space *space);
herr_t H5FD_h5vec_space_alloc(struct H5FD_h5vec_space *space, bool raw, hsize_t size, haddr_t *addr);
herr_t H5FD_h5vec_space_set_eoa(struct H5FD_h5vec_space *space, haddr_t eoa);
void H5FD_h5vec_space_free(struct H5FD_h5vec_space *space, haddr_t addr, hsize_t size);
/* What to do with a write of HDF5 (size > 0, no overflow). */
enum H5FD_h5vec_write H5FD_h5vec_space_write(const struct H5FD_h5vec_space *space, haddr_t addr,
                                             hsize_t size);

/* In placement: give back the unused tail of the current zone if nothing lies behind it. */
void H5FD_h5vec_space_trim(struct H5FD_h5vec_space *space);
void H5FD_h5vec_space_clear(struct H5FD_h5vec_space *space);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How an open file is read: from an image of it, metadata through a cache, raw data as asked.
 */
#ifndef H5FDH5VEC_READ_H
#define H5FDH5VEC_READ_H

#include <stdbool.h>

#include "H5FDh5vec.h"
#include "H5FDh5vec_sieve.h"

struct H5FD_h5vec_file;
struct H5FD_h5vec_cache;

/* Of an open file. All zero: everything is read as asked. */
struct H5FD_h5vec_reading {
    bool wants_cache, wants_image; /* neither was made yet */
    struct H5FD_h5vec_cache *cache;
    unsigned char *image; /* [0, image_size) of the file, or NULL */
    haddr_t image_size;
    struct H5FD_h5vec_sieve sieve; /* without a load function: not used */
};

/* Decide how the file is read; its settings, size and name are there. flags are those of open. */
void H5FD_h5vec_read_begin(struct H5FD_h5vec_file *file, unsigned flags);
/* From now on all is read from these size bytes, which become the file's. */
void H5FD_h5vec_read_image(struct H5FD_h5vec_file *file, void *image, size_t size);
void H5FD_h5vec_read_end(struct H5FD_h5vec_file *file);

/* A negative value on failure, with the reason on HDF5's error stack. */
herr_t H5FD_h5vec_read(struct H5FD_h5vec_file *file, H5FD_mem_t type, haddr_t addr, size_t size,
                       void *buffer);

/* The file was changed there, or cut off or extended at addr. */
void H5FD_h5vec_read_written(struct H5FD_h5vec_file *file, haddr_t addr, size_t size, const void *bytes);
void H5FD_h5vec_read_resized(struct H5FD_h5vec_file *file, haddr_t addr);

#endif

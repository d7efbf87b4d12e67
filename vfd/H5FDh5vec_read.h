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
    struct H5FD_h5vec_sieve sieve;
};

/* Decide how the file is read; its settings, size and name are there. flags are those of open. */
herr_t H5FD_h5vec_read_begin(struct H5FD_h5vec_file *file, unsigned flags, hid_t fapl);
/* From now on all is read from these size bytes, which become the file's. */
void H5FD_h5vec_read_image(struct H5FD_h5vec_file *file, void *image, size_t size);
void H5FD_h5vec_read_end(struct H5FD_h5vec_file *file);

/* All return a negative value on failure, with the reason on HDF5's error stack. */
herr_t H5FD_h5vec_read(struct H5FD_h5vec_file *file, H5FD_mem_t type, haddr_t addr, size_t size,
                       void *buffer);
/* The arguments are HDF5's: a size of 0 or a type NOLIST stands for all that follow being as the one before.
 */
herr_t H5FD_h5vec_read_vector(struct H5FD_h5vec_file *file, uint32_t count, const H5FD_mem_t types[],
                              const haddr_t addrs[], const size_t sizes[], void *buffers[]);
/* Likewise: element size 0 and buffer NULL. */
herr_t H5FD_h5vec_read_selections(struct H5FD_h5vec_file *file, H5FD_mem_t type, size_t count,
                                  const hid_t mem_spaces[], const hid_t file_spaces[], const haddr_t addrs[],
                                  const size_t element_sizes[], void *buffers[]);

/* The file was changed there, or cut off or extended at addr. */
void H5FD_h5vec_read_written(struct H5FD_h5vec_file *file, haddr_t addr, size_t size, const void *bytes);
void H5FD_h5vec_read_resized(struct H5FD_h5vec_file *file, haddr_t addr);

#endif

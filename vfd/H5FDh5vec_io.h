/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whole reads and writes of a file descriptor. Each returns 0 or an errno.
 */
#ifndef H5FDH5VEC_IO_H
#define H5FDH5VEC_IO_H

#include <stddef.h>
#include <stdint.h>

/* What lies past the end of the file reads as zeros. */
int H5FD_h5vec_io_read(int fd, void *buffer, size_t size, uint64_t offset);
int H5FD_h5vec_io_write(int fd, const void *buffer, size_t size, uint64_t offset);
/* Also 0 where the kind of file cannot be synchronised. */
int H5FD_h5vec_io_sync(int fd);
int H5FD_h5vec_io_resize(int fd, uint64_t size);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whole reads and writes at an offset: EINTR and short transfers are dealt with here. Local. name is for the
 * error message.
 */
#ifndef H5VCAT_FILE_H
#define H5VCAT_FILE_H

#include <stddef.h>
#include <stdint.h>
#include "h5vec_status.h"

enum h5vec_status h5vcat_file_write(int fd, const char *name, uint64_t offset, const void *data, size_t size,
                                    struct h5vec_error *err);

/* A file that ends before offset + size is an error. */
enum h5vec_status h5vcat_file_read(int fd, const char *name, uint64_t offset, void *data, size_t size,
                                   struct h5vec_error *err);

/* Where chunks and zones begin in a directory's files, in bytes: no two nodes share a page or a stripe. */
uint64_t h5vcat_file_alignment(const char *directory);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A whole file in memory. Large files are read by a few threads at once; none is left when the call returns.
 */
#ifndef H5FDH5VEC_IMAGE_H
#define H5FDH5VEC_IMAGE_H

#include <stddef.h>
#include <stdint.h>

/* Read the first size (> 0) bytes into new memory, *image, which the caller frees. Zeros where the file has
 * become shorter. Returns 0 or an errno, ENOMEM when they do not fit. */
int H5FD_h5vec_image_load(int fd, uint64_t size, unsigned char **image);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files that are not HDF5 but can be read as such: WKT, CSV, shapefiles (formats/h5vec_format.h).
 */
#ifndef H5FDH5VEC_FOREIGN_H
#define H5FDH5VEC_FOREIGN_H

#include <stdbool.h>

#include "H5FDh5vec.h"

/* What a file that was just opened as fd is to HDF5. If it is HDF5, is empty, or is nothing that is known,
 * *image is NULL and HDF5 sees the file itself (in the last case a message on HDF5's error stack says why it
 * will be refused). Else *image is a HDF5 file of *size bytes with one layer called "layer", to be freed by
 * the caller. A negative value on failure, with the reason on the error stack: the file is to be written, or
 * it has a malformed record, or it would take more memory than config->foreign_max.
 *
 * Calls HDF5 functions, so the error stack is cleared. name: for messages, and to find a shapefile's other
 * files. config: complete. */
herr_t H5FD_h5vec_foreign_image(const char *name, int fd, bool writable,
                                const struct H5FD_h5vec_config *config, void **image, size_t *size);

#endif

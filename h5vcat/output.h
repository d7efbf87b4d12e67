/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The file that is written directly (direct.c). Local.
 */
#ifndef H5VCAT_OUTPUT_H
#define H5VCAT_OUTPUT_H

#include <sys/stat.h>
#include "merge.h"

/* Rank 0: make the temporary file through the driver (*file) and open it for data (*fd); *st: what it is.
 * What was opened is the caller's to close, also on failure. */
enum h5vec_status h5vcat_output_create(const struct merge *m, uint64_t alignment, hid_t *file, int *fd,
                                       struct stat *st, struct h5vec_error *err);

/* The other ranks: open the same file, under the same name. */
enum h5vec_status h5vcat_output_open(const struct merge *m, const struct stat *created, int *fd,
                                     struct h5vec_error *err);

#endif

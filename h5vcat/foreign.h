/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Filters that h5vcat does not do itself: HDF5's nbit, scale-offset and szip, and plugins. Local.
 */
#ifndef H5VCAT_FOREIGN_H
#define H5VCAT_FOREIGN_H

#include "merge.h"

enum foreign_use {
    FOREIGN_READ,
    FOREIGN_WRITE,       /* by h5vcat_foreign_encode */
    FOREIGN_WRITE_ALONE, /* by HDF5 alone: a filter that may change values is refused, too */
};

/* Whether every foreign filter of a creation list is available to HDF5. The message names filter, file and
 * dataset. */
enum h5vec_status h5vcat_foreign_check(hid_t dcpl, enum foreign_use use, const char *file, const char *path,
                                       struct h5vec_error *err);

/* What HDF5 makes of a whole chunk of an item that is stored like this: *size bytes at out, at most room, and
 * *mask, the filters that it left out: all of them if the chunk would not come back as it was. Takes memory
 * of about three chunks. */
enum h5vec_status h5vcat_foreign_encode(const struct merge *m, const struct item *it, const struct storage *s,
                                        const void *raw, void *out, size_t room, size_t *size, uint32_t *mask,
                                        struct h5vec_error *err);

#endif

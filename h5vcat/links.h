/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a file holds beside groups and datasets with rows of its own: links, the block of bytes before its
 * content, and data that lie in other files. Local.
 */
#ifndef H5VCAT_LINKS_H
#define H5VCAT_LINKS_H

#include "scan.h"
#include "schema.h"

struct merge;

/* A link as bytes: its class, then its value. An external link's relative file name is made relative to
 * directory, the output's, so that equal bytes are equal targets. NULL: out of memory. */
struct blob *h5vcat_links_blob(struct schema *s, const char *directory, const struct scan_object *o);

/* Create the link at path in the output. */
herr_t h5vcat_links_create(hid_t out, const char *path, const struct blob *link, hid_t lcpl);

/* Whether every source file that a virtual dataset names is there: HDF5 would give fill values for one that
 * is not. Names with a block number (%b) are not looked at. */
enum h5vec_status h5vcat_links_check_virtual(const char *file, const char *path, hid_t dcpl,
                                             struct h5vec_error *err);

/* A creation list of contiguous data with the fill value and attribute order of this one. Negative on
 * failure. The caller closes it. */
hid_t h5vcat_links_contiguous(hid_t dcpl, hid_t type);

/* Rank 0: copy input 0's user block to the begin of the output that is not yet renamed, and flush it. */
enum h5vec_status h5vcat_links_user_block(const struct merge *m, struct h5vec_error *err);

#endif

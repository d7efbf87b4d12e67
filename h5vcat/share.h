/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the ranks have found in their inputs becomes the schema's, the same everywhere.
 */
#ifndef H5VCAT_SHARE_H
#define H5VCAT_SHARE_H

#include "merge.h"

/* What is known of an item from this rank's parts so far. */
struct match {
    bool seen;         /* it is in the current part's input */
    uint32_t first;    /* this rank's first input with rows, or NOBODY */
    struct blob *mine; /* that one's dcpl, if it is not input 0 */
    uint64_t chunk;    /* hash of that one's chunk */
};

/* Collective: the first input with rows of each item and its properties, agreement of chunks, and limits.
 * items: of the schema, from this rank's parts. */
enum h5vec_status h5vcat_share_matches(struct merge *m, const struct match *items, struct h5vec_error *err);

#endif

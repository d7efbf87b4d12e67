/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Texts that several ranks share: whose a record is, and where its bytes come from. Internal to h5vcat/.
 */
#ifndef H5VCAT_CUTS_H
#define H5VCAT_CUTS_H

#include "merge.h"

/* Collective: for each part of a text that is cut, where its records begin and the rest of its last one. */
enum h5vec_status h5vcat_cuts_find(struct merge *m, struct h5vec_error *err);

/* A part's bytes, one after the other: those of its blocks, then its tail. */
struct share {
    struct blocks *blocks;
    const struct part *part;
    uint64_t origin, at, end; /* of the blocks; at: the next byte */
    size_t tail_at;
};

/* Local. data: where the text's first record begins; no byte before it is read. */
void h5vcat_share_open(const struct merge *m, const struct part *p, uint64_t data, struct share *share);

/* A h5vec_format_source over a struct share. */
enum h5vec_status h5vcat_share_read(void *context, void *buffer, size_t size, size_t *got,
                                    struct h5vec_error *err);

#endif

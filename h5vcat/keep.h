/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which encoder packs a chunk: with --compress=keep the output is to be no larger, in sum, than what the
 * inputs' filters made. Local.
 */
#ifndef H5VCAT_KEEP_H
#define H5VCAT_KEEP_H

#include "page.h"

/* What a rank has learnt so far. Begin with {0}. */
struct keeper {
    double balance; /* bytes saved so far over what the inputs' filters made */
    int streak;     /* trials in a row that libdeflate won; negative: that zlib did */
    int skipped;    /* chunks that could have been tried */
};

/* Encode a chunk of bytes bytes, of which used are the dataset's, to to (coder_bound bytes of room). */
enum h5vec_status h5vcat_keep_encode(const struct merge *m, struct keeper *k, struct page_item *p,
                                     const void *raw, uint64_t bytes, uint64_t used, void *to, size_t *size,
                                     struct h5vec_error *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Chunks that several ranks have rows of: each gets one owner, to which the others send their rows. Every
 * rank knows all row numbers of the page, so nothing has to be asked for: who sends what to whom is computed
 * alike by all.
 */
#ifndef H5VCAT_EXCHANGE_H
#define H5VCAT_EXCHANGE_H

#include "page.h"

/* A shared chunk that this rank owns, put together. */
struct shared {
    int entry; /* in the page */
    uint64_t slab, tile;
    struct box chunk;
    char *array;           /* the chunk, rows past the dataset's end not set */
    int first_span, spans; /* its pieces, ascending */
    bool joined;           /* some of them are runs */
    bool missing;          /* no rank has stored data for it */
};

/* A piece of a shared chunk. */
struct span {
    uint64_t at, bytes; /* of the array */
    uint64_t
        run; /* 0: its rows are there. Else their Adler-32 (4 bytes) and then a run (splice.h), so long */
};

struct exchange;

enum h5vec_status h5vcat_exchange_new(struct merge *m, struct exchange **out, struct h5vec_error *err);
void h5vcat_exchange_free(struct exchange *x);

/* Begin with a page. Local, alike on every rank. */
void h5vcat_exchange_begin(struct exchange *x, struct page *page);

/* Whether rounds are left: the same on every rank. */
bool h5vcat_exchange_left(const struct exchange *x);

/* Collective: the next batch of shared chunks, as many as fit every rank's buffers. assembly: budget.assembly
 * bytes, where the chunks are put together; work: budget.encoded bytes of use to nobody else; join: to make
 * runs with. A rank that fails takes part to the end; the error is its own and is to be agreed on. */
enum h5vec_status h5vcat_exchange_round(struct exchange *x, char *assembly, char *work, struct join *join,
                                        struct h5vec_error *err);

/* The chunks of the last round that this rank owns. */
int h5vcat_exchange_count(const struct exchange *x);
const struct shared *h5vcat_exchange_chunk(const struct exchange *x, int i);
const struct span *h5vcat_exchange_spans(const struct exchange *x, const struct shared *u);

/* Slabs (rows of chunks) in which only this rank has rows: [*first, *end). */
void h5vcat_exchange_own_slabs(const struct merge *m, const struct page_item *p, int rank, uint64_t *first,
                               uint64_t *end);

#endif

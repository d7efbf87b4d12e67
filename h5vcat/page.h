/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A page: consecutive items of the schema that are created, read and written together. Many small datasets
 * share one page, whose rows each rank reads ahead, file by file (a file is opened once, not once per
 * dataset); a large dataset has a page of its own and is read as it is written.
 */
#ifndef H5VCAT_PAGE_H
#define H5VCAT_PAGE_H

#include "box.h"
#include "chunks.h"
#include "merge.h"
#include "plan.h"

/* A dataset with rows. Rows are numbered as in the output. */
struct page_item {
    int item;
    struct storage storage;
    const uint64_t *base;  /* of each rank, then the total: ranks + 1 */
    uint64_t *starts;      /* row of the output at which each of this rank's parts begins, then the end */
    struct rows *numbers;  /* of each part */
    int64_t *delta;        /* of each part: what is added to offsets; NULL: nothing */
    void *fill;            /* the output's fill value; NULL: zeros */
    char *rows;            /* this rank's rows, read ahead; NULL: they are read when asked for */
    bool gaps;             /* rows: some chunk of the inputs was missing */
    struct packed *packed; /* of each part: its stored chunks stand in rows in place of them */
    bool any_packed;
    enum plan_joins joins; /* whether its chunks are joined from the inputs' */
    struct join *join;     /* for h5vcat_page_box: what to join to; NULL: nothing */
    bool zlib_wins;        /* for the writer: libdeflate made larger chunks than zlib */
    hid_t dset;            /* for the writer */
    uint64_t address;      /* for the writer: of contiguous data */
};

struct page {
    int first, end; /* items of the schema */
    int count;
    struct page_item *items;
    void *numbers; /* what base, starts, numbers and delta point into */
};

/* Collective: the next page from *cursor on, which moves behind it; page->first == page->end after the last.
 * Does not read rows. On failure nothing is to be freed. */
enum h5vec_status h5vcat_page_next(const struct merge *m, int *cursor, struct page *page,
                                   struct h5vec_error *err);
void h5vcat_page_free(struct page *page);

/* Local: read this rank's rows ahead if the page is one of small datasets. */
enum h5vec_status h5vcat_page_read_ahead(struct merge *m, struct page *page, struct h5vec_error *err);

/* Local: read a box of this rank's rows into the array that covers to_box. *missing: nothing is stored there
 * in the inputs, and the array holds the output's fill value. */
enum h5vec_status h5vcat_page_box(struct merge *m, struct page_item *p, const struct box *what, void *to,
                                  const struct box *to_box, bool *missing, struct h5vec_error *err);

/* Chunks of the item along each dimension; returns how many there are along all but the first. */
uint64_t h5vcat_page_grid(const struct merge *m, const struct page_item *p, hsize_t *grid);

/* The box of the chunk with these numbers: slab along the first dimension, tile along the others. It may
 * stick out of the dataset. */
void h5vcat_page_chunk(const struct merge *m, const struct page_item *p, uint64_t slab, uint64_t tile,
                       struct box *chunk);

/* The part of a chunk's box that lies in rows [begin, end) and inside the dataset; false if nothing does. */
bool h5vcat_page_piece(const struct merge *m, const struct page_item *p, const struct box *chunk,
                       uint64_t begin, uint64_t end, struct box *piece);

/* The XXH64 of a piece's bytes in the array that covers to_box, seeded by dataset and place. */
uint64_t h5vcat_page_hash(const struct item *it, int number, const struct box *piece, const void *array,
                          const struct box *to_box);

/* A piece (this rank's rows of a chunk) has been read: count it for the progress and, with --verify, add its
 * hash to the item's sum. Every piece of the page passes here once. */
void h5vcat_page_done(struct merge *m, const struct page_item *p, const struct box *piece, const void *array,
                      const struct box *to_box);

/* A chunk of so many bytes has been encoded as a whole: count them, and why they were. */
void h5vcat_page_encoded(struct merge *m, const struct page_item *p, uint64_t bytes);

#endif

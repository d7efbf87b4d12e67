/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An output chunk in the making, spliced from the inputs' stored chunks as they are read (splice.h), or a
 * rank's rows of one. The rows are put together in an array all the same: for --verify, for what no stored
 * stream covers, and in case splicing turns out to be of no use. Local.
 */
#ifndef H5VCAT_JOIN_H
#define H5VCAT_JOIN_H

#include "filters.h"
#include "splice.h"

struct join {
    struct h5vcat_splice *splice;
    struct h5vcat_splice_counts before; /* of the splice, when this chunk began */
    const char *array;                  /* whole rows of the chunk, ascending */
    uint64_t at;                        /* bytes of the array that are in the splice */
    int runs;
    void *out;
    bool same_fill; /* for the reader: the input's fill value is the output's */
};

/* Whether chunks with this pipeline can be joined: deflate, and perhaps fletcher32 behind it. */
bool h5vcat_join_can(const struct pipeline *p);

/* Begin with the chunk whose rows come to array; room bytes at out. */
void h5vcat_join_begin(struct join *j, const struct pipeline *p, enum h5vcat_encoder encoder,
                       const void *array, void *out, size_t room);

/* The same for a piece of it, which becomes a run. */
void h5vcat_join_begin_run(struct join *j, const struct pipeline *p, enum h5vcat_encoder encoder,
                           const void *array, void *out, size_t room);

/* A stored chunk (its pipeline and mask) holds bytes [from, to) of its raw_size as the array's from `at` on;
 * what is before `at` is in the array. It is inflated to raw. *taken is false if it cannot be joined, for
 * whatever reason: decoding it tells. */
enum h5vec_status h5vcat_join_stored(struct join *j, const struct pipeline *p, unsigned mask,
                                     const void *stored, size_t size, void *raw, size_t raw_size, size_t from,
                                     size_t to, uint64_t at, bool *taken, struct h5vec_error *err);

/* A run that stands for count bytes of the array from `at` on. */
enum h5vec_status h5vcat_join_run(struct join *j, const void *run, size_t size, uint32_t adler, size_t count,
                                  uint64_t at, struct h5vec_error *err);

/* End with an array of count bytes. *size: of what was made, with the checksum that p asks for; 0: the array
 * is to be encoded as usual, since nothing could be copied or it became too large. */
enum h5vec_status h5vcat_join_finish(struct join *j, const struct pipeline *p, uint64_t count, size_t *size,
                                     struct h5vec_error *err);
enum h5vec_status h5vcat_join_finish_run(struct join *j, uint64_t count, size_t *size, uint32_t *adler,
                                         struct h5vec_error *err);

/* What has gone into the chunk so far. */
struct h5vcat_splice_counts h5vcat_join_counts(const struct join *j);

#endif

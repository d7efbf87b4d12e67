/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Blocks of a text: where its bytes come from. A share of a text (from origin to end) is read a block after
 * the other, and the last block stays until another one is read. With H5VCAT_READ_COLLECTIVE the ranks that
 * share a text read together: they agree on how many blocks each may read (h5vcat_blocks_rounds), and one
 * that needs fewer takes part with nothing (h5vcat_blocks_finish).
 */
#ifndef H5VCAT_BLOCKS_H
#define H5VCAT_BLOCKS_H

#include "inputs.h"

struct blocks;

/* Local. inputs and options are borrowed. */
enum h5vec_status h5vcat_blocks_new(const struct inputs *in, const struct h5vcat_options *options, int ranks,
                                    struct blocks **out, struct h5vec_error *err);
void h5vcat_blocks_free(struct blocks *b);

/* Collective over comm, once: with H5VCAT_READ_COLLECTIVE the ranks whose parts are of one text that is cut
 * become a group and open it. Errors are not agreed on. */
enum h5vec_status h5vcat_blocks_share(struct blocks *b, MPI_Comm comm, struct h5vec_error *err);

/* Collective over the group, if this rank is in one: each rank is about to read at most so many blocks of the
 * group's text. Returns the most that any rank of the group said; without a group, n. */
uint64_t h5vcat_blocks_rounds(struct blocks *b, uint64_t n);

/* Take part in those of the agreed rounds that this rank has not read a block in. Whatever went wrong. */
void h5vcat_blocks_finish(struct blocks *b);

/* Bytes of a block of an input. */
uint64_t h5vcat_blocks_size(const struct blocks *b, uint32_t input);

/* Blocks that a share [origin, end) still has from byte at on. */
uint64_t h5vcat_blocks_count(const struct blocks *b, uint32_t input, uint64_t origin, uint64_t at,
                             uint64_t end);

/* The bytes from at on, up to the end of the share's block that at lies in: *size of them, borrowed until the
 * next call. at < end. */
enum h5vec_status h5vcat_blocks_get(struct blocks *b, uint32_t input, uint64_t origin, uint64_t at,
                                    uint64_t end, const char **bytes, size_t *size, struct h5vec_error *err);

/* What the borders of blocks should be multiples of, where the file is large: the file system's block or, if
 * MPI-IO is to be used and knows it, the stripe. */
uint64_t h5vcat_blocks_stripe(const char *name, uint64_t block, enum h5vcat_read how);

#endif

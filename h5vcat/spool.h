/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbered streams of bytes that are first appended to and then read at any position: what a rank cannot keep
 * in memory (the rows of text inputs, the plan's numbers). Kept in memory up to a limit, then in one file
 * without a name. Local.
 */
#ifndef H5VCAT_SPOOL_H
#define H5VCAT_SPOOL_H

#include <stddef.h>
#include <stdint.h>
#include "h5vec_status.h"

struct spool;

/* memory: bytes kept before a file is made in directory (copied). */
enum h5vec_status h5vcat_spool_new(const char *directory, size_t memory, struct spool **out,
                                   struct h5vec_error *err);
void h5vcat_spool_free(struct spool *s);

/* A new, empty stream; its number counts from 0. */
enum h5vec_status h5vcat_spool_stream(struct spool *s, int *stream, struct h5vec_error *err);
uint64_t h5vcat_spool_length(const struct spool *s, int stream);

enum h5vec_status h5vcat_spool_append(struct spool *s, int stream, const void *data, size_t size,
                                      struct h5vec_error *err);

/* Read [offset, offset + size), all of it inside the stream. */
enum h5vec_status h5vcat_spool_read(struct spool *s, int stream, uint64_t offset, void *data, size_t size,
                                    struct h5vec_error *err);

#endif

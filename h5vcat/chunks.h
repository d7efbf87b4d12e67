/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A chunked dataset whose filters are ours, read chunk by chunk with pread. Local.
 */
#ifndef H5VCAT_CHUNKS_H
#define H5VCAT_CHUNKS_H

#include "box.h"
#include "filters.h"

struct chunks;

/* Take a dataset of an open file (opened with sec2; both borrowed). *out is NULL if HDF5 has to read it:
 * a filter that is not ours. cache: bytes for decoded chunks; at least one is kept. */
enum h5vec_status h5vcat_chunks_open(struct coder *coder, hid_t file, hid_t dset, hid_t dcpl, size_t element,
                                     uint64_t cache, struct chunks **out, struct h5vec_error *err);
void h5vcat_chunks_free(struct chunks *c);

/* Bytes of the dataset in the chunks that were decoded since the last call, and what they are stored in. */
void h5vcat_chunks_seen(struct chunks *c, uint64_t *raw, uint64_t *stored);

/* Read the box what (inside the dataset) into the array that covers to_box. Where no chunk is stored, fill
 * (NULL: zeros) is; *stored: some chunk of the box is. Messages name the chunk. */
enum h5vec_status h5vcat_chunks_read(struct chunks *c, const struct box *what, void *to,
                                     const struct box *to_box, const void *fill, bool *stored,
                                     struct h5vec_error *err);

#endif

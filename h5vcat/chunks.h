/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A chunked dataset whose filters are ours, read chunk by chunk with pread. Local.
 */
#ifndef H5VCAT_CHUNKS_H
#define H5VCAT_CHUNKS_H

#include "box.h"
#include "filters.h"
#include "join.h"

struct chunks;

/* Stored chunks of some rows of a dataset, copied: the chunk's dimensions, a table, then their bytes. */
struct packed {
    uint64_t rows;       /* of the dataset */
    uint64_t first_slab; /* the table's first chunk along the first dimension */
    uint64_t count;      /* entries of the table */
    uint64_t bytes;      /* of all */
    bool summed;         /* behind deflate, fletcher32 */
    bool partial_unfiltered;
    bool same_fill; /* for the reader: the input's fill value is the output's */
};

/* What the chunks of a dataset have in common. All bytes of equal forms are equal. */
struct chunk_form {
    size_t element; /* bytes of the type */
    hsize_t chunk[H5S_MAX_RANK];
    struct pipeline pipeline;
    int rank;
    bool partial_unfiltered; /* chunks that stick out of the dataset are stored without filters */
};

/* The form from a creation property list of chunked layout; false if HDF5 has to read the chunks: a filter
 * that is not ours. */
bool h5vcat_chunks_form(hid_t dcpl, int rank, size_t element, struct chunk_form *form);
uint64_t h5vcat_chunks_form_bytes(const struct chunk_form *form); /* of a decoded chunk */

/* Take a dataset of an open file (opened with sec2; both borrowed). cache: bytes for decoded chunks; at least
 * one is kept. */
enum h5vec_status h5vcat_chunks_open(struct coder *coder, hid_t file, hid_t dset,
                                     const struct chunk_form *form, const hsize_t *dims, uint64_t cache,
                                     struct chunks **out, struct h5vec_error *err);

/* The same for a dataset that lies in one stored chunk, known by its place, with no filter skipped. */
enum h5vec_status h5vcat_chunks_open_only(struct coder *coder, hid_t file, const struct chunk_form *form,
                                          const hsize_t *dims, uint64_t address, uint32_t size,
                                          struct chunks **out, struct h5vec_error *err);

/* The same for packed chunks (h5vcat_chunks_pack), which stay where they are. dims[0] is not looked at. */
enum h5vec_status h5vcat_chunks_open_packed(struct coder *coder, const struct packed *packed,
                                            const char *bytes, int rank, const hsize_t *dims, size_t element,
                                            uint64_t cache, struct chunks **out, struct h5vec_error *err);
void h5vcat_chunks_free(struct chunks *c);

/* Bytes of the dataset in the chunks that were decoded since the last call, and what they are stored in. */
void h5vcat_chunks_seen(struct chunks *c, uint64_t *raw, uint64_t *stored);

/* Copy the stored chunks of rows [first, first + count) to bytes. packed->bytes is 0 if room does not
 * suffice, a chunk is missing, or the filters are not those of join.h. packed->same_fill is left alone. */
enum h5vec_status h5vcat_chunks_pack(struct chunks *c, uint64_t first, uint64_t count, char *bytes,
                                     uint64_t room, struct packed *packed, struct h5vec_error *err);

/* Read the box what (inside the dataset) into the array that covers to_box. Where no chunk is stored, fill
 * (NULL: zeros) is; *stored: some chunk of the box is. Messages name the chunk. join, unless NULL: to_box is
 * a chunk of the output or whole rows of one, and stored chunks are joined to it on the way where they can
 * be. */
enum h5vec_status h5vcat_chunks_read(struct chunks *c, const struct box *what, void *to,
                                     const struct box *to_box, const void *fill, struct join *join,
                                     bool *stored, struct h5vec_error *err);

#endif

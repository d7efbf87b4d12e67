/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading rows of inputs: a bounded number of open files, one open dataset at a time, chunks read and decoded
 * here and not by HDF5 where the filters are ours. Local.
 */
#ifndef H5VCAT_READER_H
#define H5VCAT_READER_H

#include "box.h"
#include "chunks.h"
#include "merge.h"

/* Open an HDF5 file for reading, with little memory. The caller closes it. */
enum h5vec_status h5vcat_reader_open_file(const char *name, hid_t *file, struct h5vec_error *err);

/* Offsets rows->start and rows->start + rows->count of an int64 dataset: where a layer's share of bytes
 * begins and ends. Offsets that run backwards are an error. */
enum h5vec_status h5vcat_reader_offsets(hid_t file, const char *name, const char *path,
                                        const struct rows *rows, int64_t at[2], struct h5vec_error *err);

enum h5vec_status h5vcat_reader_new(struct merge *m, struct reader **out, struct h5vec_error *err);
void h5vcat_reader_free(struct reader *r);

/* An input's file, open; borrowed until the next call. */
enum h5vec_status h5vcat_reader_file(struct reader *r, uint32_t input, hid_t *file, struct h5vec_error *err);

/* If all rows of an open dataset lie in one small stored chunk, note its place in rows (which stand for all
 * of them), so that the dataset need not be opened again. */
void h5vcat_reader_remember(struct reader *r, hid_t dset, hid_t dcpl, int rank, const hsize_t *dims,
                            size_t element, struct rows *rows);

/* Read a box of an item from one part's input. rows: the part's. what: the box in rows of the input dataset
 * (dimension 0) and its other dimensions; to: row-major array that covers to_box of the same index space.
 * fill: the output's fill value (NULL: zeros). join: as in chunks.h. *missing: no chunk of the box is stored
 * and the input's fill value is the output's; the array is filled then, too. */
enum h5vec_status h5vcat_reader_read(struct reader *r, uint32_t input, int item, const struct rows *rows,
                                     const struct box *what, void *to, const struct box *to_box,
                                     const void *fill, struct join *join, bool *missing,
                                     struct h5vec_error *err);

/* Copy the stored chunks of rows [first, first + count) of the input dataset to bytes, which has so much
 * room; packed->bytes is 0 if that cannot be done. To be read later by h5vcat_reader_read_packed, as
 * h5vcat_reader_read does, while the bytes stay where they are. */
enum h5vec_status h5vcat_reader_pack(struct reader *r, uint32_t input, int item, const struct rows *rows,
                                     const void *fill, uint64_t first, uint64_t count, char *bytes,
                                     uint64_t room, struct packed *packed, struct h5vec_error *err);
enum h5vec_status h5vcat_reader_read_packed(struct reader *r, uint32_t input, int item,
                                            const struct packed *packed, const char *bytes,
                                            const struct box *what, void *to, const struct box *to_box,
                                            struct join *join, struct h5vec_error *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The chunk filters that are done here and not by HDF5: deflate (libdeflate, zlib where it refuses a stream),
 * shuffle, fletcher32 and the coordinate transform, in any order, deflate and the transform at most once and
 * the transform before deflate. The bytes are those that HDF5's own filters read and write. Local.
 */
#ifndef H5VCAT_FILTERS_H
#define H5VCAT_FILTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "h5vcat.h"
#include "h5vec_hdf5.h"

#define PIPELINE_MAX 32 /* HDF5's H5Z_MAX_NFILTERS */

/* A filter pipeline in its stored order (the order in which writing applies it). */
struct pipeline {
    int count;
    struct {
        H5Z_filter_t id;
        unsigned flags;
        unsigned
            value; /* deflate: the level on record; shuffle: bytes of an element; else the first parameter */
    } filter[PIPELINE_MAX];
    int level; /* what the encoder takes for deflate: libdeflate's 0 to 12, or zlib's 0 to 9 */
};

/* Read the pipeline of a dataset creation property list. element: bytes of the dataset's type. */
enum h5vec_status h5vcat_pipeline_get(hid_t dcpl, size_t element, struct pipeline *p,
                                      struct h5vec_error *err);

/* Whether h5vcat_coder_encode and h5vcat_coder_decode can do it; otherwise *foreign is the first filter they
 * cannot. */
bool h5vcat_pipeline_is_ours(const struct pipeline *p, H5Z_filter_t *foreign);

bool h5vcat_pipeline_equal(const struct pipeline *a, const struct pipeline *b);
int h5vcat_pipeline_find(const struct pipeline *p, H5Z_filter_t id); /* index, or -1 */

/* The name users know a filter by ("deflate"), in name if it is not a well-known one. */
const char *h5vcat_filter_name(H5Z_filter_t id, char name[32]);

/* Encoders, decoders and their scratch memory (about two chunks; four more for the coordinate transform, once
 * it is used). One per rank. */
struct coder;
enum h5vec_status h5vcat_coder_new(struct coder **out, struct h5vec_error *err);
void h5vcat_coder_free(struct coder *c);

/* Bytes that h5vcat_coder_encode may need for size bytes of raw data. */
size_t h5vcat_coder_bound(const struct pipeline *p, size_t size);

/* Encode size bytes into out (coder_bound bytes of room); deflate is done by this encoder, libdeflate at
 * p->level, zlib at the level on record. */
enum h5vec_status h5vcat_coder_encode(struct coder *c, const struct pipeline *p, enum h5vcat_encoder encoder,
                                      const void *raw, size_t size, void *out, size_t *out_size,
                                      struct h5vec_error *err);

/* Put the checksum of size bytes behind them (4 bytes of room); returns the new size. And whether the last 4
 * of size bytes are the checksum of those before. */
size_t h5vcat_fletcher32_append(void *bytes, size_t size);
bool h5vcat_fletcher32_matches(const void *stored, size_t size);

/* Decode a stored chunk to exactly raw_size bytes; filters whose bit is set in mask were skipped. The message
 * of a failure says what is wrong with the chunk, not where it is. */
enum h5vec_status h5vcat_coder_decode(struct coder *c, const struct pipeline *p, unsigned mask,
                                      const void *stored, size_t stored_size, void *raw, size_t raw_size,
                                      struct h5vec_error *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Joining zlib streams, and parts of them, without compressing again: what deflate's compressor once made is
 * copied, bit by bit, and only the rims of a cut are deflated anew. docs/design.md says how.
 *
 *     h5vcat_splice_begin(s, H5VCAT_ENCODER_LIBDEFLATE, 6, out, room);
 *     h5vcat_splice_stream(s, stream, size, raw, raw_size, 0, raw_size, &err);       a whole stream
 *     h5vcat_splice_stream(s, other, other_size, raw, raw_size, 1000, 90000, &err);  a part of one
 *     h5vcat_splice_raw(s, bytes, count, &err);                                      bytes
 *     h5vcat_splice_finish(s, &size, &err);
 *
 * The result is one zlib stream (RFC 1950) that every inflate reads, in blocks that were there before. Local;
 * one thread per splice.
 */
#ifndef H5VCAT_SPLICE_H
#define H5VCAT_SPLICE_H

#include <stddef.h>
#include <stdint.h>
#include "h5vcat.h"

struct h5vcat_splice;

/* Bytes that went into a splice since it was made; all but `surplus` count inflated bytes. */
struct h5vcat_splice_counts {
    uint64_t copied;  /* in streams that were taken whole */
    uint64_t spliced; /* in the parts of cut streams that were copied */
    uint64_t encoded; /* deflated anew: rims of cuts, and h5vcat_splice_raw */
    uint64_t surplus; /* behind the ends of streams, dropped as inflate drops them */
};

enum h5vec_status h5vcat_splice_new(struct h5vcat_splice **out, struct h5vec_error *err);
void h5vcat_splice_free(struct h5vcat_splice *s);

/* Begin a stream at out, borrowed until h5vcat_splice_finish, with room bytes. What is deflated anew is so by
 * this encoder at this level (libdeflate: 0 to 12; zlib: 0 to 9). */
void h5vcat_splice_begin(struct h5vcat_splice *s, enum h5vcat_encoder encoder, int level, void *out,
                         size_t room);

/* Append bytes [from, to) of what a zlib stream of size bytes holds; from <= to <= raw_size, all that it
 * holds. raw: raw_size bytes that it is inflated to on the way. Bytes behind the stream are passed over.
 * H5VEC_E_DATA, and nothing is appended: it is damaged, its checksum does not match, it needs a preset
 * dictionary, or holds other than raw_size bytes (if more, the first raw_size are in raw). */
enum h5vec_status h5vcat_splice_stream(struct h5vcat_splice *s, const void *stream, size_t size, void *raw,
                                       size_t raw_size, size_t from, size_t to, struct h5vec_error *err);

/* Append count bytes, deflating them. Takes about twice as much memory on the way. */
enum h5vec_status h5vcat_splice_raw(struct h5vcat_splice *s, const void *bytes, size_t count,
                                    struct h5vec_error *err);

/* End the stream. *size: its bytes. H5VEC_E_ARG: room did not suffice, and out holds nothing of use. */
enum h5vec_status h5vcat_splice_finish(struct h5vcat_splice *s, size_t *size, struct h5vec_error *err);

const struct h5vcat_splice_counts *h5vcat_splice_counted(const struct h5vcat_splice *s);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The coordinate transform: bytes of concatenated WKB in, bytes out that deflate packs two to three times
 * smaller, and the same bytes back. It does not compress; it sorts: decimal coordinates become small integers
 * in byte planes, headers and counts go apart. docs/codec.md specifies the encoded form byte by byte.
 *
 * The input may be any bytes: a piece that starts and ends inside geometries, or no WKB at all. Local,
 * thread-safe (a struct vcodec_transform is one thread's), independent of the locale; the rounding mode must
 * be the default one.
 */
#ifndef VCODEC_TRANSFORM_H
#define VCODEC_TRANSFORM_H

#include <stddef.h>
#include <stdint.h>
#include "h5vec_status.h"

#define VCODEC_TRANSFORM_VERSION 1

/* Encoded bytes are at least an EXPANSION-th of what they stand for: a decoder need not allocate more for
 * hostile input. */
#define VCODEC_TRANSFORM_EXPANSION 16

/* Scratch memory for encoding and decoding, kept from call to call: two to four times the largest raw size.
 */
struct vcodec_transform;
enum h5vec_status vcodec_transform_new(struct vcodec_transform **out, struct h5vec_error *err);
void vcodec_transform_free(struct vcodec_transform *t);

/* Bytes that vcodec_transform_encode may need for size bytes: 16 more than size. */
size_t vcodec_transform_bound(size_t size);

/* Encode raw[0 .. size) into out, which has room for vcodec_transform_bound(size) bytes. Fails only for want
 * of memory. */
enum h5vec_status vcodec_transform_encode(struct vcodec_transform *t, const uint8_t *raw, size_t size,
                                          uint8_t *out, size_t *out_size, struct h5vec_error *err);

/* How many raw bytes encoded[0 .. size) stands for: from its header, which is checked; never more than
 * VCODEC_TRANSFORM_EXPANSION * size. */
enum h5vec_status vcodec_transform_raw_size(const uint8_t *encoded, size_t size, size_t *raw_size,
                                            struct h5vec_error *err);

/* Decode encoded[0 .. size) into out. raw_size must be what vcodec_transform_raw_size tells. On failure
 * (H5VEC_E_TRANSFORM, H5VEC_E_TRANSFORM_VERSION, H5VEC_E_NOMEM) out holds nothing useful. */
enum h5vec_status vcodec_transform_decode(struct vcodec_transform *t, const uint8_t *encoded, size_t size,
                                          uint8_t *out, size_t raw_size, struct h5vec_error *err);

#endif

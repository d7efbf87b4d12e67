/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Inside the engine: runs. A run is a stretch of deflate blocks that ends on a byte border, without a header,
 * a final block or a checksum; it is what one rank's rows of a chunk travel as. Local.
 */
#ifndef H5VCAT_SPLICE_RUN_H
#define H5VCAT_SPLICE_RUN_H

#include "h5vcat_splice.h"

/* As h5vcat_splice_begin and _finish, but what is made is a run. *adler: the Adler-32 of its inflated bytes.
 */
void h5vcat_splice_run_begin(struct h5vcat_splice *s, enum h5vcat_encoder encoder, int level, void *out,
                             size_t room);
enum h5vec_status h5vcat_splice_run_finish(struct h5vcat_splice *s, size_t *size, uint32_t *adler,
                                           struct h5vec_error *err);

/* Append a run of size bytes that inflates to raw_size bytes with this Adler-32. It is trusted. */
void h5vcat_splice_run(struct h5vcat_splice *s, const void *run, size_t size, size_t raw_size,
                       uint32_t adler);

#endif

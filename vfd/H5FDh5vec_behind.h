/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The write buffer of one open file. No HDF5 in it.
 *
 * Small writes are joined in aligned blocks and go down a block at a time, in one call for all neighbouring
 * bytes; never a byte that was not written here. With async a thread of the file's own does that while the
 * program goes on. All functions are for one thread at a time. Errors are errnos.
 */
#ifndef H5FDH5VEC_BEHIND_H
#define H5FDH5VEC_BEHIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct H5FD_h5vec_behind;

/* block: bytes of a block; buffer: bytes that may wait, at least a block or two. fd is the caller's and stays
 * open as long as this lives. NULL when memory is out. */
struct H5FD_h5vec_behind *H5FD_h5vec_behind_new(int fd, uint64_t block, uint64_t buffer, bool async);

/* Ends the thread. What still waits is dropped: drain first. 0, or an error of the thread that no other call
 * has returned yet. behind may be NULL. */
int H5FD_h5vec_behind_free(struct H5FD_h5vec_behind *behind);

/* The bytes are copied; without a thread, a quarter of a block or more is written at once if nothing waits in
 * its range. An error may be that of an earlier write: of the thread, or of what had to go down to make room.
 * Bytes of earlier writes that could not be written still wait; of this one, some may be lost. */
int H5FD_h5vec_behind_write(struct H5FD_h5vec_behind *behind, uint64_t addr, size_t size, const void *bytes);

/* What the file will hold when all is written: its bytes (zeros past its end) overlaid with what waits. */
int H5FD_h5vec_behind_read(struct H5FD_h5vec_behind *behind, uint64_t addr, size_t size, void *buffer);

/* Write all that waits, in order of address, but what lies before kept (the end of a file that is whole now)
 * only when the rest is down: a disk that is full does not spoil that file. On an error, which may also be
 * one of the thread's that was not returned yet, what could not be written still waits. */
int H5FD_h5vec_behind_drain(struct H5FD_h5vec_behind *behind, uint64_t kept);

#endif

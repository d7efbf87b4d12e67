/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Looks over the driver's shoulder: records what HDF5 is given and writes, and checks that no two owners
 * share a byte. Independent of the driver's own bookkeeping.
 */
#ifndef VFD_RECORD_H
#define VFD_RECORD_H

#include "vfd_test.h"

/* From now on until the file is closed. One file at a time. */
void record_start(hid_t file);
/* H5FD_h5vec_reserve, recorded; aborts the test on failure. */
haddr_t record_reserve(hid_t file, hsize_t size);
/* Blocks given to HDF5 since record_start, and how many of them grew in place through set_eoa. */
int record_blocks(void);
int record_extensions(void);
/* NULL, or what was wrong. */
const char *record_verdict(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the driver's tests share.
 */
#ifndef VFD_TEST_H
#define VFD_TEST_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "H5FDh5vec.h"

/* A scratch file of this process, in $TMPDIR or /tmp. Valid until the next call with the same tag. */
const char *scratch(const char *tag);

hid_t h5vec_fapl(hsize_t first_zone, hsize_t zone); /* libver v110 */
hid_t sec2_fapl(void);
/* Settings of writing, by number: the default, no buffer, small blocks, then the last two with a thread; and
 * all on disk after each flush. Oldest file format, no locks: others may look in at any time. */
enum { WRITE_MODES = 6 };
extern const char *const write_modes[WRITE_MODES];
hid_t mode_fapl(int mode);
hid_t placement_fcpl(void); /* no free space management */
hid_t create_placed(const char *path, hsize_t first_zone, hsize_t zone);

/* A chunked dataset of native ints; max 0: unlimited. deflate and the like are added to dcpl by the caller,
 * who may give H5P_DEFAULT. */
hid_t create_chunked(hid_t file, const char *name, hsize_t n, hsize_t max, hsize_t chunk, hid_t dcpl);

/* Place a chunk of a one-dimensional dataset: HDF5 gets size bytes of rubbish for it. */
herr_t place_chunk(hid_t file, hid_t dataset, hsize_t first, haddr_t addr, hsize_t size, uint32_t mask);

/* Somebody else opens the file by its name and writes there: without HDF5, and in another process. */
void write_outside(const char *path, haddr_t addr, const void *bytes, size_t size);
void write_from_child(const char *path, haddr_t addr, const void *bytes, size_t size);

/* Whether both have the same settings, sizeof_config included. */
bool same_settings(const struct H5FD_h5vec_config *a, const struct H5FD_h5vec_config *b);

/* Run the suite of one test case and return main's exit code. */
int run_tests(const char *name, TCase *tcase);

/* All messages of the current error stack, one a line. */
const char *error_text(void);
bool error_says(const char *part);

/* The values of a dataset of ints, read with HDF5's own driver; *n of them. Freed by the caller. */
int *read_ints(const char *path, const char *dataset, hsize_t *n);
/* values[i] is i; frees values. One assertion: Check's are slow. */
void expect_ascending(int *values, hsize_t n);

/* A new chunked dataset of n ints, 0, 1, ...; and that a file has one like that, read with HDF5's own driver.
 */
void write_ints(hid_t file, const char *name, int n);
void expect_ints(const char *path, const char *name, int n);

#endif

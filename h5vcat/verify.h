/* SPDX-License-Identifier: BSD-3-Clause
 *
 * --verify: is what was read what the output holds?
 */
#ifndef H5VCAT_VERIFY_H
#define H5VCAT_VERIFY_H

#include "merge.h"

/* Collective, on the closed output: every rank reads the rows of the rank before it through HDF5, hashes the
 * same pieces, and the sums of both are compared dataset by dataset. */
enum h5vec_status h5vcat_verify_output(struct merge *m, struct h5vec_error *err);

#endif

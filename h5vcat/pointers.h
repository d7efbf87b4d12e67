/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Datasets whose elements are not their bytes: variable-length strings and sequences, references.
 */
#ifndef H5VCAT_POINTERS_H
#define H5VCAT_POINTERS_H

#include "merge.h"

/* Local, by one rank, when every object of the output is there: write the rows of all items of kind
 * ITEM_POINTERS from all inputs. out: the output's file, open by this rank alone. */
enum h5vec_status h5vcat_pointers_write(const struct merge *m, hid_t out, struct h5vec_error *err);

/* Whether there are any. */
bool h5vcat_pointers_any(const struct schema *s);

/* Local: give a creation list for such a dataset the fill value that the input's list from has; type is the
 * dataset's. */
bool h5vcat_pointers_fill(hid_t from, hid_t to, hid_t type);

#endif

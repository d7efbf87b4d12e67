/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plan: how many rows each dataset has and where this rank's go, how it is stored, whether memory
 * suffices. Made from the inputs' metadata alone, the same on every rank.
 */
#ifndef H5VCAT_PLAN_H
#define H5VCAT_PLAN_H

#include "merge.h"

/* Collective: row numbers of all ranks, the checks that can refuse the merge, and the memory budget. Before
 * it, h5vcat_layers_index has run. */
enum h5vec_status h5vcat_plan_make(struct merge *m, struct h5vec_error *err);

/* How an item of kind ITEM_ROWS is stored. Local, and the same on every rank. */
enum h5vec_status h5vcat_plan_storage(const struct merge *m, const struct item *it, struct storage *s,
                                      struct h5vec_error *err);

/* The dataset creation properties for it. The caller closes *dcpl. */
enum h5vec_status h5vcat_plan_dcpl(const struct merge *m, const struct item *it, const struct storage *s,
                                   hid_t *dcpl, struct h5vec_error *err);

/* Whether an item becomes an object of the output: optional ones only if some input has them. */
bool h5vcat_plan_wanted(const struct item *it);

/* Tell the plan line by line through h5vcat_merge_say. Collective. */
void h5vcat_plan_tell(const struct merge *m);

/* Whether the output's chunks of an item are joined from the inputs' streams, or why not. */
enum plan_joins {
    PLAN_JOINS,
    PLAN_JOINS_NEVER,   /* --splice=never, --write=collective, or --compress, --shuffle, --codec ask for other
                           streams */
    PLAN_JOINS_FILTERS, /* the filters are not deflate alone or with fletcher32 behind it */
    PLAN_JOINS_VALUES,  /* the values are not the inputs': offsets, index */
    PLAN_JOINS_COUNT
};
enum plan_joins h5vcat_plan_joins(const struct merge *m, const struct item *it, const struct storage *s);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a rank holds while it looks at its inputs one by one. Internal to gather.c and build.c.
 */
#ifndef H5VCAT_MATCH_H
#define H5VCAT_MATCH_H

#include "merge.h"
#include "scan.h"
#include "share.h"

/* One input against the schema. */
struct matching {
    struct merge *m;
    const struct part *part;
    const char *name;
    struct match *items;
    struct rows *rows; /* of the items in the current part */
    int room;          /* items that both have room for */
    bool built;        /* the walk that made a schema has matched this rank's first part already */
};

/* gather.c: room for the schema's items; nothing is known of new ones. */
enum h5vec_status h5vcat_match_room(struct matching *w, struct h5vec_error *err);

/* gather.c: rows that this rank takes from a dataset: count and properties. */
enum h5vec_status h5vcat_match_rows(struct matching *w, int item, const struct scan_object *o,
                                    struct h5vec_error *err);

/* build.c: what a dataset is in its layer. */
enum h5vec_status h5vcat_build_role(const struct scan_object *o, enum h5vec_layer_role *role,
                                    struct h5vec_error *err);

/* build.c: what kind of item a dataset is. */
enum item_kind h5vcat_build_kind(const struct scan_object *o);

/* build.c: the bytes of a scalar dataset. The caller frees *bytes. */
enum h5vec_status h5vcat_build_scalar(const struct scan_object *o, void **bytes, struct h5vec_error *err);

/* build.c: m->schema from an HDF5 input; its rows are matched on the way if it is this rank's first part. */
enum h5vec_status h5vcat_build_hdf5(struct matching *w, uint32_t input, struct h5vec_error *err);

/* build.c: add what a layer may have and this one has not, so that other inputs' are not lost. */
enum h5vec_status h5vcat_build_layers(struct schema *s, struct h5vec_error *err);

#endif

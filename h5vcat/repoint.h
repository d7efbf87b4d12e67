/* SPDX-License-Identifier: BSD-3-Clause
 *
 * References of every kind in values of any type: from objects of an input to those of the output with the
 * same paths. Local.
 */
#ifndef H5VCAT_REPOINT_H
#define H5VCAT_REPOINT_H

#include "schema.h"

struct repointing {
    hid_t in, out; /* the files */
    const struct schema *schema;
    const uint64_t *bases; /* of each item: the row of the output that the input's first one is; NULL: 0 */
};

/* What a type contains, in arrays, compounds and sequences too. */
enum contents {
    CONTENTS_PLAIN = 0,
    CONTENTS_SEQUENCES = 1,  /* variable-length strings and sequences */
    CONTENTS_REFERENCES = 2, /* of any kind */
    CONTENTS_REGIONS = 4,    /* of a kind that can name rows of a dataset */
};
unsigned h5vcat_repoint_contents(hid_t type);

/* Change the references in a value in memory. Regions move with the rows of their input. The message of a
 * failure says what is wrong with the reference, not where it is. */
enum h5vec_status h5vcat_repoint(const struct repointing *p, hid_t type, char *value,
                                 struct h5vec_error *err);

/* A hash of what a value in memory means: contents of sequences, paths of references in the file p->in. */
uint64_t h5vcat_repoint_hash(const struct repointing *p, hid_t type, const char *value, uint64_t seed);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Copying attributes of every kind from an input's object to the output's. Object references are re-pointed
 * by path when all objects exist. Local; with a file that is open for parallel access every rank does the
 * same.
 */
#ifndef H5VCAT_ATTRIBUTES_H
#define H5VCAT_ATTRIBUTES_H

#include <stdbool.h>
#include <stdint.h>
#include "repoint.h"

/* Attributes that hold references and wait for their objects. Begin with {0}. */
struct attribute_list {
    struct attribute_place {
        char *path, *name;
    } * places;
    size_t count, room;
};
void h5vcat_attribute_list_free(struct attribute_list *list);

/* Where attributes come from. */
struct attribute_source {
    const char *file; /* the input's name */
    /* The output's committed datatype for the input's; borrowed, negative if there is none. */
    hid_t (*type)(void *context, hid_t stored);
    void *context;
};

/* Copy the attributes of from to to, which is called path. Those of a layer that are made anew are left out
 * if is_layer. Attributes with references are created empty and noted in refs. */
enum h5vec_status h5vcat_attributes_copy(hid_t from, hid_t to, const struct attribute_source *source,
                                         const char *path, bool is_layer, struct attribute_list *refs,
                                         struct h5vec_error *err);

/* How many records of its source a layer lacks: its attribute h5vec_skipped; 0 without one. */
enum h5vec_status h5vcat_attributes_skipped(hid_t layer, uint64_t *skipped, struct h5vec_error *err);
enum h5vec_status h5vcat_attributes_write_skipped(hid_t layer, uint64_t skipped, struct h5vec_error *err);

/* Write the attributes in refs: values from the input file p->in, which is called file, pointing to the
 * objects of p->out with the same paths. */
enum h5vec_status h5vcat_attributes_write_references(const struct repointing *p, const char *file,
                                                     const struct attribute_list *refs,
                                                     struct h5vec_error *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The output's objects: groups, datasets, attributes, made in the order of the schema with ordinary HDF5
 * calls. Called by the one rank that writes metadata (direct) or by every rank alike (collective).
 */
#ifndef H5VCAT_CREATE_H
#define H5VCAT_CREATE_H

#include "attributes.h"
#include "page.h"

struct creator {
    const struct merge *m;
    hid_t in; /* input 0 if it is HDF5 and its attributes are to be copied, else invalid */
    hid_t out;
    hid_t lcpl; /* for the next link */
    /* The creation list made last, for many datasets in a row are stored alike. */
    hid_t dcpl; /* 0: none */
    const struct blob *dcpl_from;
    struct storage dcpl_storage;
    struct attribute_list refs;
    struct committed { /* datatypes that are committed in the output; id negative: the input's has no name */
        const struct blob *token;
        hid_t id;
    } * types;
    size_t type_count;
    /* Called before contiguous data of size > 0 bytes is allocated: says where (p->address). NULL: HDF5 does.
     */
    enum h5vec_status (*place)(void *context, uint64_t size, uint64_t *address, struct h5vec_error *err);
    void *context;
};

/* File creation properties: no free space tracking, and the root group's as in input 0. Caller closes. */
hid_t h5vcat_create_fcpl(const struct merge *m);

/* Open input 0 for its attributes and begin with this output file. */
enum h5vec_status h5vcat_creator_open(const struct merge *m, hid_t out, struct creator *c,
                                      struct h5vec_error *err);
void h5vcat_creator_close(struct creator *c);

/* Create the items of a page; datasets with rows stay open in page->items[].dset. */
enum h5vec_status h5vcat_creator_page(struct creator *c, struct page *page, struct h5vec_error *err);

/* Close the page's datasets. */
void h5vcat_creator_page_end(struct page *page);

/* What needs all objects: references. */
enum h5vec_status h5vcat_creator_finish(struct creator *c, struct h5vec_error *err);

#endif

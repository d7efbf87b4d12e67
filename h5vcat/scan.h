/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A walk over every link and object of an HDF5 file. What h5vcat does not support is refused here, by name.
 * Local.
 */
#ifndef H5VCAT_SCAN_H
#define H5VCAT_SCAN_H

#include <stdbool.h>
#include "h5vec_hdf5.h"
#include "h5vec_status.h"

enum scan_kind {
    SCAN_GROUP,
    SCAN_DATASET,
    SCAN_TYPE, /* a committed datatype */
    SCAN_LINK, /* a soft or external link, or another hard link to an object that was visited before */
};

/* An object on the way; open and valid during the visit only. */
struct scan_object {
    const char *file;
    const char *path;  /* absolute, "/" for the root */
    const char *layer; /* path of the layer that it is in (or is itself), or NULL */
    hid_t id;          /* of a link: the group that holds it */
    H5T_cset_t cset;   /* of its link's name */
    enum scan_kind kind;
    bool is_layer;
    /* links: */
    H5L_type_t link;
    const char *value; /* hard: the path at which the object was visited; else as H5Lget_val gives it */
    size_t value_size;
    H5O_token_t token; /* of a committed datatype, or of the one that a dataset uses */
                       /* datasets: */
    bool committed;    /* its type is */
    bool pointers;     /* its type has variable-length data or references; dcpl is without the fill value */

    hid_t type, dcpl; /* dcpl: contiguous where the data lie in other datasets or files (virtual, external) */
    size_t element;   /* bytes of the type */
    H5S_class_t space;
    int rank;
    hsize_t dims[H5S_MAX_RANK], maxdims[H5S_MAX_RANK];
};

typedef enum h5vec_status (*scan_visit)(void *context, const struct scan_object *object,
                                        struct h5vec_error *err);

/* Visit the root, then depth first everything below it, in creation order where the group tracks it, else by
 * name; an object with several hard links once, as the first of them. Stops at the first visit that fails. */
enum h5vec_status h5vcat_scan_file(hid_t file, const char *name, scan_visit visit, void *context,
                                   struct h5vec_error *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A walk over every object of an HDF5 file. What h5vcat does not support is refused here, by name. Local.
 */
#ifndef H5VCAT_SCAN_H
#define H5VCAT_SCAN_H

#include <stdbool.h>
#include "h5vec_hdf5.h"
#include "h5vec_status.h"

/* An object on the way; open and valid during the visit only. */
struct scan_object {
    const char *file;
    const char *path;  /* absolute, "/" for the root */
    const char *layer; /* path of the layer that it is in (or is itself), or NULL */
    hid_t id;
    H5T_cset_t cset; /* of its link's name */
    bool is_group;
    bool is_layer;
    /* datasets: */
    hid_t type, dcpl;
    size_t element; /* bytes of the type */
    H5S_class_t space;
    int rank;
    hsize_t dims[H5S_MAX_RANK], maxdims[H5S_MAX_RANK];
};

typedef enum h5vec_status (*scan_visit)(void *context, const struct scan_object *object,
                                        struct h5vec_error *err);

/* Visit the root, then depth first every object below it, in creation order where the group tracks it, else
 * by name. Stops at the first visit that fails. */
enum h5vec_status h5vcat_scan_file(hid_t file, const char *name, scan_visit visit, void *context,
                                   struct h5vec_error *err);

#endif

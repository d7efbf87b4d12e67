/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Datasets of a layer: found without HDF5 reporting errors, opened, and compared with what the format says of
 * their role.
 */
#include "layer_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct h5vec_layer_source h5vec_layer_absent = {.id = H5I_INVALID_HID};

enum h5vec_status h5vec_layer_invalid(struct h5vec_error *err, const char *path, const char *what)
{
    return h5vec_error_set(err, H5VEC_E_LAYER_INVALID, 0, "%s: %s", path, what);
}

/* Whether there is an object at path (one or more links below group). */
enum h5vec_status h5vec_layer_exists(hid_t group, const char *path, bool *there, struct h5vec_error *err)
{
    char part[2 * H5VEC_LAYER_MAX_NAME * 3];
    for (const char *end = path; *end;) {
        end += strcspn(end + 1, "/") + 1;
        size_t length = (size_t)(end - path);
        if (length >= sizeof part)
            return h5vec_layer_invalid(err, "columns", "a name is too long");
        memcpy(part, path, length);
        part[length] = '\0';
        htri_t found = H5Lexists(group, part, H5P_DEFAULT);
        if (found < 0)
            return h5vec_layer_error_hdf5(err, "%s: cannot be looked up", part);
        *there = found > 0;
        if (!found)
            return H5VEC_OK;
    }
    return H5VEC_OK;
}

static enum h5vec_status check_type(hid_t type, const char *path, enum h5vec_layer_role role,
                                    struct h5vec_error *err)
{
    if (role == H5VEC_LAYER_ROLE_COLUMN_FIXED) {
        bool fixed = H5Tdetect_class(type, H5T_VLEN) == 0 && H5Tdetect_class(type, H5T_REFERENCE) == 0 &&
                     !(H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) > 0);
        return fixed ? H5VEC_OK : h5vec_layer_invalid(err, path, "its type is not of a fixed size");
    }
    struct h5vec_layer_dataset right;
    enum h5vec_status status = h5vec_layer_dataset_init(&right, role, NULL, 0, NULL, err);
    if (status != H5VEC_OK)
        return status;
    htri_t equal = H5Tequal(type, right.type);
    h5vec_layer_dataset_free(&right);
    if (equal < 0)
        return h5vec_layer_error_hdf5(err, "%s: its type cannot be compared", path);
    return equal ? H5VEC_OK : h5vec_layer_invalid(err, path, "its type is not the format's");
}

static enum h5vec_status check_space(hid_t space, const char *path,
                                     const struct h5vec_layer_expected *expected, uint64_t *rows,
                                     struct h5vec_error *err)
{
    hsize_t dims[H5S_MAX_RANK] = {0};
    int rank =
        H5Sget_simple_extent_type(space) == H5S_SIMPLE ? H5Sget_simple_extent_dims(space, dims, NULL) : 0;
    bool boxes = expected->role == H5VEC_LAYER_ROLE_BBOX || expected->role == H5VEC_LAYER_ROLE_RTREE_NODES;
    bool right = boxes                                             ? rank == 2 && dims[1] == 4
                 : expected->role == H5VEC_LAYER_ROLE_COLUMN_FIXED ? rank >= 1
                                                                   : rank == 1;
    if (!right)
        return h5vec_layer_invalid(err, path, "it has other dimensions than the format's");
    if (!expected->any_rows && dims[0] != expected->rows)
        return h5vec_error_set(err, H5VEC_E_LAYER_INVALID, 0,
                               "%s: %" PRIu64 " rows where %" PRIu64 " are needed", path, (uint64_t)dims[0],
                               expected->rows);
    *rows = dims[0];
    return H5VEC_OK;
}

/* Open and check a dataset; *source stays h5vec_layer_absent if it is not there and need not be. */
enum h5vec_status h5vec_layer_source_open(hid_t group, const char *path, struct h5vec_layer_expected expected,
                                          struct h5vec_layer_source *source, struct h5vec_error *err)
{
    bool there = false;
    *source = h5vec_layer_absent;
    enum h5vec_status status = h5vec_layer_exists(group, path, &there, err);
    if (status != H5VEC_OK)
        return status;
    if (!there)
        return expected.required ? h5vec_layer_invalid(err, path, "missing") : H5VEC_OK;
    source->path = strdup(path);
    source->id = H5Dopen2(group, path, H5P_DEFAULT);
    if (source->id < 0)
        return h5vec_layer_error_hdf5(err, "%s: cannot be opened as a dataset", path);
    hid_t type = H5Dget_type(source->id);
    hid_t space = H5Dget_space(source->id);
    if (!source->path)
        status = h5vec_error_set(err, H5VEC_E_NOMEM, 0, "%s: no memory", path);
    else if (type < 0 || space < 0)
        status = h5vec_layer_error_hdf5(err, "%s: cannot be described", path);
    if (status == H5VEC_OK)
        status = check_type(type, path, expected.role, err);
    if (status == H5VEC_OK)
        status = check_space(space, path, &expected, &source->rows, err);
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    return status;
}

void h5vec_layer_source_close(struct h5vec_layer_source *source)
{
    if (source->id >= 0)
        H5Dclose(source->id);
    free(source->path);
}

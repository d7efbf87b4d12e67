/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Attributes keep their type, shape and bytes. Variable-length values pass through memory; those with
 * references (as DIMENSION_LIST and REFERENCE_LIST hold) wait until the objects are there.
 */
#include "error.h"
#include "attributes.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "h5vec_layer.h"

#define SKIPPED "h5vec_skipped"

void h5vcat_attribute_list_free(struct attribute_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->places[i].path);
        free(list->places[i].name);
    }
    free(list->places);
    *list = (struct attribute_list){0};
}

static enum h5vec_status note(struct attribute_list *list, const char *path, const char *name,
                              struct h5vec_error *err)
{
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 16;
        struct attribute_place *p = realloc(list->places, room * sizeof *p);
        if (!p)
            return h5vcat_no_memory(err);
        list->places = p;
        list->room = room;
    }
    struct attribute_place *at = &list->places[list->count];
    at->path = strdup(path);
    at->name = strdup(name);
    if (!at->path || !at->name) {
        free(at->path);
        free(at->name);
        return h5vcat_no_memory(err);
    }
    list->count++;
    return H5VEC_OK;
}

/* ---- Plain attributes -------------------------------------------------------------------------------- */

struct copying {
    hid_t to;
    const struct attribute_source *source;
    const char *file, *path;
    bool is_layer;
    struct attribute_list *refs;
    struct h5vec_error *err;
    enum h5vec_status status;
};

static enum h5vec_status attribute_failed(struct h5vec_error *err, const char *file, const char *path,
                                          const char *name, const char *what)
{
    return h5vec_layer_error_hdf5(err, "%s: %s: attribute %s: cannot %s", file, path, name, what);
}

/* Copy the value through memory, in the file's own type. */
static enum h5vec_status copy_value(const struct copying *c, const char *name, hid_t from, hid_t to,
                                    hid_t type, hid_t space)
{
    hssize_t n = H5Sget_simple_extent_npoints(space);
    size_t size = H5Tget_size(type);
    if (n <= 0)
        return H5VEC_OK;
    void *value = calloc((size_t)n, size);
    if (!value)
        return h5vcat_no_memory(c->err);
    enum h5vec_status st = H5VEC_OK;
    if (H5Aread(from, type, value) < 0)
        st = attribute_failed(c->err, c->file, c->path, name, "read");
    else if (H5Awrite(to, type, value) < 0)
        st = attribute_failed(c->err, c->file, c->path, name, "write");
    H5Treclaim(type, space, H5P_DEFAULT, value);
    free(value);
    return st;
}

static enum h5vec_status copy_attribute(const struct copying *c, hid_t from, const char *name)
{
    hid_t stored = H5Aget_type(from), type = H5Tcopy(stored), space = H5Aget_space(from);
    hid_t acpl = H5Aget_create_plist(from), to = H5I_INVALID_HID;
    hid_t committed = stored < 0 ? stored : c->source->type(c->source->context, stored);
    unsigned contents = type < 0 ? CONTENTS_PLAIN : h5vcat_repoint_contents(type);
    enum h5vec_status st = H5VEC_OK;
    if (type < 0 || space < 0 || acpl < 0)
        st = attribute_failed(c->err, c->file, c->path, name, "read");
    else if ((to = H5Acreate2(c->to, name, committed >= 0 ? committed : type, space, acpl, H5P_DEFAULT)) < 0)
        st = attribute_failed(c->err, c->file, c->path, name, "create");
    else if (contents & CONTENTS_REFERENCES)
        st = note(c->refs, c->path, name, c->err);
    else
        st = copy_value(c, name, from, to, type, space);
    if (to >= 0)
        H5Aclose(to);
    H5Pclose(acpl);
    H5Sclose(space);
    H5Tclose(type);
    H5Tclose(stored);
    return st;
}

static bool made_anew(const char *name)
{
    static const char *const names[] = {"h5vec_version", "geo", "crs_source", SKIPPED};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        found = found || strcmp(name, names[i]) == 0;
    return found;
}

static herr_t visit(hid_t object, const char *name, const H5A_info_t *info, void *context)
{
    struct copying *c = context;
    (void)info;
    if (c->is_layer && made_anew(name))
        return 0;
    hid_t from = H5Aopen(object, name, H5P_DEFAULT);
    if (from < 0) {
        c->status = attribute_failed(c->err, c->file, c->path, name, "open");
        return -1;
    }
    c->status = copy_attribute(c, from, name);
    H5Aclose(from);
    return c->status ? -1 : 0;
}

/* Creation order if the object tracks it, so that the copy has the same. */
static H5_index_t attribute_index(hid_t object)
{
    unsigned flags = 0;
    H5I_type_t kind = H5Iget_type(object);
    hid_t plist = kind == H5I_DATASET    ? H5Dget_create_plist(object)
                  : kind == H5I_DATATYPE ? H5Tget_create_plist(object)
                                         : H5Gget_create_plist(object);
    if (plist < 0)
        return H5_INDEX_NAME;
    H5Pget_attr_creation_order(plist, &flags);
    H5Pclose(plist);
    return flags & H5P_CRT_ORDER_TRACKED ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
}

enum h5vec_status h5vcat_attributes_copy(hid_t from, hid_t to, const struct attribute_source *source,
                                         const char *path, bool is_layer, struct attribute_list *refs,
                                         struct h5vec_error *err)
{
    const char *file = source->file;
    struct copying c = {to, source, file, path, is_layer, refs, err, H5VEC_OK};
    hsize_t at = 0;
    if (H5Aiterate2(from, attribute_index(from), H5_ITER_INC, &at, visit, &c) < 0 && !c.status)
        return h5vec_layer_error_hdf5(err, "%s: %s: cannot read the attributes", file, path);
    return c.status;
}

/* ---- Records left out --------------------------------------------------------------------------------- */

enum h5vec_status h5vcat_attributes_skipped(hid_t layer, uint64_t *skipped, struct h5vec_error *err)
{
    *skipped = 0;
    htri_t there = H5Aexists(layer, SKIPPED);
    if (there == 0)
        return H5VEC_OK;
    hid_t attribute = there < 0 ? H5I_INVALID_HID : H5Aopen(layer, SKIPPED, H5P_DEFAULT);
    hid_t space = attribute < 0 ? H5I_INVALID_HID : H5Aget_space(attribute);
    bool read = space >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
                H5Aread(attribute, H5T_NATIVE_UINT64, skipped) >= 0;
    if (space >= 0)
        H5Sclose(space);
    if (attribute >= 0)
        H5Aclose(attribute);
    return read ? H5VEC_OK : h5vec_layer_error_hdf5(err, "attribute %s: is not one number", SKIPPED);
}

enum h5vec_status h5vcat_attributes_write_skipped(hid_t layer, uint64_t skipped, struct h5vec_error *err)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(layer, SKIPPED, H5T_STD_U64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    bool written = attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_UINT64, &skipped) >= 0;
    if (attribute >= 0)
        H5Aclose(attribute);
    H5Sclose(space);
    return written ? H5VEC_OK : h5vec_layer_error_hdf5(err, "attribute %s: cannot write", SKIPPED);
}

/* ---- References -------------------------------------------------------------------------------------- */

static enum h5vec_status write_references(const struct repointing *p, const struct attribute_place *place,
                                          const char *file, hid_t from, hid_t to, struct h5vec_error *err)
{
    char about[300];
    hid_t type = H5Aget_type(from), space = H5Aget_space(from);
    hssize_t n = H5Sget_simple_extent_npoints(space);
    size_t size = H5Tget_size(type);
    char *value = calloc((size_t)n + 1, size);
    enum h5vec_status st = value ? H5VEC_OK : h5vcat_no_memory(err);
    if (!st && n > 0) {
        if (H5Aread(from, type, value) < 0)
            st = attribute_failed(err, file, place->path, place->name, "read");
        snprintf(about, sizeof about, "%s: attribute %s", place->path, place->name);
        for (hssize_t i = 0; i < n && !st; i++)
            st = h5vcat_about(err, h5vcat_repoint(p, type, value + (size_t)i * size, err), file, about);
        if (!st && H5Awrite(to, type, value) < 0)
            st = attribute_failed(err, file, place->path, place->name, "write");
        H5Treclaim(type, space, H5P_DEFAULT, value);
    }
    free(value);
    H5Sclose(space);
    H5Tclose(type);
    return st;
}

enum h5vec_status h5vcat_attributes_write_references(const struct repointing *p, const char *file,
                                                     const struct attribute_list *refs,
                                                     struct h5vec_error *err)
{
    for (size_t i = 0; i < refs->count; i++) {
        const struct attribute_place *place = &refs->places[i];
        hid_t source = H5Oopen(p->in, place->path, H5P_DEFAULT);
        hid_t target = H5Oopen(p->out, place->path, H5P_DEFAULT);
        /* not H5Aopen_by_name: 1.14.5 cannot write to what that opens below the root */
        hid_t from = source < 0 ? source : H5Aopen(source, place->name, H5P_DEFAULT);
        hid_t to = target < 0 ? target : H5Aopen(target, place->name, H5P_DEFAULT);
        enum h5vec_status st = from < 0 || to < 0
                                   ? attribute_failed(err, file, place->path, place->name, "open")
                                   : write_references(p, place, file, from, to, err);
        if (from >= 0)
            H5Aclose(from);
        if (to >= 0)
            H5Aclose(to);
        if (source >= 0)
            H5Oclose(source);
        if (target >= 0)
            H5Oclose(target);
        if (st)
            return st;
    }
    return H5VEC_OK;
}

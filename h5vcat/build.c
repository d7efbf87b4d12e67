/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The schema from an HDF5 file: an item for each object and link, in the order of the walk.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "error.h"
#include "links.h"
#include "match.h"
#include "reader.h"

/* The path of an object inside its layer. */
static const char *inside_layer(const struct scan_object *o)
{
    size_t n = strcmp(o->layer, "/") == 0 ? 0 : strlen(o->layer);
    return o->path[n] == '/' ? o->path + n + 1 : "";
}

enum h5vec_status h5vcat_build_role(const struct scan_object *o, enum h5vec_layer_role *role,
                                    struct h5vec_error *err)
{
    bool dataset = o->kind == SCAN_DATASET;
    *role = o->layer && dataset ? h5vec_layer_role(inside_layer(o)) : H5VEC_LAYER_ROLE_UNKNOWN;
    if (*role >= H5VEC_LAYER_ROLE_RTREE_NODES)
        return h5vec_error_set(err, H5VEC_E_REFUSED, 0, "%s: %s: an R-tree index is not supported", o->file,
                               o->path);
    if (o->layer && dataset && *role == H5VEC_LAYER_ROLE_UNKNOWN)
        return h5vec_error_set(err, H5VEC_E_REFUSED, 0, "%s: %s: is not a dataset of layer format version 1",
                               o->file, o->path);
    return H5VEC_OK;
}

/* The bytes of a scalar dataset. The caller frees *bytes. */
enum h5vec_status h5vcat_build_scalar(const struct scan_object *o, void **bytes, struct h5vec_error *err)
{
    *bytes = calloc(1, o->element);
    if (!*bytes)
        return h5vcat_no_memory(err);
    if (H5Dread(o->id, o->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *bytes) >= 0)
        return H5VEC_OK;
    free(*bytes);
    *bytes = NULL;
    return h5vec_layer_error_hdf5(err, "%s: %s: cannot read", o->file, o->path);
}

enum item_kind h5vcat_build_kind(const struct scan_object *o)
{
    if (o->pointers)
        return ITEM_POINTERS;
    return o->rank > 0 ? ITEM_ROWS : ITEM_SAME;
}

static enum h5vec_status build_dataset(struct schema *s, struct item *it, const struct scan_object *o,
                                       struct h5vec_error *err)
{
    it->kind = h5vcat_build_kind(o);
    it->element = (uint32_t)o->element;
    it->rank = o->rank;
    it->dims = calloc(2 * (size_t)o->rank + 1, sizeof *it->dims);
    it->type = h5vcat_schema_encode_type(s, o->type);
    it->dcpl = h5vcat_schema_encode_plist(s, o->dcpl);
    it->token = o->committed ? h5vcat_schema_blob(s, &o->token, sizeof o->token) : NULL;
    if (!it->dims || !it->type || !it->dcpl || (o->committed && !it->token))
        return h5vec_layer_error_hdf5(err, "%s: %s: cannot read its type or properties", o->file, o->path);
    it->row_bytes = o->element;
    for (int d = 1; d < o->rank; d++) {
        it->dims[d] = o->dims[d];
        if (o->maxdims[d] != H5S_UNLIMITED && o->maxdims[d] > o->dims[d])
            it->dims[o->rank + d] = o->maxdims[d];
        it->row_bytes *= o->dims[d];
    }
    if (o->rank > 0 || o->space == H5S_NULL)
        return H5VEC_OK;
    if (o->pointers) /* read when it is written */
        return (it->value = h5vcat_schema_blob(s, "", 1)) ? H5VEC_OK : h5vcat_no_memory(err);
    void *bytes;
    enum h5vec_status st = h5vcat_build_scalar(o, &bytes, err);
    if (st)
        return st;
    it->value = h5vcat_schema_blob(s, bytes, o->element);
    free(bytes);
    return it->value ? H5VEC_OK : h5vcat_no_memory(err);
}

/* Whether an object has attributes or a comment: messages of its header. */
static bool annotated(hid_t id)
{
    const unsigned attribute = 0x0c, comment = 0x0d, attribute_info = 0x15; /* HDF5 File Format, IV.A.2 */
    H5O_native_info_t info;
    if (H5Oget_native_info(id, &info, H5O_NATIVE_INFO_HDR) < 0)
        return true;
    return info.hdr.mesg.present & (1u << attribute | 1u << comment | 1u << attribute_info);
}

static enum h5vec_status build_group(struct matching *w, struct item *it, const struct scan_object *o,
                                     struct h5vec_error *err)
{
    w->built = w->built && !o->is_layer; /* the rows of a layer's datasets are known when all have been met */
    it->kind = ITEM_GROUP;
    it->optional = o->layer && strcmp(inside_layer(o), H5VEC_LAYER_GROUP_VALID) == 0;
    hid_t gcpl = H5Gget_create_plist(o->id);
    it->dcpl = gcpl < 0 ? NULL : h5vcat_schema_encode_plist(w->m->schema, gcpl);
    if (gcpl >= 0)
        H5Pclose(gcpl);
    if (!it->dcpl)
        return h5vec_layer_error_hdf5(err, "%s: %s: cannot read the group's properties", o->file, o->path);
    return H5VEC_OK;
}

static enum h5vec_status build_type(struct schema *s, struct item *it, const struct scan_object *o,
                                    struct h5vec_error *err)
{
    it->kind = ITEM_TYPE;
    hid_t tcpl = H5Tget_create_plist(o->id);
    it->type = h5vcat_schema_encode_type(s, o->id);
    it->dcpl = tcpl < 0 ? NULL : h5vcat_schema_encode_plist(s, tcpl);
    it->token = h5vcat_schema_blob(s, &o->token, sizeof o->token);
    if (tcpl >= 0)
        H5Pclose(tcpl);
    if (!it->type || !it->dcpl || !it->token)
        return h5vec_layer_error_hdf5(err, "%s: %s: cannot read the datatype", o->file, o->path);
    return H5VEC_OK;
}

static enum h5vec_status build_visit(void *context, const struct scan_object *o, struct h5vec_error *err)
{
    struct matching *w = context;
    struct schema *s = w->m->schema;
    enum h5vec_layer_role role;
    enum h5vec_status st = h5vcat_build_role(o, &role, err);
    if (st)
        return st;
    struct item *it = h5vcat_schema_add(s, o->path);
    if (!it)
        return h5vcat_no_memory(err);
    it->role = role;
    it->optional = role == H5VEC_LAYER_ROLE_VALID || role == H5VEC_LAYER_ROLE_COLUMN_VALID;
    if (o->is_layer && h5vcat_schema_add_layer(s, o->path) < 0)
        return h5vcat_no_memory(err);
    it->is_layer = o->is_layer;
    it->layer = o->layer ? h5vcat_layers_find(s, o->layer) : -1;
    it->annotated = o->kind != SCAN_LINK && annotated(o->id);
    it->ascii = o->cset == H5T_CSET_ASCII;
    st = h5vcat_match_room(w, err);
    if (!st && role == H5VEC_LAYER_ROLE_COLUMN_FIXED)
        st = h5vcat_about(err, h5vec_layer_is_time(o->id, &it->time, err), o->file, o->path);
    if (st)
        return st;
    switch (o->kind) {
    case SCAN_GROUP:
        return build_group(w, it, o, err);
    case SCAN_TYPE:
        return build_type(s, it, o, err);
    case SCAN_LINK:
        it->kind = ITEM_LINK;
        it->value = h5vcat_links_blob(s, w->m->directory, o);
        return it->value ? H5VEC_OK : h5vcat_no_memory(err);
    default:
        st = build_dataset(s, it, o, err);
        return st || !w->built || o->rank == 0 ? st : h5vcat_match_rows(w, s->count - 1, o, err);
    }
}

/* Add what a layer may have and this one has not, so that other inputs' are not lost. */
enum h5vec_status h5vcat_build_layers(struct schema *s, struct h5vec_error *err)
{
    for (int i = 0, n = s->count; i < n; i++) {
        if (s->items[i].layer < 0)
            continue;
        const char *layer = s->layers[s->items[i].layer].path, *path = s->items[i].path;
        enum h5vec_layer_role role = s->items[i].role;
        size_t prefix = strcmp(layer, "/") == 0 ? 0 : strlen(layer);
        enum h5vec_status st = H5VEC_OK;
        if (role == H5VEC_LAYER_ROLE_WKB) {
            st = h5vcat_layers_add_dataset(s, s->items[i].layer, H5VEC_LAYER_PATH_VALID,
                                           H5VEC_LAYER_ROLE_VALID, NULL, err);
            if (!st)
                st = h5vcat_layers_add_dataset(s, s->items[i].layer, H5VEC_LAYER_PATH_BLOCKS,
                                               H5VEC_LAYER_ROLE_BLOCKS, NULL, err);
        } else if (role == H5VEC_LAYER_ROLE_COLUMN_FIXED || role == H5VEC_LAYER_ROLE_TEXT_DATA) {
            const char *link = path + prefix + 1 + strlen(H5VEC_LAYER_GROUP_COLUMNS) + 1;
            size_t length =
                role == H5VEC_LAYER_ROLE_TEXT_DATA ? (size_t)(strrchr(path, '/') - link) : strlen(link);
            char *valid = malloc(strlen(H5VEC_LAYER_GROUP_VALID) + length + 2);
            if (!valid)
                return h5vcat_no_memory(err);
            sprintf(valid, "%s/%.*s", H5VEC_LAYER_GROUP_VALID, (int)length, link);
            st = h5vcat_layers_add_dataset(s, s->items[i].layer, valid, H5VEC_LAYER_ROLE_COLUMN_VALID, NULL,
                                           err);
            free(valid);
        }
        if (st)
            return st;
    }
    return H5VEC_OK;
}

static enum h5vec_status user_block(hid_t file, const char *name, uint64_t *size, struct h5vec_error *err)
{
    hsize_t block = 0;
    hid_t fcpl = H5Fget_create_plist(file);
    if (fcpl < 0 || H5Pget_userblock(fcpl, &block) < 0)
        return h5vec_layer_error_hdf5(err, "%s: cannot read the file's properties", name);
    H5Pclose(fcpl);
    *size = block;
    return H5VEC_OK;
}

/* The schema of an HDF5 input; its rows are matched on the way if it is this rank's first part. */
enum h5vec_status h5vcat_build_hdf5(struct matching *w, uint32_t input, struct h5vec_error *err)
{
    const struct inputs *in = &w->m->inputs;
    hid_t file;
    enum h5vec_status st = h5vcat_reader_file(w->m->reader, input, &file, err);
    if (st)
        return st;
    w->part = in->parts;
    w->built = in->part_count > 0 && w->part->input == input;
    st = user_block(file, in->names[input], &w->m->schema->user_block, err);
    return st ? st : h5vcat_scan_file(file, in->names[input], build_visit, w, err);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The attribute columns of a layer: a dataset each, or a group with data and offsets for text, and who is
 * missing a value.
 */
#include "layer_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a row in memory, and the native type. */
static enum h5vec_status describe_fixed(const struct h5vec_layer_source *source,
                                        struct h5vec_layer_column *column, struct h5vec_error *err)
{
    hid_t type = H5Dget_type(source->id), space = H5Dget_space(source->id);
    column->type = type < 0 ? H5I_INVALID_HID : H5Tget_native_type(type, H5T_DIR_ASCEND);
    enum h5vec_status status = H5VEC_OK;
    if (column->type < 0 || space < 0) {
        status = h5vec_layer_error_hdf5(err, "%s: its type has no native form", source->path);
    } else {
        hsize_t dims[H5S_MAX_RANK] = {0};
        int rank = H5Sget_simple_extent_dims(space, dims, NULL);
        column->row_bytes = H5Tget_size(column->type);
        bool fits = true;
        for (int i = 1; i < rank; i++)
            fits = fits && !__builtin_mul_overflow(column->row_bytes, dims[i], &column->row_bytes);
        if (!fits || column->row_bytes > (size_t)H5VEC_LAYER_MAX_FEATURE)
            status = h5vec_layer_invalid(err, source->path, "a row is longer than the format allows");
    }
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    return status;
}

/* The column's original name, from the attribute of its object. */
static enum h5vec_status read_name(hid_t group, const char *path, struct h5vec_layer_column *column,
                                   struct h5vec_error *err)
{
    hid_t object = H5Oopen(group, path, H5P_DEFAULT);
    if (object < 0)
        return h5vec_layer_error_hdf5(err, "%s: cannot be opened", path);
    char *name = NULL;
    enum h5vec_status status = h5vec_layer_attribute_read(object, "name", &name, err);
    H5Oclose(object);
    if (status == H5VEC_OK && !name && !(name = strdup(column->link)))
        status = h5vec_error_set(err, H5VEC_E_NOMEM, 0, "%s: no memory", path);
    if (status == H5VEC_OK)
        column->original = name;
    return status;
}

static enum h5vec_status open_text(struct h5vec_layer *layer, const char *path,
                                   struct h5vec_layer_ragged *text, struct h5vec_error *err)
{
    char part[4 * H5VEC_LAYER_MAX_NAME + 16];
    snprintf(part, sizeof part, "%s/" H5VEC_LAYER_TEXT_OFFSETS, path);
    enum h5vec_status status = h5vec_layer_source_open(
        layer->group, part,
        (struct h5vec_layer_expected){H5VEC_LAYER_ROLE_TEXT_OFFSETS, true, false, layer->info.rows + 1},
        &text->offsets, err);
    if (status != H5VEC_OK)
        return status;
    snprintf(part, sizeof part, "%s/" H5VEC_LAYER_TEXT_DATA, path);
    return h5vec_layer_source_open(layer->group, part,
                                   (struct h5vec_layer_expected){H5VEC_LAYER_ROLE_TEXT_DATA, true, true, 0},
                                   &text->data, err);
}

static enum h5vec_status open_column(struct h5vec_layer *layer, size_t i, struct h5vec_error *err)
{
    struct h5vec_layer_column *column = &layer->shown[i];
    struct h5vec_layer_parts *parts = &layer->parts[i];
    char path[4 * H5VEC_LAYER_MAX_NAME];
    snprintf(path, sizeof path, H5VEC_LAYER_GROUP_VALID "/%s", column->link);
    enum h5vec_status status = h5vec_layer_source_open(
        layer->group, path,
        (struct h5vec_layer_expected){H5VEC_LAYER_ROLE_COLUMN_VALID, false, false, layer->info.rows},
        &parts->valid, err);
    if (status != H5VEC_OK)
        return status;
    column->has_valid = parts->valid.id >= 0;
    snprintf(path, sizeof path, H5VEC_LAYER_GROUP_COLUMNS "/%s", column->link);
    H5O_info2_t object;
    if (H5Oget_info_by_name3(layer->group, path, &object, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
        return h5vec_layer_error_hdf5(err, "%s: cannot be opened", path);
    if (object.type == H5O_TYPE_GROUP) {
        column->kind = H5VEC_LAYER_TEXT;
        status = open_text(layer, path, &parts->text, err);
    } else if (object.type == H5O_TYPE_DATASET) {
        column->kind = H5VEC_LAYER_FIXED;
        status = h5vec_layer_source_open(
            layer->group, path,
            (struct h5vec_layer_expected){H5VEC_LAYER_ROLE_COLUMN_FIXED, true, false, layer->info.rows},
            &parts->fixed, err);
        if (status == H5VEC_OK)
            status = describe_fixed(&parts->fixed, column, err);
        if (status == H5VEC_OK)
            status = h5vec_layer_is_time(parts->fixed.id, &column->time, err);
    } else {
        status = h5vec_layer_invalid(err, path, "neither a dataset nor a text column's group");
    }
    return status == H5VEC_OK ? read_name(layer->group, path, column, err) : status;
}

/* Collects the link names of a group; the status travels beside them. */
struct names {
    char **name;
    size_t count, capacity;
    enum h5vec_status status;
};

static herr_t collect(hid_t group, const char *name, const H5L_info2_t *link, void *context)
{
    struct names *names = context;
    (void)group;
    (void)link;
    names->status = H5VEC_E_NOMEM;
    if (names->count == names->capacity) {
        size_t capacity = names->capacity ? 2 * names->capacity : 16;
        char **grown = realloc(names->name, capacity * sizeof *grown);
        if (!grown)
            return -1;
        names->name = grown;
        names->capacity = capacity;
    }
    if (strlen(name) > 3 * H5VEC_LAYER_MAX_NAME + 32) {
        names->status = H5VEC_E_LAYER_INVALID;
        return -1;
    }
    char *copy = strdup(name);
    if (!copy)
        return -1;
    names->name[names->count++] = copy;
    names->status = H5VEC_OK;
    return 0;
}

/* Link names of the group at path, in order; none if it is not there. */
static enum h5vec_status list(hid_t group, const char *path, struct names *names, struct h5vec_error *err)
{
    bool there = false;
    enum h5vec_status status = h5vec_layer_exists(group, path, &there, err);
    if (status != H5VEC_OK || !there)
        return status;
    hsize_t next = 0;
    if (H5Literate_by_name2(group, path, H5_INDEX_NAME, H5_ITER_INC, &next, collect, names, H5P_DEFAULT) >= 0)
        return H5VEC_OK;
    if (names->status == H5VEC_OK)
        return h5vec_layer_error_hdf5(err, "%s: cannot be listed", path);
    return h5vec_error_set(err, names->status, 0, "%s: %s", path,
                           names->status == H5VEC_E_NOMEM ? "no memory for its names" : "a name is too long");
}

static void free_names(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->name[i]);
    free(names->name);
}

/* Open the columns of these links, which the layer takes over. */
static enum h5vec_status open_named(struct h5vec_layer *layer, struct names *names, struct h5vec_error *err)
{
    layer->info.columns = 0;
    layer->shown = calloc(names->count + 1, sizeof *layer->shown);
    layer->parts = calloc(names->count + 1, sizeof *layer->parts);
    if (!layer->shown || !layer->parts) {
        h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for %zu columns", names->count);
        return H5VEC_E_NOMEM;
    }
    enum h5vec_status status = H5VEC_OK;
    for (size_t i = 0; i < names->count && status == H5VEC_OK; i++) {
        layer->shown[i].link = names->name[i];
        layer->shown[i].type = H5I_INVALID_HID;
        layer->parts[i] = (struct h5vec_layer_parts){
            {h5vec_layer_absent, h5vec_layer_absent}, h5vec_layer_absent, h5vec_layer_absent};
        names->name[i] = NULL;
        layer->info.columns = i + 1;
        status = open_column(layer, i, err);
    }
    return status;
}

/* valid/<link> without a column of that name would be lost silently. */
static enum h5vec_status check_orphans(const struct h5vec_layer *layer, struct h5vec_error *err)
{
    struct names names = {0};
    enum h5vec_status status = list(layer->group, H5VEC_LAYER_GROUP_VALID, &names, err);
    size_t column = 0; /* both lists are in order */
    for (size_t i = 0; i < names.count && status == H5VEC_OK; i++) {
        int order = 1;
        while (column < layer->info.columns && (order = strcmp(layer->shown[column].link, names.name[i])) < 0)
            column++;
        if (order != 0)
            status = h5vec_error_set(err, H5VEC_E_LAYER_INVALID, 0, "valid/%s: there is no such column",
                                     names.name[i]);
    }
    free_names(&names);
    return status;
}

enum h5vec_status h5vec_layer_columns_open(struct h5vec_layer *layer, struct h5vec_error *err)
{
    struct names names = {0};
    enum h5vec_status status = list(layer->group, H5VEC_LAYER_GROUP_COLUMNS, &names, err);
    if (status == H5VEC_OK)
        status = open_named(layer, &names, err);
    free_names(&names);
    return status == H5VEC_OK ? check_orphans(layer, err) : status;
}

static void free_column(struct h5vec_layer_column *shown, struct h5vec_layer_parts *parts)
{
    h5vec_layer_source_close(&parts->text.data);
    h5vec_layer_source_close(&parts->text.offsets);
    h5vec_layer_source_close(&parts->fixed);
    h5vec_layer_source_close(&parts->valid);
    if (shown->type >= 0)
        H5Tclose(shown->type);
    free((char *)shown->link);
    free((char *)shown->original);
}

void h5vec_layer_columns_free(struct h5vec_layer *layer)
{
    for (size_t i = 0; i < layer->info.columns; i++)
        free_column(&layer->shown[i], &layer->parts[i]);
    free(layer->shown);
    free(layer->parts);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Open a layer: everything about its shape is checked here, so that reading has only values to distrust.
 */
#include "layer_internal.h"

#include <inttypes.h>
#include <stdlib.h>

static enum h5vec_status open_geometry(struct h5vec_layer *layer, struct h5vec_error *err)
{
    enum h5vec_status status = h5vec_layer_source_open(
        layer->group, H5VEC_LAYER_PATH_OFFSETS,
        (struct h5vec_layer_expected){.role = H5VEC_LAYER_ROLE_OFFSETS, .required = true, .any_rows = true},
        &layer->wkb.offsets, err);
    if (status != H5VEC_OK)
        return status;
    if (layer->wkb.offsets.rows == 0)
        return h5vec_layer_invalid(err, H5VEC_LAYER_PATH_OFFSETS,
                                   "empty: even a layer without rows has one offset");
    uint64_t rows = layer->wkb.offsets.rows - 1;
    layer->info.rows = rows;
    const struct {
        const char *path;
        struct h5vec_layer_source *source;
        struct h5vec_layer_expected expected;
    } others[] = {
        {H5VEC_LAYER_PATH_WKB, &layer->wkb.data, {H5VEC_LAYER_ROLE_WKB, true, true, 0}},
        {H5VEC_LAYER_PATH_BBOX, &layer->bbox, {H5VEC_LAYER_ROLE_BBOX, true, false, rows}},
        {H5VEC_LAYER_PATH_VALID, &layer->valid, {H5VEC_LAYER_ROLE_VALID, false, false, rows}},
        {H5VEC_LAYER_PATH_BLOCKS, &layer->blocks, {H5VEC_LAYER_ROLE_BLOCKS, true, true, 0}},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0] && status == H5VEC_OK; i++)
        status =
            h5vec_layer_source_open(layer->group, others[i].path, others[i].expected, others[i].source, err);
    layer->info.wkb_bytes = layer->wkb.data.rows;
    layer->info.blocks = layer->blocks.rows;
    layer->info.has_valid = layer->valid.id >= 0;
    return status == H5VEC_OK
               ? h5vec_layer_exists(layer->group, H5VEC_LAYER_PATH_RTREE, &layer->info.has_rtree, err)
               : status;
}

static enum h5vec_status check_version(hid_t group, struct h5vec_error *err)
{
    bool is_layer = false;
    enum h5vec_status status = h5vec_layer_is(group, &is_layer, err);
    if (status != H5VEC_OK)
        return status;
    if (!is_layer)
        return h5vec_error_set(err, H5VEC_E_LAYER_NOT, 0, "not a layer: it has no attribute h5vec_version");
    hid_t attribute = H5Aopen(group, "h5vec_version", H5P_DEFAULT);
    hid_t type = attribute < 0 ? attribute : H5Aget_type(attribute);
    hid_t space = attribute < 0 ? attribute : H5Aget_space(attribute);
    int64_t version = 0;
    if (type < 0 || space < 0)
        status = h5vec_layer_error_hdf5(err, "attribute h5vec_version: cannot be read");
    else if (H5Tget_class(type) != H5T_INTEGER || H5Sget_simple_extent_npoints(space) != 1)
        status = h5vec_error_set(err, H5VEC_E_LAYER_VERSION, 0, "attribute h5vec_version: not one integer");
    else if (H5Aread(attribute, H5T_NATIVE_INT64, &version) < 0)
        status = h5vec_layer_error_hdf5(err, "attribute h5vec_version: cannot be read");
    else if (version != H5VEC_LAYER_VERSION)
        status = h5vec_error_set(err, H5VEC_E_LAYER_VERSION, 0, "layer version %" PRId64 "; only %d is known",
                                 version, H5VEC_LAYER_VERSION);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
    return status;
}

enum h5vec_status h5vec_layer_open(hid_t loc, const char *path, struct h5vec_layer **layer,
                                   struct h5vec_error *err)
{
    struct h5vec_layer *made = calloc(1, sizeof *made);
    if (!made)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for a layer");
    made->wkb = (struct h5vec_layer_ragged){h5vec_layer_absent, h5vec_layer_absent};
    made->bbox = made->valid = made->blocks = h5vec_layer_absent;
    h5vec_layer_geo_init(&made->geo);
    made->group = H5Gopen2(loc, path, H5P_DEFAULT);
    enum h5vec_status status = made->group < 0 ? h5vec_layer_error_hdf5(err, "cannot be opened as a group")
                                               : check_version(made->group, err);
    if (status == H5VEC_OK)
        status = h5vec_layer_geo_read(made->group, &made->geo, err);
    if (status == H5VEC_OK)
        status = open_geometry(made, err);
    if (status == H5VEC_OK)
        status = h5vec_layer_columns_open(made, err);
    made->info.column = made->shown;
    made->info.geo = &made->geo;
    if (status == H5VEC_OK)
        *layer = made;
    else
        h5vec_layer_free(made);
    return status;
}

void h5vec_layer_free(struct h5vec_layer *layer)
{
    if (!layer)
        return;
    h5vec_layer_columns_free(layer);
    struct h5vec_layer_source *const sources[] = {&layer->wkb.data, &layer->wkb.offsets, &layer->bbox,
                                                  &layer->valid, &layer->blocks};
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
        h5vec_layer_source_close(sources[i]);
    if (layer->group >= 0)
        H5Gclose(layer->group);
    h5vec_layer_geo_free(&layer->geo);
    const struct h5vec_layer_buffer buffers[] = {
        layer->offsets_buffer, layer->wkb_buffer,     layer->box_buffer,  layer->valid_buffer,
        layer->window,         layer->column_offsets, layer->column_data, layer->column_valid};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        free(buffers[i].data);
    free(layer);
}

const struct h5vec_layer_info *h5vec_layer_info(const struct h5vec_layer *layer)
{
    return &layer->info;
}

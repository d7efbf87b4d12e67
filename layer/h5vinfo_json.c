/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The report as JSON. Every jansson call takes NULL and gives NULL where there is no memory, so the pieces
 * are put together without a test each, and one missing piece makes the whole NULL.
 */
#include "h5vinfo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Text of the file: where it is not UTF-8, JSON cannot hold it as it is. */
static json_t *text(const char *value)
{
    json_t *made = json_string(value);
    if (made)
        return made;
    return json_string_nocheck("(not UTF-8)");
}

static json_t *size(uint64_t value)
{
    return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

/* The words of a text, an array. */
static json_t *words_json(const char *value)
{
    json_t *array = json_array();
    for (const char *p = value; *p;) {
        size_t length = strcspn(p, " ");
        json_array_append_new(array, json_stringn(p, length));
        p += length + (p[length] == ' ');
    }
    return array;
}

static json_t *dims_json(const hsize_t *dims, int rank)
{
    json_t *array = json_array();
    for (int i = 0; i < rank; i++)
        json_array_append_new(array, dims[i] == H5S_UNLIMITED ? json_null() : size(dims[i]));
    return array;
}

static json_t *dataset_json(const struct h5vinfo_dataset *dataset)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o}", "path", text(dataset->path), "type",
                     text(dataset->type), "dims", dims_json(dataset->dims, dataset->rank), "max_dims",
                     dims_json(dataset->max, dataset->rank), "layout", dataset->layout, "chunk",
                     dataset->chunked ? dims_json(dataset->chunk, dataset->rank) : json_null(), "filters",
                     words_json(dataset->filters), "bytes_stored", size(dataset->stored), "bytes_unpacked",
                     size(dataset->unpacked));
}

static json_t *types_json(uint64_t types)
{
    json_t *array = json_array();
    for (unsigned bit = 0; bit < 64; bit++) {
        char name[H5VEC_LAYER_TYPE_NAME];
        if ((types >> bit & 1) && h5vec_layer_type_name(bit, name))
            json_array_append_new(array, json_string(name));
    }
    return array;
}

static json_t *box_json(struct vcodec_box box)
{
    if (!isfinite(box.xmin) || !(box.xmin <= box.xmax))
        return json_null();
    return json_pack("[f,f,f,f]", box.xmin, box.ymin, box.xmax, box.ymax);
}

static json_t *columns_json(const struct h5vec_layer_info *info)
{
    json_t *array = json_array();
    for (size_t i = 0; i < info->columns; i++) {
        const struct h5vec_layer_column *column = &info->column[i];
        char *type = column->kind == H5VEC_LAYER_FIXED ? h5vec_layer_type_text(column->type) : NULL;
        json_array_append_new(array, json_pack("{s:o, s:o, s:s, s:b}", "name", text(column->original), "link",
                                               text(column->link), "type",
                                               column->time ? "time"
                                               : type       ? type
                                                            : "text",
                                               "nulls", (int)column->has_valid));
        free(type);
    }
    return array;
}

static json_t *check_json(const struct h5vinfo_layer *layer)
{
    json_t *lines = json_array();
    for (size_t i = 0; i < layer->lines; i++)
        json_array_append_new(lines, text(layer->line[i]));
    return json_pack("{s:o, s:o}", "findings", size(layer->findings), "lines", lines);
}

static json_t *layer_json(const struct h5vinfo_layer *layer)
{
    json_t *object = json_pack("{s:o}", "path", text(layer->path));
    if (layer->layer) {
        const struct h5vec_layer_info *info = h5vec_layer_info(layer->layer);
        const struct h5vec_layer_geo *geo = info->geo;
        json_t *crs = geo->crs ? json_loads(geo->crs, 0, NULL) : json_null();
        json_t *source = geo->crs_source ? text(geo->crs_source) : json_null();
        json_t *more = json_pack(
            "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "rows", size(info->rows), "bytes_stored",
            size(layer->stored), "bytes_unpacked", size(layer->unpacked), "geometry_types",
            types_json(geo->types), "bbox", box_json(geo->box), "crs", crs, "crs_source", source, "blocks",
            size(info->blocks), "columns", columns_json(info), "nulls", (int)info->has_valid);
        json_object_update(object, more);
        json_decref(more);
    } else {
        json_object_set_new(object, "error", text(layer->why));
    }
    if (layer->checked)
        json_object_set_new(object, "check", check_json(layer));
    return object;
}

json_t *h5vinfo_json(const struct h5vinfo_report *report)
{
    json_t *layers = json_array(), *datasets = json_array();
    for (size_t i = 0; i < report->layers; i++)
        json_array_append_new(layers, layer_json(&report->layer[i]));
    for (size_t i = 0; i < report->datasets; i++)
        json_array_append_new(datasets, dataset_json(&report->dataset[i]));
    return json_pack("{s:o, s:o, s:o, s:o}", "file", text(report->file), "group", text(report->group),
                     "layers", layers, "datasets", datasets);
}

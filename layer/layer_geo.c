/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The attribute geo: a GeoParquet object. It is written by hand, in the order of its sorted keys, so that
 * equal geos are equal bytes; it is read with jansson.
 */
#include "layer_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void h5vec_layer_geo_init(struct h5vec_layer_geo *geo)
{
    *geo = (struct h5vec_layer_geo){.box = vcodec_box_empty()};
}

void h5vec_layer_geo_free(struct h5vec_layer_geo *geo)
{
    if (!geo)
        return;
    free(geo->crs);
    free(geo->crs_source);
    h5vec_layer_geo_init(geo);
}

enum h5vec_status h5vec_layer_geo_copy(const struct h5vec_layer_geo *from, struct h5vec_layer_geo *to,
                                       struct h5vec_error *err)
{
    struct h5vec_layer_geo made = {.types = from->types,
                                   .box = from->box,
                                   .crs = from->crs ? strdup(from->crs) : NULL,
                                   .crs_source = from->crs_source ? strdup(from->crs_source) : NULL};
    if ((from->crs && !made.crs) || (from->crs_source && !made.crs_source)) {
        h5vec_layer_geo_free(&made);
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for a CRS");
    }
    *to = made;
    return H5VEC_OK;
}

/* Whether both name the same authority and code: PROJ's releases spell the rest of a CRS differently. */
static bool same_id(const char *a, const char *b)
{
    json_t *left = json_loads(a, 0, NULL), *right = json_loads(b, 0, NULL);
    const json_t *id = json_object_get(left, "id"), *other = json_object_get(right, "id");
    bool same = json_is_string(json_object_get(id, "authority")) && json_object_get(id, "code") &&
                json_equal(json_object_get(id, "authority"), json_object_get(other, "authority")) &&
                json_equal(json_object_get(id, "code"), json_object_get(other, "code"));
    json_decref(left);
    json_decref(right);
    return same;
}

bool h5vec_layer_geo_same_crs(const struct h5vec_layer_geo *a, const struct h5vec_layer_geo *b)
{
    if (!a->crs || !b->crs)
        return a->crs == b->crs;
    return strcmp(a->crs, b->crs) == 0 || same_id(a->crs, b->crs); /* the texts are canonical */
}

void h5vec_layer_geo_union(struct h5vec_layer_geo *geo, const struct h5vec_layer_geo *from)
{
    geo->types |= from->types;
    geo->box = vcodec_box_union(geo->box, from->box);
}

const char *h5vec_layer_type_name(unsigned bit, char name[H5VEC_LAYER_TYPE_NAME])
{
    static const char *const dims[] = {"", " Z", " M", " ZM"};
    enum vcodec_type type;
    enum vcodec_dim dim;
    if (!vcodec_type_of_bit(bit, &type, &dim))
        return NULL;
    snprintf(name, H5VEC_LAYER_TYPE_NAME, "%s%s", vcodec_type_name(type), dims[dim]);
    return name;
}

static bool is_finite(struct vcodec_box box)
{
    return isfinite(box.xmin) && isfinite(box.ymin) && isfinite(box.xmax) && isfinite(box.ymax);
}

static void put_geo(FILE *out, const struct h5vec_layer_geo *geo)
{
    fputs("{\"columns\":{\"geometry\":{", out);
    if (is_finite(geo->box)) {
        const double box[] = {geo->box.xmin, geo->box.ymin, geo->box.xmax, geo->box.ymax};
        fputs("\"bbox\":", out);
        for (size_t i = 0; i < 4; i++) {
            fputc(i ? ',' : '[', out);
            h5vec_layer_json_number(out, box[i]);
        }
        fputs("],", out);
    }
    fprintf(out, "\"crs\":%s,\"encoding\":\"WKB\",\"geometry_types\":[", geo->crs ? geo->crs : "null");
    const char *between = "";
    for (unsigned bit = 0; bit < 64; bit++) {
        char name[H5VEC_LAYER_TYPE_NAME];
        if (!(geo->types >> bit & 1) || !h5vec_layer_type_name(bit, name))
            continue;
        fprintf(out, "%s\"%s\"", between, name);
        between = ",";
    }
    fputs("]}},\"primary_column\":\"geometry\",\"version\":\"1.1.0\"}", out);
}

enum h5vec_status h5vec_layer_geo_format(const struct h5vec_layer_geo *geo, char **json,
                                         struct h5vec_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out) {
        put_geo(out, geo);
        if (fclose(out) != 0) {
            free(text);
            text = NULL;
        }
    }
    if (!text)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for the geo attribute");
    if (size > H5VEC_LAYER_MAX_GEO) {
        free(text);
        return h5vec_error_set(err, H5VEC_E_LAYER_CRS, 0,
                               "the CRS is too long for an attribute: %zu bytes, at most %d", size,
                               H5VEC_LAYER_MAX_GEO);
    }
    *json = text;
    return H5VEC_OK;
}

static enum h5vec_status invalid(struct h5vec_error *err, const char *what)
{
    return h5vec_error_set(err, H5VEC_E_LAYER_INVALID, 0, "attribute geo: %s", what);
}

static enum h5vec_status parse_types(const json_t *array, uint64_t *types, struct h5vec_error *err)
{
    uint64_t mask = 0;
    if (!json_is_array(array))
        return invalid(err, "geometry_types is not an array");
    for (size_t i = 0; i < json_array_size(array); i++) {
        const char *text = json_string_value(json_array_get(array, i));
        unsigned bit = 0;
        char name[H5VEC_LAYER_TYPE_NAME];
        while (bit < 64 && !(h5vec_layer_type_name(bit, name) && text && strcmp(text, name) == 0))
            bit++;
        if (bit == 64)
            return invalid(err, "geometry_types has something that is not a geometry type");
        mask |= UINT64_C(1) << bit;
    }
    *types = mask;
    return H5VEC_OK;
}

static enum h5vec_status parse_box(const json_t *array, struct vcodec_box *box, struct h5vec_error *err)
{
    *box = vcodec_box_empty();
    if (!array)
        return H5VEC_OK;
    double side[4];
    if (json_array_size(array) != 4)
        return invalid(err, "bbox is not an array of four numbers");
    for (size_t i = 0; i < 4; i++) {
        const json_t *number = json_array_get(array, i);
        if (!json_is_number(number))
            return invalid(err, "bbox is not an array of four numbers");
        side[i] = json_number_value(number);
    }
    if (!(side[0] <= side[2] && side[1] <= side[3]))
        return invalid(err, "bbox has a minimum above its maximum");
    *box = (struct vcodec_box){side[0], side[1], side[2], side[3]};
    return H5VEC_OK;
}

static bool is_text(const json_t *value, const char *expected)
{
    return json_is_string(value) && strcmp(json_string_value(value), expected) == 0;
}

static enum h5vec_status parse_object(const json_t *root, struct h5vec_layer_geo *made,
                                      struct h5vec_error *err)
{
    const json_t *column = json_object_get(json_object_get(root, "columns"), "geometry");
    const json_t *crs = json_object_get(column, "crs");
    if (!json_is_string(json_object_get(root, "version")))
        return invalid(err, "version is missing");
    if (!is_text(json_object_get(root, "primary_column"), "geometry") || !json_is_object(column))
        return invalid(err, "the primary column is not \"geometry\"");
    if (!is_text(json_object_get(column, "encoding"), "WKB"))
        return invalid(err, "encoding is not \"WKB\"");
    if (!json_is_object(crs) && !json_is_null(crs))
        return invalid(err, "crs is neither PROJJSON nor null");
    enum h5vec_status status = parse_types(json_object_get(column, "geometry_types"), &made->types, err);
    if (status == H5VEC_OK)
        status = parse_box(json_object_get(column, "bbox"), &made->box, err);
    if (status == H5VEC_OK && json_is_object(crs)) {
        made->crs = h5vec_layer_json_text(crs);
        if (!made->crs)
            status = h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for a CRS");
    }
    return status;
}

enum h5vec_status h5vec_layer_geo_parse(const char *json, size_t size, struct h5vec_layer_geo *geo,
                                        struct h5vec_error *err)
{
    json_error_t why;
    json_t *root = json_loadb(json, size, JSON_REJECT_DUPLICATES, &why);
    if (!root)
        return h5vec_error_set(err, H5VEC_E_LAYER_INVALID, why.position > 0 ? (uint64_t)why.position : 0,
                               "attribute geo: not JSON: %s", why.text);
    struct h5vec_layer_geo made;
    h5vec_layer_geo_init(&made);
    enum h5vec_status status = parse_object(root, &made, err);
    json_decref(root);
    if (status == H5VEC_OK) {
        h5vec_layer_geo_free(geo);
        *geo = made;
    }
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Attributes of a layer: text as scalar fixed-length UTF-8 strings, the version as an int32.
 */
#include "layer_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT = 1 << 24 }; /* bytes of an attribute that is read */

/* Size of the text if the attribute is a scalar fixed-length string of a size that is accepted, else 0. */
static size_t text_size(hid_t attribute, hid_t type)
{
    hid_t space = H5Aget_space(attribute);
    bool fits = space >= 0 && H5Sget_simple_extent_npoints(space) == 1 && H5Tget_class(type) == H5T_STRING &&
                H5Tis_variable_str(type) == 0 && H5Tget_size(type) <= MAX_TEXT;
    if (space >= 0)
        H5Sclose(space);
    return fits ? H5Tget_size(type) : 0;
}

static enum h5vec_status read_text(hid_t attribute, const char *name, char **text, struct h5vec_error *err)
{
    hid_t type = H5Aget_type(attribute);
    if (type < 0)
        return h5vec_layer_error_hdf5(err, "attribute %s: cannot be read", name);
    enum h5vec_status status = H5VEC_OK;
    size_t size = text_size(attribute, type);
    char *made = size ? calloc(size + 1, 1) : NULL;
    if (size == 0)
        status =
            h5vec_error_set(err, H5VEC_E_LAYER_INVALID, 0,
                            "attribute %s: not one fixed-length string of at most %d bytes", name, MAX_TEXT);
    else if (!made)
        status = h5vec_error_set(err, H5VEC_E_NOMEM, 0, "attribute %s: no memory for %zu bytes", name, size);
    else if (H5Aread(attribute, type, made) < 0)
        status = h5vec_layer_error_hdf5(err, "attribute %s: cannot be read", name);
    else if (H5Tget_strpad(type) == H5T_STR_SPACEPAD)
        while (size > 0 && made[size - 1] == ' ')
            made[--size] = '\0';
    H5Tclose(type);
    if (status == H5VEC_OK)
        *text = made;
    else
        free(made);
    return status;
}

enum h5vec_status h5vec_layer_attribute_read(hid_t object, const char *name, char **text,
                                             struct h5vec_error *err)
{
    htri_t there = H5Aexists(object, name);
    if (there == 0) {
        *text = NULL;
        return H5VEC_OK;
    }
    hid_t attribute = there < 0 ? H5I_INVALID_HID : H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0)
        return h5vec_layer_error_hdf5(err, "attribute %s: cannot be opened", name);
    enum h5vec_status status = read_text(attribute, name, text, err);
    H5Aclose(attribute);
    return status;
}

/* Create and write a scalar attribute. */
static enum h5vec_status write_scalar(hid_t object, const char *name, hid_t file_type, hid_t mem_type,
                                      const void *value, struct h5vec_error *err)
{
    enum h5vec_status status = H5VEC_OK;
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute =
        space < 0 ? space : H5Acreate2(object, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0 || H5Awrite(attribute, mem_type, value) < 0)
        status = h5vec_layer_error_hdf5(err, "attribute %s: cannot be written", name);
    if (attribute >= 0)
        H5Aclose(attribute);
    if (space >= 0)
        H5Sclose(space);
    return status;
}

enum h5vec_status h5vec_layer_attribute_write(hid_t object, const char *name, const char *text,
                                              struct h5vec_error *err)
{
    size_t size = strlen(text);
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type < 0 || H5Tset_size(type, size ? size : 1) < 0 || H5Tset_strpad(type, H5T_STR_NULLPAD) < 0 ||
        H5Tset_cset(type, H5T_CSET_UTF8) < 0) {
        enum h5vec_status status = h5vec_layer_error_hdf5(err, "attribute %s: cannot be described", name);
        if (type >= 0)
            H5Tclose(type);
        return status;
    }
    enum h5vec_status status = write_scalar(object, name, type, type, text, err);
    H5Tclose(type);
    return status;
}

enum h5vec_status h5vec_layer_write_name(hid_t object, const char *link, const char *original,
                                         struct h5vec_error *err)
{
    return strcmp(link, original) == 0 ? H5VEC_OK
                                       : h5vec_layer_attribute_write(object, "name", original, err);
}

/* As the CF conventions and Arrow's timestamps have it. */
static const char time_units[] = "microseconds since 1970-01-01T00:00:00Z";

enum h5vec_status h5vec_layer_write_time_units(hid_t dataset, struct h5vec_error *err)
{
    return h5vec_layer_attribute_write(dataset, "units", time_units, err);
}

enum h5vec_status h5vec_layer_is_time(hid_t dataset, bool *is, struct h5vec_error *err)
{
    char *units = NULL;
    hid_t type = H5Dget_type(dataset);
    bool fits = type >= 0 && H5Tequal(type, H5T_STD_I64LE) > 0;
    if (type >= 0)
        H5Tclose(type);
    *is = false;
    if (!fits)
        return H5VEC_OK;
    enum h5vec_status status = h5vec_layer_attribute_read(dataset, "units", &units, err);
    if (status == H5VEC_E_LAYER_INVALID) /* some text, or another thing: not ours */
        status = H5VEC_OK;
    *is = units && strcmp(units, time_units) == 0;
    free(units);
    return status;
}

enum h5vec_status h5vec_layer_write_attributes(hid_t group, const struct h5vec_layer_geo *geo,
                                               struct h5vec_error *err)
{
    int32_t version = H5VEC_LAYER_VERSION;
    enum h5vec_status status =
        write_scalar(group, "h5vec_version", H5T_STD_I32LE, H5T_NATIVE_INT32, &version, err);
    char *json = NULL;
    if (status == H5VEC_OK)
        status = h5vec_layer_geo_format(geo, &json, err);
    if (status == H5VEC_OK)
        status = h5vec_layer_attribute_write(group, "geo", json, err);
    free(json);
    if (status == H5VEC_OK && geo->crs_source)
        status = h5vec_layer_attribute_write(group, "crs_source", geo->crs_source, err);
    return status;
}

enum h5vec_status h5vec_layer_geo_read(hid_t group, struct h5vec_layer_geo *geo, struct h5vec_error *err)
{
    char *json = NULL, *source = NULL;
    enum h5vec_status status = h5vec_layer_attribute_read(group, "geo", &json, err);
    if (status == H5VEC_OK)
        status = json ? h5vec_layer_geo_parse(json, strlen(json), geo, err)
                      : h5vec_error_set(err, H5VEC_E_LAYER_INVALID, 0, "attribute geo: missing");
    if (status == H5VEC_OK)
        status = h5vec_layer_attribute_read(group, "crs_source", &source, err);
    free(json);
    if (status == H5VEC_OK) {
        free(geo->crs_source);
        geo->crs_source = source;
    }
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * PROJ, the one place that calls it: a CRS's PROJJSON from its EPSG code or from WKT.
 */
#include "layer_internal.h"

#include <inttypes.h>
#include <proj.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PROJ's confidence, in percent, that names and definitions agree. */
enum { SURE = 90 };

/* PROJJSON of a CRS as canonical text; NULL if there is none. */
static char *projjson_of(PJ_CONTEXT *context, const PJ *crs)
{
    const char *text =
        crs ? proj_as_projjson(context, crs, (const char *const[]){"MULTILINE=NO", NULL}) : NULL;
    json_t *json = text ? json_loads(text, 0, NULL) : NULL;
    char *canonical = json ? h5vec_layer_json_text(json) : NULL;
    json_decref(json);
    return canonical;
}

static char *projjson_of_code(PJ_CONTEXT *context, const char *code)
{
    PJ *crs = proj_create_from_database(context, "EPSG", code, PJ_CATEGORY_CRS, 0, NULL);
    char *text = projjson_of(context, crs);
    proj_destroy(crs);
    return text;
}

/* The CRS of the EPSG database that PROJ is sure is the same; NULL if there is none. ESRI's WKT has no codes,
 * and names of its own. */
static PJ *identify(PJ_CONTEXT *context, const PJ *crs)
{
    int *confidence = NULL;
    PJ_OBJ_LIST *list = proj_identify(context, crs, "EPSG", NULL, &confidence);
    bool sure = list && proj_list_get_count(list) > 0 && confidence[0] >= SURE &&
                (proj_list_get_count(list) == 1 || confidence[1] < confidence[0]);
    PJ *known = sure ? proj_list_get(context, list, 0) : NULL;
    proj_int_list_destroy(confidence);
    proj_list_destroy(list);
    return known;
}

static char *projjson_of_wkt(PJ_CONTEXT *context, const char *wkt)
{
    PJ *crs = proj_create_from_wkt(context, wkt, NULL, NULL, NULL);
    PJ *known = crs && proj_is_crs(crs) ? identify(context, crs) : NULL;
    char *text = crs && proj_is_crs(crs) ? projjson_of(context, known ? known : crs) : NULL;
    proj_destroy(known);
    proj_destroy(crs);
    return text;
}

static void replace(struct h5vec_layer_geo *geo, char *crs, char *source)
{
    free(geo->crs);
    free(geo->crs_source);
    geo->crs = crs;
    geo->crs_source = source;
}

enum h5vec_status h5vec_layer_geo_set_wkt(struct h5vec_layer_geo *geo, const char *wkt,
                                          struct h5vec_error *err)
{
    if (strlen(wkt) > H5VEC_LAYER_MAX_GEO)
        return h5vec_error_set(err, H5VEC_E_LAYER_CRS, 0, "the CRS is longer than %d bytes",
                               H5VEC_LAYER_MAX_GEO);
    PJ_CONTEXT *context = proj_context_create();
    if (!context)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for PROJ");
    proj_log_level(context, PJ_LOG_NONE);
    char *crs = projjson_of_wkt(context, wkt), *source = strdup(wkt);
    proj_context_destroy(context);
    if (!crs || !source) {
        free(crs);
        free(source);
        return h5vec_error_set(err, H5VEC_E_LAYER_CRS, 0, "'%.60s' is not a CRS that PROJ understands", wkt);
    }
    replace(geo, crs, source);
    return H5VEC_OK;
}

enum h5vec_status h5vec_layer_geo_set_epsg(struct h5vec_layer_geo *geo, int32_t code, struct h5vec_error *err)
{
    char *crs = NULL, *source = NULL;
    if (code != 0) {
        char digits[16], name[24];
        snprintf(digits, sizeof digits, "%" PRId32, code);
        snprintf(name, sizeof name, "EPSG:%s", digits);
        PJ_CONTEXT *context = proj_context_create();
        if (!context)
            return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for PROJ");
        proj_log_level(context, PJ_LOG_NONE);
        crs = projjson_of_code(context, digits);
        proj_context_destroy(context);
        source = strdup(name);
        if (!crs || !source) {
            free(crs);
            free(source);
            return h5vec_error_set(err, H5VEC_E_LAYER_CRS, 0, "%s is not a CRS that PROJ's database knows",
                                   name);
        }
    }
    replace(geo, crs, source);
    return H5VEC_OK;
}

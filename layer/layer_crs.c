/* SPDX-License-Identifier: BSD-3-Clause
 *
 * PROJ, the one place that calls it: a CRS's PROJJSON from its EPSG code.
 */
#include "layer_internal.h"

#include <inttypes.h>
#include <proj.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PROJJSON of EPSG:code as canonical text; NULL if PROJ does not know it. */
static char *projjson_of(PJ_CONTEXT *context, const char *code)
{
    PJ *crs = proj_create_from_database(context, "EPSG", code, PJ_CATEGORY_CRS, 0, NULL);
    const char *text =
        crs ? proj_as_projjson(context, crs, (const char *const[]){"MULTILINE=NO", NULL}) : NULL;
    json_t *json = text ? json_loads(text, 0, NULL) : NULL;
    char *canonical = json ? h5vec_layer_json_text(json) : NULL;
    json_decref(json);
    proj_destroy(crs);
    return canonical;
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
        crs = projjson_of(context, digits);
        proj_context_destroy(context);
        source = strdup(name);
        if (!crs || !source) {
            free(crs);
            free(source);
            return h5vec_error_set(err, H5VEC_E_LAYER_CRS, 0, "%s is not a CRS that PROJ's database knows",
                                   name);
        }
    }
    free(geo->crs);
    free(geo->crs_source);
    geo->crs = crs;
    geo->crs_source = source;
    return H5VEC_OK;
}

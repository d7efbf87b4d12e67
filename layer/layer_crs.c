/* SPDX-License-Identifier: BSD-3-Clause
 *
 * PROJ, the one place that calls it: a CRS's PROJJSON from its EPSG code.
 *
 * The loadable driver is not linked with it but loads it here (H5VEC_PROJ_LIBRARY): PROJ brings forty
 * libraries and ten milliseconds into each process, and few files name a CRS that way.
 */
#include "layer_internal.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <proj.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS(X)                                                                                         \
    X(proj_context_create)                                                                                   \
    X(proj_context_destroy)                                                                                  \
    X(proj_log_level)                                                                                        \
    X(proj_create_from_database)                                                                             \
    X(proj_as_projjson)                                                                                      \
    X(proj_destroy)

struct proj {
#define MEMBER(name) __typeof__(name) *(name);
    FUNCTIONS(MEMBER)
};

/* PROJ's functions; false if there is no PROJ. It stays loaded. */
static bool load_proj(struct proj *proj)
{
#ifdef H5VEC_PROJ_LIBRARY
    void *library = dlopen(H5VEC_PROJ_LIBRARY, RTLD_LAZY | RTLD_LOCAL), *symbol;
#define FIND(name)                                                                                           \
    if (!library || !(symbol = dlsym(library, #name)))                                                       \
        return false;                                                                                        \
    memcpy(&proj->name, &symbol, sizeof symbol);
    FUNCTIONS(FIND)
#else
#define TAKE(name) proj->name = (name);
    FUNCTIONS(TAKE)
#endif
    return true;
}

/* PROJJSON of EPSG:code as canonical text; NULL if PROJ does not know it. */
static char *projjson_of(const struct proj *proj, PJ_CONTEXT *context, const char *code)
{
    PJ *crs = proj->proj_create_from_database(context, "EPSG", code, PJ_CATEGORY_CRS, 0, NULL);
    const char *text =
        crs ? proj->proj_as_projjson(context, crs, (const char *const[]){"MULTILINE=NO", NULL}) : NULL;
    json_t *json = text ? json_loads(text, 0, NULL) : NULL;
    char *canonical = json ? h5vec_layer_json_text(json) : NULL;
    json_decref(json);
    proj->proj_destroy(crs);
    return canonical;
}

enum h5vec_status h5vec_layer_geo_set_epsg(struct h5vec_layer_geo *geo, int32_t code, struct h5vec_error *err)
{
    char *crs = NULL, *source = NULL;
    if (code != 0) {
        char digits[16], name[24];
        snprintf(digits, sizeof digits, "%" PRId32, code);
        snprintf(name, sizeof name, "EPSG:%s", digits);
        struct proj proj;
        if (!load_proj(&proj))
            return h5vec_error_set(err, H5VEC_E_LAYER_CRS, 0, "%s: PROJ's library cannot be loaded: %s", name,
                                   dlerror());
        PJ_CONTEXT *context = proj.proj_context_create();
        if (!context)
            return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for PROJ");
        proj.proj_log_level(context, PJ_LOG_NONE);
        crs = projjson_of(&proj, context, digits);
        proj.proj_context_destroy(context);
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

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * PROJ, the one place that calls it: a CRS's PROJJSON from its EPSG code or from WKT.
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
    X(proj_create)                                                                                           \
    X(proj_create_from_wkt)                                                                                  \
    X(proj_is_crs)                                                                                           \
    X(proj_identify)                                                                                         \
    X(proj_list_get_count)                                                                                   \
    X(proj_list_get)                                                                                         \
    X(proj_list_destroy)                                                                                     \
    X(proj_int_list_destroy)                                                                                 \
    X(proj_as_projjson)                                                                                      \
    X(proj_destroy)

/* PROJ's functions, and a context of its. */
struct proj {
#define MEMBER(name) __typeof__(name) *(name);
    FUNCTIONS(MEMBER)
    PJ_CONTEXT *context;
};

/* PROJ's confidence, in percent, that names and definitions agree. */
enum { SURE = 90 };

/* False if there is no PROJ. It stays loaded. */
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

static enum h5vec_status open_proj(struct proj *proj, struct h5vec_error *err)
{
    if (!load_proj(proj))
        return h5vec_error_set(err, H5VEC_E_LAYER_CRS, 0, "PROJ's library cannot be loaded: %s", dlerror());
    proj->context = proj->proj_context_create();
    if (!proj->context)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for PROJ");
    proj->proj_log_level(proj->context, PJ_LOG_NONE);
    return H5VEC_OK;
}

/* PROJJSON of a CRS as canonical text; NULL if there is none. */
static char *projjson_of(const struct proj *proj, const PJ *crs)
{
    static const char *const options[] = {"MULTILINE=NO", NULL};
    const char *text = crs ? proj->proj_as_projjson(proj->context, crs, options) : NULL;
    json_t *json = text ? json_loads(text, 0, NULL) : NULL;
    char *canonical = json ? h5vec_layer_json_text(json) : NULL;
    json_decref(json);
    return canonical;
}

static char *projjson_of_code(const struct proj *proj, const char *code)
{
    PJ *crs = proj->proj_create_from_database(proj->context, "EPSG", code, PJ_CATEGORY_CRS, 0, NULL);
    char *text = projjson_of(proj, crs);
    proj->proj_destroy(crs);
    return text;
}

/* The CRS of the EPSG database that PROJ is sure is the same; NULL if there is none. ESRI's WKT has no codes,
 * and names of its own. */
static PJ *identify(const struct proj *proj, const PJ *crs)
{
    int *confidence = NULL;
    PJ_OBJ_LIST *list = proj->proj_identify(proj->context, crs, "EPSG", NULL, &confidence);
    int count = list ? proj->proj_list_get_count(list) : 0;
    bool sure = count > 0 && confidence[0] >= SURE && (count == 1 || confidence[1] < confidence[0]);
    PJ *known = sure ? proj->proj_list_get(proj->context, list, 0) : NULL;
    proj->proj_int_list_destroy(confidence);
    proj->proj_list_destroy(list);
    return known;
}

/* Whether text is a name that PROJ looks up in its database, as GeoJSON has it: "OGC:CRS84", a URN. */
static bool is_name(const char *text)
{
    static const char *const begins[] = {"OGC:", "EPSG:", "urn:ogc:def:crs:"};
    bool is = false;
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        is = is || strncmp(text, begins[i], strlen(begins[i])) == 0;
    return is;
}

static char *projjson_of_name(const struct proj *proj, const char *name)
{
    PJ *crs = proj->proj_create(proj->context, name);
    char *text = crs && proj->proj_is_crs(crs) ? projjson_of(proj, crs) : NULL;
    proj->proj_destroy(crs);
    return text;
}

static char *projjson_of_wkt(const struct proj *proj, const char *wkt)
{
    PJ *crs = proj->proj_create_from_wkt(proj->context, wkt, NULL, NULL, NULL);
    bool is = crs && proj->proj_is_crs(crs);
    PJ *known = is ? identify(proj, crs) : NULL;
    char *text = is ? projjson_of(proj, known ? known : crs) : NULL;
    proj->proj_destroy(known);
    proj->proj_destroy(crs);
    return text;
}

/* Takes crs and source; NULL where one could not be made. */
static enum h5vec_status replace(struct h5vec_layer_geo *geo, char *crs, char *source, const char *what,
                                 struct h5vec_error *err)
{
    if (!crs || !source) {
        free(crs);
        free(source);
        return h5vec_error_set(err, H5VEC_E_LAYER_CRS, 0, "'%.60s' is not a CRS that PROJ knows", what);
    }
    free(geo->crs);
    free(geo->crs_source);
    geo->crs = crs;
    geo->crs_source = source;
    return H5VEC_OK;
}

enum h5vec_status h5vec_layer_geo_set_crs(struct h5vec_layer_geo *geo, const char *wkt,
                                          struct h5vec_error *err)
{
    struct proj proj;
    if (strlen(wkt) > H5VEC_LAYER_MAX_GEO)
        return h5vec_error_set(err, H5VEC_E_LAYER_CRS, 0, "the CRS is longer than %d bytes",
                               H5VEC_LAYER_MAX_GEO);
    enum h5vec_status status = open_proj(&proj, err);
    if (status)
        return status;
    char *crs = is_name(wkt) ? projjson_of_name(&proj, wkt) : projjson_of_wkt(&proj, wkt);
    proj.proj_context_destroy(proj.context);
    return replace(geo, crs, strdup(wkt), wkt, err);
}

enum h5vec_status h5vec_layer_geo_set_epsg(struct h5vec_layer_geo *geo, int32_t code, struct h5vec_error *err)
{
    struct proj proj;
    if (code == 0) {
        free(geo->crs);
        free(geo->crs_source);
        geo->crs = geo->crs_source = NULL;
        return H5VEC_OK;
    }
    enum h5vec_status status = open_proj(&proj, err);
    if (status)
        return status;
    char name[24];
    snprintf(name, sizeof name, "EPSG:%" PRId32, code);
    char *crs = projjson_of_code(&proj, name + sizeof "EPSG:" - 1);
    proj.proj_context_destroy(proj.context);
    return replace(geo, crs, strdup(name), name, err);
}

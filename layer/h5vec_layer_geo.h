/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a layer says about its geometries: types, box and CRS, kept in the attribute "geo" as a GeoParquet
 * object (JSON) and in "crs_source". No HDF5 in this header but the group id of h5vec_layer_geo_read.
 */
#ifndef H5VEC_LAYER_GEO_H
#define H5VEC_LAYER_GEO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "h5vec_hdf5.h"
#include "vcodec.h"

#define H5VEC_LAYER_MAX_GEO                                                                                  \
    60000 /* bytes of attribute geo and of crs_source: HDF5 1.8 readers' attribute limit */

struct h5vec_layer_geo {
    uint64_t types; /* vcodec_type_bit of each that occurs */
    struct vcodec_box
        box;   /* union of the features' boxes; empty if nothing has one, or if it is not finite */
    char *crs; /* canonical PROJJSON text (keys sorted, no white space, shortest numbers); NULL: unknown */
    char *crs_source; /* the CRS as the source spelled it; NULL: none */
};

/* No types, empty box, unknown CRS. Free with h5vec_layer_geo_free, which makes it that again. */
void h5vec_layer_geo_init(struct h5vec_layer_geo *geo);
void h5vec_layer_geo_free(struct h5vec_layer_geo *geo);
enum h5vec_status h5vec_layer_geo_copy(const struct h5vec_layer_geo *from, struct h5vec_layer_geo *to,
                                       struct h5vec_error *err);

/* Parse the JSON of attribute geo. *geo must be initialised; its strings are replaced. Unknown members of the
 * object are ignored; H5VEC_E_LAYER_INVALID says what is wrong. */
enum h5vec_status h5vec_layer_geo_parse(const char *json, size_t size, struct h5vec_layer_geo *geo,
                                        struct h5vec_error *err);

/* The JSON of attribute geo: the same bytes for equal geos. The caller frees *json. */
enum h5vec_status h5vec_layer_geo_format(const struct h5vec_layer_geo *geo, char **json,
                                         struct h5vec_error *err);

/* Read attributes geo and crs_source of a layer's group. *geo must be initialised. */
enum h5vec_status h5vec_layer_geo_read(hid_t group, struct h5vec_layer_geo *geo, struct h5vec_error *err);

/* Set the CRS from an EPSG code (an SRID), through PROJ's database; crs_source becomes "EPSG:<code>". Code 0
 * is the unknown CRS. H5VEC_E_LAYER_CRS if PROJ does not know it. */
enum h5vec_status h5vec_layer_geo_set_epsg(struct h5vec_layer_geo *geo, int32_t code,
                                           struct h5vec_error *err);

/* Set the CRS from WKT of any kind (a .prj file's) or a name ("OGC:CRS84", "EPSG:4326", a URN), through PROJ;
 * crs_source becomes the text. Where PROJ's database has the same CRS under an EPSG code, that is taken.
 * H5VEC_E_LAYER_CRS if PROJ does not understand the text, or it is longer than H5VEC_LAYER_MAX_GEO. */
enum h5vec_status h5vec_layer_geo_set_crs(struct h5vec_layer_geo *geo, const char *text,
                                          struct h5vec_error *err);

/* Whether both have the same CRS: both unknown; or equal as JSON (order of members and spelling of numbers do
 * not count); or with the same "id" (authority and code), as releases of PROJ describe one CRS in different
 * words. crs_source is not compared. */
bool h5vec_layer_geo_same_crs(const struct h5vec_layer_geo *a, const struct h5vec_layer_geo *b);

/* Add from's types and box to geo. The CRS stays: compare it first. */
void h5vec_layer_geo_union(struct h5vec_layer_geo *geo, const struct h5vec_layer_geo *from);

/* "Point", "LineString Z", "Polygon ZM"... of bit 0 .. 63 of a types mask (NULL for a bit without meaning).
 * name has room for H5VEC_LAYER_TYPE_NAME bytes, and is returned. */
#define H5VEC_LAYER_TYPE_NAME 32
const char *h5vec_layer_type_name(unsigned bit, char name[H5VEC_LAYER_TYPE_NAME]);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of the GeoJSON reader share.
 */
#ifndef H5VEC_FORMAT_GEOJSON_H
#define H5VEC_FORMAT_GEOJSON_H

#include "format_internal.h"
#include "json.h"

/* How the records lie in the text. */
enum h5vec_format_geojson_mode {
    H5VEC_FORMAT_GEOJSON_LINES,      /* one a line, an RS before it or not */
    H5VEC_FORMAT_GEOJSON_SEQUENCE,   /* from one RS to the next (RFC 8142) */
    H5VEC_FORMAT_GEOJSON_VALUES,     /* one after the other, over several lines */
    H5VEC_FORMAT_GEOJSON_COLLECTION, /* in the array "features" of a FeatureCollection */
};

/* A column of the input: a member of the properties, or another one of the Feature. */
struct h5vec_format_geojson_column {
    bool member;
    uint64_t hash;
    uint64_t seen;  /* the last record that had it */
    unsigned types; /* bits 1 << enum h5vec_format_type that its values in the first records could be */
    bool any;       /* there were such */
};

struct h5vec_format_geojson {
    enum h5vec_format_geojson_mode mode;
    bool after;                                  /* COLLECTION: a record stands before the window */
    bool typed;                                  /* COLLECTION: it has said that it is one */
    bool ended;                                  /* COLLECTION: its array has ended */
    uint64_t record;                             /* number of the record at hand */
    struct h5vec_format_geojson_column *columns; /* those of the rows, in their order, but for other */
    size_t count, capacity;
    size_t *slots; /* a hash table of them: place + 1, 0: free */
    size_t slot_count;
    size_t expected; /* the column that is likely next */
    size_t other;    /* the column of what has none; SIZE_MAX: there is none */
    char *scratch;   /* for a string without its escapes */
    size_t scratch_capacity;
    char *rest[2]; /* JSON of what has no column: members of the Feature, and properties */
    size_t rest_size[2], rest_capacity[2];
    unsigned ordinates; /* of the last position: what the next geometry probably has */
    char *crs;          /* as a "crs" names it, or RFC 7946's; NULL: it is null */
    bool crs_known;     /* there was one */
};

/* The geometry at j becomes WKB behind that of the rows; *is_null: it is null. */
bool h5vec_format_geojson_geometry(struct h5vec_format_reader *reader, struct h5vec_format_json *j,
                                   bool *is_null);

/* The value of a "crs" at j: the layer's, or the same as that. */
bool h5vec_format_geojson_crs(struct h5vec_format_geojson *g, struct h5vec_format_json *j);

/* A record (a Feature or a geometry) becomes a row. */
enum h5vec_status h5vec_format_geojson_row(struct h5vec_format_reader *reader, const char *text, size_t size,
                                           struct h5vec_error *err);

/* The columns are known: give them their types. */
void h5vec_format_geojson_types(struct h5vec_format_reader *reader);

/* Make columns of the names in a record; one that is malformed adds what stands before the mistake. */
enum h5vec_status h5vec_format_geojson_columns(struct h5vec_format_reader *reader, const char *text,
                                               size_t size, struct h5vec_error *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Inside of h5vinfo --export: which rows (h5vinfo_select.c), their values as text (h5vinfo_values.c), and the
 * loop over them (h5vinfo_export.c).
 */
#ifndef H5VINFO_EXPORT_H
#define H5VINFO_EXPORT_H

#include <stdio.h>
#include "h5vec_layer.h"

enum h5vinfo_format { H5VINFO_NONE, H5VINFO_WKT, H5VINFO_WKB, H5VINFO_GEOJSONSEQ, H5VINFO_CSV };

/* What is asked for. */
struct h5vinfo_wanted {
    enum h5vinfo_format format;
    uint64_t first, end;   /* rows; end UINT64_MAX: all from first on */
    struct vcodec_box box; /* only rows whose box touches it */
    bool has_box;
};

/* Write the rows of the one layer in argument, FILE[:/GROUP], to standard output. Messages do not name the
 * file. */
enum h5vec_status h5vinfo_export(char *argument, const struct h5vinfo_wanted *wanted,
                                 struct h5vec_error *err);

/* ---- Which rows ------------------------------------------------------------------------------------- */

struct h5vinfo_selection {
    struct h5vec_layer *layer;
    const struct h5vinfo_wanted *wanted;
    uint64_t end;  /* of the rows, at most the layer's */
    uint8_t *bits; /* one a row of [window, window_end); NULL without a box */
    uint64_t window, window_end;
};

/* Free it in any case. H5VEC_E_USAGE if the layer has not so many rows. */
enum h5vec_status h5vinfo_select(struct h5vec_layer *layer, const struct h5vinfo_wanted *wanted,
                                 struct h5vinfo_selection *selection, struct h5vec_error *err);
void h5vinfo_select_free(struct h5vinfo_selection *selection);

/* The first run [*first, *end) of selected rows from row i on; *first == *end after the last. */
enum h5vec_status h5vinfo_select_next(struct h5vinfo_selection *selection, uint64_t i, uint64_t *first,
                                      uint64_t *end, struct h5vec_error *err);

/* ---- Values ----------------------------------------------------------------------------------------- */

/* Text on its way out. */
struct h5vinfo_text {
    char *data;
    size_t size, capacity;
};

/* Room for n more bytes. */
enum h5vec_status h5vinfo_text_need(struct h5vinfo_text *text, size_t n, struct h5vec_error *err);
enum h5vec_status h5vinfo_text_put(struct h5vinfo_text *text, const char *data, size_t n,
                                   struct h5vec_error *err);

/* A field of CSV: in quotes if it must be, or if it is empty (without quotes an empty field is no value). */
enum h5vec_status h5vinfo_csv_field(struct h5vinfo_text *text, const char *data, size_t n,
                                    struct h5vec_error *err);

/* A string of JSON. H5VEC_E_LAYER_INVALID if it is not UTF-8. */
enum h5vec_status h5vinfo_json_string(struct h5vinfo_text *text, const char *data, size_t n,
                                      struct h5vec_error *err);

/* What a column's values are written as. */
enum h5vinfo_kind {
    H5VINFO_TEXT,   /* text, or strings of a fixed length */
    H5VINFO_SIGNED, /* integers of 1, 2, 4 or 8 bytes */
    H5VINFO_UNSIGNED,
    H5VINFO_FLOAT,   /* of 4 or 8 bytes */
    H5VINFO_BOOLEAN, /* an enumeration of FALSE and TRUE, as h5py makes them */
    H5VINFO_TIME,    /* H5VEC_LAYER_TIME: ISO 8601, in UTC */
};

/* H5VEC_E_UNSUPPORTED for other types, and for columns of several values a row. */
enum h5vec_status h5vinfo_column_kind(const struct h5vec_layer_column *column, enum h5vinfo_kind *kind,
                                      struct h5vec_error *err);

/* Value k as a field of CSV or a value of JSON. */
enum h5vec_status h5vinfo_put_value(struct h5vinfo_text *text, const struct h5vec_layer_column *column,
                                    enum h5vinfo_kind kind, const struct h5vec_layer_values *values,
                                    uint64_t k, bool json, struct h5vec_error *err);

#endif

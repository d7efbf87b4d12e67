/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of layer/ share: the open layer, attributes of text, runs of rows of a dataset.
 */
#ifndef H5VEC_LAYER_INTERNAL_H
#define H5VEC_LAYER_INTERNAL_H

#include <jansson.h>
#include <stdio.h>
#include "h5vec_layer.h"

/* A buffer that only grows. */
struct h5vec_layer_buffer {
    void *data;
    size_t capacity; /* bytes */
};

/* Make it hold count elements of this many bytes. H5VEC_E_NOMEM names what ("geometry/wkb"). */
enum h5vec_status h5vec_layer_buffer_need(struct h5vec_layer_buffer *buffer, uint64_t count, size_t element,
                                          const char *what, struct h5vec_error *err);

/* A dataset of the layer, and its name for messages. */
struct h5vec_layer_source {
    hid_t id; /* H5I_INVALID_HID: not there */
    char *path;
    uint64_t rows;
};

/* Type and dimensions that a dataset must have. */
struct h5vec_layer_expected {
    enum h5vec_layer_role role; /* COLUMN_FIXED: any type and trailing dimensions */
    bool required;
    bool any_rows;
    uint64_t rows; /* unless any_rows */
};

extern const struct h5vec_layer_source h5vec_layer_absent;

/* H5VEC_E_LAYER_INVALID, "path: what". */
enum h5vec_status h5vec_layer_invalid(struct h5vec_error *err, const char *path, const char *what);

/* Whether there is an object at path (one or more links below group). */
enum h5vec_status h5vec_layer_exists(hid_t group, const char *path, bool *there, struct h5vec_error *err);

/* Open and check a dataset; *source is absent if it is not there and need not be. Close it in any case. */
enum h5vec_status h5vec_layer_source_open(hid_t group, const char *path, struct h5vec_layer_expected expected,
                                          struct h5vec_layer_source *source, struct h5vec_error *err);
void h5vec_layer_source_close(struct h5vec_layer_source *source);

/* Values with offsets: the geometries' WKB, or a text column. */
struct h5vec_layer_ragged {
    struct h5vec_layer_source data, offsets;
};

/* The open parts of a column; what the header shows of it is in struct h5vec_layer's shown. */
struct h5vec_layer_parts {
    struct h5vec_layer_ragged text;  /* TEXT */
    struct h5vec_layer_source fixed; /* FIXED */
    struct h5vec_layer_source valid;
};

struct h5vec_layer {
    hid_t group;
    struct h5vec_layer_ragged wkb;
    struct h5vec_layer_source bbox, valid, blocks;
    struct h5vec_layer_info info;
    struct h5vec_layer_geo geo;
    struct h5vec_layer_column *shown;
    struct h5vec_layer_parts *parts; /* as many as shown */
    struct h5vec_layer_buffer offsets_buffer, wkb_buffer, box_buffer, valid_buffer, window;
    struct h5vec_layer_buffer column_offsets, column_data, column_valid;
};

/* Open the columns of a layer whose rows are known, and close them. */
enum h5vec_status h5vec_layer_columns_open(struct h5vec_layer *layer, struct h5vec_error *err);
void h5vec_layer_columns_free(struct h5vec_layer *layer);

/* Read rows [i, i + n) of a dataset (all of its trailing dimensions) as mem_type. */
enum h5vec_status h5vec_layer_read_run(const struct h5vec_layer_source *source, hid_t mem_type, uint64_t i,
                                       uint64_t n, void *out, struct h5vec_error *err);

/* Offsets [i, j] of ragged values into buffer (checked: monotonic, inside data), made relative to the first,
 * which becomes *first. */
enum h5vec_status h5vec_layer_read_offsets(const struct h5vec_layer_ragged *ragged, uint64_t i, uint64_t j,
                                           struct h5vec_layer_buffer *buffer, int64_t *first,
                                           struct h5vec_error *err);

/* h5vec_layer_fit for any ragged values. */
enum h5vec_status h5vec_layer_fit_ragged(struct h5vec_layer *layer, const struct h5vec_layer_ragged *ragged,
                                         uint64_t i, uint64_t max_rows, uint64_t max_bytes, uint64_t *j,
                                         struct h5vec_error *err);

/* Text of a scalar attribute of fixed-length string type into *text (the caller frees it); *text = NULL if
 * there is no such attribute. */
enum h5vec_status h5vec_layer_attribute_read(hid_t object, const char *name, char **text,
                                             struct h5vec_error *err);

/* Write it, UTF-8. The attribute must not exist. */
enum h5vec_status h5vec_layer_attribute_write(hid_t object, const char *name, const char *text,
                                              struct h5vec_error *err);

/* JSON as text that is the same for equal values: keys sorted, no white space, numbers as short as they read
 * back. NULL if there is no memory; the caller frees it. */
char *h5vec_layer_json_text(const json_t *value);

/* Write a number as it is in that text; false if out fails. */
bool h5vec_layer_json_number(FILE *out, double number);

/* Bytes of one row, and rows of a chunk, of a new dataset. */
size_t h5vec_layer_row_bytes(enum h5vec_layer_role role, const struct h5vec_layer_shape *shape);
uint64_t h5vec_layer_chunk_rows(enum h5vec_layer_role role, const struct h5vec_layer_shape *shape,
                                uint64_t rows, const struct h5vec_layer_storage *storage);

/* A dataset of a new layer, and the rows on their way to it. Free it in any case. */
struct h5vec_layer_sink {
    enum h5vec_layer_role role;
    const struct h5vec_layer_shape *shape; /* of a fixed column, else NULL */
    const struct h5vec_layer_storage *storage;
    hid_t group; /* that path is relative to */
    char *path;
    hid_t dataset;
    char *buffer; /* NULL until the first row */
    size_t row_bytes;
    uint64_t capacity, used; /* rows in the buffer */
    uint64_t written;        /* rows in the dataset */
};

enum h5vec_status h5vec_layer_sink_init(struct h5vec_layer_sink *sink, enum h5vec_layer_role role,
                                        const struct h5vec_layer_shape *shape, hid_t group, const char *path,
                                        const struct h5vec_layer_storage *storage, struct h5vec_error *err);
void h5vec_layer_sink_free(struct h5vec_layer_sink *sink);

/* Append rows, in the memory layout of the role (bbox: struct vcodec_box, blocks: struct h5vec_layer_block,
 * fixed columns: their type's own); data NULL: rows of ones. */
enum h5vec_status h5vec_layer_sink_put(struct h5vec_layer_sink *sink, const void *data, uint64_t rows,
                                       struct h5vec_error *err);

/* Write the buffered rows behind those already there; creates the dataset at the first time. */
enum h5vec_status h5vec_layer_sink_flush(struct h5vec_layer_sink *sink, struct h5vec_error *err);

#endif

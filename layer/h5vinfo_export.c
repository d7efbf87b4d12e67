/* SPDX-License-Identifier: BSD-3-Clause
 *
 * h5vinfo --export: rows of a layer to standard output, as WKT, WKB, CSV or a GeoJSON text sequence. Rows go
 * through memory in batches that are bounded by rows and bytes, or by the largest row.
 */
#include "h5vinfo_export.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "h5vinfo.h"

enum {
    BATCH_ROWS = 4096,
    BATCH_BYTES = 4 << 20, /* of geometries, and of each column */
    FLUSH = 1 << 18
};

struct export
{
    struct h5vec_layer *layer;
    const struct h5vec_layer_info *info;
    const struct h5vinfo_wanted *wanted;
    enum h5vinfo_kind *kind;    /* of each column */
    struct h5vinfo_text *value; /* of each column: the values of a batch, one after the other */
    size_t **value_end;         /* where they end */
    struct h5vinfo_text out;
    char srid[32]; /* "SRID=4326;", or "" */
};

/* ---- Output ----------------------------------------------------------------------------------------- */

static enum h5vec_status put(struct export *x, const char *text, struct h5vec_error *err)
{
    return h5vinfo_text_put(&x->out, text, strlen(text), err);
}

static enum h5vec_status flush(struct export *x, size_t least, struct h5vec_error *err)
{
    if (x->out.size < least || x->out.size == 0)
        return H5VEC_OK;
    errno = 0;
    bool ok = fwrite(x->out.data, 1, x->out.size, stdout) == x->out.size && fflush(stdout) == 0;
    x->out.size = 0;
    return ok ? H5VEC_OK
              : h5vec_error_set(err, H5VEC_E_IO, (uint64_t)errno, "standard output cannot be written: %s",
                                strerror(errno));
}

/* ---- Geometries ------------------------------------------------------------------------------------- */

typedef enum h5vec_status (*writer)(const uint8_t *, size_t, char *, size_t, size_t *, struct h5vec_error *);

/* The text of a geometry straight behind what is there already. */
static enum h5vec_status put_geometry(struct export *x, writer write, const uint8_t *wkb, size_t size,
                                      struct h5vec_error *err)
{
    size_t length = 0, room = x->out.capacity - x->out.size;
    enum h5vec_status status = write(wkb, size, x->out.data + x->out.size, room, &length, err);
    if (status == H5VEC_OK && length > room) {
        status = h5vinfo_text_need(&x->out, length, err);
        if (status == H5VEC_OK)
            status = write(wkb, size, x->out.data + x->out.size, length, &length, err);
    }
    if (status == H5VEC_OK)
        x->out.size += length;
    return status;
}

/* The WKT field of CSV, in quotes where it has a comma. A lone empty field would be an empty line: it gets
 * quotes. */
static enum h5vec_status put_wkt_field(struct export *x, const uint8_t *wkb, size_t size, bool is_null,
                                       struct h5vec_error *err)
{
    if (is_null)
        return put(x, x->info->columns == 0 ? "\"\"" : "", err);
    size_t begin = x->out.size;
    enum h5vec_status status = put(x, "\"", err);
    if (status == H5VEC_OK)
        status = put(x, x->srid, err);
    if (status == H5VEC_OK)
        status = put_geometry(x, vcodec_wkt_write, wkb, size, err);
    if (status != H5VEC_OK)
        return status;
    if (memchr(x->out.data + begin, ',', x->out.size - begin))
        return put(x, "\"", err);
    x->out.size--;
    memmove(x->out.data + begin, x->out.data + begin + 1, x->out.size - begin);
    return H5VEC_OK;
}

/* ---- Rows ------------------------------------------------------------------------------------------- */

/* The text of column c's value in row k of the batch. */
static enum h5vec_status put_value(struct export *x, size_t c, size_t k, struct h5vec_error *err)
{
    size_t begin = k ? x->value_end[c][k - 1] : 0;
    return h5vinfo_text_put(&x->out, x->value[c].data + begin, x->value_end[c][k] - begin, err);
}

static enum h5vec_status put_csv(struct export *x, const struct h5vec_layer_batch *b, size_t k, bool is_null,
                                 struct h5vec_error *err)
{
    enum h5vec_status status =
        put_wkt_field(x, b->wkb + b->offsets[k], (size_t)(b->offsets[k + 1] - b->offsets[k]), is_null, err);
    for (size_t c = 0; c < x->info->columns && status == H5VEC_OK; c++) {
        status = put(x, ",", err);
        if (status == H5VEC_OK)
            status = put_value(x, c, k, err);
    }
    return status == H5VEC_OK ? put(x, "\r\n", err) : status;
}

static enum h5vec_status put_feature(struct export *x, const struct h5vec_layer_batch *b, size_t k,
                                     bool is_null, struct h5vec_error *err)
{
    enum h5vec_status status = put(x, "\x1e{\"type\":\"Feature\",\"geometry\":", err);
    if (status == H5VEC_OK && is_null)
        status = put(x, "null", err);
    else if (status == H5VEC_OK)
        status = put_geometry(x, vcodec_geojson_write, b->wkb + b->offsets[k],
                              (size_t)(b->offsets[k + 1] - b->offsets[k]), err);
    if (status == H5VEC_OK)
        status = put(x, ",\"properties\":{", err);
    for (size_t c = 0; c < x->info->columns && status == H5VEC_OK; c++) {
        const char *name = x->info->column[c].original;
        if (c > 0)
            status = put(x, ",", err);
        if (status == H5VEC_OK)
            status = h5vinfo_json_string(&x->out, name, strlen(name), err);
        if (status == H5VEC_OK)
            status = put(x, ":", err);
        if (status == H5VEC_OK)
            status = put_value(x, c, k, err);
    }
    return status == H5VEC_OK ? put(x, "}}\n", err) : status;
}

static enum h5vec_status put_row(struct export *x, const struct h5vec_layer_batch *b, size_t k,
                                 struct h5vec_error *err)
{
    const uint8_t *wkb = b->wkb + b->offsets[k];
    size_t size = (size_t)(b->offsets[k + 1] - b->offsets[k]);
    bool is_null = b->valid && !b->valid[k];
    enum h5vec_status status = H5VEC_OK;
    switch (x->wanted->format) {
    case H5VINFO_WKB:
        return h5vinfo_text_put(&x->out, (const char *)wkb, size, err);
    case H5VINFO_CSV:
        return put_csv(x, b, k, is_null, err);
    case H5VINFO_GEOJSONSEQ:
        return put_feature(x, b, k, is_null, err);
    default:
        if (!is_null)
            status = put(x, x->srid, err);
        if (status == H5VEC_OK && !is_null)
            status = put_geometry(x, vcodec_wkt_write, wkb, size, err);
        return status == H5VEC_OK ? put(x, "\n", err) : status;
    }
}

/* The text of all values of rows [i, j), column by column. */
static enum h5vec_status read_values(struct export *x, uint64_t i, uint64_t j, struct h5vec_error *err)
{
    enum h5vec_status status = H5VEC_OK;
    for (size_t c = 0; c < x->info->columns && status == H5VEC_OK; c++) {
        struct h5vec_layer_values values = {0};
        status = h5vec_layer_read_column(x->layer, c, i, j, &values, err);
        x->value[c].size = 0;
        for (uint64_t k = 0; k < j - i && status == H5VEC_OK; k++) {
            struct h5vec_error inner = {0};
            status = h5vinfo_put_value(&x->value[c], &x->info->column[c], x->kind[c], &values, k,
                                       x->wanted->format == H5VINFO_GEOJSONSEQ, &inner);
            x->value_end[c][k] = x->value[c].size;
            if (status != H5VEC_OK)
                h5vec_error_set(err, status, 0, "row %" PRIu64 ": column %s: %s", i + k,
                                x->info->column[c].original, inner.msg);
        }
    }
    return status;
}

/* The end of a batch that begins at row i. */
static enum h5vec_status fit(struct export *x, uint64_t i, uint64_t end, uint64_t *j, struct h5vec_error *err)
{
    enum h5vec_status status = h5vec_layer_fit(x->layer, i, BATCH_ROWS, BATCH_BYTES, j, err);
    for (size_t c = 0; c < x->info->columns && x->kind && status == H5VEC_OK; c++) {
        uint64_t other;
        status = h5vec_layer_fit_column(x->layer, c, i, BATCH_ROWS, BATCH_BYTES, &other, err);
        *j = other < *j ? other : *j;
    }
    *j = *j < end ? *j : end;
    return status;
}

/* Rows [i, end), all of them. */
static enum h5vec_status put_run(struct export *x, uint64_t i, uint64_t end, struct h5vec_error *err)
{
    enum h5vec_status status = H5VEC_OK;
    for (uint64_t j = i; i < end && status == H5VEC_OK; i = j) {
        struct h5vec_layer_batch batch = {0};
        status = fit(x, i, end, &j, err);
        if (status == H5VEC_OK)
            status =
                h5vec_layer_read(x->layer, i, j, H5VEC_LAYER_READ_WKB | H5VEC_LAYER_READ_VALID, &batch, err);
        if (status == H5VEC_OK && x->kind)
            status = read_values(x, i, j, err);
        for (size_t k = 0; k < batch.rows && status == H5VEC_OK; k++) {
            struct h5vec_error inner = {0};
            status = put_row(x, &batch, k, &inner);
            if (status != H5VEC_OK)
                h5vec_error_set(err, status, 0, "row %" PRIu64 ": %s", i + k, inner.msg);
            else
                status = flush(x, FLUSH, err);
        }
    }
    return status;
}

/* ---- Begin and end ---------------------------------------------------------------------------------- */

/* "SRID=n;" where the CRS has an EPSG code: h5vcat makes the same CRS of it. */
static void find_srid(struct export *x)
{
    json_t *crs = x->info->geo->crs ? json_loads(x->info->geo->crs, 0, NULL) : NULL;
    const json_t *id = json_object_get(crs, "id"), *code = json_object_get(id, "code");
    const char *authority = json_string_value(json_object_get(id, "authority"));
    if (authority && strcmp(authority, "EPSG") == 0 && json_is_integer(code))
        snprintf(x->srid, sizeof x->srid, "SRID=%" JSON_INTEGER_FORMAT ";", json_integer_value(code));
    json_decref(crs);
}

static enum h5vec_status open_columns(struct export *x, struct h5vec_error *err)
{
    size_t n = x->info->columns;
    bool ok = (x->kind = calloc(n + 1, sizeof *x->kind)) && (x->value = calloc(n + 1, sizeof *x->value)) &&
              (x->value_end = calloc(n + 1, sizeof *x->value_end));
    for (size_t c = 0; c < n && ok; c++)
        ok = (x->value_end[c] = malloc(BATCH_ROWS * sizeof **x->value_end)) != NULL;
    enum h5vec_status status =
        ok ? H5VEC_OK : h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for the columns");
    for (size_t c = 0; c < n && status == H5VEC_OK; c++)
        status = h5vinfo_column_kind(&x->info->column[c], &x->kind[c], err);
    return status;
}

static enum h5vec_status put_header(struct export *x, struct h5vec_error *err)
{
    enum h5vec_status status = put(x, "WKT", err);
    for (size_t c = 0; c < x->info->columns && status == H5VEC_OK; c++) {
        const char *name = x->info->column[c].original;
        status = put(x, ",", err);
        if (status == H5VEC_OK && name[0])
            status = h5vinfo_csv_field(&x->out, name, strlen(name), err);
    }
    return status == H5VEC_OK ? put(x, "\r\n", err) : status;
}

static enum h5vec_status export_layer(struct h5vec_layer *layer, const struct h5vinfo_wanted *wanted,
                                      struct h5vec_error *err)
{
    struct export x = {.layer = layer, .info = h5vec_layer_info(layer), .wanted = wanted};
    struct h5vinfo_selection selection = {0};
    bool columns = wanted->format == H5VINFO_CSV || wanted->format == H5VINFO_GEOJSONSEQ;
    find_srid(&x);
    enum h5vec_status status = columns ? open_columns(&x, err) : H5VEC_OK;
    if (status == H5VEC_OK)
        status = h5vinfo_select(layer, wanted, &selection, err);
    if (status == H5VEC_OK && wanted->format == H5VINFO_CSV)
        status = put_header(&x, err);
    for (uint64_t i = wanted->first, end = i; status == H5VEC_OK; i = end) {
        status = h5vinfo_select_next(&selection, i, &i, &end, err);
        if (status != H5VEC_OK || i >= end)
            break;
        status = put_run(&x, i, end, err);
    }
    if (status == H5VEC_OK)
        status = flush(&x, 0, err);
    h5vinfo_select_free(&selection);
    for (size_t c = 0; c < x.info->columns && x.value && x.value_end; c++) {
        free(x.value[c].data);
        free(x.value_end[c]);
    }
    free(x.value_end);
    free(x.value);
    free(x.kind);
    free(x.out.data);
    return status;
}

enum h5vec_status h5vinfo_export(char *argument, const struct h5vinfo_wanted *wanted, struct h5vec_error *err)
{
    struct h5vinfo_report report = {0};
    hid_t file = H5I_INVALID_HID;
    enum h5vec_status status = h5vinfo_scan(argument, false, &file, &report, err);
    if (status == H5VEC_OK && report.layers != 1)
        status = h5vec_error_set(err, H5VEC_E_USAGE, 0, "%zu layers; FILE:/GROUP names the one to export",
                                 report.layers);
    else if (status == H5VEC_OK && !report.layer[0].layer)
        status = h5vec_error_set(err, H5VEC_E_LAYER_INVALID, 0, "%s: %s", report.layer[0].path,
                                 report.layer[0].why);
    if (status == H5VEC_OK) {
        struct h5vec_error inner = {0};
        status = export_layer(report.layer[0].layer, wanted, &inner);
        if (status != H5VEC_OK)
            h5vec_error_set(err, status, inner.offset, "%s: %s", report.layer[0].path, inner.msg);
    }
    h5vinfo_report_free(&report);
    if (file >= 0)
        H5Fclose(file);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Write a layer serially, each dataset through a sink (layer_sink.c). The datasets of validity begin only
 * when the first null is seen.
 */
#include "layer_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct column {
    struct h5vec_layer_column_def def; /* name is in the writer's names */
    const char *link;
    struct h5vec_layer_sink data, offsets, valid; /* FIXED has no offsets */
    int64_t bytes;                                /* TEXT: where the next value begins */
};

struct h5vec_layer_writer {
    hid_t group;
    struct h5vec_layer_storage storage;
    struct h5vec_layer_sink wkb, offsets, bbox, valid, block;
    struct h5vec_layer_blocks blocks;
    struct vcodec_box box;
    uint64_t rows;
    int64_t bytes;
    size_t columns;
    struct column *column;
    char **links;
};

/* Append validity, which begins with ones for all rows before as soon as there is a zero. */
static enum h5vec_status put_valid(struct h5vec_layer_writer *writer, struct h5vec_layer_sink *sink,
                                   const uint8_t *valid, size_t rows, struct h5vec_error *err)
{
    bool begun = sink->buffer != NULL;
    if (!begun && (!valid || !memchr(valid, 0, rows)))
        return H5VEC_OK;
    enum h5vec_status status = begun ? H5VEC_OK : h5vec_layer_sink_put(sink, NULL, writer->rows, err);
    return status == H5VEC_OK ? h5vec_layer_sink_put(sink, valid, rows, err) : status;
}

/* Append the ends of rows whose values begin at *bytes. */
static enum h5vec_status put_offsets(struct h5vec_layer_sink *sink, const int64_t *offsets, size_t rows,
                                     int64_t *bytes, struct h5vec_error *err)
{
    enum h5vec_status status = H5VEC_OK;
    for (size_t i = 0; i < rows && status == H5VEC_OK; i++) {
        int64_t end = *bytes + offsets[i + 1];
        status = h5vec_layer_sink_put(sink, &end, 1, err);
    }
    *bytes += offsets[rows];
    return status;
}

static enum h5vec_status put_blocks(struct h5vec_layer_writer *writer, const struct h5vec_layer_rows *rows,
                                    struct h5vec_error *err)
{
    enum h5vec_status status = H5VEC_OK;
    struct h5vec_layer_blocks *blocks = &writer->blocks;
    for (size_t i = 0; i < rows->rows && status == H5VEC_OK; i++) {
        uint64_t begin = (uint64_t)(writer->bytes + rows->offsets[i]);
        uint64_t end = (uint64_t)(writer->bytes + rows->offsets[i + 1]);
        writer->box = vcodec_box_union(writer->box, rows->box[i]);
        if (h5vec_layer_blocks_add(blocks, writer->rows + i, begin, end, rows->vertices[i], rows->box[i]) !=
            H5VEC_OK)
            return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "index/blocks: no memory");
        if (blocks->count > 1) {
            status = h5vec_layer_sink_put(&writer->block, blocks->block, blocks->count - 1, err);
            h5vec_layer_blocks_drop(blocks, blocks->count - 1);
        }
    }
    return status;
}

static enum h5vec_status put_column(struct h5vec_layer_writer *writer, struct column *column,
                                    const struct h5vec_layer_values *values, size_t rows,
                                    struct h5vec_error *err)
{
    enum h5vec_status status;
    if (column->def.kind == H5VEC_LAYER_TEXT) {
        status = h5vec_layer_sink_put(&column->data, values->data, (uint64_t)values->offsets[rows], err);
        if (status == H5VEC_OK)
            status = put_offsets(&column->offsets, values->offsets, rows, &column->bytes, err);
    } else {
        status = h5vec_layer_sink_put(&column->data, values->data, rows, err);
    }
    return status == H5VEC_OK ? put_valid(writer, &column->valid, values->valid, rows, err) : status;
}

enum h5vec_status h5vec_layer_writer_append(struct h5vec_layer_writer *writer,
                                            const struct h5vec_layer_rows *rows, struct h5vec_error *err)
{
    size_t n = rows->rows;
    if (n == 0)
        return H5VEC_OK;
    enum h5vec_status status = put_blocks(writer, rows, err); /* before writer->bytes moves on */
    if (status == H5VEC_OK && rows->offsets[n] > 0)
        status = h5vec_layer_sink_put(&writer->wkb, rows->wkb, (uint64_t)rows->offsets[n], err);
    if (status == H5VEC_OK)
        status = put_offsets(&writer->offsets, rows->offsets, n, &writer->bytes, err);
    if (status == H5VEC_OK)
        status = h5vec_layer_sink_put(&writer->bbox, rows->box, n, err);
    if (status == H5VEC_OK)
        status = put_valid(writer, &writer->valid, rows->valid, n, err);
    for (size_t i = 0; i < writer->columns && status == H5VEC_OK; i++)
        status = put_column(writer, &writer->column[i], &rows->columns[i], n, err);
    writer->rows += n;
    return status;
}

static enum h5vec_status new_column(struct h5vec_layer_writer *writer, struct column *column,
                                    struct h5vec_error *err)
{
    char path[4 * H5VEC_LAYER_MAX_NAME];
    bool text = column->def.kind == H5VEC_LAYER_TEXT;
    snprintf(path, sizeof path, text ? "columns/%s/data" : "columns/%s", column->link);
    enum h5vec_status status = h5vec_layer_sink_init(
        &column->data, text ? H5VEC_LAYER_ROLE_TEXT_DATA : H5VEC_LAYER_ROLE_COLUMN_FIXED,
        text ? NULL : &column->def.shape, writer->group, path, &writer->storage, err);
    snprintf(path, sizeof path, "columns/%s/offsets", column->link);
    if (status == H5VEC_OK && text)
        status = h5vec_layer_sink_init(&column->offsets, H5VEC_LAYER_ROLE_TEXT_OFFSETS, NULL, writer->group,
                                       path, &writer->storage, err);
    if (status == H5VEC_OK && text)
        status = h5vec_layer_sink_put(&column->offsets, &(int64_t){0}, 1, err);
    snprintf(path, sizeof path, "valid/%s", column->link);
    if (status == H5VEC_OK)
        status = h5vec_layer_sink_init(&column->valid, H5VEC_LAYER_ROLE_COLUMN_VALID, NULL, writer->group,
                                       path, &writer->storage, err);
    return status;
}

/* Link names for the columns. */
static enum h5vec_status make_links(struct h5vec_layer_writer *writer,
                                    const struct h5vec_layer_column_def *columns, size_t n,
                                    struct h5vec_error *err)
{
    const char **names = malloc((n + 1) * sizeof *names);
    if (!names)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for %zu columns", n);
    for (size_t i = 0; i < n; i++)
        names[i] = columns[i].name;
    enum h5vec_status status = h5vec_layer_column_links(names, n, &writer->links, err);
    free(names);
    return status;
}

/* Keep the definitions: a type of our own, and names that live as long as the writer. */
static enum h5vec_status keep_columns(struct h5vec_layer_writer *writer,
                                      const struct h5vec_layer_column_def *columns, size_t n,
                                      struct h5vec_error *err)
{
    enum h5vec_status status = make_links(writer, columns, n, err);
    if (status != H5VEC_OK || !writer->links)
        return status;
    writer->column = calloc(n + 1, sizeof *writer->column);
    if (!writer->column)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for %zu columns", n);
    for (size_t i = 0; i < n && status == H5VEC_OK; i++) {
        struct column *column = &writer->column[i];
        column->def = columns[i];
        column->link = writer->links[i];
        column->def.name = strdup(columns[i].name);
        column->def.shape.type = H5I_INVALID_HID;
        writer->columns = i + 1;
        if (!column->def.name)
            status = h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for a column's name");
        else if (column->def.kind == H5VEC_LAYER_FIXED &&
                 (column->def.shape.type = H5Tcopy(columns[i].shape.type)) < 0)
            status = h5vec_layer_error_hdf5(err, "column %s: its type cannot be copied", column->def.name);
        else
            status = new_column(writer, column, err);
    }
    return status;
}

static enum h5vec_status start(struct h5vec_layer_writer *writer, hid_t loc, const char *name,
                               struct h5vec_error *err)
{
    hid_t lcpl = H5Pcreate(H5P_LINK_CREATE);
    if (lcpl < 0 || H5Pset_create_intermediate_group(lcpl, 1) < 0 ||
        (writer->group = H5Gcreate2(loc, name, lcpl, H5P_DEFAULT, H5P_DEFAULT)) < 0) {
        enum h5vec_status status = h5vec_layer_error_hdf5(err, "%s: cannot be created", name);
        if (lcpl >= 0)
            H5Pclose(lcpl);
        return status;
    }
    H5Pclose(lcpl);
    const struct {
        struct h5vec_layer_sink *sink;
        enum h5vec_layer_role role;
        const char *path;
    } sinks[] = {
        {&writer->wkb, H5VEC_LAYER_ROLE_WKB, H5VEC_LAYER_PATH_WKB},
        {&writer->offsets, H5VEC_LAYER_ROLE_OFFSETS, H5VEC_LAYER_PATH_OFFSETS},
        {&writer->bbox, H5VEC_LAYER_ROLE_BBOX, H5VEC_LAYER_PATH_BBOX},
        {&writer->valid, H5VEC_LAYER_ROLE_VALID, H5VEC_LAYER_PATH_VALID},
        {&writer->block, H5VEC_LAYER_ROLE_BLOCKS, H5VEC_LAYER_PATH_BLOCKS},
    };
    enum h5vec_status status = H5VEC_OK;
    for (size_t i = 0; i < sizeof sinks / sizeof sinks[0] && status == H5VEC_OK; i++)
        status = h5vec_layer_sink_init(sinks[i].sink, sinks[i].role, NULL, writer->group, sinks[i].path,
                                       &writer->storage, err);
    return status == H5VEC_OK ? h5vec_layer_sink_put(&writer->offsets, &(int64_t){0}, 1, err) : status;
}

enum h5vec_status h5vec_layer_writer_new(hid_t loc, const char *name,
                                         const struct h5vec_layer_storage *storage,
                                         const struct h5vec_layer_column_def *columns, size_t n,
                                         struct h5vec_layer_writer **writer, struct h5vec_error *err)
{
    struct h5vec_layer_writer *made = calloc(1, sizeof *made);
    if (!made)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for a writer");
    made->group = H5I_INVALID_HID;
    made->box = vcodec_box_empty();
    made->storage = storage ? *storage : h5vec_layer_storage_default();
    enum h5vec_status status = start(made, loc, name, err);
    if (status == H5VEC_OK)
        status = keep_columns(made, columns, n, err);
    if (status == H5VEC_OK)
        *writer = made;
    else
        h5vec_layer_writer_free(made);
    return status;
}

static enum h5vec_status finish_column(struct h5vec_layer_writer *writer, struct column *column,
                                       struct h5vec_error *err)
{
    enum h5vec_status status = h5vec_layer_sink_flush(&column->data, err);
    if (status == H5VEC_OK && column->def.kind == H5VEC_LAYER_TEXT)
        status = h5vec_layer_sink_flush(&column->offsets, err);
    if (status == H5VEC_OK && column->valid.buffer)
        status = h5vec_layer_sink_flush(&column->valid, err);
    if (status != H5VEC_OK)
        return status;
    char path[4 * H5VEC_LAYER_MAX_NAME];
    snprintf(path, sizeof path, "columns/%s", column->link);
    hid_t object = H5Oopen(writer->group, path, H5P_DEFAULT);
    if (object < 0)
        return h5vec_layer_error_hdf5(err, "%s: cannot be opened", path);
    status = h5vec_layer_write_name(object, column->link, column->def.name, err);
    if (status == H5VEC_OK && column->def.time)
        status = h5vec_layer_write_time_units(object, err);
    H5Oclose(object);
    return status;
}

enum h5vec_status h5vec_layer_writer_finish(struct h5vec_layer_writer *writer,
                                            const struct h5vec_layer_geo *geo, struct h5vec_error *err)
{
    enum h5vec_status status = H5VEC_OK;
    if (writer->blocks.count > 0)
        status = h5vec_layer_sink_put(&writer->block, writer->blocks.block, writer->blocks.count, err);
    struct h5vec_layer_sink *const sinks[] = {&writer->wkb, &writer->offsets, &writer->bbox, &writer->block};
    for (size_t i = 0; i < sizeof sinks / sizeof sinks[0] && status == H5VEC_OK; i++)
        status = h5vec_layer_sink_flush(sinks[i], err);
    if (status == H5VEC_OK && writer->valid.buffer)
        status = h5vec_layer_sink_flush(&writer->valid, err);
    for (size_t i = 0; i < writer->columns && status == H5VEC_OK; i++)
        status = finish_column(writer, &writer->column[i], err);
    struct h5vec_layer_geo own = *geo;
    own.box = writer->box;
    return status == H5VEC_OK ? h5vec_layer_write_attributes(writer->group, &own, err) : status;
}

void h5vec_layer_writer_free(struct h5vec_layer_writer *writer)
{
    if (!writer)
        return;
    struct h5vec_layer_sink *const sinks[] = {&writer->wkb, &writer->offsets, &writer->bbox, &writer->valid,
                                              &writer->block};
    for (size_t i = 0; i < sizeof sinks / sizeof sinks[0]; i++)
        h5vec_layer_sink_free(sinks[i]);
    for (size_t i = 0; i < writer->columns; i++) {
        struct column *column = &writer->column[i];
        h5vec_layer_sink_free(&column->data);
        h5vec_layer_sink_free(&column->offsets);
        h5vec_layer_sink_free(&column->valid);
        if (column->def.kind == H5VEC_LAYER_FIXED && column->def.shape.type >= 0)
            H5Tclose(column->def.shape.type);
        free((char *)column->def.name);
    }
    free(writer->column);
    free(writer->links);
    h5vec_layer_blocks_free(&writer->blocks);
    if (writer->group >= 0)
        H5Gclose(writer->group);
    free(writer);
}

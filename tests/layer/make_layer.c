/* SPDX-License-Identifier: BSD-3-Clause
 *
 * make_layer TEXT OUT.h5 NAME CHUNK DEFLATE BATCH: text becomes a layer, serially, through formats/ and the
 * layer writer. CHUNK is bytes (0: default), BATCH the bytes of text in a batch. For tests.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "h5vec_format.h"
#include "h5vec_layer.h"

static enum h5vec_status read_file(void *context, void *buffer, size_t size, size_t *got,
                                   struct h5vec_error *err)
{
    *got = fread(buffer, 1, size, context);
    return ferror((FILE *)context) ? h5vec_error_set(err, H5VEC_E_IO, 0, "read error") : H5VEC_OK;
}

static void must(enum h5vec_status status, const struct h5vec_error *err)
{
    if (status == H5VEC_OK)
        return;
    fprintf(stderr, "make_layer: %s: %s\n", h5vec_errname(status), err->msg);
    exit(1);
}

static void copy_rows(struct h5vec_format_reader *reader, struct h5vec_layer_writer *writer,
                      size_t batch_bytes, struct h5vec_layer_geo *geo)
{
    size_t columns = h5vec_format_column_count(reader);
    struct h5vec_layer_values *values = calloc(columns + 1, sizeof *values);
    struct h5vec_format_batch batch;
    struct h5vec_error err = {0};
    for (;;) {
        must(h5vec_format_next(reader, batch_bytes, &batch, &err), &err);
        if (batch.rows == 0)
            break;
        for (size_t c = 0; c < columns; c++)
            values[c] = (struct h5vec_layer_values){batch.columns[c].data, batch.columns[c].offsets,
                                                    batch.columns[c].valid};
        struct h5vec_layer_rows rows = {batch.rows,  batch.wkb,      batch.offsets, batch.box,
                                        batch.valid, batch.vertices, values};
        must(h5vec_layer_writer_append(writer, &rows, &err), &err);
        geo->types |= batch.geometry_types;
    }
    free(values);
    int32_t srid;
    h5vec_format_srid(reader, &srid);
    must(h5vec_layer_geo_set_epsg(geo, srid, &err), &err);
}

int main(int argc, char **argv)
{
    if (argc != 7)
        return 2;
    FILE *in = fopen(argv[1], "rb");
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(fapl, H5F_LIBVER_V110, H5F_LIBVER_V110);
    hid_t file = H5Fcreate(argv[2], H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    struct h5vec_error err = {0};
    struct h5vec_format_reader *reader = NULL;
    struct h5vec_layer_writer *writer = NULL;
    struct h5vec_layer_geo geo;
    if (!in || file < 0)
        return 2;
    h5vec_layer_geo_init(&geo);
    const struct h5vec_format_options options = {.sizeof_options = sizeof options, .types = "*=text"};
    must(h5vec_format_open(read_file, in, &options, &reader, &err), &err);
    size_t columns = h5vec_format_column_count(reader);
    struct h5vec_layer_column_def *defs = calloc(columns + 1, sizeof *defs);
    for (size_t c = 0; c < columns; c++)
        defs[c] = (struct h5vec_layer_column_def){.name = h5vec_format_column_name(reader, c),
                                                  .kind = H5VEC_LAYER_TEXT};
    struct h5vec_layer_storage storage = h5vec_layer_storage_default();
    storage.chunk_bytes = strtoull(argv[4], NULL, 10);
    storage.deflate = atoi(argv[5]);
    must(h5vec_layer_writer_new(file, argv[3], &storage, defs, columns, &writer, &err), &err);
    free(defs);
    copy_rows(reader, writer, strtoull(argv[6], NULL, 10), &geo);
    must(h5vec_layer_writer_finish(writer, &geo, &err), &err);
    h5vec_layer_writer_free(writer);
    h5vec_layer_geo_free(&geo);
    h5vec_format_free(reader);
    fclose(in);
    H5Pclose(fapl);
    return H5Fclose(file) < 0;
}

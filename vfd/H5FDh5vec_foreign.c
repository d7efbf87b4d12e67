/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is not HDF5 becomes HDF5 in memory: the rows of formats/ go through layer/'s writer into a file of
 * HDF5's core driver, whose memory is given and kept by callbacks of ours, so that nothing is copied in the
 * end. HDF5 functions may be called inside a driver's open; they see a file of another driver.
 *
 * Memory is bounded by foreign_max: the file in memory, the writer's chunks and the reader together. It is
 * estimated from the first rows, so that a file that is far too large is refused at once, and is looked at
 * before every batch.
 */
#include "H5FDh5vec_foreign.h"

#include "H5FDh5vec_err.h"
#include "h5vec_format.h"
#include "h5vec_layer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    MIB = 1 << 20,
    INCREMENT = 64 * 1024,   /* by which the file in memory grows, at least */
    MIN_CHUNK = 4096,        /* bytes of a chunk where there are many columns */
    DATASETS = 5,            /* of a layer without columns */
    COLUMN_DATASETS = 3,     /* of a column */
    COLUMN_METADATA = 12288, /* bytes of HDF5's metadata for one, in the file and in HDF5's cache */
    MAX_RECORD = 256 * MIB,
};

_Static_assert((int)H5VEC_LAYER_INTEGER == (int)H5VEC_FORMAT_INTEGER &&
                   (int)H5VEC_LAYER_FLOAT == (int)H5VEC_FORMAT_FLOAT &&
                   (int)H5VEC_LAYER_BOOLEAN == (int)H5VEC_FORMAT_BOOLEAN &&
                   (int)H5VEC_LAYER_TIME == (int)H5VEC_FORMAT_TIME,
               "a column's type is passed on as it is");

struct foreign {
    const char *name;
    const struct H5FD_h5vec_config *config;
    struct h5vec_format_reader *reader;
    /* The file in memory. */
    void *image;
    size_t size, capacity;
    /* Everything else. */
    uint64_t fixed;  /* bytes that the columns take in any case */
    uint64_t chunk;  /* bytes of one */
    uint64_t chunks; /* bytes of all that are being filled, once they are touched */
    uint64_t rows;
    uint64_t bytes; /* of rows so far: about what they take in the file */
    uint64_t geometry_types;
};

/* ---- The memory of the core driver's file ---- */

static void *image_malloc(size_t size, H5FD_file_image_op_t op, void *context)
{
    (void)op, (void)context;
    return malloc(size);
}

static void *image_memcpy(void *to, const void *from, size_t size, H5FD_file_image_op_t op, void *context)
{
    (void)op, (void)context;
    return memcpy(to, from, size);
}

static void *image_realloc(void *old, size_t size, H5FD_file_image_op_t op, void *context)
{
    struct foreign *foreign = context;
    (void)op, (void)old;
    if (size > foreign->capacity) {
        size_t capacity = size + size / 4; /* what is not touched takes no memory */
        void *grown = realloc(foreign->image, capacity);
        if (!grown)
            return NULL;
        foreign->image = grown;
        foreign->capacity = capacity;
    }
    foreign->size = size;
    return foreign->image;
}

/* The file is closed; its memory stays. */
static herr_t image_free(void *image, H5FD_file_image_op_t op, void *context)
{
    (void)image, (void)op, (void)context;
    return 0;
}

static void *context_copy(void *context)
{
    return context;
}

static herr_t context_free(void *context)
{
    (void)context;
    return 0;
}

static hid_t core_fapl(struct foreign *foreign)
{
    H5FD_file_image_callbacks_t callbacks = {image_malloc, image_memcpy, image_realloc, image_free,
                                             context_copy, context_free, foreign};
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    if (fapl < 0)
        return fapl;
    /* Without a chunk cache: the writer gives whole chunks, which would be kept in memory once more. */
    if (H5Pset_fapl_core(fapl, INCREMENT, 0) < 0 || H5Pset_file_image_callbacks(fapl, &callbacks) < 0 ||
        H5Pset_libver_bounds(fapl, H5F_LIBVER_V110, H5F_LIBVER_V110) < 0 ||
        H5Pset_cache(fapl, 0, 0, 0, 0.75) < 0) {
        H5Pclose(fapl);
        return H5I_INVALID_HID;
    }
    return fapl;
}

/* ---- Memory ---- */

static enum h5vec_status too_large(const struct foreign *foreign, uint64_t estimate, struct h5vec_error *err)
{
    return h5vec_error_set(err, H5VEC_E_USAGE, 0,
                           "it would take about %" PRIu64 " MiB of memory, and foreign_max is %" PRIu64
                           " bytes: make a HDF5 file of it with h5vcat, or set foreign_max higher",
                           estimate / MIB + 1, (uint64_t)foreign->config->foreign_max);
}

/* What the rows read so far would have all rows take. */
static uint64_t estimate(const struct foreign *foreign)
{
    double progress = h5vec_format_progress(foreign->reader);
    double all = (double)foreign->bytes / (progress > 0 ? progress : 1) + (double)foreign->fixed;
    return all < 1e18 ? (uint64_t)all : UINT64_C(1000000000000000000);
}

static enum h5vec_status check_memory(const struct foreign *foreign, uint64_t batch, struct h5vec_error *err)
{
    uint64_t max = foreign->config->foreign_max;
    uint64_t chunks = foreign->bytes < foreign->chunks ? foreign->bytes : foreign->chunks;
    uint64_t now = foreign->size + foreign->fixed + chunks + batch + h5vec_format_memory(foreign->reader);
    if (now > max)
        return too_large(foreign, estimate(foreign) > now ? estimate(foreign) : now, err);
    /* The first rows need not be like the others, but few files are twice as different. */
    return estimate(foreign) / 2 > max ? too_large(foreign, estimate(foreign), err) : H5VEC_OK;
}

/* Chunks are shorter where there are so many columns that those of all would take too much. */
static enum h5vec_status plan_memory(struct foreign *foreign, struct h5vec_error *err)
{
    uint64_t columns = h5vec_format_column_count(foreign->reader);
    uint64_t datasets = DATASETS + COLUMN_DATASETS * columns;
    uint64_t chunk = foreign->config->foreign_max / 8 / datasets;
    foreign->chunk = chunk > MIB ? MIB : chunk < MIN_CHUNK ? MIN_CHUNK : chunk;
    foreign->chunks = datasets * foreign->chunk;
    foreign->fixed = columns * COLUMN_METADATA + datasets * MIN_CHUNK;
    return check_memory(foreign, 0, err);
}

/* ---- Rows ---- */

static uint64_t batch_bytes(const struct h5vec_format_batch *batch, size_t columns)
{
    uint64_t row = sizeof *batch->offsets + sizeof *batch->box + columns * sizeof *batch->columns->offsets;
    uint64_t bytes = batch->rows * row + (uint64_t)batch->offsets[batch->rows];
    for (size_t i = 0; i < columns; i++)
        if (batch->columns[i].type == H5VEC_FORMAT_TEXT)
            bytes += (uint64_t)batch->columns[i].offsets[batch->rows];
    return bytes;
}

static enum h5vec_status append(struct foreign *foreign, struct h5vec_layer_writer *writer,
                                const struct h5vec_format_batch *batch, struct h5vec_layer_values *values,
                                struct h5vec_error *err)
{
    size_t columns = h5vec_format_column_count(foreign->reader);
    uint64_t bytes = batch_bytes(batch, columns);
    foreign->bytes += bytes;
    foreign->rows += batch->rows;
    foreign->geometry_types |= batch->geometry_types;
    enum h5vec_status status = check_memory(foreign, bytes, err);
    if (status != H5VEC_OK)
        return status;
    for (size_t i = 0; i < columns; i++) {
        const struct h5vec_format_column *column = &batch->columns[i];
        bool text = column->type == H5VEC_FORMAT_TEXT;
        values[i] =
            (struct h5vec_layer_values){text ? column->data : column->values, column->offsets, column->valid};
    }
    struct h5vec_layer_rows rows = {batch->rows,  batch->wkb,      batch->offsets, batch->box,
                                    batch->valid, batch->vertices, values};
    return h5vec_layer_writer_append(writer, &rows, err);
}

static enum h5vec_status append_all(struct foreign *foreign, struct h5vec_layer_writer *writer,
                                    struct h5vec_error *err)
{
    size_t columns = h5vec_format_column_count(foreign->reader);
    uint64_t portion = foreign->config->foreign_max / 64;
    struct h5vec_layer_values *values = calloc(columns + 1, sizeof *values);
    if (!values)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for %zu columns", columns);
    enum h5vec_status status = H5VEC_OK;
    struct h5vec_format_batch batch = {.rows = 1};
    while (status == H5VEC_OK && batch.rows > 0) {
        status = h5vec_format_next(foreign->reader, portion < MIB ? (size_t)portion + 1 : MIB, &batch, err);
        if (status == H5VEC_OK && batch.rows > 0)
            status = append(foreign, writer, &batch, values, err);
    }
    free(values);
    return status;
}

/* ---- The layer ---- */

/* A .prj that PROJ does not understand is kept for people, and the CRS is unknown. */
static enum h5vec_status set_crs(const struct foreign *foreign, struct h5vec_layer_geo *geo,
                                 struct h5vec_error *err)
{
    const char *text = h5vec_format_crs(foreign->reader);
    int32_t srid = 0;
    h5vec_format_srid(foreign->reader, &srid);
    if (!text)
        return h5vec_layer_geo_set_epsg(geo, srid, err);
    enum h5vec_status status = h5vec_layer_geo_set_crs(geo, text, err);
    if (status != H5VEC_E_LAYER_CRS)
        return status;
    geo->crs_source = strdup(text);
    return geo->crs_source ? H5VEC_OK : h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for the CRS");
}

static enum h5vec_status finish(const struct foreign *foreign, struct h5vec_layer_writer *writer,
                                struct h5vec_error *err)
{
    struct h5vec_layer_geo geo;
    h5vec_layer_geo_init(&geo);
    enum h5vec_status status = set_crs(foreign, &geo, err);
    geo.types = foreign->geometry_types;
    if (status == H5VEC_OK)
        status = h5vec_layer_writer_finish(writer, &geo, err);
    h5vec_layer_geo_free(&geo);
    return status;
}

/* The definition of a column; its type is the caller's to close. */
static enum h5vec_status define(const struct h5vec_format_reader *reader, size_t i,
                                struct h5vec_layer_column_def *def, struct h5vec_error *err)
{
    enum h5vec_format_type type = h5vec_format_column_type(reader, i);
    *def = (struct h5vec_layer_column_def){.name = h5vec_format_column_name(reader, i),
                                           .kind = H5VEC_LAYER_TEXT};
    if (type == H5VEC_FORMAT_TEXT)
        return H5VEC_OK;
    def->shape.type = h5vec_layer_value_type((enum h5vec_layer_value)type);
    if (def->shape.type < 0)
        return h5vec_layer_error_hdf5(err, "column %s: its type cannot be made", def->name);
    def->kind = H5VEC_LAYER_FIXED;
    def->time = type == H5VEC_FORMAT_TIME;
    return H5VEC_OK;
}

static enum h5vec_status new_writer(struct foreign *foreign, hid_t file, struct h5vec_layer_writer **writer,
                                    struct h5vec_error *err)
{
    size_t columns = h5vec_format_column_count(foreign->reader);
    struct h5vec_layer_storage storage = {.sizeof_options = sizeof storage, .chunk_bytes = foreign->chunk};
    struct h5vec_layer_column_def *defs = calloc(columns + 1, sizeof *defs);
    if (!defs)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for %zu columns", columns);
    enum h5vec_status status = H5VEC_OK;
    for (size_t i = 0; i < columns && status == H5VEC_OK; i++)
        status = define(foreign->reader, i, &defs[i], err);
    if (status == H5VEC_OK)
        status = h5vec_layer_writer_new(file, "layer", &storage, defs, columns, writer, err);
    for (size_t i = 0; i < columns; i++)
        if (defs[i].kind == H5VEC_LAYER_FIXED && defs[i].shape.type > 0)
            H5Tclose(defs[i].shape.type);
    free(defs);
    return status;
}

/* How many records were left out: an attribute of the layer. */
static enum h5vec_status write_skipped(const struct foreign *foreign, hid_t file, struct h5vec_error *err)
{
    uint64_t skipped = h5vec_format_bad(foreign->reader);
    if (skipped == 0)
        return H5VEC_OK;
    hid_t group = H5Gopen2(file, "layer", H5P_DEFAULT), space = H5Screate(H5S_SCALAR);
    hid_t attribute = group < 0 || space < 0 ? H5I_INVALID_HID
                                             : H5Acreate2(group, "h5vec_skipped", H5T_STD_U64LE, space,
                                                          H5P_DEFAULT, H5P_DEFAULT);
    bool written = attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_UINT64, &skipped) >= 0;
    enum h5vec_status status =
        written ? H5VEC_OK : h5vec_layer_error_hdf5(err, "h5vec_skipped: cannot be written");
    if (attribute >= 0)
        H5Aclose(attribute);
    if (space >= 0)
        H5Sclose(space);
    if (group >= 0)
        H5Gclose(group);
    return status;
}

static enum h5vec_status write_layer(struct foreign *foreign, hid_t file, struct h5vec_error *err)
{
    struct h5vec_layer_writer *writer = NULL;
    enum h5vec_status status = new_writer(foreign, file, &writer, err);
    if (status == H5VEC_OK)
        status = append_all(foreign, writer, err);
    if (status == H5VEC_OK)
        status = finish(foreign, writer, err);
    h5vec_layer_writer_free(writer);
    return status == H5VEC_OK ? write_skipped(foreign, file, err) : status;
}

static enum h5vec_status make_image(struct foreign *foreign, struct h5vec_error *err)
{
    enum h5vec_status status = plan_memory(foreign, err);
    if (status != H5VEC_OK)
        return status;
    char name[64]; /* nobody else's: HDF5 compares files of the core driver by name */
    snprintf(name, sizeof name, "h5vec/foreign/%p/layer", (void *)foreign);
    hid_t fapl = core_fapl(foreign);
    hid_t file = fapl < 0 ? H5I_INVALID_HID : H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    if (file < 0)
        status = h5vec_layer_error_hdf5(err, "a file in memory cannot be created");
    if (fapl >= 0)
        H5Pclose(fapl);
    if (status != H5VEC_OK)
        return status;
    status = write_layer(foreign, file, err);
    if (H5Fclose(file) < 0 && status == H5VEC_OK)
        status = h5vec_layer_error_hdf5(err, "the file in memory cannot be completed");
    return status;
}

/* ---- Recognising ---- */

static enum h5vec_status check_hdf5(int fd, uint64_t size, bool *is, struct h5vec_error *err)
{
    int error = h5vec_format_is_hdf5(fd, size, is);
    if (error)
        return h5vec_error_set(err, H5VEC_E_IO, 0, "cannot read: errno = %d, error message = '%s'", error,
                               strerror(error));
    return H5VEC_OK;
}

static bool is_unknown(enum h5vec_status status)
{
    return status == H5VEC_E_FORMAT_UNKNOWN || status == H5VEC_E_FORMAT_TOO_LONG;
}

static enum h5vec_status open_reader(struct foreign *foreign, int fd, struct h5vec_error *err)
{
    uint64_t max_record = foreign->config->foreign_max / 16;
    struct h5vec_format_options options = {
        .sizeof_options = sizeof options,
        .max_record = max_record > MAX_RECORD ? MAX_RECORD
                      : max_record > 1        ? (size_t)max_record
                                              : 1,
        .types = foreign->config->types == H5FD_H5VEC_TYPES_TEXT ? "*=text" : NULL,
        .on_bad =
            foreign->config->bad == H5FD_H5VEC_BAD_SKIP ? H5VEC_FORMAT_BAD_SKIP : H5VEC_FORMAT_BAD_ERROR,
    };
    return h5vec_format_open_file(foreign->name, fd, &options, &foreign->reader, err);
}

/* Make the image, with no message on the error stack or the screen. */
static enum h5vec_status convert(struct foreign *foreign, int fd, bool writable, struct h5vec_error *err)
{
    enum h5vec_status status = open_reader(foreign, fd, err);
    if (status != H5VEC_OK)
        return status;
    if (writable)
        return h5vec_error_set(err, H5VEC_E_USAGE, 0, "it can be opened for reading only");
    H5E_BEGIN_TRY
    {
        status = make_image(foreign, err);
    }
    H5E_END_TRY
    if (status == H5VEC_OK && foreign->rows == 0 && strcmp(h5vec_format_name(foreign->reader), "WKT") == 0)
        status = h5vec_error_set(err, H5VEC_E_FORMAT_UNKNOWN, 0, "it is blank");
    return status;
}

herr_t H5FD_h5vec_foreign_image(const char *name, int fd, bool writable,
                                const struct H5FD_h5vec_config *config, void **image, size_t *size)
{
    struct foreign foreign = {.name = name, .config = config};
    struct h5vec_error err = {0};
    struct stat st;
    bool is_hdf5 = false;
    *image = NULL;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        return 0; /* HDF5 will see for itself */
    enum h5vec_status status = check_hdf5(fd, (uint64_t)st.st_size, &is_hdf5, &err);
    if (status == H5VEC_OK && is_hdf5)
        return 0;
    if (status == H5VEC_OK)
        status = convert(&foreign, fd, writable, &err);
    (void)H5Eclear2(H5E_DEFAULT); /* what was tried before is no reason */
    const char *format = foreign.reader ? h5vec_format_name(foreign.reader) : "shapefile";
    if (status == H5VEC_OK) {
        *image = foreign.image;
        *size = foreign.size;
    } else if (is_unknown(status) && (!foreign.reader || foreign.rows == 0)) {
        (void)H5FD_H5VEC_FAIL(H5FD_H5VEC_FOREIGN, "'%s' is not HDF5, nor what can be read as such: %s", name,
                              err.msg);
        status = H5VEC_OK;
    } else {
        (void)H5FD_H5VEC_FAIL(H5FD_H5VEC_FOREIGN, "'%s' is not HDF5 but %s: %s", name, format, err.msg);
    }
    h5vec_format_free(foreign.reader);
    if (!*image)
        free(foreign.image);
    return status == H5VEC_OK ? 0 : -1;
}

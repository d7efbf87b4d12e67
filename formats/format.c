/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The reader: recognises a shapefile by its first bytes and text by the first line that is not blank, then
 * asks the format for one row after the other until a batch is full.
 */
#include "h5vec_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "format_internal.h"

static const struct h5vec_format_class *const classes[] = {&h5vec_format_registered, &h5vec_format_wkt,
                                                           &h5vec_format_csv};

enum { DEFAULT_MAX_RECORD = 256 * 1024 * 1024 };

/* Bytes of memory that a batch may take for each byte of text that it may read: rows of a few bytes of text
 * take about fifty bytes each. */
enum { MEMORY_FACTOR = 4 };

/* A UTF-8 byte order mark is skipped; UTF-16's say what is wrong before anything else would. */
static enum h5vec_status skip_mark(struct h5vec_format_input *input, struct h5vec_error *err)
{
    while (input->end - input->begin < 3 && !input->at_end) {
        enum h5vec_status status = h5vec_format_input_more(input, err);
        if (status != H5VEC_OK)
            return status;
    }
    size_t held = input->end - input->begin;
    const char *text = input->buffer + input->begin;
    if (held >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        input->begin += 3;
    else if (held >= 2 && (memcmp(text, "\xFF\xFE", 2) == 0 || memcmp(text, "\xFE\xFF", 2) == 0))
        return h5vec_error_set(err, H5VEC_E_FORMAT_UNKNOWN, 0, "the text is UTF-16: convert it to UTF-8");
    return H5VEC_OK;
}

static enum h5vec_status recognise_text(struct h5vec_format_reader *reader, struct h5vec_error *err)
{
    struct h5vec_format_input *input = &reader->input;
    enum h5vec_status status = skip_mark(input, err);
    if (status != H5VEC_OK)
        return status;
    /* Text has no NUL: do not look for the end of a line in a large file that is something else. */
    if (memchr(input->buffer + input->begin, '\0', input->end - input->begin))
        return h5vec_error_set(err, H5VEC_E_FORMAT_UNKNOWN, 0, "not text: it has NUL bytes");
    bool is_json = false;
    status = h5vec_format_geojson_probe(reader, &is_json, err);
    if (status != H5VEC_OK || is_json)
        return status;
    size_t size = 0, next = 0;
    for (;;) {
        status = h5vec_format_input_line(input, &size, &next, err);
        if (status != H5VEC_OK)
            return status;
        if (next == 0) {
            reader->class = &h5vec_format_wkt;
            reader->field_count = 1;
            return H5VEC_OK;
        }
        if (!h5vec_format_blank(input->buffer + input->begin, size))
            break;
        h5vec_format_input_take(input, next);
    }
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        bool is = false;
        reader->class = classes[i];
        reader->geometry_field = reader->x_field = reader->y_field = H5VEC_FORMAT_NO_FIELD;
        status = classes[i]->probe(reader, size, &is, err);
        if (status != H5VEC_OK || is)
            return status;
    }
    return h5vec_error_set(
        err, H5VEC_E_FORMAT_UNKNOWN, 0,
        "neither WKT, one a line, nor GeoJSON, nor CSV with a header and a column of WKT or two called "
        "lon and lat, longitude and latitude, or x and y");
}

static struct h5vec_format_reader *new_reader(const struct h5vec_format_options *options)
{
    struct h5vec_format_reader *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->input.line = 1;
    made->input.max_record = options && options->max_record ? options->max_record : DEFAULT_MAX_RECORD;
    if (options)
        made->options = *options;
    made->geometry_field = made->x_field = made->y_field = H5VEC_FORMAT_NO_FIELD;
    return made;
}

/* The reader is set up, or not: hand it out, or free it. */
static enum h5vec_status hand_out(struct h5vec_format_reader *made, enum h5vec_status status,
                                  struct h5vec_format_reader **reader, struct h5vec_error *err)
{
    if (status == H5VEC_OK)
        status = h5vec_format_types_decide(made, err);
    if (status == H5VEC_OK && made->rows.columns > 0) {
        made->rows.view = calloc(made->rows.columns, sizeof *made->rows.view);
        if (!made->rows.view)
            status = h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for a reader");
    }
    if (status == H5VEC_OK)
        *reader = made;
    else
        h5vec_format_free(made);
    return status;
}

enum h5vec_status h5vec_format_open(h5vec_format_source source, void *context,
                                    const struct h5vec_format_options *options,
                                    struct h5vec_format_reader **reader, struct h5vec_error *err)
{
    struct h5vec_format_reader *made = new_reader(options);
    if (!made)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for a reader");
    made->input.source = source;
    made->input.context = context;
    return hand_out(made, recognise_text(made, err), reader, err);
}

int h5vec_format_pread(int fd, void *buffer, size_t size, uint64_t offset, size_t *got)
{
    char *to = buffer;
    *got = 0;
    while (*got < size) {
        ssize_t n = pread(fd, to + *got, size - *got, (off_t)(offset + *got));
        if (n < 0 && errno != EINTR)
            return errno;
        if (n == 0)
            break;
        *got += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int h5vec_format_is_hdf5(int fd, uint64_t size, bool *is)
{
    static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    unsigned char bytes[sizeof signature];
    size_t got;
    *is = false;
    for (uint64_t at = 0; !*is && size >= sizeof bytes && at <= size - sizeof bytes; at = at ? 2 * at : 512) {
        int error = h5vec_format_pread(fd, bytes, sizeof bytes, at, &got);
        if (error)
            return error;
        *is = got == sizeof bytes && memcmp(bytes, signature, sizeof bytes) == 0;
    }
    return 0;
}

/* The source of text in a file. */
static enum h5vec_status read_file(void *context, void *buffer, size_t size, size_t *got,
                                   struct h5vec_error *err)
{
    struct h5vec_format_file *file = context;
    if (size > file->end - file->at)
        size = (size_t)(file->end - file->at);
    int error = h5vec_format_pread(file->fd, buffer, size, file->at, got);
    if (error)
        return h5vec_error_set(err, H5VEC_E_IO, 0, "cannot read: %s", strerror(error));
    file->at += *got;
    return H5VEC_OK;
}

enum h5vec_status h5vec_format_open_file(const char *path, int fd, const struct h5vec_format_options *options,
                                         struct h5vec_format_reader **reader, struct h5vec_error *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return h5vec_error_set(err, H5VEC_E_IO, 0, "cannot stat: %s", strerror(errno));
    struct h5vec_format_reader *made = new_reader(options);
    if (!made)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for a reader");
    made->file =
        (struct h5vec_format_file){.fd = fd, .size = (uint64_t)st.st_size, .end = (uint64_t)st.st_size};
    made->input.source = read_file;
    made->input.context = &made->file;
    bool is_shape = false;
    enum h5vec_status status = h5vec_format_is_shapefile(fd, made->file.size, &is_shape, err);
    if (status == H5VEC_OK)
        status = is_shape ? h5vec_format_shape_open(made, path, err) : recognise_text(made, err);
    return hand_out(made, status, reader, err);
}

void h5vec_format_free(struct h5vec_format_reader *reader)
{
    if (!reader)
        return;
    if (reader->free_state)
        reader->free_state(reader->state);
    h5vec_format_shape_free(reader->shape);
    h5vec_format_rows_free(&reader->rows);
    free(reader->fields);
    free(reader->input.buffer);
    free(reader);
}

const char *h5vec_format_name(const struct h5vec_format_reader *reader)
{
    return reader->parser ? reader->parser->name : reader->class->name;
}

size_t h5vec_format_column_count(const struct h5vec_format_reader *reader)
{
    return reader->rows.columns;
}

const char *h5vec_format_column_name(const struct h5vec_format_reader *reader, size_t column)
{
    return reader->rows.column[column].name;
}

enum h5vec_format_type h5vec_format_column_type(const struct h5vec_format_reader *reader, size_t column)
{
    return reader->rows.column[column].type;
}

void h5vec_format_srid(const struct h5vec_format_reader *reader, int32_t *srid)
{
    *srid = reader->srid;
}

const char *h5vec_format_crs(const struct h5vec_format_reader *reader)
{
    return reader->shape ? h5vec_format_shape_crs(reader->shape) : reader->crs;
}

uint64_t h5vec_format_bad(const struct h5vec_format_reader *reader)
{
    return reader->bad;
}

double h5vec_format_progress(const struct h5vec_format_reader *reader)
{
    if (reader->shape)
        return h5vec_format_shape_progress(reader->shape);
    uint64_t held = reader->input.end - reader->input.begin;
    return reader->file.size == 0 ? 0 : (double)(reader->file.at - held) / (double)reader->file.size;
}

size_t h5vec_format_memory(const struct h5vec_format_reader *reader)
{
    size_t shape = reader->shape ? h5vec_format_shape_memory(reader->shape) : 0;
    return shape + reader->input.capacity + reader->fields_capacity * sizeof *reader->fields +
           h5vec_format_rows_memory(&reader->rows);
}

static void show(struct h5vec_format_rows *rows, struct h5vec_format_batch *batch)
{
    for (size_t i = 0; i < rows->columns; i++) {
        const struct h5vec_format_builder *column = &rows->column[i];
        rows->view[i] = (struct h5vec_format_column){.type = column->type,
                                                     .valid = column->valid,
                                                     .data = column->data,
                                                     .offsets = column->offsets,
                                                     .values = column->values};
    }
    *batch = (struct h5vec_format_batch){.rows = rows->count,
                                         .wkb = rows->wkb,
                                         .offsets = rows->offsets,
                                         .box = rows->box,
                                         .valid = rows->valid,
                                         .vertices = rows->vertices,
                                         .columns = rows->view,
                                         .geometry_types = rows->geometry_types,
                                         .invalid = rows->invalid};
}

bool h5vec_format_is_malformed(enum h5vec_status status)
{
    return status == H5VEC_E_FORMAT_RECORD || (status >= H5VEC_E_TRUNCATED && status <= H5VEC_E_UNSUPPORTED);
}

void h5vec_format_note_bad(struct h5vec_format_reader *reader, const struct h5vec_error *what)
{
    reader->bad++;
    if (reader->options.bad)
        reader->options.bad(reader->options.bad_context, what);
}

/* In place of a malformed record. */
static enum h5vec_status null_row(struct h5vec_format_reader *reader, struct h5vec_error *err)
{
    if (!h5vec_format_rows_begin(&reader->rows))
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for the row");
    h5vec_format_rows_end(&reader->rows, NULL);
    return H5VEC_OK;
}

static enum h5vec_status next_row(struct h5vec_format_reader *reader, bool *added, struct h5vec_error *err)
{
    for (;;) {
        struct h5vec_error what;
        enum h5vec_status status = reader->class->row(reader, added, &what);
        if (status != H5VEC_OK && err)
            *err = what;
        if (reader->options.on_bad == H5VEC_FORMAT_BAD_ERROR || !h5vec_format_is_malformed(status))
            return status;
        status = reader->class->skip(reader, err);
        if (status != H5VEC_OK)
            return status;
        h5vec_format_note_bad(reader, &what);
        if (reader->options.on_bad == H5VEC_FORMAT_BAD_NULL) {
            *added = true;
            return null_row(reader, err);
        }
    }
}

enum h5vec_status h5vec_format_next(struct h5vec_format_reader *reader, size_t max_bytes,
                                    struct h5vec_format_batch *batch, struct h5vec_error *err)
{
    if (reader->failed)
        return h5vec_error_set(err, H5VEC_E_ARG, 0, "the reader has failed before");
    h5vec_format_rows_clear(&reader->rows);
    size_t max_memory = max_bytes > SIZE_MAX / MEMORY_FACTOR ? SIZE_MAX : max_bytes * MEMORY_FACTOR;
    bool added = true;
    reader->taken = 0;
    while (added && reader->taken < max_bytes && h5vec_format_rows_bytes(&reader->rows) < max_memory) {
        enum h5vec_status status = next_row(reader, &added, err);
        if (status != H5VEC_OK) {
            reader->failed = true;
            return status;
        }
    }
    show(&reader->rows, batch);
    return H5VEC_OK;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Where the type's name is: behind white space and "SRID=n;". */
static size_t skip_prefix(const char *text, size_t size)
{
    size_t i = 0;
    while (i < size && is_space(text[i]))
        i++;
    if (size - i >= 5 && h5vec_format_is_word(text + i, 5, "srid=")) {
        const char *semicolon = memchr(text + i, ';', size - i);
        i = semicolon ? (size_t)(semicolon - text) + 1 : i;
    }
    while (i < size && is_space(text[i]))
        i++;
    return i;
}

bool h5vec_format_is_wkt(const char *text, size_t size)
{
    size_t name = skip_prefix(text, size), end = name;
    while (end < size && (is_letter(text[end]) || is_space(text[end])))
        end++;
    size_t word = end; /* the words' own end */
    while (word > name && is_space(text[word - 1]))
        word--;
    bool opens = word > name && end < size && text[end] == '(';
    bool empty = word - name > 5 && h5vec_format_is_word(text + word - 5, 5, "empty");
    if (!opens && !empty)
        return false;
    /* The codec knows the names: an error further on is one of a WKT. */
    struct vcodec_info info;
    struct h5vec_error err = {0};
    enum h5vec_status status = vcodec_wkt_read(text, size, 0, NULL, 0, &info, &err);
    return status == H5VEC_OK || status == H5VEC_E_UNSUPPORTED || err.offset > name;
}

bool h5vec_format_is_geometry(const char *text, size_t size)
{
    return h5vec_format_is_hex_wkb(text, size) || h5vec_format_is_wkt(text, size);
}

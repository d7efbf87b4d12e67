/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shapefiles, through shapelib. A row is a record of the .shp and the record of the same number in the .dbf.
 * shapelib is asked for nothing before the files are known to hold it: whatever a header claims, memory is
 * bounded by the files' sizes and the longest record that is accepted.
 */
#include "shapefile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "vcodec_utf8.h"

enum { HEADER = 100, RECORD_HEADER = 8, MAX_CRS = 60000, UTF8_GROWTH = 4 };

/* ---- Opening ---- */

static uint32_t load_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t load_le32(const uint8_t *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

/* The .shx has the same header; its first record would be number 50 in a .shp. */
enum h5vec_status h5vec_format_is_shapefile(int fd, uint64_t size, bool *is, struct h5vec_error *err)
{
    uint8_t head[HEADER + 4] = {0};
    size_t got = 0;
    int error = h5vec_format_pread(fd, head, sizeof head, 0, &got);
    *is = false;
    if (error)
        return h5vec_error_set(err, H5VEC_E_IO, 0, "cannot read: %s", strerror(error));
    if (got < HEADER || load_be32(head) != 9994 || load_le32(head + 28) != 1000)
        return H5VEC_OK;
    uint32_t type = load_le32(head + 32);
    if (type > SHPT_MULTIPATCH || load_be32(head + 24) < HEADER / 2)
        return h5vec_error_set(err, H5VEC_E_FORMAT_RECORD, 0, "a shapefile whose header is damaged");
    if (type == SHPT_MULTIPATCH)
        return h5vec_error_set(err, H5VEC_E_UNSUPPORTED, 0, "shapefiles of multipatches are not supported");
    if (size > HEADER && load_be32(head + HEADER) == HEADER / 2)
        return h5vec_error_set(err, H5VEC_E_FORMAT_UNKNOWN, 0,
                               "the index of a shapefile: open its .shp instead");
    *is = true;
    return H5VEC_OK;
}

static enum h5vec_status read_crs(struct h5vec_format_shape *shape, struct h5vec_error *err)
{
    struct h5vec_format_shape_file *prj = &shape->files.prj;
    size_t got = 0;
    if (!prj->there || prj->size == 0)
        return H5VEC_OK;
    if (prj->size > MAX_CRS)
        return h5vec_error_set(err, H5VEC_E_FORMAT_RECORD, 0, "the .prj is longer than %d bytes", MAX_CRS);
    shape->crs = calloc(1, (size_t)prj->size + 1);
    if (!shape->crs)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for the .prj");
    enum h5vec_status status = h5vec_format_shape_read(prj, shape->crs, (size_t)prj->size, 0, &got, err);
    if (status != H5VEC_OK)
        return status;
    if (vcodec_utf8_check(shape->crs, got) < got)
        return h5vec_error_set(err, H5VEC_E_FORMAT_RECORD, 0, "the .prj is not UTF-8 text");
    while (got > 0 && strchr(" \t\r\n", shape->crs[got - 1]))
        shape->crs[--got] = '\0';
    if (got >= 3 && memcmp(shape->crs, "\xEF\xBB\xBF", 3) == 0)
        memmove(shape->crs, shape->crs + 3, got - 2);
    if (shape->crs[0] == '\0') {
        free(shape->crs);
        shape->crs = NULL;
    }
    return H5VEC_OK;
}

/* A value or name in UTF-8. */
static enum h5vec_status to_utf8(struct h5vec_format_shape *shape, const char *text, const char **utf8,
                                 size_t *size, struct h5vec_error *err)
{
    size_t left = strlen(text), room = shape->text_capacity;
    *utf8 = text;
    *size = left;
    if (shape->converter == (iconv_t)-1) {
        if (vcodec_utf8_check(text, left) < left)
            return h5vec_error_set(err, H5VEC_E_FORMAT_RECORD, 0,
                                   "not UTF-8 text: write its encoding, for example 1252, to %s.cpg",
                                   shape->files.stem);
        return H5VEC_OK;
    }
    char *from = (char *)text, *to = shape->text;
    iconv(shape->converter, NULL, NULL, NULL, NULL);
    if (iconv(shape->converter, &from, &left, &to, &room) == (size_t)-1)
        return h5vec_error_set(err, H5VEC_E_FORMAT_RECORD, 0, "text that is not in the .dbf's encoding");
    *utf8 = shape->text;
    *size = (size_t)(to - shape->text);
    return H5VEC_OK;
}

/* The type of a field of the .dbf. Longer numbers may not fit into 64 bits. */
static enum h5vec_format_type type_of(char type, int width, int decimals)
{
    enum { WIDTH = 18 };
    switch (type) {
    case 'N':
        return decimals > 0 ? H5VEC_FORMAT_FLOAT : width > WIDTH ? H5VEC_FORMAT_TEXT : H5VEC_FORMAT_INTEGER;
    case 'F':
        return H5VEC_FORMAT_FLOAT;
    case 'L':
        return H5VEC_FORMAT_BOOLEAN;
    case 'D':
        return H5VEC_FORMAT_TIME;
    default:
        return H5VEC_FORMAT_TEXT;
    }
}

static enum h5vec_status add_columns(struct h5vec_format_reader *reader, struct h5vec_error *err)
{
    struct h5vec_format_shape *shape = reader->shape;
    for (int i = 0; i < DBFGetFieldCount(shape->table); i++) {
        char name[XBASE_FLDNAME_LEN_READ + 1];
        const char *utf8;
        size_t size;
        int width = 0, decimals = 0;
        DBFGetFieldInfo(shape->table, i, name, &width, &decimals);
        char type = DBFGetNativeFieldType(shape->table, i);
        enum h5vec_status status = to_utf8(shape, name, &utf8, &size, err);
        if (status == H5VEC_OK && (type == '\0' || !strchr("CDFLN", type)))
            status = h5vec_error_set(err, H5VEC_E_UNSUPPORTED, 0,
                                     "column %.*s is of type '%c', which shapefiles do not have", (int)size,
                                     utf8, type);
        if (status == H5VEC_OK)
            status = h5vec_format_rows_column(&reader->rows, utf8, size, type_of(type, width, decimals), err);
        if (status != H5VEC_OK)
            return status;
    }
    return H5VEC_OK;
}

/* shapelib believes that fields lie inside their record. */
static bool fields_fit(DBFHandle table)
{
    for (int i = 0; i < table->nFields; i++) {
        int offset = table->panFieldOffset[i], size = table->panFieldSize[i];
        if (offset < 1 || size < 0 || size > UINT16_MAX || offset > table->nRecordLength - size)
            return false;
    }
    return true;
}

/* Records that the .dbf has, or claims and does not have all of: then one more than are there, so that its
 * reader says so. */
static uint32_t table_records(const struct h5vec_format_shape *shape)
{
    DBFHandle table = shape->table;
    uint64_t size = shape->files.dbf.size, head = (uint64_t)table->nHeaderLength;
    uint64_t held = size > head ? (size - head) / (uint64_t)table->nRecordLength : 0;
    uint64_t claimed = table->nRecords > 0 ? (uint64_t)table->nRecords : 0;
    return (uint32_t)(claimed > held ? held + 1 : claimed);
}

static enum h5vec_status open_table(struct h5vec_format_reader *reader, const SAHooks *hooks,
                                    const char *name, struct h5vec_error *err)
{
    struct h5vec_format_shape *shape = reader->shape;
    shape->table = DBFOpenLL(name, "rb", (SAHooks *)hooks);
    if (!shape->table || shape->table->nRecordLength < 1 || shape->table->nHeaderLength < 0 ||
        !fields_fit(shape->table))
        return h5vec_error_set(err, H5VEC_E_FORMAT_RECORD, 0, "the header of %s.dbf is damaged",
                               shape->files.stem);
    shape->text_capacity = UTF8_GROWTH * ((size_t)shape->table->nRecordLength + 1);
    shape->text = malloc(shape->text_capacity);
    if (!shape->text)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for a value");
    enum h5vec_status status =
        h5vec_format_encoding_open(DBFGetCodePage(shape->table), &shape->converter, err);
    return status == H5VEC_OK ? add_columns(reader, err) : status;
}

static enum h5vec_status open_files(struct h5vec_format_reader *reader, const char *path,
                                    struct h5vec_error *err)
{
    struct h5vec_format_shape *shape = reader->shape;
    SAHooks hooks;
    char name[H5VEC_FORMAT_SHAPE_NAME];
    enum h5vec_status status = h5vec_format_shape_files_open(&shape->files, path, err);
    if (status != H5VEC_OK)
        return status;
    h5vec_format_shape_hooks(&shape->files, &hooks, name);
    shape->records = SHPOpenLL(name, "rb", &hooks);
    if (!shape->records)
        return h5vec_error_set(err, H5VEC_E_FORMAT_RECORD, 0, "the index of the shapefile is damaged");
    SHPSetFastModeReadObject(shape->records, 1);
    shape->count = (uint32_t)shape->records->nRecords;
    if (shape->files.dbf.there)
        status = open_table(reader, &hooks, name, err);
    if (status == H5VEC_OK && shape->table && table_records(shape) > shape->count)
        shape->count = table_records(shape);
    return status == H5VEC_OK ? read_crs(shape, err) : status;
}

enum h5vec_status h5vec_format_shape_open(struct h5vec_format_reader *reader, const char *path,
                                          struct h5vec_error *err)
{
    reader->class = &h5vec_format_shapefile;
    reader->shape = calloc(1, sizeof *reader->shape);
    if (!reader->shape)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for a reader");
    reader->shape->converter = (iconv_t)-1;
    reader->shape->files.shp =
        (struct h5vec_format_shape_file){.fd = reader->file.fd, .there = true, .size = reader->file.size};
    return open_files(reader, path, err);
}

void h5vec_format_shape_free(struct h5vec_format_shape *shape)
{
    if (!shape)
        return;
    if (shape->records)
        SHPClose(shape->records);
    if (shape->table)
        DBFClose(shape->table);
    if (shape->converter != (iconv_t)-1)
        iconv_close(shape->converter);
    h5vec_format_shape_files_close(&shape->files);
    free(shape->rings.ring);
    free(shape->rings.order);
    free(shape->text);
    free(shape->crs);
    free(shape);
}

/* The first record that begins at or behind share / of of all records' bytes. */
static uint32_t record_at(const struct h5vec_format_shape *shape, uint32_t share, uint32_t of)
{
    const SHPInfo *records = shape->records;
    uint64_t all = 0, before = 0;
    uint32_t count = (uint32_t)records->nRecords, i = 0;
    if (share == of)
        return shape->count; /* also those that only the .dbf has */
    for (uint32_t k = 0; k < count; k++)
        all += (uint64_t)records->panRecSize[k] + RECORD_HEADER;
    uint64_t target = all / of * share + all % of * share / of;
    while (i < count && before < target)
        before += (uint64_t)records->panRecSize[i++] + RECORD_HEADER;
    return i;
}

void h5vec_format_share(struct h5vec_format_reader *reader, uint32_t lo, uint32_t hi, uint32_t of)
{
    struct h5vec_format_shape *shape = reader->shape;
    uint32_t end = record_at(shape, hi, of);
    shape->next = record_at(shape, lo, of);
    shape->count = end;
}

/* ---- Records ---- */

static enum h5vec_status read_shape(struct h5vec_format_reader *reader, struct vcodec_info *info,
                                    bool *is_null, struct h5vec_error *err)
{
    struct h5vec_format_shape *shape = reader->shape;
    SHPHandle records = shape->records;
    uint64_t held = shape->files.shp.size;
    if (shape->next >= (uint32_t)records->nRecords)
        return h5vec_error_set(err, H5VEC_E_FORMAT_RECORD, 0, "the .shp has no record for it");
    uint64_t offset = records->panRecOffset[shape->next], size = records->panRecSize[shape->next];
    if (offset > held || size > held - offset)
        return h5vec_error_set(err, H5VEC_E_FORMAT_RECORD, 0, "it goes past the end of the .shp");
    if (size > reader->input.max_record || size > INT32_MAX / 2)
        return h5vec_error_set(err, H5VEC_E_FORMAT_TOO_LONG, 0, "the record is longer than %zu bytes",
                               reader->input.max_record);
    SHPObject *object = SHPReadObject(records, (int)shape->next);
    if (shape->files.shp.error)
        return h5vec_error_set(err, H5VEC_E_IO, 0, "cannot read: %s", strerror(shape->files.shp.error));
    if (!object)
        return h5vec_error_set(err, H5VEC_E_FORMAT_RECORD, 0, "its shape is damaged");
    *is_null = object->nSHPType == SHPT_NULL;
    enum h5vec_status status =
        *is_null ? H5VEC_OK : h5vec_format_shape_wkb(&reader->rows, &shape->rings, object, info, err);
    SHPDestroyObject(object);
    reader->taken += (size_t)size;
    return status;
}

/* A value of a column that is not text; dates are written without hyphens. */
static enum h5vec_status set_value(struct h5vec_format_reader *reader, size_t i, const char *text,
                                   struct h5vec_error *err)
{
    int64_t date;
    bool is_date = reader->rows.column[i].type == H5VEC_FORMAT_TIME &&
                   DBFGetNativeFieldType(reader->shape->table, (int)i) == 'D';
    if (is_date && h5vec_format_read_date(text, strlen(text), &date)) {
        h5vec_format_rows_integer(&reader->rows, i, date);
        return H5VEC_OK;
    }
    return h5vec_format_value_set(&reader->rows, i, text, strlen(text), reader->options.allow_nonfinite, err);
}

static enum h5vec_status read_value(struct h5vec_format_reader *reader, size_t i, struct h5vec_error *err)
{
    struct h5vec_format_shape *shape = reader->shape;
    const char *text, *utf8;
    size_t size;
    if (DBFIsAttributeNULL(shape->table, (int)shape->next, (int)i))
        return H5VEC_OK;
    text = DBFReadStringAttribute(shape->table, (int)shape->next, (int)i);
    if (!text || *text == '\0')
        return H5VEC_OK;
    if (reader->rows.column[i].type != H5VEC_FORMAT_TEXT)
        return set_value(reader, i, text, err);
    struct h5vec_error inner = {0};
    enum h5vec_status status = to_utf8(shape, text, &utf8, &size, &inner);
    if (status != H5VEC_OK)
        return h5vec_error_set(err, status, 0, "column %s: %s", reader->rows.column[i].name, inner.msg);
    reader->rows.column[i].valid[reader->rows.count] = 1;
    if (!h5vec_format_rows_text(&reader->rows, i, utf8, size))
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for a value");
    return H5VEC_OK;
}

/* Whether the .dbf holds the record at hand. */
static bool table_holds(const struct h5vec_format_shape *shape)
{
    DBFHandle table = shape->table;
    uint64_t end =
        (uint64_t)table->nHeaderLength + ((uint64_t)shape->next + 1) * (uint64_t)table->nRecordLength;
    return shape->next < (uint32_t)table->nRecords && end <= shape->files.dbf.size;
}

static enum h5vec_status read_values(struct h5vec_format_reader *reader, struct h5vec_error *err)
{
    struct h5vec_format_shape *shape = reader->shape;
    enum h5vec_status status = H5VEC_OK;
    if (!shape->table)
        return H5VEC_OK;
    if (!table_holds(shape))
        return h5vec_error_set(err, H5VEC_E_FORMAT_RECORD, 0, "the .dbf has no record for it");
    for (size_t i = 0; i < reader->rows.columns && status == H5VEC_OK; i++)
        status = read_value(reader, i, err);
    if (status == H5VEC_OK && shape->files.dbf.error)
        status =
            h5vec_error_set(err, H5VEC_E_IO, 0, "cannot read the .dbf: %s", strerror(shape->files.dbf.error));
    reader->taken += (size_t)shape->table->nRecordLength;
    return status;
}

static enum h5vec_status read_record(struct h5vec_format_reader *reader, struct h5vec_error *err)
{
    struct vcodec_info info = {0};
    bool is_null = false;
    if (!h5vec_format_rows_begin(&reader->rows))
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for the row");
    enum h5vec_status status = read_shape(reader, &info, &is_null, err);
    if (status == H5VEC_OK)
        status = read_values(reader, err);
    if (status == H5VEC_OK)
        h5vec_format_rows_end(&reader->rows, is_null ? NULL : &info);
    else
        h5vec_format_rows_abort(&reader->rows);
    return status;
}

static enum h5vec_status row(struct h5vec_format_reader *reader, bool *added, struct h5vec_error *err)
{
    struct h5vec_format_shape *shape = reader->shape;
    struct h5vec_error inner = {0};
    *added = false;
    while (shape->table && shape->next < shape->count && table_holds(shape) &&
           DBFIsRecordDeleted(shape->table, (int)shape->next))
        shape->next++;
    if (shape->next == shape->count)
        return H5VEC_OK;
    enum h5vec_status status = read_record(reader, &inner);
    if (status != H5VEC_OK)
        return h5vec_error_set(err, status, 0, "record %" PRIu32 ": %s", shape->next + 1, inner.msg);
    shape->next++;
    *added = true;
    return H5VEC_OK;
}

static enum h5vec_status skip(struct h5vec_format_reader *reader, struct h5vec_error *err)
{
    (void)err;
    reader->shape->next++;
    return H5VEC_OK;
}

const struct h5vec_format_class h5vec_format_shapefile = {.name = "shapefile", .row = row, .skip = skip};

const char *h5vec_format_shape_crs(const struct h5vec_format_shape *shape)
{
    return shape->crs;
}

double h5vec_format_shape_progress(const struct h5vec_format_shape *shape)
{
    return shape->count == 0 ? 1 : (double)shape->next / shape->count;
}

size_t h5vec_format_shape_memory(const struct h5vec_format_shape *shape)
{
    const SHPInfo *records = shape->records;
    size_t index =
        (size_t)records->nMaxRecords * (sizeof *records->panRecOffset + sizeof *records->panRecSize);
    return index + (size_t)records->nBufSize + (size_t)records->nObjectBufSize + shape->text_capacity +
           (shape->files.shx.made ? shape->files.shx.size : 0) +
           shape->rings.capacity * (sizeof *shape->rings.ring + sizeof *shape->rings.order);
}

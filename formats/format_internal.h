/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of formats/ share. A format is one struct of functions (h5vec_format_class); it takes
 * records out of the input window (format_input.c) and adds rows to the batch (format_rows.c).
 */
#ifndef H5VEC_FORMAT_INTERNAL_H
#define H5VEC_FORMAT_INTERNAL_H

#include "h5vec_format.h"

/* ---- The window over the input: buffer[begin .. end) is what has been read and not yet taken. ---- */
struct h5vec_format_input {
    h5vec_format_source source;
    void *context;
    char *buffer;
    size_t begin, end, capacity;
    size_t max_record;
    bool at_end;   /* the source has no more bytes */
    uint64_t line; /* line of buffer[begin], from 1 */
    size_t column; /* bytes of that line that have been taken */
};

/* Make the window longer, or set at_end. Pointers into the buffer become stale; begin may change. An
 * unfinished record that is already longer than max_record is H5VEC_E_FORMAT_TOO_LONG. */
enum h5vec_status h5vec_format_input_more(struct h5vec_format_input *input, struct h5vec_error *err);

/* Read until the window holds size bytes, or all of the input, whatever max_record is. */
enum h5vec_status h5vec_format_input_fill(struct h5vec_format_input *input, size_t size,
                                          struct h5vec_error *err);

/* Find the end of the line that begins at begin: *size bytes without its end ("\n", "\r\n", or the end of the
 * input), *next of them with it. *next = 0 at the end of the input. */
enum h5vec_status h5vec_format_input_line(struct h5vec_format_input *input, size_t *size, size_t *next,
                                          struct h5vec_error *err);

/* Take size bytes from the window, counting lines. */
void h5vec_format_input_take(struct h5vec_format_input *input, size_t size);

/* An error at a place in the window, as "line 7, column 12: message" (columns count bytes from 1). Returns
 * status. */
enum h5vec_status h5vec_format_input_error(const struct h5vec_format_input *input, const char *at,
                                           enum h5vec_status status, struct h5vec_error *err, const char *fmt,
                                           ...) __attribute__((format(printf, 5, 6)));

/* Whether text is this word, which is in lower case, whatever the case of its ASCII letters and the locale.
 */
bool h5vec_format_is_word(const char *text, size_t size, const char *word);

/* Whether text is only blanks (space, tab, CR). */
bool h5vec_format_blank(const char *text, size_t size);
/* Take the blanks around a text off. */
void h5vec_format_trim(const char **text, size_t *size);

/* ---- The rows of a batch. ---- */

/* A column that is being filled. */
struct h5vec_format_builder {
    char *name;
    enum h5vec_format_type type;
    bool exact;     /* the type was inferred: values that lose something in it are malformed */
    bool given;     /* the type is the caller's */
    bool undecided; /* text for want of values */
    uint8_t *valid;
    char *data; /* of text, as are the next three */
    size_t size, capacity;
    int64_t *offsets;
    uint8_t *values; /* of other types: elements of h5vec_format_type_size() bytes */
};

struct h5vec_format_rows {
    size_t count, capacity; /* rows */
    uint8_t *wkb;
    size_t wkb_size, wkb_capacity;
    int64_t *offsets;
    struct vcodec_box *box;
    uint8_t *valid;
    uint64_t *vertices;
    uint64_t geometry_types;
    uint64_t invalid;
    size_t columns;
    struct h5vec_format_builder *column;
    struct h5vec_format_column *view; /* what the batch shows of column */
};

/* A field of a record, in the window. */
struct h5vec_format_field {
    char *text; /* without the quotes around it */
    size_t size;
    bool quoted;
    bool doubled; /* has quotes written as two */
};

/* Bytes of a value; 0 of text. */
size_t h5vec_format_type_size(enum h5vec_format_type type);

/* Add an attribute column with this name. Before any row. */
enum h5vec_status h5vec_format_rows_column(struct h5vec_format_rows *rows, const char *name, size_t size,
                                           enum h5vec_format_type type, struct h5vec_error *err);
void h5vec_format_rows_drop_column(struct h5vec_format_rows *rows, size_t i);

/* Begin a row: no geometry, no value in any column. False: no memory. */
bool h5vec_format_rows_begin(struct h5vec_format_rows *rows);
/* Room for the canonical WKB of the row, size bytes at least; NULL: no memory. */
uint8_t *h5vec_format_rows_wkb(struct h5vec_format_rows *rows, size_t size);
/* Append to the row's text in column i (its valid is the caller's to set). False: no memory. */
bool h5vec_format_rows_text(struct h5vec_format_rows *rows, size_t i, const char *text, size_t size);
/* Set the row's value in column i, which is of that type (integer: of times, too). */
void h5vec_format_rows_integer(struct h5vec_format_rows *rows, size_t i, int64_t value);
void h5vec_format_rows_float(struct h5vec_format_rows *rows, size_t i, double value);
void h5vec_format_rows_boolean(struct h5vec_format_rows *rows, size_t i, bool value);
/* The row is complete; info says what is in its WKB, NULL: a null geometry. Or: the row never was. */
void h5vec_format_rows_end(struct h5vec_format_rows *rows, const struct vcodec_info *info);
void h5vec_format_rows_abort(struct h5vec_format_rows *rows);

void h5vec_format_rows_clear(struct h5vec_format_rows *rows);
void h5vec_format_rows_free(struct h5vec_format_rows *rows);

/* Bytes that the rows fill, and that their arrays take. */
size_t h5vec_format_rows_bytes(const struct h5vec_format_rows *rows);
size_t h5vec_format_rows_memory(const struct h5vec_format_rows *rows);

/* Make the array that *slot (the address of a pointer of any type) points to hold need elements; *capacity is
 * what it holds, which at least doubles. False if there is no memory. */
bool h5vec_format_grow(void *slot, size_t *capacity, size_t need, size_t element);

/* ---- Records of text. ---- */

/* The geometry that is WKT (which a row has been begun for), at the end of the rows' WKB. */
struct h5vec_format_reader;
enum h5vec_status h5vec_format_read_wkt(struct h5vec_format_reader *reader,
                                        const struct h5vec_format_field *field, struct vcodec_info *info,
                                        struct h5vec_error *err);
/* The same of WKB in hexadecimal, and whether a field looks like it. */
bool h5vec_format_is_hex_wkb(const char *text, size_t size);
enum h5vec_status h5vec_format_read_hex_wkb(struct h5vec_format_reader *reader,
                                            const struct h5vec_format_field *field, struct vcodec_info *info,
                                            struct h5vec_error *err);
/* The geometry at hand, whose text is at `at` in the window, has the SRID of all rows before it. */
enum h5vec_status h5vec_format_check_srid(const struct h5vec_format_reader *reader,
                                          const struct vcodec_info *info, const char *at,
                                          struct h5vec_error *err);
/* How reading a row's geometry went: a malformed one is noted and null if the options want it so. */
enum h5vec_status h5vec_format_pass_geometry(struct h5vec_format_reader *reader, enum h5vec_status status,
                                             const struct h5vec_error *what, bool *is_null,
                                             struct h5vec_error *err);
/* The row is complete; NULL: a null geometry. */
void h5vec_format_row_end(struct h5vec_format_reader *reader, const struct vcodec_info *info);

/* Add the row of a record: fields[0 .. count), which must be the reader's field_count. On failure nothing is
 * added. */
enum h5vec_status h5vec_format_record_add(struct h5vec_format_reader *reader,
                                          struct h5vec_format_field *fields, size_t count,
                                          struct h5vec_error *err);

/* The next record of a text in fields is a row: what a format's row does, if it has record. */
enum h5vec_status h5vec_format_record_row(struct h5vec_format_reader *reader, bool *added,
                                          struct h5vec_error *err);

/* Whether a field is none of the geometry's. */
bool h5vec_format_is_attribute(const struct h5vec_format_reader *reader, size_t field);

/* ---- Values of columns that are not text (format_values.c) and types of columns (format_types.c). ---- */

/* A decimal number that fills its text but for blanks around it; nonfinite: or nan, inf. */
bool h5vec_format_read_float(const char *text, size_t size, bool nonfinite, double *value);
/* YYYYMMDD as H5VEC_FORMAT_TIME. */
bool h5vec_format_read_date(const char *text, size_t size, int64_t *value);

/* Set the row's value in column i, which is not text, from text; of blanks alone: no value. What does not fit
 * is H5VEC_E_FORMAT_RECORD. */
enum h5vec_status h5vec_format_value_set(struct h5vec_format_rows *rows, size_t i, const char *text,
                                         size_t size, bool nonfinite, struct h5vec_error *err);

/* The types whose values say all that this text does: bits 1 << enum h5vec_format_type. */
unsigned h5vec_format_value_types(const char *text, size_t size, bool nonfinite);

/* The columns are known: give them the types of the options; infer the others' if the format has record. */
enum h5vec_status h5vec_format_types_decide(struct h5vec_format_reader *reader, struct h5vec_error *err);

/* Whether text[0 .. size), a name or #N of an option, means the column of this name and number (from 1). */
bool h5vec_format_is_named(const char *text, size_t size, const char *name, size_t number);

/* Which column an option names; none, or several, is H5VEC_E_FORMAT_UNKNOWN. */
enum h5vec_status h5vec_format_csv_named(const struct h5vec_format_rows *rows, const char *name,
                                         size_t *field, struct h5vec_error *err);

/* Which column is WKT by its name, or which two are x and y; NO_FIELD: none. More than one pair is
 * H5VEC_E_FORMAT_UNKNOWN. */
size_t h5vec_format_csv_wkt(const struct h5vec_format_rows *rows);
enum h5vec_status h5vec_format_csv_pair(const struct h5vec_format_rows *rows, size_t *x, size_t *y,
                                        struct h5vec_error *err);

/* ---- Formats. ---- */
struct h5vec_format_class {
    const char *name;
    /* Is it this format? The first line that is not blank, without its end, is line[0 .. size), at the
     * window's begin. If so, set up fields and columns and take what comes before the first record. */
    enum h5vec_status (*probe)(struct h5vec_format_reader *reader, size_t size, bool *is,
                               struct h5vec_error *err);
    /* Add the next record's row to reader->rows; *added = false at the end of the input. */
    enum h5vec_status (*row)(struct h5vec_format_reader *reader, bool *added, struct h5vec_error *err);
    /* Divide the next record of a text (blank lines before it are taken) into reader->fields; *size = its
     * bytes with its end, at the window's begin; 0 at the end of the input. NULL: the format has no fields.
     */
    enum h5vec_status (*record)(struct h5vec_format_reader *reader, size_t *count, size_t *size,
                                struct h5vec_error *err);
    /* Go past the record that row has just found malformed. */
    enum h5vec_status (*skip)(struct h5vec_format_reader *reader, struct h5vec_error *err);
};

/* Try the registered parsers; the class of the one whose format it is has its records line by line. */
extern const struct h5vec_format_class h5vec_format_registered;

/* What a line-based format's row and skip do: the next line that is not blank, *next = 0 at the end; and to
 * go past it. */
enum h5vec_status h5vec_format_next_line(struct h5vec_format_reader *reader, size_t *size, size_t *next,
                                         struct h5vec_error *err);
enum h5vec_status h5vec_format_skip_line(struct h5vec_format_reader *reader, struct h5vec_error *err);

extern const struct h5vec_format_class h5vec_format_wkt;
extern const struct h5vec_format_class h5vec_format_csv;
extern const struct h5vec_format_class h5vec_format_shapefile;
extern const struct h5vec_format_class h5vec_format_geojson;

/* Is it GeoJSON, by its first character? If so, set up everything. */
enum h5vec_status h5vec_format_geojson_probe(struct h5vec_format_reader *reader, bool *is,
                                             struct h5vec_error *err);

#define H5VEC_FORMAT_NO_FIELD SIZE_MAX

/* What is read by h5vec_format_open_file. */
struct h5vec_format_file {
    int fd; /* the caller's */
    uint64_t size, at;
    uint64_t end; /* where reading ends: the file's, or that of the part */
};

struct h5vec_format_shape; /* shapefile.h */

struct h5vec_format_reader {
    const struct h5vec_format_class *class;
    struct h5vec_format_file file;
    struct h5vec_format_input input;  /* of text */
    struct h5vec_format_shape *shape; /* of a shapefile, else NULL */
    struct h5vec_format_rows rows;
    struct h5vec_format_field *fields; /* of the record at hand */
    size_t fields_capacity;
    size_t field_count;      /* fields of every record */
    size_t geometry_field;   /* which of them is the geometry, as WKT ... */
    size_t x_field, y_field; /* ... or its coordinates; NO_FIELD: it is not so */
    char separator;          /* of fields, in lines of WKT */
    size_t taken;            /* bytes of input in the batch at hand */
    uint64_t bad;            /* malformed records that were no error */
    struct h5vec_format_options options;
    const struct h5vec_format_parser *parser; /* a registered one, else NULL */
    void *state;                              /* of the format or parser */
    void (*free_state)(void *state);
    struct vcodec_info info; /* of the geometry that a parser has set */
    bool is_null;            /* it has set none */
    bool whole;              /* of text: it cannot be read in parts */
    const char *crs;         /* a text's, NULL if there is none */
    bool has_geometry;       /* a geometry was read: srid is its SRID */
    bool failed;
    int32_t srid;
};

/* Read bytes at an offset of a file, all of them unless it ends before; errno, or 0. */
int h5vec_format_pread(int fd, void *buffer, size_t size, uint64_t offset, size_t *got);

/* The siblings of a shapefile are found by path. */
enum h5vec_status h5vec_format_shape_open(struct h5vec_format_reader *reader, const char *path,
                                          struct h5vec_error *err);
void h5vec_format_shape_free(struct h5vec_format_shape *shape);
const char *h5vec_format_shape_crs(const struct h5vec_format_shape *shape);
double h5vec_format_shape_progress(const struct h5vec_format_shape *shape);
size_t h5vec_format_shape_memory(const struct h5vec_format_shape *shape);

/* Whether a status means that the record's contents are wrong, so that the next one may be read; and if so
 * and malformed records are no error: count it and tell the caller. */
bool h5vec_format_is_malformed(enum h5vec_status status);
void h5vec_format_note_bad(struct h5vec_format_reader *reader, const struct h5vec_error *what);

/* Whether text looks like WKT, well formed or not: a type's name, its dimension, then '(' or EMPTY. */
bool h5vec_format_is_wkt(const char *text, size_t size);
/* Or like WKB in hexadecimal. */
bool h5vec_format_is_geometry(const char *text, size_t size);

#endif

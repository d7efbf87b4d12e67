/* SPDX-License-Identifier: BSD-3-Clause
 *
 * formats: text with geometries in it, or a shapefile, becomes rows. Bytes come from the caller's function or
 * file, rows leave in batches; neither MPI nor HDF5 is known here. Everything is local; a reader belongs to
 * one thread at a time. Nothing is printed.
 */
#ifndef H5VEC_FORMAT_H
#define H5VEC_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "vcodec.h"

/* Where the bytes come from: read up to size bytes into buffer, *got = 0 only at the end of the input. */
typedef enum h5vec_status (*h5vec_format_source)(void *context, void *buffer, size_t size, size_t *got,
                                                 struct h5vec_error *err);

#define H5VEC_FORMAT_MAX_COLUMNS 16384

/* What becomes of a malformed record. A record that is too long, a file that ends early or cannot be read is
 * an error all the same. */
enum h5vec_format_on_bad {
    H5VEC_FORMAT_BAD_ERROR,
    H5VEC_FORMAT_BAD_SKIP, /* it is left out */
    H5VEC_FORMAT_BAD_NULL, /* what is wrong in its row is null: the geometry, a value, or all of it */
};

/* Whether a file of this size is HDF5, which nothing here reads: its signature stands at 0 or, after a user
 * block, at 512 * 2^k. Returns 0 or an errno. */
int h5vec_format_is_hdf5(int fd, uint64_t size, bool *is);

/* Whether a file of this size is a shapefile (its .shp) by its first bytes; an error says what is wrong with
 * one that cannot be read. */
enum h5vec_status h5vec_format_is_shapefile(int fd, uint64_t size, bool *is, struct h5vec_error *err);

/* Columns are named as in the file, or by number: "#3" is the third field of each record. */
struct h5vec_format_options {
    size_t sizeof_options; /* sizeof(struct h5vec_format_options) */
    size_t max_record;     /* bytes of the longest record accepted; 0: 256 MiB */
    enum h5vec_format_on_bad on_bad;
    /* Told of each malformed record that is no error; NULL: nobody is. */
    void (*bad)(void *context, const struct h5vec_error *what);
    void *bad_context;
    const char *wkt_column;          /* the column of WKT; NULL: found by name and content */
    const char *x_column, *y_column; /* the columns of coordinates, both or none; NULL: found by name */
    const char *types;               /* types of columns (h5vec_format_types_check); NULL: none is given */
    bool allow_nonfinite; /* nan and inf are numbers; a point of nan only is an error all the same */
};

/* Check a list of types: "NAME=TYPE,...", the TYPE text, integer, float, boolean or time; the NAME * stands
 * for all columns that no other entry names. That a column is there is checked when a file is opened. */
enum h5vec_status h5vec_format_types_check(const char *types, struct h5vec_error *err);

/* What the values of an attribute column are. */
enum h5vec_format_type {
    H5VEC_FORMAT_TEXT,    /* UTF-8 */
    H5VEC_FORMAT_INTEGER, /* int64_t */
    H5VEC_FORMAT_FLOAT,   /* double */
    H5VEC_FORMAT_BOOLEAN, /* uint8_t: 1 true, 0 false */
    H5VEC_FORMAT_TIME,    /* int64_t: microseconds since 1970-01-01 00:00 UTC, without leap seconds */
    H5VEC_FORMAT_TYPES,   /* how many there are */
};

/* An attribute column of a batch, row for row. Value i of a text column is data[offsets[i] .. offsets[i+1]);
 * of another one, element i of values (0 where there is none). */
struct h5vec_format_column {
    enum h5vec_format_type type;
    const uint8_t *valid;   /* rows, 1 = there, 0 = no value */
    const char *data;       /* of text: NULL if all values are empty */
    const int64_t *offsets; /* of text: rows + 1, offsets[0] = 0 */
    const void *values;     /* of other types: rows int64_t, double or uint8_t; NULL if there are no rows */
};

/* Rows, borrowed from the reader until its next call. Feature i is wkb[offsets[i] .. offsets[i+1]). */
struct h5vec_format_batch {
    size_t rows;
    const uint8_t *wkb;           /* canonical ISO WKB, one after the other; NULL if there is none */
    const int64_t *offsets;       /* rows + 1, offsets[0] = 0 */
    const struct vcodec_box *box; /* rows; empty box where null or empty */
    const uint8_t *valid;         /* rows, 1 = there, 0 = null (no bytes) */
    const uint64_t *vertices;     /* rows */
    const struct h5vec_format_column *columns; /* h5vec_format_column_count() of them */
    uint64_t geometry_types;                   /* of this batch's rows: vcodec_type_bit of each */
    uint64_t invalid;                          /* rows that are structurally invalid, kept as they are */
};

struct h5vec_format_reader;

/* Recognise the input by its content and start reading: WKT, or WKB or EWKB in hexadecimal, one a line (blank
 * lines skipped; text around it, separated by tabs, else by | or ;, becomes columns "column_1", ... numbered
 * by their place), or CSV with a header (RFC 4180; empty lines skipped). The geometry of CSV is the column
 * called WKT, geometry, geom or the_geom in any case; else, of several columns, the first whose value in the
 * first record is WKT or hexadecimal WKB; else the points of two columns of numbers called lon and lat,
 * longitude and latitude, or x and y in any case (two such pairs are an error that says what to name). The
 * geometry's columns are no attributes. An empty WKT field, or two empty coordinates, is a null geometry; an
 * empty field of another column is no value, unless it is quoted ("", an empty text). A column's type is the
 * narrowest that its values in the first MiB of records fit, without loss: boolean (true, false), integer (64
 * bits; no + and no zeros before), float (whole numbers up to 2^53), time (ISO 8601: a date, or date and time
 * with a zone, else in UTC, at most microseconds), else text. A later value that does not fit makes its
 * record malformed. A UTF-8 BOM is skipped. On success the caller frees *reader. An empty input is WKT with
 * no rows.
 *
 * What begins with { or RS is GeoJSON (RFC 7946): features or geometries one a line; a text sequence (RFC
 * 8142); a FeatureCollection, whose features are read one by one; or several objects over several lines.
 * Positions of two or three numbers; a geometry's must have as many. The properties and the Feature's other
 * members (id, ...), but for type, geometry, properties, bbox and crs, are columns: of boolean, integer or
 * float if all values in the first MiB are true or false, or such numbers, as above; else of text: strings
 * as what they say, everything else as its JSON; null is no value. Columns are those of the records in the
 * first MiB; if there are more records, a text column "other" has what they have besides, as JSON of a
 * Feature with nothing else. A name that is there twice makes its record malformed, as does an object nested
 * deeper than 256, or a collection deeper than VCODEC_MAX_DEPTH. A geometry's own bbox and foreign members
 * are not kept, nor are a FeatureCollection's.
 */
enum h5vec_status h5vec_format_open(h5vec_format_source source, void *context,
                                    const struct h5vec_format_options *options,
                                    struct h5vec_format_reader **reader, struct h5vec_error *err);

/* The same for a regular file that is open for reading as fd (borrowed; its position is not used), which may
 * also be a shapefile: the .shp, by its content. Its siblings are path with the last extension replaced, in
 * lower or upper case: .shx (made anew if missing), .dbf (attributes; none if missing: N without
 * decimals of up to 18 digits is integer, longer text; N with decimals and F float, L boolean, D time; what
 * is marked as deleted there is left out, as its shape is), .cpg (the encoding of the .dbf's text) and .prj.
 * Points, multipoints, lines and polygons, with Z and M where measured; a polygon's holes are found by
 * orientation and containment. Without .cpg and language byte text must be UTF-8. */
enum h5vec_status h5vec_format_open_file(const char *path, int fd, const struct h5vec_format_options *options,
                                         struct h5vec_format_reader **reader, struct h5vec_error *err);
void h5vec_format_free(struct h5vec_format_reader *reader);

/* "WKT", "CSV", "GeoJSON", "shapefile" or a registered parser's name, a constant string. */
const char *h5vec_format_name(const struct h5vec_format_reader *reader);

/* The attribute columns, in file order. Names are UTF-8 as in the file: they may be empty and may repeat (the
 * layer gives each a link name of its own); borrowed. */
size_t h5vec_format_column_count(const struct h5vec_format_reader *reader);
const char *h5vec_format_column_name(const struct h5vec_format_reader *reader, size_t column);
enum h5vec_format_type h5vec_format_column_type(const struct h5vec_format_reader *reader, size_t column);

/* Read a column as another type, as the first of several files has it, before the first batch. False: what
 * the first records hold could not be; text takes every value, float takes integers, and a column without any
 * value there can be anything. */
bool h5vec_format_column_retype(struct h5vec_format_reader *reader, size_t column,
                                enum h5vec_format_type type);

/* "text", "integer", "float", "boolean" or "time", a constant string. */
const char *h5vec_format_type_name(enum h5vec_format_type type);

/* SRID of the rows read so far: *srid = 0 if none had one. Rows whose SRIDs differ, one without any among
 * them, are an error of _next. */
void h5vec_format_srid(const struct h5vec_format_reader *reader, int32_t *srid);

/* The text of the .prj (UTF-8, WKT as ESRI writes it), or a name: GeoJSON's "crs", which all records must
 * agree with, and without one OGC:CRS84, as RFC 7946 says. NULL if there is none. Borrowed. */
const char *h5vec_format_crs(const struct h5vec_format_reader *reader);

/* Malformed records so far that were no error. */
uint64_t h5vec_format_bad(const struct h5vec_format_reader *reader);

/* ---- Parts of a text file, for several readers of one file ---- */

/* Whether the file is text, of which any part can be read (of GeoJSON: one record a line); and whether a
 * newline may be inside quotes. */
bool h5vec_format_is_text(const struct h5vec_format_reader *reader);
bool h5vec_format_has_quotes(const struct h5vec_format_reader *reader);

/* Where the next record begins, in bytes of a text file (h5vec_format_open_file). */
uint64_t h5vec_format_position(const struct h5vec_format_reader *reader);

/* Where in text[0 .. size) the first record ends, its newline included; 0: not here. quotes:
 * h5vec_format_has_quotes(). *inside: an odd number of quotes is before the text; on return, before that
 * place. */
size_t h5vec_format_record_end(const char *text, size_t size, bool quotes, bool *inside);

/* How often a character is in text[0 .. size). */
uint64_t h5vec_format_count_in(const char *text, size_t size, char what);

/* How often a character is in bytes [begin, end) of a file. */
enum h5vec_status h5vec_format_count(int fd, uint64_t begin, uint64_t end, char what, uint64_t *count,
                                     struct h5vec_error *err);

/* Go on with bytes [begin, end) of the file, both places where a record begins; line is that of begin, for
 * messages, 0: unchanged. */
void h5vec_format_part(struct h5vec_format_reader *reader, uint64_t begin, uint64_t end, uint64_t line);

/* The same, but the bytes come from a source from now on, which begins where a record does. */
void h5vec_format_from(struct h5vec_format_reader *reader, h5vec_format_source source, void *context,
                       uint64_t line);

/* Read to the end without making rows: whether quotes divide every record into fields. (Only then do they
 * tell where records begin; whether the fields are good is another question.) The reader can only be freed
 * then. */
enum h5vec_status h5vec_format_divisible(struct h5vec_format_reader *reader, bool *divisible,
                                         struct h5vec_error *err);

/* Of a shapefile that has just been opened: go on with its records from lo / of of their bytes up to hi / of.
 * Records are never torn; shares that follow each other have all of them. */
void h5vec_format_share(struct h5vec_format_reader *reader, uint32_t lo, uint32_t hi, uint32_t of);

/* The part of a file (h5vec_format_open_file) that has been read, 0 to 1; 0 of other inputs. */
double h5vec_format_progress(const struct h5vec_format_reader *reader);

/* Bytes of memory that the reader takes now. While a record is read it may take about eight times max_record
 * more. */
size_t h5vec_format_memory(const struct h5vec_format_reader *reader);

/* The next batch: whole records, at least one, as many as fit in about max_bytes of input (the one that goes
 * over is still in it). A batch of many short records ends when its rows take 4 * max_bytes of memory.
 * batch->rows is 0 at the end. Errors name line and column ("line 7, column 12: ..."; columns count bytes
 * from 1), or the record of a shapefile ("record 3: ..."); after one the reader can only be freed. */
enum h5vec_status h5vec_format_next(struct h5vec_format_reader *reader, size_t max_bytes,
                                    struct h5vec_format_batch *batch, struct h5vec_error *err);

/* ---- Formats of your own (docs/adding-a-format.md) ---- */

/* A parser of texts whose records are lines. A line must say what it means by itself, but for what the first
 * one says: a text may be read in parts, each by a reader of its own, which is shown the first line and then
 * begins at any other. All functions may be called by several threads, each with a reader of its own. */
struct h5vec_format_parser {
    size_t sizeof_parser; /* sizeof(struct h5vec_format_parser) */
    const char *name;     /* as h5vec_format_name() gives it */

    /* Is it this format? line[0 .. size) is the first line that is not blank, without its end. If so, set
     * *is and add the columns. */
    enum h5vec_status (*probe)(struct h5vec_format_reader *reader, const char *line, size_t size, bool *is,
                               struct h5vec_error *err);

    /* Make a row of a line that is not blank (the first one comes here, too): set its geometry, or leave it
     * null, and its values. *is_row = false: a comment or a heading, no row. A malformed line is an error
     * made by h5vec_format_refuse or by a setter, which the caller's on_bad then judges. */
    enum h5vec_status (*record)(struct h5vec_format_reader *reader, const char *line, size_t size,
                                bool *is_row, struct h5vec_error *err);
};

#define H5VEC_FORMAT_MAX_PARSERS 64

/* Let every reader of this process that is opened from now on try this parser, before the formats that are
 * built in (but for GeoJSON, which its first character shows) and after the parsers registered before. The
 * parser is borrowed for good. Any thread may call it. H5VEC_E_ARG: something is missing in it, or
 * H5VEC_FORMAT_MAX_PARSERS are there. The driver plugin (vfd/) has formats of its own: a program that
 * registers some links the driver. */
enum h5vec_status h5vec_format_register(const struct h5vec_format_parser *parser, struct h5vec_error *err);

/* For probe: add a column. For probe and record: something of the parser's own that lives as long as the
 * reader; release may be NULL. */
enum h5vec_status h5vec_format_add_column(struct h5vec_format_reader *reader, const char *name,
                                          enum h5vec_format_type type, struct h5vec_error *err);
void h5vec_format_set_state(struct h5vec_format_reader *reader, void *state, void (*release)(void *state));
void *h5vec_format_state(const struct h5vec_format_reader *reader);

/* For record: the row's geometry, as WKT (if it is a part of the line, an error has its column; blank: null)
 * or as WKB or EWKB anywhere; and the row's values, which are null where nothing is set. Columns are numbered
 * from 0 in the order of h5vec_format_add_column. Text must be UTF-8 without NUL and is appended if it is set
 * twice. */
enum h5vec_status h5vec_format_set_wkt(struct h5vec_format_reader *reader, const char *text, size_t size,
                                       struct h5vec_error *err);
enum h5vec_status h5vec_format_set_wkb(struct h5vec_format_reader *reader, const void *wkb, size_t size,
                                       struct h5vec_error *err);
enum h5vec_status h5vec_format_set_text(struct h5vec_format_reader *reader, size_t column, const char *text,
                                        size_t size, struct h5vec_error *err);
enum h5vec_status h5vec_format_set_integer(struct h5vec_format_reader *reader, size_t column, int64_t value,
                                           struct h5vec_error *err); /* of a time, too */
enum h5vec_status h5vec_format_set_float(struct h5vec_format_reader *reader, size_t column, double value,
                                         struct h5vec_error *err);
enum h5vec_status h5vec_format_set_boolean(struct h5vec_format_reader *reader, size_t column, bool value,
                                           struct h5vec_error *err);

/* The line is malformed at `at`, a place in it: "line 7, column 12: ..." */
enum h5vec_status h5vec_format_refuse(const struct h5vec_format_reader *reader, const char *at,
                                      struct h5vec_error *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * JSON (RFC 8259) as it lies in memory: a cursor that is asked for what comes next. Nothing is allocated, and
 * numbers stay text until somebody wants one, so that none is changed on the way. jansson would make a tree
 * of a hundred bytes a coordinate, through the locale's strtod, and refuses integers of more than 64 bits.
 *
 * The functions return false on an error, which the cursor then has; the text must be UTF-8 already.
 */
#ifndef H5VEC_FORMAT_JSON_H
#define H5VEC_FORMAT_JSON_H

#include "vcodec.h"

#define H5VEC_FORMAT_JSON_DEPTH 256 /* of objects and arrays in a value that is skipped */

struct h5vec_format_json {
    const char *p, *end;
    enum h5vec_status status; /* of the error; its place, what[] is the message */
    const char *at;
    char what[160];
};

/* A string without its quotes. */
struct h5vec_format_json_text {
    const char *text;
    size_t size;
    bool escaped; /* it has backslashes */
};

/* Note an error at a place; false. The first one stays. */
bool h5vec_format_json_fail(struct h5vec_format_json *j, const char *at, enum h5vec_status status,
                            const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* The next character that is no blank, '\0' at the end; it is not taken. */
char h5vec_format_json_peek(struct h5vec_format_json *j);

/* Take this character, which must be next. */
bool h5vec_format_json_take(struct h5vec_format_json *j, char c);

/* In an object or array behind its opening bracket (first) or behind a value: is there another one? The comma
 * is taken; the closing bracket, too, if there is none. */
bool h5vec_format_json_more(struct h5vec_format_json *j, bool first, char close, bool *more);

/* The next member's name and colon. */
bool h5vec_format_json_name(struct h5vec_format_json *j, struct h5vec_format_json_text *name);

bool h5vec_format_json_string(struct h5vec_format_json *j, struct h5vec_format_json_text *text);
bool h5vec_format_json_number(struct h5vec_format_json *j, double *value);

/* Any value. */
bool h5vec_format_json_skip(struct h5vec_format_json *j);

/* Whether a string says this. */
bool h5vec_format_json_is(const struct h5vec_format_json_text *text, const char *what);

/* What a string says, to out[0 .. *size), which has room for text->size bytes; an error is at j. */
bool h5vec_format_json_unescape(struct h5vec_format_json *j, const struct h5vec_format_json_text *text,
                                char *out, size_t *size);

/* Where the object or array that begins at text ends, by its brackets alone; NULL: not before end. */
const char *h5vec_format_json_end(const char *text, const char *end);

#endif

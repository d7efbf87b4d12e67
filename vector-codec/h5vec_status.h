/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Status codes of every h5vec module. A function that can fail returns enum h5vec_status (0 is success)
 * and gives its results through trailing out-pointers, which it leaves alone on failure.
 */
#ifndef H5VEC_STATUS_H
#define H5VEC_STATUS_H

#include <stdint.h>

/* Numbers are fixed and only ever appended, each module in its own range. */
enum h5vec_status {
    H5VEC_OK = 0,
    H5VEC_E_NOMEM = 1, /* an allocation failed */
    H5VEC_E_ARG = 2,   /* the caller broke a documented precondition */
    H5VEC_E_IO = 3,    /* the operating system failed a read, write, open or close; errno's text is in msg */
    H5VEC_E_INTERNAL = 4, /* an invariant of ours is broken: report it */

    /* vector-codec: 100-199 */
    H5VEC_E_TRUNCATED = 100,   /* the bytes end before the geometry does */
    H5VEC_E_WKB_TYPE = 101,    /* a geometry type code, flag bit or byte-order mark that is not known */
    H5VEC_E_DEPTH = 102,       /* nested deeper than VCODEC_MAX_DEPTH */
    H5VEC_E_COUNT = 103,       /* a count that cannot fit in the bytes that are left */
    H5VEC_E_TRAILING = 104,    /* bytes or text after the end of the geometry */
    H5VEC_E_MEMBER = 105,      /* a member whose type or dimension its collection does not allow */
    H5VEC_E_WKT_SYNTAX = 106,  /* text that is not WKT; msg says what was expected */
    H5VEC_E_WKT_NUMBER = 107,  /* not a decimal number, or out of a double's range */
    H5VEC_E_NONFINITE = 108,   /* a NaN or infinite coordinate where none is allowed */
    H5VEC_E_UNSUPPORTED = 109, /* a known geometry type that is not one of the seven; msg names it */
    H5VEC_E_TRANSFORM = 110, /* bytes that the coordinate transform does not write; msg says what is wrong */
    H5VEC_E_TRANSFORM_VERSION = 111, /* bytes of a version of the coordinate transform that is not known */

    /* formats: 200-299 */
    H5VEC_E_FORMAT_UNKNOWN = 200,  /* not a text format that is known */
    H5VEC_E_FORMAT_RECORD = 201,   /* a malformed record; msg has line and column */
    H5VEC_E_FORMAT_TOO_LONG = 202, /* a record longer than the reader's buffer may grow */

    /* layer: 300-399 */
    H5VEC_E_LAYER_NOT = 300,     /* the group is not a layer */
    H5VEC_E_LAYER_VERSION = 301, /* a layer of a version that is not known */
    H5VEC_E_LAYER_INVALID = 302, /* a rule of docs/format.md is broken; msg names the object and the rule */
    H5VEC_E_LAYER_CRS = 303,     /* a CRS that is not known or not valid */

    /* vfd: 400-499 (HDF5's error stack carries the rest) */
    H5VEC_E_HDF5 = 400, /* an HDF5 call failed; msg has the innermost message of its error stack */

    /* h5vcat: 500-599 */
    H5VEC_E_USAGE = 500,        /* wrong options, or a plan that cannot fit: exit 2 */
    H5VEC_E_INCOMPATIBLE = 501, /* inputs that do not fit together: exit 3 */
    H5VEC_E_REFUSED = 502,      /* a feature of an input that is not supported: exit 1 */
    H5VEC_E_DATA = 503,         /* damaged data in an input: exit 1 */
    H5VEC_E_MPI = 504,          /* an MPI call failed */
    H5VEC_E_VERIFY = 505,       /* the output does not hold what was read */
    H5VEC_E_EXISTS = 506,       /* the output exists and --force was not given: exit 2 */
    H5VEC_E_LEFT_OUT = 507,     /* done, but a file, a row or a geometry was left out: exit 4 */

    H5VEC_E_END
};

/* Room for an error: where and what. Owned by the caller; NULL is accepted wherever one is taken. */
struct h5vec_error {
    enum h5vec_status status;
    uint64_t offset; /* byte offset in the input that was being decoded, else 0 */
    char msg[480];   /* one line, no newline, NUL-terminated */
};

/* The meaning of a status, a constant string. */
const char *h5vec_strerror(enum h5vec_status status);

/* The name of a status ("H5VEC_E_TRUNCATED"), a constant string. */
const char *h5vec_errname(enum h5vec_status status);

/* Fill err (if not NULL) with status, offset and a printf-like message; control characters and newlines in
 * the result become '?', so that an error is always one line. Returns status. */
enum h5vec_status h5vec_error_set(struct h5vec_error *err, enum h5vec_status status, uint64_t offset,
                                  const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif

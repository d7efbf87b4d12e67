/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Status codes in words, and the one way an error record is filled. Name and meaning stand in one table, so
 * that a code cannot have one without the other.
 */
#include "h5vec_status.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

static const struct {
    enum h5vec_status status;
    const char *name;
    const char *meaning;
} table[] = {
    {H5VEC_OK, "H5VEC_OK", "success"},
    {H5VEC_E_NOMEM, "H5VEC_E_NOMEM", "out of memory"},
    {H5VEC_E_ARG, "H5VEC_E_ARG", "a function was called with arguments it does not take"},
    {H5VEC_E_IO, "H5VEC_E_IO", "input or output failed"},
    {H5VEC_E_INTERNAL, "H5VEC_E_INTERNAL", "a broken invariant of h5vec: please report it"},
    {H5VEC_E_TRUNCATED, "H5VEC_E_TRUNCATED", "the input ends before the geometry does"},
    {H5VEC_E_WKB_TYPE, "H5VEC_E_WKB_TYPE", "unknown WKB geometry type, flag or byte order"},
    {H5VEC_E_DEPTH, "H5VEC_E_DEPTH", "geometry collections are nested too deep"},
    {H5VEC_E_COUNT, "H5VEC_E_COUNT", "a count is larger than the bytes that follow allow"},
    {H5VEC_E_TRAILING, "H5VEC_E_TRAILING", "something follows the end of the geometry"},
    {H5VEC_E_MEMBER, "H5VEC_E_MEMBER", "a member does not fit its collection"},
    {H5VEC_E_WKT_SYNTAX, "H5VEC_E_WKT_SYNTAX", "the text is not WKT"},
    {H5VEC_E_WKT_NUMBER, "H5VEC_E_WKT_NUMBER", "not a decimal number in the range of a double"},
    {H5VEC_E_NONFINITE, "H5VEC_E_NONFINITE", "a coordinate is not finite"},
    {H5VEC_E_UNSUPPORTED, "H5VEC_E_UNSUPPORTED", "a geometry type that is not supported"},
    {H5VEC_E_TRANSFORM, "H5VEC_E_TRANSFORM", "not what the coordinate transform writes"},
    {H5VEC_E_TRANSFORM_VERSION, "H5VEC_E_TRANSFORM_VERSION",
     "an unknown version of the coordinate transform"},
    {H5VEC_E_FORMAT_UNKNOWN, "H5VEC_E_FORMAT_UNKNOWN", "not a text format that is known"},
    {H5VEC_E_FORMAT_RECORD, "H5VEC_E_FORMAT_RECORD", "a malformed record"},
    {H5VEC_E_FORMAT_TOO_LONG, "H5VEC_E_FORMAT_TOO_LONG", "a record is too long"},
    {H5VEC_E_LAYER_NOT, "H5VEC_E_LAYER_NOT", "not a layer"},
    {H5VEC_E_LAYER_VERSION, "H5VEC_E_LAYER_VERSION", "a layer of an unknown version"},
    {H5VEC_E_LAYER_INVALID, "H5VEC_E_LAYER_INVALID", "a layer that breaks a rule of the format"},
    {H5VEC_E_LAYER_CRS, "H5VEC_E_LAYER_CRS", "a coordinate reference system that is unknown or not valid"},
    {H5VEC_E_HDF5, "H5VEC_E_HDF5", "HDF5 reports an error"},
    {H5VEC_E_USAGE, "H5VEC_E_USAGE", "wrong usage, or a plan that cannot fit"},
    {H5VEC_E_INCOMPATIBLE, "H5VEC_E_INCOMPATIBLE", "inputs that do not fit together"},
    {H5VEC_E_REFUSED, "H5VEC_E_REFUSED", "an input uses a feature that is not supported"},
    {H5VEC_E_DATA, "H5VEC_E_DATA", "damaged data in an input"},
    {H5VEC_E_MPI, "H5VEC_E_MPI", "MPI reports an error"},
    {H5VEC_E_VERIFY, "H5VEC_E_VERIFY", "the output does not hold what was read"},
    {H5VEC_E_EXISTS, "H5VEC_E_EXISTS", "the output exists"},
    {H5VEC_E_LEFT_OUT, "H5VEC_E_LEFT_OUT", "done, but something was left out"},
};

static size_t find(enum h5vec_status status)
{
    size_t i = 0;
    while (i < sizeof table / sizeof *table && table[i].status != status)
        i++;
    return i;
}

const char *h5vec_strerror(enum h5vec_status status)
{
    size_t i = find(status);
    return i < sizeof table / sizeof *table ? table[i].meaning : "unknown status";
}

const char *h5vec_errname(enum h5vec_status status)
{
    size_t i = find(status);
    return i < sizeof table / sizeof *table ? table[i].name : "H5VEC_E_?";
}

enum h5vec_status h5vec_error_set(struct h5vec_error *err, enum h5vec_status status, uint64_t offset,
                                  const char *fmt, ...)
{
    if (!err)
        return status;
    err->status = status;
    err->offset = offset;
    va_list args;
    va_start(args, fmt);
    if (vsnprintf(err->msg, sizeof err->msg, fmt, args) < 0)
        err->msg[0] = '\0';
    va_end(args);
    for (char *c = err->msg; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    return status;
}

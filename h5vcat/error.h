/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two things that are said in many places.
 */
#ifndef H5VCAT_ERROR_H
#define H5VCAT_ERROR_H

#include <string.h>
#include "h5vec_status.h"

static inline enum h5vec_status h5vcat_no_memory(struct h5vec_error *err)
{
    h5vec_error_set(err, H5VEC_E_NOMEM, 0, "out of memory");
    return H5VEC_E_NOMEM;
}

/* Put "file: object: " (object may be NULL) in front of err's message if status is an error. Returns status.
 */
static inline enum h5vec_status h5vcat_about(struct h5vec_error *err, enum h5vec_status status,
                                             const char *file, const char *object)
{
    char why[sizeof err->msg];
    if (!status || !err || status == H5VEC_E_NOMEM)
        return status;
    memcpy(why, err->msg, sizeof why);
    h5vec_error_set(err, status, err->offset, "%s: %s%s%s", file, object ? object : "", object ? ": " : "",
                    why);
    return status;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * HDF5's errors in our words: the one place that reads HDF5's error stack. The innermost message is the cause
 * ("unable to open file"); the outer ones only repeat which call was made.
 */
#include "h5vec_layer.h"

#include <stdarg.h>
#include <stdio.h>

struct innermost {
    char text[256];
};

/* H5E_WALK_UPWARD begins at the innermost message: take that and end the walk. */
static herr_t take_first(unsigned n, const H5E_error2_t *error, void *context)
{
    struct innermost *innermost = context;
    (void)n;
    snprintf(innermost->text, sizeof innermost->text, "%s", error->desc ? error->desc : "");
    return 1;
}

enum h5vec_status h5vec_layer_error_hdf5(struct h5vec_error *err, const char *fmt, ...)
{
    struct innermost innermost = {"HDF5 gives no reason"};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &innermost);
    H5Eclear2(H5E_DEFAULT);
    if (!err)
        return H5VEC_E_HDF5;
    char text[sizeof err->msg];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return h5vec_error_set(err, H5VEC_E_HDF5, 0, "%s: %s", text, innermost.text);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The driver's error class. Its ids belong to the HDF5 library of this process, as the driver's id does, and
 * live as long: HDF5 itself releases them when it shuts down.
 */
#include "H5FDh5vec_err.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define CLASS_NAME "h5vec"

static struct {
    hid_t class_id, major, minors[H5FD_H5VEC_MINORS];
} H5FD_h5vec_err_ids;

/* After H5close the id may be nobody's, or that of another class. */
static bool registered(void)
{
    char name[sizeof CLASS_NAME + 1] = "";
    return H5Iget_type(H5FD_h5vec_err_ids.class_id) == H5I_ERROR_CLASS &&
           H5Eget_class_name(H5FD_h5vec_err_ids.class_id, name, sizeof name) > 0 &&
           strcmp(name, CLASS_NAME) == 0;
}

herr_t H5FD_h5vec_err_register(void)
{
    static const char *const texts[H5FD_H5VEC_MINORS] = {
        [H5FD_H5VEC_SYSTEM] = "System call failed",
        [H5FD_H5VEC_PLACEMENT] = "Placement",
        [H5FD_H5VEC_ARGUMENT] = "Bad argument",
        [H5FD_H5VEC_FOREIGN] = "Not HDF5",
    };
    if (registered())
        return 0;
    hid_t id = H5Eregister_class(CLASS_NAME, "h5vec file driver", H5VEC_VERSION);
    if (id < 0)
        return -1;
    H5FD_h5vec_err_ids.class_id = id;
    H5FD_h5vec_err_ids.major = H5Ecreate_msg(id, H5E_MAJOR, "File driver h5vec");
    if (H5FD_h5vec_err_ids.major < 0)
        return -1;
    for (int i = 0; i < H5FD_H5VEC_MINORS; i++)
        if ((H5FD_h5vec_err_ids.minors[i] = H5Ecreate_msg(id, H5E_MINOR, texts[i])) < 0)
            return -1;
    return 0;
}

void H5FD_h5vec_err_push(enum H5FD_h5vec_minor minor, const char *file, const char *func, unsigned line,
                         const char *format, ...)
{
    char text[1024];
    va_list args;
    /* HDF5 keeps 32 entries, and leaks what is pushed after them. */
    if (H5Eget_num(H5E_DEFAULT) >= 32)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    H5Epush2(H5E_DEFAULT, file, func, line, H5FD_h5vec_err_ids.class_id, H5FD_h5vec_err_ids.major,
             H5FD_h5vec_err_ids.minors[minor], "%s", text);
}

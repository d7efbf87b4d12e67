/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Errors of the driver: entries on HDF5's error stack, in an error class of our own.
 */
#ifndef H5FDH5VEC_ERR_H
#define H5FDH5VEC_ERR_H

#include "h5vec_hdf5.h"

enum H5FD_h5vec_minor {
    H5FD_H5VEC_SYSTEM,
    H5FD_H5VEC_PLACEMENT,
    H5FD_H5VEC_ARGUMENT,
    H5FD_H5VEC_FOREIGN,
    H5FD_H5VEC_MINORS
};

/* Register the class, unless that is done. Ids of an earlier life of the library (before H5close) are
 * forgotten. Registering clears the error stack. */
herr_t H5FD_h5vec_err_register(void);

void H5FD_h5vec_err_push(enum H5FD_h5vec_minor minor, const char *file, const char *func, unsigned line,
                         const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Evaluates to -1, for `return H5FD_H5VEC_FAIL(...)`. */
#define H5FD_H5VEC_FAIL(minor, ...)                                                                          \
    (H5FD_h5vec_err_push((minor), __FILE__, __func__, __LINE__, __VA_ARGS__), -1)
/* The same for a system call that set errno to number; h5py and others look for "errno = N". */
#define H5FD_H5VEC_FAIL_ERRNO(number, what, name)                                                            \
    H5FD_H5VEC_FAIL(H5FD_H5VEC_SYSTEM, "%s: name = '%s', errno = %d, error message = '%s'", (what), (name),  \
                    (number), strerror(number))

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The HDF5 filter over vector-codec's coordinate transform. It stands before deflate in a pipeline, makes
 * nothing smaller by itself, and takes any bytes. Programs of ours register it; any other finds the plugin
 * libh5vec_filter through HDF5_PLUGIN_PATH. docs/codec.md says what it writes.
 */
#ifndef H5ZH5VEC_H
#define H5ZH5VEC_H

#include "h5vec_hdf5.h"

/* One of the identifiers that HDF5 leaves for testing (256 to 511), until one is registered. */
#ifndef H5Z_FILTER_H5VEC
#define H5Z_FILTER_H5VEC 305
#endif

/* Its one parameter: the version of the encoded form that is written. Reading takes the version from the
 * data. */
#define H5Z_H5VEC_VALUE 1

/* The class, constant. Calls no HDF5 function. */
const H5Z_class2_t *H5Z_h5vec_class(void);

/* Make the filter known to the HDF5 library that the program is linked to; again is harmless. */
herr_t H5Z_h5vec_register(void);

#endif

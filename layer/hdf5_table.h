/* SPDX-License-Identifier: BSD-3-Clause
 *
 * HDF5 for code that is loaded by it: serial and parallel builds of HDF5 are different libraries, so a plugin
 * that is linked to one of them brings a second HDF5 into the programs of the other, and one with undefined
 * symbols finds none at all where HDF5 was loaded locally (Python). With H5VEC_HDF5_TABLE each name of
 * hdf5_symbols.txt is a macro for a pointer in this table, which is filled from the library that is there.
 */
#ifndef HDF5_TABLE_H
#define HDF5_TABLE_H

#include <hdf5.h>
#include <stdbool.h>

#include <H5PLextern.h>

#include "hdf5_symbols.h" /* made from hdf5_symbols.txt */

struct h5vec_layer_hdf5 {
#define H5VEC_HDF5_MEMBER(name) __typeof__(name) *(name);
    H5VEC_HDF5_SYMBOLS(H5VEC_HDF5_MEMBER)
#undef H5VEC_HDF5_MEMBER
};
extern struct h5vec_layer_hdf5 h5vec_layer_hdf5;

/* Fill the table from the HDF5 library whose code the address caller is in, or if that is none, from the
 * first one in this process. false, with the reason on that library's error stack (if it has one), when it is
 * of another major or minor version than these headers, when it lacks a name, or when the table serves
 * another HDF5 of this process. May be called again at any time; not from two threads. */
bool h5vec_layer_hdf5_load(const void *caller);

/* Whether the HDF5 that caller is in can load drivers; true also where caller is in no HDF5. */
bool h5vec_layer_hdf5_has_drivers(const void *caller);

/* HDF5's macros check that its release is exactly the headers', and abort. The table has its own check. */
#undef H5CHECK
#define H5CHECK

#ifndef H5VEC_HDF5_NAMES   /* defined where the names shall mean themselves: hdf5_table.c */
#include "hdf5_redirect.h" /* made from hdf5_symbols.txt */
#endif

#endif

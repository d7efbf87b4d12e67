/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The one place through which layer/ and vfd/ include HDF5, so that both can be compiled a second time over a
 * table of functions and ids found at run time (the loadable plugin).
 */
#ifndef H5VEC_HDF5_H
#define H5VEC_HDF5_H

#include <hdf5.h>

#ifdef H5VEC_HDF5_TABLE
#include "hdf5_table.h"
#endif

#endif

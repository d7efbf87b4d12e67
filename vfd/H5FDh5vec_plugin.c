/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What HDF5 asks of a plugin: the only two names that libh5vec_vfd.so shows. HDF5 registers the class itself.
 */
#include "H5FDh5vec_file.h"

H5PL_type_t H5PLget_plugin_type(void)
{
    return H5PL_TYPE_VFD;
}

const void *H5PLget_plugin_info(void)
{
    /* The caller is the HDF5 that we are to serve. */
    return h5vec_layer_hdf5_load(__builtin_return_address(0)) ? &H5FD_h5vec_class : NULL;
}

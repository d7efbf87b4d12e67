/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What HDF5 asks of a plugin: the only two names that libh5vec_vfd.so shows. HDF5 registers the class itself.
 */
#include "H5FDh5vec_file.h"

/* HDF5 before 1.14 takes a plugin of a type that it does not know for an error, and does not look at the
 * others of that folder: to it this one is a filter that nobody asks for. */
static const H5Z_class2_t nobodys_filter = {
    .version = H5Z_CLASS_T_VERS, .id = H5Z_FILTER_ERROR, .name = "h5vec file driver"};

H5PL_type_t H5PLget_plugin_type(void)
{
    return h5vec_layer_hdf5_has_drivers(__builtin_return_address(0)) ? H5PL_TYPE_VFD : H5PL_TYPE_FILTER;
}

const void *H5PLget_plugin_info(void)
{
    /* The caller is the HDF5 that we are to serve. */
    if (!h5vec_layer_hdf5_has_drivers(__builtin_return_address(0)))
        return &nobodys_filter;
    return h5vec_layer_hdf5_load(__builtin_return_address(0)) ? &H5FD_h5vec_class : NULL;
}

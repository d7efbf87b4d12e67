/* SPDX-License-Identifier: BSD-3-Clause
 * What HDF5 asks a plugin for.
 */
#include "H5Zh5vec.h"

#include <H5PLextern.h>

H5PL_type_t H5PLget_plugin_type(void)
{
    return H5PL_TYPE_FILTER;
}

const void *H5PLget_plugin_info(void)
{
    return H5Z_h5vec_class();
}

/* SPDX-License-Identifier: BSD-3-Clause
 * The filter in a program that is linked to HDF5; the plugin is made without this file.
 */
#include "H5Zh5vec.h"

herr_t H5Z_h5vec_register(void)
{
    return H5Zregister(H5Z_h5vec_class());
}

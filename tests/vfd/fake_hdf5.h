/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FAKE_HDF5_H
#define FAKE_HDF5_H

/* Load a plugin as HDF5 major.minor does; *info is what it gave. Returns what it pushed on the error stack.
 */
const char *fake_hdf5_load(const char *plugin, unsigned major, unsigned minor, const void **info);
typedef const char *fake_hdf5_load_function(const char *plugin, unsigned major, unsigned minor,
                                            const void **info);

#endif

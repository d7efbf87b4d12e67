/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A library that looks like another HDF5 to a plugin that it loads: a version of the test's choice, the start
 * of an error stack, and little else.
 */
#include "fake_hdf5.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "h5vec_hdf5.h"

hid_t H5E_ERR_CLS_g = 1, H5E_PLUGIN_g = 2, H5E_CANTINIT_g = 3;
static unsigned version[2];
static char said[1024];

herr_t(H5open)(void)
{
    return 0;
}

herr_t(H5Pset_driver_by_name)(hid_t list, const char *name, const char *config)
{
    (void)list, (void)name, (void)config;
    return -1;
}

herr_t H5get_libversion(unsigned *major, unsigned *minor, unsigned *release)
{
    *major = version[0];
    *minor = version[1];
    *release = 3;
    return 0;
}

hid_t H5Eget_current_stack(void)
{
    return 4;
}

herr_t H5Eset_current_stack(hid_t stack)
{
    return stack == 4 ? 0 : -1;
}

herr_t H5Epush2(hid_t stack, const char *file, const char *func, unsigned line, hid_t class_id, hid_t major,
                hid_t minor, const char *format, ...)
{
    va_list args;
    if (stack != H5E_DEFAULT || !file || !func || !line || class_id != 1 || major != 2 || minor != 3)
        return -1;
    va_start(args, format);
    vsnprintf(said, sizeof said, format, args);
    va_end(args);
    return 0;
}

const char *fake_hdf5_load(const char *plugin, unsigned major, unsigned minor, const void **info)
{
    const void *(*get_info)(void) = NULL;
    void *handle = dlopen(plugin, RTLD_LAZY | RTLD_LOCAL), *symbol;
    if (!handle || !(symbol = dlsym(handle, "H5PLget_plugin_info")))
        return "no plugin there";
    memcpy(&get_info, &symbol, sizeof get_info);
    version[0] = major;
    version[1] = minor;
    said[0] = '\0';
    *info = get_info(); /* not the last call of this function: it must be seen to come from here */
    dlclose(handle);
    return said;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The driver in file access lists, for programs that link it.
 *
 * No id is kept from one call to the next: after H5close it may be another driver's. HDF5 finds the driver by
 * its name, and if that is there already, as a plugin or from an earlier call, it is what a list gets. So
 * there is one driver h5vec in a process, whoever came first.
 */
#include "H5FDh5vec_config.h"
#include "H5FDh5vec_err.h"
#include "H5FDh5vec_file.h"

#include <string.h>

/* Make fapl use the driver with its defaults; returns the driver's id. */
static hid_t use_driver(hid_t fapl)
{
    htri_t there = H5FDis_driver_registered_by_name(H5FD_H5VEC_NAME);
    if (there < 0 || (there == 0 && H5FDregister(&H5FD_h5vec_class) < 0))
        return H5I_INVALID_HID;
    if (H5Pset_driver_by_name(fapl, H5FD_H5VEC_NAME, NULL) < 0)
        return H5I_INVALID_HID;
    return H5Pget_driver(fapl);
}

herr_t H5Pset_fapl_h5vec(hid_t fapl, const struct H5FD_h5vec_config *config)
{
    struct H5FD_h5vec_config complete;
    if (H5FD_h5vec_err_register() < 0 || H5FD_h5vec_config_complete(&complete, config) < 0)
        return -1;
    hid_t driver = use_driver(fapl);
    return driver < 0 ? -1 : H5Pset_driver(fapl, driver, &complete);
}

/* Does fapl use the driver? A negative value on failure. */
static htri_t uses_driver(hid_t fapl)
{
    hid_t driver = H5Pget_driver(fapl);
    htri_t there = driver < 0 ? -1 : H5FDis_driver_registered_by_name(H5FD_H5VEC_NAME);
    if (there <= 0)
        return there;
    hid_t other = H5Pcreate(H5P_FILE_ACCESS);
    if (other < 0)
        return -1;
    hid_t ours = use_driver(other);
    H5Pclose(other);
    return ours < 0 ? -1 : ours == driver;
}

herr_t H5Pget_fapl_h5vec(hid_t fapl, struct H5FD_h5vec_config *config)
{
    struct H5FD_h5vec_config complete;
    if (H5FD_h5vec_err_register() < 0)
        return -1;
    if (!config || config->sizeof_config < sizeof config->sizeof_config ||
        config->sizeof_config > sizeof complete)
        return H5FD_H5VEC_FAIL(H5FD_H5VEC_ARGUMENT,
                               "no place for the settings, or its sizeof_config is not set to sizeof(struct "
                               "H5FD_h5vec_config)");
    htri_t ours = uses_driver(fapl);
    if (ours == 0)
        return H5FD_H5VEC_FAIL(H5FD_H5VEC_ARGUMENT, "the list's driver is not h5vec");
    if (ours < 0 || H5FD_h5vec_config_of(&complete, fapl) < 0)
        return -1;
    size_t size = config->sizeof_config;
    memcpy(config, &complete, size);
    config->sizeof_config = size;
    return 0;
}

/* A list that has the probe's property; made once in each life of the library. */
static hid_t probe_list(void)
{
    static hid_t list = H5I_INVALID_HID;
    if (H5Iget_type(list) == H5I_GENPROP_LST && H5Pexist(list, H5FD_H5VEC_PROBE) > 0)
        return list;
    if (H5FD_h5vec_err_register() < 0 || (list = H5Pcreate(H5P_FILE_ACCESS)) < 0 ||
        H5Pinsert2(list, H5FD_H5VEC_PROBE, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL) < 0)
        return H5I_INVALID_HID;
    return list;
}

struct H5FD_h5vec_file *H5FD_h5vec_file_of(hid_t id)
{
    struct H5FD_h5vec_probe probe = {0};
    hid_t list = probe_list();
    if (list < 0 || H5Fget_vfd_handle(id, list, &probe.handle) < 0)
        return NULL;
    if (!probe.file) {
        (void)H5FD_H5VEC_FAIL(H5FD_H5VEC_ARGUMENT, "the file was not opened through the driver h5vec");
        return NULL;
    }
    if (strcmp(probe.version, H5VEC_VERSION) != 0 || probe.size != sizeof *probe.file) {
        (void)H5FD_H5VEC_FAIL(
            H5FD_H5VEC_ARGUMENT,
            "the file was opened through the plugin of h5vec %s, and this program is linked "
            "with another build, %s: use one version",
            probe.version, H5VEC_VERSION);
        return NULL;
    }
    return probe.file;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * try_open FILE [CONFIG]: open it for reading through the loadable driver, by name, as any program might.
 * Prints the messages of HDF5's error stack and returns 1, or prints nothing and returns 0; 2: there is no
 * driver.
 */
#include <hdf5.h>
#include <stdio.h>

static herr_t print_entry(unsigned n, const H5E_error2_t *entry, void *context)
{
    (void)n, (void)context;
    printf("%s\n", entry->desc);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2 || H5open() < 0)
        return 2;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    if (H5Pset_driver_by_name(fapl, "h5vec", argc > 2 ? argv[2] : NULL) < 0) {
        H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, print_entry, NULL);
        return 2;
    }
    hid_t file = H5Fopen(argv[1], H5F_ACC_RDONLY, fapl);
    if (file < 0) {
        H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, print_entry, NULL);
        return 1;
    }
    return H5Fclose(file) < 0 || H5Pclose(fapl) < 0;
}

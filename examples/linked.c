/* SPDX-License-Identifier: BSD-3-Clause
 *
 * linked OUT.h5: a program that computes and writes steps, and does not wait for the disk. Linked with
 * h5vec::vfd.
 */
#include <stdio.h>

#include "H5FDh5vec.h"

int main(int argc, char **argv)
{
    struct H5FD_h5vec_config config = {.sizeof_config = sizeof config, .async = 1, .zone = 1 << 20};
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    if (argc != 2 || H5Pset_fapl_h5vec(fapl, &config) < 0)
        return 2;
    hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    hid_t space = H5Screate_simple(1, (hsize_t[]){1000}, NULL);
    for (int step = 0; step < 100; step++) {
        char name[32];
        double values[1000];
        for (int i = 0; i < 1000; i++)
            values[i] = step + i / 1000.0;
        snprintf(name, sizeof name, "step%03d", step);
        hid_t dataset =
            H5Dcreate(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        if (H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
            return 1;
        H5Dclose(dataset);
    }
    H5Sclose(space);
    H5Pclose(fapl);
    return H5Fclose(file) < 0; /* an error of the background, too, is told here at the latest */
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * by_name FILE.h5 [SETTINGS]: list a file's datasets through the driver, of which this program knows nothing
 * but the name. It is linked with HDF5 alone; HDF5_PLUGIN_PATH is the folder of libh5vec_vfd.so.
 */
#include <hdf5.h>
#include <stdio.h>

static herr_t print(hid_t root, const char *name, const H5O_info2_t *info, void *count)
{
    if (info->type != H5O_TYPE_DATASET)
        return 0;
    hid_t dataset = H5Dopen(root, name, H5P_DEFAULT), space = H5Dget_space(dataset);
    printf("%s: %lld values\n", name, (long long)H5Sget_simple_extent_npoints(space));
    ++*(int *)count;
    H5Sclose(space);
    return H5Dclose(dataset);
}

int main(int argc, char **argv)
{
    int count = 0;
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    if (argc < 2 || H5Pset_driver_by_name(fapl, "h5vec", argc > 2 ? argv[2] : NULL) < 0)
        return 2;
    hid_t file = H5Fopen(argv[1], H5F_ACC_RDONLY, fapl);
    if (file < 0 || H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, print, &count, H5O_INFO_BASIC) < 0)
        return 1;
    printf("%d datasets\n", count);
    H5Pclose(fapl);
    return H5Fclose(file) < 0;
}

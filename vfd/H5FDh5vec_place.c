/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Placement as the application sees it.
 */
#include "H5FDh5vec.h"

#include "H5FDh5vec_err.h"
#include "H5FDh5vec_file.h"

/* What would make HDF5 reuse or shift space that it was given: HDF5's own free lists hand out placed ranges
 * again without asking the driver, and its alignment assumes that each allocation is at the end of the file.
 */
static herr_t check_settings(hid_t id, const struct H5FD_h5vec_file *file)
{
    H5F_fspace_strategy_t strategy = H5F_FSPACE_STRATEGY_FSM_AGGR;
    hbool_t persist;
    hsize_t threshold;
    hid_t fcpl = H5Fget_create_plist(id);
    herr_t got = fcpl < 0 ? -1 : H5Pget_file_space_strategy(fcpl, &strategy, &persist, &threshold);
    if (fcpl >= 0)
        H5Pclose(fcpl);
    if (got < 0)
        return -1;
    if (!file->writable)
        return H5FD_H5VEC_FAIL(H5FD_H5VEC_PLACEMENT, "the file is open for reading only");
    if (strategy != H5F_FSPACE_STRATEGY_NONE)
        return H5FD_H5VEC_FAIL(H5FD_H5VEC_PLACEMENT,
                               "the file keeps free space: create it with H5Pset_file_space_strategy(fcpl, "
                               "H5F_FSPACE_STRATEGY_NONE, 0, 1)");
    if (file->pub.alignment > 1)
        return H5FD_H5VEC_FAIL(H5FD_H5VEC_PLACEMENT,
                               "HDF5 aligns allocations itself: leave H5Pset_alignment at 1");
    return 0;
}

/* The file behind id, with placement begun. */
static struct H5FD_h5vec_file *placing(hid_t id)
{
    struct H5FD_h5vec_file *file = H5FD_h5vec_file_of(id);
    if (!file || file->space.placing)
        return file;
    if (check_settings(id, file) < 0 || H5FD_h5vec_file_hold(file) < 0 ||
        H5FD_h5vec_space_begin(&file->space, file->created, file->eof) < 0)
        return NULL;
    return file;
}

herr_t H5FD_h5vec_reserve(hid_t id, hsize_t size, haddr_t *addr)
{
    struct H5FD_h5vec_file *file = placing(id);
    if (!addr)
        return H5FD_H5VEC_FAIL(H5FD_H5VEC_ARGUMENT, "no place for the address");
    return file ? H5FD_h5vec_space_reserve(&file->space, size, addr) : -1;
}

herr_t H5FD_h5vec_abandon(hid_t id)
{
    struct H5FD_h5vec_file *file = H5FD_h5vec_file_of(id);
    if (!file)
        return -1;
    file->abandoned = true;
    return 0;
}

herr_t H5FD_h5vec_place(hid_t id, haddr_t addr, hsize_t size)
{
    struct H5FD_h5vec_file *file = placing(id);
    return file ? H5FD_h5vec_space_place(&file->space, addr, size) : -1;
}

herr_t H5FD_h5vec_usage(hid_t id, hsize_t *zones, hsize_t *used)
{
    const struct H5FD_h5vec_file *file = H5FD_h5vec_file_of(id);
    if (!file)
        return -1;
    if (zones)
        *zones = file->space.placing ? file->space.zones_size : H5FD_h5vec_space_eoa(&file->space);
    if (used)
        *used = file->space.placing ? file->space.zones_used : H5FD_h5vec_space_eoa(&file->space);
    return 0;
}

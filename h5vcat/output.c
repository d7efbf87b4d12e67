/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The file that is written directly: rank 0 makes it, the others open it.
 */
#include "output.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "H5FDh5vec.h"
#include "create.h"
#include "h5vec_layer.h"

#define OPEN_TRIES 50 /* of 100 ms: a parallel file system may show a new file late */

static hid_t output_fapl(const struct merge *m, uint64_t alignment)
{
    /* About what the headers and chunk indexes take; attributes that need more get further zones. */
    uint64_t bytes = 4096;
    for (int i = 0; i < m->schema->count; i++)
        bytes += m->schema->items[i].total > 0 ? 768u : 512u;
    struct H5FD_h5vec_config config = {.sizeof_config = sizeof config,
                                       .first_zone = bytes,
                                       .zone = bytes / 8 > 16384 ? bytes / 8 : 16384,
                                       .alignment = alignment,
                                       .write_buffer = (hsize_t)8 << 20};
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    if (fapl < 0)
        return fapl;
    if (H5Pset_fapl_h5vec(fapl, &config) < 0 ||
        H5Pset_libver_bounds(fapl, H5F_LIBVER_V110, H5F_LIBVER_V110) < 0 ||
        H5Pset_alignment(fapl, 1, 1) < 0) {
        H5Pclose(fapl);
        return H5I_INVALID_HID;
    }
    return fapl;
}

enum h5vec_status h5vcat_output_create(const struct merge *m, uint64_t alignment, hid_t *file, int *fd,
                                       struct stat *st, struct h5vec_error *err)
{
    hid_t fapl = output_fapl(m, alignment), fcpl = h5vcat_create_fcpl(m);
    *file = fapl < 0 || fcpl < 0 ? H5I_INVALID_HID : H5Fcreate(m->temporary, H5F_ACC_TRUNC, fcpl, fapl);
    enum h5vec_status status = H5VEC_OK;
    if (*file < 0)
        status = h5vec_layer_error_hdf5(err, "%s: cannot create", m->temporary);
    if (fapl >= 0)
        H5Pclose(fapl);
    if (fcpl >= 0)
        H5Pclose(fcpl);
    if (status)
        return status;
    haddr_t unused; /* from here on the metadata keeps to its zone */
    if (H5FD_h5vec_reserve(*file, 0, &unused) < 0)
        return h5vec_layer_error_hdf5(err, "%s: cannot begin placement", m->temporary);
    *fd = open(m->temporary, O_WRONLY | O_CLOEXEC);
    if (*fd < 0 || fstat(*fd, st) < 0 || fsync(*fd) < 0)
        return h5vec_error_set(err, H5VEC_E_IO, 0, "%s: cannot open: %s", m->temporary, strerror(errno));
    return H5VEC_OK;
}

enum h5vec_status h5vcat_output_open(const struct merge *m, const struct stat *created, int *fd,
                                     struct h5vec_error *err)
{
    const char *name = m->temporary;
    struct stat st;
    for (int i = 0; i < OPEN_TRIES; i++) {
        *fd = open(name, O_WRONLY | O_CLOEXEC);
        if (*fd >= 0 || errno != ENOENT)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    if (*fd < 0 || fstat(*fd, &st) < 0)
        return h5vec_error_set(err, H5VEC_E_IO, 0, "%s: cannot open on rank %d: %s", name, m->rank,
                               strerror(errno));
    if (st.st_ino != created->st_ino)
        return h5vec_error_set(err, H5VEC_E_IO, 0, "%s: rank %d sees another file: is the directory shared?",
                               name, m->rank);
    return H5VEC_OK;
}

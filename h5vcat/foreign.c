/* SPDX-License-Identifier: BSD-3-Clause
 *
 * HDF5 has no function that applies a filter pipeline. But a dataset of one chunk, in a file that is only in
 * memory, passes through it, and its chunk can be read as it is stored. Every rank does so with its own
 * chunks.
 */
#include "foreign.h"
#include <stdlib.h>
#include <string.h>
#include "error.h"
#include "plan.h"

static bool available(H5Z_filter_t id, bool write)
{
    unsigned config = 0, need = write ? H5Z_FILTER_CONFIG_ENCODE_ENABLED : H5Z_FILTER_CONFIG_DECODE_ENABLED;
    return H5Zfilter_avail(id) > 0 && H5Zget_filter_info(id, &config) >= 0 && (config & need);
}

/* Whether values come back as they were from a filter of this kind, whatever is in the chunk with them. */
static bool lossless(H5Z_filter_t id)
{
    static const int known[] = {H5Z_FILTER_NBIT,
                                H5Z_FILTER_SCALEOFFSET,
                                H5Z_FILTER_SZIP,
                                307,
                                32000,
                                32001,
                                32004,
                                32008,
                                32015}; /* bzip2, lzf, blosc, lz4,
                                           bitshuffle, zstd */
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (id == known[i])
            return true;
    return false;
}

enum h5vec_status h5vcat_foreign_check(hid_t dcpl, enum foreign_use use, const char *file, const char *path,
                                       struct h5vec_error *err)
{
    struct pipeline p, one = {.count = 1};
    H5Z_filter_t foreign;
    char name[32];
    enum h5vec_status st = h5vcat_pipeline_get(dcpl, 1, &p, err);
    for (int i = 0; i < p.count && !st; i++) {
        one.filter[0] = p.filter[i];
        if (h5vcat_pipeline_is_ours(&one, &foreign))
            continue;
        if (use == FOREIGN_WRITE_ALONE && !lossless(foreign))
            st =
                h5vec_error_set(err, H5VEC_E_REFUSED, 0,
                                "%s: %s: filter %s (%d) may change values, which --write=collective does not "
                                "see; --write=direct looks at every chunk",
                                file, path, h5vcat_filter_name(foreign, name), (int)foreign);
        else if (!available(foreign, use != FOREIGN_READ))
            st = h5vec_error_set(err, H5VEC_E_REFUSED, 0,
                                 "%s: %s: filter %s (%d) is not available to HDF5 here; a plugin for it in "
                                 "HDF5_PLUGIN_PATH%s would do",
                                 file, path, h5vcat_filter_name(foreign, name), (int)foreign,
                                 use != FOREIGN_READ ? ", or --compress=none or deflate:N," : "");
    }
    return st;
}

/* Whether the dataset holds these bytes once it has been closed: HDF5 kept the chunk as it was before. */
static bool holds(hid_t file, hid_t type, const void *raw, size_t bytes)
{
    hid_t dset = H5Dopen2(file, "chunk", H5P_DEFAULT);
    void *back = calloc(1, bytes);
    bool ok = dset >= 0 && back && H5Dread(dset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0 &&
              memcmp(back, raw, bytes) == 0;
    free(back);
    if (dset >= 0)
        H5Dclose(dset);
    return ok;
}

/* The chunk as HDF5 stores it. */
static bool pass_through(hid_t file, const struct item *it, const struct storage *s, hid_t dcpl,
                         const void *raw, void *out, size_t room, size_t *size, uint32_t *mask)
{
    static const hsize_t first[H5S_MAX_RANK];
    hsize_t stored = 0;
    hid_t space = H5Screate_simple(it->rank, s->chunk, NULL), type = h5vcat_blob_type(it->type);
    hid_t dset = H5Dcreate2(file, "chunk", type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    bool ok = dset >= 0 && H5Dwrite(dset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw) >= 0 &&
              H5Dflush(dset) >= 0 && H5Dget_chunk_storage_size(dset, first, &stored) >= 0 && stored <= room &&
              H5Dread_chunk(dset, H5P_DEFAULT, first, mask, out) >= 0;
    *size = (size_t)stored;
    if (dset >= 0)
        H5Dclose(dset);
    H5Sclose(space);
    return ok;
}

enum h5vec_status h5vcat_foreign_encode(const struct merge *m, const struct item *it, const struct storage *s,
                                        const void *raw, void *out, size_t room, size_t *size, uint32_t *mask,
                                        struct h5vec_error *err)
{
    hid_t dcpl, fapl = H5Pcreate(H5P_FILE_ACCESS), file = H5I_INVALID_HID;
    enum h5vec_status st = h5vcat_plan_dcpl(m, it, s, &dcpl, err);
    if (st) {
        H5Pclose(fapl);
        return st;
    }
    if (H5Pset_fapl_core(fapl, 1 << 20, false) >= 0)
        file = H5Fcreate("chunk", H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    if (file < 0 || !pass_through(file, it, s, dcpl, raw, out, room, size, mask))
        st = h5vec_layer_error_hdf5(err, "%s: %s: HDF5 cannot encode a chunk", m->options->output, it->path);
    size_t bytes = it->element;
    for (int d = 0; d < it->rank; d++)
        bytes *= s->chunk[d];
    if (!st && !holds(file, h5vcat_blob_type(it->type), raw, bytes)) { /* it loses something: left out here */
        memcpy(out, raw, bytes);
        *size = bytes;
        *mask = UINT32_MAX >> (32 - s->pipeline.count);
    }
    if (file >= 0)
        H5Fclose(file);
    H5Pclose(fapl);
    H5Pclose(dcpl);
    return st;
}

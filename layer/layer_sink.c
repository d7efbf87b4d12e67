/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sinks of the serial writer: a dataset that grows by whole chunks. A sink is a buffer of one chunk, written
 * when it is full, so that HDF5's chunk cache has nothing to do. The dataset is created when its sink is
 * first written: by then a short one is known to be short, and gets a short chunk.
 */
#include "layer_internal.h"

#include <stdlib.h>
#include <string.h>

enum h5vec_status h5vec_layer_sink_init(struct h5vec_layer_sink *sink, enum h5vec_layer_role role,
                                        const struct h5vec_layer_shape *shape, hid_t group, const char *path,
                                        const struct h5vec_layer_storage *storage, struct h5vec_error *err)
{
    *sink = (struct h5vec_layer_sink){.role = role,
                                      .shape = shape,
                                      .storage = storage,
                                      .group = group,
                                      .path = strdup(path),
                                      .dataset = H5I_INVALID_HID};
    sink->row_bytes = h5vec_layer_row_bytes(role, shape);
    sink->capacity = h5vec_layer_chunk_rows(role, shape, UINT64_MAX, storage);
    return sink->path ? H5VEC_OK : h5vec_error_set(err, H5VEC_E_NOMEM, 0, "%s: no memory", path);
}

void h5vec_layer_sink_free(struct h5vec_layer_sink *sink)
{
    if (sink->dataset > 0)
        H5Dclose(sink->dataset);
    free(sink->buffer);
    free(sink->path);
}

/* The layout of the buffer: the file's own, but the block index is of native structs. */
static hid_t sink_type(const struct h5vec_layer_sink *sink)
{
    switch (sink->role) {
    case H5VEC_LAYER_ROLE_OFFSETS:
    case H5VEC_LAYER_ROLE_TEXT_OFFSETS:
        return H5Tcopy(H5T_NATIVE_INT64);
    case H5VEC_LAYER_ROLE_BBOX:
        return H5Tcopy(H5T_NATIVE_DOUBLE);
    case H5VEC_LAYER_ROLE_BLOCKS:
        return h5vec_layer_block_type(true);
    case H5VEC_LAYER_ROLE_COLUMN_FIXED:
        return H5Tcopy(sink->shape->type);
    default:
        return H5Tcopy(H5T_NATIVE_UINT8);
    }
}

static enum h5vec_status sink_create(struct h5vec_layer_sink *sink, struct h5vec_error *err)
{
    struct h5vec_layer_dataset how;
    enum h5vec_status status =
        h5vec_layer_dataset_init(&how, sink->role, sink->shape, sink->used, sink->storage, err);
    if (status != H5VEC_OK)
        return status;
    hid_t lcpl = H5Pcreate(H5P_LINK_CREATE);
    if (lcpl < 0 || H5Pset_create_intermediate_group(lcpl, 1) < 0 ||
        (sink->dataset =
             H5Dcreate2(sink->group, sink->path, how.type, how.space, lcpl, how.dcpl, H5P_DEFAULT)) < 0)
        status = h5vec_layer_error_hdf5(err, "%s: cannot be created", sink->path);
    if (lcpl >= 0)
        H5Pclose(lcpl);
    h5vec_layer_dataset_free(&how);
    return status;
}

/* Write the buffered rows behind those already there; creates the dataset at the first time. */
enum h5vec_status h5vec_layer_sink_flush(struct h5vec_layer_sink *sink, struct h5vec_error *err)
{
    bool created = sink->dataset >= 0;
    enum h5vec_status status = created ? H5VEC_OK : sink_create(sink, err);
    if (status != H5VEC_OK || sink->used == 0)
        return status;
    hsize_t start[H5S_MAX_RANK] = {0}, count[H5S_MAX_RANK];
    hid_t type = sink_type(sink), file = H5Dget_space(sink->dataset), memory = H5I_INVALID_HID;
    int rank = file < 0 ? -1 : H5Sget_simple_extent_dims(file, count, NULL);
    bool ok = type >= 0 && rank > 0;
    if (ok && created) {
        count[0] = sink->written + sink->used;
        ok = H5Dset_extent(sink->dataset, count) >= 0 && H5Sset_extent_simple(file, rank, count, NULL) >= 0;
    }
    if (ok) {
        start[0] = sink->written;
        count[0] = sink->used;
        memory = H5Screate_simple(rank, count, NULL);
        ok = memory >= 0 && H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
             H5Dwrite(sink->dataset, type, memory, file, H5P_DEFAULT, sink->buffer) >= 0;
    }
    if (!ok)
        status = h5vec_layer_error_hdf5(err, "%s: cannot be written", sink->path);
    const hid_t spaces[] = {file, memory};
    for (size_t i = 0; i < 2; i++)
        if (spaces[i] >= 0)
            H5Sclose(spaces[i]);
    if (type >= 0)
        H5Tclose(type);
    sink->written += sink->used;
    sink->used = 0;
    return status;
}

/* Append rows; data NULL: rows of ones. */
enum h5vec_status h5vec_layer_sink_put(struct h5vec_layer_sink *sink, const void *data, uint64_t rows,
                                       struct h5vec_error *err)
{
    if (!sink->buffer && !(sink->buffer = malloc((size_t)sink->capacity * sink->row_bytes)))
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "%s: no memory for a chunk", sink->path);
    const char *from = data;
    while (rows > 0) {
        uint64_t n = sink->capacity - sink->used < rows ? sink->capacity - sink->used : rows;
        char *to = sink->buffer + (size_t)sink->used * sink->row_bytes;
        size_t bytes = (size_t)n * sink->row_bytes;
        if (from)
            memcpy(to, from, bytes);
        else
            memset(to, 1, bytes);
        from = from ? from + bytes : NULL;
        rows -= n;
        sink->used += n;
        enum h5vec_status status =
            sink->used == sink->capacity ? h5vec_layer_sink_flush(sink, err) : H5VEC_OK;
        if (status != H5VEC_OK)
            return status;
    }
    return H5VEC_OK;
}

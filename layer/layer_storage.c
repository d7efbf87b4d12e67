/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How the datasets of a new layer are stored: type, shape, chunk and filters of each role, in one table, for
 * the serial writer and for h5vcat alike.
 */
#include "layer_internal.h"

#include <string.h>

enum {
    CHUNK_BYTES = 1 << 20,     /* where a row is one element */
    CHUNK_BYTES_ROWS = 4 << 20 /* where it is several */
};

struct h5vec_layer_storage h5vec_layer_storage_default(void)
{
    return (struct h5vec_layer_storage){.sizeof_options = sizeof(struct h5vec_layer_storage),
                                        .chunk_bytes = 0,
                                        .deflate = 6,
                                        .shuffle = true};
}

/* h5py reads this enumeration as numpy's bool, and writes it. */
static hid_t boolean_type(void)
{
    static const struct {
        const char *name;
        int8_t value;
    } members[] = {{"FALSE", 0}, {"TRUE", 1}};
    hid_t type = H5Tenum_create(H5T_STD_I8LE);
    for (size_t i = 0; i < 2 && type >= 0; i++)
        if (H5Tenum_insert(type, members[i].name, &members[i].value) < 0) {
            H5Tclose(type);
            return H5I_INVALID_HID;
        }
    return type;
}

hid_t h5vec_layer_value_type(enum h5vec_layer_value value)
{
    if (value == H5VEC_LAYER_BOOLEAN)
        return boolean_type();
    return H5Tcopy(value == H5VEC_LAYER_FLOAT ? H5T_IEEE_F64LE : H5T_STD_I64LE);
}

/* The file's type of a role, a copy; negative on failure. */
static hid_t role_type(enum h5vec_layer_role role, const struct h5vec_layer_shape *shape)
{
    switch (role) {
    case H5VEC_LAYER_ROLE_WKB:
    case H5VEC_LAYER_ROLE_VALID:
    case H5VEC_LAYER_ROLE_TEXT_DATA:
    case H5VEC_LAYER_ROLE_COLUMN_VALID:
        return H5Tcopy(H5T_STD_U8LE);
    case H5VEC_LAYER_ROLE_OFFSETS:
    case H5VEC_LAYER_ROLE_TEXT_OFFSETS:
    case H5VEC_LAYER_ROLE_RTREE_LEVELS:
    case H5VEC_LAYER_ROLE_RTREE_ROWS:
        return H5Tcopy(H5T_STD_I64LE);
    case H5VEC_LAYER_ROLE_RTREE_NODES:
        return H5Tcopy(H5T_IEEE_F32LE);
    case H5VEC_LAYER_ROLE_BBOX:
        return H5Tcopy(H5T_IEEE_F64LE);
    case H5VEC_LAYER_ROLE_BLOCKS:
        return h5vec_layer_block_type(false);
    default: /* COLUMN_FIXED: the caller has checked */
        return H5Tcopy(shape->type);
    }
}

static size_t type_bytes(enum h5vec_layer_role role, const struct h5vec_layer_shape *shape)
{
    switch (role) {
    case H5VEC_LAYER_ROLE_OFFSETS:
    case H5VEC_LAYER_ROLE_TEXT_OFFSETS:
    case H5VEC_LAYER_ROLE_BBOX:
    case H5VEC_LAYER_ROLE_RTREE_LEVELS:
    case H5VEC_LAYER_ROLE_RTREE_ROWS:
        return 8;
    case H5VEC_LAYER_ROLE_RTREE_NODES:
        return 4;
    case H5VEC_LAYER_ROLE_BLOCKS:
        return sizeof(struct h5vec_layer_block);
    case H5VEC_LAYER_ROLE_COLUMN_FIXED:
        return H5Tget_size(shape->type);
    default:
        return 1;
    }
}

/* Dimensions after the first; returns their number. */
static int trailing(enum h5vec_layer_role role, const struct h5vec_layer_shape *shape, hsize_t *dims)
{
    if (role == H5VEC_LAYER_ROLE_BBOX || role == H5VEC_LAYER_ROLE_RTREE_NODES) {
        dims[0] = 4;
        return 1;
    }
    if (role != H5VEC_LAYER_ROLE_COLUMN_FIXED)
        return 0;
    memcpy(dims, shape->trailing, (size_t)shape->trailing_rank * sizeof *dims);
    return shape->trailing_rank;
}

static uint64_t row_elements(enum h5vec_layer_role role, const struct h5vec_layer_shape *shape)
{
    hsize_t dims[H5S_MAX_RANK];
    uint64_t product = 1;
    int rank = trailing(role, shape, dims);
    for (int i = 0; i < rank; i++)
        product *= dims[i];
    return product;
}

size_t h5vec_layer_row_bytes(enum h5vec_layer_role role, const struct h5vec_layer_shape *shape)
{
    return (size_t)row_elements(role, shape) * type_bytes(role, shape);
}

uint64_t h5vec_layer_chunk_rows(enum h5vec_layer_role role, const struct h5vec_layer_shape *shape,
                                uint64_t rows, const struct h5vec_layer_storage *storage)
{
    uint64_t aim = storage ? storage->chunk_bytes : 0;
    if (aim == 0)
        aim = row_elements(role, shape) == 1 ? CHUNK_BYTES : CHUNK_BYTES_ROWS;
    size_t bytes = h5vec_layer_row_bytes(role, shape);
    uint64_t chunk = bytes == 0 ? 1 : aim / bytes;
    if (chunk > rows)
        chunk = rows;
    return chunk ? chunk : 1;
}

static hid_t make_dcpl(int rank, const hsize_t *chunk, bool shuffle, int deflate)
{
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    if (dcpl < 0)
        return dcpl;
    if (H5Pset_chunk(dcpl, rank, chunk) < 0 || H5Pset_obj_track_times(dcpl, false) < 0 ||
        (shuffle && H5Pset_shuffle(dcpl) < 0) || (deflate && H5Pset_deflate(dcpl, (unsigned)deflate) < 0)) {
        H5Pclose(dcpl);
        return H5I_INVALID_HID;
    }
    return dcpl;
}

enum h5vec_status h5vec_layer_dataset_init(struct h5vec_layer_dataset *dataset, enum h5vec_layer_role role,
                                           const struct h5vec_layer_shape *shape, uint64_t rows,
                                           const struct h5vec_layer_storage *storage, struct h5vec_error *err)
{
    struct h5vec_layer_storage how = storage ? *storage : h5vec_layer_storage_default();
    if (role <= H5VEC_LAYER_ROLE_UNKNOWN || role >= H5VEC_LAYER_ROLE_RTREE ||
        (role == H5VEC_LAYER_ROLE_COLUMN_FIXED) != (shape != NULL))
        return h5vec_error_set(err, H5VEC_E_ARG, 0, "role %d has no storage of this shape", (int)role);
    if (how.deflate < 0 || how.deflate > 9 || how.chunk_bytes > UINT32_MAX)
        return h5vec_error_set(err, H5VEC_E_ARG, 0, "deflate level or chunk size out of HDF5's range");
    hsize_t dims[H5S_MAX_RANK], max[H5S_MAX_RANK], chunk[H5S_MAX_RANK];
    dims[0] = rows;
    int rank = 1 + trailing(role, shape, dims + 1);
    memcpy(max, dims, sizeof dims);
    memcpy(chunk, dims, sizeof dims);
    max[0] = H5S_UNLIMITED;
    chunk[0] = h5vec_layer_chunk_rows(role, shape, rows, &how);
    bool shuffle = how.deflate && how.shuffle && type_bytes(role, shape) > 1;
    struct h5vec_layer_dataset made = {
        .type = role_type(role, shape),
        .space = H5Screate_simple(rank, dims, max),
        .dcpl = make_dcpl(rank, chunk, shuffle, how.deflate),
    };
    if (made.type < 0 || made.space < 0 || made.dcpl < 0) {
        enum h5vec_status status = h5vec_layer_error_hdf5(err, "cannot describe a new dataset");
        h5vec_layer_dataset_free(&made);
        return status;
    }
    *dataset = made;
    return H5VEC_OK;
}

void h5vec_layer_dataset_free(struct h5vec_layer_dataset *dataset)
{
    if (dataset->type >= 0)
        H5Tclose(dataset->type);
    if (dataset->space >= 0)
        H5Sclose(dataset->space);
    if (dataset->dcpl >= 0)
        H5Pclose(dataset->dcpl);
    *dataset = (struct h5vec_layer_dataset){H5I_INVALID_HID, H5I_INVALID_HID, H5I_INVALID_HID};
}

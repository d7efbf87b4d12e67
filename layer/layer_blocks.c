/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The block index: its type in HDF5, and the accumulator that makes it row by row.
 */
#include "h5vec_layer_blocks.h"

#include <stdlib.h>
#include <string.h>

void h5vec_layer_block_join(struct h5vec_layer_block *a, const struct h5vec_layer_block *b)
{
    a->rows += b->rows;
    a->bytes += b->bytes;
    a->vertices += b->vertices;
    a->bbox = vcodec_box_union(a->bbox, b->bbox);
}

hid_t h5vec_layer_block_type(bool native)
{
    static const struct {
        const char *name;
        size_t offset;
    } counts[] = {
        {"first_row", offsetof(struct h5vec_layer_block, first_row)},
        {"rows", offsetof(struct h5vec_layer_block, rows)},
        {"first_byte", offsetof(struct h5vec_layer_block, first_byte)},
        {"bytes", offsetof(struct h5vec_layer_block, bytes)},
        {"vertices", offsetof(struct h5vec_layer_block, vertices)},
    };
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(struct h5vec_layer_block));
    hid_t box = H5Tarray_create2(native ? H5T_NATIVE_DOUBLE : H5T_IEEE_F64LE, 1, (hsize_t[]){4});
    hid_t count = native ? H5T_NATIVE_UINT64 : H5T_STD_U64LE;
    bool ok = type >= 0 && box >= 0;
    for (size_t i = 0; ok && i < sizeof counts / sizeof counts[0]; i++)
        ok = H5Tinsert(type, counts[i].name, counts[i].offset, count) >= 0;
    ok = ok && H5Tinsert(type, "bbox", offsetof(struct h5vec_layer_block, bbox), box) >= 0;
    if (box >= 0 && H5Tclose(box) < 0)
        ok = false;
    if (!ok && type >= 0)
        H5Tclose(type);
    return ok ? type : H5I_INVALID_HID;
}

enum h5vec_status h5vec_layer_blocks_add(struct h5vec_layer_blocks *blocks, uint64_t row, uint64_t offset,
                                         uint64_t next_offset, uint64_t vertices, struct vcodec_box box)
{
    struct h5vec_layer_block one = {
        .first_row = row,
        .rows = 1,
        .first_byte = offset,
        .bytes = next_offset - offset,
        .vertices = vertices,
        .bbox = box,
    };
    bool starts = blocks->count == 0 || h5vec_layer_block_starts(row, offset, blocks->previous_offset);
    blocks->previous_offset = offset;
    if (!starts) {
        h5vec_layer_block_join(&blocks->block[blocks->count - 1], &one);
        return H5VEC_OK;
    }
    if (blocks->count == blocks->capacity) {
        size_t capacity = blocks->capacity ? 2 * blocks->capacity : 64;
        struct h5vec_layer_block *grown = realloc(blocks->block, capacity * sizeof *grown);
        if (!grown)
            return H5VEC_E_NOMEM;
        blocks->block = grown;
        blocks->capacity = capacity;
    }
    blocks->block[blocks->count++] = one;
    return H5VEC_OK;
}

void h5vec_layer_blocks_drop(struct h5vec_layer_blocks *blocks, size_t n)
{
    if (n == 0)
        return;
    blocks->count -= n;
    memmove(blocks->block, blocks->block + n, blocks->count * sizeof *blocks->block);
}

void h5vec_layer_blocks_free(struct h5vec_layer_blocks *blocks)
{
    free(blocks->block);
    *blocks = (struct h5vec_layer_blocks){0};
}

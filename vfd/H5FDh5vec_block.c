/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The dirty bytes are a sorted array of extents: writes mostly come in order of address, and then it is one
 * extent that grows.
 */
#include "H5FDh5vec_block.h"

#include "H5FDh5vec_io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct H5FD_h5vec_block *H5FD_h5vec_block_new(size_t size)
{
    struct H5FD_h5vec_block *block = calloc(1, sizeof *block);
    if (block && !(block->bytes = malloc(size))) {
        free(block);
        return NULL;
    }
    if (block)
        block->size = size;
    return block;
}

void H5FD_h5vec_block_free(struct H5FD_h5vec_block *block)
{
    if (!block)
        return;
    free(block->bytes);
    free(block->dirty);
    free(block);
}

bool H5FD_h5vec_block_part(const struct H5FD_h5vec_block *block, uint64_t addr, uint64_t size, uint64_t *from,
                           uint64_t *to)
{
    uint64_t end = addr + size, block_end = block->addr + block->size;
    *from = addr > block->addr ? addr : block->addr;
    *to = end < block_end ? end : block_end;
    return *from < *to;
}

/* The first extent that ends at offset or later. */
static size_t find(const struct H5FD_h5vec_block *block, size_t offset)
{
    size_t low = 0, high = block->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (block->dirty[middle].end < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int reserve(struct H5FD_h5vec_block *block)
{
    if (block->count < block->room)
        return 0;
    size_t room = block->room ? 2 * block->room : 16;
    struct H5FD_h5vec_extent *dirty = realloc(block->dirty, room * sizeof *dirty);
    if (!dirty)
        return ENOMEM;
    block->dirty = dirty;
    block->room = room;
    return 0;
}

int H5FD_h5vec_block_put(struct H5FD_h5vec_block *block, size_t offset, size_t size, const void *bytes)
{
    struct H5FD_h5vec_extent mine = {offset, offset + size};
    if (reserve(block))
        return ENOMEM;
    size_t first = find(block, mine.begin), last = first; /* [first, last) touch mine */
    while (last < block->count && block->dirty[last].begin <= mine.end) {
        block->dirty_size -= block->dirty[last].end - block->dirty[last].begin;
        last++;
    }
    if (last > first) {
        if (block->dirty[first].begin < mine.begin)
            mine.begin = block->dirty[first].begin;
        if (block->dirty[last - 1].end > mine.end)
            mine.end = block->dirty[last - 1].end;
    }
    memmove(block->dirty + first + 1, block->dirty + last, (block->count - last) * sizeof mine);
    block->dirty[first] = mine;
    block->dirty_size += mine.end - mine.begin;
    block->count = block->count - (last - first) + 1;
    memcpy(block->bytes + offset, bytes, size);
    return 0;
}

void H5FD_h5vec_block_overlay(const struct H5FD_h5vec_block *block, uint64_t addr, uint64_t size,
                              unsigned char *buffer)
{
    uint64_t from, to;
    if (!H5FD_h5vec_block_part(block, addr, size, &from, &to))
        return;
    for (size_t i = find(block, (size_t)(from - block->addr)); i < block->count; i++) {
        uint64_t begin = block->addr + block->dirty[i].begin, end = block->addr + block->dirty[i].end;
        begin = begin > from ? begin : from;
        end = end < to ? end : to;
        if (begin < end)
            memcpy(buffer + (begin - addr), block->bytes + (begin - block->addr), (size_t)(end - begin));
        if (end == to)
            return;
    }
}

void H5FD_h5vec_block_clean(struct H5FD_h5vec_block *block)
{
    block->count = 0;
    block->dirty_size = 0;
}

int H5FD_h5vec_block_write(const struct H5FD_h5vec_block *block, int fd, uint64_t from, uint64_t to)
{
    int error = 0;
    for (size_t i = 0; i < block->count && !error; i++) {
        uint64_t begin = block->addr + block->dirty[i].begin, end = block->addr + block->dirty[i].end;
        begin = begin > from ? begin : from;
        end = end < to ? end : to;
        if (begin < end)
            error =
                H5FD_h5vec_io_write(fd, block->bytes + (begin - block->addr), (size_t)(end - begin), begin);
    }
    return error;
}

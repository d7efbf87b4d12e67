/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Four structures of HDF5's file format say where the objects of a group are. All are recognised by their
 * first bytes, wherever they lie (the format specification has the layouts; addresses of 8 bytes are assumed,
 * as HDF5 writes them by default):
 *
 *   SNOD   a leaf of an old group: per link the object's header, and for a group its B-tree and heap
 *   TREE   a group's version 1 B-tree: its SNODs
 *   HEAP   a local heap: its data segment, the link names
 *   01 ..  a link message of a new group, in an object header or a fractal heap: the object's header. It has
 *          no signature, but versions, a name without zeros and an address inside the file: chance meets that
 *          hardly ever.
 *
 * Pages with metadata are bits in segments of 2 MiB of the file.
 */
#include "H5FDh5vec_hints.h"

#include <stdlib.h>
#include <string.h>

enum {
    SEGMENT_PAGES = 4096,
    SEGMENTS_MAX = 1 << 20, /* nothing is noted past 2 TiB */
    HEADER_SIZE = 512,      /* HDF5 reads so much of a header at first */
    TREE_SIZE = 544,        /* with HDF5's defaults: 32 keys a node */
    NODE_SIZE = 328,        /* 8 links */
    HEAP_SIZE = 32,
    HEAP_DATA_MAX = 4096,
    NAME_MAX_LENGTH = 1024,
    PLACES = 64,
};

struct input {
    struct H5FD_h5vec_hints *hints;
    const unsigned char *at; /* of the structure, */
    size_t left;             /* with so many bytes from there on */
    uint64_t base, end;
};

static uint64_t number(const unsigned char *bytes, unsigned size)
{
    uint64_t value = 0;
    while (size-- > 0)
        value = value << 8 | bytes[size];
    return value;
}

static uint64_t *segment(struct H5FD_h5vec_hints *hints, uint64_t index)
{
    if (index >= SEGMENTS_MAX)
        return NULL;
    if (index >= hints->count) {
        size_t count = (size_t)index + 1;
        uint64_t **more = realloc(hints->segments, count * sizeof *more);
        if (!more)
            return NULL;
        memset(more + hints->count, 0, (count - hints->count) * sizeof *more);
        hints->segments = more;
        hints->count = count;
    }
    if (!hints->segments[index])
        hints->segments[index] = calloc(SEGMENT_PAGES / 64, sizeof(uint64_t));
    return hints->segments[index];
}

/* Note what lies at an address as the file gives it. */
static void note(const struct input *in, uint64_t addr, uint64_t size)
{
    if (in->base >= in->end || addr == 0 || addr >= in->end - in->base)
        return;
    uint64_t first = (in->base + addr) / H5FD_H5VEC_PAGE;
    uint64_t last = (in->base + addr + size - 1) / H5FD_H5VEC_PAGE;
    for (uint64_t page = first; page <= last; page++) {
        uint64_t *bits = segment(in->hints, page / SEGMENT_PAGES);
        if (bits)
            bits[page % SEGMENT_PAGES / 64] |= (uint64_t)1 << page % 64;
    }
}

static void learn_node(const struct input *in)
{
    size_t links = in->left < 8 ? 0 : number(in->at + 6, 2);
    for (size_t i = 0; i < links && 8 + 40 * (i + 1) <= in->left; i++) {
        const unsigned char *link = in->at + 8 + 40 * i;
        note(in, number(link + 8, 8), HEADER_SIZE);
        if (number(link + 16, 4) == 1) { /* what follows describes a group */
            note(in, number(link + 24, 8), TREE_SIZE);
            note(in, number(link + 32, 8), HEAP_SIZE);
        }
    }
}

static void learn_tree(const struct input *in)
{
    size_t children = in->left < 8 ? 0 : number(in->at + 6, 2);
    for (size_t i = 0; i < children && 40 + 16 * i <= in->left; i++)
        note(in, number(in->at + 32 + 16 * i, 8), NODE_SIZE);
}

static void learn_heap(const struct input *in)
{
    uint64_t size = in->left < HEAP_SIZE ? 0 : number(in->at + 8, 8);
    if (size > 0)
        note(in, number(in->at + 24, 8), size < HEAP_DATA_MAX ? size : HEAP_DATA_MAX);
}

static void learn_link(const struct input *in)
{
    size_t at = 2, name;
    unsigned flags = in->left < 24 ? 0xff : in->at[1], width = 1U << (flags & 3);
    if (flags > 0x1f || width > 2)
        return;
    if (flags & 0x08 && in->at[at++] != 0) /* not a hard link */
        return;
    at += flags & 0x04 ? 8 : 0;
    if (flags & 0x10 && in->at[at++] > 1) /* the name's character set */
        return;
    name = number(in->at + at, width);
    at += width;
    if (name == 0 || name > NAME_MAX_LENGTH || in->left < at + name + 8 || memchr(in->at + at, 0, name))
        return;
    note(in, number(in->at + at + name, 8), HEADER_SIZE);
}

static void learn_at(const struct input *in)
{
    const unsigned char *at = in->at;
    if (at[0] == 1 && at[1] <= 0x1f)
        learn_link(in);
    else if (at[0] == 'S' && memcmp(at, "SNOD\1", 5) == 0)
        learn_node(in);
    else if (at[0] == 'T' && memcmp(at, "TREE\0", 5) == 0)
        learn_tree(in);
    else if (at[0] == 'H' && memcmp(at, "HEAP\0", 5) == 0)
        learn_heap(in);
}

/* May one of the next PLACES bytes begin a structure, as far as it and the one behind it tell? Without
 * branches, so that compilers make it code for 16 bytes at a time: much of what is read is raw data. */
static bool promising(const unsigned char *bytes)
{
    unsigned found = 0;
    for (size_t i = 0; i < PLACES; i++) {
        unsigned char first = bytes[i], second = bytes[i + 1];
        unsigned char link = (unsigned char)((first == 1) & ((second & 0xe2) == 0));
        unsigned char node = (unsigned char)((first == 'S') & (second == 'N'));
        unsigned char tree = (unsigned char)((first == 'T') & (second == 'R'));
        unsigned char heap = (unsigned char)((first == 'H') & (second == 'E'));
        found |= (unsigned char)(link | node | tree | heap);
    }
    return found != 0;
}

void H5FD_h5vec_hints_learn(struct H5FD_h5vec_hints *hints, const unsigned char *bytes, size_t size,
                            uint64_t base, uint64_t end)
{
    for (size_t i = 0; i + 8 <= size; i += PLACES) {
        if (i + PLACES < size && !promising(bytes + i))
            continue;
        for (size_t at = i; at < i + PLACES && at + 8 <= size; at++) {
            struct input in = {hints, bytes + at, size - at, base, end};
            learn_at(&in);
        }
    }
}

bool H5FD_h5vec_hints_has(const struct H5FD_h5vec_hints *hints, uint64_t page)
{
    uint64_t index = page / SEGMENT_PAGES;
    const uint64_t *bits = index < hints->count ? hints->segments[index] : NULL;
    return bits && bits[page % SEGMENT_PAGES / 64] >> page % 64 & 1;
}

void H5FD_h5vec_hints_clear(struct H5FD_h5vec_hints *hints)
{
    for (size_t i = 0; i < hints->count; i++)
        free(hints->segments[i]);
    free(hints->segments);
    *hints = (struct H5FD_h5vec_hints){NULL, 0};
}

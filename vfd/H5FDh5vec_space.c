/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One cursor serves the metadata zones, the reservations and what is placed beyond both, so that they cannot
 * overlap. HDF5 can also extend a block in place through set_eoa, if the block ends at what get_eoa reports.
 * That is the cursor: so such a block is the last of the file, and the space it grows into is taken from the
 * cursor too.
 *
 * Before placement HDF5 is not to see the unused part of a zone at the end of the file: get_eoa reports the
 * used part's end, and HDF5 extends, frees and truncates there as in any file. Only when raw data comes to
 * lie behind the zone, that part is set aside for metadata. Zones grow with the metadata there is, so that
 * what a file's last zone leaves unused stays small beside it.
 */
#include "H5FDh5vec_space.h"

#include "H5FDh5vec_err.h"

#include <stdlib.h>

/* Sizes of zones where none are given: in placement; before it the first, as HDF5's own block of metadata,
 * and the largest. */
#define PLACED_ZONE ((hsize_t)65536)
#define FIRST_ZONE ((hsize_t)2048)
#define LARGEST_ZONE ((hsize_t)1 << 20)

static hsize_t larger(hsize_t a, hsize_t b)
{
    return a > b ? a : b;
}

/* Move the cursor to the end of [addr, addr + size), unless that is too far. */
static herr_t advance(struct H5FD_h5vec_space *space, haddr_t addr, hsize_t size)
{
    if (addr > space->limit || size > space->limit - addr)
        return H5FD_H5VEC_FAIL(H5FD_H5VEC_PLACEMENT,
                               "%llu bytes at address %llu are beyond the largest address",
                               (unsigned long long)size, (unsigned long long)addr);
    space->cursor = larger(space->cursor, addr + size);
    return 0;
}

static haddr_t aligned_cursor(const struct H5FD_h5vec_space *space)
{
    hsize_t mask = space->config.alignment - 1;
    return (space->cursor + mask) & ~mask;
}

static herr_t add_range(struct H5FD_h5vec_ranges *set, haddr_t addr, hsize_t size)
{
    if (size > 0 && H5FD_h5vec_ranges_add(set, addr, addr + size) < 0)
        return H5FD_H5VEC_FAIL(H5FD_H5VEC_PLACEMENT, "out of memory");
    return 0;
}

/* Take size bytes at addr, at or behind the cursor, for metadata. */
static herr_t add_zone(struct H5FD_h5vec_space *space, haddr_t addr, hsize_t size)
{
    if (advance(space, addr, size) < 0 || add_range(&space->zones, addr, size) < 0)
        return -1;
    space->zones_size += size;
    return 0;
}

herr_t H5FD_h5vec_space_begin(struct H5FD_h5vec_space *space, bool created, haddr_t eof)
{
    hsize_t first = space->config.first_zone ? space->config.first_zone : PLACED_ZONE;
    space->pos = space->end = space->cursor = H5FD_h5vec_space_eoa(space);
    space->placing = true;
    space->zones_used = space->pos;
    space->zones_size = space->left_count = 0;
    if (created) { /* what there is becomes a zone at the start of the file, which goes on */
        if (add_zone(space, 0, larger(space->pos, first)) < 0)
            return -1;
        space->end = space->cursor;
        return 0;
    }
    if (add_zone(space, 0, space->pos) < 0)
        return -1;
    space->cursor = larger(space->cursor, eof);
    return 0;
}

herr_t H5FD_h5vec_space_reserve(struct H5FD_h5vec_space *space, hsize_t size, haddr_t *addr)
{
    haddr_t start = aligned_cursor(space);
    if (size > 0 && advance(space, start, size) < 0)
        return -1;
    *addr = start;
    return 0;
}

herr_t H5FD_h5vec_space_place(struct H5FD_h5vec_space *space, haddr_t addr, hsize_t size)
{
    unsigned long long a = addr, s = size;
    if (space->pending_size > 0)
        return H5FD_H5VEC_FAIL(
            H5FD_H5VEC_PLACEMENT,
            "cannot place %llu bytes at %llu: the %llu bytes placed at %llu before were not "
            "allocated yet",
            s, a, (unsigned long long)space->pending_size, (unsigned long long)space->pending_addr);
    if (size == 0 || addr > space->limit || size > space->limit - addr)
        return H5FD_H5VEC_FAIL(H5FD_H5VEC_ARGUMENT,
                               "cannot place %llu bytes at %llu: not a range of the file", s, a);
    if (H5FD_h5vec_ranges_overlap(&space->zones, addr, addr + size))
        return H5FD_H5VEC_FAIL(H5FD_H5VEC_PLACEMENT,
                               "cannot place %llu bytes at %llu: the range overlaps a metadata zone", s, a);
    if (H5FD_h5vec_ranges_overlap(&space->placed, addr, addr + size))
        return H5FD_H5VEC_FAIL(H5FD_H5VEC_PLACEMENT,
                               "cannot place %llu bytes at %llu: the range overlaps one placed before", s, a);
    if (advance(space, addr, size) < 0)
        return -1;
    space->pending_addr = addr;
    space->pending_size = size;
    return 0;
}

static herr_t alloc_placed(struct H5FD_h5vec_space *space, hsize_t size, haddr_t *addr)
{
    if (size != space->pending_size)
        return H5FD_H5VEC_FAIL(H5FD_H5VEC_PLACEMENT,
                               "HDF5 allocates %llu bytes of raw data, but %llu were placed at %llu",
                               (unsigned long long)size, (unsigned long long)space->pending_size,
                               (unsigned long long)space->pending_addr);
    if (add_range(&space->placed, space->pending_addr, size) < 0)
        return -1;
    *addr = space->pending_addr;
    space->pending_size = 0;
    return 0;
}

/* Make room for size bytes in the current zone, or find them elsewhere (*elsewhere). */
static herr_t more_room(struct H5FD_h5vec_space *space, hsize_t size, bool *elsewhere, haddr_t *addr)
{
    hsize_t zone = space->config.zone ? space->config.zone : PLACED_ZONE, left = space->end - space->pos;
    if (space->end == space->cursor) { /* the last thing in the file: it grows in place */
        if (add_zone(space, space->end, larger(zone, size - left)) < 0)
            return -1;
        space->end = space->cursor;
        return 0;
    }
    haddr_t start = aligned_cursor(space);
    /* Something large does not make us leave a zone that has more room than a new one would have left. */
    *elsewhere = size >= zone || zone - size < left;
    if (add_zone(space, start, *elsewhere ? size : zone) < 0)
        return -1;
    if (*elsewhere) {
        *addr = start;
    } else {
        space->pos = start;
        space->end = space->cursor;
    }
    return 0;
}

/* ---- Before placement ---------------------------------------------------------------------------------- */

/* The current zone is left for another. Without memory its rest is forgotten, which costs just that. */
static void leave_zone(struct H5FD_h5vec_space *space)
{
    if (space->left_count == space->left_room) {
        size_t room = space->left_room ? 2 * space->left_room : 16;
        struct H5FD_h5vec_zone *left = realloc(space->left, room * sizeof *left);
        if (!left)
            return;
        space->left = left;
        space->left_room = room;
    }
    if (space->pos < space->end)
        space->left[space->left_count++] = (struct H5FD_h5vec_zone){space->start, space->pos, space->end};
}

/* All up to addr is in use, and the zone that begins there is empty. */
static void begin_zone(struct H5FD_h5vec_space *space, haddr_t addr)
{
    space->start = space->pos = space->end = space->cursor = addr;
}

/* The file ends at eoa, where perhaps an earlier zone ends. */
static void end_at(struct H5FD_h5vec_space *space, haddr_t eoa)
{
    struct H5FD_h5vec_zone zone = {eoa, eoa, eoa};
    while (space->left_count > 0 && space->left[space->left_count - 1].end > eoa)
        space->left_count--;
    if (space->left_count > 0 && space->left[space->left_count - 1].end == eoa)
        zone = space->left[--space->left_count];
    space->start = zone.start;
    space->pos = zone.pos;
    space->end = space->cursor = zone.end;
}

/* An eighth of the metadata so far: that much is lost when raw data alone follows, and 60 zones hold the
 * first 10 MiB. */
static hsize_t next_zone(const struct H5FD_h5vec_space *space)
{
    hsize_t least = space->meta_block ? space->meta_block : FIRST_ZONE,
            first = space->config.first_zone ? space->config.first_zone : least,
            most = space->config.zone ? space->config.zone : larger(LARGEST_ZONE, least),
            zone = space->zones_size ? larger(space->zones_size / 8, least) : first;
    return space->zones_size && zone > most ? most : zone;
}

/* Metadata that does not fit the current zone: make that larger, or take another, or only this block's space.
 */
static herr_t alloc_beyond(struct H5FD_h5vec_space *space, hsize_t size, haddr_t *addr)
{
    hsize_t zone = next_zone(space), left = space->end - space->pos;
    bool last = space->end == space->cursor, elsewhere = !last && (size >= zone || zone - size < left);
    hsize_t taken = last ? larger(zone, size - left) : elsewhere ? size : zone;
    haddr_t at = space->cursor;
    if (advance(space, at, taken) < 0)
        return -1;
    space->zones_size += taken;
    *addr = elsewhere || !last ? at : space->pos;
    if (elsewhere)
        return 0;
    if (!last)
        leave_zone(space);
    space->start = last ? space->start : at;
    space->pos = *addr + size;
    space->end = space->cursor;
    return 0;
}

static herr_t alloc_ordinary(struct H5FD_h5vec_space *space, bool raw, hsize_t size, haddr_t *addr)
{
    haddr_t eoa = H5FD_h5vec_space_eoa(space);
    if (space->plain || (raw && eoa == space->start)) { /* and an empty zone at the end is none */
        begin_zone(space, eoa);
        if (advance(space, eoa, size) < 0)
            return -1;
        *addr = eoa;
        begin_zone(space, space->cursor);
    } else if (raw) {
        haddr_t at = space->cursor;
        if (advance(space, at, size) < 0)
            return -1;
        *addr = at;
    } else if (size > space->end - space->pos) {
        return alloc_beyond(space, size, addr);
    } else {
        *addr = space->pos;
        space->pos += size;
    }
    return 0;
}

/* The end of the file moves to eoa: a block there was extended or freed. */
static herr_t set_end(struct H5FD_h5vec_space *space, haddr_t eoa)
{
    bool last = space->end == space->cursor;
    if (eoa > space->limit)
        return advance(space, eoa, 0);
    if (last && eoa > space->start && eoa <= space->end)
        space->pos = eoa;
    else if (!last && eoa >= space->end)
        space->cursor = eoa;
    else
        end_at(space, eoa);
    return 0;
}

/* ---- HDF5's side --------------------------------------------------------------------------------------- */

haddr_t H5FD_h5vec_space_eoa(const struct H5FD_h5vec_space *space)
{
    return !space->placing && space->end == space->cursor ? space->pos : space->cursor;
}

herr_t H5FD_h5vec_space_alloc(struct H5FD_h5vec_space *space, bool raw, hsize_t size, haddr_t *addr)
{
    if (raw && space->pending_size > 0)
        return alloc_placed(space, size, addr);
    if (!space->placing)
        return alloc_ordinary(space, raw, size, addr);
    bool elsewhere = false;
    if (size > space->end - space->pos && more_room(space, size, &elsewhere, addr) < 0)
        return -1;
    if (!elsewhere) {
        *addr = space->pos;
        space->pos += size;
    }
    space->zones_used += size;
    return 0;
}

herr_t H5FD_h5vec_space_set_eoa(struct H5FD_h5vec_space *space, haddr_t eoa)
{
    if (!space->placing)
        return set_end(space, eoa);
    if (eoa <= space->cursor) /* what lies behind belongs to others */
        return 0;
    hsize_t extra = eoa - space->cursor;
    bool last = space->end == space->cursor, full = last && space->pos == space->end;
    if (add_zone(space, space->cursor, extra) < 0)
        return -1;
    if (last)
        space->end = eoa;
    if (full)
        space->pos = eoa;
    space->zones_used += full ? extra : 0;
    return 0;
}

void H5FD_h5vec_space_free(struct H5FD_h5vec_space *space, haddr_t addr, hsize_t size)
{
    if (!space->placing) {
        if (addr + size == H5FD_h5vec_space_eoa(space)) /* else HDF5 keeps it, or forgets it */
            (void)set_end(space, addr);
    } else if (addr + size == space->pos && H5FD_h5vec_ranges_cover(&space->zones, addr, addr + size)) {
        space->pos = addr;
        space->zones_used -= size;
    }
}

enum H5FD_h5vec_write H5FD_h5vec_space_write(const struct H5FD_h5vec_space *space, haddr_t addr, hsize_t size)
{
    haddr_t end = addr + size;
    if (!space->placing || H5FD_h5vec_ranges_cover(&space->zones, addr, end))
        return H5FD_H5VEC_WRITE_KEEP;
    if (H5FD_h5vec_ranges_cover(&space->placed, addr, end))
        return H5FD_H5VEC_WRITE_DROP;
    (void)H5FD_H5VEC_FAIL(
        H5FD_H5VEC_PLACEMENT,
        "HDF5 writes %llu bytes at %llu, which are neither all in a metadata zone nor all placed",
        (unsigned long long)size, (unsigned long long)addr);
    return H5FD_H5VEC_WRITE_ERROR;
}

void H5FD_h5vec_space_trim(struct H5FD_h5vec_space *space)
{
    if (!space->placing || space->end != space->cursor)
        return;
    space->zones_size -= space->end - space->pos;
    space->end = space->cursor = space->pos;
}

void H5FD_h5vec_space_clear(struct H5FD_h5vec_space *space)
{
    H5FD_h5vec_ranges_clear(&space->zones);
    H5FD_h5vec_ranges_clear(&space->placed);
    free(space->left);
    space->left = NULL;
}

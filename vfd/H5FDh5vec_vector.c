/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading many pieces at once. A driver that offers this is asked for every single piece of a selection; HDF5
 * joins nothing. So the pieces are sorted and joined here into runs over small gaps: small pieces are cut
 * from one read of their run, large ones are read in place by one preadv. Small pieces of one selection,
 * which may be a contiguous dataset's, for which HDF5 would have used its sieve buffer, go through a sieve of
 * ours.
 *
 * A selection is walked: lists of all its pieces, which HDF5 would make for a driver that takes only vectors,
 * cost more than reading.
 */
#include "H5FDh5vec_read.h"

#include "H5FDh5vec_err.h"
#include "H5FDh5vec_file.h"
#include "H5FDh5vec_io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    RUN_MAX = 1 << 20, /* bytes from a run's begin to its end, unless it is one piece */
    GAP = 8192,        /* reading so much costs no more than a call */
    IN_PLACE_MIN = 4096,
    IN_PLACE_PIECES = 500, /* with the gaps between them less than IOV_MAX */
    BATCH_FEW = 64,
    BATCH_MAX = 16384,
    SEQUENCES = 512, /* of a selection, taken from HDF5 at a time */
};

struct piece {
    haddr_t addr;
    size_t size;
    unsigned char *to;
};

struct run {
    const struct piece *pieces;
    size_t count;
    haddr_t addr, end;
    size_t bytes; /* that were asked for */
    size_t longest_gap;
    bool overlap;
};

static int by_address(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* The run that begins with the first of count pieces, in ascending order. */
static struct run next_run(const struct piece *pieces, size_t count)
{
    struct run run = {pieces, 1, pieces->addr, pieces->addr + pieces->size, pieces->size, 0, false};
    for (; run.count < count; run.count++) {
        const struct piece *next = &pieces[run.count];
        haddr_t end = next->addr + next->size, hole = next->addr > run.end ? next->addr - run.end : 0;
        if (hole > GAP || end - run.addr > RUN_MAX)
            break;
        run.longest_gap = hole > run.longest_gap ? (size_t)hole : run.longest_gap;
        run.overlap |= next->addr < run.end;
        run.end = end > run.end ? end : run.end;
        run.bytes += next->size;
    }
    return run;
}

static void scatter(const struct run *run, const unsigned char *bytes, haddr_t addr)
{
    for (size_t i = 0; i < run->count; i++)
        memcpy(run->pieces[i].to, bytes + (run->pieces[i].addr - addr), run->pieces[i].size);
}

static int read_each(struct H5FD_h5vec_file *file, const struct run *run)
{
    int error = 0;
    for (size_t i = 0; i < run->count && !error; i++)
        error = H5FD_h5vec_file_load(file, run->pieces[i].addr, run->pieces[i].size, run->pieces[i].to);
    return error;
}

static int read_in_place(struct H5FD_h5vec_file *file, const struct run *run)
{
    struct iovec parts[2 * IN_PLACE_PIECES];
    unsigned char *gap = malloc(run->longest_gap + 1); /* one place for all gaps */
    haddr_t at = run->addr;
    int n = 0;
    if (!gap)
        return read_each(file, run);
    for (size_t i = 0; i < run->count; i++) {
        const struct piece *piece = &run->pieces[i];
        if (piece->addr > at)
            parts[n++] = (struct iovec){gap, (size_t)(piece->addr - at)};
        parts[n++] = (struct iovec){piece->to, piece->size};
        at = piece->addr + piece->size;
    }
    int error = H5FD_h5vec_io_readv(file->fd, parts, n, run->addr);
    free(gap);
    return error;
}

static int read_through_buffer(struct H5FD_h5vec_file *file, const struct run *run)
{
    size_t size = (size_t)(run->end - run->addr);
    unsigned char *bytes = malloc(size);
    if (!bytes)
        return read_each(file, run);
    int error = H5FD_h5vec_file_load(file, run->addr, size, bytes);
    if (!error)
        scatter(run, bytes, run->addr);
    free(bytes);
    return error;
}

static int read_run(struct H5FD_h5vec_file *file, const struct run *run)
{
    if (run->count == 1)
        return read_each(file, run);
    if (!file->writable && !run->overlap && run->count <= IN_PLACE_PIECES &&
        run->bytes / run->count >= IN_PLACE_MIN)
        return read_in_place(file, run);
    return read_through_buffer(file, run);
}

/* Pieces of raw data that wait to be read. */
struct batch {
    struct H5FD_h5vec_file *file;
    size_t count, size;
    size_t sieved; /* pieces smaller than that do not wait: they go through the sieve */
    bool sorted;
    struct piece *pieces, few[BATCH_FEW];
};

static void batch_begin(struct batch *batch, struct H5FD_h5vec_file *file, size_t sieved)
{
    batch->file = file;
    batch->sieved = sieved;
    file->reading.sieve.inside = false;
    batch->count = 0;
    batch->size = BATCH_FEW;
    batch->sorted = true;
    batch->pieces = batch->few;
}

static herr_t batch_read(struct batch *batch)
{
    if (!batch->sorted)
        qsort(batch->pieces, batch->count, sizeof *batch->pieces, by_address);
    for (size_t done = 0; done < batch->count;) {
        struct run run = next_run(batch->pieces + done, batch->count - done);
        done += run.count;
        int error = read_run(batch->file, &run);
        if (error)
            return H5FD_H5VEC_FAIL_ERRNO(error, "file read failed", batch->file->name);
    }
    batch->count = 0;
    batch->sorted = true;
    return 0;
}

/* Make room for a piece: a larger batch, or one that was read. */
static herr_t batch_room(struct batch *batch)
{
    struct piece *more = NULL;
    if (batch->pieces == batch->few && (more = malloc(BATCH_MAX * sizeof *more))) {
        memcpy(more, batch->few, sizeof batch->few);
        batch->pieces = more;
        batch->size = BATCH_MAX;
        return 0;
    }
    return batch_read(batch);
}

static herr_t batch_add(struct batch *batch, haddr_t addr, size_t size, unsigned char *to)
{
    struct piece *last = batch->count > 0 ? &batch->pieces[batch->count - 1] : NULL;
    if (last && last->addr + last->size == addr && last->to + last->size == to) {
        last->size += size;
        return 0;
    }
    if (batch->count == batch->size && batch_room(batch) < 0)
        return -1;
    batch->sorted = batch->sorted && (batch->count == 0 || batch->pieces[batch->count - 1].addr <= addr);
    batch->pieces[batch->count++] = (struct piece){addr, size, to};
    return 0;
}

static herr_t batch_end(struct batch *batch, herr_t result)
{
    if (result >= 0)
        result = batch_read(batch);
    if (batch->pieces != batch->few)
        free(batch->pieces);
    return result;
}

/* Raw data waits, unless it is in an image or sieved; the rest is read at once. */
static herr_t read_piece(struct batch *batch, H5FD_mem_t type, haddr_t addr, size_t size, void *to)
{
    struct H5FD_h5vec_file *file = batch->file;
    bool image = file->reading.wants_image || file->reading.image;
    if (type != H5FD_MEM_DRAW || image || addr > INT64_MAX || size > INT64_MAX - addr)
        return H5FD_h5vec_read(file, type, addr, size, to);
    if (size >= batch->sieved)
        return batch_add(batch, addr, size, to);
    int error = H5FD_h5vec_sieve_read(&file->reading.sieve, addr, size, to, file->eof);
    file->reading.sieve.inside = true;
    return error ? H5FD_H5VEC_FAIL_ERRNO(error, "file read failed", file->name) : 0;
}

herr_t H5FD_h5vec_read_vector(struct H5FD_h5vec_file *file, uint32_t count, const H5FD_mem_t types[],
                              const haddr_t addrs[], const size_t sizes[], void *buffers[])
{
    struct batch batch;
    bool same_size = false, same_type = false;
    H5FD_mem_t type = H5FD_MEM_DEFAULT;
    herr_t result = 0;
    size_t size = 0;
    batch_begin(&batch, file, 0);
    for (uint32_t i = 0; i < count && result >= 0; i++) {
        /* The lists may end there: nothing behind it is looked at. */
        same_size = same_size || (i > 0 && sizes[i] == 0);
        same_type = same_type || (i > 0 && types[i] == H5FD_MEM_NOLIST);
        size = same_size ? size : sizes[i];
        type = same_type ? type : types[i];
        result = read_piece(&batch, type, addrs[i], size, buffers[i]);
    }
    return batch_end(&batch, result);
}

/* The sequences of a selection, some at a time. */
struct walk {
    hid_t iterator;
    size_t count, at;
    hsize_t offsets[SEQUENCES];
    size_t lengths[SEQUENCES];
};

/* The current sequence, of walk->lengths[walk->at] bytes; false at the end, *result negative if that is an
 * error. */
static bool walk_next(struct walk *walk, herr_t *result)
{
    size_t bytes;
    if (walk->at < walk->count)
        return true;
    walk->at = walk->count = 0;
    *result = H5Ssel_iter_get_seq_list(walk->iterator, SEQUENCES, SIZE_MAX, &walk->count, &bytes,
                                       walk->offsets, walk->lengths);
    return *result >= 0 && walk->count > 0;
}

static void walk_on(struct walk *walk, size_t bytes)
{
    walk->offsets[walk->at] += bytes;
    walk->lengths[walk->at] -= bytes;
    walk->at += walk->lengths[walk->at] == 0;
}

/* A place in a walk, in registers: millions of pieces of four bytes are all that some selections are. */
struct place {
    size_t at, length;
    hsize_t offset;
};

static inline struct place place_of(const struct walk *walk)
{
    return (struct place){walk->at, walk->lengths[walk->at], walk->offsets[walk->at]};
}

/* False at the end of what was taken from HDF5. */
static inline bool place_on(const struct walk *walk, struct place *place, size_t bytes)
{
    place->offset += bytes;
    place->length -= bytes;
    if (place->length > 0)
        return true;
    if (++place->at == walk->count)
        return false;
    place->length = walk->lengths[place->at];
    place->offset = walk->offsets[place->at];
    return true;
}

static void walk_to(struct walk *walk, const struct place *place)
{
    walk->at = place->at;
    if (place->at == walk->count)
        return;
    walk->lengths[place->at] = place->length;
    walk->offsets[place->at] = place->offset;
}

/* Copy pieces of up to most bytes as long as they are in the sieve's current window. */
static void copy_hits(struct H5FD_h5vec_sieve *sieve, size_t most, struct walk *there, struct walk *here,
                      haddr_t addr, unsigned char *to)
{
    struct H5FD_h5vec_window *window = &sieve->windows[sieve->current];
    struct place from = place_of(there), at = place_of(here);
    const struct H5FD_h5vec_window now = *window;
    uint64_t last = now.last, last_end = now.last_end, stride = now.stride;
    for (bool more = true; more;) {
        size_t size = from.length < at.length ? from.length : at.length;
        uint64_t piece = addr + from.offset, offset = piece - now.addr;
        if (size >= most || piece < now.addr || size > now.size || offset > now.size - size)
            break;
        H5FD_h5vec_sieve_copy(to + at.offset, now.bytes + offset, size);
        stride = piece - last;
        last = piece;
        last_end = piece + size;
        more = place_on(there, &from, size);
        more = place_on(here, &at, size) && more;
    }
    window->last = last;
    window->last_end = last_end;
    window->stride = stride;
    walk_to(there, &from);
    walk_to(here, &at);
}

/* One dataset's or chunk's selection: the same number of bytes in the file and in memory. */
static herr_t read_selection(struct batch *batch, H5FD_mem_t type, struct walk *there, struct walk *here,
                             haddr_t addr, unsigned char *to)
{
    struct H5FD_h5vec_sieve *sieve = &batch->file->reading.sieve;
    herr_t result = 0;
    while (result >= 0 && walk_next(there, &result) && walk_next(here, &result)) {
        if (batch->sieved > 0)
            copy_hits(sieve, batch->sieved, there, here, addr, to);
        if (there->at == there->count || here->at == here->count)
            continue;
        size_t a = there->lengths[there->at], b = here->lengths[here->at], size = a < b ? a : b;
        result =
            read_piece(batch, type, addr + there->offsets[there->at], size, to + here->offsets[here->at]);
        walk_on(there, size);
        walk_on(here, size);
    }
    return result;
}

herr_t H5FD_h5vec_read_selections(struct H5FD_h5vec_file *file, H5FD_mem_t type, size_t count,
                                  const hid_t mem_spaces[], const hid_t file_spaces[], const haddr_t addrs[],
                                  const size_t element_sizes[], void *buffers[])
{
    struct batch batch;
    struct walk there, here;
    bool same_size = false, same_buffer = false;
    size_t size = 0;
    unsigned char *to = NULL;
    herr_t result = 0;
    /* One selection is a contiguous dataset's, or in one chunk. Of chunks HDF5 reads just the pieces. */
    batch_begin(&batch, file, count == 1 && !file->space.placing ? file->reading.sieve.size : 0);
    for (size_t i = 0; i < count && result >= 0; i++) {
        same_size = same_size || (i > 0 && element_sizes[i] == 0);
        same_buffer = same_buffer || (i > 0 && !buffers[i]);
        size = same_size ? size : element_sizes[i];
        to = same_buffer ? to : buffers[i];
        there.count = here.count = there.at = here.at = 0;
        there.iterator = H5Ssel_iter_create(file_spaces[i], size, H5S_SEL_ITER_SHARE_WITH_DATASPACE);
        here.iterator = H5Ssel_iter_create(mem_spaces[i], size, H5S_SEL_ITER_SHARE_WITH_DATASPACE);
        result = there.iterator < 0 || here.iterator < 0 ? -1 : 0;
        if (result >= 0)
            result = read_selection(&batch, type, &there, &here, addrs[i], to);
        if (there.iterator >= 0)
            H5Ssel_iter_close(there.iterator);
        if (here.iterator >= 0)
            H5Ssel_iter_close(here.iterator);
    }
    return batch_end(&batch, result);
}

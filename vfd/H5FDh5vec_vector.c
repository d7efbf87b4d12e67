/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading many pieces at once. A driver that offers this is asked for every single piece of a selection:
 * HDF5's sieve buffer, which joins them for other drivers, is off. So the pieces are sorted and joined here
 * into runs, over gaps up to the size of that buffer; small ones are cut from one read of their run, large
 * ones are read in place by one preadv. Around the last run, if it is small, a window as large as the sieve
 * buffer is kept, for the next call may go on there. That makes at most as many system calls as HDF5 makes
 * for itself.
 */
#include "H5FDh5vec_read.h"

#include "H5FDh5vec_err.h"
#include "H5FDh5vec_file.h"
#include "H5FDh5vec_io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    RUN_MAX = 4 << 20, /* bytes from a run's begin to its end, unless it is one piece */
    LARGE_GAP = 16384, /* reading so much costs no more than a call */
    IN_PLACE_MIN = 4096,
    IN_PLACE_PIECES = 500, /* with the gaps between them less than IOV_MAX */
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
    bool overlap;
};

static int by_address(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* The run that begins with the first of count pieces, in ascending order. */
static struct run next_run(const struct piece *pieces, size_t count, size_t sieve)
{
    struct run run = {pieces, 1, pieces->addr, pieces->addr + pieces->size, pieces->size, false};
    for (; run.count < count; run.count++) {
        const struct piece *next = &pieces[run.count], *last = next - 1;
        bool small = next->size < sieve || last->size < sieve;
        haddr_t end = next->addr + next->size, gap = small && sieve > LARGE_GAP ? sieve : LARGE_GAP;
        if ((next->addr > run.end && next->addr - run.end > gap) || end - run.addr > RUN_MAX)
            break;
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
    unsigned char *gaps = malloc(run->end - run->addr - run->bytes + 1);
    haddr_t at = run->addr;
    int n = 0;
    if (!gaps)
        return read_each(file, run);
    for (size_t i = 0; i < run->count; i++) {
        const struct piece *piece = &run->pieces[i];
        if (piece->addr > at)
            parts[n++] = (struct iovec){gaps, (size_t)(piece->addr - at)};
        parts[n++] = (struct iovec){piece->to, piece->size};
        at = piece->addr + piece->size;
    }
    int error = H5FD_h5vec_io_readv(file->fd, parts, n, run->addr);
    free(gaps);
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

static bool in_window(const struct H5FD_h5vec_reading *reading, const struct run *run)
{
    return run->addr >= reading->window_addr && run->end <= reading->window_addr + reading->window_size;
}

/* Read a small run and what follows it. False when that could not be done: the window is then empty. */
static bool fill_window(struct H5FD_h5vec_file *file, const struct run *run)
{
    struct H5FD_h5vec_reading *reading = &file->reading;
    haddr_t left = file->eof > run->addr ? file->eof - run->addr : 0;
    if (!reading->window)
        reading->window = malloc(reading->window_max);
    reading->window_addr = run->addr;
    reading->window_size = left < reading->window_max ? (size_t)left : reading->window_max;
    if (reading->window && in_window(reading, run) &&
        H5FD_h5vec_file_load(file, run->addr, reading->window_size, reading->window) == 0)
        return true;
    reading->window_size = 0;
    return false;
}

static int read_run(struct H5FD_h5vec_file *file, const struct run *run, bool last)
{
    struct H5FD_h5vec_reading *reading = &file->reading;
    bool window = reading->window_max > 0 && !file->space.placing;
    if (window && (in_window(reading, run) ||
                   (last && run->end - run->addr < reading->window_max && fill_window(file, run)))) {
        scatter(run, reading->window, reading->window_addr);
        return 0;
    }
    if (run->count == 1)
        return read_each(file, run);
    if (!file->writable && !run->overlap && run->count <= IN_PLACE_PIECES &&
        run->bytes / run->count >= IN_PLACE_MIN)
        return read_in_place(file, run);
    return read_through_buffer(file, run);
}

static herr_t read_pieces(struct H5FD_h5vec_file *file, struct piece *pieces, size_t count)
{
    bool sorted = true;
    for (size_t i = 1; i < count; i++)
        sorted = sorted && pieces[i - 1].addr <= pieces[i].addr;
    if (!sorted)
        qsort(pieces, count, sizeof *pieces, by_address);
    for (size_t done = 0; done < count;) {
        struct run run = next_run(pieces + done, count - done, file->reading.window_max);
        done += run.count;
        int error = read_run(file, &run, done == count);
        if (error)
            return H5FD_H5VEC_FAIL_ERRNO(error, "file read failed", file->name);
    }
    return 0;
}

/* Raw data that is not in the image; the rest is read at once. */
static herr_t gather(struct H5FD_h5vec_file *file, uint32_t count, const H5FD_mem_t types[],
                     const haddr_t addrs[], const size_t sizes[], void *buffers[], struct piece *pieces,
                     size_t *found)
{
    bool same_size = false, same_type = false;
    H5FD_mem_t type = H5FD_MEM_DEFAULT;
    size_t size = 0;
    for (uint32_t i = 0; i < count; i++) {
        /* The lists may end there: nothing behind it is looked at. */
        same_size = same_size || (i > 0 && sizes[i] == 0);
        same_type = same_type || (i > 0 && types[i] == H5FD_MEM_NOLIST);
        size = same_size ? size : sizes[i];
        type = same_type ? type : types[i];
        if (size == 0)
            continue;
        if (type == H5FD_MEM_DRAW && !file->reading.wants_image && !file->reading.image) {
            if (H5FD_h5vec_file_check_region(addrs[i], size) < 0)
                return -1;
            pieces[(*found)++] = (struct piece){addrs[i], size, buffers[i]};
        } else if (H5FD_h5vec_read(file, type, addrs[i], size, buffers[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

herr_t H5FD_h5vec_read_vector(struct H5FD_h5vec_file *file, uint32_t count, const H5FD_mem_t types[],
                              const haddr_t addrs[], const size_t sizes[], void *buffers[])
{
    struct piece few[64], *pieces = few;
    size_t found = 0;
    if (count > sizeof few / sizeof *few && !(pieces = malloc(count * sizeof *pieces)))
        return H5FD_H5VEC_FAIL_ERRNO(ENOMEM, "unable to read many pieces at once", file->name);
    herr_t result = gather(file, count, types, addrs, sizes, buffers, pieces, &found);
    if (result >= 0)
        result = read_pieces(file, pieces, found);
    if (pieces != few)
        free(pieces);
    return result;
}

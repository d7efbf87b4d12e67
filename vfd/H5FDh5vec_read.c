/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A file that nobody writes and that is small, or is asked for, is taken whole at the first read: HDF5 has
 * locked it by then, and an open that reads nothing costs nothing. Of a file that is written only metadata is
 * kept, since raw data may be written by other processes (placement); a file that another process is writing
 * (SWMR) is read as asked.
 */
#include "H5FDh5vec_read.h"

#include "H5FDh5vec_cache.h"
#include "H5FDh5vec_err.h"
#include "H5FDh5vec_file.h"
#include "H5FDh5vec_image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void H5FD_h5vec_read_begin(struct H5FD_h5vec_file *file, unsigned flags)
{
    const struct H5FD_h5vec_config *config = &file->space.config;
    struct H5FD_h5vec_reading *reading = &file->reading;
    if (flags & (H5F_ACC_SWMR_READ | H5F_ACC_SWMR_WRITE))
        return;
    reading->sieve.load = file->writable ? NULL : H5FD_h5vec_file_load;
    reading->sieve.context = file;
    reading->wants_cache = config->meta_cache != H5FD_H5VEC_NONE;
    if (!file->writable && file->eof > 0 && config->image != H5FD_H5VEC_IMAGE_NEVER)
        reading->wants_image = config->image == H5FD_H5VEC_IMAGE_ALWAYS ||
                               (config->image_max != H5FD_H5VEC_NONE && file->eof <= config->image_max);
}

void H5FD_h5vec_read_image(struct H5FD_h5vec_file *file, void *image, size_t size)
{
    struct H5FD_h5vec_reading *reading = &file->reading;
    reading->wants_image = reading->wants_cache = false;
    reading->image = image;
    reading->image_size = size;
}

void H5FD_h5vec_read_end(struct H5FD_h5vec_file *file)
{
    H5FD_h5vec_cache_free(file->reading.cache);
    free(file->reading.image);
    H5FD_h5vec_sieve_clear(&file->reading.sieve);
    memset(&file->reading, 0, sizeof file->reading);
}

/* Only with image=always is it an error that the file cannot be had whole. */
static herr_t make_image(struct H5FD_h5vec_file *file)
{
    struct H5FD_h5vec_reading *reading = &file->reading;
    if (!reading->wants_image)
        return 0;
    int error = H5FD_h5vec_image_load(file->fd, file->eof, &reading->image);
    if (error && file->space.config.image == H5FD_H5VEC_IMAGE_ALWAYS)
        return H5FD_H5VEC_FAIL_ERRNO(error, "unable to take the whole file into memory (image=always)",
                                     file->name);
    reading->wants_image = false;
    reading->image_size = error ? 0 : file->eof;
    return 0;
}

static struct H5FD_h5vec_cache *cache_of(struct H5FD_h5vec_file *file)
{
    const struct H5FD_h5vec_config *config = &file->space.config;
    struct H5FD_h5vec_reading *reading = &file->reading;
    if (reading->wants_cache) {
        struct H5FD_h5vec_cache_config settings = {
            .capacity = config->meta_cache,
            .block = config->meta_block == H5FD_H5VEC_NONE ? 1 : config->meta_block,
            .gap = config->meta_gap == H5FD_H5VEC_NONE ? 0 : config->meta_gap,
            .load = H5FD_h5vec_file_load,
            .context = file,
        };
        reading->cache = H5FD_h5vec_cache_new(&settings);
        reading->wants_cache = false;
    }
    if (reading->cache)
        H5FD_h5vec_cache_bounds(reading->cache, file->pub.base_addr, file->eof);
    return reading->cache;
}

/* Copy what the image has of the begin of [addr, addr + size); returns how much. */
static size_t copy_image(const struct H5FD_h5vec_reading *reading, haddr_t addr, size_t size, void *buffer)
{
    haddr_t there = reading->image && addr < reading->image_size ? reading->image_size - addr : 0;
    size_t n = there < size ? (size_t)there : size;
    if (n > 0)
        memcpy(buffer, reading->image + addr, n);
    return n;
}

herr_t H5FD_h5vec_read(struct H5FD_h5vec_file *file, H5FD_mem_t type, haddr_t addr, size_t size, void *buffer)
{
    struct H5FD_h5vec_cache *cache;
    unsigned char *to = buffer;
    int error = 0;
    if (H5FD_h5vec_file_check_region(addr, size) < 0 || make_image(file) < 0)
        return -1;
    size_t n = copy_image(&file->reading, addr, size, to);
    to += n, addr += n, size -= n;
    if (size > 0 && type != H5FD_MEM_DRAW && (cache = cache_of(file)))
        error = H5FD_h5vec_cache_read(cache, addr, size, to);
    else if (size > 0 && type == H5FD_MEM_DRAW && file->reading.sieve.load)
        error = H5FD_h5vec_sieve_read(&file->reading.sieve, addr, size, to, file->eof);
    else if (size > 0)
        error = H5FD_h5vec_file_load(file, addr, size, to);
    return error ? H5FD_H5VEC_FAIL_ERRNO(error, "file read failed", file->name) : 0;
}

void H5FD_h5vec_read_written(struct H5FD_h5vec_file *file, haddr_t addr, size_t size, const void *bytes)
{
    struct H5FD_h5vec_reading *reading = &file->reading;
    if (reading->cache)
        H5FD_h5vec_cache_write(reading->cache, addr, size, bytes);
}

void H5FD_h5vec_read_resized(struct H5FD_h5vec_file *file, haddr_t addr)
{
    struct H5FD_h5vec_reading *reading = &file->reading;
    if (reading->cache)
        H5FD_h5vec_cache_drop(reading->cache, addr, UINT64_MAX);
}

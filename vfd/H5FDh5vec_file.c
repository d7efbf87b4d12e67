/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading, writing, sizing and finishing a file.
 *
 * A new file's head (its superblock) is held back until everything else is on disk: a file that was never
 * closed has no signature, so nobody takes it for a finished one. For the same reason a file to which a write
 * failed is never finished.
 */
#include "H5FDh5vec_file.h"

#include "H5FDh5vec_err.h"
#include "H5FDh5vec_io.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static herr_t fail(struct H5FD_h5vec_file *file, int number, const char *what)
{
    file->failed = true;
    return H5FD_H5VEC_FAIL_ERRNO(number, what, file->name);
}

/* The part of [addr, addr + size) that is in the held head: [*from, *to), perhaps empty. */
static bool held(const struct H5FD_h5vec_file *file, haddr_t addr, size_t size, haddr_t *from, haddr_t *to)
{
    haddr_t base = file->pub.base_addr, end = base + H5FD_H5VEC_HEAD;
    *from = addr > base ? addr : base;
    *to = addr + size < end ? addr + size : end;
    return file->created && *from < *to;
}

herr_t H5FD_h5vec_file_check_region(haddr_t addr, size_t size)
{
    const haddr_t limit = INT64_MAX;
    if (addr > limit || size > limit - addr)
        return H5FD_H5VEC_FAIL(H5FD_H5VEC_ARGUMENT,
                               "%zu bytes at address %llu are beyond the largest address", size,
                               (unsigned long long)addr);
    return 0;
}

int H5FD_h5vec_file_load(void *data, uint64_t addr, size_t size, void *buffer)
{
    const struct H5FD_h5vec_file *file = data;
    haddr_t from, to;
    if (file->foreign) { /* the reader has it all; behind the end are zeros */
        memset(buffer, 0, size);
        return 0;
    }
    int error = H5FD_h5vec_io_read(file->fd, buffer, size, addr);
    if (!error && held(file, addr, size, &from, &to))
        memcpy((unsigned char *)buffer + (from - addr), file->head + (from - file->pub.base_addr), to - from);
    return error;
}

static herr_t write_through(struct H5FD_h5vec_file *file, haddr_t addr, size_t size,
                            const unsigned char *bytes)
{
    int error = H5FD_h5vec_io_write(file->fd, bytes, size, addr);
    if (error)
        return fail(file, error, "file write failed");
    if (size > 0 && addr + size > file->eof)
        file->eof = addr + size;
    return 0;
}

herr_t H5FD_h5vec_file_write(struct H5FD_h5vec_file *file, haddr_t addr, size_t size, const void *buffer)
{
    const unsigned char *bytes = buffer;
    haddr_t from, to;
    if (size == 0 || file->abandoned)
        return 0;
    if (H5FD_h5vec_file_check_region(addr, size) < 0)
        return -1;
    enum H5FD_h5vec_write what = H5FD_h5vec_space_write(&file->space, addr, size);
    if (what == H5FD_H5VEC_WRITE_DROP)
        return 0;
    if (what == H5FD_H5VEC_WRITE_ERROR) {
        file->failed = true;
        return -1;
    }
    H5FD_h5vec_read_written(file, addr, size, bytes);
    if (!held(file, addr, size, &from, &to))
        return write_through(file, addr, size, bytes);
    memcpy(file->head + (from - file->pub.base_addr), bytes + (from - addr), to - from);
    file->head_used = true;
    if (write_through(file, addr, from - addr, bytes) < 0)
        return -1;
    return write_through(file, to, addr + size - to, bytes + (to - addr));
}

/* Before placement the file ends where HDF5's allocations end. Then it only grows: others write to it. Just
 * [size, own) was nobody's but the driver's, and is cut off. */
static herr_t resize(struct H5FD_h5vec_file *file, haddr_t own)
{
    struct stat st;
    haddr_t size = file->space.cursor;
    if (fstat(file->fd, &st) < 0)
        return fail(file, errno, "unable to fstat file");
    haddr_t now = (haddr_t)st.st_size;
    if (now != size && (now < size || now <= own || !file->space.placing)) {
        int error = H5FD_h5vec_io_resize(file->fd, size);
        if (error)
            return fail(file, error, "unable to extend file properly");
        now = size;
    }
    if (now < file->eof)
        H5FD_h5vec_read_resized(file, now);
    file->eof = now;
    return 0;
}

herr_t H5FD_h5vec_file_truncate(struct H5FD_h5vec_file *file, bool closing)
{
    haddr_t own = file->space.cursor;
    if (!file->writable || file->abandoned)
        return 0;
    if (closing)
        H5FD_h5vec_space_trim(&file->space);
    if (resize(file, own) < 0)
        return -1;
    file->closing = closing;
    return 0;
}

static herr_t sync_to_disk(struct H5FD_h5vec_file *file)
{
    int error = H5FD_h5vec_io_sync(file->fd);
    return error ? fail(file, error, "unable to fsync file") : 0;
}

static herr_t unfinished(const struct H5FD_h5vec_file *file, const char *why)
{
    return H5FD_H5VEC_FAIL(H5FD_H5VEC_PLACEMENT, "file '%s' is left unfinished: %s", file->name, why);
}

herr_t H5FD_h5vec_file_finish(struct H5FD_h5vec_file *file)
{
    if (file->abandoned || (!file->head_used && !file->space.placing))
        return 0; /* an old file, or nothing was written */
    if (file->failed)
        return unfinished(file, "an earlier write to it failed");
    if (file->space.pending_size > 0)
        return unfinished(file, "what was placed last was never allocated");
    if (file->created && !file->closing)
        return unfinished(file, "HDF5 did not complete it");
    if (resize(file, 0) < 0 || sync_to_disk(file) < 0)
        return -1;
    if (!file->head_used)
        return 0;
    haddr_t base = file->pub.base_addr, size = file->eof - base;
    size = file->eof < base ? 0 : size < sizeof file->head ? size : sizeof file->head;
    return write_through(file, base, size, file->head) < 0 ? -1 : sync_to_disk(file);
}

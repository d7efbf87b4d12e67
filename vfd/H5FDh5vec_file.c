/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading, writing, sizing and finishing a file. Between HDF5 and the file descriptor is the write buffer, if
 * the file is written and its settings or SWMR do not forbid it.
 *
 * A new file's head (its superblock) is held back until everything else is down: a file that was never
 * flushed or closed has no signature, so nobody takes it for a finished one. In placement, where others write
 * too, a flush does not change that: the head is written in close, when all is on disk. For the same reason a
 * file to which a write failed is never finished; before placement HDF5 can repeat the write in a flush.
 */
#include "H5FDh5vec_file.h"

#include "H5FDh5vec_err.h"
#include "H5FDh5vec_io.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* lost: nobody has the bytes any more. In placement every failure is for good. */
static herr_t fail(struct H5FD_h5vec_file *file, int number, const char *what, bool lost)
{
    file->failed = file->failed || lost || file->space.placing;
    return H5FD_H5VEC_FAIL_ERRNO(number, what, file->name);
}

/* The part of [addr, addr + size) that is in the held head: [*from, *to), perhaps empty. */
static bool held(const struct H5FD_h5vec_file *file, haddr_t addr, size_t size, haddr_t *from, haddr_t *to)
{
    haddr_t base = file->pub.base_addr, end = base + H5FD_H5VEC_HEAD;
    *from = addr > base ? addr : base;
    *to = addr + size < end ? addr + size : end;
    return file->head_held && *from < *to;
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
    int error = file->behind ? H5FD_h5vec_behind_read(file->behind, addr, size, buffer)
                             : H5FD_h5vec_io_read(file->fd, buffer, size, addr);
    if (!error && held(file, addr, size, &from, &to))
        memcpy((unsigned char *)buffer + (from - addr), file->head + (from - file->pub.base_addr), to - from);
    return error;
}

static herr_t write_bytes(struct H5FD_h5vec_file *file, haddr_t addr, size_t size, const unsigned char *bytes)
{
    int error = file->behind ? H5FD_h5vec_behind_write(file->behind, addr, size, bytes)
                             : H5FD_h5vec_io_write(file->fd, bytes, size, addr);
    if (error) {
        file->missing = true;
        return fail(file, error, "file write failed", false);
    }
    if (size > 0 && addr + size > file->eof)
        file->eof = addr + size;
    return 0;
}

herr_t H5FD_h5vec_file_drain(struct H5FD_h5vec_file *file)
{
    int error = file->behind && !file->abandoned ? H5FD_h5vec_behind_drain(file->behind, file->flushed) : 0;
    return error ? fail(file, error, "file write failed", false) : 0;
}

/* ---- The head ------------------------------------------------------------------------------------------ */

static herr_t write_head(struct H5FD_h5vec_file *file)
{
    int error = H5FD_h5vec_io_write(file->fd, file->head, file->head_size, file->pub.base_addr);
    if (error)
        return fail(file, error, "file write failed", false);
    file->head_held = false;
    return 0;
}

herr_t H5FD_h5vec_file_hold(struct H5FD_h5vec_file *file)
{
    static const unsigned char zeros[H5FD_H5VEC_HEAD];
    haddr_t base = file->pub.base_addr, size = file->eof < base ? 0 : file->eof - base;
    size = size < sizeof zeros ? size : sizeof zeros;
    if (!file->created || file->head_held)
        return 0;
    int error = H5FD_h5vec_file_load(file, base, size, file->head);
    if (error)
        return H5FD_H5VEC_FAIL_ERRNO(error, "file read failed", file->name);
    if (write_bytes(file, base, size, zeros) < 0 || H5FD_h5vec_file_drain(file) < 0)
        return -1;
    file->head_size = size;
    file->head_held = true;
    return 0;
}

/* ---- Writing ------------------------------------------------------------------------------------------- */

herr_t H5FD_h5vec_file_begin(struct H5FD_h5vec_file *file, unsigned flags)
{
    const struct H5FD_h5vec_config *config = &file->space.config;
    bool swmr = (flags & H5F_ACC_SWMR_WRITE) != 0;
    file->flushed = file->eof;
    file->head_held = file->created && !swmr;
    if (!file->writable || swmr || config->write_block == H5FD_H5VEC_NONE)
        return 0;
    file->behind =
        H5FD_h5vec_behind_new(file->fd, config->write_block, config->write_buffer, config->async != 0);
    return file->behind ? 0 : H5FD_H5VEC_FAIL_ERRNO(ENOMEM, "no write buffer", file->name);
}

/* A superblock (version 3) that says that the file is being written for SWMR readers: the flags' place is
 * after signature, version and two sizes. */
static bool announces_swmr(const struct H5FD_h5vec_file *file, haddr_t addr, size_t size,
                           const unsigned char *bytes)
{
    enum { VERSION = 8, FLAGS = 11, SWMR_WRITE = 4 };
    return addr == file->pub.base_addr && size > FLAGS && memcmp(bytes, "\211HDF\r\n\032\n", VERSION) == 0 &&
           bytes[VERSION] == 3 && (bytes[FLAGS] & SWMR_WRITE);
}

/* SWMR readers rely on the order of HDF5's writes: from now on they go straight down. */
static herr_t begin_swmr(struct H5FD_h5vec_file *file)
{
    if (H5FD_h5vec_file_drain(file) < 0 || (file->head_held && write_head(file) < 0))
        return -1;
    int error = H5FD_h5vec_behind_free(file->behind);
    file->behind = NULL;
    return error ? fail(file, error, "file write failed", false) : 0;
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
    if (file->behind && !file->space.placing && announces_swmr(file, addr, size, bytes) &&
        begin_swmr(file) < 0)
        return -1;
    if (!held(file, addr, size, &from, &to))
        return write_bytes(file, addr, size, bytes);
    memcpy(file->head + (from - file->pub.base_addr), bytes + (from - addr), to - from);
    if (file->head_size < to - file->pub.base_addr)
        file->head_size = to - file->pub.base_addr;
    if (write_bytes(file, addr, from - addr, bytes) < 0)
        return -1;
    return write_bytes(file, to, addr + size - to, bytes + (to - addr));
}

/* Bytes that HDF5 or the driver leaves unwritten would cut what waits in pieces, each a write of its own. New
 * space is zeros until HDF5 writes it, so they may as well be written; large blocks and zones need no
 * company.
 */
static herr_t write_zeros(struct H5FD_h5vec_file *file, haddr_t from, haddr_t to)
{
    static const unsigned char zeros[4096];
    haddr_t head_end = file->pub.base_addr + H5FD_H5VEC_HEAD;
    from = file->head_held && from < head_end ? head_end : from;
    while (from < to) {
        size_t size = to - from < sizeof zeros ? (size_t)(to - from) : sizeof zeros;
        if (write_bytes(file, from, size, zeros) < 0)
            return -1;
        H5FD_h5vec_read_written(file, from, size, zeros);
        from += size;
    }
    return 0;
}

/* Before placement a block may begin past the end of the file that HDF5 knows: the rest of a zone is between.
 */
haddr_t H5FD_h5vec_file_alloc(struct H5FD_h5vec_file *file, bool raw, hsize_t size)
{
    const hsize_t most = 65536;
    haddr_t addr, end = H5FD_h5vec_space_eoa(&file->space);
    if (H5FD_h5vec_space_alloc(&file->space, raw, size, &addr) < 0)
        return HADDR_UNDEF;
    haddr_t from = file->space.placing || addr < end ? addr : end, to = raw ? addr : addr + size;
    if (!file->behind || file->abandoned || from >= to || to - from > most)
        return addr;
    return write_zeros(file, from, to) < 0 ? HADDR_UNDEF : addr;
}

/* ---- Size, flush and close ---------------------------------------------------------------------------- */

/* Before placement the file ends where HDF5's allocations end. Then it only grows: others write to it. Just
 * [size, own) was nobody's but the driver's, and is cut off. */
static herr_t resize(struct H5FD_h5vec_file *file, haddr_t own)
{
    struct stat st;
    haddr_t size = H5FD_h5vec_space_eoa(&file->space);
    if (fstat(file->fd, &st) < 0)
        return fail(file, errno, "unable to fstat file", false);
    haddr_t now = (haddr_t)st.st_size;
    if (now != size && (now < size || now <= own || !file->space.placing)) {
        int error = H5FD_h5vec_io_resize(file->fd, size);
        if (error)
            return fail(file, error, "unable to extend file properly", false);
        now = size;
    }
    if (now < file->eof)
        H5FD_h5vec_read_resized(file, now);
    file->eof = now;
    return 0;
}

/* Before placement the size at close is made right in finish: there is more to be written. */
herr_t H5FD_h5vec_file_truncate(struct H5FD_h5vec_file *file, bool closing)
{
    haddr_t own = file->space.cursor;
    if (!file->writable || file->abandoned)
        return 0;
    if (closing)
        H5FD_h5vec_space_trim(&file->space);
    if (!closing || file->space.placing)
        if (H5FD_h5vec_file_drain(file) < 0 || resize(file, own) < 0)
            return -1;
    file->whole = file->whole || !closing;
    file->closing = closing;
    return 0;
}

static herr_t sync_to_disk(struct H5FD_h5vec_file *file)
{
    int error = H5FD_h5vec_io_sync(file->fd);
    return error ? fail(file, error, "unable to fsync file", true) : 0;
}

static bool wants_disk(const struct H5FD_h5vec_file *file)
{
    return file->space.placing || file->space.config.flush == H5FD_H5VEC_FLUSH_DISK;
}

/* What has been drained, and then the head. */
static herr_t settle(struct H5FD_h5vec_file *file, bool head)
{
    if (wants_disk(file) && sync_to_disk(file) < 0)
        return -1;
    if (!head || !file->head_held || file->head_size == 0)
        return 0;
    if (write_head(file) < 0)
        return -1;
    return wants_disk(file) ? sync_to_disk(file) : 0;
}

static herr_t unfinished(const struct H5FD_h5vec_file *file, const char *why)
{
    return H5FD_H5VEC_FAIL(H5FD_H5VEC_PLACEMENT, "file '%s' is left unfinished: %s", file->name, why);
}

herr_t H5FD_h5vec_file_flush(struct H5FD_h5vec_file *file, bool closing)
{
    if (!file->writable || file->abandoned || closing)
        return 0;
    if (file->head_held && !file->whole && !file->space.placing)
        return 0; /* an object of a file that is none for others yet */
    if (H5FD_h5vec_file_drain(file) < 0)
        return -1;
    if (file->failed || file->missing) {
        file->missing = false; /* HDF5 knows, and writes it again in the next flush */
        return H5FD_H5VEC_FAIL(H5FD_H5VEC_SYSTEM, "file '%s': an earlier write to it failed", file->name);
    }
    if (settle(file, file->whole && !file->space.placing) < 0)
        return -1;
    file->flushed = file->head_held ? 0 : file->eof;
    return 0;
}

static herr_t complete(struct H5FD_h5vec_file *file)
{
    if (!file->writable || file->abandoned ||
        (file->head_held && file->head_size == 0 && !file->space.placing))
        return 0; /* nothing was written, or nothing of it counts */
    if (H5FD_h5vec_file_drain(file) < 0)
        return -1;
    if (file->failed || file->missing)
        return unfinished(file, "an earlier write to it failed");
    if (file->space.pending_size > 0)
        return unfinished(file, "what was placed last was never allocated");
    if (!file->closing) /* HDF5 has refused an old file, or failed */
        return file->created ? unfinished(file, "HDF5 did not complete it") : 0;
    return resize(file, 0) < 0 ? -1 : settle(file, true);
}

herr_t H5FD_h5vec_file_finish(struct H5FD_h5vec_file *file)
{
    herr_t result = complete(file);
    int error = H5FD_h5vec_behind_free(file->behind);
    file->behind = NULL;
    return error && result >= 0 && !file->abandoned ? fail(file, error, "file write failed", false) : result;
}

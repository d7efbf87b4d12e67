/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The driver's class: what HDF5 calls, in the order of the table. Files behave as with HDF5's own POSIX
 * driver (sec2) until placement begins; H5FDh5vec_space.c is what differs then.
 *
 * The class knows nothing of its own id: HDF5 registers a plugin's class, H5FDh5vec_fapl.c the linked one. So
 * the functions that are called without a file see to it that there is an error class.
 */
#include "H5FDh5vec.h"

#include "H5FDh5vec_config.h"
#include "H5FDh5vec_err.h"
#include "H5FDh5vec_file.h"
#include "H5FDh5vec_foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The settings may come from a copy of this code of another version, which has more or fewer of them. What we
 * do not have is refused when they are used. */
static void *h5vec_fapl_copy(const void *settings)
{
    const struct H5FD_h5vec_config *config = settings;
    struct H5FD_h5vec_config *copy = calloc(1, sizeof *copy);
    if (copy)
        memcpy(copy, config, config->sizeof_config < sizeof *copy ? config->sizeof_config : sizeof *copy);
    return copy;
}

static void *h5vec_fapl_get(H5FD_t *pub)
{
    return h5vec_fapl_copy(&((struct H5FD_h5vec_file *)pub)->space.config);
}

static herr_t h5vec_fapl_free(void *config)
{
    free(config);
    return 0;
}

static int open_flags(unsigned flags)
{
    return ((flags & H5F_ACC_RDWR) ? O_RDWR : O_RDONLY) | ((flags & H5F_ACC_TRUNC) ? O_TRUNC : 0) |
           ((flags & H5F_ACC_CREAT) ? O_CREAT : 0) | ((flags & H5F_ACC_EXCL) ? O_EXCL : 0) | O_CLOEXEC |
           ((flags & H5F_ACC_RDWR) ? 0
                                   : O_NONBLOCK); /* do not wait at a pipe for somebody to write into it */
}

static herr_t read_settings(struct H5FD_h5vec_file *file, hid_t fapl)
{
    hbool_t use_locks = 0, ignore = 0;
    const char *setting = getenv("HDF5_USE_FILE_LOCKING");
    hsize_t block = 0;
    if (H5Pget_file_locking(fapl, &use_locks, &ignore) < 0 || H5Pget_meta_block_size(fapl, &block) < 0)
        return -1;
    file->space.meta_block = block ? block : 1;
    if (setting && strcmp(setting, "BEST_EFFORT") == 0)
        ignore = 1;
    else if (setting && (strcmp(setting, "TRUE") == 0 || strcmp(setting, "1") == 0))
        ignore = 0;
    file->ignore_disabled_locks = ignore;
    return H5FD_h5vec_config_of(&file->space.config, fapl);
}

/* Refuse what has no bytes at addresses. */
static herr_t check_kind(const struct stat *st, const char *name)
{
    if (S_ISDIR(st->st_mode))
        return H5FD_H5VEC_FAIL_ERRNO(EISDIR, "unable to open a directory as a file", name);
    if (S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode))
        return H5FD_H5VEC_FAIL_ERRNO(ESPIPE, "unable to open a pipe as a file", name);
    return 0;
}

/* What open found, once the file descriptor is there. */
static herr_t fill_in(struct H5FD_h5vec_file *file, const char *name, unsigned flags, haddr_t maxaddr)
{
    struct stat st;
    if (fstat(file->fd, &st) < 0)
        return H5FD_H5VEC_FAIL_ERRNO(errno, "unable to fstat file", name);
    if (check_kind(&st, name) < 0)
        return -1;
    if (fcntl(file->fd, F_SETFL, 0) < 0) /* without O_NONBLOCK */
        return H5FD_H5VEC_FAIL_ERRNO(errno, "unable to fcntl file", name);
    if (!(file->name = strdup(name)))
        return H5FD_H5VEC_FAIL_ERRNO(errno, "out of memory", name);
    file->device = st.st_dev;
    file->inode = st.st_ino;
    file->eof = (haddr_t)st.st_size;
    file->writable = (flags & H5F_ACC_RDWR) != 0;
    file->created = file->writable && file->eof == 0;
    file->space.limit = maxaddr;
    return 0;
}

/* What is not HDF5 may be read as such. */
static herr_t open_foreign(struct H5FD_h5vec_file *file)
{
    void *image;
    size_t size;
    if (H5FD_h5vec_foreign_image(file->name, file->fd, file->writable, &file->space.config, &image, &size) <
        0)
        return -1;
    if (image) {
        file->foreign = true;
        file->eof = size;
        H5FD_h5vec_read_image(file, image, size);
    }
    return 0;
}

static herr_t h5vec_close(H5FD_t *pub);

static H5FD_t *h5vec_open(const char *name, unsigned flags, hid_t fapl, haddr_t maxaddr)
{
    if (H5FD_h5vec_err_register() < 0)
        return NULL;
    if (!name || !*name || maxaddr == 0 || maxaddr > INT64_MAX) {
        (void)H5FD_H5VEC_FAIL(H5FD_H5VEC_ARGUMENT, "no file name, or a largest address out of range");
        return NULL;
    }
    struct H5FD_h5vec_file *file = calloc(1, sizeof *file);
    if (!file) {
        (void)H5FD_H5VEC_FAIL_ERRNO(errno, "out of memory", name);
        return NULL;
    }
    /* Settings first: bad ones must not truncate a file. */
    if (read_settings(file, fapl) < 0) {
        free(file);
        return NULL;
    }
    file->fd = open(name, open_flags(flags), 0666);
    if (file->fd < 0) {
        (void)H5FD_H5VEC_FAIL_ERRNO(errno, "unable to open file", name);
        free(file);
        return NULL;
    }
    if (fill_in(file, name, flags, maxaddr) < 0 || H5FD_h5vec_file_begin(file, flags) < 0) {
        (void)h5vec_close(&file->pub);
        return NULL;
    }
    H5FD_h5vec_read_begin(file, flags);
    if (open_foreign(file) < 0) {
        (void)h5vec_close(&file->pub);
        return NULL;
    }
    return &file->pub;
}

static herr_t h5vec_close(H5FD_t *pub)
{
    struct H5FD_h5vec_file *file = (struct H5FD_h5vec_file *)pub;
    herr_t result = H5FD_h5vec_file_finish(file);
    /* EINTR: Linux has closed it, and what counted is on disk. */
    if (close(file->fd) < 0 && errno != EINTR)
        result = H5FD_H5VEC_FAIL_ERRNO(errno, "unable to close file", file->name ? file->name : "");
    H5FD_h5vec_space_clear(&file->space);
    H5FD_h5vec_read_end(file);
    free(file->name);
    free(file);
    return result;
}

static int h5vec_cmp(const H5FD_t *a, const H5FD_t *b)
{
    const struct H5FD_h5vec_file *x = (const void *)a, *y = (const void *)b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return x->inode < y->inode ? -1 : x->inode > y->inode;
}

/* Without the aggregation flags each block is allocated for itself, so the driver knows what it is for. */
static herr_t h5vec_query(const H5FD_t *pub, unsigned long *flags)
{
    const struct H5FD_h5vec_file *file = (const void *)pub; /* NULL at times */
    if (flags)
        *flags = H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_SUPPORTS_SWMR_IO;
    if (flags && !(file && file->foreign)) /* the bytes are those of the file */
        *flags |= H5FD_FEAT_POSIX_COMPAT_HANDLE | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t h5vec_alloc(H5FD_t *pub, H5FD_mem_t type, hid_t dxpl, hsize_t size)
{
    struct H5FD_h5vec_file *file = (struct H5FD_h5vec_file *)pub;
    /* As in HDF5's own lists of free space (fl_map), global heaps are raw data. They are never placed. */
    bool raw = type == H5FD_MEM_DRAW || (type == H5FD_MEM_GHEAP && !file->space.placing);
    (void)dxpl;
    file->space.plain = pub->alignment > 1 || pub->paged_aggr;
    return H5FD_h5vec_file_alloc(file, raw, size);
}

static herr_t h5vec_free(H5FD_t *pub, H5FD_mem_t type, hid_t dxpl, haddr_t addr, hsize_t size)
{
    (void)type, (void)dxpl;
    H5FD_h5vec_space_free(&((struct H5FD_h5vec_file *)pub)->space, addr, size);
    return 0;
}

static haddr_t h5vec_get_eoa(const H5FD_t *pub, H5FD_mem_t type)
{
    (void)type;
    return H5FD_h5vec_space_eoa(&((const struct H5FD_h5vec_file *)pub)->space);
}

static herr_t h5vec_set_eoa(H5FD_t *pub, H5FD_mem_t type, haddr_t addr)
{
    (void)type;
    return H5FD_h5vec_space_set_eoa(&((struct H5FD_h5vec_file *)pub)->space, addr);
}

static haddr_t h5vec_get_eof(const H5FD_t *pub, H5FD_mem_t type)
{
    (void)type;
    return ((const struct H5FD_h5vec_file *)pub)->eof;
}

static herr_t h5vec_get_handle(H5FD_t *pub, hid_t fapl, void **handle)
{
    struct H5FD_h5vec_file *file = (struct H5FD_h5vec_file *)pub;
    if (!handle)
        return H5FD_H5VEC_FAIL(H5FD_H5VEC_ARGUMENT, "no place for the handle");
    *handle = &file->fd;
    if (H5Iget_type(fapl) == H5I_GENPROP_LST && H5Pexist(fapl, H5FD_H5VEC_PROBE) > 0) {
        struct H5FD_h5vec_probe *probe = (struct H5FD_h5vec_probe *)handle;
        probe->version = H5VEC_VERSION;
        probe->size = sizeof *file;
        probe->file = file;
        return 0;
    }
    return H5FD_h5vec_file_drain(file); /* the caller may use the descriptor */
}

static herr_t h5vec_read(H5FD_t *pub, H5FD_mem_t type, hid_t dxpl, haddr_t addr, size_t size, void *buffer)
{
    (void)dxpl;
    return H5FD_h5vec_read((struct H5FD_h5vec_file *)pub, type, addr, size, buffer);
}

static herr_t h5vec_write(H5FD_t *pub, H5FD_mem_t type, hid_t dxpl, haddr_t addr, size_t size,
                          const void *buffer)
{
    (void)type, (void)dxpl;
    return H5FD_h5vec_file_write((struct H5FD_h5vec_file *)pub, addr, size, buffer);
}

static herr_t h5vec_flush(H5FD_t *pub, hid_t dxpl, hbool_t closing)
{
    (void)dxpl;
    return H5FD_h5vec_file_flush((struct H5FD_h5vec_file *)pub, closing);
}

static herr_t h5vec_truncate(H5FD_t *pub, hid_t dxpl, hbool_t closing)
{
    (void)dxpl;
    return H5FD_h5vec_file_truncate((struct H5FD_h5vec_file *)pub, closing);
}

/* Others may come in: they see what was written. */
static herr_t do_lock(struct H5FD_h5vec_file *file, int operation, const char *what)
{
    if (operation == LOCK_UN && H5FD_h5vec_file_drain(file) < 0)
        return -1;
    if (flock(file->fd, operation) == 0 || (file->ignore_disabled_locks && errno == ENOSYS))
        return 0;
    return H5FD_H5VEC_FAIL_ERRNO(errno, what, file->name);
}

static herr_t h5vec_lock(H5FD_t *pub, hbool_t exclusive)
{
    return do_lock((struct H5FD_h5vec_file *)pub, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB,
                   "unable to lock file");
}

static herr_t h5vec_unlock(H5FD_t *pub)
{
    return do_lock((struct H5FD_h5vec_file *)pub, LOCK_UN, "unable to unlock file");
}

static herr_t h5vec_delete(const char *name, hid_t fapl)
{
    (void)fapl;
    if (H5FD_h5vec_err_register() < 0)
        return -1;
    return unlink(name) < 0 ? H5FD_H5VEC_FAIL_ERRNO(errno, "unable to delete file", name) : 0;
}

static herr_t h5vec_ctl(H5FD_t *pub, uint64_t op, uint64_t flags, const void *input, void **output)
{
    (void)pub, (void)op, (void)input, (void)output;
    if (flags & H5FD_CTL_FAIL_IF_UNKNOWN_FLAG)
        return H5FD_H5VEC_FAIL(H5FD_H5VEC_ARGUMENT, "the driver has no control operation %llu",
                               (unsigned long long)op);
    return 0;
}

const H5FD_class_t H5FD_h5vec_class = {
    .version = H5FD_CLASS_VERSION,
    .value = H5FD_H5VEC_VALUE,
    .name = H5FD_H5VEC_NAME,
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_WEAK,
    .fapl_size = sizeof(struct H5FD_h5vec_config),
    .fapl_get = h5vec_fapl_get,
    .fapl_copy = h5vec_fapl_copy,
    .fapl_free = h5vec_fapl_free,
    .open = h5vec_open,
    .close = h5vec_close,
    .cmp = h5vec_cmp,
    .query = h5vec_query,
    .alloc = h5vec_alloc,
    .free = h5vec_free,
    .get_eoa = h5vec_get_eoa,
    .set_eoa = h5vec_set_eoa,
    .get_eof = h5vec_get_eof,
    .get_handle = h5vec_get_handle,
    .read = h5vec_read,
    .write = h5vec_write,
    .flush = h5vec_flush,
    .truncate = h5vec_truncate,
    .lock = h5vec_lock,
    .unlock = h5vec_unlock,
    .del = h5vec_delete,
    .ctl = h5vec_ctl,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

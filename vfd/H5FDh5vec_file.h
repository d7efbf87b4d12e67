/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An open file of the driver, and how the functions of H5FDh5vec.h get at it.
 */
#ifndef H5FDH5VEC_FILE_H
#define H5FDH5VEC_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "H5FDh5vec_behind.h"
#include "H5FDh5vec_read.h"
#include "H5FDh5vec_space.h"

/* The start of a new file that is kept in memory until the file is complete: a sector, which holds a
 * superblock of any version with its signature. */
#define H5FD_H5VEC_HEAD 512

struct H5FD_h5vec_file {
    H5FD_t pub; /* HDF5's part: first */
    char *name;
    int fd;
    bool writable;
    bool created; /* was empty when opened for writing: by HDF5's rule a new file */
    bool ignore_disabled_locks;
    bool failed;    /* a change did not reach the file: it must not look complete */
    bool missing;   /* before placement: the same, unless HDF5 repeats it in a flush that succeeds */
    bool abandoned; /* nothing is written any more */
    bool closing;   /* HDF5 has announced its last writes */
    dev_t device;
    ino_t inode;
    haddr_t eof;
    bool foreign;    /* not HDF5: it is read from an image of it as HDF5 alone */
    haddr_t flushed; /* the end of what the last flush, or the file when opened, consists of */
    struct H5FD_h5vec_space space;
    struct H5FD_h5vec_reading reading;
    struct H5FD_h5vec_behind *behind; /* NULL: what is written goes straight down */
    bool whole;       /* HDF5 has flushed all of the file, and not just an object, at least once */
    bool head_held;   /* head is not in the file yet */
    size_t head_size; /* bytes of head that were written */
    unsigned char head[H5FD_H5VEC_HEAD]; /* of a created file, from its base address on */
};

/* The class that HDF5 gets (H5FDh5vec.c). */
extern const H5FD_class_t H5FD_h5vec_class;

/* H5FD_h5vec_file_of calls H5Fget_vfd_handle with a property list that has this property. Our get_handle then
 * fills in the rest of a probe; another driver knows nothing of it and leaves NULL. The driver that opened
 * the file may be another copy of this code (the plugin), even of another version: this struct stays as it
 * is. */
#define H5FD_H5VEC_PROBE "h5vec_probe"
struct H5FD_h5vec_probe {
    void *handle; /* first: what H5Fget_vfd_handle knows of */
    const char *version;
    size_t size; /* sizeof(struct H5FD_h5vec_file) */
    struct H5FD_h5vec_file *file;
};

/* The open file behind an identifier, or NULL with the reason on the error stack. */
struct H5FD_h5vec_file *H5FD_h5vec_file_of(hid_t id);

/* What the file holds, nothing of it cached: what HDF5 wrote, even if it is not in the file yet, and zeros
 * past the end. file is a struct H5FD_h5vec_file. Returns 0 or an errno. */
int H5FD_h5vec_file_load(void *file, uint64_t addr, size_t size, void *buffer);

/* The file's part of the driver (H5FDh5vec_file.c). All return a negative value on failure, alloc
 * HADDR_UNDEF.
 */

/* The write buffer, and the held head, of a file that is open for writing (flags: of H5Fopen or H5Fcreate).
 */
herr_t H5FD_h5vec_file_begin(struct H5FD_h5vec_file *file, unsigned flags);
haddr_t H5FD_h5vec_file_alloc(struct H5FD_h5vec_file *file, bool raw, hsize_t size);
herr_t H5FD_h5vec_file_check_region(haddr_t addr, size_t size);
herr_t H5FD_h5vec_file_write(struct H5FD_h5vec_file *file, haddr_t addr, size_t size, const void *buffer);
herr_t H5FD_h5vec_file_truncate(struct H5FD_h5vec_file *file, bool closing);
/* What waits in memory goes to the system. */
herr_t H5FD_h5vec_file_drain(struct H5FD_h5vec_file *file);
/* The file is whole for others now, except in placement. Nothing to do when closing: there is more to come.
 */
herr_t H5FD_h5vec_file_flush(struct H5FD_h5vec_file *file, bool closing);
/* Placement begins: a new file is no file until it is finished. */
herr_t H5FD_h5vec_file_hold(struct H5FD_h5vec_file *file);
/* Make the file complete: what waits, size, head; data on disk where that is asked for. Then the buffer is
 * gone, but the file is not closed. */
herr_t H5FD_h5vec_file_finish(struct H5FD_h5vec_file *file);

#endif

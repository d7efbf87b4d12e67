/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The HDF5 file driver "h5vec": placement. One process writes a file's metadata with ordinary HDF5 calls,
 * while the raw data is written by others, at addresses chosen beforehand. The file is plain HDF5: addresses
 * are file offsets, and any driver opens it. docs/design.md section 1 has the idea and the rules.
 *
 * In placement a new file gets its first bytes, and so its signature, in H5Fclose, when everything else is on
 * disk: one that was never closed is no HDF5 file. H5Fclose fails, and leaves it so, if any write failed
 * before. Other new files get them in the first H5Fflush or in H5Fclose.
 *
 * All functions are local and may be called only where HDF5 functions may.
 */
#ifndef H5FDH5VEC_H
#define H5FDH5VEC_H

#include "h5vec_hdf5.h"

#define H5FD_H5VEC_NAME "h5vec"
/* A number from HDF5's range for testing until one is registered; overridable when building. */
#ifndef H5FD_H5VEC_VALUE
#define H5FD_H5VEC_VALUE ((H5FD_class_value_t)444)
#endif

/* In place of a size in the settings: none of it. */
#define H5FD_H5VEC_NONE ((hsize_t)-1)

enum H5FD_h5vec_image { H5FD_H5VEC_IMAGE_AUTO, H5FD_H5VEC_IMAGE_ALWAYS, H5FD_H5VEC_IMAGE_NEVER };
enum H5FD_h5vec_flush { H5FD_H5VEC_FLUSH_OS, H5FD_H5VEC_FLUSH_DISK };
enum H5FD_h5vec_bad { H5FD_H5VEC_BAD_ERROR, H5FD_H5VEC_BAD_SKIP };
enum H5FD_h5vec_types { H5FD_H5VEC_TYPES_INFER, H5FD_H5VEC_TYPES_TEXT };

/* Settings of a file. Begins with its own size, so that it can grow. All zero (but for the size) is the
 * defaults. In a configuration string the keys are these names, sizes as in "64MiB", alignment as "align". */
struct H5FD_h5vec_config {
    size_t sizeof_config; /* sizeof(struct H5FD_h5vec_config) */
    hsize_t first_zone; /* bytes of the metadata zone at the start of a new file; 0: 2 KiB (placement: 64) */
    hsize_t zone;       /* largest further zone; 0: 1 MiB (placement: the size of each, 64 KiB) */
    hsize_t alignment;  /* where zones and reservations start, a power of two >= 512; 0: 4 KiB */
    /* Reading. */
    hsize_t meta_block; /* bytes of metadata fetched at a time; 0: adaptive; NONE: as asked */
    hsize_t meta_cache; /* bytes of metadata kept; 0: 64 MiB; NONE: nothing is */
    hsize_t image_max;  /* image AUTO: files opened read-only up to this size are taken whole; 0: 16 MiB */
    enum H5FD_h5vec_image image;
    /* Writing. */
    hsize_t write_block;  /* bytes of the aligned blocks that small writes are joined to; 0: 4 MiB; NONE */
    hsize_t write_buffer; /* bytes that may wait to be written; 0: 64 MiB */
    unsigned async;       /* 1: a thread writes while the program goes on */
    enum H5FD_h5vec_flush flush; /* H5Fflush and H5Fclose hand data to the system, or wait for the disk */
    /* What is not HDF5. */
    hsize_t foreign_max;     /* bytes of memory that a text or shapefile may take as HDF5; 0: 1 GiB */
    enum H5FD_h5vec_bad bad; /* a malformed record is an error, or is skipped and counted */
    /* Reading, adaptive meta_block: bytes of other things that are read to reach more metadata, which saves a
     * read; 0: 32 KiB; NONE. */
    hsize_t meta_gap;
    enum H5FD_h5vec_types types; /* of what is not HDF5: columns are typed (docs/format.md), or all text */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Make fapl use the driver. config may be NULL for the defaults; it is copied. The driver is registered
 * unless it is (a plugin that HDF5 has loaded serves as well), and again after H5close. Returns a negative
 * value on failure, with the reason on HDF5's error stack. */
H5_DLL herr_t H5Pset_fapl_h5vec(hid_t fapl, const struct H5FD_h5vec_config *config);

/* The settings that fapl, whose driver must be this one, gives a file: from H5Pset_fapl_h5vec, or from a
 * configuration string (which is checked here), with the defaults filled in. The caller sets
 * config->sizeof_config; that many bytes are filled. */
H5_DLL herr_t H5Pget_fapl_h5vec(hid_t fapl, struct H5FD_h5vec_config *config);

/* Take size bytes (0 is allowed) for raw data from the file's one cursor, starting at a multiple of the
 * alignment; *addr is where. Every byte of the file is either in a metadata zone or in a reservation, and
 * the two never overlap. file: a file identifier opened through this driver for writing, whose creation list
 * says H5F_FSPACE_STRATEGY_NONE and whose access list leaves H5Pset_alignment at 1.
 *
 * Until the first call of this function or the next the file is like any other, and truncated to its end.
 * Call it before others write to the file. */
H5_DLL herr_t H5FD_h5vec_reserve(hid_t file, hsize_t size, haddr_t *addr);

/* The next raw allocation (H5Dwrite_chunk of a new chunk, or H5Dcreate of a contiguous dataset with early
 * allocation) must be of size bytes and gets address addr; HDF5's writes into [addr, addr + size) are
 * dropped from then on (somebody else writes those bytes). One-shot. An allocation of another size fails, and
 * so does a second call before the first was used, or a range that overlaps a metadata zone. addr may lie
 * outside any reservation (old chunks that stay where they are); the file then extends at least to its end.
 */
H5_DLL herr_t H5FD_h5vec_place(hid_t file, haddr_t addr, hsize_t size);

/* The file will not be finished: from now on what HDF5 writes to it is dropped, and H5Fclose neither writes
 * the superblock nor waits for the disk, so that it succeeds on a disk that is full. (HDF5 cannot close a
 * file whose writes fail, and loops over it at exit.) */
H5_DLL herr_t H5FD_h5vec_abandon(hid_t file);

/* Bytes of the file's metadata zones, and how many of them are allocated. For reports. */
H5_DLL herr_t H5FD_h5vec_usage(hid_t file, hsize_t *zones, hsize_t *used);

#ifdef __cplusplus
}
#endif

#endif

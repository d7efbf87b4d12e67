/* SPDX-License-Identifier: BSD-3-Clause
 *
 * layer: a table of geometries in an HDF5 file, as docs/format.md specifies it. Open one, read rows [i, j),
 * check all of it, write one, and the parts that h5vcat needs to put layers together dataset by dataset:
 * roles and creation properties (this header), the block index (h5vec_layer_blocks.h) and the geo attribute
 * (h5vec_layer_geo.h).
 *
 * Everything is local (no MPI) and may be called only where HDF5 functions may. Nothing is printed; HDF5's
 * own printing of errors is left as the program has set it (programs of ours turn it off). Identifiers that
 * are passed in are never closed; NULL is accepted by every _free.
 */
#ifndef H5VEC_LAYER_H
#define H5VEC_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "h5vec_hdf5.h"
#include "h5vec_layer_blocks.h"
#include "h5vec_layer_geo.h"
#include "vcodec.h"

#define H5VEC_LAYER_VERSION 1
#define H5VEC_LAYER_MAX_FEATURE ((int64_t)INT32_MAX) /* bytes of one feature's WKB or of one text value */
#define H5VEC_LAYER_MAX_NAME 1024                    /* bytes of a column's name */

/* ---- Names and roles of the datasets ---------------------------------------------------------------- */

/* Paths inside the layer's group. */
#define H5VEC_LAYER_PATH_WKB "geometry/wkb"
#define H5VEC_LAYER_PATH_OFFSETS "geometry/offsets"
#define H5VEC_LAYER_PATH_BBOX "geometry/bbox"
#define H5VEC_LAYER_PATH_VALID "geometry/valid"
#define H5VEC_LAYER_PATH_BLOCKS "index/blocks"
#define H5VEC_LAYER_PATH_RTREE "index/rtree" /* the group of the tree */
#define H5VEC_LAYER_PATH_RTREE_NODES "index/rtree/nodes"
#define H5VEC_LAYER_PATH_RTREE_LEVELS "index/rtree/levels"
#define H5VEC_LAYER_PATH_RTREE_ROWS "index/rtree/rows"
#define H5VEC_LAYER_GROUP_GEOMETRY "geometry"
#define H5VEC_LAYER_GROUP_COLUMNS "columns" /* columns/<link>, or columns/<link>/{data,offsets} for text */
#define H5VEC_LAYER_GROUP_VALID "valid"     /* valid/<link> */
#define H5VEC_LAYER_GROUP_INDEX "index"
#define H5VEC_LAYER_TEXT_DATA "data"
#define H5VEC_LAYER_TEXT_OFFSETS "offsets"

/* What a dataset is in its layer. */
enum h5vec_layer_role {
    H5VEC_LAYER_ROLE_UNKNOWN = 0,  /* not a dataset of the format: ignored by readers, refused by h5vcat */
    H5VEC_LAYER_ROLE_WKB,          /* uint8 [B] */
    H5VEC_LAYER_ROLE_OFFSETS,      /* int64 [n + 1] */
    H5VEC_LAYER_ROLE_BBOX,         /* float64 [n][4] */
    H5VEC_LAYER_ROLE_VALID,        /* uint8 [n] */
    H5VEC_LAYER_ROLE_COLUMN_FIXED, /* any fixed-size type, [n] or [n]... */
    H5VEC_LAYER_ROLE_TEXT_DATA,    /* uint8 [T], UTF-8 */
    H5VEC_LAYER_ROLE_TEXT_OFFSETS, /* int64 [n + 1] */
    H5VEC_LAYER_ROLE_COLUMN_VALID, /* uint8 [n] */
    H5VEC_LAYER_ROLE_BLOCKS,       /* struct h5vec_layer_block [k] */
    H5VEC_LAYER_ROLE_RTREE_NODES,  /* float32 [m][4] */
    H5VEC_LAYER_ROLE_RTREE_LEVELS, /* int64 [L + 1] */
    H5VEC_LAYER_ROLE_RTREE_ROWS,   /* int64 [n] */
    H5VEC_LAYER_ROLE_RTREE,        /* index/rtree, or anything else below it */
    H5VEC_LAYER_ROLE_END
};

/* The role of the dataset whose path inside the layer's group is path ("geometry/wkb", no leading slash).
 * Looks at the path only. */
enum h5vec_layer_role h5vec_layer_role(const char *path);

/* Whether a group is a layer: it has the attribute h5vec_version, of whatever version. */
enum h5vec_status h5vec_layer_is(hid_t group, bool *is_layer, struct h5vec_error *err);

/* ---- Storage: how the datasets of a new layer are created ------------------------------------------- */

struct h5vec_layer_storage {
    size_t sizeof_options; /* sizeof(struct h5vec_layer_storage) */
    uint64_t chunk_bytes;  /* bytes of a chunk; 0: 1 MiB where a row is one element, 4 MiB else */
    int deflate;           /* level 1 to 9; 0: no deflate */
    bool shuffle;          /* before deflate, where elements are longer than a byte */
};

/* chunk_bytes 0, deflate 6, shuffle. */
struct h5vec_layer_storage h5vec_layer_storage_default(void);

/* Type and dimensions after the first of a fixed-size column. */
struct h5vec_layer_shape {
    hid_t type; /* fixed size; borrowed */
    int trailing_rank;
    hsize_t trailing[H5S_MAX_RANK - 1];
};

/* What the values of a fixed column mean where they come from another format; numbered as in formats/. */
enum h5vec_layer_value {
    H5VEC_LAYER_INTEGER = 1, /* int64_t */
    H5VEC_LAYER_FLOAT,       /* double */
    H5VEC_LAYER_BOOLEAN,     /* uint8_t: 1 true, 0 false; in the file an enumeration, as h5py writes it */
    H5VEC_LAYER_TIME,        /* int64_t: microseconds since 1970-01-01 00:00 UTC; attribute "units" says so */
};

/* The file's type of such values, a new one; negative on failure. */
hid_t h5vec_layer_value_type(enum h5vec_layer_value value);

/* Mark a column's dataset as one of times, and whether it is one. */
enum h5vec_status h5vec_layer_write_time_units(hid_t dataset, struct h5vec_error *err);
enum h5vec_status h5vec_layer_is_time(hid_t dataset, bool *is, struct h5vec_error *err);

/* What H5Dcreate takes. Free with h5vec_layer_dataset_free, which closes the three. */
struct h5vec_layer_dataset {
    hid_t type, space, dcpl;
};

/* Type, space (rows x trailing dimensions, the first unlimited) and creation properties (chunk of whole rows
 * aimed at storage->chunk_bytes and no longer than max(rows, 1); filters) of a new dataset of this role with
 * rows elements along the first dimension. shape: for H5VEC_LAYER_ROLE_COLUMN_FIXED only, else NULL. storage
 * NULL: the default. UNKNOWN and RTREE are H5VEC_E_ARG. */
enum h5vec_status h5vec_layer_dataset_init(struct h5vec_layer_dataset *dataset, enum h5vec_layer_role role,
                                           const struct h5vec_layer_shape *shape, uint64_t rows,
                                           const struct h5vec_layer_storage *storage,
                                           struct h5vec_error *err);
void h5vec_layer_dataset_free(struct h5vec_layer_dataset *dataset);

/* ---- Column names ----------------------------------------------------------------------------------- */

/* Link names for columns called names[0 .. n), all different: '/' becomes %2F, a lone "." %2E, an empty name
 * "%"; a name that is taken gets "_2", "_3", ... A name longer than H5VEC_LAYER_MAX_NAME or not UTF-8 is
 * H5VEC_E_ARG. *links is one allocation: free(*links) frees all of it. */
enum h5vec_status h5vec_layer_column_links(const char *const *names, size_t n, char ***links,
                                           struct h5vec_error *err);

/* Record the original name of a column whose link is called otherwise: attribute "name" (fixed-length UTF-8)
 * of the dataset, or of a text column's group. Does nothing if the two are equal. */
enum h5vec_status h5vec_layer_write_name(hid_t object, const char *link, const char *original,
                                         struct h5vec_error *err);

/* Write h5vec_version, geo and (if known) crs_source onto a layer's new group. */
enum h5vec_status h5vec_layer_write_attributes(hid_t group, const struct h5vec_layer_geo *geo,
                                               struct h5vec_error *err);

/* ---- Reading ---------------------------------------------------------------------------------------- */

enum h5vec_layer_kind {
    H5VEC_LAYER_FIXED, /* a dataset columns/<link> */
    H5VEC_LAYER_TEXT,  /* a group columns/<link> with data and offsets */
};

struct h5vec_layer_column {
    const char *link;     /* name in the file */
    const char *original; /* name as the source had it */
    enum h5vec_layer_kind kind;
    bool has_valid;   /* some value is missing */
    bool time;        /* FIXED: H5VEC_LAYER_TIME */
    size_t row_bytes; /* FIXED: bytes of one row in memory (native type); TEXT: 0 */
    hid_t type;       /* FIXED: native memory type, the layer's; TEXT: H5I_INVALID_HID */
};

struct h5vec_layer_info {
    uint64_t rows;
    uint64_t wkb_bytes;
    uint64_t blocks; /* rows of index/blocks */
    bool has_valid;  /* some geometry is null */
    bool has_rtree;
    size_t columns;
    const struct h5vec_layer_column *column; /* in order of link name */
    const struct h5vec_layer_geo *geo;
};

struct h5vec_layer;

/* Open the layer at path (relative to loc; "." is loc itself). Checks its shape: the version, that all
 * datasets are there with the types and lengths of docs/format.md, the attributes' syntax; not the values in
 * the datasets. H5VEC_E_LAYER_NOT, _VERSION or _INVALID say what is wrong. The caller frees *layer before
 * closing the file. */
enum h5vec_status h5vec_layer_open(hid_t loc, const char *path, struct h5vec_layer **layer,
                                   struct h5vec_error *err);
void h5vec_layer_free(struct h5vec_layer *layer);

/* Borrowed from the layer until it is freed. */
const struct h5vec_layer_info *h5vec_layer_info(const struct h5vec_layer *layer);

/* What h5vec_layer_read shall read; offsets always come. */
#define H5VEC_LAYER_READ_WKB 1u
#define H5VEC_LAYER_READ_BBOX 2u
#define H5VEC_LAYER_READ_VALID 4u
#define H5VEC_LAYER_READ_ALL 7u

/* Rows [first_row, first_row + rows), in the layer's memory until the next call with this layer. */
struct h5vec_layer_batch {
    uint64_t first_row;
    size_t rows;
    int64_t first_byte; /* of the batch in geometry/wkb */
    const int64_t
        *offsets;       /* rows + 1, rebased: offsets[0] = 0; feature k is wkb[offsets[k] .. offsets[k+1]) */
    const uint8_t *wkb; /* NULL if not asked for */
    const struct vcodec_box *box; /* rows; NULL if not asked for */
    const uint8_t *valid;         /* rows, 1 = there, 0 = null; NULL if not asked for or every row is there */
};

/* Read rows [i, j), i <= j <= rows. Offsets that are not monotonic or leave geometry/wkb are
 * H5VEC_E_LAYER_INVALID, found before anything is allocated for them. WKB is as stored: use the codec to read
 * it. */
enum h5vec_status h5vec_layer_read(struct h5vec_layer *layer, uint64_t i, uint64_t j, unsigned what,
                                   struct h5vec_layer_batch *batch, struct h5vec_error *err);

/* The largest j such that rows [i, j) have at most max_rows rows and max_bytes bytes of WKB, but at least one
 * row if i < rows. Reads offsets only. */
enum h5vec_status h5vec_layer_fit(struct h5vec_layer *layer, uint64_t i, uint64_t max_rows,
                                  uint64_t max_bytes, uint64_t *j, struct h5vec_error *err);

/* The same for the bytes of a column's values. */
enum h5vec_status h5vec_layer_fit_column(struct h5vec_layer *layer, size_t column, uint64_t i,
                                         uint64_t max_rows, uint64_t max_bytes, uint64_t *j,
                                         struct h5vec_error *err);

/* Offsets i .. i + n - 1 of geometry/offsets as stored (i + n <= rows + 1) into out. */
enum h5vec_status h5vec_layer_offsets(struct h5vec_layer *layer, uint64_t i, size_t n, int64_t *out,
                                      struct h5vec_error *err);

/* Values of a column, row for row. */
struct h5vec_layer_values {
    const void *data;       /* FIXED: rows x row_bytes; TEXT: value k is data[offsets[k] .. offsets[k+1]) */
    const int64_t *offsets; /* TEXT: rows + 1, offsets[0] = 0; FIXED: NULL */
    const uint8_t *valid;   /* rows, 1 = there, 0 = no value; NULL if every value is there */
};

/* Rows [i, j) of a column, in the layer's memory until the next call of this function. */
enum h5vec_status h5vec_layer_read_column(struct h5vec_layer *layer, size_t column, uint64_t i, uint64_t j,
                                          struct h5vec_layer_values *values, struct h5vec_error *err);

/* Blocks i .. i + n - 1 of the block index (i + n <= info->blocks) into out. */
enum h5vec_status h5vec_layer_read_blocks(struct h5vec_layer *layer, uint64_t i, size_t n,
                                          struct h5vec_layer_block *out, struct h5vec_error *err);

/* ---- Checking --------------------------------------------------------------------------------------- */

/* One broken rule: one line without the layer's name ("geometry/bbox: row 7: is not the box of its WKB"). */
typedef void (*h5vec_layer_finding)(void *context, const char *line);

/* Check the layer at path against every rule of docs/format.md, in memory bounded by a few MiB and the
 * largest feature. Of each kind of finding the first ten are told one by one and the rest as a number;
 * *findings counts all. H5VEC_OK means that the check came to its end, whatever it found; a group that cannot
 * be opened as a layer is one finding, and so is a dataset that HDF5 cannot read. */
enum h5vec_status h5vec_layer_check(hid_t loc, const char *path, h5vec_layer_finding finding, void *context,
                                    uint64_t *findings, struct h5vec_error *err);

/* ---- Writing, serially ------------------------------------------------------------------------------ */

struct h5vec_layer_column_def {
    const char *name; /* original name; copied */
    enum h5vec_layer_kind kind;
    struct h5vec_layer_shape shape; /* FIXED: values are given in the type's own layout; copied */
    bool time;                      /* FIXED: H5VEC_LAYER_TIME */
};

/* Rows to append, borrowed during the call. The fields are those of struct h5vec_format_batch. */
struct h5vec_layer_rows {
    size_t rows;
    const uint8_t *wkb;                       /* canonical ISO WKB */
    const int64_t *offsets;                   /* rows + 1, offsets[0] = 0 */
    const struct vcodec_box *box;             /* rows */
    const uint8_t *valid;                     /* rows; NULL: every row is there */
    const uint64_t *vertices;                 /* rows */
    const struct h5vec_layer_values *columns; /* one a column; their valid may be NULL */
};

struct h5vec_layer_writer;

/* Start a new layer: group name under loc must not exist (intermediate groups are made). Buffers up to a
 * chunk of each dataset; a dataset is created when its first chunk is full, or at the end. storage NULL: the
 * default. */
enum h5vec_status h5vec_layer_writer_new(hid_t loc, const char *name,
                                         const struct h5vec_layer_storage *storage,
                                         const struct h5vec_layer_column_def *columns, size_t n,
                                         struct h5vec_layer_writer **writer, struct h5vec_error *err);

/* Append rows. The WKB is trusted (it comes from the codec), and so are box and vertices. */
enum h5vec_status h5vec_layer_writer_append(struct h5vec_layer_writer *writer,
                                            const struct h5vec_layer_rows *rows, struct h5vec_error *err);

/* Write what is left, the index and the attributes. geo->types must cover the rows; geo->box is not used: the
 * rows' own union is written. Afterwards only _free may be called; _free without _finish leaves an incomplete
 * group. */
enum h5vec_status h5vec_layer_writer_finish(struct h5vec_layer_writer *writer,
                                            const struct h5vec_layer_geo *geo, struct h5vec_error *err);
void h5vec_layer_writer_free(struct h5vec_layer_writer *writer);

/* ---- HDF5's errors ---------------------------------------------------------------------------------- */

/* A datatype in a few words, such as "int64" or "string[8]", for people. The caller frees it; NULL without
 * memory.
 */
char *h5vec_layer_type_text(hid_t type);

/* Fill err (if not NULL) with H5VEC_E_HDF5, the printf-like message and, after a colon, the innermost message
 * of HDF5's error stack; empty the stack. Call it right after the call that failed: the next H5 call may
 * clear the stack. Returns H5VEC_E_HDF5. */
enum h5vec_status h5vec_layer_error_hdf5(struct h5vec_error *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif

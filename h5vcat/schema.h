/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The schema: every object of the output, as the first input has them (optional layer datasets added), with
 * the numbers that each rank collects from its own inputs. Rank 0 makes it, every rank gets a copy. The order
 * of the items is the order of the first input's links: groups before what is in them.
 */
#ifndef H5VCAT_SCHEMA_H
#define H5VCAT_SCHEMA_H

#include <mpi.h>
#include <stdbool.h>
#include "filters.h"
#include "h5vec_layer.h"
#include "inputs.h"

/* Bytes that many items share: an encoded type or property list, a value. One copy of equal ones. */
struct blob {
    struct blob *next; /* in its hash bucket */
    hid_t id;          /* types: the decoded type, once somebody asked */
    uint32_t size;
    uint8_t bytes[];
};

enum item_kind {
    ITEM_GROUP,
    ITEM_ROWS,     /* dataset of rank >= 1: concatenated along its first dimension */
    ITEM_SAME,     /* scalar or null dataset: equal in all inputs, kept */
    ITEM_POINTERS, /* dataset of any rank with variable-length data or references: as one of the two above */
    ITEM_TYPE,     /* committed datatype: equal in all inputs */
    ITEM_LINK,     /* soft or external link, or a further hard link to an item: equal in all inputs */
};

#define PLISTS 64 /* property lists that are kept decoded */

/* How an item of kind ITEM_ROWS is stored in the output (h5vcat_plan_storage): the same on every rank. */
struct storage {
    H5D_layout_t layout;
    hsize_t chunk[H5S_MAX_RANK]; /* chunked: as stored. Else: the box that is read and written at a time */
    hsize_t maxdims[H5S_MAX_RANK];
    struct pipeline pipeline;
};

struct item {
    const char *path; /* absolute */
    enum item_kind kind;
    enum h5vec_layer_role role; /* H5VEC_LAYER_ROLE_UNKNOWN outside layers */
    int layer;                  /* index in schema->layers, or -1 */
    int bytes_item;             /* offsets: the item they point into; else -1 */
    bool is_layer;              /* group: of a layer */
    bool optional;              /* a layer's valid dataset: inputs without it have every row valid */
    bool present;               /* optional: some input has it */
    bool time;                  /* a layer's column of times, by its units */
    bool ascii;                 /* input 0's link has an ASCII name, else UTF-8 */
    bool annotated;             /* input 0 has attributes or a comment on it, as far as one can tell */
    int rank;
    hsize_t *dims;      /* rank of them, [0] is 0; then rank fixed maxima (input 0's; 0: none above dims) */
    uint32_t element;   /* bytes of the type */
    uint64_t row_bytes; /* bytes of a row */
    struct blob *type;  /* H5Tencode; groups and links: NULL */
    struct blob *dcpl;  /* H5Pencode; of input `first`; links: NULL */
    /* ITEM_SAME: the bytes; NULL for a null space (ITEM_POINTERS: something if it is a scalar). ITEM_LINK:
     * h5vcat_links_blob. Column of a text: its name */
    struct blob *value;
    struct blob *token; /* of a committed datatype in input 0, and of the one that a dataset uses there */
    /* From all inputs once schema_gather has run; before, from this rank's. */
    uint32_t first;             /* the first input with rows; NOBODY if none has */
    bool chunks_agree;          /* all inputs with rows have the chunk of the first one */
    uint32_t unlimited;         /* bit d: dimension d is unlimited in some input */
    uint64_t max_rows;          /* largest fixed maximum of the first dimension */
    uint64_t mine, base, total; /* rows: of this rank, before it, of all */
    uint64_t most;              /* rows of the rank with the most */
    uint64_t raw_seen,
        stored_seen; /* bytes of the input chunks that this rank decoded, and what they were stored in */
    uint64_t sum;    /* --verify: XXH64 sums of what this rank read */
};

/* A layer in the making. */
struct layer_plan {
    const char *path;
    int wkb, offsets, blocks; /* items */
    struct h5vec_layer_geo geo;
    uint32_t crs_input;               /* the input that the CRS comes from; NOBODY: none so far */
    uint64_t features, features_base; /* of this rank, before it */
    uint64_t skipped;                 /* records that were left out: of this rank's parts, then of all */
    int block_stream;                 /* spool: this rank's entries of index/blocks */
    int block_skip;                   /* of which the first so many belong to the rank before */
};

struct schema {
    struct item *items;
    int count, room;
    struct layer_plan *layers;
    int layer_count;
    uint64_t user_block; /* bytes before the content of input 0 */
    struct blob *buckets[1024];
    int *index; /* hash table over paths, open addressing, -1 free */
    size_t index_room;
    struct {
        const struct blob *blob;
        hid_t id;
    } plists[PLISTS]; /* decoded last */
    size_t memory;    /* bytes held, about */
};

struct schema *h5vcat_schema_new(void);
void h5vcat_schema_free(struct schema *s);

/* The one blob with these bytes; NULL: out of memory. */
struct blob *h5vcat_schema_blob(struct schema *s, const void *bytes, size_t size);
struct blob *h5vcat_schema_encode_type(struct schema *s, hid_t type);
struct blob *h5vcat_schema_encode_plist(struct schema *s, hid_t plist);
hid_t h5vcat_blob_type(struct blob *b); /* borrowed; negative on failure */

/* The decoded property list of a blob, to be read only; borrowed until the next call. Negative on failure.
 * Many datasets share one, and decoding costs more than all that is read from it. */
hid_t h5vcat_schema_plist(struct schema *s, const struct blob *b);

/* Append a new item with this path (copied); everything else is zero, -1 or NOBODY. NULL: out of memory. */
struct item *h5vcat_schema_add(struct schema *s, const char *path);

/* Append a layer; returns its index, -1: out of memory. */
int h5vcat_schema_add_layer(struct schema *s, const char *path);

/* Index of the item with this path, or -1. */
int h5vcat_schema_find(const struct schema *s, const char *path);

/* Tie offsets to their bytes and items to their layers, by path. Called when all items are there. */
void h5vcat_schema_link(struct schema *s);

/* Collective: rank 0's schema becomes everybody's. *s is NULL elsewhere. */
enum h5vec_status h5vcat_schema_broadcast(MPI_Comm comm, struct schema **s, struct h5vec_error *err);

#endif

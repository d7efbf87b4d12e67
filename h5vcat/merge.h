/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a merge holds, and the stages that pass it on: source, plan, then for each page read, exchange, encode
 * and place. Internal to h5vcat/.
 */
#ifndef H5VCAT_MERGE_H
#define H5VCAT_MERGE_H

#include "filters.h"
#include "h5vcat.h"
#include "inputs.h"
#include "schema.h"
#include "spool.h"

/* A rank's rows of an item in one of its parts. */
struct rows {
    uint64_t start; /* first row in the input (text: in the spooled stream); ROWS_VALID: every row is 1 */
    uint64_t count;
    uint32_t
        form; /* not 0: these are all rows of the input, stored in one chunk of this form, and start is */
    uint32_t size; /* its address, size its bytes */
};
#define ROWS_VALID UINT64_MAX

static inline uint64_t rows_first(const struct rows *r)
{
    return r->form ? 0 : r->start;
}

struct blocks;
struct join;
struct reader;

struct merge {
    MPI_Comm comm;
    int rank, ranks;
    const struct h5vcat_options *options;
    struct inputs inputs;
    struct schema *schema;
    struct spool *spool;
    int numbers;  /* spool stream: struct rows of each part and item, part by part */
    int *streams; /* of each item: spool stream of its rows in text inputs, or -1 */
    int vertices; /* spool stream: uint64 a feature of text inputs, or -1 */
    struct coder *coder;
    struct reader *reader;
    struct blocks *blocks; /* of texts, while they are read */
    int standard;          /* the copy of standard input, open; -1: it is no input */
    bool foreign;          /* some filter of the output is not ours */
    int most_parts;        /* parts of the rank with the most */
    uint64_t input_chunk;  /* bytes of the largest chunk of any input, decoded */
    struct budget {        /* --buffer-size, dealt out by the plan; bytes */
        uint64_t rows;     /* rows read ahead for a page of small datasets; as much for pieces on their way */
        uint64_t assembly; /* chunks that several ranks contribute to */
        uint64_t encoded;  /* chunks waiting for their place */
        uint64_t cache;    /* decoded input chunks */
        uint64_t page;     /* row numbers of a page */
    } budget;
    char *rows_buffer; /* budget.rows bytes */
    char *temporary;   /* the output until it is renamed */
    char *directory;   /* of the output */
    char *left_out;    /* lines about records that on_bad left out, as many as there is room for */
    size_t left_out_size;
    uint64_t done, all;   /* bytes of this rank's values that were read, and that there are */
    double started, told; /* when the merge began, and when progress was told last */
    struct h5vcat_report report;
};

/* Seconds since some moment; for differences. */
double h5vcat_merge_now(void);

/* Send a line to the caller's say function: rank 0 only, elsewhere nothing happens. */
void h5vcat_merge_say(const struct merge *m, enum h5vcat_message kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* A chunk has been joined, or a rank's rows of one: count what became of its bytes. */
void h5vcat_merge_joined(struct merge *m, const struct join *join);

/* So many more bytes of values have been read. Local; rank 0 tells its own progress, which the others keep up
 * with. */
void h5vcat_merge_progress(struct merge *m, uint64_t bytes);

/* standard.c, collective: if standard input is among the inputs, copy rank 0's for all. */
enum h5vec_status h5vcat_standard_open(struct merge *m, struct h5vec_error *err);

/* gather.c, collective: make the schema from the first input, compare every input with it, collect the
 * numbers of this rank's rows and the properties that the plan needs. Text inputs are spooled on the way. */
enum h5vec_status h5vcat_gather_inputs(struct merge *m, struct h5vec_error *err);

/* text.c, collective: rank 0 says which records were left out; the report counts them. */
enum h5vec_status h5vcat_text_left_out(struct merge *m, struct h5vec_error *err);

/* text.c, local: set alone and quotes of a part of a text. */
enum h5vec_status h5vcat_text_look(struct merge *m, struct part *p, struct h5vec_error *err);

/* text.c: whether every record of a part of a CSV can be divided into fields. Reads the part's blocks. */
enum h5vec_status h5vcat_text_divisible(struct merge *m, const struct part *p, bool *divisible,
                                        struct h5vec_error *err);

/* text.c, local: the schema of a text input's layer, and the spooling of a part of one (its rows are appended
 * to the streams of the items; numbers[i].count is set for each item of its layer). */
enum h5vec_status h5vcat_text_schema(struct merge *m, struct schema *s, uint32_t input,
                                     struct h5vec_error *err);
enum h5vec_status h5vcat_text_spool(struct merge *m, const struct part *part, struct rows *numbers,
                                    struct h5vec_error *err);

/* layers.c, local: add a dataset of this role at path inside a layer, and the groups above it, unless they
 * are there. shape: of a fixed column, else NULL. Valid datasets and their group are optional. */
enum h5vec_status h5vcat_layers_add_dataset(struct schema *s, int layer, const char *path,
                                            enum h5vec_layer_role role, const struct h5vec_layer_shape *shape,
                                            struct h5vec_error *err);

/* layers.c, local: add the group at path inside a layer ("": its own) and those above it, unless they are
 * there. */
enum h5vec_status h5vcat_layers_add_group(struct schema *s, int layer, const char *path,
                                          struct h5vec_error *err);

/* The layer with this path, or -1. */
int h5vcat_layers_find(const struct schema *s, const char *path);

/* layers.c, collective: CRS agreement, then every layer's block index, box and geometry types, from a pass
 * over this rank's features. */
enum h5vec_status h5vcat_layers_index(struct merge *m, struct h5vec_error *err);

/* layers.c, local: note that input has this CRS for a layer; one that differs from an earlier input's is an
 * error. */
enum h5vec_status h5vcat_layers_crs(struct merge *m, int layer, uint32_t input,
                                    const struct h5vec_layer_geo *geo, struct h5vec_error *err);

/* gather.c, local: read numbers of one part for items [first, first + n) into out. */
enum h5vec_status h5vcat_merge_numbers(const struct merge *m, int part, int first, int n, struct rows *out,
                                       struct h5vec_error *err);

#endif

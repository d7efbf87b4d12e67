/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The input files and who reads what: file-based partitioning. Each rank gets a run of consecutive inputs
 * with about the same number of bytes; a file that a border falls into is cut by rows if it is HDF5, at a
 * record if it is text.
 */
#ifndef H5VCAT_INPUTS_H
#define H5VCAT_INPUTS_H

#include <mpi.h>
#include <stdbool.h>
#include "h5vcat.h"

#define WHOLE 65536u /* a file's rows are cut in units of 1/65536 */

#define NOBODY UINT32_MAX /* no input */

enum input_kind {
    INPUT_HDF5,
    INPUT_TEXT,      /* can be cut at any byte, see cuts.c */
    INPUT_SHAPEFILE, /* can be cut between records */
    INPUT_BINARY     /* another format of formats/: read by one rank */
};

/* A rank's share of one input: of n rows (text: bytes) those from n * lo / WHOLE up to n * hi / WHOLE. */
struct part {
    uint32_t input;
    uint32_t lo, hi;
    /* Of texts that are cut, from h5vcat_cuts_find: */
    bool quotes;               /* a newline may be inside quotes */
    bool lo_inside, hi_inside; /* the cut lies inside quotes */
    bool alone;                /* cannot be divided: the rank that has its begin reads all of it */
    uint64_t begin;            /* byte where this rank's first record begins */
    uint64_t lines;            /* before begin, if malformed records are no error */
    char *tail;                /* the rest of the last record, behind the cut; owned */
    size_t tail_size;
};

struct inputs {
    const char *const *names; /* borrowed from the options */
    uint32_t count;
    uint64_t *sizes;    /* bytes */
    uint64_t *units;    /* of texts: cuts are multiples of so many bytes */
    uint8_t *text;      /* INPUT_HDF5, or read through formats/ */
    int standard;       /* what standard input was copied to, open; borrowed */
    struct part *parts; /* of this rank, in order */
    int part_count;
};

/* Whether an input's name means standard input. */
static inline bool h5vcat_is_standard(const char *name)
{
    return name[0] == '-' && name[1] == '\0';
}

/* Collective: look at every input and deal them out. standard: what standard input was copied to. */
enum h5vec_status h5vcat_inputs_open(MPI_Comm comm, const struct h5vcat_options *options, int standard,
                                     struct inputs *in, struct h5vec_error *err);
void h5vcat_inputs_free(struct inputs *in);

/* First row of n rows at a cut. */
static inline uint64_t cut_row(uint64_t n, uint32_t cut)
{
    return n / WHOLE * cut + n % WHOLE * cut / WHOLE;
}

/* The byte of a text where a cut lies. */
static inline uint64_t cut_byte(const struct inputs *in, uint32_t input, uint32_t cut)
{
    uint64_t size = in->sizes[input], unit = in->units[input];
    return cut == WHOLE ? size : cut_row(size, cut) / unit * unit;
}

/* Whether it is a text that other ranks have parts of as well. */
static inline bool part_is_cut(const struct inputs *in, const struct part *p)
{
    return in->text[p->input] == INPUT_TEXT && (p->lo > 0 || p->hi < WHOLE);
}

/* Where rank r's share begins, counted in WHOLE a file: the pure function behind h5vcat_inputs_open. sizes
 * and text (enum input_kind) have count entries. */
uint64_t h5vcat_inputs_border(const uint64_t *sizes, const uint8_t *text, uint32_t count, int rank,
                              int ranks);

/* A rank's share, counted in the same way. apart: a rank has parts of at most one input that is cut, so that
 * the ranks which share one form a group of their own. */
void h5vcat_inputs_share(const struct inputs *in, int rank, int ranks, bool apart, uint64_t *begin,
                         uint64_t *end);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Passing torn records to the rank before. Each rank that shares a text has the bytes from its share's begin
 * to the first end of a record in it: they belong to the last record of the rank before. A share in which no
 * record ends is such a piece as a whole, and what comes from behind it is passed on.
 */
#ifndef H5VCAT_PASS_H
#define H5VCAT_PASS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include "h5vec_status.h"

#define H5VCAT_PASS_LIMIT ((size_t)1 << 30) /* bytes of a message: MPI counts in int */

struct torn {
    bool gives;  /* this rank's first text begins on the rank before */
    bool open;   /* no record ends in the piece: what follows it belongs to it too */
    bool takes;  /* this rank's last text goes on on the rank behind */
    char *piece; /* to be passed; owned, freed by h5vcat_pass_torn */
    size_t size, room;
    size_t most; /* bytes of a tail; more are dropped */
    char *tail;  /* out: the rest of this rank's last record, or NULL; owned */
    size_t tail_size;
};

/* Append to a piece of at most t->most bytes; more are dropped. Local. */
enum h5vec_status h5vcat_pass_append(struct torn *t, const char *bytes, size_t size, struct h5vec_error *err);

/* Collective. limit: bytes of the longest message. */
enum h5vec_status h5vcat_pass_torn(MPI_Comm comm, struct torn *t, size_t limit, struct h5vec_error *err);

void h5vcat_pass_free(struct torn *t);

#endif

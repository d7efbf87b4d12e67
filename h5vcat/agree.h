/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every rank leaves together: an error on one rank is agreed on before the next collective call.
 */
#ifndef H5VCAT_AGREE_H
#define H5VCAT_AGREE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include "h5vec_status.h"

/* Collective. If any rank's status is not H5VEC_OK, every rank returns the status and gets the error of the
 * lowest such rank in *err (never NULL here). */
static inline enum h5vec_status h5vcat_agree(MPI_Comm comm, enum h5vec_status status,
                                             struct h5vec_error *err);

/* The part of it that is not inline. *late, if not NULL: give up waiting for the other ranks after some
 * seconds, and say so; the communicator cannot be used any more then. */
enum h5vec_status h5vcat_agree_on_error(MPI_Comm comm, enum h5vec_status status, struct h5vec_error *err,
                                        bool *late);

static inline enum h5vec_status h5vcat_agree(MPI_Comm comm, enum h5vec_status status, struct h5vec_error *err)
{
    enum h5vec_status all = h5vcat_agree_on_error(comm, status, err, NULL);
    return all ? all : status; /* for readers and analysers: an error never becomes a success */
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Agreement on errors.
 */
#include "agree.h"
#include <limits.h>
#include <time.h>

#define PATIENCE 10 /* seconds */

/* Whether the request is not done in time. Ranks lose patience one after the other, so that one speaks for
 * all. */
static bool overdue(MPI_Request *request, int rank)
{
    int done = 0;
    double begin = MPI_Wtime();
    while (!done && MPI_Wtime() - begin < PATIENCE + rank % 16) {
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return !done;
}

enum h5vec_status h5vcat_agree_on_error(MPI_Comm comm, enum h5vec_status status, struct h5vec_error *err,
                                        bool *late)
{
    MPI_Request request; /* not blocking on any rank: one that waits with patience must match the others */
    int rank, lowest;
    MPI_Comm_rank(comm, &rank);
    int mine = status ? rank : INT_MAX;
    MPI_Iallreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, comm, &request);
    if (late && (*late = overdue(&request, rank)))
        return status; /* NOLINT(clang-analyzer-optin.mpi.MPI-Checker): MPI_Abort follows, nobody waits any
                          more */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (lowest == INT_MAX)
        return H5VEC_OK;
    if (rank == lowest)
        err->status = status;
    MPI_Bcast(err, (int)sizeof *err, MPI_BYTE, lowest, comm);
    return err->status;
}

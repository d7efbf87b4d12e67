/* SPDX-License-Identifier: BSD-3-Clause
 *
 * h5vcat: parse, merge, report.
 */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
#include "command.h"
#include "h5vec_hdf5.h"

/* A file that HDF5 could not close after a failed write would make it loop, or wait for other ranks for ever,
 * in MPI_Finalize and at exit: all ranks go without. */
static void leave_if_stuck(int code)
{
    int stuck = code != 0 && H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_FILE) > 0;
    MPI_Allreduce(MPI_IN_PLACE, &stuck, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (!stuck)
        return;
    fflush(NULL);
    _exit(code);
}

int main(int argc, char **argv)
{
    H5dont_atexit(); /* MPI_Finalize ends the library; MPI_Abort must not try to */
    MPI_Init(&argc, &argv);
    struct command c = {0};
    struct h5vcat_report report = {0};
    struct h5vec_error err = {0};
    MPI_Comm_rank(MPI_COMM_WORLD, &c.rank);
    enum h5vec_status st = command_parse(argc, argv, &c, &err);
    if (!st && (c.help || c.version)) {
        if (c.rank == 0 && c.help)
            command_help(stdout, c.help_brief);
        else if (c.rank == 0)
            printf("h5vcat %s\n", H5VEC_VERSION);
    } else if (!st) {
        st = h5vcat_merge(MPI_COMM_WORLD, &c.merge, &report, &err);
        if ((!st || st == H5VEC_E_LEFT_OUT) && c.rank == 0)
            command_report(&c, &report);
    }
    if (st && c.rank == 0)
        command_error(&c, &err);
    command_free(&c);
    leave_if_stuck(h5vcat_exit_code(st));
    MPI_Finalize();
    return h5vcat_exit_code(st);
}

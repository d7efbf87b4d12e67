/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Run a suite of Check on every rank, without forking, and tell ctest.
 */
#ifndef MPI_TEST_H
#define MPI_TEST_H

#include <check.h>
#include <mpi.h>

static int rank, ranks;

static inline void begin_mpi(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

/* The program's exit status. */
static inline int run_mpi_suite(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, rank == 0 ? CK_NORMAL : CK_SILENT);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    MPI_Finalize();
    return failed != 0;
}

#endif

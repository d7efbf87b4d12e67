/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An application that computes and writes, a file a step: how long does it wait in HDF5? Modes: HDF5's own
 * driver (sec2), h5vec, h5vec with async=1, in turn, in three rounds. All files of all modes are read back
 * with sec2, value by value, before anything is printed.
 *
 *   LD_PRELOAD=build/release/tuning/slow_writes.so build/release/tuning/write_steps DIRECTORY [FILES [KB]]
 *
 * One line of JSON for each mode: medians over the rounds of the seconds in HDF5 calls, and in all.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "H5FDh5vec.h"

/* And the time to compute one dataset. */
enum { DATASETS = 40, COMPUTE_US = 1000, ROUNDS = 3, MODES = 3, KB_MAX = 100000 };
static const char *const modes[MODES] = {"sec2", "h5vec", "h5vec async=1"};

static int values_count = 3125; /* of a dataset: 500 KB a file */
static float *values;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "write_steps: %s\n", what);
        exit(1);
    }
}

static float value_of(int step, int dataset, int i)
{
    return (float)(step * 1000 + dataset) + (float)i / (float)values_count;
}

/* The work between two writes: the values, and as much time as is set. */
static void compute(int step, int dataset)
{
    double end = now() + 1e-6 * COMPUTE_US;
    do
        for (int i = 0; i < values_count; i++)
            values[i] = value_of(step, dataset, i);
    while (now() < end);
}

static void name_of(char *path, size_t size, const char *directory, int mode, int step)
{
    snprintf(path, size, "%s/steps-%d-%04d.h5", directory, mode, step);
}

static void write_dataset(hid_t file, int dataset)
{
    char name[32];
    hsize_t n = (hsize_t)values_count;
    snprintf(name, sizeof name, "field %d", dataset);
    hid_t space = H5Screate_simple(1, &n, NULL), scalar = H5Screate(H5S_SCALAR);
    hid_t d = H5Dcreate2(file, name, H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t a = H5Acreate2(d, "level", H5T_NATIVE_INT, scalar, H5P_DEFAULT, H5P_DEFAULT);
    bool good = H5Awrite(a, H5T_NATIVE_INT, &dataset) >= 0 &&
                H5Dwrite(d, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    good = H5Aclose(a) >= 0 && H5Dclose(d) >= 0 && good;
    H5Sclose(scalar);
    H5Sclose(space);
    check(good, "a dataset was not written");
}

/* Seconds in HDF5. */
static double write_file(const char *path, hid_t fapl, int step)
{
    double waited = -now();
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    waited += now();
    for (int d = 0; d < DATASETS; d++) {
        compute(step, d);
        waited -= now();
        write_dataset(file, d);
        waited += now();
    }
    waited -= now();
    check(H5Fclose(file) >= 0, "a file was not closed");
    return waited + now();
}

static void verify(const char *path, int step)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    check(file >= 0, "a file does not open");
    for (int dataset = 0; dataset < DATASETS; dataset++) {
        char name[32];
        snprintf(name, sizeof name, "field %d", dataset);
        hid_t d = H5Dopen2(file, name, H5P_DEFAULT);
        check(d >= 0 && H5Dread(d, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0,
              "a dataset cannot be read");
        for (int i = 0; i < values_count; i++)
            check(values[i] == value_of(step, dataset, i), "a value is wrong");
        H5Dclose(d);
    }
    H5Fclose(file);
}

static hid_t fapl_of(int mode)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    struct H5FD_h5vec_config config = {
        .sizeof_config = sizeof config, .async = mode >= 2, .first_zone = mode == 3 ? 65536 : 0};
    check(mode == 0 || H5Pset_fapl_h5vec(fapl, &config) >= 0, "no driver");
    return fapl;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    int files = argc > 2 ? atoi(argv[2]) : 100;
    int kb = argc > 3 ? atoi(argv[3]) : 500;
    double waited[MODES][ROUNDS] = {{0}}, total[MODES][ROUNDS] = {{0}};
    char path[4096];
    check(argc > 1 && files > 0 && kb > 0 && kb <= KB_MAX, "usage: write_steps DIRECTORY [FILES [KB]]");
    values_count = kb * 1000 / DATASETS / (int)sizeof *values;
    check(values_count > 0 && (values = malloc((size_t)values_count * sizeof *values)), "no memory");
    for (int round = 0; round < ROUNDS; round++)
        for (int mode = 0; mode < MODES; mode++) {
            hid_t fapl = fapl_of(mode);
            double begin = now();
            for (int step = 0; step < files; step++) {
                name_of(path, sizeof path, argv[1], mode, step);
                waited[mode][round] += write_file(path, fapl, step);
            }
            total[mode][round] = now() - begin;
            for (int step = 0; step < files; step++) {
                name_of(path, sizeof path, argv[1], mode, step);
                verify(path, step);
                unlink(path);
            }
            H5Pclose(fapl);
        }
    free(values);
    for (int mode = 0; mode < MODES; mode++) {
        qsort(waited[mode], ROUNDS, sizeof(double), compare);
        qsort(total[mode], ROUNDS, sizeof(double), compare);
        printf("{\"mode\": \"%s\", \"files\": %d, \"kb\": %d, \"seconds_in_hdf5\": %.3f, \"seconds\": %.3f, "
               "\"spread\": "
               "%.3f}\n",
               modes[mode], files, kb, waited[mode][1], total[mode][1], waited[mode][2] - waited[mode][0]);
    }
    return 0;
}

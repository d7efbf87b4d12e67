/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ways of reading raw data that a driver can make slow: strided, many chunks, row by row, single points, many
 * small datasets.
 *
 *     read_raw make FILE
 *     read_raw sec2|h5vec FILE PATTERN [REPEAT]
 *
 * Prints one line of JSON: the seconds of the fastest of REPEAT (3) readings, the file opened anew for each,
 * and a sum over the values, which must not depend on the driver. No image is taken: it would make all
 * patterns alike.
 */
#include "H5FDh5vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROWS = 4096, COLUMNS = 2048, CHUNK = 64, SMALL = 2000, SMALL_SIZE = 300 };

static void make_dataset(hid_t file, const char *name, const hsize_t dims[2], int chunked, const int *values)
{
    const hsize_t chunk[2] = {CHUNK, CHUNK};
    hid_t space = H5Screate_simple(2, dims, NULL), dcpl = H5Pcreate(H5P_DATASET_CREATE);
    if (chunked)
        H5Pset_chunk(dcpl, 2, chunk);
    hid_t d = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(d);
    H5Pclose(dcpl);
    H5Sclose(space);
}

static int make(const char *path)
{
    const hsize_t dims[2] = {ROWS, COLUMNS}, small[2] = {1, SMALL_SIZE};
    int *values = malloc(sizeof *values * ROWS * COLUMNS);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (!values || file < 0) {
        free(values);
        return 1;
    }
    for (int i = 0; i < ROWS * COLUMNS; i++)
        values[i] = (int)((unsigned)i * 2654435 + 1);
    make_dataset(file, "contiguous", dims, 0, values);
    make_dataset(file, "chunked", dims, 1, values);
    for (int i = 0; i < SMALL; i++) {
        char name[32];
        snprintf(name, sizeof name, "small%d", i);
        make_dataset(file, name, small, 0, values + i);
    }
    free(values);
    return H5Fclose(file) < 0;
}

struct selection {
    hsize_t start[2], stride[2], count[2];
};

static const struct pattern {
    const char *name, *dataset;
    struct selection selection;
    int step; /* rows between selections that are read one after the other; 0: one */
} patterns[] = {
    {"every_2nd", "contiguous", {{0, 1}, {1, 2}, {ROWS, COLUMNS / 2}}, 0},
    {"every_64th", "contiguous", {{0, 1}, {1, 64}, {ROWS, COLUMNS / 64}}, 0},
    {"every_64th_row", "contiguous", {{0, 0}, {64, 1}, {ROWS / 64, COLUMNS}}, 0},
    {"column", "contiguous", {{0, 700}, {1, 1}, {ROWS, 1}}, 0},
    {"half_rows", "contiguous", {{0, 0}, {1, 1}, {ROWS, COLUMNS / 2}}, 0},
    {"row_by_row", "contiguous", {{0, 0}, {1, 1}, {1, COLUMNS}}, 1},
    {"single_values", "contiguous", {{0, 5}, {1, 1}, {1, 1}}, 1},
    {"all", "contiguous", {{0, 0}, {1, 1}, {ROWS, COLUMNS}}, 0},
    {"chunks_all", "chunked", {{0, 0}, {1, 1}, {ROWS, COLUMNS}}, 0},
    {"chunks_every_2nd", "chunked", {{0, 1}, {1, 2}, {ROWS, COLUMNS / 2}}, 0},
    {"chunks_column", "chunked", {{0, 700}, {1, 1}, {ROWS, 1}}, 0},
    {"chunks_diagonal", "chunked", {{30, 30}, {CHUNK, CHUNK}, {ROWS / CHUNK, COLUMNS / CHUNK}}, 0},
    {"chunks_by_64_rows", "chunked", {{0, 0}, {1, 1}, {CHUNK, COLUMNS}}, CHUNK},
};

static void mix(unsigned long long *sum, const int *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *sum = (*sum ^ (unsigned)values[i]) * 1099511628211ULL;
}

static herr_t read_pattern(hid_t file, const struct pattern *pattern, unsigned long long *sum)
{
    hid_t dapl = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_chunk_cache(dapl, 0, 0, 0); /* as chunks that are larger than the cache */
    hid_t d = H5Dopen2(file, pattern->dataset, dapl), space = H5Dget_space(d);
    struct selection s = pattern->selection;
    hid_t memory = H5Screate_simple(2, s.count, NULL);
    size_t n = (size_t)(s.count[0] * s.count[1]);
    int *values = malloc(n * sizeof *values);
    herr_t result = values ? 0 : -1;
    for (; result >= 0 && s.start[0] < ROWS; s.start[0] += (hsize_t)(pattern->step ? pattern->step : ROWS)) {
        H5Sselect_hyperslab(space, H5S_SELECT_SET, s.start, s.stride, s.count, NULL);
        result = H5Dread(d, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, values);
        mix(sum, values, n);
    }
    free(values);
    H5Sclose(memory);
    H5Sclose(space);
    H5Pclose(dapl);
    H5Dclose(d);
    return result;
}

static herr_t read_small(hid_t file, unsigned long long *sum)
{
    int values[SMALL_SIZE];
    herr_t result = 0;
    for (int i = 0; result >= 0 && i < SMALL; i++) {
        char name[32];
        snprintf(name, sizeof name, "small%d", i * 777 % SMALL);
        hid_t d = H5Dopen2(file, name, H5P_DEFAULT);
        result = H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
        mix(sum, values, SMALL_SIZE);
        H5Dclose(d);
    }
    return result;
}

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The seconds that a reading takes, by each clock, or a negative number. */
static double once(const char *path, hid_t fapl, const char *name, unsigned long long *sum, double *cpu)
{
    const size_t count = sizeof patterns / sizeof *patterns;
    size_t i = 0;
    double start = now(CLOCK_MONOTONIC), cpu_start = now(CLOCK_PROCESS_CPUTIME_ID);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, fapl);
    *sum = 14695981039346656037ULL;
    *cpu = 0;
    while (i < count && strcmp(patterns[i].name, name) != 0)
        i++;
    if (file < 0 || (i == count && strcmp(name, "small") != 0))
        return -1;
    herr_t result = i < count ? read_pattern(file, &patterns[i], sum) : read_small(file, sum);
    H5Fclose(file);
    *cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu_start;
    return result < 0 ? -1 : now(CLOCK_MONOTONIC) - start;
}

int main(int argc, char **argv)
{
    struct H5FD_h5vec_config config = {.sizeof_config = sizeof config, .image = H5FD_H5VEC_IMAGE_NEVER};
    if (argc == 3 && strcmp(argv[1], "make") == 0)
        return make(argv[2]);
    if (argc < 4) {
        fprintf(stderr, "usage: read_raw make FILE | read_raw sec2|h5vec FILE PATTERN [REPEAT]\n");
        return 2;
    }
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    if ((strcmp(argv[1], "h5vec") == 0 ? H5Pset_fapl_h5vec(fapl, &config) : H5Pset_fapl_sec2(fapl)) < 0)
        return 1;
    double best = -1, best_cpu = -1, cpu;
    unsigned long long sum = 0;
    for (int i = argc > 4 ? atoi(argv[4]) : 3; i > 0; i--) {
        double seconds = once(argv[2], fapl, argv[3], &sum, &cpu);
        if (seconds < 0)
            return 1;
        best_cpu = best_cpu < 0 || cpu < best_cpu ? cpu : best_cpu;
        best = best < 0 || seconds < best ? seconds : best;
    }
    H5Pclose(fapl);
    printf(
        "{\"driver\": \"%s\", \"pattern\": \"%s\", \"seconds\": %.5f, \"cpu\": %.5f, \"sum\": \"%016llx\"}\n",
        argv[1], argv[3], best, best_cpu, sum);
    return 0;
}

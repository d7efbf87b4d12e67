/* SPDX-License-Identifier: BSD-3-Clause
 *
 * make_files CASE PLACED PLAIN: the same content twice. PLACED is built by placement: this process writes the
 * metadata, forked ones write every byte of the raw data. PLAIN is written with H5Dwrite and HDF5's own
 * driver. CASE is a line of the table below, or "killed": PLACED is left by a process that died before
 * H5Fclose.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "H5FDh5vec.h"

enum { WRITERS = 3, BATCH = 100 };

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "make_files: line %d: %s\n", __LINE__, #condition);                              \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

/* Dataset number i has n(i) ints in chunks of `chunk` (0: contiguous). */
struct content {
    const char *name;
    int datasets;
    hsize_t n, vary, chunk; /* n + i % vary */
    bool extendible, deflate;
};

static const struct content contents[] = {
    {"chunks0", 1, 0, 1, 100, true, false},
    {"chunks0_fixed", 1, 50, 1, 50, false, false}, /* one chunk, fixed, single chunk index */
    {"chunks1", 1, 100, 1, 100, true, false},
    {"chunks1_partial", 1, 37, 1, 100, true, true},
    {"million_extendible", 1, 4000000, 1, 4, true, false},
    {"million_fixed", 1, 3999999, 1, 4, false, false},
    {"contiguous", 5, 1000000, 3, 0, false, false},
    {"datasets16000", 16000, 1, 150, 64, true, true},
};

struct piece {
    haddr_t addr;
    int dataset;
    hsize_t first; /* element */
    hsize_t size;  /* encoded bytes */
};

static struct {
    struct piece *at;
    size_t n, room;
} pieces;

static int value(int dataset, hsize_t i)
{
    return (int)((hsize_t)dataset * 7919 + i * 31 % 1009 + i);
}

static hsize_t count(const struct content *c, int dataset)
{
    return c->n + (hsize_t)dataset % c->vary;
}

static hsize_t piece_elements(const struct content *c, int dataset)
{
    return c->chunk ? c->chunk : count(c, dataset);
}

/* The bytes of a piece as they stand in the file, in a buffer of the caller's. Edge chunks are padded with 0.
 */
static hsize_t encode(const struct content *c, int dataset, hsize_t first, void *raw, void *out)
{
    hsize_t n = count(c, dataset), elements = piece_elements(c, dataset);
    int *values = c->deflate ? raw : out;
    for (hsize_t i = 0; i < elements; i++)
        values[i] = first + i < n ? value(dataset, first + i) : 0;
    uLongf size = compressBound((uLong)(elements * sizeof(int)));
    if (!c->deflate)
        return elements * sizeof(int);
    CHECK(compress2(out, &size, raw, (uLong)(elements * sizeof(int)), 6) == Z_OK);
    return size;
}

static void *buffer(const struct content *c)
{
    void *bytes = malloc(compressBound((uLong)(piece_elements(c, 2) * sizeof(int))) + 64);
    CHECK(bytes);
    return bytes;
}

/* Encode for the sizes; addresses come later. */
static hsize_t plan(const struct content *c, int from, int to)
{
    void *raw = buffer(c), *out = buffer(c);
    hsize_t total = 0;
    for (int d = from; d < to; d++)
        for (hsize_t first = 0; first < count(c, d); first += piece_elements(c, d)) {
            if (pieces.n == pieces.room) {
                pieces.room = pieces.room ? 2 * pieces.room : 1024;
                CHECK((pieces.at = realloc(pieces.at, pieces.room * sizeof *pieces.at)));
            }
            hsize_t size = encode(c, d, first, raw, out);
            pieces.at[pieces.n++] = (struct piece){total, d, first, size};
            total += size;
        }
    free(raw);
    free(out);
    return total;
}

static hid_t create_dataset(hid_t file, const struct content *c, int d)
{
    char name[32];
    hsize_t n = count(c, d), max = c->extendible ? H5S_UNLIMITED : n;
    hid_t space = H5Screate_simple(1, &n, &max), dcpl = H5Pcreate(H5P_DATASET_CREATE);
    if (c->chunk) {
        CHECK(H5Pset_chunk(dcpl, 1, &c->chunk) >= 0);
        H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_INCR);
    } else {
        H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY);
    }
    if (c->deflate)
        H5Pset_deflate(dcpl, 6);
    H5Pset_obj_track_times(dcpl, false);
    snprintf(name, sizeof name, "dataset%d", d);
    hid_t dataset = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    CHECK(dataset >= 0);
    hid_t scalar = H5Screate(H5S_SCALAR);
    hid_t a = H5Acreate2(dataset, "index", H5T_NATIVE_INT, scalar, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(H5Awrite(a, H5T_NATIVE_INT, &d) >= 0);
    H5Aclose(a);
    H5Sclose(scalar);
    H5Sclose(space);
    H5Pclose(dcpl);
    return dataset;
}

static void place_batch(hid_t file, const struct content *c, int from, int to)
{
    size_t p = pieces.n;
    haddr_t start;
    hsize_t total = plan(c, from, to);
    CHECK(H5FD_h5vec_reserve(file, total, &start) >= 0);
    void *rubbish = buffer(c);
    memset(rubbish, 0xdd, compressBound((uLong)(piece_elements(c, 2) * sizeof(int))));
    for (int d = from; d < to; d++) {
        if (!c->chunk) {
            pieces.at[p].addr += start;
            CHECK(H5FD_h5vec_place(file, pieces.at[p].addr, pieces.at[p].size) >= 0);
            p++;
        }
        hid_t dataset = create_dataset(file, c, d);
        for (; c->chunk && p < pieces.n && pieces.at[p].dataset == d; p++) {
            struct piece *piece = &pieces.at[p];
            piece->addr += start;
            CHECK(H5FD_h5vec_place(file, piece->addr, piece->size) >= 0);
            CHECK(H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, &piece->first, piece->size, rubbish) >= 0);
        }
        H5Dclose(dataset);
    }
    free(rubbish);
}

static void write_share(const char *path, const struct content *c, size_t rank)
{
    void *raw = buffer(c), *out = buffer(c);
    int fd = open(path, O_WRONLY);
    for (size_t p = rank; p < pieces.n; p += WRITERS) {
        const struct piece *piece = &pieces.at[p];
        hsize_t size = encode(c, piece->dataset, piece->first, raw, out);
        if (size != piece->size || pwrite(fd, out, size, (off_t)piece->addr) != (ssize_t)size)
            _exit(1);
    }
    _exit(fsync(fd) != 0);
}

static void write_raw_data(const char *path, const struct content *c)
{
    int status;
    for (size_t rank = 0; rank < WRITERS; rank++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0)
            write_share(path, c, rank);
    }
    for (int i = 0; i < WRITERS; i++)
        CHECK(wait(&status) > 0 && status == 0);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void make_placed(const char *path, const struct content *c, bool kill_self)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), fcpl = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_libver_bounds(fapl, H5F_LIBVER_V110, H5F_LIBVER_V110);
    H5Pset_file_space_strategy(fcpl, H5F_FSPACE_STRATEGY_NONE, 0, 1);
    CHECK(H5Pset_fapl_h5vec(fapl, NULL) >= 0);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, fcpl, fapl);
    CHECK(file >= 0);
    double start = seconds();
    for (int d = 0; d < c->datasets; d += BATCH)
        place_batch(file, c, d, d + BATCH < c->datasets ? d + BATCH : c->datasets);
    double placed = seconds();
    write_raw_data(path, c);
    double written = seconds();
    if (kill_self) {
        H5Fflush(file, H5F_SCOPE_GLOBAL);
        kill(getpid(), SIGKILL);
    }
    CHECK(H5Fclose(file) >= 0);
    printf("placed in %.2f s, raw data in %.2f s, closed in %.2f s\n", placed - start, written - placed,
           seconds() - written);
    H5Pclose(fapl);
    H5Pclose(fcpl);
}

/* H5Dwrite needs 10 microseconds a chunk: for a million of them, chunk by chunk. */
static void write_plain(hid_t dataset, const struct content *c, int d, const int *values)
{
    hsize_t n = count(c, d);
    if (!c->chunk || c->deflate || n / c->chunk < 100000) {
        CHECK(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
        return;
    }
    for (hsize_t i = 0; i < n; i += c->chunk)
        CHECK(H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, &i, c->chunk * sizeof(int), values + i) >= 0);
}

static void make_plain(const char *path, const struct content *c)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(fapl, H5F_LIBVER_V110, H5F_LIBVER_V110);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    CHECK(file >= 0);
    int *values = calloc(c->n + c->vary + c->chunk, sizeof *values);
    CHECK(values);
    for (int d = 0; d < c->datasets; d++) {
        for (hsize_t i = 0; i < count(c, d); i++)
            values[i] = value(d, i);
        hid_t dataset = create_dataset(file, c, d);
        write_plain(dataset, c, d, values);
        H5Dclose(dataset);
    }
    free(values);
    CHECK(H5Fclose(file) >= 0);
    H5Pclose(fapl);
}

int main(int argc, char **argv)
{
    CHECK(argc == 4);
    bool killed = strcmp(argv[1], "killed") == 0;
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++)
        if (killed ? i == 2 : strcmp(argv[1], contents[i].name) == 0) {
            make_placed(argv[2], &contents[i], killed);
            make_plain(argv[3], &contents[i]);
            free(pieces.at);
            return 0;
        }
    fprintf(stderr, "make_files: no case '%s'\n", argv[1]);
    return 2;
}

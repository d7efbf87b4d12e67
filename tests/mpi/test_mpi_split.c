/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One text read by many ranks: every way of splitting and of reading, with blocks from smaller than a record
 * to larger than a share, gives the rows that were written. The rows' values follow from their numbers, and
 * are read back with HDF5.
 */
#include "mpi_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "h5vcat.h"
#include "h5vec_hdf5.h"

#define ROWS 40
#define POINT 21 /* bytes of a point's WKB */

static char in[64], out[64];

/* Record i has a point (i 7) and so much text, with newlines and quotes if they may be there. */
static size_t fill(int i)
{
    return i % 20 == 11 ? 1500 : (size_t)(i * 7 % 23) + 1;
}

static char letter(int i, size_t k, bool any)
{
    static const char letters[] = "a\n\"\n,\rb";
    return (char)(any ? letters[(k * 5 + (size_t)i) % 7] : 'a' + (int)k % 26);
}

enum kind { WKT, CSV };

struct layout {
    enum kind kind;
    const char *prefix, *end; /* before the first line; of each line */
    bool last;                /* the last line has an end */
    int rows;
};

static const struct layout layouts[] = {
    {WKT, "", "\n", true, ROWS},
    {WKT, "\xEF\xBB\xBF", "\r\n", false, ROWS},
    {WKT, "\n \r\n", "\n\n", true, ROWS},
    {WKT, "", "\n", false, 2},
    {WKT, "", "", false, 0},
    {WKT, "\n\r\n\n \n", "", false, 0},
    {CSV, "", "\n", true, ROWS},
    {CSV, "\xEF\xBB\xBF", "\r\n", false, ROWS},
    {CSV, "", "\n", false, 1},
    {CSV, "", "\n", true, 0},
};

static void write_record(FILE *f, const struct layout *l, int i)
{
    fprintf(f, l->kind == CSV ? "\"POINT (%d 7)\",\"" : "POINT (%d 7)\t", i);
    for (size_t k = 0; k < fill(i); k++) {
        char c = letter(i, k, l->kind == CSV);
        fputc(c, f);
        if (c == '"')
            fputc(c, f);
    }
    fputs(l->kind == CSV ? "\"" : "", f);
    fputs(i + 1 < l->rows || l->last ? l->end : "", f);
}

static void make_text(const struct layout *l)
{
    if (rank == 0) {
        FILE *f = fopen(in, "w");
        ck_assert_ptr_nonnull(f);
        fputs(l->prefix, f);
        if (l->kind == CSV)
            fprintf(f, "\"WKT\",\"te\"\"xt\n\"%s", l->end); /* a newline in the header, too */
        for (int i = 0; i < l->rows; i++)
            write_record(f, l, i);
        fclose(f);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All of a dataset's elements; *n of them. */
static void *read_all(hid_t layer, const char *path, hid_t type, hsize_t *n)
{
    hid_t dset = H5Dopen2(layer, path, H5P_DEFAULT), space = H5Dget_space(dset);
    ck_assert_int_eq(H5Sget_simple_extent_dims(space, n, NULL), 1);
    void *values = calloc(*n + 1, 8);
    ck_assert_int_ge(H5Dread(dset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
    H5Sclose(space);
    H5Dclose(dset);
    return values;
}

static void check_points(hid_t layer, int rows)
{
    hsize_t n;
    uint8_t *wkb = read_all(layer, "geometry/wkb", H5T_NATIVE_UINT8, &n);
    ck_assert_uint_eq(n, (hsize_t)rows * POINT);
    for (int i = 0; i < rows; i++) {
        double x, y;
        memcpy(&x, wkb + (size_t)i * POINT + 5, 8);
        memcpy(&y, wkb + (size_t)i * POINT + 13, 8);
        ck_assert_double_eq(x, i);
        ck_assert_double_eq(y, 7);
    }
    free(wkb);
}

static void check_texts(hid_t layer, const char *column, const struct layout *l)
{
    hsize_t n, rows;
    char path[128];
    snprintf(path, sizeof path, "columns/%s/data", column);
    char *data = read_all(layer, path, H5T_NATIVE_UINT8, &n);
    snprintf(path, sizeof path, "columns/%s/offsets", column);
    int64_t *offsets = read_all(layer, path, H5T_NATIVE_INT64, &rows);
    ck_assert_uint_eq(rows, (hsize_t)l->rows + 1);
    int64_t at = 0;
    for (int i = 0; i < l->rows; i++) {
        ck_assert_int_eq(offsets[i], at);
        for (size_t k = 0; k < fill(i); k++)
            ck_assert_int_eq(data[at++], letter(i, k, l->kind == CSV));
    }
    ck_assert_int_eq(offsets[l->rows], at);
    ck_assert_uint_eq(n, (hsize_t)at);
    free(data);
    free(offsets);
}

static void check_output(const struct layout *l)
{
    if (rank == 0) {
        hid_t file = H5Fopen(out, H5F_ACC_RDONLY, H5P_DEFAULT), layer = H5Gopen2(file, "layer", H5P_DEFAULT);
        check_points(layer, l->rows);
        if (l->kind == CSV || l->rows > 0) {
            char name[32];
            hid_t columns = H5Gopen2(layer, "columns", H5P_DEFAULT);
            ck_assert_int_gt(H5Lget_name_by_idx(columns, ".", H5_INDEX_NAME, H5_ITER_INC, 0, name,
                                                sizeof name, H5P_DEFAULT),
                             0);
            H5Gclose(columns);
            check_texts(layer, name, l);
        }
        H5Gclose(layer);
        H5Fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void merge_and_check(const struct layout *l, int split, int read, uint64_t block, bool skip)
{
    struct h5vcat_report report = {0};
    struct h5vec_error err = {0};
    const char *inputs[] = {in};
    struct h5vcat_options o = {.sizeof_options = sizeof o,
                               .output = out,
                               .inputs = inputs,
                               .input_count = 1,
                               .force = true,
                               .split = (enum h5vcat_split)split,
                               .read = (enum h5vcat_read)read,
                               .block_size = block,
                               .on_bad = skip ? H5VCAT_BAD_SKIP : H5VCAT_BAD_STOP};
    enum h5vec_status st = h5vcat_merge(MPI_COMM_WORLD, &o, &report, &err);
    ck_assert_msg(st == H5VEC_OK, "split %d, read %d, block %u: %s", split, read, (unsigned)block, err.msg);
    check_output(l);
}

/* Every layout in every way, every way with every size of blocks; where there are more ranks than two, which
 * may have to take turns on the machine, each layout in one of the six ways. */
START_TEST(the_same_rows)
{
    static const uint64_t blocks[] = {0, 23, 300, 1 << 20};
    make_text(&layouts[_i]);
    int first = ranks > 2 ? (_i + ranks) % 6 : 0, end = ranks > 2 ? first + 1 : 6;
    for (int way = first; way < end; way++)
        merge_and_check(&layouts[_i], way % 2, way / 2, blocks[(way + _i) % 4], (way + _i) / 4 % 2);
    if (rank == 0) {
        unlink(in);
        unlink(out);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
END_TEST

int main(int argc, char **argv)
{
    begin_mpi(&argc, &argv);
    snprintf(in, sizeof in, "mpi_split_%d.txt", ranks);
    snprintf(out, sizeof out, "mpi_split_%d.h5", ranks);
    Suite *s = suite_create("mpi_split");
    TCase *t = tcase_create("texts");
    tcase_add_loop_test(t, the_same_rows, 0, (int)(sizeof layouts / sizeof *layouts));
    suite_add_tcase(s, t);
    return run_mpi_suite(s);
}

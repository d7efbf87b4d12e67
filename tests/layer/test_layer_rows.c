/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Layers written and read back in C: batches of every size, columns of both kinds, and what is refused.
 */
#include "layer_test.h"

enum { ROWS = 300 };

struct pair {
    int16_t a;
    double b;
};

static hid_t pair_type(void)
{
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(struct pair));
    H5Tinsert(type, "a", HOFFSET(struct pair, a), H5T_NATIVE_INT16);
    H5Tinsert(type, "b", HOFFSET(struct pair, b), H5T_NATIVE_DOUBLE);
    return type;
}

/* Values of row i of the columns: text "t<i>" (none where i % 3 = 0), a compound, a 2 x 3 matrix of shorts.
 */
struct columns {
    char text[ROWS * 8];
    int64_t text_offsets[ROWS + 1];
    uint8_t text_valid[ROWS];
    struct pair pair[ROWS];
    int16_t matrix[ROWS][2][3];
};

static void fill_columns(struct columns *columns)
{
    memset(columns, 0, sizeof *columns);
    for (int i = 0; i < ROWS; i++) {
        columns->text_valid[i] = i % 3 != 0;
        int length = i % 3 ? snprintf(columns->text + columns->text_offsets[i], 8, "t%d", i) : 0;
        columns->text_offsets[i + 1] = columns->text_offsets[i] + length;
        columns->pair[i].a = (int16_t)i;
        columns->pair[i].b = i / 3.0;
        for (int k = 0; k < 6; k++)
            columns->matrix[i][k / 3][k % 3] = (int16_t)(100 * i + k);
    }
}

/* Append rows [i, j) of the sample. */
static void append(struct h5vec_layer_writer *writer, const struct rows *rows, const struct columns *columns,
                   size_t i, size_t j)
{
    int64_t offsets[ROWS + 1], text_offsets[ROWS + 1];
    for (size_t k = i; k <= j; k++) {
        offsets[k - i] = rows->offsets[k] - rows->offsets[i];
        text_offsets[k - i] = columns->text_offsets[k] - columns->text_offsets[i];
    }
    struct h5vec_layer_values values[] = {
        {columns->text + columns->text_offsets[i], text_offsets, columns->text_valid + i},
        {columns->pair + i, NULL, NULL},
        {columns->matrix + i, NULL, NULL},
    };
    struct h5vec_layer_rows part = {.rows = j - i,
                                    .wkb = rows->wkb + rows->offsets[i],
                                    .offsets = offsets,
                                    .box = rows->box + i,
                                    .valid = rows->valid + i,
                                    .vertices = rows->vertices + i,
                                    .columns = values};
    ck_ok(h5vec_layer_writer_append(writer, &part, &err));
}

/* Write the sample as layer "deep/er", step rows an append and chunks of so many bytes. */
static void write_sample(hid_t file, const struct rows *rows, const struct columns *columns, size_t step,
                         uint64_t chunk_bytes)
{
    hid_t type = pair_type();
    struct h5vec_layer_column_def defs[] = {
        {.name = "te/xt", .kind = H5VEC_LAYER_TEXT},
        {.name = "pair", .kind = H5VEC_LAYER_FIXED, .shape = {.type = type}},
        {.name = "pair", .kind = H5VEC_LAYER_FIXED, .shape = {H5T_NATIVE_INT16, 2, {2, 3}}},
    };
    struct h5vec_layer_storage storage = h5vec_layer_storage_default();
    storage.chunk_bytes = chunk_bytes;
    struct h5vec_layer_writer *writer;
    ck_ok(h5vec_layer_writer_new(file, "deep/er", &storage, defs, 3, &writer, &err));
    H5Tclose(type); /* the writer has its own */
    for (size_t i = 0; i < ROWS; i += step)
        append(writer, rows, columns, i, i + step < ROWS ? i + step : ROWS);
    struct h5vec_layer_geo geo;
    h5vec_layer_geo_init(&geo);
    geo.types = rows->types;
    ck_ok(h5vec_layer_writer_finish(writer, &geo, &err));
    h5vec_layer_writer_free(writer);
}

static void print_finding(void *context, const char *line)
{
    (void)context;
    fprintf(stderr, "%s\n", line);
}

static void ignore_finding(void *context, const char *line)
{
    (void)context;
    (void)line;
}

static void check_clean(hid_t loc, const char *path)
{
    uint64_t findings = 99;
    ck_ok(h5vec_layer_check(loc, path, print_finding, NULL, &findings, &err));
    ck_assert_uint_eq(findings, 0);
}

static void check_batch(struct h5vec_layer *layer, const struct rows *rows, size_t i, size_t j)
{
    struct h5vec_layer_batch batch;
    ck_ok(h5vec_layer_read(layer, i, j, H5VEC_LAYER_READ_ALL, &batch, &err));
    ck_assert_uint_eq(batch.first_row, i);
    ck_assert_uint_eq(batch.rows, j - i);
    ck_assert_int_eq(batch.first_byte, rows->offsets[i]);
    for (size_t k = 0; k <= j - i; k++)
        ck_assert_int_eq(batch.offsets[k], rows->offsets[i + k] - rows->offsets[i]);
    if (batch.offsets[j - i] > 0)
        ck_assert_mem_eq(batch.wkb, rows->wkb + rows->offsets[i], (size_t)batch.offsets[j - i]);
    if (j > i) {
        ck_assert_mem_eq(batch.box, rows->box + i, (j - i) * sizeof *rows->box);
        ck_assert_mem_eq(batch.valid, rows->valid + i, j - i);
    }
}

static void check_columns(struct h5vec_layer *layer, const struct columns *columns, size_t i, size_t j)
{
    const struct h5vec_layer_info *info = h5vec_layer_info(layer);
    struct h5vec_layer_values values;
    ck_assert_uint_eq(info->columns, 3); /* by link name */
    ck_assert_str_eq(info->column[0].link, "pair");
    ck_assert_str_eq(info->column[1].link, "pair_2");
    ck_assert_str_eq(info->column[1].original, "pair");
    ck_assert_str_eq(info->column[2].link, "te%2Fxt");
    ck_assert_str_eq(info->column[2].original, "te/xt");
    ck_assert(info->column[2].has_valid && !info->column[0].has_valid);
    ck_ok(h5vec_layer_read_column(layer, 0, i, j, &values, &err));
    ck_assert_uint_eq(info->column[0].row_bytes, sizeof(struct pair));
    for (size_t k = 0; k < j - i; k++) {
        const struct pair *pair = (const struct pair *)values.data + k;
        ck_assert(pair->a == columns->pair[i + k].a && pair->b == columns->pair[i + k].b);
    }
    ck_ok(h5vec_layer_read_column(layer, 1, i, j, &values, &err));
    ck_assert_uint_eq(info->column[1].row_bytes, 12);
    ck_assert_int_eq(memcmp(values.data, columns->matrix + i, 12 * (j - i)), 0);
    ck_ok(h5vec_layer_read_column(layer, 2, i, j, &values, &err));
    int64_t first = columns->text_offsets[i];
    for (size_t k = 0; k <= j - i; k++)
        ck_assert_int_eq(values.offsets[k], columns->text_offsets[i + k] - first);
    ck_assert_int_eq(memcmp(values.data, columns->text + first, (size_t)values.offsets[j - i]), 0);
    ck_assert_int_eq(memcmp(values.valid, columns->text_valid + i, j - i), 0);
}

START_TEST(test_round_trip)
{
    static const size_t steps[] = {1, 7, 50, 299, 300};
    static const uint64_t chunks[] = {16, 100, 1000, 0}; /* 16 bytes: less than a box, a chunk of one row */
    struct rows rows = make_rows(ROWS);
    struct columns *columns = malloc(sizeof *columns);
    fill_columns(columns);
    for (size_t s = 0; s < 5; s++)
        for (size_t c = 0; c < 4; c++) {
            hid_t file = memory_file();
            write_sample(file, &rows, columns, steps[s], chunks[c]);
            check_clean(file, "deep/er");
            struct h5vec_layer *layer;
            ck_ok(h5vec_layer_open(file, "deep/er", &layer, &err));
            const struct h5vec_layer_info *info = h5vec_layer_info(layer);
            ck_assert_uint_eq(info->rows, ROWS);
            ck_assert_uint_eq(info->wkb_bytes, (uint64_t)rows.offsets[ROWS]);
            ck_assert_uint_eq(info->geo->types, rows.types);
            ck_assert(info->has_valid && !info->has_rtree && info->blocks == 1);
            for (size_t i = 0; i <= ROWS; i += 37)
                for (size_t j = i; j <= ROWS; j += 51) {
                    check_batch(layer, &rows, i, j);
                    check_columns(layer, columns, i, j);
                }
            h5vec_layer_free(layer);
            ck_assert_int_eq(H5Fget_obj_count(file, H5F_OBJ_ALL), 1); /* nothing left open */
            H5Fclose(file);
        }
    free(columns);
    free_rows(&rows);
}
END_TEST

START_TEST(test_fit)
{
    struct rows rows = make_rows(ROWS);
    struct columns *columns = malloc(sizeof *columns);
    fill_columns(columns);
    hid_t file = memory_file();
    write_sample(file, &rows, columns, 100, 0);
    struct h5vec_layer *layer;
    ck_ok(h5vec_layer_open(file, "deep/er", &layer, &err));
    for (uint64_t i = 0; i < ROWS; i += 13)
        for (uint64_t max_rows = 1; max_rows < 400; max_rows = max_rows * 3 + 1)
            for (uint64_t max_bytes = 0; max_bytes < 8000; max_bytes = max_bytes * 2 + 5) {
                uint64_t right = i, j = 0;
                while (right < ROWS && right - i < max_rows &&
                       (uint64_t)(rows.offsets[right + 1] - rows.offsets[i]) <= max_bytes)
                    right++;
                ck_ok(h5vec_layer_fit(layer, i, max_rows, max_bytes, &j, &err));
                ck_assert_uint_eq(j, right == i ? i + 1 : right);
            }
    uint64_t j;
    ck_ok(h5vec_layer_fit(layer, ROWS, 5, 5, &j, &err));
    ck_assert_uint_eq(j, ROWS);
    int64_t two[2];
    ck_ok(h5vec_layer_offsets(layer, ROWS - 1, 2, two, &err));
    ck_assert(two[0] == rows.offsets[ROWS - 1] && two[1] == rows.offsets[ROWS]);
    struct h5vec_layer_batch batch;
    struct h5vec_layer_values values;
    ck_fails(h5vec_layer_read(layer, 5, 4, 0, &batch, &err), H5VEC_E_ARG, "rows");
    ck_fails(h5vec_layer_read(layer, 0, ROWS + 1, 0, &batch, &err), H5VEC_E_ARG, "rows");
    ck_fails(h5vec_layer_read_column(layer, 3, 0, 1, &values, &err), H5VEC_E_ARG, "column");
    ck_ok(h5vec_layer_read(layer, 0, 5, 0, &batch, &err)); /* offsets alone */
    ck_assert(!batch.wkb && !batch.box && !batch.valid && batch.offsets[5] == rows.offsets[5]);
    h5vec_layer_free(layer);
    H5Fclose(file);
    free(columns);
    free_rows(&rows);
}
END_TEST

START_TEST(test_no_rows)
{
    hid_t file = memory_file();
    struct h5vec_layer_writer *writer;
    struct h5vec_layer_column_def def = {.name = "text", .kind = H5VEC_LAYER_TEXT};
    struct h5vec_layer_geo geo;
    struct h5vec_layer *layer;
    h5vec_layer_geo_init(&geo);
    ck_ok(h5vec_layer_writer_new(file, "none", NULL, &def, 1, &writer, &err));
    ck_ok(h5vec_layer_writer_finish(writer, &geo, &err));
    h5vec_layer_writer_free(writer);
    check_clean(file, "none");
    ck_ok(h5vec_layer_open(file, "none", &layer, &err));
    ck_assert_uint_eq(h5vec_layer_info(layer)->rows, 0);
    struct h5vec_layer_batch batch;
    ck_ok(h5vec_layer_read(layer, 0, 0, H5VEC_LAYER_READ_ALL, &batch, &err));
    ck_assert(batch.rows == 0 && batch.offsets[0] == 0);
    h5vec_layer_free(layer);
    h5vec_layer_free(NULL);
    h5vec_layer_writer_free(NULL);
    ck_fails(h5vec_layer_writer_new(file, "none", NULL, NULL, 0, &writer, &err), H5VEC_E_HDF5, "none");
    H5Fclose(file);
}
END_TEST

/* Offsets from a file are not believed: the read fails before anything is allocated for them. */
START_TEST(test_wild_offsets)
{
    static const int64_t wild[] = {-1, INT64_MIN, INT64_MAX, 1 << 20};
    struct rows rows = make_rows(ROWS);
    struct columns *columns = malloc(sizeof *columns);
    fill_columns(columns);
    for (size_t w = 0; w < 4; w++)
        for (hsize_t at = 0; at <= ROWS; at += 150) {
            hid_t file = memory_file();
            write_sample(file, &rows, columns, 100, 0);
            hid_t dataset = H5Dopen2(file, "deep/er/geometry/offsets", H5P_DEFAULT),
                  space = H5Dget_space(dataset);
            hid_t one = H5Screate(H5S_SCALAR);
            H5Sselect_elements(space, H5S_SELECT_SET, 1, &at);
            ck_assert_int_ge(H5Dwrite(dataset, H5T_NATIVE_INT64, one, space, H5P_DEFAULT, &wild[w]), 0);
            H5Sclose(one);
            H5Sclose(space);
            H5Dclose(dataset);
            struct h5vec_layer *layer;
            struct h5vec_layer_batch batch = {.rows = 77};
            ck_ok(h5vec_layer_open(file, "deep/er", &layer, &err));
            ck_fails(h5vec_layer_read(layer, 0, ROWS, H5VEC_LAYER_READ_ALL, &batch, &err),
                     H5VEC_E_LAYER_INVALID, "geometry/offsets");
            ck_assert_uint_eq(batch.rows, 77);
            h5vec_layer_free(layer);
            uint64_t findings = 0;
            ck_ok(h5vec_layer_check(file, "deep/er", ignore_finding, NULL, &findings, &err));
            ck_assert_uint_gt(findings, 0);
            H5Fclose(file);
        }
    free(columns);
    free_rows(&rows);
}
END_TEST

START_TEST(test_is_layer)
{
    hid_t file = memory_file();
    bool is = true;
    struct h5vec_layer *layer;
    ck_ok(h5vec_layer_is(file, &is, &err));
    ck_assert(!is);
    ck_fails(h5vec_layer_open(file, ".", &layer, &err), H5VEC_E_LAYER_NOT, "h5vec_version");
    ck_fails(h5vec_layer_open(file, "missing", &layer, &err), H5VEC_E_HDF5, "cannot be opened");
    struct h5vec_layer_geo geo;
    h5vec_layer_geo_init(&geo);
    ck_ok(h5vec_layer_write_attributes(file, &geo, &err));
    ck_ok(h5vec_layer_is(file, &is, &err));
    ck_assert(is);
    ck_fails(h5vec_layer_open(file, ".", &layer, &err), H5VEC_E_LAYER_INVALID, "geometry/offsets: missing");
    H5Fclose(file);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("layer_rows");
    TCase *tcase = tcase_create("rows");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, test_round_trip);
    tcase_add_test(tcase, test_fit);
    tcase_add_test(tcase, test_no_rows);
    tcase_add_test(tcase, test_wild_offsets);
    tcase_add_test(tcase, test_is_layer);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}

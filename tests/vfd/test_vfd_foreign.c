/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text that opens as HDF5: what is there, what is refused and how it is said, memory, and that HDF5 is none
 * the worse for the calls inside its open. Whole files and shapefiles: test_foreign.py.
 */
#include "vfd_test.h"

#include <sys/resource.h>
#include <unistd.h>
#include "h5vec_layer.h"

static const char *path;

static void setup(void)
{
    path = scratch("foreign");
}

static void teardown(void)
{
    unlink(path);
}

static void write_text(const char *text, size_t size)
{
    FILE *f = fopen(path, "wb");
    ck_assert(f && fwrite(text, 1, size, f) == size && fclose(f) == 0);
}

static hid_t foreign_fapl(hsize_t foreign_max, enum H5FD_h5vec_bad bad)
{
    struct H5FD_h5vec_config config = {
        .sizeof_config = sizeof config, .foreign_max = foreign_max, .bad = bad};
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    ck_assert(H5Pset_fapl_h5vec(fapl, &config) >= 0);
    return fapl;
}

static hid_t try_open(unsigned flags, hsize_t foreign_max, enum H5FD_h5vec_bad bad)
{
    hid_t fapl = foreign_fapl(foreign_max, bad);
    hid_t file = H5Fopen(path, flags, fapl);
    if (file >= 0)
        H5Pclose(fapl); /* on failure the error stack is still to be read */
    return file;
}

static hid_t open_text(const char *text)
{
    write_text(text, strlen(text));
    hid_t file = try_open(H5F_ACC_RDONLY, 0, H5FD_H5VEC_BAD_ERROR);
    ck_assert_msg(file >= 0, "%s: %s", text, error_text());
    return file;
}

static void tell(void *context, const char *line)
{
    (void)context;
    ck_abort_msg("%s", line);
}

static void check_layer(hid_t file, uint64_t rows)
{
    uint64_t findings = 0;
    struct h5vec_layer *layer;
    ck_assert_int_eq(h5vec_layer_check(file, "/layer", tell, NULL, &findings, NULL), H5VEC_OK);
    ck_assert_int_eq(h5vec_layer_open(file, "/layer", &layer, NULL), H5VEC_OK);
    ck_assert_uint_eq(h5vec_layer_info(layer)->rows, rows);
    h5vec_layer_free(layer);
}

static const struct {
    const char *text;
    uint64_t rows;
} good[] = {
    {"POINT (1 2)", 1},
    {"POINT (1 2)\r\nPOINT (3 4)\r\n", 2},
    {"\n\nPOINT EMPTY\n\n", 1},
    {"\xEF\xBB\xBFSRID=4326;POINT (1 2)\tname\n", 1},
    {"WKT\n", 0},
    {"id,lon,lat", 0},
    {"id,lon,lat\n1,2,3\n,,\n", 2},
    {"id,\"a/b\",,id,WKT\n1,2,3,4,POINT (1 2)\n,,,,\n", 2},
};

START_TEST(test_good)
{
    hid_t file = open_text(good[_i].text);
    check_layer(file, good[_i].rows);
    ck_assert(H5Fclose(file) >= 0);
}
END_TEST

/* Values by plain HDF5 calls. */
START_TEST(test_values)
{
    hid_t file = open_text("name,Longitude,Latitude\nK\xC3\xBCste,10,54.25\n,,\n");
    static const uint8_t wkb[21] = {1,    1,    0, 0, 0, 0, 0, 0,    0,    0,   0,
                                    0x24, 0x40, 0, 0, 0, 0, 0, 0x20, 0x4b, 0x40};
    uint8_t bytes[21], valid[2];
    int64_t offsets[3];
    char name[7] = "";
    const struct {
        const char *path;
        hid_t type;
        void *to;
        hssize_t count;
    } reads[] = {{"layer/geometry/wkb", H5T_NATIVE_UINT8, bytes, 21},
                 {"layer/geometry/offsets", H5T_NATIVE_INT64, offsets, 3},
                 {"layer/geometry/valid", H5T_NATIVE_UINT8, valid, 2},
                 {"layer/columns/name/data", H5T_NATIVE_UINT8, name, 6}};
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++) {
        hid_t dataset = H5Dopen2(file, reads[i].path, H5P_DEFAULT), space = H5Dget_space(dataset);
        ck_assert(H5Sget_simple_extent_npoints(space) == reads[i].count);
        ck_assert(H5Dread(dataset, reads[i].type, H5S_ALL, H5S_ALL, H5P_DEFAULT, reads[i].to) >= 0);
        H5Sclose(space);
        H5Dclose(dataset);
    }
    ck_assert_mem_eq(bytes, wkb, sizeof wkb);
    ck_assert(offsets[0] == 0 && offsets[1] == 21 && offsets[2] == 21);
    ck_assert(valid[0] == 1 && valid[1] == 0);
    ck_assert_str_eq(name, "K\xC3\xBCste");
    ck_assert(H5Fclose(file) >= 0);
}
END_TEST

static const struct {
    const char *text, *says;
    hsize_t max;
} bad[] = {
    {"POINT (1 2)\nPOINT (1 x)\n", "is not HDF5 but WKT: line 2, column 10: ", 0},
    {"a,WKT\n1,POINT (1 2)\n2\n", "is not HDF5 but CSV: line 3, column 1: 1 field, but the first line has 2",
     0},
    {"lon,lat\n1,2\n1,\n", "line 3, column 3: one coordinate without the other", 0},
    {"x,y,lon,lat\n1,2,3,4\n", "leave those names to the geometry's columns", 0},
    {"SRID=99999;POINT (1 2)\n", "'EPSG:99999' is not a CRS", 0},
    {"lon,lat\n1,2\n", "and foreign_max is 20000 bytes: make a HDF5 file of it with h5vcat", 20000},
    {"hello\n", "nor what can be read as such: neither WKT", 0},
    {"\n \n\n", "nor what can be read as such: it is blank", 0},
    {"\xFF\xFEP", "the text is UTF-16", 0},
    {"", "file signature not found", 0},
};

START_TEST(test_bad)
{
    write_text(bad[_i].text, strlen(bad[_i].text));
    ck_assert(try_open(H5F_ACC_RDONLY, bad[_i].max, H5FD_H5VEC_BAD_ERROR) < 0);
    ck_assert_msg(error_says(bad[_i].says), "%s", error_text());
    ck_assert(_i > 6 || error_says(path) || bad[_i].text[0] == '\0');
}
END_TEST

START_TEST(test_skip)
{
    static const char text[] = "WKT,n\nPOINT (1 2),a\nPOINT (x),b\nPOINT (3 4)\nPOINT (5 6),c\n";
    uint64_t skipped = 0;
    write_text(text, sizeof text - 1);
    hid_t file = try_open(H5F_ACC_RDONLY, 0, H5FD_H5VEC_BAD_SKIP);
    ck_assert_msg(file >= 0, "%s", error_text());
    check_layer(file, 2);
    hid_t attribute = H5Aopen_by_name(file, "layer", "h5vec_skipped", H5P_DEFAULT, H5P_DEFAULT);
    ck_assert(H5Aread(attribute, H5T_NATIVE_UINT64, &skipped) >= 0);
    ck_assert_uint_eq(skipped, 2);
    H5Aclose(attribute);
    ck_assert(H5Fclose(file) >= 0);
    /* Nothing was skipped: no attribute. */
    write_text("POINT (1 2)", 11);
    file = try_open(H5F_ACC_RDONLY, 0, H5FD_H5VEC_BAD_SKIP);
    ck_assert(H5Aexists_by_name(file, "layer", "h5vec_skipped", H5P_DEFAULT) == 0);
    ck_assert(H5Fclose(file) >= 0);
}
END_TEST

START_TEST(test_writing)
{
    hid_t fapl = foreign_fapl(0, H5FD_H5VEC_BAD_ERROR);
    write_text("POINT (1 2)\n", 12);
    ck_assert(try_open(H5F_ACC_RDWR, 0, H5FD_H5VEC_BAD_ERROR) < 0);
    ck_assert_msg(error_says("is not HDF5 but WKT: it can be opened for reading only"), "%s", error_text());
    /* The file is as it was, and may be replaced. */
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, fapl);
    check_layer(file, 1);
    ck_assert(H5Fclose(file) >= 0);
    file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    ck_assert_msg(file >= 0, "%s", error_text());
    ck_assert(H5Fclose(file) >= 0);
    file = H5Fopen(path, H5F_ACC_RDONLY, fapl);
    ck_assert(file >= 0 && !H5Lexists(file, "layer", H5P_DEFAULT));
    ck_assert(H5Fclose(file) >= 0);
    H5Pclose(fapl);
}
END_TEST

/* Both answers without an error. */
START_TEST(test_accessible)
{
    hid_t fapl = foreign_fapl(0, H5FD_H5VEC_BAD_ERROR);
    write_text("POINT (1 2)\n", 12);
    ck_assert_int_gt(H5Fis_accessible(path, fapl), 0);
    ck_assert_int_eq(H5Fis_accessible(path, H5P_DEFAULT), 0);
    write_text("hello\n", 6);
    ck_assert_int_eq(H5Fis_accessible(path, fapl), 0);
    H5Pclose(fapl);
}
END_TEST

/* Text before a HDF5 file is its user block. */
START_TEST(test_user_block)
{
    hid_t fcpl = H5Pcreate(H5P_FILE_CREATE), fapl = foreign_fapl(0, H5FD_H5VEC_BAD_ERROR);
    ck_assert(H5Pset_userblock(fcpl, 2048) >= 0);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, fcpl, H5P_DEFAULT);
    ck_assert(H5Fclose(file) >= 0);
    write_outside(path, 0, "POINT (1 2)\n", 12);
    file = H5Fopen(path, H5F_ACC_RDWR, fapl);
    ck_assert_msg(file >= 0 && !H5Lexists(file, "layer", H5P_DEFAULT), "%s", error_text());
    ck_assert(H5Fclose(file) >= 0);
    H5Pclose(fcpl);
    H5Pclose(fapl);
}
END_TEST

/* Opening inside open, again and again: nothing is left behind, whether it works or not. */
START_TEST(test_many_opens)
{
    hid_t fapl = foreign_fapl(0, H5FD_H5VEC_BAD_ERROR);
    write_text("a,WKT\n1,POINT (1 2)\n", 20);
    hid_t first = H5Fopen(path, H5F_ACC_RDONLY, fapl);
    for (int i = 0; i < 20; i++) {
        hid_t file = H5Fopen(path, H5F_ACC_RDONLY, fapl); /* HDF5 sees that it is the same */
        ck_assert(file >= 0);
        check_layer(file, 1);
        ck_assert(H5Fclose(file) >= 0);
    }
    ck_assert_int_eq((int)H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), 1);
    ck_assert(H5Fclose(first) >= 0);
    write_text("a,WKT\n1,POINT (x)\n", 18);
    for (int i = 0; i < 20; i++)
        ck_assert(H5Fopen(path, H5F_ACC_RDONLY, fapl) < 0);
    ck_assert_int_eq((int)H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
    H5Pclose(fapl);
}
END_TEST

/* HDF5's printing of errors is as it was. */
START_TEST(test_error_printing)
{
    H5E_auto2_t function = NULL;
    void *context = NULL;
    ck_assert(H5Eset_auto2(H5E_DEFAULT, (H5E_auto2_t)H5Eprint2, NULL) >= 0);
    hid_t file = open_text("POINT (1 2)\n");
    check_layer(file, 1);
    ck_assert(H5Eget_auto2(H5E_DEFAULT, &function, &context) >= 0);
    ck_assert(function == (H5E_auto2_t)H5Eprint2);
    ck_assert(H5Eset_auto2(H5E_DEFAULT, NULL, NULL) >= 0);
    ck_assert(H5Fclose(file) >= 0);
}
END_TEST

START_TEST(test_after_h5close)
{
    ck_assert(H5Fclose(open_text("POINT (1 2)\n")) >= 0);
    ck_assert(H5close() >= 0);
    ck_assert(H5Eset_auto2(H5E_DEFAULT, NULL, NULL) >= 0);
    hid_t file = open_text("POINT (1 2)\nPOINT (3 4)\n");
    check_layer(file, 2);
    ck_assert(H5Fclose(file) >= 0);
}
END_TEST

static size_t line_of(char *line, size_t room, int i)
{
    return (size_t)snprintf(line, room, "%d,\"LINESTRING (%d.5 %d, %d %d.25, 1 2, 3 4, 5 6)\"\n", i, i % 180,
                            i % 90, i % 181, i % 91);
}

/* Text of many rows: what its layer takes is seen from the beginning, and at the end. */
START_TEST(test_memory)
{
    enum { ROWS = 100000 };
    char line[128];
    FILE *f = fopen(path, "wb");
    fputs("id,WKT\n", f);
    for (int i = 0; i < ROWS; i++)
        fwrite(line, 1, line_of(line, sizeof line, i), f);
    fclose(f);
    /* About 89 bytes of WKB, 32 of box, 8 of each offset, and the id: 14 MB. */
    ck_assert(try_open(H5F_ACC_RDONLY, 4 << 20, H5FD_H5VEC_BAD_ERROR) < 0);
    ck_assert_msg(error_says("it would take about 1") && error_says("h5vcat"), "%s", error_text());
    ck_assert(try_open(H5F_ACC_RDONLY, 12 << 20, H5FD_H5VEC_BAD_ERROR) < 0);
    ck_assert_msg(error_says("foreign_max is 12582912"), "%s", error_text());
    hid_t file = try_open(H5F_ACC_RDONLY, 32 << 20, H5FD_H5VEC_BAD_ERROR);
    ck_assert_msg(file >= 0, "%s", error_text());
    check_layer(file, ROWS);
    ck_assert(H5Fclose(file) >= 0);
}
END_TEST

/* A line that does not end takes a part of foreign_max, not the file. */
START_TEST(test_long_line)
{
    struct rusage usage;
    size_t size = 64 << 20;
    char *text = malloc(size);
    memset(text, '1', size);
    for (size_t i = 0; i < 7; i++)
        text[i] = "POINT ("[i];
    write_text(text, size);
    free(text);
    getrusage(RUSAGE_SELF, &usage);
    long before = usage.ru_maxrss;
    ck_assert(try_open(H5F_ACC_RDONLY, 8 << 20, H5FD_H5VEC_BAD_ERROR) < 0);
    ck_assert_msg(error_says("the record is longer than"), "%s", error_text());
    getrusage(RUSAGE_SELF, &usage);
    ck_assert_int_lt(usage.ru_maxrss - before, 16 << 10);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("foreign");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, test_good, 0, sizeof good / sizeof good[0]);
    tcase_add_test(tcase, test_values);
    tcase_add_loop_test(tcase, test_bad, 0, sizeof bad / sizeof bad[0]);
    tcase_add_test(tcase, test_skip);
    tcase_add_test(tcase, test_writing);
    tcase_add_test(tcase, test_accessible);
    tcase_add_test(tcase, test_user_block);
    tcase_add_test(tcase, test_many_opens);
    tcase_add_test(tcase, test_error_printing);
    tcase_add_test(tcase, test_after_h5close);
    tcase_add_test(tcase, test_memory);
    tcase_add_test(tcase, test_long_line);
    return run_tests("foreign", tcase);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rules of placement (docs/design.md section 1), each found by breaking it. In most tests every
 * reservation is filled by another process before HDF5 goes on: metadata that strays into one destroys its
 * bytes or is destroyed, and the recorder sees it too.
 */
#include "vfd_record.h"

#include <hdf5_hl.h>
#include <unistd.h>

enum { BIG_ATTRIBUTE = 100 * 1024 };
#define PAGE ((hsize_t)4096)

/* Reservations with known bytes, so that zones have neighbours. */
static struct {
    const char *path;
    haddr_t at[4096];
    int n;
} guards;

static hid_t begin(const char *tag, hsize_t first_zone, hsize_t zone)
{
    guards.path = scratch(tag);
    guards.n = 0;
    hid_t file = create_placed(guards.path, first_zone, zone);
    record_start(file);
    return file;
}

static void guard(hid_t file)
{
    unsigned char bytes[PAGE];
    memset(bytes, 0xa0 + guards.n % 64, sizeof bytes);
    guards.at[guards.n] = record_reserve(file, PAGE);
    write_outside(guards.path, guards.at[guards.n++], bytes, sizeof bytes);
}

/* Close; the file must be whole and the guards' bytes untouched. */
static void finish(hid_t file)
{
    unsigned char bytes[PAGE];
    ck_assert_msg(H5Fclose(file) >= 0, "%s", error_text());
    ck_assert_msg(!record_verdict(), "%s", record_verdict());
    FILE *f = fopen(guards.path, "rb");
    for (int i = 0; i < guards.n; i++) {
        ck_assert(fseek(f, (long)guards.at[i], SEEK_SET) == 0 && fread(bytes, 1, PAGE, f) == PAGE);
        hsize_t j = 0;
        while (j < PAGE && bytes[j] == 0xa0 + i % 64)
            j++;
        ck_assert_msg(j == PAGE, "byte %llu of reservation %d was overwritten", (unsigned long long)j, i);
    }
    fclose(f);
}

static hid_t reopen(void)
{
    hid_t file = H5Fopen(guards.path, H5F_ACC_RDONLY, H5P_DEFAULT);
    ck_assert_msg(file >= 0, "%s", error_text());
    return file;
}

static void done(hid_t file)
{
    H5Fclose(file);
    unlink(guards.path);
}

static hid_t vlen_type(void)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    return type;
}

/* Rule 1: global heaps arrive as raw data and must be written. */
START_TEST(rule1_vlen_string_attribute_survives)
{
    hid_t file = begin("vlen", 1024, 1024), type = vlen_type(), scalar = H5Screate(H5S_SCALAR);
    const char *text = "a text in the global heap";
    guard(file);
    hid_t a = H5Acreate2(file, "text", type, scalar, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert(H5Awrite(a, type, &text) >= 0);
    H5Aclose(a);
    guard(file);
    finish(file);
    file = reopen();
    char *back;
    a = H5Aopen(file, "text", H5P_DEFAULT);
    ck_assert(H5Aread(a, type, &back) >= 0);
    ck_assert_str_eq(back, text);
    H5free_memory(back);
    H5Aclose(a);
    H5Tclose(type);
    H5Sclose(scalar);
    done(file);
}
END_TEST

START_TEST(rule1_attribute_over_64_kib_survives)
{
    hid_t file = begin("big", 1024, 1024);
    hsize_t n = BIG_ATTRIBUTE;
    unsigned char *bytes = malloc(n);
    for (hsize_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)(i * 31 >> 3);
    hid_t space = H5Screate_simple(1, &n, NULL);
    guard(file);
    hid_t a = H5Acreate2(file, "big", H5T_NATIVE_UCHAR, space, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_msg(H5Awrite(a, H5T_NATIVE_UCHAR, bytes) >= 0, "%s", error_text());
    H5Aclose(a);
    guard(file);
    finish(file);
    file = reopen();
    unsigned char *back = calloc(1, n);
    a = H5Aopen(file, "big", H5P_DEFAULT);
    ck_assert(H5Aread(a, H5T_NATIVE_UCHAR, back) >= 0);
    ck_assert(memcmp(back, bytes, n) == 0);
    H5Aclose(a);
    H5Sclose(space);
    free(back);
    free(bytes);
    done(file);
}
END_TEST

START_TEST(rule1_dimension_list_survives)
{
    hid_t file = begin("dims", 1024, 1024);
    guard(file);
    hid_t scale = create_chunked(file, "x", 10, 0, 4, H5P_DEFAULT),
          data = create_chunked(file, "d", 10, 0, 4, H5P_DEFAULT);
    ck_assert(H5DSset_scale(scale, "length") >= 0);
    guard(file);
    ck_assert_msg(H5DSattach_scale(data, scale, 0) >= 0, "%s", error_text());
    guard(file);
    H5Dclose(scale);
    H5Dclose(data);
    finish(file);
    file = reopen();
    data = H5Dopen2(file, "d", H5P_DEFAULT);
    scale = H5Dopen2(file, "x", H5P_DEFAULT);
    ck_assert(H5Aexists(data, "DIMENSION_LIST") > 0);
    ck_assert(H5DSis_attached(data, scale, 0) > 0);
    H5Dclose(scale);
    H5Dclose(data);
    done(file);
}
END_TEST

START_TEST(rule1_virtual_dataset_survives)
{
    hid_t file = begin("virtual", 1024, 1024), dcpl = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t n = 40, part = 10, start;
    hid_t space = H5Screate_simple(1, &n, NULL), source = H5Screate_simple(1, &part, NULL);
    char name[32];
    guard(file);
    for (int i = 0; i < 4; i++) { /* mappings to datasets of the same file */
        start = (hsize_t)i * 10;
        snprintf(name, sizeof name, "part%d", i);
        H5Dclose(create_chunked(file, name, 10, 10, 10, H5P_DEFAULT));
        H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &part, NULL);
        ck_assert(H5Pset_virtual(dcpl, space, ".", name, source) >= 0);
    }
    H5Sselect_all(space);
    hid_t d = H5Dcreate2(file, "all", H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    ck_assert_msg(d >= 0, "%s", error_text());
    H5Dclose(d);
    int values[10];
    haddr_t at = record_reserve(file, 4 * sizeof values);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 10; j++)
            values[j] = i * 10 + j;
        snprintf(name, sizeof name, "part%d", i);
        hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
        ck_assert(place_chunk(file, dataset, 0, at + (haddr_t)i * sizeof values, sizeof values, 0) >= 0);
        write_from_child(guards.path, at + (haddr_t)i * sizeof values, values, sizeof values);
        H5Dclose(dataset);
    }
    guard(file);
    finish(file);
    int *all = read_ints(guards.path, "all", &n);
    ck_assert(n == 40);
    expect_ascending(all, n);
    H5Pclose(dcpl);
    H5Sclose(space);
    H5Sclose(source);
    unlink(guards.path);
}
END_TEST

/* Rule 3: HDF5 grows the last block in place through set_eoa. */
static void grow_root(hsize_t first_zone, hsize_t zone, int every)
{
    hid_t file = begin("root", first_zone, zone), scalar = H5Screate(H5S_SCALAR);
    char name[64];
    int value;
    guard(file);
    for (int i = 0; i < 400; i++) {
        snprintf(name, sizeof name, "group with a rather long name, number %d", i);
        H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        snprintf(name, sizeof name, "attribute %d", i);
        hid_t a = H5Acreate2(file, name, H5T_NATIVE_INT, scalar, H5P_DEFAULT, H5P_DEFAULT);
        ck_assert_msg(H5Awrite(a, H5T_NATIVE_INT, &i) >= 0, "%s", error_text());
        H5Aclose(a);
        if (i % every == 0)
            guard(file);
    }
    ck_assert(record_blocks() > 400);
    finish(file);
    file = reopen();
    for (int i = 0; i < 400; i++) {
        snprintf(name, sizeof name, "group with a rather long name, number %d", i);
        ck_assert(H5Lexists(file, name, H5P_DEFAULT) > 0);
        snprintf(name, sizeof name, "attribute %d", i);
        hid_t a = H5Aopen(file, name, H5P_DEFAULT);
        ck_assert(H5Aread(a, H5T_NATIVE_INT, &value) >= 0 && value == i);
        H5Aclose(a);
    }
    H5Sclose(scalar);
    done(file);
}

START_TEST(rule3_root_header_growth_does_not_overlap)
{
    static const hsize_t zones[] = {1, 200, 512, 1024, 65536};
    grow_root(1, zones[_i], 1);
    grow_root(1, zones[_i], 7);
    grow_root(65536, zones[_i], 1000);
}
END_TEST

/* A block that is the file's last may grow in place: the cursor follows, and the next reservation is behind
 * it. */
START_TEST(rule3_cursor_follows_growth_in_place)
{
    hid_t file = begin("inplace", 1, 1), scalar = H5Screate(H5S_SCALAR);
    char name[64];
    guard(file);
    hid_t group = H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int i = 0; i < 60; i++) {
        snprintf(name, sizeof name, "attribute %d of a group that is last in the file", i);
        H5Aclose(H5Acreate2(group, name, H5T_NATIVE_INT, scalar, H5P_DEFAULT, H5P_DEFAULT));
        if (i % 10 == 9)
            guard(file);
    }
    ck_assert_int_gt(record_extensions(), 0);
    H5Gclose(group);
    H5Sclose(scalar);
    finish(file);
    done(reopen());
}
END_TEST

/* Rule 4 as it is now: a zone may overflow at any time, the driver takes the next from the same cursor. */
START_TEST(rule4_zone_overflows_midway)
{
    hid_t file = begin("overflow", 2048, 1024);
    hsize_t zones, used;
    char name[32];
    int chunk[PAGE / sizeof(int)];
    ck_assert(H5FD_h5vec_usage(file, &zones, &used) >= 0 && zones == used);
    hid_t d = create_chunked(file, "d", 307200, 0, 1024, H5P_DEFAULT);
    haddr_t at = record_reserve(file, 300 * PAGE);
    for (int i = 0; i < 300; i++) {
        for (int j = 0; j < 1024; j++)
            chunk[j] = i * 1024 + j;
        ck_assert(place_chunk(file, d, (hsize_t)i * 1024, at + (haddr_t)i * PAGE, PAGE, 0) >= 0);
        write_from_child(guards.path, at + (haddr_t)i * PAGE, chunk, sizeof chunk);
        snprintf(name, sizeof name, "group %d", i);
        H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        if (i % 50 == 0)
            guard(file);
    }
    ck_assert(H5FD_h5vec_usage(file, &zones, &used) >= 0);
    ck_assert_msg(zones > 2048 && used <= zones && zones - used < 16384, "zones %llu used %llu",
                  (unsigned long long)zones, (unsigned long long)used);
    H5Dclose(d);
    finish(file);
    hsize_t n;
    int *values = read_ints(guards.path, "d", &n);
    expect_ascending(values, n);
    done(reopen());
}
END_TEST

/* Rule 5. */
START_TEST(rule5_bytes_past_the_end_survive_flush_and_close)
{
    hid_t file = begin("past", 4096, 4096), d = create_chunked(file, "d", 2048, 0, 1024, H5P_DEFAULT);
    int chunk[1024];
    for (int i = 0; i < 1024; i++)
        chunk[i] = i;
    haddr_t at = record_reserve(file, 2 * PAGE);
    write_from_child(guards.path, at, chunk, sizeof chunk);
    write_from_child(guards.path, at + PAGE, chunk, sizeof chunk);
    write_from_child(guards.path, at + 10 * PAGE, chunk, sizeof chunk); /* further than anything known */
    ck_assert(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    ck_assert(place_chunk(file, d, 0, at, PAGE, 0) >= 0);
    ck_assert(place_chunk(file, d, 1024, at + PAGE, PAGE, 0) >= 0);
    ck_assert(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    H5Dclose(d);
    finish(file);
    int back[1024];
    FILE *f = fopen(guards.path, "rb");
    for (int i = 0; i < 3; i++) {
        ck_assert(fseek(f, (long)(at + (haddr_t)(i < 2 ? i : 10) * PAGE), SEEK_SET) == 0);
        ck_assert(fread(back, 1, sizeof back, f) == sizeof back && memcmp(back, chunk, sizeof back) == 0);
    }
    fclose(f);
    done(reopen());
}
END_TEST

static long file_size(const char *path)
{
    FILE *f = fopen(path, "rb");
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    fclose(f);
    return size;
}

START_TEST(rule5_reservation_nobody_fills_is_part_of_the_file)
{
    hid_t file = begin("hole", 0, 0);
    haddr_t at = record_reserve(file, 123456);
    finish(file);
    ck_assert_int_eq(file_size(guards.path), (long)(at + 123456));
    done(reopen());
}
END_TEST

START_TEST(rule5_unused_end_of_the_last_zone_is_given_back)
{
    for (int flush = 0; flush < 2; flush++) {
        hid_t file = begin("tail", 4096, 1 << 20);
        haddr_t at = record_reserve(file, PAGE);
        for (int i = 0; i < 100; i++) {
            char name[64];
            snprintf(name, sizeof name, "group with a rather long name, number %d", i);
            H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        }
        ck_assert(!flush || H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
        finish(file);
        ck_assert(file_size(guards.path) > (long)(at + PAGE));
        ck_assert_msg(file_size(guards.path) < (long)at + 100000, "size %ld", file_size(guards.path));
        done(reopen());
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("rules");
    tcase_add_test(tcase, rule1_vlen_string_attribute_survives);
    tcase_add_test(tcase, rule1_attribute_over_64_kib_survives);
    tcase_add_test(tcase, rule1_dimension_list_survives);
    tcase_add_test(tcase, rule1_virtual_dataset_survives);
    tcase_add_loop_test(tcase, rule3_root_header_growth_does_not_overlap, 0, 5);
    tcase_add_test(tcase, rule3_cursor_follows_growth_in_place);
    tcase_add_test(tcase, rule4_zone_overflows_midway);
    tcase_add_test(tcase, rule5_bytes_past_the_end_survive_flush_and_close);
    tcase_add_test(tcase, rule5_reservation_nobody_fills_is_part_of_the_file);
    tcase_add_test(tcase, rule5_unused_end_of_the_last_zone_is_given_back);
    return run_tests("vfd_rules", tcase);
}

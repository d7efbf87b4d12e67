/* SPDX-License-Identifier: BSD-3-Clause
 * Boxes, Hilbert keys, names, and the error record.
 */
#include <math.h>
#include "codec_test.h"

START_TEST(empty_box_is_neutral)
{
    struct vcodec_box empty = vcodec_box_empty(), box = {-1, 2, 3, 4};
    struct vcodec_box a = vcodec_box_union(empty, box), b = vcodec_box_union(box, empty);
    ck_assert_mem_eq(&a, &box, sizeof box);
    ck_assert_mem_eq(&b, &box, sizeof box);
    a = vcodec_box_union(empty, empty);
    ck_assert_mem_eq(&a, &empty, sizeof a);
    ck_assert(empty.xmin == INFINITY && empty.ymin == INFINITY);
    ck_assert(empty.xmax == -INFINITY && empty.ymax == -INFINITY);
}
END_TEST

START_TEST(union_takes_the_outer_sides)
{
    struct vcodec_box a = {0, 10, 5, 20}, b = {-1, 12, 4, 30}, expected = {-1, 10, 5, 30};
    struct vcodec_box ab = vcodec_box_union(a, b), ba = vcodec_box_union(b, a);
    ck_assert_mem_eq(&ab, &expected, sizeof ab);
    ck_assert_mem_eq(&ba, &expected, sizeof ba);
}
END_TEST

/* The textbook's method (rotate and reflect the point at each level), a second way to the same curve. */
static uint64_t textbook_hilbert(uint32_t x, uint32_t y)
{
    uint64_t key = 0;
    for (uint64_t side = UINT64_C(1) << 31; side > 0; side /= 2) {
        uint64_t rx = (x & side) != 0, ry = (y & side) != 0;
        key += side * side * ((3 * rx) ^ ry);
        if (ry == 0) {
            if (rx == 1) {
                x = ~x;
                y = ~y;
            }
            uint32_t t = x;
            x = y;
            y = t;
        }
    }
    return key;
}

/* In this box cell and coordinate are the same number. */
static const struct vcodec_box cells = {0, 0, 0x1p32, 0x1p32};

START_TEST(hilbert_agrees_with_the_textbook)
{
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < 200000; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        uint32_t x = (uint32_t)random >> (i % 32), y = (uint32_t)(random >> 32) >> (i / 32 % 32);
        ck_assert_uint_eq(vcodec_hilbert(x, y, cells), textbook_hilbert(x, y));
    }
}
END_TEST

START_TEST(hilbert_corners_and_order)
{
    ck_assert_uint_eq(vcodec_hilbert(0, 0, cells), 0);
    ck_assert_uint_eq(vcodec_hilbert(0x1p32, 0, cells),
                      UINT64_MAX); /* the upper border is in the last cell */
    struct vcodec_box unit = {-180, -90, 180, 90};
    uint64_t quarter = UINT64_C(1) << 62;
    ck_assert_uint_lt(vcodec_hilbert(-90, -45, unit), quarter);
    ck_assert_uint_eq(vcodec_hilbert(-90, 45, unit) / quarter, 1);
    ck_assert_uint_eq(vcodec_hilbert(90, 45, unit) / quarter, 2);
    ck_assert_uint_eq(vcodec_hilbert(90, -45, unit) / quarter, 3);
}
END_TEST

START_TEST(hilbert_of_odd_input)
{
    struct vcodec_box flat = {5, 0, 5, 0x1p32};
    ck_assert_uint_eq(vcodec_hilbert(-1e300, 7, cells), vcodec_hilbert(0, 7, cells));
    ck_assert_uint_eq(vcodec_hilbert(7, INFINITY, cells), vcodec_hilbert(7, 0x1p32, cells));
    ck_assert_uint_eq(vcodec_hilbert(NAN, 7, cells), vcodec_hilbert(0, 7, cells));
    ck_assert_uint_eq(vcodec_hilbert(5, 7, flat), textbook_hilbert(0, 7));
    ck_assert_uint_eq(vcodec_hilbert(1, 1, vcodec_box_empty()), 0);
    ck_assert_uint_eq(vcodec_hilbert(1, 1, (struct vcodec_box){NAN, NAN, NAN, NAN}), 0);
    ck_assert_uint_eq(vcodec_hilbert(1, 1, (struct vcodec_box){-INFINITY, -INFINITY, INFINITY, INFINITY}), 0);
}
END_TEST

START_TEST(type_names)
{
    ck_assert_str_eq(vcodec_type_name(VCODEC_POINT), "Point");
    ck_assert_str_eq(vcodec_type_name(VCODEC_GEOMETRYCOLLECTION), "GeometryCollection");
    ck_assert_str_eq(vcodec_type_name(VCODEC_TRIANGLE), "Triangle");
    ck_assert_str_eq(vcodec_type_name((enum vcodec_type)13), "Unknown");
    ck_assert_str_eq(vcodec_type_name((enum vcodec_type)0), "Unknown");
}
END_TEST

/* Every code of the header is in the table: reads the header itself. */
START_TEST(every_status_has_a_name_and_a_meaning)
{
    char path[1024], line[512], name[64];
    const char *source = getenv("H5VEC_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/vector-codec/h5vec_status.h", source ? source : ".");
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s", path);
    int value, found = 0;
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, " %63[A-Z0-9_] = %d,", name, &value) != 2)
            continue;
        found++;
        ck_assert_str_eq(h5vec_errname((enum h5vec_status)value), name);
        ck_assert_str_ne(h5vec_strerror((enum h5vec_status)value), "unknown status");
    }
    fclose(f);
    ck_assert_int_ge(found, 31);
    ck_assert_str_eq(h5vec_strerror((enum h5vec_status)99), "unknown status");
    ck_assert_str_eq(h5vec_errname((enum h5vec_status)99), "H5VEC_E_?");
}
END_TEST

START_TEST(error_is_one_line_and_cut_to_size)
{
    struct h5vec_error err;
    ck_assert_int_eq(h5vec_error_set(NULL, H5VEC_E_IO, 1, "%d", 1), H5VEC_E_IO);
    ck_assert_int_eq(h5vec_error_set(&err, H5VEC_E_ARG, 7, "a\nb\tc\x7f%s", "\x1b[31m"), H5VEC_E_ARG);
    ck_assert_str_eq(err.msg, "a?b?c??[31m");
    ck_assert_int_eq(err.status, H5VEC_E_ARG);
    ck_assert_uint_eq(err.offset, 7);
    char text[1000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    h5vec_error_set(&err, H5VEC_E_ARG, 0, "%s", text);
    ck_assert_uint_eq(strlen(err.msg), sizeof err.msg - 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("codec_geom");
    TCase *box = tcase_create("box");
    tcase_add_test(box, empty_box_is_neutral);
    tcase_add_test(box, union_takes_the_outer_sides);
    suite_add_tcase(suite, box);
    TCase *hilbert = tcase_create("hilbert");
    tcase_add_test(hilbert, hilbert_agrees_with_the_textbook);
    tcase_add_test(hilbert, hilbert_corners_and_order);
    tcase_add_test(hilbert, hilbert_of_odd_input);
    suite_add_tcase(suite, hilbert);
    TCase *names = tcase_create("names");
    tcase_add_test(names, type_names);
    tcase_add_test(names, every_status_has_a_name_and_a_meaning);
    tcase_add_test(names, error_is_one_line_and_cut_to_size);
    suite_add_tcase(suite, names);
    return run_suite(suite);
}

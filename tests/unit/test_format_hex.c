/* SPDX-License-Identifier: BSD-3-Clause
 *
 * WKB and EWKB in hexadecimal, one a line, with and without columns around it.
 */
#include "format_test.h"

#define POINT_12 "0101000000000000000000F03F0000000000000040"
#define EWKB_12 "0101000020E6100000000000000000F03F0000000000000040"

static const struct good_case good[] = {
    {POINT_12 "\n", "WKT", "", "POINT (1 2)\n"},
    {"\n " POINT_12 "\r\n\n00000000013ff00000000000004000000000000000\n", "WKT", "",
     "POINT (1 2)\nPOINT (1 2)\n"},
    {EWKB_12 "\n" EWKB_12, "WKT", "", "POINT (1 2)\nPOINT (1 2)\n"},
    {"7\t" POINT_12 "\tx\n8\t\ty\n", "WKT", "|column_1|column_3", "POINT (1 2)|7|x\n~|8|y\n"},
    {POINT_12 "\nPOINT (3 4)\n", "WKT", "", "POINT (1 2)\nPOINT (3 4)\n"},
    {"0101000080000000000000f03f00000000000000400000000000000840\n", "WKT", "", "POINT Z (1 2 3)\n"},
};

static const struct bad_case bad[] = {
    {POINT_12 "00\n", H5VEC_E_TRAILING, "line 1, column 43: 1 bytes after the end"},
    {POINT_12 "0\n", H5VEC_E_TRAILING, "line 1, column 43: half a byte"},
    {POINT_12 " POINT (1 2)\n", H5VEC_E_FORMAT_RECORD, "line 1, column 43: not a hexadecimal digit"},
    {POINT_12 "\n0101000000000000000000F03F000000000000004\n", H5VEC_E_TRUNCATED,
     "line 2, column 11: WKB ends within"},
    {POINT_12 "\n01010000000000000000G0F03F0000000000000040\n", H5VEC_E_FORMAT_RECORD,
     "line 2, column 21: not a hexadecimal digit"},
    {"0102000000FFFFFFFF\n", H5VEC_E_COUNT, "line 1, column 11: 4294967295 points cannot fit"},
    {POINT_12 "\n" EWKB_12 "\n", H5VEC_E_FORMAT_RECORD,
     "line 2, column 1: SRID 4326, but the rows before have 0"},
    {"0101\n", H5VEC_E_FORMAT_UNKNOWN, "neither WKT"},
};

START_TEST(reads)
{
    check_good(&good[_i]);
}
END_TEST

START_TEST(refuses)
{
    check_bad(&bad[_i]);
}
END_TEST

START_TEST(srid)
{
    struct outcome o = read_text(EWKB_12 "\n", strlen(EWKB_12) + 1, 5, 100, 0);
    ck_assert_int_eq(o.status, H5VEC_OK);
    ck_assert_int_eq(o.srid, 4326);
    free(o.rows);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("format_hex");
    TCase *tests = tcase_create("hex");
    tcase_add_loop_test(tests, reads, 0, (int)(sizeof good / sizeof good[0]));
    tcase_add_loop_test(tests, refuses, 0, (int)(sizeof bad / sizeof bad[0]));
    tcase_add_test(tests, srid);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}

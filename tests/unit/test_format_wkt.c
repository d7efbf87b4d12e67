/* SPDX-License-Identifier: BSD-3-Clause
 *
 * WKT, one a line.
 */
#include "format_test.h"

static const struct good_case good[] = {
    {"", "WKT", "", ""},
    {"\n\n  \r\n\t\n", "WKT", "", ""},
    {"\xEF\xBB\xBF", "WKT", "", ""},
    {"POINT (1 2)", "WKT", "", "POINT (1 2)\n"},
    {"POINT (1 2)\nLINESTRING (0 0, 1 1)\n", "WKT", "", "POINT (1 2)\nLINESTRING (0 0,1 1)\n"},
    {"\xEF\xBB\xBFPOINT (1 2)\r\n\r\npoint z (1 2 3)\r\n", "WKT", "", "POINT (1 2)\nPOINT Z (1 2 3)\n"},
    {"\n\n \nPOINT (1 2)\n\n   \nPOINT EMPTY\n\n", "WKT", "", "POINT (1 2)\nPOINT EMPTY\n"},
    {"  POINT(1 2)  \n", "WKT", "", "POINT (1 2)\n"},
    {"POINT\t(1\t2)\nPOINT\t(3 4)\n", "WKT", "",
     "POINT (1 2)\nPOINT (3 4)\n"}, /* tabs are WKT's white space */
    {"SRID=4326;POINT(1 2)\nSRID=4326;POINT(3 4)\n", "WKT", "", "POINT (1 2)\nPOINT (3 4)\n"},
    {"7\tPOINT (1 2)\tname#7\n8\tPOINT (3 4)\t\n", "WKT", "|column_1|column_3",
     "POINT (1 2)|7|name#7\nPOINT (3 4)|8|~\n"},
    {"POINT (1 2)\ta\nPOINT (3 4)\tb", "WKT", "|column_2", "POINT (1 2)|a\nPOINT (3 4)|b\n"},
    {"a\tPOINT (1 2)\nb\t\nc\t  \nd\tPOINT (5 6)\n", "WKT", "|column_1",
     "POINT (1 2)|a\n~|b\n~|c\nPOINT (5 6)|d\n"}, /* null geometries */
    {"a\tPOINT (1 2)\r\n\r\n\xC3\xBC\tPOINT (3 4)\r\n", "WKT", "|column_1",
     "POINT (1 2)|a\nPOINT (3 4)|\xC3\xBC\n"},
    {"LINESTRING (1 1)\n", "WKT", "", "LINESTRING (1 1)\n"}, /* structurally invalid: kept, counted */
};

static const struct bad_case bad[] = {
    {"POINT (1 2)\nPOINT (1 2\n", H5VEC_E_TRUNCATED, "line 2, column 11: "},
    {"POINT (1 2)\n\n\nhello\n", H5VEC_E_WKT_SYNTAX, "line 4, column 1: "},
    {"\n POINT (1 x)\n", H5VEC_E_WKT_SYNTAX, "line 2, column 11: "},
    {"POINT (1 2)\nPOINT (1 1e999)\n", H5VEC_E_WKT_NUMBER, "line 2, column 10: "},
    {"POINT (1 2) POINT (3 4)\n", H5VEC_E_TRAILING, "line 1, column 13: "},
    {"CIRCULARSTRING (0 0, 1 1, 2 0)\n", H5VEC_E_UNSUPPORTED, "line 1, column 1: "},
    {"a\tPOINT (1 2)\nb\tPOINT (1 2\n", H5VEC_E_TRUNCATED, "line 2, column 13: "},
    {"a\tPOINT (1 2)\nb\n", H5VEC_E_FORMAT_RECORD, "line 2, column 1: 1 field, but the first line has 2"},
    {"a\tPOINT (1 2)\nb\tPOINT (1 2)\tc\td\n", H5VEC_E_FORMAT_RECORD,
     "line 2, column 1: 4 fields, but the first line has 2"},
    {"a\tPOINT (1 2)\nx\xFFy\tPOINT (1 2)\n", H5VEC_E_FORMAT_RECORD, "line 2, column 2: not UTF-8"},
    {"SRID=4326;POINT (1 2)\nSRID=25832;POINT (1 2)\n", H5VEC_E_FORMAT_RECORD,
     "line 2, column 1: SRID 25832, but the rows before have 4326"},
    {"SRID=4326;POINT (1 2)\nPOINT (1 2)\n", H5VEC_E_FORMAT_RECORD,
     "line 2, column 1: SRID 0, but the rows before have 4326"},
    {"hello world\n", H5VEC_E_FORMAT_UNKNOWN, "neither WKT"},
    {"PIONT (1 2)\nPOINT (1 2)\n", H5VEC_E_FORMAT_UNKNOWN, "neither WKT"}, /* no header of a CSV file */
    {"a\t\nb\tPOINT(1 2)\n", H5VEC_E_FORMAT_UNKNOWN, "neither WKT"},
    {"He said \"hi\"\n", H5VEC_E_FORMAT_UNKNOWN, "neither WKT"},
    {"[{\"type\": \"FeatureCollection\"}]\n", H5VEC_E_FORMAT_UNKNOWN, "neither WKT"},
    {"Points of interest\n", H5VEC_E_FORMAT_UNKNOWN, "neither WKT"},
    {"\xFF\xFEP", H5VEC_E_FORMAT_UNKNOWN, "the text is UTF-16"},
    {"\xFE\xFFP", H5VEC_E_FORMAT_UNKNOWN, "the text is UTF-16"},
};

START_TEST(test_good)
{
    check_good(&good[_i]);
}
END_TEST

START_TEST(test_skipped)
{
    check_skips("POINT (1 2)\nPOINT (x)\n\nhello\nPOINT (3 4)\nPOINT (5", "POINT (1 2)\nPOINT (3 4)\n", 3);
    check_skips("a\tPOINT (1 2)\nb\nc\tPOINT (3 4)\td\n\xff\tPOINT (5 6)\ne\tPOINT (7 8)\r\n",
                "POINT (1 2)|a\nPOINT (7 8)|e\n", 3);
}
END_TEST

START_TEST(test_bad)
{
    check_bad(&bad[_i]);
}
END_TEST

START_TEST(test_nul)
{
    static const char first[] = "\x89HDF\r\n\x1a\n\0\0\0", later[] = "a\tPOINT (1 2)\nb\0c\tPOINT (1 2)\n";
    struct outcome o = read_text(first, sizeof first - 1, SIZE_MAX, 1, 0);
    ck_assert_int_eq(o.status, H5VEC_E_FORMAT_UNKNOWN);
    ck_assert_str_eq(o.err.msg, "not text: it has NUL bytes");
    free(o.rows);
    o = read_text(later, sizeof later - 1, 14, 1, 0); /* the NUL is not in what is looked at first */
    ck_assert_int_eq(o.status, H5VEC_E_FORMAT_RECORD);
    ck_assert_str_eq(o.err.msg, "line 2, column 2: a NUL byte in the text");
    free(o.rows);
}
END_TEST

START_TEST(test_truncated)
{
    check_truncations("\xEF\xBB\xBF"
                      "1\tPOINT (1.5 2)\tx\r\n\n2\tMULTIPOLYGON (((0 0,1 0,1 1,0 0)),EMPTY)\ty\r\n3\t\tz");
    check_truncations("SRID=4326;POINT (1 2)\nSRID=4326;LINESTRING (0 0,1 1,2 -3e-7)\n");
}
END_TEST

START_TEST(test_max_record)
{
    const char *text = "POINT (1 2)\r\nPOINT (123 456)\r\nPOINT (1 2)\n";
    for (size_t step = 1; step < 40; step++)
        for (size_t max = 1; max < 20; max++) {
            struct outcome o = read_text(text, strlen(text), step, 1, max);
            /* The records are of 11, 15 and 11 bytes, their ends apart. */
            ck_assert_int_eq(o.status, max < 15 ? H5VEC_E_FORMAT_TOO_LONG : H5VEC_OK);
            ck_assert_str_eq(o.rows, max < 11   ? ""
                                     : max < 15 ? "POINT (1 2)\n"
                                                : "POINT (1 2)\nPOINT (123 456)\nPOINT (1 2)\n");
            if (max >= 11 && max < 15)
                ck_assert_int_eq(strncmp(o.err.msg, "line 2, column 1: the record is longer", 38), 0);
            free(o.rows);
        }
}
END_TEST

START_TEST(test_long_record)
{
    /* 400,000 vertices in one line: the window and the WKB grow many times. */
    size_t size = 0;
    char *text = NULL;
    FILE *out = open_memstream(&text, &size);
    fputs("POINT (0 0)\nLINESTRING (", out);
    for (int i = 0; i < 400000; i++)
        fprintf(out, "%s%d -%d", i ? "," : "", i, i);
    fputs(")\nPOINT (9 9)\n", out);
    fclose(out);
    struct feed feed = {.data = text, .size = size, .step = 100000, .fail_at = SIZE_MAX};
    struct h5vec_format_reader *reader;
    struct h5vec_format_batch batch;
    ck_assert_int_eq(h5vec_format_open(feed_read, &feed, NULL, &reader, NULL), H5VEC_OK);
    ck_assert_int_eq(h5vec_format_next(reader, SIZE_MAX, &batch, NULL), H5VEC_OK);
    ck_assert_uint_eq(batch.rows, 3);
    ck_assert_uint_eq(batch.vertices[1], 400000);
    ck_assert_int_eq(batch.offsets[2] - batch.offsets[1], 9 + 16 * 400000);
    ck_assert_double_eq(batch.box[1].ymin, -399999);
    ck_assert_double_eq(batch.box[2].xmax, 9);
    check_facts(&batch);
    ck_assert_int_eq(h5vec_format_next(reader, SIZE_MAX, &batch, NULL), H5VEC_OK);
    ck_assert_uint_eq(batch.rows, 0);
    h5vec_format_free(reader);
    free(text);
}
END_TEST

START_TEST(test_source_fails)
{
    const char *text = "POINT (1 2)\nPOINT (3 4)\n";
    for (size_t at = 0; at < strlen(text); at++) {
        struct feed feed = {.data = text, .size = strlen(text), .step = 1, .fail_at = at};
        struct outcome o = read_feed(&feed, 1, 0);
        ck_assert_int_eq(o.status, H5VEC_E_IO);
        ck_assert_str_eq(o.err.msg, "the disk is on fire");
        free(o.rows);
    }
}
END_TEST

START_TEST(test_batches_are_bounded)
{
    /* 100,000 short rows: by text alone they would be one batch of 1 MiB of text and 6 MB of memory. */
    size_t size = 0, rows = 0, batches = 0;
    char *text = NULL;
    FILE *out = open_memstream(&text, &size);
    fputs("1\tPOINT (1 2)\n", out);
    for (int i = 0; i < 100000; i++)
        fputs("\t\nx\t\n", out);
    fclose(out);
    struct feed feed = {.data = text, .size = size, .step = SIZE_MAX, .fail_at = SIZE_MAX};
    struct h5vec_format_reader *reader;
    struct h5vec_format_batch batch;
    ck_assert_int_eq(h5vec_format_open(feed_read, &feed, NULL, &reader, NULL), H5VEC_OK);
    for (;;) {
        ck_assert_int_eq(h5vec_format_next(reader, 1 << 20, &batch, NULL), H5VEC_OK);
        if (batch.rows == 0)
            break;
        ck_assert_uint_le(batch.rows * 58, (4 << 20) + 100);
        rows += batch.rows;
        batches++;
    }
    ck_assert_uint_eq(rows, 100001); /* a line of blanks is skipped, "x" with a tab is a null geometry */
    ck_assert_uint_gt(batches, 1);
    h5vec_format_free(reader);
    free(text);
}
END_TEST

START_TEST(test_srid)
{
    const char *with = "a\t\nSRID=4326;POINT(1 2)\n", *one = "a\tSRID=4326;POINT(1 2)\nb\t\n";
    struct outcome o = read_text(one, strlen(one), 4, 1, 0);
    ck_assert_int_eq(o.srid, 4326); /* null geometries have none, and that is no conflict */
    free(o.rows);
    o = read_text("POINT (1 2)", 11, 4, 1, 0);
    ck_assert_int_eq(o.srid, 0);
    free(o.rows);
    check_bad_bytes(with, strlen(with), H5VEC_E_FORMAT_UNKNOWN, "neither");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("format_wkt");
    TCase *tcase = tcase_create("wkt");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, test_good, 0, sizeof good / sizeof good[0]);
    tcase_add_loop_test(tcase, test_bad, 0, sizeof bad / sizeof bad[0]);
    tcase_add_test(tcase, test_skipped);
    tcase_add_test(tcase, test_nul);
    tcase_add_test(tcase, test_truncated);
    tcase_add_test(tcase, test_max_record);
    tcase_add_test(tcase, test_long_record);
    tcase_add_test(tcase, test_source_fails);
    tcase_add_test(tcase, test_batches_are_bounded);
    tcase_add_test(tcase, test_srid);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}

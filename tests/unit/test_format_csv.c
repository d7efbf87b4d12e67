/* SPDX-License-Identifier: BSD-3-Clause
 *
 * CSV with a WKT column or two of coordinates, malformed records left out, and UTF-8.
 */
#include "format_test.h"
#include "vcodec_utf8.h"

static const struct good_case good[] = {
    {"id,name,WKT\n1,one,\"POINT (1 2)\"\n2,two,\"LINESTRING (0 0, 1 1)\"\n", "CSV", "|id|name",
     "POINT (1 2)|1|one\nLINESTRING (0 0,1 1)|2|two\n"},
    {"WKT\nPOINT (1 2)\n", "CSV", "", "POINT (1 2)\n"},
    {"WKT", "CSV", "", ""},
    {"WKT\n", "CSV", "", ""},
    {"id,the_geom\n", "CSV", "|id", ""},
    {"id,wKt\r\n1,POINT (1 2)\r\n", "CSV", "|id", "POINT (1 2)|1\n"},
    {"\xEF\xBB\xBFGeometry,id\nPOINT (1 2),1", "CSV", "|id", "POINT (1 2)|1\n"},
    {"geom,WKT\nx,POINT (1 2)\n", "CSV", "|geom", "POINT (1 2)|x\n"}, /* WKT goes before geom */
    {"id,shape\n1,POINT (1 2)\n", "CSV", "|id", "POINT (1 2)|1\n"},   /* by the first record */
    {"id,a,b\n1,\"SRID=4326;POINT (1 2)\",POINT (3 4)\n", "CSV", "|id|b", "POINT (1 2)|1|POINT (3 4)\n"},
    {"\"id\",\"WKT\"\n\"1\",\"POINT (1 2)\"\n", "CSV", "|id", "POINT (1 2)|1\n"},
    /* names repeat, are empty, have commas, quotes and line ends */
    {"a,a,,\"x,\"\"y\"\"\n\",WKT\n1,2,3,4,POINT (1 2)\n", "CSV", "|a|a||x,\"y\"\n", "POINT (1 2)|1|2|3|4\n"},
    {"WKT,a\nPOINT (1 2),\"say \"\"hi\"\", \r\nnow\"\n", "CSV", "|a", "POINT (1 2)|say \"hi\", \r\nnow\n"},
    {"WKT,a\nPOINT (1 2),\"\"\"\"\nPOINT (1 2),\"\"\"\"\"\"\n", "CSV", "|a",
     "POINT (1 2)|\"\nPOINT (1 2)|\"\"\n"},
    /* empty: no value; quoted and empty: an empty text */
    {"WKT,a,b\nPOINT (1 2),,\"\"\n,x,\n\"\",,\n", "CSV", "|a|b", "POINT (1 2)|~|\n~|x|~\n~|~|~\n"},
    {"WKT,a\nPOINT (1 2), b \n", "CSV", "|a", "POINT (1 2)| b \n"}, /* blanks belong to the field */
    {"\n\nWKT,a\n\nPOINT (1 2),1\n\r\n\nPOINT (3 4),2\n\n", "CSV", "|a", "POINT (1 2)|1\nPOINT (3 4)|2\n"},
    {"WKT,a\n\"POLYGON ((0 0,1 0,\n1 1,0 0))\",1\n", "CSV", "|a", "POLYGON ((0 0,1 0,1 1,0 0))|1\n"},
    {"a,WKT\n\xC3\xBC\xE2\x82\xAC\xF0\x9F\x98\x80,POINT (1 2)\n", "CSV", "|a",
     "POINT (1 2)|\xC3\xBC\xE2\x82\xAC\xF0\x9F\x98\x80\n"},
    {"a,WKT\n1,POINT (1 2)\r", "CSV", "|a", "POINT (1 2)|1\n"},
    /* coordinates in two columns */
    {"lon,lat\n1,2\n", "CSV", "", "POINT (1 2)\n"},
    {"lat,id,LON\n1,a,2\n", "CSV", "|id", "POINT (2 1)|a\n"},
    {"id,Longitude,name,Latitude\r\n1,-1.5e1,n,.25\r\n2,,,\r\n", "CSV", "|id|name",
     "POINT (-15 0.25)|1|n\n~|2|~\n"},
    {"id, X ,y \n", "CSV", "|id", ""},
    {"\xEF\xBB\xBFX,Y,z\n\"1\", 2 ,3", "CSV", "|z", "POINT (1 2)|3\n"},
    {"x,y,WKT\n1,2,POINT (3 4)\n", "CSV", "|x|y", "POINT (3 4)|1|2\n"}, /* WKT goes before coordinates */
    {"x,y,shape\n1,2,POINT (3 4)\n", "CSV", "|x|y", "POINT (3 4)|1|2\n"},
    {"x,y,lon\n1,2,3\n", "CSV", "|lon", "POINT (1 2)|3\n"}, /* one name of another pair is just a column */
    /* hexadecimal WKB, by the column's name or the first record; EWKB; mixed with WKT */
    {"id,geom\n1,0101000000000000000000F03F0000000000000040\n2,\n3,POINT (3 4)\n", "CSV", "|id",
     "POINT (1 2)|1\n~|2\nPOINT (3 4)|3\n"},
    {"shape,a\n\"01e9030000000000000000f03f00000000000000400000000000000840\",b\n", "CSV", "|a",
     "POINT Z (1 2 3)|b\n"},
    {"id,shape\n0012345678,POINT (1 2)\n", "CSV", "|id", "POINT (1 2)|0012345678\n"}, /* digits, no WKB */
    {"x,y,lon,lat,geom\n1,2,3,4,\n", "CSV", "|x|y|lon|lat", "~|1|2|3|4\n"},
};

static const struct bad_case bad[] = {
    {"a,WKT\n1,POINT (1 2)\n2\n", H5VEC_E_FORMAT_RECORD,
     "line 3, column 1: 1 field, but the first line has 2"},
    {"a,WKT\n1,POINT (1 2),3\n", H5VEC_E_FORMAT_RECORD,
     "line 2, column 1: 3 fields, but the first line has 2"},
    {"a,WKT\n1,\"POINT (1 2)\n", H5VEC_E_FORMAT_RECORD, "line 2, column 3: the input ends before the quote"},
    {"a,WKT\n\"x\"y,POINT (1 2)\n", H5VEC_E_FORMAT_RECORD, "line 2, column 4: text after the quote"},
    {"a,WKT\nx\"y,POINT (1 2)\n", H5VEC_E_FORMAT_RECORD, "line 2, column 2: a quote inside a field"},
    {"a,WKT\nx,POINT (1 2)\ry,POINT (1 2)\n", H5VEC_E_FORMAT_RECORD, "line 2, column 14: a carriage return"},
    {"a,WKT\nx,POINT (1 2\n", H5VEC_E_TRUNCATED, "line 2, column 13: "},
    {"a,WKT\n\"two\nlines\",\"POINT\n(1 x)\"\n", H5VEC_E_WKT_SYNTAX, "line 4, column 4: "},
    {"a,WKT\n\"two\nlines\",POINT (1 2)\nx,POINT (3 y)\n", H5VEC_E_WKT_SYNTAX, "line 4, column 12: "},
    {"a,WKT\nx\xC3,POINT (1 2)\n", H5VEC_E_FORMAT_RECORD, "line 2, column 2: not UTF-8"},
    {"a,WKT\n\"x\n\xC0\x80\",POINT (1 2)\n", H5VEC_E_FORMAT_RECORD, "line 3, column 1: not UTF-8"},
    {"a,WKT\n1,hello\n", H5VEC_E_WKT_SYNTAX, "line 2, column 3: "},
    {"1,POINT (1 2)\n2,POINT (3 4)\n", H5VEC_E_FORMAT_UNKNOWN,
     "line 1, column 3: a geometry where CSV has the names"},
    {"a,b\n1,2\n", H5VEC_E_FORMAT_UNKNOWN, "neither WKT"},
    {"a,b\n", H5VEC_E_FORMAT_UNKNOWN, "neither WKT"},
    {"a,b\n1\n", H5VEC_E_FORMAT_UNKNOWN, "neither WKT"},
    {"a,WKT\n1,SRID=1;POINT (1 2)\n2,SRID=2;POINT (1 2)\n", H5VEC_E_FORMAT_RECORD,
     "line 3, column 3: SRID 2, but the rows before have 1"},
    {"x,y\n1,2\n1,b\n", H5VEC_E_FORMAT_RECORD, "line 3, column 3: a coordinate that is not"},
    {"x,y\n1 2,3\n", H5VEC_E_FORMAT_RECORD, "line 2, column 1: a coordinate that is not"},
    {"x,y\nnan,3\n", H5VEC_E_FORMAT_RECORD, "line 2, column 1: a coordinate that is not"},
    {"x,y\n1e999,3\n", H5VEC_E_FORMAT_RECORD, "line 2, column 1: a coordinate that is not"},
    {"x,y\n1,\n", H5VEC_E_FORMAT_RECORD, "line 2, column 3: one coordinate without the other"},
    {"x,y\n1\n", H5VEC_E_FORMAT_RECORD, "line 2, column 1: 1 field"},
    {"x,y,LON,lat\n1,2,3,4\n", H5VEC_E_FORMAT_UNKNOWN,
     "the columns lon and lat could be the geometry, and so "},
    {"lon,lat,Lon\n1,2,3\n", H5VEC_E_FORMAT_UNKNOWN, "several columns are called lon: "},
    {"lon,y\n1,2\n", H5VEC_E_FORMAT_UNKNOWN, "neither WKT"},
    {"a\xFF,lon,lat\n1,2,3\n", H5VEC_E_FORMAT_UNKNOWN, "neither WKT"},
};

START_TEST(test_good)
{
    check_good(&good[_i]);
}
END_TEST

/* As if they were not there; what cannot be divided into fields ends with its line. */
START_TEST(test_skipped)
{
    check_skips("x,y,n\n1,2,a\n1,,b\n1,2\n\"1\"x,2,c\n3,4,\xff\n,,\n5,6,d\n7,z,",
                "POINT (1 2)|a\n~|~\nPOINT (5 6)|d\n", 5);
    check_skips("WKT,n\nSRID=1;POINT (1 2),a\nPOINT (3 4),b\nSRID=1;POINT (5 6),c\n",
                "POINT (1 2)|a\nPOINT (5 6)|c\n", 1);
    /* the first geometry that is kept says what the SRID is */
    check_skips("WKT,n\nSRID=1;POINT (1 2),\xff\nSRID=2;POINT (3 4),b\n", "POINT (3 4)|b\n", 1);
    check_skips("WKT,n\nPOINT (1 2),\"a\nPOINT (3 4),b\n", "POINT (3 4)|b\n", 1);
    check_skips("WKT\nPOINT (1)\nPOINT\n", "", 2);
}
END_TEST

START_TEST(test_too_many_columns)
{
    size_t size = (size_t)2 * (H5VEC_FORMAT_MAX_COLUMNS + 3);
    char *text = malloc(size + 1);
    for (size_t i = 0; i < size; i += 2)
        memcpy(text + i, "a,", 2);
    text[size] = '\0';
    memcpy(text, "x,y", 3);
    struct outcome o = read_text(text, size, SIZE_MAX, 1, 0);
    ck_assert_int_ne(o.status, H5VEC_OK);
    free(o.rows);
    free(text);
}
END_TEST

START_TEST(test_bad)
{
    check_bad(&bad[_i]);
}
END_TEST

START_TEST(test_nul)
{
    static const char text[] = "a,WKT\nx\0y,POINT (1 2)\n";
    struct outcome o = read_text(text, sizeof text - 1, 6, 1, 0);
    ck_assert_int_eq(o.status, H5VEC_E_FORMAT_RECORD);
    ck_assert_str_eq(o.err.msg, "line 2, column 2: a NUL byte in the text");
    free(o.rows);
}
END_TEST

START_TEST(test_truncated)
{
    check_truncations("\"id\",WKT,\"na\"\"me\"\r\n1,\"POINT (1.5 2)\",\"a \"\"b\"\"\"\r\n\r\n2,,\r\n3,"
                      "\"MULTIPOINT (EMPTY,\n(1 1))\",\xC3\xBC\r\n");
}
END_TEST

START_TEST(test_max_record)
{
    /* Records of 5, 13 and 18 bytes without their ends. */
    const char *text = "a,WKT\r\n1,POINT (1 2)\r\n\"\"\"\n\"\"\",POINT (1 2)\n";
    for (size_t step = 1; step < 45; step++)
        for (size_t max = 1; max < 25; max++) {
            struct outcome o = read_text(text, strlen(text), step, 1, max);
            ck_assert_msg(o.status == (max < 19 ? H5VEC_E_FORMAT_TOO_LONG : H5VEC_OK), "%zu: %s", max,
                          o.err.msg);
            ck_assert_str_eq(o.rows, max < 13   ? ""
                                     : max < 19 ? "POINT (1 2)|1\n"
                                                : "POINT (1 2)|1\nPOINT (1 2)|\"\n\"\n");
            if (max >= 13 && max < 19)
                ck_assert_int_eq(strncmp(o.err.msg, "line 3, column 1: the record is longer", 38), 0);
            free(o.rows);
        }
}
END_TEST

START_TEST(test_open_quote_is_bounded)
{
    /* A quote that is never closed takes max_record, not the file. */
    size_t size = 4 << 20;
    char *text = malloc(size);
    memset(text, 'x', size);
    snprintf(text, size, "a,WKT\n\"");
    text[7] = 'x';
    struct feed feed = {.data = text, .size = size, .step = 4096, .fail_at = SIZE_MAX};
    struct outcome o = read_feed(&feed, 1 << 20, 10000);
    ck_assert_int_eq(o.status, H5VEC_E_FORMAT_TOO_LONG);
    ck_assert_uint_lt(feed.at, 20000);
    free(o.rows);
    free(text);
}
END_TEST

/* Unicode's table 3-7 and what is not in it. */
static const struct {
    const char *text;
    size_t good;
} utf8[] = {
    {"", 0},
    {"abcdefghijklmnopqrstuvwxyz", 26},
    {"\x7F", 1},
    {"\xC2\x80\xDF\xBF", 4},
    {"\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF", 12},
    {"\xF0\x90\x80\x80\xF4\x8F\xBF\xBF", 8},
    {"\x80", 0},
    {"ab\xBF", 2},
    {"\xC0\x80", 0},
    {"\xC1\xBF", 0},
    {"\xE0\x9F\xBF", 0},
    {"\xED\xA0\x80", 0}, /* a surrogate */
    {"\xF0\x8F\xBF\xBF", 0},
    {"\xF4\x90\x80\x80", 0}, /* above U+10FFFF */
    {"\xF5\x80\x80\x80", 0},
    {"\xFF", 0},
    {"a\xC3", 1},
    {"a\xE2\x82", 1},
    {"a\xE2\x82x", 1},
    {"a\xF0\x9F\x98", 1},
    {"12345678\xFF", 8},
    {"1234567\xC3\xBC\xFF", 9},
};

START_TEST(test_utf8)
{
    size_t size = strlen(utf8[_i].text);
    char *copy = malloc(size ? size : 1); /* of its own size: nothing may be read behind it */
    memcpy(copy, utf8[_i].text, size);
    ck_assert_uint_eq(vcodec_utf8_check(copy, size), utf8[_i].good);
    free(copy);
}
END_TEST

START_TEST(test_utf8_nul)
{
    char text[20];
    for (size_t i = 0; i < sizeof text; i++) { /* at every place of a word */
        memset(text, 'x', sizeof text);
        text[i] = '\0';
        ck_assert_uint_eq(vcodec_utf8_check(text, sizeof text), i);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("format_csv");
    TCase *tcase = tcase_create("csv");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, test_good, 0, sizeof good / sizeof good[0]);
    tcase_add_test(tcase, test_skipped);
    tcase_add_test(tcase, test_too_many_columns);
    tcase_add_loop_test(tcase, test_bad, 0, sizeof bad / sizeof bad[0]);
    tcase_add_test(tcase, test_nul);
    tcase_add_test(tcase, test_truncated);
    tcase_add_test(tcase, test_max_record);
    tcase_add_test(tcase, test_open_quote_is_bounded);
    tcase_add_loop_test(tcase, test_utf8, 0, sizeof utf8 / sizeof utf8[0]);
    tcase_add_test(tcase, test_utf8_nul);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}

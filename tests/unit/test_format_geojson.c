/* SPDX-License-Identifier: BSD-3-Clause
 *
 * GeoJSON as lines, text sequences and documents: geometries, columns, what has no column, and everything
 * that is malformed.
 */
#include "format_test.h"

#define POINT "\"geometry\":{\"type\":\"Point\",\"coordinates\":[1,2]}"
#define FEATURE(properties) "{\"type\":\"Feature\"," POINT ",\"properties\":" properties "}"
#define BARE(type, coordinates) "{\"type\":\"" type "\",\"coordinates\":" coordinates "}"

static const struct good_case good[] = {
    /* geometries, one a line */
    {BARE("Point", "[1.5,-2e-3]") "\n", "GeoJSON", "", "POINT (1.5 -0.002)\n"},
    {BARE("Point", "[ 1 , 2 , 3 ]") "\r\n\n" BARE("Point", "[-0,0.1]"), "GeoJSON", "",
     "POINT Z (1 2 3)\nPOINT (-0 0.1)\n"},
    {BARE("Point", "[]") "\n" BARE("LineString", "[]") "\n" BARE("Polygon", "[]"), "GeoJSON", "",
     "POINT EMPTY\nLINESTRING EMPTY\nPOLYGON EMPTY\n"},
    {BARE("LineString", "[[0,0],[1,1]]") "\n" BARE("LineString", "[[0,0]]"), "GeoJSON", "",
     "LINESTRING (0 0,1 1)\nLINESTRING (0 0)\n"},
    {BARE("Polygon", "[[[0,0],[1,0],[1,1],[0,0]],[]]"), "GeoJSON", "", "POLYGON ((0 0,1 0,1 1,0 0),EMPTY)\n"},
    {BARE("MultiPoint", "[[1,2],[3,4]]") "\n" BARE("MultiPoint", "[[],[1,2,3]]"), "GeoJSON", "",
     "MULTIPOINT ((1 2),(3 4))\nMULTIPOINT Z (EMPTY,(1 2 3))\n"},
    {BARE("MultiLineString", "[[[0,0],[1,1]],[]]"), "GeoJSON", "", "MULTILINESTRING ((0 0,1 1),EMPTY)\n"},
    {BARE("MultiPolygon", "[[[[0,0,9],[1,0,9],[1,1,9],[0,0,9]]],[]]"), "GeoJSON", "",
     "MULTIPOLYGON Z (((0 0 9,1 0 9,1 1 9,0 0 9)),EMPTY)\n"},
    {"{\"type\":\"GeometryCollection\",\"geometries\":[" BARE("LineString", "[]") "," BARE(
         "Point", "[1,2,3]") ",{"
                             "\"type\":\"GeometryCollection\",\"geometries\":[]}]}",
     "GeoJSON", "", "GEOMETRYCOLLECTION Z (LINESTRING Z EMPTY,POINT Z (1 2 3),GEOMETRYCOLLECTION Z EMPTY)\n"},
    {"{\"coordinates\":[[1,2],[3,4]],\"bbox\":[1,2,3,4],\"type\":\"LineString\"}", "GeoJSON", "",
     "LINESTRING (1 2,3 4)\n"},
    {"{\"geometries\":[{\"coordinates\":[1,2],\"type\":\"Point\"}],\"type\":\"GeometryCollection\"}",
     "GeoJSON", "", "GEOMETRYCOLLECTION (POINT (1 2))\n"},
    {BARE("Point", "[0.1,123456789.12345678]"), "GeoJSON", "", "POINT (0.1 123456789.12345678)\n"},
    /* features */
    {FEATURE("{\"a\":1,\"b\":\"x\"}") "\n" FEATURE("{\"b\":\"\",\"a\":null}") "\n" FEATURE("null"), "GeoJSON",
     "|a|b", "POINT (1 2)|1|x\nPOINT (1 2)|~|\nPOINT (1 2)|~|~\n"},
    {"\xEF\xBB\xBF{\"id\":7,\"type\":\"Feature\",\"properties\":{\"id\":8},\"bbox\":[],\"geometry\":null,"
     "\"title\":\"t\"}",
     "GeoJSON", "|id|id|title", "~|7|8|t\n"},
    {"{\"properties\":{\"a\":[1, {\"b\":2}],\"c\":{ },\"d\":true,\"e\":1.50e0}," POINT
     ",\"type\":\"Feature\"}",
     "GeoJSON", "|a|c|d|e", "POINT (1 2)|[1, {\"b\":2}]|{ }|TRUE|1.5\n"},
    {FEATURE("{\"\\u0061\\\"\":\"\\u00e9\\ud83d\\ude00\\n\\/\\\\\"}"), "GeoJSON", "|a\"",
     "POINT (1 2)|\xC3\xA9\xF0\x9F\x98\x80\n/\\\n"},
    {FEATURE("{\"n\":123456789012345678901234567890}"), "GeoJSON", "|n",
     "POINT (1 2)|123456789012345678901234567890\n"},
    {"{\"type\":\"Feature\",\"properties\":{\"a\":1}}", "GeoJSON", "|a", "~|1\n"},
    /* text sequences: lines, or texts over several lines */
    {"\x1e" FEATURE("{\"a\":1}") "\n\x1e" FEATURE("{\"a\":2}") "\n", "GeoJSON", "|a",
     "POINT (1 2)|1\nPOINT (1 2)|2\n"},
    {"\x1e\x1e\n{\"type\":\"Point\",\n\"coordinates\":[1,2]}\n\x1e" BARE("Point", "[3,4]"), "GeoJSON", "",
     "POINT (1 2)\nPOINT (3 4)\n"},
    /* documents */
    {"\n{ \"type\" : \"FeatureCollection\", \"name\": \"n\", \"features\": [\n" FEATURE(
         "{\"a\":\"]}\"}") ",\n" FEATURE("{\"a\":2}") "]\n, \"bbox\":[1,2,1,2]}\n",
     "GeoJSON", "|a", "POINT (1 2)|]}\nPOINT (1 2)|2\n"},
    {"{\"features\":[" FEATURE("{}") "],\"type\":\"FeatureCollection\"}", "GeoJSON", "", "POINT (1 2)\n"},
    {"{\"type\":\"FeatureCollection\",\"features\":[]}", "GeoJSON", "", ""},
    {"{\n\"type\":\"Point\",\n\"coordinates\":[1,2]\n}\n{\"type\":\"Point\",\"coordinates\":[3,4]}",
     "GeoJSON", "", "POINT (1 2)\nPOINT (3 4)\n"},
};

static const struct bad_case bad[] = {
    {BARE("Point", "[1]"), H5VEC_E_FORMAT_RECORD, "line 1, column 32: a position of 1 number: "},
    {BARE("Point", "[1,2,3,4]"), H5VEC_E_FORMAT_RECORD, "line 1, column 32: a position of 4 numbers: "},
    {BARE("LineString", "[[1,2],[3,4,5]]"), H5VEC_E_FORMAT_RECORD,
     "line 1, column 44: a position of 3 numbers in"},
    {BARE("LineString", "[[1,2,3],[3,4]]"), H5VEC_E_FORMAT_RECORD,
     "line 1, column 46: a position of 2 numbers in"},
    {BARE("LineString", "[[]]"), H5VEC_E_FORMAT_RECORD, "line 1, column 38: a position of 0 numbers"},
    {BARE("Point", "[1e309,2]"), H5VEC_E_WKT_NUMBER, "line 1, column 32: the number 1e309 is out of"},
    {BARE("Point", "[01,2]"), H5VEC_E_FORMAT_RECORD, "line 1, column 32: not JSON: a number"},
    {BARE("Point", "[+1,2]"), H5VEC_E_FORMAT_RECORD, "line 1, column 32: not JSON: a number"},
    {BARE("Point", "[1.,2]"), H5VEC_E_FORMAT_RECORD, "line 1, column 32: not JSON: a number"},
    {BARE("Point", "[NaN,2]"), H5VEC_E_FORMAT_RECORD, "line 1, column 32: not JSON: a number"},
    {BARE("Point", "[1,2],"), H5VEC_E_FORMAT_RECORD, "line 1, column 37: not JSON: a string"},
    {BARE("Point", "[[1,2]]"), H5VEC_E_FORMAT_RECORD, "line 1, column 32: not JSON: a number"},
    {BARE("Curve", "[1,2]"), H5VEC_E_UNSUPPORTED, "line 1, column 9: geometry type not supported: Curve"},
    {"{\"type\":\"Point\",\"geometries\":[]}", H5VEC_E_FORMAT_RECORD,
     "line 1, column 17: a Point has coordinates"},
    {"{\"type\":\"Point\"}", H5VEC_E_FORMAT_RECORD, "line 1, column 1: a geometry without coordinates"},
    {"{\"coordinates\":[1,2]}", H5VEC_E_FORMAT_RECORD, "line 1, column 1: a geometry without type"},
    {"{\"a\":[1,2]}", H5VEC_E_FORMAT_RECORD, "line 1, column 1: an object without type"},
    {FEATURE("{\"a\":1,\"a\":2}"), H5VEC_E_FORMAT_RECORD, "line 1, column 87: the property a is there twice"},
    {"{\"type\":\"Feature\",\"type\":\"Feature\"}", H5VEC_E_FORMAT_RECORD,
     "line 1, column 26: the member type is"},
    {FEATURE("[]"), H5VEC_E_FORMAT_RECORD, "line 1, column 80: not JSON: '{'"},
    {FEATURE("{\"a\":\"\xFF\"}"), H5VEC_E_FORMAT_RECORD, "line 1, column 86: not UTF-8"},
    {FEATURE("{\"a\":\"\\ud800\"}"), H5VEC_E_FORMAT_RECORD, "line 1, column 86: not text"},
    {FEATURE("{\"a\":\"\\u0000\"}"), H5VEC_E_FORMAT_RECORD, "line 1, column 86: not text"},
    {FEATURE("{\"a\":\"\\x\"}"), H5VEC_E_FORMAT_RECORD, "line 1, column 87: not JSON: an unknown escape"},
    {FEATURE("{\"a\":\"\t\"}"), H5VEC_E_FORMAT_RECORD, "line 1, column 86: not JSON: a control character"},
    {FEATURE("{\"a\":tru}"), H5VEC_E_FORMAT_RECORD, "line 1, column 85: not JSON: a value"},
    {FEATURE("{}") "\n" FEATURE("{}") "x\n", H5VEC_E_TRAILING, "line 2, column 83: text after the end"},
    {FEATURE("{}") "\n{\"type\":\"Feature\"\n", H5VEC_E_FORMAT_RECORD,
     "line 2, column 18: the JSON ends where"},
    {FEATURE("{}") "\n{\"type\":\"FeatureCollection\",\"features\":[]}\n", H5VEC_E_FORMAT_RECORD,
     "line 2, column 9: a FeatureCollection among features"},
    {FEATURE("{}") "\nPOINT (1 2)\n", H5VEC_E_FORMAT_RECORD, "line 2, column 1: not JSON: '{' is expected"},
    {"{\"type\":\"FeatureCollection\",\"features\":[" FEATURE("{}"), H5VEC_E_FORMAT_UNKNOWN,
     "line 1, column 123: the file ends inside its FeatureCollection"},
    {"{\"type\":\"FeatureCollection\",\"features\":[" FEATURE("{}") FEATURE("{}") "]}",
     H5VEC_E_FORMAT_UNKNOWN, "line 1, column 123: not GeoJSON: another feature"},
    {"{\"type\":\"FeatureCollection\",\"features\":[" FEATURE("{}") ",]}", H5VEC_E_FORMAT_UNKNOWN,
     "line 1, column 124: not GeoJSON: another feature"},
    {"{\"type\":\"FeatureCollection\",\"features\":[]}x", H5VEC_E_FORMAT_UNKNOWN,
     "line 1, column 43: text after the end of the Feature"},
    {"{\"features\":[]}", H5VEC_E_FORMAT_UNKNOWN, "line 1, column 16: an object with features"},
    {"{\"type\":\"Feature\",\"crs\":{\"type\":\"name\",\"properties\":{\"name\":\"EPSG:1\"}}}\n"
     "{\"type\":\"Feature\",\"crs\":{\"type\":\"name\",\"properties\":{\"name\":\"EPSG:2\"}}}\n",
     H5VEC_E_FORMAT_RECORD, "line 2, column 25: the crs EPSG:2, but that of the first feature is EPSG:1"},
    {"{\"type\":\"Feature\",\"crs\":{\"type\":\"link\"}}", H5VEC_E_FORMAT_RECORD,
     "line 1, column 25: a crs that is"},
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

START_TEST(skips)
{
    check_skips(FEATURE("{\"a\":1}") "\n{\n" FEATURE("{\"a\":tru}") "\n" FEATURE("{\"a\":2}"),
                "POINT (1 2)|1\nPOINT (1 2)|2\n", 2);
    check_skips("\x1e{\n\"type\":\"Feature\"}\n\x1e{\"type\":\n\x1e" FEATURE("{}"), "~\nPOINT (1 2)\n", 1);
    check_skips("{\"type\":\"FeatureCollection\",\"features\":[" FEATURE("7") "," FEATURE("{}") "]}",
                "POINT (1 2)\n", 1);
    /* a malformed geometry is null, and the columns stay */
    const char *text =
        "{\"type\":\"Feature\",\"geometry\":" BARE("Point", "[1]") ",\"properties\":{\"a\":1}}";
    struct feed feed = {.data = text,
                        .size = strlen(text),
                        .step = 3,
                        .fail_at = SIZE_MAX,
                        .options = {.on_bad = H5VEC_FORMAT_BAD_NULL}};
    struct outcome o = read_feed(&feed, 100, 0);
    ck_assert_int_eq(o.status, H5VEC_OK);
    ck_assert_str_eq(o.rows, "~|1\n");
    ck_assert_uint_eq(o.skipped, 1);
    free(o.rows);
}
END_TEST

/* Behind the first MiB, what has no column is kept as JSON. */
START_TEST(keeps_the_rest)
{
    enum { SIZE = (1 << 20) + 1000 };
    char *text = malloc(SIZE + 1000), *end = text;
    size_t rows = 0;
    for (; end < text + SIZE; rows++)
        end += sprintf(end, "%s\n", FEATURE("{\"a\":\"x\"}"));
    end += sprintf(end, "{\"type\":\"Feature\",\"i\\u0064\":[7],\"t\":1," POINT
                        ",\"properties\":{\"b\" : {\"c\":1},\"a\":2, \"d\":null}}\n");
    end += sprintf(end, "%s\n", FEATURE("{\"b\":\"\\n\"}"));
    struct outcome o = read_text(text, (size_t)(end - text), SIZE_MAX, 1 << 20, 0);
    ck_assert_msg(o.status == H5VEC_OK, "%s", o.err.msg);
    ck_assert_str_eq(o.columns, "|a|other");
    const char *last = o.rows + rows * strlen("POINT (1 2)|x|~\n");
    ck_assert_str_eq(last,
                     "POINT (1 2)|2|{\"i\\u0064\":[7],\"t\":1,\"properties\":{\"b\":{\"c\":1},\"d\":null}}\n"
                     "POINT (1 2)|~|{\"properties\":{\"b\":\"\\n\"}}\n");
    free(o.rows);
    free(text);
}
END_TEST

/* Types are those of JSON's values in the first records; given ones read strings, too. */
START_TEST(types)
{
    static const struct {
        const char *given, *types, *rows;
    } cases[] = {
        {NULL, "|integer|float|boolean|text|text|text",
         "POINT (1 2)|1|1.5|TRUE|1|1|~\nPOINT (1 2)|-2|3|FALSE|2|x|~\n"},
        {"s=integer,*=text", "|text|text|text|integer|text|text",
         "POINT (1 2)|1|1.5|true|1|1|~\nPOINT (1 2)|-2|3|false|2|x|~\n"},
        {"m=integer", "|integer|float|boolean|text|integer|text", NULL},
    };
    const char *text = FEATURE("{\"i\":1,\"f\":1.5,\"b\":true,\"s\":\"1\",\"m\":1,\"z\":null}") "\n" FEATURE(
        "{\"i\":-2,\"f\":3,\"b\":false,\"s\":\"2\",\"m\":\"x\",\"z\":null}");
    struct feed feed = {.data = text, .size = strlen(text), .step = 7, .fail_at = SIZE_MAX};
    feed.options.types = cases[_i].given;
    struct outcome o = read_feed(&feed, 100, 0);
    ck_assert_str_eq(o.types, cases[_i].types);
    if (cases[_i].rows)
        ck_assert_str_eq(o.rows, cases[_i].rows);
    else
        ck_assert_int_eq(o.status, H5VEC_E_FORMAT_RECORD);
    ck_assert_msg(cases[_i].rows || strncmp(o.err.msg, "line 2, column ", 15) == 0, "%s", o.err.msg);
    free(o.rows);
}
END_TEST

/* A value behind the first MiB that its column's type does not hold. */
START_TEST(later_types)
{
    static const char *const later[] = {"{\"a\":1.5}", "{\"a\":\"1\"}", "{\"a\":[1]}", "{\"a\":true}"};
    enum { SIZE = (1 << 20) + 1000 };
    char *text = malloc(SIZE + 1000), *end = text;
    while (end < text + SIZE)
        end += sprintf(end, "%s\n", FEATURE("{\"a\":7}"));
    sprintf(end, "{\"type\":\"Feature\",\"properties\":%s}\n", later[_i]);
    struct outcome o = read_text(text, strlen(text), SIZE_MAX, 1 << 20, 0);
    ck_assert_str_eq(o.types, "|integer|text");
    ck_assert_int_eq(o.status, H5VEC_E_FORMAT_RECORD);
    free(o.rows);
    free(text);
}
END_TEST

static struct outcome nested(size_t depth)
{
    static const char open[] = "{\"type\":\"GeometryCollection\",\"geometries\":[", close[] = "]}";
    char *text = malloc(depth * (sizeof open + sizeof close) + 1), *end = text;
    for (size_t i = 0; i < depth; i++)
        end += sprintf(end, "%s", open);
    for (size_t i = 0; i < depth; i++)
        end += sprintf(end, "%s", close);
    struct outcome o = read_text(text, (size_t)(end - text), SIZE_MAX, 1 << 20, 0);
    free(text);
    return o;
}

START_TEST(limits)
{
    struct outcome o = nested(VCODEC_MAX_DEPTH);
    ck_assert_msg(o.status == H5VEC_OK, "%s", o.err.msg);
    free(o.rows);
    o = nested(VCODEC_MAX_DEPTH + 1);
    ck_assert_int_eq(o.status, H5VEC_E_DEPTH);
    free(o.rows);
    o = read_text(FEATURE("{}"), strlen(FEATURE("{}")), 10, 100, 20);
    ck_assert_int_eq(o.status, H5VEC_E_FORMAT_TOO_LONG);
    free(o.rows);
    char deep[1000] = "{\"type\":\"Feature\",\"a\":";
    memset(deep + strlen(deep), '[', 300);
    check_bad_bytes(deep, strlen(deep), H5VEC_E_DEPTH, "line 1, column 279: JSON nested deeper than 256");
}
END_TEST

START_TEST(truncations)
{
    check_truncations("\x1e" FEATURE("{\"a\":1}") "\n\x1e" FEATURE("{\"a\":2}") "\n");
}
END_TEST

/* Which ones can be read in parts, and the CRS. */
START_TEST(facts)
{
    static const struct {
        const char *text, *crs;
        bool parts;
    } cases[] = {
        {FEATURE("{}"), "OGC:CRS84", true},
        {"\x1e" FEATURE("{}"), "OGC:CRS84", true},
        {"{\"type\":\"FeatureCollection\",\"crs\":{\"type\":\"name\",\"properties\":{\"name\":\"urn:ogc:def:"
         "crs:"
         "EPSG::3857\"}},\"features\":[]}",
         "urn:ogc:def:crs:EPSG::3857", false},
        {"{\"type\":\"FeatureCollection\",\"crs\":{\"type\":\"name\",\"properties\":{\"name\":\"urn:ogc:def:"
         "crs:OGC:"
         "1.3:CRS84\"}},\"features\":[]}",
         "OGC:CRS84", false},
        {"{\"type\":\"Point\",\"crs\":{\"type\":\"name\",\"properties\":{\"name\":\"EPSG:25832\"}},"
         "\"coordinates\":["
         "1,2]}",
         "EPSG:25832", true},
        {"{\"type\":\"Feature\",\"crs\":null}", NULL, true},
        {"{\n\"type\":\"Feature\"}", "OGC:CRS84", false},
    };
    struct feed feed = {
        .data = cases[_i].text, .size = strlen(cases[_i].text), .step = SIZE_MAX, .fail_at = SIZE_MAX};
    struct h5vec_format_reader *reader = NULL;
    ck_assert_int_eq(h5vec_format_open(feed_read, &feed, NULL, &reader, NULL), H5VEC_OK);
    ck_assert_int_eq(h5vec_format_is_text(reader), cases[_i].parts);
    if (cases[_i].crs)
        ck_assert_str_eq(h5vec_format_crs(reader), cases[_i].crs);
    else
        ck_assert_ptr_null(h5vec_format_crs(reader));
    h5vec_format_free(reader);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("format_geojson");
    TCase *tests = tcase_create("geojson");
    tcase_add_loop_test(tests, reads, 0, (int)(sizeof good / sizeof good[0]));
    tcase_add_loop_test(tests, refuses, 0, (int)(sizeof bad / sizeof bad[0]));
    tcase_add_test(tests, skips);
    tcase_add_test(tests, keeps_the_rest);
    tcase_add_loop_test(tests, types, 0, 3);
    tcase_add_loop_test(tests, later_types, 0, 4);
    tcase_add_test(tests, limits);
    tcase_add_test(tests, truncations);
    tcase_add_loop_test(tests, facts, 0, 7);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}

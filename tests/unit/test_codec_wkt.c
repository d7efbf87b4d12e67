/* SPDX-License-Identifier: BSD-3-Clause
 * WKT in and out: the project's table of right answers, what it leaves open, and the places of errors.
 */
#include <math.h>
#include "codec_test.h"

static const char *source_dir(void)
{
    const char *dir = getenv("H5VEC_SOURCE_DIR");
    return dir ? dir : ".";
}

static enum h5vec_status read_guarded(const char *text, size_t size, unsigned flags, uint8_t *out,
                                      size_t capacity, struct vcodec_info *info, struct h5vec_error *err)
{
    char *copy = (char *)guarded(size);
    memcpy(copy, text, size);
    return vcodec_wkt_read(copy, size, flags, out, capacity, info, err);
}

/* tests/cases/wkt.tsv */

static size_t unescape(const char *in, size_t n, char *out)
{
    char *p = out;
    for (size_t i = 0; i < n; i++) {
        if (in[i] != '\\' || i + 1 == n) {
            *p++ = in[i];
            continue;
        }
        i++;
        if (in[i] == 'B')
            p += sprintf(p, "\xef\xbb\xbf");
        else if (in[i] == 'r')
            *p++ = '\r';
        else if (in[i] == 'n')
            *p++ = '\n';
        else
            *p++ = '\t';
    }
    return (size_t)(p - out);
}

static void check_case(const char *line, const char *input, size_t size, const char *verdict,
                       const char *canonical)
{
    uint8_t out[4096];
    char text[4096];
    struct vcodec_info info;
    struct h5vec_error err = {0};
    enum h5vec_status status = read_guarded(input, size, 0, out, sizeof out, &info, &err);
    if (strcmp(verdict, "error") == 0) {
        ck_assert_msg(status != H5VEC_OK && err.status == status && err.msg[0] && err.offset <= size, "%s",
                      line);
        return;
    }
    ck_assert_msg(status == H5VEC_OK, "%s: %s", line, err.msg);
    ck_assert_msg(info.invalid == (strcmp(verdict, "ok, invalid") == 0), "%s", line);
    struct bytes expected = from_wkt(canonical);
    ck_assert_msg(info.wkb_size == expected.size && memcmp(out, expected.data, expected.size) == 0, "%s",
                  line);
    /* The table's spelling and ours are the same text, but for numbers, of which one is spelled another way.
     */
    to_wkt(expected, text, sizeof text);
    ck_assert_msg(strcmp(text, canonical) == 0 || strpbrk(canonical, "e"), "%s: %s", line, text);
}

START_TEST(table_of_right_answers)
{
    char path[1024], line[1024], input[1024];
    snprintf(path, sizeof path, "%s/tests/cases/wkt.tsv", source_dir());
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s", path);
    int cases = 0;
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#' || !line[0])
            continue;
        char *verdict = strchr(line, '\t'), *canonical = verdict ? strchr(verdict + 1, '\t') : NULL;
        ck_assert_msg(canonical != NULL, "%s", line);
        size_t size = unescape(line, (size_t)(verdict - line), input);
        *canonical = '\0';
        check_case(line, input, size, verdict + 1, canonical + 1);
        cases++;
    }
    fclose(f);
    ck_assert_int_ge(cases, 30);
}
END_TEST

/* What is accepted beyond the table, and how it is written out. */
static const struct {
    const char *in, *out;
} good[] = {
    {"POINT Z EMPTY", "POINT Z EMPTY"},
    {"pointzm empty", "POINT ZM EMPTY"},
    {"Point\n\tZM\r(\v1\f2 3 4 )", "POINT ZM (1 2 3 4)"},
    {"POINT(1 2 3 4)", "POINT ZM (1 2 3 4)"},
    {"LINESTRING EMPTY", "LINESTRING EMPTY"},
    {"LINESTRING M(1 2 3,4 5 6)", "LINESTRING M (1 2 3,4 5 6)"},
    {"linestringz( 1 2 3 , 4 5 6 )", "LINESTRING Z (1 2 3,4 5 6)"},
    {"POLYGON EMPTY", "POLYGON EMPTY"},
    {"POLYGON(EMPTY)", "POLYGON (EMPTY)"},
    {"POLYGON Z((0 0 1,1 0 1,1 1 1,0 0 1))", "POLYGON Z ((0 0 1,1 0 1,1 1 1,0 0 1))"},
    {"MULTIPOINT EMPTY", "MULTIPOINT EMPTY"},
    {"MULTIPOINT(EMPTY, 1 1,(2 2), empty)", "MULTIPOINT (EMPTY,(1 1),(2 2),EMPTY)"},
    {"MULTIPOINT(EMPTY, 1 1 1)", "MULTIPOINT Z (EMPTY,(1 1 1))"},
    {"MULTIPOINT(EMPTY, (1 1 1 1))", "MULTIPOINT ZM (EMPTY,(1 1 1 1))"},
    {"MULTILINESTRING((1 1,2 2),EMPTY)", "MULTILINESTRING ((1 1,2 2),EMPTY)"},
    {"MULTIPOLYGON(((0 0,1 0,1 1,0 0),EMPTY),EMPTY)", "MULTIPOLYGON (((0 0,1 0,1 1,0 0),EMPTY),EMPTY)"},
    {"GEOMETRYCOLLECTION EMPTY", "GEOMETRYCOLLECTION EMPTY"},
    {"GEOMETRYCOLLECTION(GEOMETRYCOLLECTION EMPTY,GEOMETRYCOLLECTION(POINT(1 2)))",
     "GEOMETRYCOLLECTION (GEOMETRYCOLLECTION EMPTY,GEOMETRYCOLLECTION (POINT (1 2)))"},
    {"GEOMETRYCOLLECTION(MULTIPOINT(1 2),POLYGON EMPTY,LINESTRING(1 2,3 4))",
     "GEOMETRYCOLLECTION (MULTIPOINT ((1 2)),POLYGON EMPTY,LINESTRING (1 2,3 4))"},
    /* members without a tag have their collection's dimension, and the other way round */
    {"GEOMETRYCOLLECTION Z(POINT EMPTY,POINT(1 2 3))",
     "GEOMETRYCOLLECTION Z (POINT Z EMPTY,POINT Z (1 2 3))"},
    {"GEOMETRYCOLLECTION M(POINT(1 2 3))", "GEOMETRYCOLLECTION M (POINT M (1 2 3))"},
    {"GEOMETRYCOLLECTION(POINT EMPTY,POINT Z(1 2 3))",
     "GEOMETRYCOLLECTION Z (POINT Z EMPTY,POINT Z (1 2 3))"},
    {"GEOMETRYCOLLECTION(POINT M(1 2 3),POINT(1 2 4))",
     "GEOMETRYCOLLECTION M (POINT M (1 2 3),POINT M (1 2 4))"},
    {"\xef\xbb\xbf srid = -12 ; POINT(1 2)", "POINT (1 2)"},
    {"POINT(0.1 1e23)", "POINT (0.1 1e+23)"},
    {"POINT(-1e-400 00012.500)", "POINT (-0 12.5)"},
};

START_TEST(reads_and_writes)
{
    char text[4096];
    ck_assert_str_eq(to_wkt(from_wkt(good[_i].in), text, sizeof text), good[_i].out);
    ck_assert_str_eq(to_wkt(from_wkt(text), text, sizeof text), good[_i].out);
}
END_TEST

/* Each with its status, the offset of the error, and a word of the message. */
static const struct {
    const char *text;
    enum h5vec_status status;
    unsigned offset;
    const char *message;
} bad[] = {
    {"", H5VEC_E_TRUNCATED, 0, "a geometry type expected"},
    {"   ", H5VEC_E_TRUNCATED, 3, "a geometry type expected"},
    {"123", H5VEC_E_WKT_SYNTAX, 0, "'1', a geometry type expected"},
    {"POINTS(1 2)", H5VEC_E_WKT_SYNTAX, 0, "a geometry type expected"},
    {"POINTMZ(1 2 3 4)", H5VEC_E_WKT_SYNTAX, 0, "a geometry type expected"},
    {"POINT", H5VEC_E_TRUNCATED, 5, "'(' or EMPTY expected"},
    {"POINT Q(1 2)", H5VEC_E_WKT_SYNTAX, 6, "'(' or EMPTY expected"},
    {"POINT Z M(1 2 3 4)", H5VEC_E_WKT_SYNTAX, 8, "'(' or EMPTY expected"},
    {"POINT EMPTYX", H5VEC_E_WKT_SYNTAX, 6, "'(' or EMPTY expected"},
    {"POINT EMPTY)", H5VEC_E_TRAILING, 11, "text after"},
    {"POINT EMPTY EMPTY", H5VEC_E_TRAILING, 12, "text after"},
    {"POINT(1 2))", H5VEC_E_TRAILING, 10, "text after"},
    {"POINT(1 2);", H5VEC_E_TRAILING, 10, "text after"},
    {"POINT()", H5VEC_E_WKT_SYNTAX, 6, "a number expected"},
    {"POINT(", H5VEC_E_TRUNCATED, 6, "a number expected"},
    {"POINT(1", H5VEC_E_TRUNCATED, 7, "another ordinate expected"},
    {"POINT(1 ", H5VEC_E_TRUNCATED, 8, "a number expected"},
    {"POINT(1 2", H5VEC_E_TRUNCATED, 9, "')' expected"},
    {"POINT(1 2 ", H5VEC_E_TRUNCATED, 10, "')' expected"},
    {"POINT(1)", H5VEC_E_WKT_SYNTAX, 7, "1 ordinate where points have 2 (XY)"},
    {"POINT(1 2,3 4)", H5VEC_E_WKT_SYNTAX, 9, "',', ')' expected"},
    {"POINT(1 2 x)", H5VEC_E_WKT_SYNTAX, 10, "',' or ')' expected"},
    {"POINT(1 2x)", H5VEC_E_WKT_NUMBER, 9, "not a decimal number"},
    {"POINT(0x10 2)", H5VEC_E_WKT_NUMBER, 7, "not a decimal number"},
    {"POINT(1.2.3 4)", H5VEC_E_WKT_NUMBER, 9, "not a decimal number"},
    {"POINT(1e 4)", H5VEC_E_WKT_NUMBER, 7, "not a decimal number"},
    {"POINT(a b)", H5VEC_E_WKT_SYNTAX, 6, "'a', a number expected"},
    {"POINT(\x01 b)", H5VEC_E_WKT_SYNTAX, 6, "byte 0x01, a number expected"},
    {"POINT(1 \xc3\xa9)", H5VEC_E_WKT_SYNTAX, 8, "byte 0xc3, a number expected"},
    {"POINT(1,5 2,5)", H5VEC_E_WKT_SYNTAX, 7, "decimal comma?"},
    {"POINT(1 1e309)", H5VEC_E_WKT_NUMBER, 8, "out of a double's range"},
    {"POINT(-1e999 1)", H5VEC_E_WKT_NUMBER, 6, "out of a double's range"},
    {"POINT(nan 1)", H5VEC_E_NONFINITE, 6, "'nan'"},
    {"POINT(1 -Infinity)", H5VEC_E_NONFINITE, 8, "'-Infinity'"},
    {"POINT(1 2 3 4 5)", H5VEC_E_WKT_SYNTAX, 10, "5 ordinates where points have 2"},
    {"POINT Z(1 2)", H5VEC_E_WKT_SYNTAX, 11, "2 ordinates where points have 3 (XYZ)"},
    {"POINT ZM(1 2 3)", H5VEC_E_WKT_SYNTAX, 14, "3 ordinates where points have 4 (XYZM)"},
    {"POINT M(1 2 3 4)", H5VEC_E_WKT_SYNTAX, 14, "4 ordinates where points have 3 (XYM)"},
    {"LINESTRING(1 2,3 4 5)", H5VEC_E_WKT_SYNTAX, 19, "3 ordinates where points have 2"},
    {"LINESTRING(1 2 3,3 4)", H5VEC_E_WKT_SYNTAX, 20, "2 ordinates where points have 3"},
    {"LINESTRING(1 2,)", H5VEC_E_WKT_SYNTAX, 15, "a number expected"},
    {"LINESTRING(1 2,EMPTY)", H5VEC_E_WKT_SYNTAX, 15, "a number expected"},
    {"LINESTRING(1 2 (", H5VEC_E_WKT_SYNTAX, 15, "',' or ')' expected"},
    {"LINESTRING((1 2,3 4))", H5VEC_E_WKT_SYNTAX, 11, "a number expected"},
    {"POLYGON(0 0,1 0,1 1,0 0)", H5VEC_E_WKT_SYNTAX, 8, "'(' or EMPTY expected"},
    {"POLYGON((0 0,1 0,1 1,0 0)", H5VEC_E_TRUNCATED, 25, "',' or ')' expected"},
    {"POLYGON((0 0,1 0,1 1,0 0)(", H5VEC_E_WKT_SYNTAX, 25, "',' or ')' expected"},
    {"MULTIPOINT(1 1", H5VEC_E_TRUNCATED, 14, "')' expected"},
    {"MULTIPOINT((1 1),", H5VEC_E_TRUNCATED, 17, "a number expected"},
    {"MULTIPOINT((1 1,2 2))", H5VEC_E_WKT_SYNTAX, 15, "')' expected"},
    {"MULTIPOINT(1 1, 2 2 2)", H5VEC_E_WKT_SYNTAX, 20, "3 ordinates where points have 2"},
    {"MULTIPOINT(POINT(1 1))", H5VEC_E_WKT_SYNTAX, 11, "a number expected"},
    {"GEOMETRYCOLLECTION(1 2)", H5VEC_E_WKT_SYNTAX, 19, "a geometry type expected"},
    {"GEOMETRYCOLLECTION()", H5VEC_E_WKT_SYNTAX, 19, "a geometry type expected"},
    {"GEOMETRYCOLLECTION Z(POINT M(1 2 3))", H5VEC_E_MEMBER, 21,
     "dimension XYM among others of dimension XYZ"},
    {"GEOMETRYCOLLECTION(POINT(1 2),POINT Z(1 2 3))", H5VEC_E_MEMBER, 30, "XYZ among others of dimension XY"},
    {"GEOMETRYCOLLECTION(POINT(1 2),POINT(1 2 3))", H5VEC_E_WKT_SYNTAX, 40,
     "3 ordinates where points have 2"},
    {"CIRCULARSTRING(0 0,1 1,2 0)", H5VEC_E_UNSUPPORTED, 0, "CircularString"},
    {"GEOMETRYCOLLECTION(TIN Z EMPTY)", H5VEC_E_UNSUPPORTED, 19, "TIN"},
    {"CURVEPOLYGONZM EMPTY", H5VEC_E_UNSUPPORTED, 0, "CurvePolygon"},
    {"SRID=4326", H5VEC_E_TRUNCATED, 9, "';' expected"},
    {"SRID=;POINT(1 2)", H5VEC_E_WKT_SYNTAX, 5, "an integer expected"},
    {"SRID:1;POINT(1 2)", H5VEC_E_WKT_SYNTAX, 4, "'=' expected"},
    {"SRID=1.5;POINT(1 2)", H5VEC_E_WKT_SYNTAX, 6, "';' expected"},
    {"SRID=2147483648;POINT(1 2)", H5VEC_E_WKT_NUMBER, 5, "SRID out of range"},
    {"SRID=99999999999999999999999999;POINT(1 2)", H5VEC_E_WKT_NUMBER, 5, "SRID out of range"},
    {"AVERYVERYVERYLONGWORDTHATISNOTYPE(1 2)", H5VEC_E_WKT_SYNTAX, 0, "a geometry type expected"},
};

START_TEST(errors_say_what_and_where)
{
    struct vcodec_info info = {.srid = 77};
    struct h5vec_error err = {0};
    enum h5vec_status status = read_guarded(bad[_i].text, strlen(bad[_i].text), 0, NULL, 0, &info, &err);
    ck_assert_msg(status == bad[_i].status && err.status == status, "%s: %s (%s)", bad[_i].text, err.msg,
                  h5vec_errname(status));
    ck_assert_msg(strstr(err.msg, bad[_i].message), "%s: %s", bad[_i].text, err.msg);
    ck_assert_msg(err.offset == bad[_i].offset, "%s: %s at %ju", bad[_i].text, err.msg,
                  (uintmax_t)err.offset);
    ck_assert_int_eq(info.srid, 77);
    ck_assert_int_eq(read_guarded(bad[_i].text, strlen(bad[_i].text), 0, NULL, 0, &info, NULL), status);
}
END_TEST

/* Cut at any byte, a text that ends with ')' or EMPTY is an error; so is any text with NUL behind it. */
START_TEST(every_prefix_is_an_error)
{
    const char *text = good[_i].in;
    struct vcodec_info info;
    for (size_t n = 0; n < strlen(text); n++) {
        enum h5vec_status status = read_guarded(text, n, VCODEC_ALLOW_NONFINITE, NULL, 0, &info, NULL);
        ck_assert_msg(status != H5VEC_OK, "%.*s", (int)n, text);
    }
    ck_assert_int_eq(read_guarded(text, strlen(text) + 1, 0, NULL, 0, &info, NULL), H5VEC_E_TRAILING);
}
END_TEST

START_TEST(writes_wkb_into_every_capacity)
{
    const char *text = good[_i].in;
    struct bytes wkb = from_wkt(text);
    ck_assert_uint_le(wkb.size, vcodec_wkt_bound(strlen(text)));
    for (size_t capacity = 0; capacity <= wkb.size + 40; capacity++) {
        struct vcodec_info info;
        uint8_t *out = guarded(capacity);
        ck_assert_int_eq(vcodec_wkt_read(text, strlen(text), 0, out, capacity, &info, NULL), H5VEC_OK);
        ck_assert_uint_eq(info.wkb_size, wkb.size);
        if (capacity >= wkb.size)
            ck_assert_mem_eq(out, wkb.data, wkb.size);
    }
}
END_TEST

START_TEST(writes_wkt_into_every_capacity)
{
    const char *text = good[_i].out;
    struct bytes wkb = from_wkt(text);
    for (size_t capacity = 0; capacity <= strlen(text) + 2; capacity++) {
        char *out = (char *)guarded(capacity);
        size_t length = 0;
        ck_assert_int_eq(vcodec_wkt_write(wkb.data, wkb.size, out, capacity, &length, NULL), H5VEC_OK);
        ck_assert_uint_eq(length, strlen(text));
        ck_assert_mem_eq(out, text, capacity < length ? capacity : length);
    }
}
END_TEST

/* The worst ratio of bytes to characters is that of empty members. */
START_TEST(bound_holds_for_the_densest_texts)
{
    static const char *const starts[] = {"MULTIPOINTZM(", "MULTIPOINT(", "MULTIPOLYGON(", "POLYGON("};
    static const char *const members[] = {"EMPTY", "1 2", "EMPTY", "EMPTY"};
    for (int k = 0; k < 4; k++) {
        char text[8192];
        size_t n = (size_t)sprintf(text, "%s%s", starts[k], members[k]);
        for (int i = 0; i < 1000; i++) {
            struct vcodec_info info;
            text[n] = ')';
            ck_assert_int_eq(vcodec_wkt_read(text, n + 1, 0, NULL, 0, &info, NULL), H5VEC_OK);
            ck_assert_uint_le(info.wkb_size, vcodec_wkt_bound(n + 1));
            n += (size_t)sprintf(text + n, ",%s", members[k]);
        }
    }
    ck_assert_uint_eq(vcodec_wkt_bound(SIZE_MAX), SIZE_MAX);
}
END_TEST

/* More points than a block holds, with the output at every alignment and also too small. */
START_TEST(long_lines_in_blocks)
{
    enum { POINTS = 1000 };
    static char text[POINTS * 24];
    char *p = text + sprintf(text, "LINESTRING (");
    for (int i = 0; i < POINTS; i++)
        p += sprintf(p, "%s%d %d.25", i ? "," : "", i, -i);
    p += sprintf(p, ")");
    struct vcodec_info info;
    size_t expected = 9 + 16 * POINTS;
    for (size_t spare = 0; spare < 3; spare++) {
        uint8_t *out = guarded(expected + spare);
        size_t size = (size_t)(p - text);
        ck_assert_int_eq(vcodec_wkt_read(text, size, 0, out, expected + spare, &info, NULL), H5VEC_OK);
        ck_assert(info.wkb_size == expected && info.vertices == POINTS);
        ck_assert(info.box.xmin == 0 && info.box.ymin == 1 - POINTS - 0.25);
        ck_assert(info.box.xmax == POINTS - 1 && info.box.ymax == 0.25);
        static char back[sizeof text];
        struct bytes wkb = {out, expected};
        text[size] = '\0';
        char *canonical = strstr(to_wkt(wkb, back, sizeof back), "(0 0.25,1 -1.25,");
        ck_assert_ptr_nonnull(canonical);
        ck_assert_str_eq(canonical, strchr(text, '('));
        ck_assert_int_eq(vcodec_wkt_read(text, size, 0, guarded(100), 100, &info, NULL), H5VEC_OK);
        ck_assert_uint_eq(info.wkb_size, expected);
    }
}
END_TEST

static enum h5vec_status read_nested(unsigned depth, const char *inner, struct h5vec_error *err)
{
    static char text[1 << 16];
    char *p = text;
    for (unsigned i = 0; i < depth; i++)
        p += sprintf(p, "GEOMETRYCOLLECTION(");
    p += sprintf(p, "%s", inner);
    for (unsigned i = 0; i < depth; i++)
        *p++ = ')';
    struct vcodec_info info;
    return vcodec_wkt_read(text, (size_t)(p - text), 0, NULL, 0, &info, err);
}

START_TEST(depth_is_limited)
{
    struct h5vec_error err;
    ck_assert_int_eq(read_nested(VCODEC_MAX_DEPTH, "POINT(1 2)", NULL), H5VEC_OK);
    ck_assert_int_eq(read_nested(VCODEC_MAX_DEPTH, "POLYGON((0 0,1 0,1 1,0 0))", NULL), H5VEC_OK);
    ck_assert_int_eq(read_nested(VCODEC_MAX_DEPTH - 1, "MULTIPOLYGON(((0 0,1 0,1 1,0 0)))", NULL), H5VEC_OK);
    ck_assert_int_eq(read_nested(VCODEC_MAX_DEPTH, "MULTIPOINT(1 2)", &err), H5VEC_E_DEPTH);
    ck_assert_int_eq(read_nested(VCODEC_MAX_DEPTH + 1, "POINT(1 2)", &err), H5VEC_E_DEPTH);
    ck_assert_int_eq(read_nested(3000, "POINT(1 2)", &err), H5VEC_E_DEPTH);
}
END_TEST

START_TEST(nonfinite_where_allowed)
{
    char text[256];
    static const char *const same[] = {"POINT (nan 1)", "POINT (1 nan)", "LINESTRING (nan nan,inf -inf)",
                                       "POINT Z (nan nan 1)", "MULTIPOINT ((nan 1),EMPTY)"};
    for (int i = 0; i < 5; i++) {
        struct bytes wkb = from_wkt(same[i]);
        struct vcodec_info info;
        ck_assert_str_eq(to_wkt(wkb, text, sizeof text), same[i]);
        ck_assert_int_eq(vcodec_wkb_scan(wkb.data, wkb.size, &info, NULL), H5VEC_OK);
        ck_assert(info.nonfinite);
        ck_assert_int_eq(read_guarded(same[i], strlen(same[i]), 0, NULL, 0, &info, NULL), H5VEC_E_NONFINITE);
    }
    ck_assert_str_eq(to_wkt(from_wkt("POINT(+NaN -Infinity)"), text, sizeof text), "POINT (nan -inf)");
    static const char *const always[] = {"POINT(nan nan)", "POINT Z(nan nan nan)", "MULTIPOINT(nan nan)",
                                         "MULTIPOINT((1 1),(nan nan))"};
    for (int i = 0; i < 4; i++) {
        struct vcodec_info info;
        const char *t = always[i];
        ck_assert_int_eq(read_guarded(t, strlen(t), VCODEC_ALLOW_NONFINITE, NULL, 0, &info, NULL),
                         H5VEC_E_NONFINITE);
    }
}
END_TEST

START_TEST(srid_and_flags)
{
    struct vcodec_info info;
    ck_assert_int_eq(read_guarded("SRID=4326;POINT(1 2 3)", 22, 0, NULL, 0, &info, NULL), H5VEC_OK);
    ck_assert(info.has_srid && info.srid == 4326 && info.dim == VCODEC_XYZ && info.wkb_size == 29);
    ck_assert_int_eq(read_guarded("srid=-7 ; POINT EMPTY", 21, 0, NULL, 0, &info, NULL), H5VEC_OK);
    ck_assert(info.has_srid && info.srid == -7);
    ck_assert_int_eq(read_guarded("POINT(1 2)", 10, 0, NULL, 0, &info, NULL), H5VEC_OK);
    ck_assert(!info.has_srid && info.srid == 0);
    ck_assert_int_eq(read_guarded("POINT(1 2)", 10, 2, NULL, 0, &info, NULL), H5VEC_E_ARG);
}
END_TEST

/* "POINT (x y)" to the letter is read on a path of its own: that a space before it must change nothing shows
 * that both agree, on points and on what is almost one. */
START_TEST(plain_points_are_like_all_others)
{
    static const char *const seeds[] = {"POINT (12.5 -3e5)", "POINT(-0 1e-320)",
                                        "POINT (123456789012345678901 .5)", "POINT (1e308 9.99e308)"};
    static const char letters[] = "POINTZMpoint()0123456789.+-eE, \tn";
    uint64_t state = 20261130;
    for (int i = 0; i < 40000; i++) {
        char text[64] = " ";
        strcpy(text + 1, seeds[i % 4]);
        size_t size = strlen(text) - 1;
        for (int changes = i / 4 % 3; changes > 0; changes--) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            text[1 + (state >> 33) % size] = letters[(state >> 48) % (sizeof letters - 1)];
        }
        uint8_t out[2][128];
        struct vcodec_info info[2];
        struct h5vec_error err[2];
        enum h5vec_status status[2];
        memset(info, 0, sizeof info);
        for (int k = 0; k < 2; k++) {
            size_t n = size + 1 - (size_t)k;
            char *copy =
                malloc(n); /* of just that size: AddressSanitizer and valgrind see what is read behind it */
            memcpy(copy, text + k, n);
            status[k] = vcodec_wkt_read(copy, n, 0, out[k], sizeof out[k], &info[k], &err[k]);
            free(copy);
        }
        ck_assert_msg(status[0] == status[1], "%s", text);
        if (status[0]) {
            ck_assert_msg(err[0].offset == err[1].offset + 1 && strcmp(err[0].msg, err[1].msg) == 0, "%s",
                          text);
            continue;
        }
        ck_assert_msg(memcmp(out[0], out[1], info[0].wkb_size) == 0, "%s", text);
        ck_assert_msg(info[0].wkb_size == info[1].wkb_size && info[0].vertices == info[1].vertices &&
                          info[0].empty == info[1].empty && info[0].invalid == info[1].invalid &&
                          info[0].nonfinite == info[1].nonfinite && info[0].has_srid == info[1].has_srid &&
                          info[0].type == info[1].type && info[0].dim == info[1].dim &&
                          info[0].box.xmin == info[1].box.xmin && info[0].box.xmax == info[1].box.xmax &&
                          info[0].box.ymin == info[1].box.ymin && info[0].box.ymax == info[1].box.ymax,
                      "%s", text);
    }
}
END_TEST

int main(void)
{
    const int goods = sizeof good / sizeof *good, bads = sizeof bad / sizeof *bad;
    Suite *suite = suite_create("codec_wkt");
    TCase *read = tcase_create("read");
    tcase_add_test(read, table_of_right_answers);
    tcase_add_loop_test(read, reads_and_writes, 0, goods);
    tcase_add_loop_test(read, errors_say_what_and_where, 0, bads);
    tcase_add_test(read, nonfinite_where_allowed);
    tcase_add_test(read, srid_and_flags);
    tcase_add_test(read, plain_points_are_like_all_others);
    suite_add_tcase(suite, read);
    TCase *bounds = tcase_create("bounds");
    tcase_add_loop_test(bounds, every_prefix_is_an_error, 0, goods);
    tcase_add_loop_test(bounds, writes_wkb_into_every_capacity, 0, goods);
    tcase_add_loop_test(bounds, writes_wkt_into_every_capacity, 0, goods);
    tcase_add_test(bounds, bound_holds_for_the_densest_texts);
    tcase_add_test(bounds, long_lines_in_blocks);
    tcase_add_test(bounds, depth_is_limited);
    suite_add_tcase(suite, bounds);
    return run_suite(suite);
}

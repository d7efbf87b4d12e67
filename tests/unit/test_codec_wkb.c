/* SPDX-License-Identifier: BSD-3-Clause
 * WKB in: what each byte of ISO WKB and EWKB means, what must be refused and where, and that nothing is read
 * or written outside. Bytes are spelled in hexadecimal, so that the tests do not depend on a writer.
 */
#include <math.h>
#include "codec_test.h"

/* 1.0, 2.0, 3.0, 4.0, NaN in both byte orders */
#define L1 "000000000000f03f "
#define L2 "0000000000000040 "
#define L3 "0000000000000840 "
#define L4 "0000000000001040 "
#define LN "000000000000f87f "
#define B1 "3ff0000000000000 "
#define B2 "4000000000000000 "
#define B3 "4008000000000000 "
#define B4 "4010000000000000 "
#define BN "7ff8000000000000 "

static const struct {
    const char *hex, *wkt;
} good[] = {
    {"01 01000000" L1 L2, "POINT (1 2)"},
    {"00 00000001" B1 B2, "POINT (1 2)"},
    {"01 e9030000" L1 L2 L3, "POINT Z (1 2 3)"},
    {"00 000003e9" B1 B2 B3, "POINT Z (1 2 3)"},
    {"01 d1070000" L1 L2 L3, "POINT M (1 2 3)"},
    {"01 b90b0000" L1 L2 L3 L4, "POINT ZM (1 2 3 4)"},
    {"01 01000080" L1 L2 L3, "POINT Z (1 2 3)"},
    {"01 01000040" L1 L2 L3, "POINT M (1 2 3)"},
    {"01 010000c0" L1 L2 L3 L4, "POINT ZM (1 2 3 4)"},
    {"00 c0000001" B1 B2 B3 B4, "POINT ZM (1 2 3 4)"},
    {"01 01000020 e6100000" L1 L2, "POINT (1 2)"},
    {"01 010000a0 e6100000" L1 L2 L3, "POINT Z (1 2 3)"},
    {"00 e0000001 000010e6" B1 B2 B3 B4, "POINT ZM (1 2 3 4)"},
    {"01 01000000" LN LN, "POINT EMPTY"},
    {"00 000003e9" BN BN BN, "POINT Z EMPTY"},
    {"01 01000000"
     "ffffffffffffffff 010000000000f0ff",
     "POINT EMPTY"}, /* any NaNs */
    {"01 01000000" LN L1, "POINT (nan 1)"},
    {"01 02000000 00000000", "LINESTRING EMPTY"},
    {"01 02000000 02000000" L1 L2 L3 L4, "LINESTRING (1 2,3 4)"},
    {"00 000007d2 00000001" B1 B2 B3, "LINESTRING M (1 2 3)"},
    {"01 03000000 00000000", "POLYGON EMPTY"},
    {"01 03000000 02000000 00000000 01000000" L1 L2, "POLYGON (EMPTY,(1 2))"},
    {"01 04000000 00000000", "MULTIPOINT EMPTY"},
    {"01 04000000 02000000 01 01000000" L1 L2 "01 01000000" LN LN, "MULTIPOINT ((1 2),EMPTY)"},
    {"00 00000004 00000002 01 01000000" L1 L2 "00 00000001" B3 B4,
     "MULTIPOINT ((1 2),(3 4))"}, /* mixed orders */
    {"01 05000000 01000000 00 00000002 00000001" B1 B2, "MULTILINESTRING ((1 2))"},
    {"01 06000000 01000000 01 03000000 01000000 00000000", "MULTIPOLYGON ((EMPTY))"},
    {"01 07000000 00000000", "GEOMETRYCOLLECTION EMPTY"},
    {"01 ef030000 00000000", "GEOMETRYCOLLECTION Z EMPTY"},
    {"01 07000000 02000000 00 00000007 00000001 01 01000000" L1 L2 "01 05000000 00000000",
     "GEOMETRYCOLLECTION (GEOMETRYCOLLECTION (POINT (1 2)),MULTILINESTRING EMPTY)"},
    /* ISO members in an EWKB collection, and SRIDs that agree */
    {"01 07000080 01000000 01 e9030000" L1 L2 L3, "GEOMETRYCOLLECTION Z (POINT Z (1 2 3))"},
    {"01 04000020 e6100000 01000000 00 20000001 000010e6" B1 B2, "MULTIPOINT ((1 2))"},
    {"01 04000000 01000000 01 01000020 e6100000" L1 L2, "MULTIPOINT ((1 2))"},
};

START_TEST(reads_every_spelling)
{
    char text[1024];
    struct bytes wkb = from_hex(good[_i].hex);
    ck_assert_str_eq(to_wkt(wkb, text, sizeof text), good[_i].wkt);
    /* The canonical form is what the text says, no longer than the input, and its own canonical form. */
    struct vcodec_info info, again;
    uint8_t *out = guarded(wkb.size);
    ck_assert_int_eq(vcodec_wkb_canonical(wkb.data, wkb.size, out, wkb.size, &info, NULL), H5VEC_OK);
    struct bytes expected = from_wkt(good[_i].wkt);
    ck_assert_uint_eq(info.wkb_size, expected.size);
    ck_assert_mem_eq(out, expected.data, expected.size);
    ck_assert_int_eq(vcodec_wkb_canonical(expected.data, expected.size, out, wkb.size, &again, NULL),
                     H5VEC_OK);
    ck_assert_mem_eq(out, expected.data, expected.size);
    ck_assert_uint_eq(again.wkb_size, info.wkb_size);
}
END_TEST

START_TEST(every_prefix_is_an_error)
{
    struct bytes whole = from_hex(good[_i].hex);
    for (size_t n = 0; n < whole.size; n++) {
        struct vcodec_info info = {.srid = 77};
        struct h5vec_error err = {0};
        uint8_t *part = guarded(n);
        memcpy(part, whole.data, n);
        enum h5vec_status status = vcodec_wkb_scan(part, n, &info, &err);
        ck_assert(status == H5VEC_E_TRUNCATED || status == H5VEC_E_COUNT);
        ck_assert(err.status == status && err.offset <= n && info.srid == 77);
    }
    uint8_t *more = guarded(whole.size + 1);
    memcpy(more, whole.data, whole.size);
    struct vcodec_info info;
    struct h5vec_error err = {0};
    ck_assert_int_eq(vcodec_wkb_scan(more, whole.size + 1, &info, &err), H5VEC_E_TRAILING);
    ck_assert_uint_eq(err.offset, whole.size);
    ck_assert_int_eq(vcodec_wkb_scan(NULL, 0, &info, &err), H5VEC_E_TRUNCATED);
}
END_TEST

START_TEST(writes_into_every_capacity)
{
    struct bytes wkb = from_hex(good[_i].hex), expected = from_wkt(good[_i].wkt);
    for (size_t capacity = 0; capacity <= wkb.size; capacity++) {
        struct vcodec_info info;
        uint8_t *out = guarded(capacity);
        ck_assert_int_eq(vcodec_wkb_canonical(wkb.data, wkb.size, out, capacity, &info, NULL), H5VEC_OK);
        ck_assert_uint_eq(info.wkb_size, expected.size);
        if (capacity >= expected.size)
            ck_assert_mem_eq(out, expected.data, expected.size);
    }
}
END_TEST

static const struct {
    const char *hex;
    enum h5vec_status status;
    unsigned offset;
    const char *message;
} bad[] = {
    {"", H5VEC_E_TRUNCATED, 0, "header: 5 bytes needed, 0 left"},
    {"02 01000000" L1 L2, H5VEC_E_WKB_TYPE, 0, "byte order mark 2"},
    {"ff 01000000" L1 L2, H5VEC_E_WKB_TYPE, 0, "byte order mark 255"},
    {"01 00000000" L1 L2, H5VEC_E_WKB_TYPE, 1, "0x00000000"},
    {"01 12000000" L1 L2, H5VEC_E_WKB_TYPE, 1, "0x00000012"},
    {"01 e8030000" L1 L2, H5VEC_E_WKB_TYPE, 1, "0x000003e8"},
    {"01 a10f0000" L1 L2, H5VEC_E_WKB_TYPE, 1, "0x00000fa1"},             /* 4001 */
    {"01 01000010" L1 L2, H5VEC_E_WKB_TYPE, 1, "0x10000001"},             /* a flag that nobody defined */
    {"01 e9030080" L1 L2 L3, H5VEC_E_WKB_TYPE, 1, "0x800003e9"},          /* ISO's Z and EWKB's */
    {"01 e9030020 e6100000" L1 L2 L3, H5VEC_E_WKB_TYPE, 1, "0x200003e9"}, /* ISO's Z and an SRID */
    {"01 00000080" L1 L2 L3, H5VEC_E_WKB_TYPE, 1, "0x80000000"},
    {"01 0d000000 00000000", H5VEC_E_UNSUPPORTED, 1, "Curve"}, /* names of families */
    {"01 0e000000 00000000", H5VEC_E_UNSUPPORTED, 1, "Surface"},
    {"01 07000000 01000000 01 f5030000 00000000", H5VEC_E_UNSUPPORTED, 10, "Curve"}, /* 1013 */
    /* counts, each one larger than what is there, up to where 32-bit products wrap */
    {"01 02000000 03000000" L1 L2 L3 L4, H5VEC_E_COUNT, 5, "3 points cannot fit in the 32 bytes"},
    {"01 02000000 ffffffff" L1 L2 L3 L4, H5VEC_E_COUNT, 5, "4294967295 points"},
    {"01 ea030000 02000000" L1 L2 L3 L4, H5VEC_E_COUNT, 5, "2 points"},
    {"01 03000000 02000000 00000000", H5VEC_E_COUNT, 5, "2 rings cannot fit in the 4 bytes"},
    {"01 03000000 01000000 01000000" L1, H5VEC_E_COUNT, 9, "1 points"},
    {"01 03000000 00000040 00000000", H5VEC_E_COUNT, 5, "1073741824 rings"},
    {"01 04000000 01000000 01 01000000" L1 "000000000000", H5VEC_E_COUNT, 5, "1 members"},
    {"01 05000000 02000000 01 02000000 00000000", H5VEC_E_COUNT, 5, "2 members"},
    {"01 07000000 ffffffff 01 02000000 00000000", H5VEC_E_COUNT, 5, "4294967295 members"},
    /* members that do not belong */
    {"01 04000000 01000000 01 02000000 01000000" L1 L2, H5VEC_E_MEMBER, 9, "a LineString in a MultiPoint"},
    {"01 05000000 01000000 01 01000000" L1 L2, H5VEC_E_MEMBER, 9, "a Point in a MultiLineString"},
    {"01 06000000 01000000 01 06000000 00000000", H5VEC_E_MEMBER, 9, "a MultiPolygon in a MultiPolygon"},
    {"01 06000000 01000000 01 04000000 00000000", H5VEC_E_MEMBER, 9, "a MultiPoint in a MultiPolygon"},
    {"01 09000000 01000000 01 01000000" L1 L2, H5VEC_E_MEMBER, 9, "a Point in a CompoundCurve"},
    {"01 09000000 01000000 01 09000000 00000000", H5VEC_E_MEMBER, 9, "a CompoundCurve in a CompoundCurve"},
    {"01 0a000000 01000000 01 03000000 00000000", H5VEC_E_MEMBER, 9, "a Polygon in a CurvePolygon"},
    {"01 0b000000 01000000 01 0a000000 00000000", H5VEC_E_MEMBER, 9, "a CurvePolygon in a MultiCurve"},
    {"01 0c000000 01000000 01 02000000 00000000", H5VEC_E_MEMBER, 9, "a LineString in a MultiSurface"},
    {"01 0f000000 01000000 01 11000000 00000000", H5VEC_E_MEMBER, 9, "a Triangle in a PolyhedralSurface"},
    {"01 10000000 01000000 01 03000000 00000000", H5VEC_E_MEMBER, 9, "a Polygon in a TIN"},
    {"01 05000000 01000000 01 08000000 00000000", H5VEC_E_MEMBER, 9, "a CircularString in a MultiLineString"},
    {"01 ef030000 01000000 01 01000000" L1 L2, H5VEC_E_MEMBER, 9,
     "dimension XY in a GeometryCollection of dim"},
    {"01 07000000 01000000 01 01000080" L1 L2 L3, H5VEC_E_MEMBER, 9, "dimension XYZ"},
    {"01 ef030000 01000000 01 d1070000" L1 L2 L3, H5VEC_E_MEMBER, 9, "dimension XYM"},
    {"01 04000020 e6100000 01000000 01 01000020 e7100000" L1 L2, H5VEC_E_MEMBER, 18, "SRID 4327 inside"},
    {"01 01000020 e610", H5VEC_E_TRUNCATED, 5, "SRID: 4 bytes needed, 2 left"},
};

START_TEST(refuses_with_the_offset)
{
    struct bytes wkb = from_hex(bad[_i].hex);
    struct vcodec_info info = {.srid = 77};
    struct h5vec_error err = {0};
    enum h5vec_status status = vcodec_wkb_scan(wkb.data, wkb.size, &info, &err);
    ck_assert_msg(status == bad[_i].status && err.status == status, "%s: %s", h5vec_errname(status), err.msg);
    ck_assert_msg(strstr(err.msg, bad[_i].message), "%s", err.msg);
    ck_assert_msg(err.offset == bad[_i].offset, "%s at %ju", err.msg, (uintmax_t)err.offset);
    ck_assert_int_eq(info.srid, 77);
    size_t length = 77;
    ck_assert_int_eq(vcodec_wkt_write(wkb.data, wkb.size, NULL, 0, &length, NULL), status);
    ck_assert_uint_eq(length, 77);
}
END_TEST

/* tidwall/tg: a count times 16 in 32 bits wraps to 0, passes the check, and the read goes past the buffer. */
START_TEST(count_times_16_does_not_wrap)
{
    struct bytes wkb = from_hex("01 02000000 00000010" L1 L2 L3 L4);
    struct vcodec_info info;
    ck_assert_uint_eq(wkb.size, 41);
    ck_assert_int_eq(vcodec_wkb_scan(wkb.data, wkb.size, &info, NULL), H5VEC_E_COUNT);
}
END_TEST

/* tidwall/tg: EWKB's Z flag was masked off and the rest read as XY. */
START_TEST(ewkb_z_is_not_masked_off)
{
    struct bytes wkb = from_hex("01 02000080 02000000" L1 L2 L3 L4 L1 L2);
    struct vcodec_info info;
    ck_assert_int_eq(vcodec_wkb_scan(wkb.data, wkb.size, &info, NULL), H5VEC_OK);
    ck_assert(info.dim == VCODEC_XYZ && info.vertices == 2 && info.wkb_size == 57);
    ck_assert(info.box.xmax == 4 && info.box.ymax == 2);
    struct bytes two = from_hex("01 02000080 02000000" L1 L2 L3 L4);
    ck_assert_int_eq(vcodec_wkb_scan(two.data, two.size, &info, NULL), H5VEC_E_COUNT);
}
END_TEST

/* What a pass tells, by WKT as both readers fill the same info. */
static const struct {
    const char *wkt;
    uint64_t vertices;
    bool empty, invalid, nonfinite;
    struct vcodec_box box;
} told[] = {
    {"POINT (1 2)", 1, false, false, false, {1, 2, 1, 2}},
    {"POINT EMPTY", 0, true, false, false, {INFINITY, INFINITY, -INFINITY, -INFINITY}},
    {"POINT (nan 2)", 1, false, false, true, {INFINITY, 2, -INFINITY, 2}},
    {"POINT Z (nan nan 2)", 1, true, false, true, {INFINITY, INFINITY, -INFINITY, -INFINITY}},
    {"POINT Z (1 2 nan)", 1, false, false, true, {1, 2, 1, 2}},
    {"POINT (inf -inf)", 1, false, false, true, {INFINITY, -INFINITY, INFINITY, -INFINITY}},
    {"LINESTRING EMPTY", 0, true, false, false, {INFINITY, INFINITY, -INFINITY, -INFINITY}},
    {"LINESTRING (1 2)", 1, false, true, false, {1, 2, 1, 2}},
    {"LINESTRING (5 2,-1 7,nan 100)", 3, false, false, true, {-1, 2, 5, 100}},
    {"LINESTRING (nan nan,nan nan)", 2, true, false, true, {INFINITY, INFINITY, -INFINITY, -INFINITY}},
    {"LINESTRING M (1 2 inf,1 3 0)", 2, false, false, true, {1, 2, 1, 3}},
    {"LINESTRING ZM (1 2 3 4,0 3 0 nan,9 9 9 9)", 3, false, false, true, {0, 2, 9, 9}},
    {"POLYGON ((0 0,1 0,1 1,0 0))", 4, false, false, false, {0, 0, 1, 1}},
    {"POLYGON ((0 0,1 0,1 1,-0 0))", 4, false, false, false, {0, 0, 1, 1}},
    {"POLYGON Z ((0 0 1,1 0 1,1 1 1,0 0 7))", 4, false, false, false, {0, 0, 1, 1}},
    {"POLYGON ((0 0,1 0,0 0))", 3, false, true, false, {0, 0, 1, 0}},
    {"POLYGON ((0 0,1 0,1 1,0 0.5))", 4, false, true, false, {0, 0, 1, 1}},
    {"POLYGON ((nan 0,1 0,1 1,nan 0))", 4, false, true, true, {1, 0, 1, 1}},
    {"POLYGON ((0 0,9 0,9 9,0 9,0 0),EMPTY)", 5, false, false, false, {0, 0, 9, 9}},
    {"POLYGON (EMPTY,(0 0,1 0,1 1,0 0),(0 0,1 0))", 6, false, true, false, {0, 0, 1, 1}},
    {"MULTIPOINT ((1 2),EMPTY,(3 1))", 2, false, false, false, {1, 1, 3, 2}},
    {"MULTILINESTRING ((1 2,3 4),(5 6))", 3, false, true, false, {1, 2, 5, 6}},
    {"MULTIPOLYGON (((0 0,1 0,1 1,0 0)),((4 4,5 4,5 5,4 4)))", 8, false, false, false, {0, 0, 5, 5}},
    {"GEOMETRYCOLLECTION (POINT EMPTY,LINESTRING EMPTY)",
     0,
     true,
     false,
     false,
     {INFINITY, INFINITY, -INFINITY, -INFINITY}},
    {"GEOMETRYCOLLECTION (LINESTRING (1 1,2 2),POINT (7 7))", 3, false, false, false, {1, 1, 7, 7}},
};

START_TEST(info_tells_the_truth)
{
    struct bytes wkb = from_wkt(told[_i].wkt);
    struct vcodec_info info, read;
    ck_assert_int_eq(vcodec_wkb_scan(wkb.data, wkb.size, &info, NULL), H5VEC_OK);
    ck_assert_uint_eq(info.vertices, told[_i].vertices);
    ck_assert_msg(info.empty == told[_i].empty, "empty: %s", told[_i].wkt);
    ck_assert_msg(info.invalid == told[_i].invalid, "invalid: %s", told[_i].wkt);
    ck_assert_msg(info.nonfinite == told[_i].nonfinite, "nonfinite: %s", told[_i].wkt);
    ck_assert(info.box.xmin == told[_i].box.xmin && info.box.ymin == told[_i].box.ymin);
    ck_assert(info.box.xmax == told[_i].box.xmax && info.box.ymax == told[_i].box.ymax);
    ck_assert(!info.has_srid && info.srid == 0 && info.wkb_size == wkb.size);
    ck_assert_int_eq(vcodec_wkt_read(told[_i].wkt, strlen(told[_i].wkt), 1, NULL, 0, &read, NULL), H5VEC_OK);
    ck_assert(read.type == info.type && read.dim == info.dim && read.vertices == info.vertices);
    ck_assert(read.empty == info.empty && read.invalid == info.invalid && read.nonfinite == info.nonfinite);
    ck_assert_mem_eq(&read.box, &info.box, sizeof info.box);
}
END_TEST

/* Types that only WKB has: kept as they are, with a box of their points. ISO codes and EWKB's, both orders.
 */
#define RING "04000000" L1 L1 L2 L1 L2 L2 L1 L1
static const struct {
    const char *hex, *canonical, *name;
    uint64_t vertices;
    bool invalid;
} curves[] = {
    {"00 00000008 00000003" B1 B2 B3 B4 B2 B2, "01 08000000 03000000" L1 L2 L3 L4 L2 L2, "CircularString", 3,
     false},
    {"01 08000000 00000000", "01 08000000 00000000", "CircularString", 0, false},
    {"01 08000000 01000000" L1 L2, "01 08000000 01000000" L1 L2, "CircularString", 1, true},
    {"01 09000000 02000000 00 00000002 00000001" B1 B2 "01 08000000 02000000" L1 L2 L3 L4,
     "01 09000000 02000000 01 02000000 01000000" L1 L2 "01 08000000 02000000" L1 L2 L3 L4, "CompoundCurve", 3,
     true},
    {"01 0a000020 e6100000 01000000 01 09000000 01000000 01 08000000 01000000" L1 L2,
     "01 0a000000 01000000 01 09000000 01000000 01 08000000 01000000" L1 L2, "CurvePolygon", 1, true},
    {"01 0b000000 02000000 01 02000000 00000000 01 09000000 00000000",
     "01 0b000000 02000000 01 02000000 00000000 01 09000000 00000000", "MultiCurve", 0, false},
    {"01 0c000000 02000000 01 03000000 01000000 " RING "01 0a000000 00000000",
     "01 0c000000 02000000 01 03000000 01000000 " RING "01 0a000000 00000000", "MultiSurface", 4, false},
    {"00 8000000f 00000001 00 80000003 00000001 00000001" B1 B2 B3,
     "01 f7030000 01000000 01 eb030000 01000000 01000000" L1 L2 L3, "PolyhedralSurface Z", 1, true},
    {"01 10000000 01000000 01 11000000 01000000" RING, "01 10000000 01000000 01 11000000 01000000" RING,
     "TIN", 4, false},
    {"01 e10b0000 01000000 00000000", "01 c90b0000 01000000 00000000", NULL, 0, false}, /* 3041: no type */
    {"01 c90b0000 01000000 00000000", "01 c90b0000 01000000 00000000", "Triangle ZM", 0, false},
    {"01 07000000 02000000 01 01000000" L1 L2 "01 08000000 02000000" L1 L2 L4 L1,
     "01 07000000 02000000 01 01000000" L1 L2 "01 08000000 02000000" L1 L2 L4 L1, "GeometryCollection", 3,
     false},
};

START_TEST(keeps_curves)
{
    static const char *const dims[] = {"", " Z", " M", " ZM"};
    struct bytes wkb = from_hex(curves[_i].hex);
    uint8_t out[256];
    struct vcodec_info info;
    struct h5vec_error err;
    char name[32], text[64];
    size_t length;
    enum h5vec_status status = vcodec_wkb_canonical(wkb.data, wkb.size, out, sizeof out, &info, &err);
    if (!curves[_i].name) {
        ck_assert_int_eq(status, H5VEC_E_WKB_TYPE);
        return;
    }
    ck_assert_msg(status == H5VEC_OK, "%s", err.msg);
    struct bytes canonical = from_hex(curves[_i].canonical);
    ck_assert_uint_eq(info.wkb_size, canonical.size);
    ck_assert_mem_eq(out, canonical.data, canonical.size);
    snprintf(name, sizeof name, "%s%s", vcodec_type_name(info.type), dims[info.dim]);
    ck_assert_str_eq(name, curves[_i].name);
    ck_assert(info.vertices == curves[_i].vertices && info.invalid == curves[_i].invalid);
    ck_assert(info.empty == (info.vertices == 0) && (info.empty || info.box.xmin == 1));
    ck_assert_int_eq(vcodec_wkt_write(out, info.wkb_size, text, sizeof text, &length, &err),
                     H5VEC_E_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(err.msg, "not supported as WKT: "));
    ck_assert_int_eq(vcodec_geojson_write(out, info.wkb_size, text, sizeof text, &length, &err),
                     H5VEC_E_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(err.msg, "not supported as GeoJSON: "));
    for (size_t n = 0; n < wkb.size; n++) { /* every beginning is an error */
        status = vcodec_wkb_scan(wkb.data, n, &info, NULL);
        ck_assert(status == H5VEC_E_TRUNCATED || status == H5VEC_E_COUNT);
    }
}
END_TEST

START_TEST(type_bits_are_all_different)
{
    uint64_t all = 0;
    unsigned count = 0;
    for (unsigned type = 1; type <= VCODEC_TRIANGLE; type++)
        for (unsigned dim = 0; dim < 4 && type != 13 && type != 14; dim++, count++) {
            uint64_t bit = vcodec_type_bit((enum vcodec_type)type, (enum vcodec_dim)dim);
            enum vcodec_type back;
            enum vcodec_dim back_dim;
            ck_assert(bit != 0 && (bit & (bit - 1)) == 0 && (all & bit) == 0);
            ck_assert(vcodec_type_of_bit((unsigned)__builtin_ctzll(bit), &back, &back_dim));
            ck_assert(back == type && back_dim == dim);
            all |= bit;
        }
    for (unsigned bit = 0; bit < 80; bit++) {
        enum vcodec_type type;
        enum vcodec_dim dim;
        ck_assert(vcodec_type_of_bit(bit, &type, &dim) == (bit < 64 && (all >> bit & 1)));
    }
    ck_assert_uint_eq(count, 60);
}
END_TEST

START_TEST(srid_is_told)
{
    struct vcodec_info info;
    struct bytes wkb = from_hex("01 010000a0 e6100000" L1 L2 L3);
    ck_assert_int_eq(vcodec_wkb_scan(wkb.data, wkb.size, &info, NULL), H5VEC_OK);
    ck_assert(info.has_srid && info.srid == 4326 && info.wkb_size == wkb.size - 4);
    wkb = from_hex("00 20000001 ffffffff" B1 B2);
    ck_assert_int_eq(vcodec_wkb_scan(wkb.data, wkb.size, &info, NULL), H5VEC_OK);
    ck_assert(info.has_srid && info.srid == -1);
}
END_TEST

/* depth collections (each big-endian, of one member) around a little-endian point. */
static enum h5vec_status scan_nested(size_t depth, const char *innermost)
{
    static const uint8_t collection[9] = {0, 0, 0, 0, 7, 0, 0, 0, 1};
    struct bytes inner = from_hex(innermost);
    uint8_t *wkb = guarded(depth * sizeof collection + inner.size), *p = wkb;
    for (size_t i = 0; i < depth; i++, p += sizeof collection)
        memcpy(p, collection, sizeof collection);
    memcpy(p, inner.data, inner.size);
    struct vcodec_info info;
    struct h5vec_error err;
    enum h5vec_status status = vcodec_wkb_scan(wkb, depth * sizeof collection + inner.size, &info, &err);
    static char text[VCODEC_MAX_DEPTH * 32];
    size_t length;
    ck_assert_int_eq(
        vcodec_wkt_write(wkb, depth * sizeof collection + inner.size, text, sizeof text, &length, NULL),
        status);
    return status;
}

START_TEST(depth_is_limited)
{
    ck_assert_int_eq(scan_nested(VCODEC_MAX_DEPTH, "01 01000000" L1 L2), H5VEC_OK);
    ck_assert_int_eq(scan_nested(VCODEC_MAX_DEPTH, "01 03000000 01000000 01000000" L1 L2), H5VEC_OK);
    ck_assert_int_eq(scan_nested(VCODEC_MAX_DEPTH, "01 04000000 00000000"), H5VEC_E_DEPTH);
    ck_assert_int_eq(scan_nested(VCODEC_MAX_DEPTH + 1, "01 01000000" L1 L2), H5VEC_E_DEPTH);
    ck_assert_int_eq(scan_nested(100000, "01 01000000" L1 L2), H5VEC_E_DEPTH);
}
END_TEST

/* More points than a block holds, in both byte orders and all dimensions, at odd addresses. */
START_TEST(long_lines_in_both_orders)
{
    enum { POINTS = 1001 };
    for (unsigned dim = 0; dim < 4; dim++) {
        size_t ordinates = dim == 0 ? 2 : dim == 3 ? 4 : 3, size = 9 + POINTS * ordinates * 8;
        uint8_t *little = guarded(size), *big = guarded(size), *out = guarded(size);
        uint8_t head[9] = {1, (uint8_t)(2 + 1000 * dim), (uint8_t)((2 + 1000 * dim) >> 8), 0, 0, 0, 0, 0, 0};
        uint32_t count = POINTS;
        memcpy(head + 5, &count, 4);
        memcpy(little, head, 9);
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < 4; k++)
                big[1 + 4 * i + k] = head[1 + 4 * i + 3 - k];
        big[0] = 0;
        for (size_t i = 0; i < POINTS * ordinates; i++) {
            double v = (double)i - 100;
            memcpy(little + 9 + 8 * i, &v, 8);
            for (int k = 0; k < 8; k++)
                big[9 + 8 * i + (size_t)k] = little[9 + 8 * i + 7 - (size_t)k];
        }
        struct vcodec_info a, b;
        ck_assert_int_eq(vcodec_wkb_canonical(big, size, out, size, &a, NULL), H5VEC_OK);
        ck_assert_mem_eq(out, little, size);
        ck_assert_int_eq(vcodec_wkb_scan(little, size, &b, NULL), H5VEC_OK);
        ck_assert(b.vertices == POINTS && a.vertices == POINTS && !a.nonfinite);
        double last = (double)((POINTS - 1) * ordinates) - 100;
        ck_assert(a.box.xmin == -100 && a.box.ymin == -99 && a.box.xmax == last && a.box.ymax == last + 1);
        ck_assert_mem_eq(&a.box, &b.box, sizeof a.box);
    }
}
END_TEST

int main(void)
{
    const int goods = sizeof good / sizeof *good;
    Suite *suite = suite_create("codec_wkb");
    TCase *read = tcase_create("read");
    tcase_add_loop_test(read, reads_every_spelling, 0, goods);
    tcase_add_loop_test(read, refuses_with_the_offset, 0, sizeof bad / sizeof *bad);
    tcase_add_loop_test(read, info_tells_the_truth, 0, sizeof told / sizeof *told);
    tcase_add_loop_test(read, keeps_curves, 0, sizeof curves / sizeof *curves);
    tcase_add_test(read, type_bits_are_all_different);
    tcase_add_test(read, srid_is_told);
    tcase_add_test(read, count_times_16_does_not_wrap);
    tcase_add_test(read, ewkb_z_is_not_masked_off);
    suite_add_tcase(suite, read);
    TCase *bounds = tcase_create("bounds");
    tcase_add_loop_test(bounds, every_prefix_is_an_error, 0, goods);
    tcase_add_loop_test(bounds, writes_into_every_capacity, 0, goods);
    tcase_add_test(bounds, depth_is_limited);
    tcase_add_test(bounds, long_lines_in_both_orders);
    suite_add_tcase(suite, bounds);
    return run_suite(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause
 * vector-codec against GEOS, another implementation of the same standards: generated geometries (nested trees
 * of all types, in ISO WKB and EWKB, both byte orders mixed) and the real ones of examples/data. In each case
 * GEOS reads what we write and the other way round, and its WKB, envelope and vertex count must be ours.
 *
 * Left to the unit tests is what GEOS does not take: unclosed rings, one-point lines, empty rings, empty
 * parts with a Z (it forgets that), and before 3.12 the M dimension. Its WKT writer overruns a buffer of its
 * own on large numbers (3.11), so those are only given to its readers.
 */
#include <geos_c.h>
#include <math.h>
#include "codec_test.h"

#define LARGEST (1 << 20)

static GEOSContextHandle_t geos;
static GEOSWKBReader *wkb_reader;
static GEOSWKBWriter *wkb_writer;
static GEOSWKTReader *wkt_reader;
static GEOSWKTWriter *wkt_writer;

static void start_geos(void)
{
    geos = GEOS_init_r();
    wkb_reader = GEOSWKBReader_create_r(geos);
    wkb_writer = GEOSWKBWriter_create_r(geos);
    GEOSWKBWriter_setByteOrder_r(geos, wkb_writer, GEOS_WKB_NDR);
    GEOSWKBWriter_setFlavor_r(geos, wkb_writer, GEOS_WKB_ISO);
    wkt_reader = GEOSWKTReader_create_r(geos);
    wkt_writer = GEOSWKTWriter_create_r(geos);
    GEOSWKTWriter_setTrim_r(geos, wkt_writer, 1);
}

static void stop_geos(void)
{
    GEOSWKBReader_destroy_r(geos, wkb_reader);
    GEOSWKBWriter_destroy_r(geos, wkb_writer);
    GEOSWKTReader_destroy_r(geos, wkt_reader);
    GEOSWKTWriter_destroy_r(geos, wkt_writer);
    GEOS_finish_r(geos);
}

/* GEOS's WKB of a geometry of this dimension equals ours. */
static void check_wkb(const GEOSGeometry *g, enum vcodec_dim dim, struct bytes ours, const char *text)
{
    size_t size = 0;
    GEOSWKBWriter_setOutputDimension_r(geos, wkb_writer, 2 + (dim != VCODEC_XY) + (dim == VCODEC_XYZM));
    unsigned char *its = GEOSWKBWriter_write_r(geos, wkb_writer, g, &size);
    ck_assert_ptr_nonnull(its);
    size_t at = 0;
    while (at < size && at < ours.size && its[at] == ours.data[at])
        at++;
    ck_assert_msg(size == ours.size && at == size, "WKB of %zu and %zu bytes differs at byte %zu: %s", size,
                  ours.size, at, text);
    GEOSFree_r(geos, its);
}

static void check_box(const GEOSGeometry *g, const struct vcodec_info *info)
{
    double xmin, ymin, xmax, ymax;
    ck_assert_int_eq(info->empty, GEOSisEmpty_r(geos, g));
    if (info->empty)
        return;
    ck_assert(GEOSGeom_getXMin_r(geos, g, &xmin) && GEOSGeom_getXMax_r(geos, g, &xmax));
    ck_assert(GEOSGeom_getYMin_r(geos, g, &ymin) && GEOSGeom_getYMax_r(geos, g, &ymax));
    ck_assert(info->box.xmin == xmin && info->box.xmax == xmax);
    ck_assert(info->box.ymin == ymin && info->box.ymax == ymax);
}

/* Our WKT read by GEOS. */
static void check_our_wkt(enum vcodec_dim dim, struct bytes wkb)
{
    static char text[LARGEST];
    to_wkt(wkb, text, sizeof text);
    GEOSGeometry *read = GEOSWKTReader_read_r(geos, wkt_reader, text);
    ck_assert_msg(read != NULL, "GEOS refuses: %s", text);
    check_wkb(read, dim, wkb, text);
    GEOSGeom_destroy_r(geos, read);
}

/* GEOS's WKT, whose digits are its own, read by both. */
static void check_its_wkt(const GEOSGeometry *g, enum vcodec_dim dim)
{
    static uint8_t back[LARGEST];
    GEOSWKTWriter_setOutputDimension_r(geos, wkt_writer, 2 + (dim != VCODEC_XY) + (dim == VCODEC_XYZM));
    char *its = GEOSWKTWriter_write_r(geos, wkt_writer, g);
    struct vcodec_info info;
    struct h5vec_error err = {0};
    enum h5vec_status status = vcodec_wkt_read(its, strlen(its), 0, back, sizeof back, &info, &err);
    ck_assert_msg(!status, "%s at %ju: %s", err.msg, (uintmax_t)err.offset, its);
    /* 3.11 cannot read its own "MULTIPOINT (EMPTY, 1 2)". */
    GEOSGeometry *read = GEOSWKTReader_read_r(geos, wkt_reader, its);
    ck_assert_msg(read != NULL || strstr(its, "EMPTY"), "%s", its);
    if (read) {
        check_wkb(read, info.dim, (struct bytes){back, info.wkb_size}, its);
        GEOSGeom_destroy_r(geos, read);
    }
    GEOSFree_r(geos, its);
}

static void check_geometry(struct bytes input, bool large_numbers)
{
    static uint8_t canonical[LARGEST];
    struct vcodec_info info;
    struct h5vec_error err = {0};
    enum h5vec_status status =
        vcodec_wkb_canonical(input.data, input.size, canonical, sizeof canonical, &info, &err);
    ck_assert_msg(!status, "%s", err.msg);
    struct bytes wkb = {canonical, info.wkb_size};
    GEOSGeometry *g = GEOSWKBReader_read_r(geos, wkb_reader, input.data, input.size);
    ck_assert_ptr_nonnull(g);
    check_wkb(g, info.dim, wkb, "as read from WKB");
    check_box(g, &info);
    ck_assert_int_eq((int)info.vertices, GEOSGetNumCoordinates_r(geos, g));
    ck_assert_int_eq(info.has_srid ? info.srid : 0, GEOSGetSRID_r(geos, g));
    check_our_wkt(info.dim, wkb);
    if (!large_numbers)
        check_its_wkt(g, info.dim);
    GEOSGeom_destroy_r(geos, g);
}

/* Generated geometries: a writer of random WKB that knows nothing of the codec. */

struct generator {
    uint64_t state;
    uint8_t *p;
    enum vcodec_dim dim;
    bool large_numbers;
    int style; /* 0 ISO, 1 EWKB, 2 EWKB with an SRID outermost */
};

static uint32_t below(struct generator *g, uint32_t n)
{
    g->state ^= g->state << 13;
    g->state ^= g->state >> 7;
    g->state ^= g->state << 17;
    return (uint32_t)(g->state >> 32) % n;
}

static void put(struct generator *g, const void *value, size_t n, bool big)
{
    const uint8_t *v = value;
    for (size_t i = 0; i < n; i++)
        *g->p++ = v[big ? n - 1 - i : i];
}

static void put32(struct generator *g, uint32_t v, bool big)
{
    put(g, &v, sizeof v, big);
}

static void put_double(struct generator *g, double v, bool big)
{
    put(g, &v, sizeof v, big);
}

static double random_ordinate(struct generator *g)
{
    switch (below(g, g->large_numbers ? 6 : 4)) {
    case 0:
        return (double)below(g, 100);
    case 1:
        return -(double)below(g, 100000) / 1000;
    case 4:
        return ldexp((double)below(g, UINT32_MAX), (int)below(g, 200) - 100);
    case 5:
        return ldexp(-1 - (double)below(g, 3), (int)below(g, 1800) - 1000);
    default:
        return ((double)below(g, 3600000000u) - 1800000000) / 1e7;
    }
}

static uint32_t ordinates_of(const struct generator *g)
{
    return g->dim == VCODEC_XY ? 2 : g->dim == VCODEC_XYZM ? 4 : 3;
}

static void put_points(struct generator *g, uint32_t n, bool big)
{
    for (uint32_t i = 0; i < n * ordinates_of(g); i++)
        put_double(g, random_ordinate(g), big);
}

/* Holes are made of points of the shell, as GEOS takes a polygon's envelope from its shell alone. */
static void put_rings(struct generator *g, uint32_t rings, bool big)
{
    size_t stride = ordinates_of(g) * sizeof(double);
    const uint8_t *shell = g->p + sizeof(uint32_t);
    uint32_t in_shell = 4 + below(g, 10);
    for (uint32_t i = 0; i < rings; i++) {
        uint32_t n = i ? 4 + below(g, 10) : in_shell;
        put32(g, n, big);
        const uint8_t *first = g->p;
        if (i == 0)
            put_points(g, n - 1, big);
        for (uint32_t k = 1; i > 0 && k < n; k++, g->p += stride)
            memcpy(g->p, shell + stride * below(g, in_shell), stride);
        memcpy(g->p, first, stride);
        g->p += stride;
    }
}

static bool put_head(struct generator *g, uint32_t type, bool outermost)
{
    bool big = below(g, 2);
    *g->p++ = !big;
    if (g->style == 0) {
        put32(g, type + 1000 * (uint32_t)g->dim, big);
        return big;
    }
    bool srid = g->style == 2 && outermost;
    put32(g, type | (uint32_t)g->dim << 31 | (uint32_t)(g->dim & 2) << 29 | (srid ? 0x20000000u : 0), big);
    if (srid)
        put32(g, 4326, big);
    return big;
}

static void put_geometry(struct generator *g, uint32_t type, unsigned depth)
{
    bool big = put_head(g, type, depth == 0);
    uint32_t n = g->dim == VCODEC_XY ? below(g, 5) : 1 + below(g, 4);
    if (type == VCODEC_POINT) {
        if (n == 0)
            for (uint32_t k = 0; k < ordinates_of(g); k++)
                put_double(g, NAN, big);
        else
            put_points(g, 1, big);
        return;
    }
    if (type == VCODEC_LINESTRING) {
        n = n ? n + 1 + below(g, 300) % (below(g, 8) ? 9 : 300) : 0;
        put32(g, n, big);
        put_points(g, n, big);
        return;
    }
    put32(g, n, big);
    if (type == VCODEC_POLYGON) {
        put_rings(g, n, big);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        bool any = type == VCODEC_GEOMETRYCOLLECTION;
        put_geometry(g, any ? 1 + below(g, depth < 4 ? 7 : 3) : type - 3, depth + 1);
    }
}

static int newest_dim(void)
{
    int major = 0, minor = 0;
    sscanf(GEOSversion(), "%d.%d", &major, &minor);
    return major > 3 || minor >= 12 ? VCODEC_XYZM : VCODEC_XYZ;
}

START_TEST(generated)
{
    enum { TREES = 400 };
    start_geos();
    static uint8_t buffer[LARGEST];
    struct generator g = {.state = 0x9e3779b97f4a7c15u + (uint64_t)_i};
    for (int i = 0; i < TREES; i++) {
        g.p = buffer;
        g.dim = (enum vcodec_dim)below(&g, (uint32_t)newest_dim() + 1);
        g.style = (int)below(&g, 3);
        g.large_numbers = below(&g, 2);
        put_geometry(&g, 1 + (uint32_t)_i, 0);
        check_geometry((struct bytes){buffer, (size_t)(g.p - buffer)}, g.large_numbers);
    }
    stop_geos();
}
END_TEST

static const char *const continents[] = {"africa",        "antarctica", "asia",       "europe",
                                         "north_america", "oceania",    "seven_seas", "south_america"};

/* The WKT in quotes on each line of a CSV file. */
START_TEST(real)
{
    static char line[LARGEST];
    char path[2048];
    const char *dir = getenv("H5VEC_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/examples/data/%s.csv", dir ? dir : ".", continents[_i]);
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s", path);
    start_geos();
    int found = 0;
    while (fgets(line, sizeof line, f)) {
        char *begin = strstr(line, "\"POLYGON"), *multi = strstr(line, "\"MULTIPOLYGON");
        begin = begin ? begin : multi;
        if (!begin)
            continue;
        *strchr(begin + 1, '"') = '\0';
        static uint8_t wkb[LARGEST];
        struct vcodec_info info;
        struct h5vec_error err = {0};
        enum h5vec_status status =
            vcodec_wkt_read(begin + 1, strlen(begin + 1), 0, wkb, sizeof wkb, &info, &err);
        ck_assert_msg(!status && !info.invalid, "%s", err.msg);
        GEOSGeometry *g = GEOSWKTReader_read_r(geos, wkt_reader, begin + 1);
        ck_assert_ptr_nonnull(g);
        check_wkb(g, info.dim, (struct bytes){wkb, info.wkb_size}, begin + 1);
        GEOSGeom_destroy_r(geos, g);
        check_geometry((struct bytes){wkb, info.wkb_size}, false);
        found++;
    }
    fclose(f);
    ck_assert_int_gt(found, 0);
    stop_geos();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("geos");
    TCase *cases = tcase_create("codec");
    tcase_set_timeout(cases, 100);
    tcase_add_loop_test(cases, generated, 0, 7);
    tcase_add_loop_test(cases, real, 0, sizeof continents / sizeof *continents);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}

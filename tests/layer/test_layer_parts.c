/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of a layer that need no layer: roles, names, storage, block rule, geo attribute, HDF5's errors.
 */
#include "layer_test.h"

static const struct {
    const char *path;
    enum h5vec_layer_role role;
} roles[] = {
    {"geometry/wkb", H5VEC_LAYER_ROLE_WKB},
    {"geometry/offsets", H5VEC_LAYER_ROLE_OFFSETS},
    {"geometry/bbox", H5VEC_LAYER_ROLE_BBOX},
    {"geometry/valid", H5VEC_LAYER_ROLE_VALID},
    {"geometry/wkb2", H5VEC_LAYER_ROLE_UNKNOWN},
    {"geometry", H5VEC_LAYER_ROLE_UNKNOWN},
    {"columns/pop", H5VEC_LAYER_ROLE_COLUMN_FIXED},
    {"columns/data", H5VEC_LAYER_ROLE_COLUMN_FIXED},
    {"columns/name/data", H5VEC_LAYER_ROLE_TEXT_DATA},
    {"columns/name/offsets", H5VEC_LAYER_ROLE_TEXT_OFFSETS},
    {"columns/name/other", H5VEC_LAYER_ROLE_UNKNOWN},
    {"columns/name/data/deep", H5VEC_LAYER_ROLE_UNKNOWN},
    {"valid/name", H5VEC_LAYER_ROLE_COLUMN_VALID},
    {"valid/name/deep", H5VEC_LAYER_ROLE_UNKNOWN},
    {"index/blocks", H5VEC_LAYER_ROLE_BLOCKS},
    {"index/rtree", H5VEC_LAYER_ROLE_RTREE},
    {"index/rtree/nodes", H5VEC_LAYER_ROLE_RTREE_NODES},
    {"index/rtree/levels", H5VEC_LAYER_ROLE_RTREE_LEVELS},
    {"index/rtree/rows", H5VEC_LAYER_ROLE_RTREE_ROWS},
    {"index/rtree/what", H5VEC_LAYER_ROLE_RTREE},
    {"index/rtrees", H5VEC_LAYER_ROLE_UNKNOWN},
    {"", H5VEC_LAYER_ROLE_UNKNOWN},
};

START_TEST(test_roles)
{
    ck_assert_int_eq(h5vec_layer_role(roles[_i].path), roles[_i].role);
}
END_TEST

START_TEST(test_column_links)
{
    static const char *const names[] = {"a/b", ".",     "",   "a",   "a",        "a_2",
                                        "a",   "a%2Fb", "..", "x.y", "\xC3\xBC", "%"};
    static const char *const links[] = {"a%2Fb", "%2E",     "%",  "a",   "a_2",      "a_2_2",
                                        "a_3",   "a%2Fb_2", "..", "x.y", "\xC3\xBC", "%_2"};
    char **made;
    ck_ok(h5vec_layer_column_links(names, 12, &made, &err));
    hid_t file = memory_file();
    for (size_t i = 0; i < 12; i++) {
        ck_assert_str_eq(made[i], links[i]);
        hid_t group = H5Gcreate2(file, made[i], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT); /* HDF5 can hold it */
        ck_assert_int_ge(group, 0);
        H5Gclose(group);
    }
    free(made);
    ck_ok(h5vec_layer_column_links(NULL, 0, &made, &err));
    ck_assert_ptr_null(made[0]);
    free(made);
    char longer[H5VEC_LAYER_MAX_NAME + 2];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    ck_fails(h5vec_layer_column_links(&(const char *){longer}, 1, &made, &err), H5VEC_E_ARG, "1024");
    ck_fails(h5vec_layer_column_links(&(const char *){"\xFF"}, 1, &made, &err), H5VEC_E_ARG, "UTF-8");
    H5Fclose(file);
}
END_TEST

/* What each role's dataset is like, said here a second time. */
static const struct {
    enum h5vec_layer_role role;
    size_t bytes;
    int rank;
    hsize_t chunk; /* rows of a full chunk */
    bool shuffle;
} stored[] = {
    {H5VEC_LAYER_ROLE_WKB, 1, 1, 1048576, false},
    {H5VEC_LAYER_ROLE_OFFSETS, 8, 1, 131072, true},
    {H5VEC_LAYER_ROLE_BBOX, 8, 2, 131072, true},
    {H5VEC_LAYER_ROLE_VALID, 1, 1, 1048576, false},
    {H5VEC_LAYER_ROLE_TEXT_DATA, 1, 1, 1048576, false},
    {H5VEC_LAYER_ROLE_TEXT_OFFSETS, 8, 1, 131072, true},
    {H5VEC_LAYER_ROLE_COLUMN_VALID, 1, 1, 1048576, false},
    {H5VEC_LAYER_ROLE_BLOCKS, 72, 1, 14563, true},
};

START_TEST(test_storage)
{
    for (hsize_t rows = 0; rows < 4000000; rows = rows ? rows * 10 : 1) {
        struct h5vec_layer_dataset made;
        hsize_t dims[2], max[2], chunk[2];
        ck_ok(h5vec_layer_dataset_init(&made, stored[_i].role, NULL, rows, NULL, &err));
        ck_assert_uint_eq(H5Tget_size(made.type), stored[_i].bytes);
        ck_assert_int_eq(H5Sget_simple_extent_dims(made.space, dims, max), stored[_i].rank);
        ck_assert_int_eq(H5Pget_chunk(made.dcpl, 2, chunk), stored[_i].rank);
        ck_assert_uint_eq(dims[0], rows);
        ck_assert_uint_eq(max[0], H5S_UNLIMITED);
        ck_assert_uint_eq(chunk[0], rows == 0 ? 1 : rows < stored[_i].chunk ? rows : stored[_i].chunk);
        if (stored[_i].rank == 2)
            ck_assert(dims[1] == 4 && max[1] == 4 && chunk[1] == 4);
        ck_assert_int_eq(H5Pget_nfilters(made.dcpl), 1 + stored[_i].shuffle);
        h5vec_layer_dataset_free(&made);
    }
}
END_TEST

START_TEST(test_storage_options)
{
    struct h5vec_layer_storage how = h5vec_layer_storage_default();
    struct h5vec_layer_dataset made;
    hsize_t chunk[3];
    struct h5vec_layer_shape shape = {.type = H5T_NATIVE_SHORT, .trailing_rank = 2, .trailing = {3, 5}};
    how.chunk_bytes = 100;
    how.deflate = 0;
    ck_ok(h5vec_layer_dataset_init(&made, H5VEC_LAYER_ROLE_COLUMN_FIXED, &shape, 1000, &how, &err));
    ck_assert_int_eq(H5Pget_nfilters(made.dcpl), 0);
    ck_assert_int_eq(H5Pget_chunk(made.dcpl, 3, chunk), 3);
    ck_assert(chunk[0] == 3 && chunk[1] == 3 && chunk[2] == 5); /* rows of 30 bytes */
    h5vec_layer_dataset_free(&made);
    ck_fails(h5vec_layer_dataset_init(&made, H5VEC_LAYER_ROLE_RTREE, NULL, 1, NULL, &err), H5VEC_E_ARG,
             "role");
    ck_fails(h5vec_layer_dataset_init(&made, H5VEC_LAYER_ROLE_UNKNOWN, NULL, 1, NULL, &err), H5VEC_E_ARG,
             "role");
    ck_fails(h5vec_layer_dataset_init(&made, H5VEC_LAYER_ROLE_WKB, &shape, 1, NULL, &err), H5VEC_E_ARG,
             "role");
    how.deflate = 10;
    ck_fails(h5vec_layer_dataset_init(&made, H5VEC_LAYER_ROLE_WKB, NULL, 1, &how, &err), H5VEC_E_ARG,
             "range");
}
END_TEST

/* Blocks of runs of rows, made in parts and joined, are those of the whole. */
START_TEST(test_blocks_in_parts)
{
    enum { ROWS = 200000 };
    uint64_t *offsets = calloc(ROWS + 1, sizeof *offsets), seed = 42;
    for (size_t i = 0; i < ROWS; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        offsets[i + 1] = offsets[i] + (seed >> 60 ? (seed >> 33) % 40 : (seed >> 33) % 200000);
    }
    struct h5vec_layer_blocks whole = {0};
    struct vcodec_box box = {1, 2, 3, 4};
    for (uint64_t i = 0; i < ROWS; i++)
        ck_assert_int_eq(h5vec_layer_blocks_add(&whole, i, offsets[i], offsets[i + 1], 2, box), H5VEC_OK);
    ck_assert_uint_gt(whole.count, 1000);
    for (uint64_t part = 1; part < ROWS; part = part * 3 + 7) {
        size_t done = 0;
        struct h5vec_layer_block last = {0};
        for (uint64_t begin = 0; begin < ROWS; begin += part) {
            struct h5vec_layer_blocks run = {.previous_offset = begin ? offsets[begin - 1] : 0};
            for (uint64_t i = begin; i < begin + part && i < ROWS; i++)
                h5vec_layer_blocks_add(&run, i, offsets[i], offsets[i + 1], 2, box);
            for (size_t k = 0; k < run.count; k++) {
                uint64_t first = run.block[k].first_row;
                if (first > 0 && !h5vec_layer_block_starts(first, offsets[first], offsets[first - 1])) {
                    h5vec_layer_block_join(&last, &run.block[k]);
                    continue;
                }
                if (first > 0)
                    ck_assert_mem_eq(&last, &whole.block[done++], sizeof last);
                last = run.block[k];
            }
            h5vec_layer_blocks_free(&run);
        }
        ck_assert_mem_eq(&last, &whole.block[done++], sizeof last);
        ck_assert_uint_eq(done, whole.count);
        if (part == 1)
            part = 500; /* one row a run was tried; go on with longer ones */
    }
    size_t count = whole.count;
    struct h5vec_layer_block third = whole.block[3];
    h5vec_layer_blocks_drop(&whole, 0);
    h5vec_layer_blocks_drop(&whole, 3);
    ck_assert_uint_eq(whole.count, count - 3);
    ck_assert_mem_eq(&whole.block[0], &third, sizeof third);
    h5vec_layer_blocks_free(&whole);
    free(offsets);
}
END_TEST

START_TEST(test_geo_text)
{
    struct h5vec_layer_geo geo, back;
    char *json, *again;
    h5vec_layer_geo_init(&geo);
    h5vec_layer_geo_init(&back);
    ck_ok(h5vec_layer_geo_format(&geo, &json, &err));
    ck_assert_str_eq(json,
                     "{\"columns\":{\"geometry\":{\"crs\":null,\"encoding\":\"WKB\",\"geometry_types\":[]}},"
                     "\"primary_column\":\"geometry\",\"version\":\"1.1.0\"}");
    free(json);
    geo.types = 1u << 0 | 1u << (6 - 1 + 8) | 1u << (2 - 1 + 16) | 1u << (7 - 1 + 24);
    geo.box = (struct vcodec_box){-180, -0.1, 1e300, 83.64513};
    geo.crs = strdup("{\"a\":298.257223563}");
    ck_ok(h5vec_layer_geo_format(&geo, &json, &err));
    ck_assert_ptr_nonnull(strstr(json, "\"geometry_types\":[\"Point\",\"MultiPolygon Z\",\"LineString M\","
                                       "\"GeometryCollection ZM\"]"));
    ck_assert_ptr_nonnull(strstr(json, "\"crs\":{\"a\":298.257223563}"));
    ck_ok(h5vec_layer_geo_parse(json, strlen(json), &back, &err));
    ck_assert_uint_eq(back.types, geo.types);
    ck_assert_mem_eq(&back.box, &geo.box, sizeof geo.box);
    ck_assert_str_eq(back.crs, geo.crs);
    ck_ok(h5vec_layer_geo_format(&back, &again, &err));
    ck_assert_str_eq(json, again);
    free(json);
    free(again);
    h5vec_layer_geo_free(&geo);
    h5vec_layer_geo_free(&back);
}
END_TEST

#define GEO(inside)                                                                                          \
    "{\"version\":\"1.1.0\",\"primary_column\":\"geometry\",\"columns\":{\"geometry\":{" inside "}}}"
#define GOOD "\"encoding\":\"WKB\",\"geometry_types\":[\"Point\"],\"crs\":null"

static const struct {
    const char *json, *message;
} bad_geo[] = {
    {"", "not JSON"},
    {"{", "not JSON"},
    {"[]", "version"},
    {"{}", "version"},
    {GEO(GOOD) "x", "not JSON"},
    {GEO(GOOD ",\"crs\":null"), "not JSON"}, /* a member twice */
    {"{\"version\":\"1.1.0\",\"primary_column\":\"shape\",\"columns\":{\"shape\":{" GOOD "}}}",
     "primary column"},
    {GEO("\"encoding\":\"point\",\"geometry_types\":[],\"crs\":null"), "encoding"},
    {GEO("\"encoding\":\"WKB\",\"geometry_types\":[]"),
     "crs is neither"}, /* GeoParquet's default is not ours to guess */
    {GEO("\"encoding\":\"WKB\",\"geometry_types\":[],\"crs\":\"EPSG:4326\""), "crs is neither"},
    {GEO("\"encoding\":\"WKB\",\"crs\":null"), "geometry_types"},
    {GEO("\"encoding\":\"WKB\",\"crs\":null,\"geometry_types\":[\"Circle\"]"), "geometry_types"},
    {GEO("\"encoding\":\"WKB\",\"crs\":null,\"geometry_types\":[1]"), "geometry_types"},
    {GEO(GOOD ",\"bbox\":[1,2,3]"), "bbox"},
    {GEO(GOOD ",\"bbox\":[1,2,3,\"4\"]"), "bbox"},
    {GEO(GOOD ",\"bbox\":[1,2,0,4]"), "bbox"},
    {GEO(GOOD ",\"bbox\":{}"), "bbox"},
};

/* Numbers that look like integers too large for JSON readers. */
START_TEST(test_geo_large_box)
{
    static const double sides[] = {1e15, 123456789012345678.0, 1e18, 1e19, 1e20, 1e21, 1.5e20, 1e300};
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        struct h5vec_layer_geo geo, back;
        char *json = NULL;
        h5vec_layer_geo_init(&geo);
        h5vec_layer_geo_init(&back);
        geo.box = (struct vcodec_box){-sides[i], 0, sides[i], sides[i]};
        ck_ok(h5vec_layer_geo_format(&geo, &json, &err));
        ck_ok(h5vec_layer_geo_parse(json, strlen(json), &back, &err));
        ck_assert_mem_eq(&back.box, &geo.box, sizeof geo.box);
        free(json);
    }
}
END_TEST

START_TEST(test_bad_geo)
{
    struct h5vec_layer_geo geo;
    h5vec_layer_geo_init(&geo);
    geo.types = 77;
    ck_fails(h5vec_layer_geo_parse(bad_geo[_i].json, strlen(bad_geo[_i].json), &geo, &err),
             H5VEC_E_LAYER_INVALID, bad_geo[_i].message);
    ck_assert_uint_eq(geo.types, 77); /* untouched on failure */
}
END_TEST

static bool same(const char *a, const char *b)
{
    char json[2][512];
    struct h5vec_layer_geo geo[2];
    const char *crs[] = {a, b};
    for (size_t i = 0; i < 2; i++) {
        snprintf(json[i], sizeof json[i], GEO("\"encoding\":\"WKB\",\"geometry_types\":[],\"crs\":%s"),
                 crs[i]);
        h5vec_layer_geo_init(&geo[i]);
        ck_ok(h5vec_layer_geo_parse(json[i], strlen(json[i]), &geo[i], &err));
    }
    bool equal = h5vec_layer_geo_same_crs(&geo[0], &geo[1]);
    h5vec_layer_geo_free(&geo[0]);
    h5vec_layer_geo_free(&geo[1]);
    return equal;
}

START_TEST(test_same_crs)
{
    ck_assert(same("null", "null"));
    ck_assert(!same("null", "{}"));
    ck_assert(same("{\"a\":1,\"b\":[1,2]}", "{ \"b\" : [1.0, 2e0], \"a\": 1 }"));
    ck_assert(!same("{\"b\":[1,2]}", "{\"b\":[2,1]}"));
    ck_assert(!same("{\"a\":1}", "{\"a\":\"1\"}"));
    ck_assert(!same("{\"a\":1}", "{\"a\":1,\"b\":null}"));
    ck_assert(same("{\"id\":{\"authority\":\"EPSG\",\"code\":1},\"$schema\":\"v0.5\"}",
                   "{\"id\":{\"authority\":\"EPSG\",\"code\":1},\"$schema\":\"v0.7\"}"));
    ck_assert(!same("{\"id\":{\"authority\":\"EPSG\",\"code\":1}}",
                    "{\"id\":{\"authority\":\"EPSG\",\"code\":2}}"));
    ck_assert(!same("{\"id\":{\"authority\":\"EPSG\",\"code\":1}}",
                    "{\"id\":{\"authority\":\"ESRI\",\"code\":1}}"));
    ck_assert(
        !same("{\"id\":{\"authority\":\"EPSG\"},\"a\":1}", "{\"id\":{\"authority\":\"EPSG\"},\"a\":2}"));
    ck_assert(!same("{\"id\":{},\"a\":1}", "{\"id\":{},\"a\":2}"));
    ck_assert(same("{\"a\":\"\\u00e9\\n\"}", "{\"a\":\"\xC3\xA9\\n\"}"));
    ck_assert(same("{\"a\":298.25722356300002}", "{\"a\":298.257223563}"));
    ck_assert(same("{\"a\":[true,false,null,1e300,-1e20]}",
                   "{\"a\":[true,false,null,1E300,-100000000000000000000.0]}"));
}
END_TEST

START_TEST(test_epsg)
{
    struct h5vec_layer_geo a, b;
    h5vec_layer_geo_init(&a);
    h5vec_layer_geo_init(&b);
    ck_ok(h5vec_layer_geo_set_epsg(&a, 4326, &err));
    ck_assert_ptr_nonnull(strstr(a.crs, "\"code\":4326"));
    ck_assert_ptr_nonnull(strstr(a.crs, "298.257223563")); /* as short as it reads back */
    ck_assert_str_eq(a.crs_source, "EPSG:4326");
    ck_assert(!h5vec_layer_geo_same_crs(&a, &b));
    ck_ok(h5vec_layer_geo_set_epsg(&b, 25832, &err));
    ck_assert(!h5vec_layer_geo_same_crs(&a, &b));
    ck_ok(h5vec_layer_geo_set_epsg(&b, 4326, &err));
    ck_assert(h5vec_layer_geo_same_crs(&a, &b));
    ck_fails(h5vec_layer_geo_set_epsg(&b, 999999, &err), H5VEC_E_LAYER_CRS, "EPSG:999999");
    ck_fails(h5vec_layer_geo_set_epsg(&b, -1, &err), H5VEC_E_LAYER_CRS, "EPSG:-1");
    ck_assert_str_eq(b.crs_source, "EPSG:4326"); /* untouched on failure */
    struct h5vec_layer_geo copy;
    ck_ok(h5vec_layer_geo_copy(&a, &copy, &err));
    ck_ok(h5vec_layer_geo_set_epsg(&a, 0, &err));
    ck_assert_ptr_null(a.crs);
    ck_assert(h5vec_layer_geo_same_crs(&copy, &b));
    a.types = 1;
    b.types = 2;
    b.box = (struct vcodec_box){0, 1, 2, 3};
    h5vec_layer_geo_union(&a, &b);
    ck_assert_uint_eq(a.types, 3);
    ck_assert_mem_eq(&a.box, &b.box, sizeof b.box);
    h5vec_layer_geo_free(&a);
    h5vec_layer_geo_free(&b);
    h5vec_layer_geo_free(&copy);
    h5vec_layer_geo_free(NULL);
}
END_TEST

/* WKT as .prj files have it: EPSG's own CRS where it is one, any other as it is, and what is none. */
START_TEST(test_wkt_crs)
{
    static const char wgs84[] =
        "GEOGCS[\"GCS_WGS_1984\",DATUM[\"D_WGS_1984\",SPHEROID[\"WGS_1984\",6378137.0,298.257223563]],"
        "PRIMEM[\"Greenwich\",0.0],UNIT[\"Degree\",0.0174532925199433]]";
    static const char other[] =
        "GEOGCS[\"Mine\",DATUM[\"Mine\",SPHEROID[\"Mine\",6300000.0,290.0]],PRIMEM[\"Greenwich\",0.0],"
        "UNIT[\"Degree\",0.0174532925199433]]";
    static const char *const none[] = {"",       "hello",         "GEOGCS[",
                                       "EPSG:0", "+proj=longlat", "SPHEROID[\"a\",1,2]"};
    struct h5vec_layer_geo geo, known;
    h5vec_layer_geo_init(&geo);
    h5vec_layer_geo_init(&known);
    ck_ok(h5vec_layer_geo_set_epsg(&known, 4326, &err));
    ck_ok(h5vec_layer_geo_set_crs(&geo, "EPSG:4326", &err));
    ck_assert(h5vec_layer_geo_same_crs(&geo, &known));
    ck_ok(h5vec_layer_geo_set_crs(&geo, wgs84, &err));
    ck_assert(h5vec_layer_geo_same_crs(&geo, &known));
    ck_assert_str_eq(geo.crs_source, wgs84);
    ck_ok(h5vec_layer_geo_set_crs(&geo, other, &err));
    ck_assert(!h5vec_layer_geo_same_crs(&geo, &known));
    ck_assert_ptr_nonnull(strstr(geo.crs, "\"Mine\""));
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        ck_assert_int_eq(h5vec_layer_geo_set_crs(&geo, none[i], NULL), H5VEC_E_LAYER_CRS);
    ck_assert_str_eq(geo.crs_source, other);
    h5vec_layer_geo_free(&geo);
    h5vec_layer_geo_free(&known);
}
END_TEST

START_TEST(test_type_names)
{
    char name[H5VEC_LAYER_TYPE_NAME];
    ck_assert_str_eq(h5vec_layer_type_name(0, name), "Point");
    ck_assert_str_eq(h5vec_layer_type_name(30, name), "GeometryCollection ZM");
    ck_assert_ptr_null(h5vec_layer_type_name(7, name));
    ck_assert_ptr_null(h5vec_layer_type_name(31, name));
    ck_assert_str_eq(h5vec_layer_type_name(32, name), "CircularString");
    ck_assert_str_eq(h5vec_layer_type_name(63, name), "Triangle ZM");
    ck_assert_ptr_null(h5vec_layer_type_name(64, name));
}
END_TEST

START_TEST(test_hdf5_error)
{
    hid_t file = memory_file();
    struct h5vec_error err = {0};
    ck_assert_int_lt(H5Dopen2(file, "nothing", H5P_DEFAULT), 0);
    ck_assert_int_eq(h5vec_layer_error_hdf5(&err, "%s: dataset %d", "file", 7), H5VEC_E_HDF5);
    ck_assert_int_eq(err.status, H5VEC_E_HDF5);
    ck_assert_int_eq(strncmp(err.msg, "file: dataset 7: ", 17), 0);
    ck_assert_ptr_nonnull(strstr(err.msg, "nothing")); /* HDF5's innermost message names it */
    ck_assert_int_eq(H5Eget_num(H5E_DEFAULT), 0);
    h5vec_layer_error_hdf5(&err, "later");
    ck_assert_str_eq(err.msg, "later: HDF5 gives no reason");
    ck_assert_int_eq(h5vec_layer_error_hdf5(NULL, "x"), H5VEC_E_HDF5);
    H5Fclose(file);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("layer_parts");
    TCase *tcase = tcase_create("parts");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, test_roles, 0, sizeof roles / sizeof roles[0]);
    tcase_add_test(tcase, test_column_links);
    tcase_add_loop_test(tcase, test_storage, 0, sizeof stored / sizeof stored[0]);
    tcase_add_test(tcase, test_storage_options);
    tcase_add_test(tcase, test_blocks_in_parts);
    tcase_add_test(tcase, test_geo_text);
    tcase_add_test(tcase, test_geo_large_box);
    tcase_add_loop_test(tcase, test_bad_geo, 0, sizeof bad_geo / sizeof bad_geo[0]);
    tcase_add_test(tcase, test_same_crs);
    tcase_add_test(tcase, test_epsg);
    tcase_add_test(tcase, test_wkt_crs);
    tcase_add_test(tcase, test_type_names);
    tcase_add_test(tcase, test_hdf5_error);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}

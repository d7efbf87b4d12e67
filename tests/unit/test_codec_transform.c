/* SPDX-License-Identifier: BSD-3-Clause
 * The coordinate transform: whatever bytes go in come back, small where they are coordinates; whatever bytes
 * are said to be encoded, nothing is touched beyond them. Pieces are guarded at their ends.
 */
#include <dirent.h>
#include <math.h>
#include "codec_test.h"
#include "vcodec_transform_internal.h"

#define PROPERTY_RUNS 4000
#define LARGEST (1 << 18)

static struct vcodec_transform *transform;

static void setup(void)
{
    ck_assert_int_eq(vcodec_transform_new(&transform, NULL), H5VEC_OK);
}

static void teardown(void)
{
    vcodec_transform_free(transform);
}

static void unguard(uint8_t *p, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size + page - 1) / page * page;
    munmap(p + size - room, room + page);
}

/* Encode, decode, compare; returns the encoded size. */
static size_t round_trip(const uint8_t *raw, size_t size)
{
    static uint8_t encoded[LARGEST + 64], decoded[LARGEST];
    struct h5vec_error err = {0};
    size_t n = 0, back = 0;
    ck_assert(size <= LARGEST);
    ck_assert_int_eq(vcodec_transform_encode(transform, raw, size, encoded, &n, &err), H5VEC_OK);
    ck_assert_uint_le(n, vcodec_transform_bound(size));
    ck_assert_uint_le(vcodec_transform_bound(size), size + 64);
    ck_assert_int_eq(vcodec_transform_raw_size(encoded, n, &back, &err), H5VEC_OK);
    ck_assert_uint_eq(back, size);
    memset(decoded, 0xa5, size);
    enum h5vec_status status = vcodec_transform_decode(transform, encoded, n, decoded, size, &err);
    ck_assert_msg(status == H5VEC_OK, "%s", err.msg);
    ck_assert_mem_eq(decoded, raw, size);
    return n;
}

/* ---- Made geometries ----------------------------------------------------------------------------------- */

static uint64_t state;

static uint32_t below(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return n ? (uint32_t)(state >> 32) % n : 0;
}

struct maker {
    uint8_t *data;
    size_t size;
    bool big_endian;
    double scale; /* 0: full doubles */
    unsigned odd; /* one in so many values is odd; 0: none */
    double at[4];
};

static void put(struct maker *m, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n && m->size < LARGEST; i++)
        m->data[m->size++] = ((const uint8_t *)bytes)[m->big_endian ? n - 1 - i : i];
}

static void put_count(struct maker *m, uint32_t n)
{
    put(m, &n, 4);
}

static void put_head(struct maker *m, unsigned type, unsigned dim)
{
    uint8_t order = !m->big_endian;
    put(m, &order, 1);
    put_count(m, dim * 1000 + type);
}

static void put_point(struct maker *m, unsigned dim)
{
    static const double odd[] = {NAN, INFINITY, -0.0, 1e300, 5e-324, 0.1, -1e-7, 12345678912.5};
    for (unsigned k = 0; k < vcodec_ordinates((enum vcodec_dim)dim); k++) {
        m->at[k] += ((double)below(20001) - 10000) * 1.0000123e-7;
        double v = m->scale > 0 ? round(m->at[k] * m->scale) / m->scale : m->at[k] + 1e-9 * below(1000000);
        if (m->odd && below(m->odd) == 0)
            v = odd[below(8)];
        put(m, &v, 8);
    }
}

static void put_points(struct maker *m, unsigned dim, bool ring)
{
    uint32_t n = below(ring ? 30 : 12);
    put_count(m, n);
    size_t first = m->size, bytes = vcodec_ordinates((enum vcodec_dim)dim) * sizeof(double);
    for (uint32_t i = 0; i < n; i++)
        put_point(m, dim);
    if (ring && n > 1 && m->size + bytes < LARGEST && below(40))
        memcpy(m->data + m->size - bytes, m->data + first, bytes);
}

static void put_geometry(struct maker *m, unsigned type, unsigned dim, int depth)
{
    put_head(m, type, dim);
    for (int k = 0; k < 4; k++)
        m->at[k] = ((double)below(3600000) - 1800000) * 1e-4;
    if (type == VCODEC_POINT) {
        put_point(m, dim);
        return;
    }
    if (type == VCODEC_LINESTRING) {
        put_points(m, dim, false);
        return;
    }
    uint32_t n = below(4);
    put_count(m, n);
    for (uint32_t i = 0; i < n; i++) {
        if (type == VCODEC_POLYGON)
            put_points(m, dim, true);
        else if (type == VCODEC_GEOMETRYCOLLECTION)
            put_geometry(m, 1 + below(depth < 4 ? 7 : 3), dim, depth + 1);
        else
            put_geometry(m, type - 3, dim, depth + 1);
    }
}

/* Geometries of one kind, or (type 0) of all kinds. */
static struct maker make(uint64_t seed, unsigned type, size_t size)
{
    static uint8_t data[LARGEST];
    static const double scales[] = {1e7, 1e2, 1, 0, 1e9, 1e12};
    state = seed * 0x9e3779b97f4a7c15u + 1;
    struct maker m = {.data = data, .scale = scales[below(6)], .odd = below(3) ? 0 : 20 + below(200)};
    unsigned dim = below(4);
    while (m.size < size)
        put_geometry(&m, type ? type : 1 + below(7), type ? dim : below(4), 0);
    m.size = size;
    return m;
}

START_TEST(every_type)
{
    for (unsigned type = 1; type <= 7; type++) {
        struct maker m = make((uint64_t)_i * 7 + type, type, 50000);
        round_trip(m.data, m.size);
    }
}
END_TEST

START_TEST(pieces_start_and_end_anywhere)
{
    struct maker m = make((uint64_t)_i + 100, 0, LARGEST);
    for (int i = 0; i < PROPERTY_RUNS / 10; i++) {
        size_t begin = below(LARGEST), n = below(20) ? below(4000) : below(LARGEST);
        n = n < LARGEST - begin ? n : LARGEST - begin;
        uint8_t *piece = guarded(n);
        memcpy(piece, m.data + begin, n);
        round_trip(piece, n);
        unguard(piece, n);
    }
}
END_TEST

START_TEST(small_inputs_cut_everywhere)
{
    struct maker m = make((uint64_t)_i, (unsigned)_i % 8, 600);
    for (size_t begin = 0; begin < 120; begin++)
        for (size_t end = begin; end <= m.size; end += end > begin + 150 ? 14 : 1)
            round_trip(m.data + begin, end - begin);
}
END_TEST

START_TEST(mixed_with_other_bytes)
{
    for (unsigned places = 1; places <= 25; places++) {
        struct maker m = make((uint64_t)_i * 25 + places + 1000, places % 2 * 3, 20000);
        for (unsigned i = 0; i < places; i++) {
            size_t at = below((uint32_t)m.size - 300), n = below(300);
            for (size_t k = 0; k < n; k++)
                m.data[at + k] = (uint8_t)(below(2) ? below(256) : below(2));
        }
        round_trip(m.data, m.size);
    }
}
END_TEST

START_TEST(big_endian_geometries)
{
    static uint8_t data[LARGEST];
    state = 77;
    struct maker m = {.data = data, .big_endian = true, .scale = 1e7};
    while (m.size < 30000)
        put_geometry(&m, 1 + below(7), below(4), 0);
    round_trip(m.data, m.size);
}
END_TEST

START_TEST(random_bytes_grow_by_less_than_64)
{
    static uint8_t data[LARGEST];
    state = 5;
    for (unsigned k = 0; k < 360; k++) {
        size_t n = k < 300 ? k : below(LARGEST);
        unsigned most = k % 3 == 0 ? 256 : k % 3 == 1 ? 3 : 1;
        for (size_t i = 0; i < n; i++)
            data[i] = (uint8_t)below(most);
        ck_assert_uint_le(round_trip(data, n), n + 64);
    }
}
END_TEST

START_TEST(golden_files)
{
    const char *dir = getenv("H5VEC_SOURCE_DIR"), *kinds[] = {"good", "bad"};
    int files = 0;
    for (int k = 0; k < 2; k++) {
        char path[2048];
        snprintf(path, sizeof path, "%s/tests/golden/%s", dir ? dir : ".", kinds[k]);
        DIR *d = opendir(path);
        ck_assert(d != NULL);
        for (struct dirent *e; (e = readdir(d)) != NULL;) {
            static uint8_t raw[1 << 16];
            char file[4096];
            snprintf(file, sizeof file, "%s/%s", path, e->d_name);
            FILE *f = e->d_name[0] == '.' ? NULL : fopen(file, "rb");
            if (!f)
                continue;
            size_t n = fread(raw, 1, sizeof raw, f);
            fclose(f);
            for (size_t i = 0; i <= n; i++)
                round_trip(raw + i, n - i);
            files++;
        }
        closedir(d);
    }
    ck_assert_int_ge(files, 40);
}
END_TEST

/* ---- What it is good for ----------------------------------------------------------------------------- */

static bool is_coded(const uint8_t *raw, size_t size, struct vcodec_form *form)
{
    static uint8_t encoded[LARGEST + 64];
    size_t n;
    ck_assert_int_eq(vcodec_transform_encode(transform, raw, size, encoded, &n, NULL), H5VEC_OK);
    ck_assert_int_eq(vcodec_form_read(encoded, n, form, NULL), H5VEC_OK);
    return form->coded;
}

static struct maker lines(uint64_t seed, unsigned dim, double scale, unsigned type)
{
    static uint8_t data[LARGEST];
    state = seed;
    struct maker m = {.data = data, .scale = scale};
    while (m.size < 100000)
        put_geometry(&m, type, dim, 0);
    return m;
}

START_TEST(finds_scale_and_dimension)
{
    struct vcodec_form form;
    for (unsigned dim = 0; dim < 4; dim++) {
        struct maker m = lines(dim + 1, dim, 1e7, VCODEC_LINESTRING);
        ck_assert(is_coded(m.data, m.size, &form));
        for (unsigned j = 0; j < 4; j++) {
            bool there = vcodec_ordinate_place(dim, j) >= 0;
            ck_assert_uint_eq(form.ordinate[j].kind, there ? VCODEC_KIND_DECIMAL32 : VCODEC_KIND_NONE);
            ck_assert_uint_eq(form.ordinate[j].decimals, there ? 7 : 0);
            ck_assert_uint_eq(form.ordinate[j].escapes, 0);
        }
    }
    struct maker m = lines(9, 0, 1e12, VCODEC_LINESTRING);
    ck_assert(is_coded(m.data, m.size, &form));
    ck_assert_uint_eq(form.ordinate[0].kind, VCODEC_KIND_DECIMAL64);
    ck_assert_uint_eq(form.ordinate[0].decimals, 12);
    m = lines(10, 0, 0, VCODEC_LINESTRING);
    ck_assert(is_coded(m.data, m.size, &form));
    ck_assert_uint_eq(form.ordinate[0].kind, VCODEC_KIND_BITS);
}
END_TEST

/* A piece from the middle: after what is left of a geometry, all is structure again. */
START_TEST(finds_the_next_geometry)
{
    struct vcodec_form form;
    for (unsigned type = 1; type <= 7; type++) {
        struct maker m = lines(type, VCODEC_XY, 1e7, type);
        for (size_t begin = 1000; begin < 1100; begin++) {
            ck_assert(is_coded(m.data + begin, 50000, &form));
            ck_assert_uint_le(form.sections, 3);
            ck_assert_uint_lt(form.kept, 100);
        }
    }
}
END_TEST

/* One line longer than the piece: no header anywhere. */
START_TEST(finds_points_without_a_header)
{
    static uint8_t data[LARGEST];
    struct vcodec_form form;
    for (unsigned dim = 0; dim < 4; dim++) {
        state = dim + 3;
        struct maker m = {.data = data, .scale = 1e7, .at = {13, 52, 40, 1000}};
        while (m.size < LARGEST - 64)
            put_point(&m, dim);
        for (size_t shift = 0; shift < 40; shift++) {
            size_t n = round_trip(data + shift, 100000);
            ck_assert_uint_lt(n, 60000);
            ck_assert(is_coded(data + shift, 100000, &form));
            ck_assert_uint_eq(form.ordinate[0].starts, 1);
            ck_assert_uint_lt(form.kept, 8 + 32);
        }
    }
}
END_TEST

/* Rings of one polygon, in a piece that begins and ends inside it. */
START_TEST(finds_rings_without_a_header)
{
    static uint8_t data[LARGEST];
    struct vcodec_form form;
    state = 8;
    struct maker m = {.data = data, .scale = 1e7, .at = {13, 52}};
    while (m.size < LARGEST - 1000)
        put_points(&m, VCODEC_XY, true);
    for (size_t begin = 5000; begin < 5100; begin++) {
        ck_assert(is_coded(data + begin, 50000, &form));
        ck_assert_uint_ge(form.counts, 50);
        round_trip(data + begin, 50000);
    }
}
END_TEST

START_TEST(escapes_are_few)
{
    struct vcodec_form form;
    struct maker m = lines(5, VCODEC_XY, 1e7, VCODEC_POLYGON);
    double nan_value = NAN;
    for (size_t at = 5000; at < 5008; at++) /* eight places, one of which is a value's */
        memcpy(m.data + 5000 + (at - 5000) * 3001, &nan_value, 8);
    ck_assert(is_coded(m.data, m.size, &form));
    ck_assert_uint_eq(form.ordinate[0].kind, VCODEC_KIND_DECIMAL32);
    round_trip(m.data, m.size);
}
END_TEST

/* ---- Hostile bytes ------------------------------------------------------------------------------------- */

/* Whatever it is: no more than the documented expansion, and no touch beyond the ends. */
static enum h5vec_status decode_guarded(const uint8_t *encoded, size_t size)
{
    size_t raw_size;
    struct h5vec_error err = {0};
    enum h5vec_status status = vcodec_transform_raw_size(encoded, size, &raw_size, &err);
    if (!status) {
        ck_assert_uint_le(raw_size, VCODEC_TRANSFORM_EXPANSION * (size + 1));
        uint8_t *out = guarded(raw_size);
        status = vcodec_transform_decode(transform, encoded, size, out, raw_size, &err);
        unguard(out, raw_size);
    }
    ck_assert(status == H5VEC_OK || status == H5VEC_E_TRANSFORM || status == H5VEC_E_TRANSFORM_VERSION);
    ck_assert(status == H5VEC_OK || err.msg[0]);
    return status;
}

START_TEST(hostile_streams)
{
    struct maker m = make((uint64_t)_i + 40, (unsigned)_i % 8, 3000);
    uint8_t encoded[4096];
    size_t n;
    ck_assert_int_eq(vcodec_transform_encode(transform, m.data, m.size, encoded, &n, NULL), H5VEC_OK);
    uint8_t *bytes = guarded(n);
    for (size_t i = 0; i < n; i++) { /* every byte, changed in four ways */
        static const uint8_t change[] = {1, 0x80, 0xff, 0x10};
        for (int k = 0; k < 4; k++) {
            memcpy(bytes, encoded, n);
            bytes[i] ^= change[k];
            decode_guarded(bytes, n);
        }
    }
    for (int i = 0; i < PROPERTY_RUNS / 4; i++) {
        memcpy(bytes, encoded, n);
        for (uint32_t k = 1 + below(8); k > 0; k--)
            bytes[below(2) ? below(VCODEC_FORM_HEADER + 40) : below((uint32_t)n)] = (uint8_t)below(256);
        decode_guarded(bytes, n);
    }
    for (size_t cut = 0; cut < n; cut++) {
        uint8_t *part = bytes + cut; /* ends at the guard */
        memcpy(part, encoded, n - cut);
        ck_assert_int_eq(decode_guarded(part, n - cut), cut ? H5VEC_E_TRANSFORM : H5VEC_OK);
    }
}
END_TEST

START_TEST(other_versions_are_refused)
{
    uint8_t encoded[64];
    size_t n, raw_size = 99;
    struct h5vec_error err;
    ck_assert_int_eq(vcodec_transform_encode(transform, (const uint8_t *)"any", 3, encoded, &n, NULL),
                     H5VEC_OK);
    encoded[3] = 2;
    ck_assert_int_eq(vcodec_transform_raw_size(encoded, n, &raw_size, &err), H5VEC_E_TRANSFORM_VERSION);
    ck_assert_uint_eq(raw_size, 99);
    ck_assert(strstr(err.msg, "version 2") != NULL);
}
END_TEST

/* A header may not claim more than its bytes can hold. */
START_TEST(claims_are_bounded)
{
    uint8_t header[VCODEC_FORM_HEADER] = {'V', 'C', 'T', 1, 1};
    size_t raw_size;
    vcodec_store64(header + 8, UINT64_C(1) << 40);
    ck_assert_int_eq(vcodec_transform_raw_size(header, sizeof header, &raw_size, NULL), H5VEC_E_TRANSFORM);
    for (size_t at = 16; at < sizeof header; at += 8) {
        memset(header + 8, 0, sizeof header - 8);
        vcodec_store64(header + at, UINT64_MAX / 8);
        ck_assert_int_eq(vcodec_transform_raw_size(header, sizeof header, &raw_size, NULL),
                         H5VEC_E_TRANSFORM);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("transform");
    TCase *tc = tcase_create("round trip");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, every_type, 0, 10);
    tcase_add_loop_test(tc, pieces_start_and_end_anywhere, 0, 10);
    tcase_add_loop_test(tc, small_inputs_cut_everywhere, 0, 8);
    tcase_add_loop_test(tc, mixed_with_other_bytes, 0, 4);
    tcase_add_test(tc, big_endian_geometries);
    tcase_add_test(tc, random_bytes_grow_by_less_than_64);
    tcase_add_test(tc, golden_files);
    suite_add_tcase(suite, tc);
    tc = tcase_create("what is found");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, finds_scale_and_dimension);
    tcase_add_test(tc, finds_the_next_geometry);
    tcase_add_test(tc, finds_points_without_a_header);
    tcase_add_test(tc, finds_rings_without_a_header);
    tcase_add_test(tc, escapes_are_few);
    suite_add_tcase(suite, tc);
    tc = tcase_create("hostile");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, hostile_streams, 0, 8);
    tcase_add_test(tc, other_versions_are_refused);
    tcase_add_test(tc, claims_are_bounded);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}

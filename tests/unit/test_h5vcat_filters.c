/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The filters against HDF5's own: chunks that HDF5 wrote are decoded here, chunks encoded here are read by
 * HDF5.
 */
#include <stdlib.h>
#include <string.h>
#include "H5Zh5vec.h"
#include "filters.h"
#include "suite.h"

#define FLETCHER 1u
#define SHUFFLE 2u
#define DEFLATE 4u
#define FLETCHER_FIRST 8u
#define TRANSFORM 16u

static uint32_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

static hid_t make_file(void)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(fapl, 1 << 16, false);
    hid_t file = H5Fcreate("filters.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    H5Pclose(fapl);
    ck_assert(file >= 0);
    return file;
}

/* A dataset of one chunk of n elements of an opaque type, so that any element size is possible. */
static hid_t make_dataset(hid_t file, unsigned filters, size_t element, hsize_t n, hid_t *type, hid_t *dcpl)
{
    *type = H5Tcreate(H5T_OPAQUE, element);
    *dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(*dcpl, 1, &n);
    if (filters & FLETCHER_FIRST)
        H5Pset_fletcher32(*dcpl);
    if (filters & TRANSFORM)
        H5Pset_filter(*dcpl, H5Z_FILTER_H5VEC, H5Z_FLAG_MANDATORY, 0, NULL);
    if (filters & SHUFFLE)
        H5Pset_shuffle(*dcpl);
    if (filters & DEFLATE)
        H5Pset_deflate(*dcpl, 1 + draw(9));
    if (filters & FLETCHER)
        H5Pset_fletcher32(*dcpl);
    hid_t space = H5Screate_simple(1, &n, NULL);
    hid_t dset = H5Dcreate2(file, "d", *type, space, H5P_DEFAULT, *dcpl, H5P_DEFAULT);
    H5Sclose(space);
    ck_assert(dset >= 0);
    return dset;
}

static void fill(unsigned char *bytes, size_t n)
{
    static const unsigned char point[21] = {1,    1,    0, 0, 0, 0, 0, 0, 0, 0,   0,
                                            0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0x40};
    uint32_t kind = draw(4);
    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)(kind == 0   ? 0
                                   : kind == 1 ? (i / 7) & 15
                                   : kind == 2 ? draw(256)
                                               : point[i % 21]);
}

START_TEST(hdf5_and_we_read_each_other)
{
    static const size_t elements[] = {1, 2, 3, 4, 8, 16, 24, 1000};
    seed = (uint32_t)_i;
    unsigned filters = (unsigned)_i % 32;
    ck_assert(H5Z_h5vec_register() >= 0);
    size_t element = elements[draw(8)];
    hsize_t n = 1 + draw(5000), zero = 0, size = 0;
    hid_t type, dcpl, file = make_file(), dset = make_dataset(file, filters, element, n, &type, &dcpl);
    size_t bytes = (size_t)n * element, out_size = 0;
    unsigned char *raw = malloc(bytes), *back = malloc(bytes);
    struct h5vec_error err = {0};
    struct pipeline p;
    struct coder *c = NULL;
    uint32_t mask = 0;
    fill(raw, bytes);
    ck_assert_int_eq(h5vcat_coder_new(&c, &err), H5VEC_OK);
    ck_assert_int_eq(h5vcat_pipeline_get(dcpl, element, &p, &err), H5VEC_OK);
    p.level = (int)draw(10);

    ck_assert(H5Dwrite(dset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw) >= 0);
    ck_assert(H5Fflush(file, H5F_SCOPE_LOCAL) >= 0);
    ck_assert(H5Dget_chunk_storage_size(dset, &zero, &size) >= 0);
    unsigned char *stored = malloc((size_t)size + 1);
    ck_assert(H5Dread_chunk(dset, H5P_DEFAULT, &zero, &mask, stored) >= 0);
    enum h5vec_status st = h5vcat_coder_decode(c, &p, mask, stored, (size_t)size, back, bytes, &err);
    ck_assert_msg(st == H5VEC_OK, "filters %u mask %u: %s", filters, mask, err.msg);
    ck_assert_mem_eq(raw, back, bytes);

    unsigned char *ours = malloc(h5vcat_coder_bound(&p, bytes));
    ck_assert_int_eq(h5vcat_coder_encode(c, &p, draw(2) ? H5VCAT_ENCODER_ZLIB : H5VCAT_ENCODER_LIBDEFLATE,
                                         raw, bytes, ours, &out_size, &err),
                     H5VEC_OK);
    ck_assert_uint_le(out_size, h5vcat_coder_bound(&p, bytes));
    ck_assert(H5Dwrite_chunk(dset, H5P_DEFAULT, 0, &zero, out_size, ours) >= 0);
    memset(back, 0xEE, bytes);
    ck_assert(H5Dread(dset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0);
    ck_assert_mem_eq(raw, back, bytes);
    h5vcat_coder_free(c);
    free(ours);
    free(stored);
    free(raw);
    free(back);
    H5Dclose(dset);
    H5Pclose(dcpl);
    H5Tclose(type);
    H5Fclose(file);
}
END_TEST

static struct pipeline deflate_and_checksum(void)
{
    struct pipeline p = {.count = 2, .level = 6};
    p.filter[0].id = H5Z_FILTER_DEFLATE;
    p.filter[0].value = 6;
    p.filter[1].id = H5Z_FILTER_FLETCHER32;
    return p;
}

START_TEST(every_flipped_byte_is_found)
{
    struct pipeline p = deflate_and_checksum();
    struct coder *c = NULL;
    struct h5vec_error err = {0};
    unsigned char raw[500], out[1000], back[500];
    size_t size = 0;
    seed = 3;
    fill(raw, sizeof raw);
    ck_assert_int_eq(h5vcat_coder_new(&c, &err), H5VEC_OK);
    ck_assert_int_eq(h5vcat_coder_encode(c, &p, H5VCAT_ENCODER_LIBDEFLATE, raw, sizeof raw, out, &size, &err),
                     H5VEC_OK);
    for (size_t i = 0; i < size; i++) {
        out[i] ^= 0x10;
        ck_assert_int_eq(h5vcat_coder_decode(c, &p, 0, out, size, back, sizeof back, &err), H5VEC_E_DATA);
        /* with the checksum filter masked out, the stream's own Adler-32 finds it */
        enum h5vec_status st = h5vcat_coder_decode(c, &p, 2, out, size - 4, back, sizeof back, &err);
        ck_assert(i >= size - 4 || st == H5VEC_E_DATA || memcmp(raw, back, sizeof raw) == 0);
        out[i] ^= 0x10;
    }
    for (size_t n = 0; n < size; n++)
        ck_assert_int_eq(h5vcat_coder_decode(c, &p, 0, out, n, back, sizeof back, &err), H5VEC_E_DATA);
    h5vcat_coder_free(c);
}
END_TEST

/* What HDF5 reads is read: bytes behind the stream are ignored. What is too short or too long is an error. */
START_TEST(length_of_a_stream)
{
    struct pipeline p = {.count = 1, .level = 6};
    struct coder *c = NULL;
    struct h5vec_error err = {0};
    unsigned char raw[300] = {1, 2, 3}, out[1000] = {0}, back[400];
    size_t size = 0;
    p.filter[0].id = H5Z_FILTER_DEFLATE;
    p.filter[0].value = 6;
    ck_assert_int_eq(h5vcat_coder_new(&c, &err), H5VEC_OK);
    ck_assert_int_eq(h5vcat_coder_encode(c, &p, H5VCAT_ENCODER_LIBDEFLATE, raw, sizeof raw, out, &size, &err),
                     H5VEC_OK);
    ck_assert_int_eq(h5vcat_coder_decode(c, &p, 0, out, size + 20, back, sizeof raw, &err), H5VEC_OK);
    ck_assert_mem_eq(raw, back, sizeof raw);
    ck_assert_int_eq(h5vcat_coder_decode(c, &p, 0, out, size, back, sizeof raw + 1, &err), H5VEC_E_DATA);
    h5vcat_coder_free(c);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("h5vcat_filters");
    TCase *t = tcase_create("chunks");
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    tcase_add_loop_test(t, hdf5_and_we_read_each_other, 0, 192);
    tcase_add_test(t, every_flipped_byte_is_found);
    tcase_add_test(t, length_of_a_stream);
    suite_add_tcase(s, t);
    return run_suite(s);
}

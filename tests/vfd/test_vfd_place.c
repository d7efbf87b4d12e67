/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Placement of chunks: addresses, sizes, and who writes what.
 */
#include "vfd_test.h"

enum { CHUNK = 1000, CHUNK_BYTES = CHUNK * (int)sizeof(int) };

static void fill(int *chunk, int first)
{
    for (int i = 0; i < CHUNK; i++)
        chunk[i] = first + i;
}

START_TEST(create_reserve_place_close)
{
    const char *path = scratch("smoke");
    hid_t file = create_placed(path, 0, 0), dataset = create_chunked(file, "d", 3500, 0, CHUNK, H5P_DEFAULT);
    haddr_t addr;
    int chunk[CHUNK];
    hsize_t n;
    ck_assert(H5FD_h5vec_reserve(file, 4 * CHUNK_BYTES, &addr) >= 0);
    ck_assert(addr % 4096 == 0);
    for (int i = 0; i < 4; i++) {
        haddr_t at = addr + (haddr_t)(i * CHUNK_BYTES);
        fill(chunk, i * CHUNK);
        write_from_child(path, at, chunk, sizeof chunk);
        ck_assert(place_chunk(file, dataset, (hsize_t)(i * CHUNK), at, CHUNK_BYTES, 0) >= 0);
    }
    H5Dclose(dataset);
    ck_assert(H5Fclose(file) >= 0);
    int *values = read_ints(path, "d", &n);
    ck_assert(n == 3500);
    for (int i = 0; i < 3500; i++)
        ck_assert_int_eq(values[i], i);
    free(values);
    remove(path);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("vfd_place");
    TCase *tcase = tcase_create("rules");
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    tcase_add_test(tcase, create_reserve_place_close);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sets of ranges and the space behind the cursor, against a map with one owner for each byte, in random
 * sequences.
 */
#include "vfd_test.h"

#include "H5FDh5vec_config.h"
#include "H5FDh5vec_space.h"

enum { SPAN = 2000, MAP = 1 << 21, STEPS = 400 };
enum { NOBODY, HDF5, RESERVED, PLACED };

START_TEST(ranges_like_a_bitmap)
{
    struct H5FD_h5vec_ranges set = {0};
    unsigned char bits[SPAN] = {0};
    unsigned seed = (unsigned)_i;
    for (int step = 0; step < 600; step++) {
        unsigned begin = (unsigned)rand_r(&seed) % (SPAN - 1), end = begin + 1 + (unsigned)rand_r(&seed) % 40,
                 ones = 0;
        end = end < SPAN ? end : SPAN;
        for (unsigned i = begin; i < end; i++)
            ones += bits[i];
        ck_assert(H5FD_h5vec_ranges_overlap(&set, begin, end) == (ones > 0));
        ck_assert(H5FD_h5vec_ranges_cover(&set, begin, end) == (ones == end - begin));
        if (step % 3)
            continue;
        ck_assert(H5FD_h5vec_ranges_add(&set, begin, end) == 0);
        memset(bits + begin, 1, end - begin);
    }
    H5FD_h5vec_ranges_clear(&set);
    ck_assert(!H5FD_h5vec_ranges_overlap(&set, 0, UINT64_MAX));
}
END_TEST

static unsigned char *map;
static struct H5FD_h5vec_space space;

static void setup(void)
{
    struct H5FD_h5vec_config config = {
        .sizeof_config = sizeof config, .first_zone = 700, .zone = 1000, .alignment = 512};
    map = calloc(1, MAP);
    memset(&space, 0, sizeof space);
    H5Pclose(h5vec_fapl(0, 0)); /* registers the errors */
    ck_assert(H5FD_h5vec_config_complete(&space.config, &config) >= 0);
    space.limit = MAP;
}

static void teardown(void)
{
    H5FD_h5vec_space_clear(&space);
    free(map);
}

static void take(haddr_t addr, hsize_t size, unsigned char from, unsigned char to)
{
    ck_assert(addr + size <= MAP && addr + size <= space.cursor);
    hsize_t wrong = 0;
    for (hsize_t i = 0; i < size; i++) {
        wrong += map[addr + i] != from;
        map[addr + i] = to;
    }
    ck_assert_msg(wrong == 0, "%llu bytes of %llu at %llu had another owner", (unsigned long long)wrong,
                  (unsigned long long)size, (unsigned long long)addr);
}

static void check_write(haddr_t addr, hsize_t size)
{
    hsize_t owners[4] = {0};
    for (hsize_t i = 0; i < size; i++)
        owners[map[addr + i]]++;
    enum H5FD_h5vec_write what = H5FD_h5vec_space_write(&space, addr, size);
    bool good = owners[HDF5] < size || what == H5FD_H5VEC_WRITE_KEEP;
    if (space.placing) {
        good = good && (what == H5FD_H5VEC_WRITE_DROP) == (owners[PLACED] == size);
        if (owners[RESERVED] > 0 || (owners[HDF5] > 0 && owners[PLACED] > 0)) /* others' bytes */
            good = good && what == H5FD_H5VEC_WRITE_ERROR;
    }
    ck_assert(good);
}

START_TEST(space_like_a_map)
{
    unsigned seed = (unsigned)_i;
    haddr_t addr = 0, last = 0;
    hsize_t last_size = 0;
    int start = _i % 3 ? rand_r(&seed) % 20 : STEPS; /* when placement begins */
    space.plain = _i % 9 == 6;
    for (int step = 0; step < STEPS; step++) {
        hsize_t size = 1 + (hsize_t)rand_r(&seed) % (rand_r(&seed) % 10 ? 120 : 3000);
        int what = rand_r(&seed) % 8;
        if (step == start)
            ck_assert(H5FD_h5vec_space_begin(&space, _i % 2, _i % 2 ? 0 : 5000) >= 0);
        if (what < 3) {
            ck_assert(H5FD_h5vec_space_alloc(&space, rand_r(&seed) % 2, size, &addr) >= 0);
            take(addr, size, NOBODY, HDF5);
            last = addr;
            last_size = size;
        } else if (what == 3 && last + last_size == H5FD_h5vec_space_eoa(&space) &&
                   last_size > 0) { /* growth in place */
            ck_assert(H5FD_h5vec_space_set_eoa(&space, last + last_size + size) >= 0);
            take(last + last_size, size, NOBODY, HDF5);
            last_size += size;
        } else if (what == 4 && last + last_size == H5FD_h5vec_space_eoa(&space) && last_size > 0) {
            H5FD_h5vec_space_free(&space, last, last_size);
            memset(map + last, NOBODY, last_size);
            last_size = 0;
        } else if (what >= 5 && step > start) {
            ck_assert(H5FD_h5vec_space_reserve(&space, size, &addr) >= 0 && addr % 512 == 0);
            take(addr, size, NOBODY, RESERVED);
            hsize_t part = 1 + size / 2;
            ck_assert(H5FD_h5vec_space_place(&space, addr, part) >= 0);
            ck_assert(H5FD_h5vec_space_place(&space, addr, part) < 0);
            haddr_t at;
            ck_assert(H5FD_h5vec_space_alloc(&space, true, part + 1, &at) < 0);
            ck_assert(H5FD_h5vec_space_alloc(&space, false, 3, &at) >= 0); /* metadata meanwhile */
            take(at, 3, NOBODY, HDF5);
            last_size = 0;
            ck_assert(H5FD_h5vec_space_alloc(&space, true, part, &at) >= 0 && at == addr);
            take(addr, part, RESERVED, PLACED);
        }
        H5Eclear2(H5E_DEFAULT);
        haddr_t limit = space.cursor > 100 ? space.cursor : 100;
        for (int i = 0; i < 5; i++)
            check_write((haddr_t)rand_r(&seed) % limit, 1 + (hsize_t)rand_r(&seed) % 60);
    }
    ck_assert(!space.placing || space.zones_used <= space.zones_size);
    H5FD_h5vec_space_trim(&space);
    haddr_t after = H5FD_h5vec_space_eoa(&space);
    while (after < MAP && map[after] == NOBODY)
        after++;
    ck_assert(after == MAP);
}
END_TEST

/* Before placement: metadata and raw data apart, zones that grow with what is in them, and an end of the file
 * that leaves out what is unused. */
START_TEST(zones_grow)
{
    haddr_t addr, meta_end = 0;
    hsize_t wasted = 0, used = 0;
    int runs = 0;
    space.config.first_zone = space.config.zone = 0;
    space.limit = INT64_MAX;
    for (int i = 0; i < 20000; i++) {
        ck_assert(H5FD_h5vec_space_alloc(&space, false, 300, &addr) >= 0);
        runs += addr != meta_end;
        meta_end = addr + 300;
        used += 300;
        ck_assert(H5FD_h5vec_space_alloc(&space, true, 700, &addr) >= 0);
        used += 700;
        ck_assert(H5FD_h5vec_space_eoa(&space) == addr + 700);
    }
    wasted = H5FD_h5vec_space_eoa(&space) - used;
    ck_assert_msg(runs < 60, "%d runs of metadata", runs);
    ck_assert_msg(wasted < used / 25, "%llu bytes wasted", (unsigned long long)wasted);
}
END_TEST

/* All that came later is freed again, from the end: the file is as small as before. */
START_TEST(zones_that_were_left_come_back)
{
    haddr_t meta[200], raw[200];
    space.config.first_zone = space.config.zone = 0;
    for (int i = 0; i < 200; i++) {
        ck_assert(H5FD_h5vec_space_alloc(&space, false, 300, &meta[i]) >= 0);
        ck_assert(H5FD_h5vec_space_alloc(&space, true, 700, &raw[i]) >= 0);
    }
    for (int i = 199; i > 0; i--) { /* raw data and metadata are freed as they come to the end */
        H5FD_h5vec_space_free(&space, raw[i], 700);
        for (int j = 199; j >= i; j--)
            H5FD_h5vec_space_free(&space, meta[j], 300);
    }
    H5FD_h5vec_space_free(&space, raw[0], 700);
    for (int i = 199; i > 0; i--)
        H5FD_h5vec_space_free(&space, meta[i], 300);
    ck_assert_uint_eq(H5FD_h5vec_space_eoa(&space), 300);
}
END_TEST

START_TEST(an_unused_zone_at_the_end_is_not_there)
{
    haddr_t addr;
    ck_assert(H5FD_h5vec_space_set_eoa(&space, 5000) >= 0); /* an old file */
    ck_assert(H5FD_h5vec_space_alloc(&space, false, 100, &addr) >= 0 && addr == 5000);
    ck_assert(H5FD_h5vec_space_eoa(&space) == 5100);
    ck_assert(H5FD_h5vec_space_set_eoa(&space, 5150) >= 0 && H5FD_h5vec_space_eoa(&space) == 5150);
    H5FD_h5vec_space_free(&space, 5000, 150);
    ck_assert(H5FD_h5vec_space_eoa(&space) == 5000);
    ck_assert(H5FD_h5vec_space_alloc(&space, true, 10, &addr) >= 0 && addr == 5000); /* no hole */
    ck_assert(H5FD_h5vec_space_alloc(&space, false, 10, &addr) >= 0 && addr == 5010);
    ck_assert(H5FD_h5vec_space_alloc(&space, true, 10, &addr) >= 0 && addr > 5020);
    H5FD_h5vec_space_free(&space, addr, 10);
    ck_assert(H5FD_h5vec_space_eoa(&space) == 5020);
    H5FD_h5vec_space_free(&space, 4000, 1020); /* all of it, and what was before */
    ck_assert(H5FD_h5vec_space_eoa(&space) == 4000);
    space.plain = true; /* HDF5 aligns: the next block is where it saw the end */
    ck_assert(H5FD_h5vec_space_alloc(&space, false, 96, &addr) >= 0 && addr == 4000);
    ck_assert(H5FD_h5vec_space_alloc(&space, true, 4096, &addr) >= 0 && addr == 4096);
    ck_assert(H5FD_h5vec_space_eoa(&space) == 8192);
}
END_TEST

START_TEST(the_largest_address)
{
    haddr_t addr;
    space.limit = 10000;
    ck_assert(H5FD_h5vec_space_begin(&space, true, 0) >= 0);
    ck_assert(H5FD_h5vec_space_reserve(&space, 9000, &addr) < 0);
    ck_assert(H5FD_h5vec_space_alloc(&space, false, 20000, &addr) < 0);
    ck_assert(H5FD_h5vec_space_reserve(&space, 8976, &addr) >= 0 && addr == 1024);
    ck_assert(H5FD_h5vec_space_alloc(&space, false, 701, &addr) <
              0); /* a zone more than the first has left */
    ck_assert(H5FD_h5vec_space_alloc(&space, false, 700, &addr) >= 0 && addr == 0);
    ck_assert(H5FD_h5vec_space_set_eoa(&space, 10001) < 0);
    /* Nor does the end move back over what others own. */
    ck_assert(H5FD_h5vec_space_set_eoa(&space, 500) >= 0 && space.cursor == 10000);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("space");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, ranges_like_a_bitmap, 0, 20);
    tcase_add_loop_test(tcase, space_like_a_map, 0, 60);
    tcase_add_test(tcase, zones_grow);
    tcase_add_test(tcase, zones_that_were_left_come_back);
    tcase_add_test(tcase, an_unused_zone_at_the_end_is_not_there);
    tcase_add_test(tcase, the_largest_address);
    return run_tests("vfd_space", tcase);
}

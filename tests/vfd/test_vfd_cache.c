/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The metadata cache against a plain array: random reads, writes and drops, caches too small for anything,
 * and loads that fail. And what it reads ahead.
 */
#include "H5FDh5vec_cache.h"
#include "H5FDh5vec_hints.h"
#include "H5FDh5vec_sieve.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FILE_SIZE = 200000 };

/* A file: what is past its end reads as zeros. Bytes at and behind broken cannot be loaded. */
static struct {
    unsigned char bytes[FILE_SIZE];
    uint64_t broken;
    unsigned calls;
    uint64_t loaded;
    long delay; /* of a call, microseconds */
} disk;

static int load(void *context, uint64_t addr, size_t size, void *buffer)
{
    ck_assert(context == &disk && size > 0);
    disk.calls++;
    disk.loaded += size;
    if (disk.delay > 0)
        nanosleep(&(struct timespec){.tv_nsec = disk.delay * 1000}, NULL);
    if (addr + size > disk.broken)
        return EIO;
    memset(buffer, 0, size);
    if (addr < FILE_SIZE)
        memcpy(buffer, disk.bytes + addr, size < FILE_SIZE - addr ? size : (size_t)(FILE_SIZE - addr));
    return 0;
}

static struct H5FD_h5vec_cache *make(uint64_t capacity, uint64_t block, uint64_t gap)
{
    struct H5FD_h5vec_cache_config config = {capacity, block, gap, load, &disk};
    struct H5FD_h5vec_cache *cache = H5FD_h5vec_cache_new(&config);
    ck_assert(cache != NULL);
    H5FD_h5vec_cache_bounds(cache, 0, FILE_SIZE);
    return cache;
}

static void setup(void)
{
    unsigned seed = 1;
    memset(&disk, 0, sizeof disk);
    disk.broken = UINT64_MAX;
    for (size_t i = 0; i < FILE_SIZE; i++)
        disk.bytes[i] = (unsigned char)rand_r(&seed);
}

/* Read and compare, whatever the cache has or has not. */
static void expect(struct H5FD_h5vec_cache *cache, uint64_t addr, size_t size)
{
    static unsigned char got[FILE_SIZE * 2], want[FILE_SIZE * 2];
    memset(want, 0, size);
    if (addr < FILE_SIZE)
        memcpy(want, disk.bytes + addr, size < FILE_SIZE - addr ? size : (size_t)(FILE_SIZE - addr));
    memset(got, 0xee, size + 1);
    ck_assert_int_eq(H5FD_h5vec_cache_read(cache, addr, size, got), 0);
    ck_assert_msg(memcmp(got, want, size) == 0, "%zu bytes at %llu", size, (unsigned long long)addr);
    ck_assert(got[size] == 0xee);
}

static size_t random_size(unsigned *seed)
{
    unsigned kind = (unsigned)rand_r(seed) % 20;
    return (size_t)rand_r(seed) % (kind == 0 ? 150000 : kind < 5 ? 5000 : 600);
}

static void write_both(struct H5FD_h5vec_cache *cache, uint64_t addr, size_t size, unsigned *seed)
{
    if (addr >= FILE_SIZE)
        return;
    size = size < FILE_SIZE - addr ? size : (size_t)(FILE_SIZE - addr);
    for (size_t i = 0; i < size; i++)
        disk.bytes[addr + i] = (unsigned char)rand_r(seed);
    H5FD_h5vec_cache_write(cache, addr, size, disk.bytes + addr);
}

static const uint64_t capacities[] = {0, 1, 511, 512, 1024, 1536, 5000, 20000, 65536, 1 << 20};
static const uint64_t blocks[] = {0, 1, 512, 700, 4096, 65536, UINT64_MAX};
enum { CAPACITIES = sizeof capacities / sizeof *capacities, BLOCKS = sizeof blocks / sizeof *blocks };

START_TEST(random_work_like_an_array)
{
    unsigned seed = (unsigned)_i;
    struct H5FD_h5vec_cache *cache = make(capacities[_i % CAPACITIES], blocks[_i / CAPACITIES], 3000);
    for (int step = 0; step < 2000; step++) {
        uint64_t addr = (uint64_t)rand_r(&seed) % (FILE_SIZE + 3000);
        size_t size = random_size(&seed);
        int what = rand_r(&seed) % 10;
        if (what < 6)
            expect(cache, addr, size);
        else if (what < 9)
            write_both(cache, addr, size, &seed);
        else /* forgotten: what others changed there is seen */
            H5FD_h5vec_cache_drop(cache, addr, step % 2 ? size : UINT64_MAX);
    }
    expect(cache, 0, FILE_SIZE + 10);
    H5FD_h5vec_cache_free(cache);
}
END_TEST

START_TEST(forgotten_bytes_are_loaded_again)
{
    struct H5FD_h5vec_cache *cache = make(1 << 20, 4096, 0);
    expect(cache, 0, FILE_SIZE);
    for (int i = 0; i < 200; i++) {
        uint64_t addr = (uint64_t)i * 997, size = 1 + (uint64_t)i % 700;
        memset(disk.bytes + addr, i, size);
        H5FD_h5vec_cache_drop(cache, addr, size);
        expect(cache, 0, FILE_SIZE);
    }
    memset(disk.bytes + 100000, 7, FILE_SIZE - 100000);
    H5FD_h5vec_cache_drop(cache, 100000, UINT64_MAX);
    expect(cache, 0, FILE_SIZE);
    H5FD_h5vec_cache_free(cache);
}
END_TEST

START_TEST(what_is_cached_is_not_loaded_again)
{
    struct H5FD_h5vec_cache *cache = make(1 << 20, blocks[_i], 0);
    expect(cache, 0, FILE_SIZE);
    unsigned calls = disk.calls;
    for (uint64_t addr = 0; addr < FILE_SIZE - 700; addr += 700)
        expect(cache, addr, 700);
    ck_assert_uint_eq(disk.calls, calls);
    H5FD_h5vec_cache_free(cache);
}
END_TEST

/* The oldest goes first: a page that is used all the time stays. */
START_TEST(the_least_recently_used_is_forgotten)
{
    struct H5FD_h5vec_cache *cache = make(5120, 1, 0);
    for (uint64_t page = 1; page < 100; page++) {
        expect(cache, 0, 8);
        expect(cache, page * 512, 8);
    }
    ck_assert_uint_eq(disk.calls, 100);
    expect(cache, UINT64_C(91) * 512, 8);
    ck_assert_uint_eq(disk.calls, 100);
    expect(cache, UINT64_C(90) * 512, 8);
    ck_assert_uint_eq(disk.calls, 101);
    H5FD_h5vec_cache_free(cache);
}
END_TEST

/* A disk that fails near by must not make what HDF5 asks for unreadable; an error there is the reader's. */
START_TEST(errors_of_reading_ahead_are_nobodys)
{
    struct H5FD_h5vec_cache *cache = make(1 << 20, blocks[_i], 3000);
    unsigned char byte;
    disk.broken = 100;
    for (uint64_t addr = 0; addr < 100; addr += 10)
        expect(cache, addr, 10);
    ck_assert_int_eq(H5FD_h5vec_cache_read(cache, 100, 1, &byte), EIO);
    disk.broken = UINT64_MAX;
    expect(cache, 0, 5000);
    H5FD_h5vec_cache_free(cache);
}
END_TEST

START_TEST(fixed_blocks_are_aligned_and_end_with_the_file)
{
    struct H5FD_h5vec_cache *cache = make(1 << 20, 65536, 0);
    expect(cache, 70000, 1);
    expect(cache, 65536, 65536);
    ck_assert(disk.calls == 1 && disk.loaded == 65536);
    expect(cache, FILE_SIZE - 1, 1);
    ck_assert_msg(disk.calls == 2 && disk.loaded - 65536 < FILE_SIZE - 3 * 65536 + 512, "%llu",
                  (unsigned long long)disk.loaded);
    H5FD_h5vec_cache_free(cache);
}
END_TEST

/* Without any hint: small at first, then ever more. */
START_TEST(reading_on_grows)
{
    struct H5FD_h5vec_cache *cache = make(1 << 20, 0, 0);
    memset(disk.bytes, 0, FILE_SIZE);
    expect(cache, 0, 100);
    ck_assert_uint_eq(disk.loaded, 8192);
    for (uint64_t addr = 0; addr < FILE_SIZE; addr += 100)
        expect(cache, addr, 100);
    ck_assert_msg(disk.calls <= 6, "%u calls", disk.calls);
    H5FD_h5vec_cache_free(cache);
}
END_TEST

static void put_number(uint64_t addr, uint64_t value, int size)
{
    for (int i = 0; i < size; i++)
        disk.bytes[addr + (uint64_t)i] = (unsigned char)(value >> 8 * i);
}

/* The ways in which HDF5 says where objects are; base: the size of the user block. */
static void put_addresses(int way, uint64_t at, const uint64_t *addrs, int count, uint64_t base)
{
    unsigned char *to = disk.bytes + at;
    if (way < 3)
        memcpy(to, way == 0 ? "SNOD\1" : way == 1 ? "TREE\0" : "HEAP\0", 6);
    put_number(at + 6, (uint64_t)count, way < 2 ? 2 : 0);
    for (int i = 0; i < count; i++) {
        uint64_t addr = addrs[i] - base, link = at + 8 + 40 * (uint64_t)i, message = at + 40 * (uint64_t)i;
        if (way == 0)
            put_number(link + 8, addr, 8);
        else if (way == 1)
            put_number(at + 32 + 16 * (uint64_t)i, addr, 8);
        else if (way == 2)
            put_number(at + 8, 100, 8), put_number(at + 24, addr, 8);
        else { /* a link message: version, flags, creation order, character set, length, name, address */
            memcpy(disk.bytes + message, "\1\x14\0\0\0\0\0\0\0\0\1\4name", 16);
            put_number(message + 16, addr, 8);
        }
    }
}

/* Objects are scattered; those whose addresses were read, and only those, are read together. */
START_TEST(what_the_file_names_is_read_ahead)
{
    static const uint64_t addrs[] = {50000, 53500, 57000, 60500};
    int way = _i % 4, count = way == 2 ? 1 : 4;
    uint64_t base = _i < 4 ? 0 : 2048;
    struct H5FD_h5vec_cache *cache = make(1 << 20, 0, 4096);
    memset(disk.bytes, 0, FILE_SIZE);
    put_addresses(way, 3000, addrs, count, base);
    H5FD_h5vec_cache_bounds(cache, base, FILE_SIZE);
    expect(cache, 3000, 100);
    ck_assert_uint_eq(disk.calls, 1);
    expect(cache, 53500, 100); /* not the first: what is before it comes too */
    for (int i = 0; i < count; i++)
        expect(cache, addrs[i], 100);
    ck_assert_uint_eq(disk.calls, 2);
    ck_assert_msg(disk.loaded < 8192 + 12500, "%llu", (unsigned long long)disk.loaded);
    expect(cache, 150000, 100);
    ck_assert_uint_eq(disk.calls, 3);
    H5FD_h5vec_cache_free(cache);
}
END_TEST

/* Any bytes are good enough to learn from: no read outside of them, no address outside of the file. */
START_TEST(hints_of_rubbish)
{
    struct H5FD_h5vec_hints hints = {NULL, 0};
    unsigned seed = (unsigned)_i;
    for (int round = 0; round < 300; round++) {
        size_t size = (size_t)rand_r(&seed) % 600;
        unsigned char *bytes = malloc(size + 1); /* valgrind and ASan see where it ends */
        for (size_t i = 0; i < size; i++)
            bytes[i] = (unsigned char)(rand_r(&seed) % (round % 3 ? 256 : 3));
        const char *signature = &"SNOD\1TREE\0HEAP\0"[(size_t)5 * (size_t)(rand_r(&seed) % 3)];
        for (size_t i = 0; i + 5 <= size; i += 50)
            memcpy(bytes + i, signature, 5);
        uint64_t base = round % 5 == 0 ? UINT64_MAX : (uint64_t)rand_r(&seed) % 10000;
        H5FD_h5vec_hints_learn(&hints, bytes, size, base, round % 2 ? INT64_MAX : 1 << 20);
        free(bytes);
    }
    for (uint64_t page = 0; page < 100; page++)
        H5FD_h5vec_hints_has(&hints, page << 40);
    H5FD_h5vec_hints_clear(&hints);
    ck_assert(!H5FD_h5vec_hints_has(&hints, 0));
}
END_TEST

START_TEST(nothing_past_the_end_is_noted)
{
    struct H5FD_h5vec_hints hints = {NULL, 0};
    uint64_t addrs[] = {5000, FILE_SIZE - 1, FILE_SIZE, UINT64_MAX};
    memset(disk.bytes, 0, FILE_SIZE);
    put_addresses(1, 0, addrs, 4, 0);
    H5FD_h5vec_hints_learn(&hints, disk.bytes, 200, 0, FILE_SIZE);
    ck_assert(H5FD_h5vec_hints_has(&hints, 5000 / 512) && H5FD_h5vec_hints_has(&hints, 390));
    ck_assert(!H5FD_h5vec_hints_has(&hints, 0) && !H5FD_h5vec_hints_has(&hints, FILE_SIZE / 512 + 2));
    ck_assert(hints.count == 1);
    H5FD_h5vec_hints_clear(&hints);
}
END_TEST

static void sieve_expect(struct H5FD_h5vec_sieve *sieve, uint64_t addr, size_t size)
{
    static unsigned char got[FILE_SIZE * 2], want[FILE_SIZE * 2];
    memset(want, 0, size);
    if (addr < FILE_SIZE)
        memcpy(want, disk.bytes + addr, size < FILE_SIZE - addr ? size : (size_t)(FILE_SIZE - addr));
    memset(got, 0xee, size + 1);
    ck_assert_int_eq(H5FD_h5vec_sieve_read(sieve, addr, size, got, FILE_SIZE), 0);
    ck_assert_msg(memcmp(got, want, size) == 0, "%zu bytes at %llu", size, (unsigned long long)addr);
    ck_assert(got[size] == 0xee);
}

/* A sieve over storage in which a call takes so many microseconds. */
static struct H5FD_h5vec_sieve sieve_of(long call)
{
    disk.delay = call;
    return (struct H5FD_h5vec_sieve){.load = load, .context = &disk};
}

START_TEST(sieve_random_work_like_an_array)
{
    static const long calls[] = {0, 20, 100};
    unsigned seed = (unsigned)_i;
    struct H5FD_h5vec_sieve sieve = sieve_of(calls[_i % 3]);
    uint64_t addr = 0;
    for (int step = 0; step < 3000; step++) {
        size_t size = 1 + random_size(&seed);
        bool jump = rand_r(&seed) % 3 != 0;
        addr = jump ? (uint64_t)rand_r(&seed) % (FILE_SIZE + 3000) : addr + (uint64_t)rand_r(&seed) % 3000;
        sieve_expect(&sieve, addr, size);
    }
    H5FD_h5vec_sieve_clear(&sieve);
}
END_TEST

/* Several datasets, a row of each in turn, in the page cache. */
START_TEST(sieve_several_places_at_once)
{
    struct H5FD_h5vec_sieve sieve = sieve_of(0);
    enum { PLACES = 5, ROW = 100, ROWS = FILE_SIZE / PLACES / ROW };
    for (uint64_t row = 0; row < ROWS; row++)
        for (uint64_t place = 0; place < PLACES; place++)
            sieve_expect(&sieve, place * ROWS * ROW + row * ROW, ROW);
    ck_assert_msg(disk.calls <= FILE_SIZE / 8192 + PLACES, "%u calls", disk.calls);
    H5FD_h5vec_sieve_clear(&sieve);
}
END_TEST

/* Values apart, as a column of a wide dataset: joined where calls are dear, ... */
START_TEST(sieve_steps_where_calls_are_dear)
{
    struct H5FD_h5vec_sieve sieve = sieve_of(200);
    for (uint64_t addr = 0; addr < FILE_SIZE; addr += 2000)
        sieve_expect(&sieve, addr, 4);
    ck_assert_msg(disk.calls <= 20, "%u calls", disk.calls);
    H5FD_h5vec_sieve_clear(&sieve);
}
END_TEST

/* ... and read as asked where bytes are; so are reads that jump. */
START_TEST(sieve_reads_as_asked_where_calls_are_cheap)
{
    struct H5FD_h5vec_sieve sieve = sieve_of(0);
    for (uint64_t i = 1; i < 20; i++)
        sieve_expect(&sieve, i * i * 7919 % (FILE_SIZE / 20000) * 20000, 500);
    ck_assert_msg(disk.calls <= 19 && disk.loaded <= 9500, "%u calls, %llu bytes", disk.calls,
                  (unsigned long long)disk.loaded);
    disk.broken = 101000; /* what is asked for is there, what is behind it cannot be read */
    sieve_expect(&sieve, 100900, 100);
    H5FD_h5vec_sieve_clear(&sieve);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("vfd_cache");
    TCase *tcase = tcase_create("cache");
    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_loop_test(tcase, random_work_like_an_array, 0, CAPACITIES * BLOCKS);
    tcase_add_test(tcase, forgotten_bytes_are_loaded_again);
    tcase_add_loop_test(tcase, what_is_cached_is_not_loaded_again, 0, BLOCKS);
    tcase_add_test(tcase, the_least_recently_used_is_forgotten);
    tcase_add_loop_test(tcase, errors_of_reading_ahead_are_nobodys, 0, BLOCKS);
    tcase_add_test(tcase, fixed_blocks_are_aligned_and_end_with_the_file);
    tcase_add_test(tcase, reading_on_grows);
    tcase_add_loop_test(tcase, what_the_file_names_is_read_ahead, 0, 8);
    tcase_add_loop_test(tcase, hints_of_rubbish, 0, 10);
    tcase_add_test(tcase, nothing_past_the_end_is_noted);
    tcase_add_loop_test(tcase, sieve_random_work_like_an_array, 0, 20);
    tcase_add_test(tcase, sieve_several_places_at_once);
    tcase_add_test(tcase, sieve_steps_where_calls_are_dear);
    tcase_add_test(tcase, sieve_reads_as_asked_where_calls_are_cheap);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

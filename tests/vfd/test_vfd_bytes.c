/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading through the driver's functions, as HDF5 calls them: the bytes are the file's, also where it
 * changes, shrinks, ends, is sparse or no file at all.
 */
#define SCRATCH "bytes"
#include "read_test.h"

enum { BYTES = 300000 };
static unsigned char content[BYTES];

static H5FD_t *open_bytes(int mode, unsigned flags)
{
    unsigned seed = 1;
    for (int i = 0; i < BYTES; i++)
        content[i] = (unsigned char)rand_r(&seed);
    FILE *f = fopen(path, "wb");
    ck_assert(fwrite(content, 1, BYTES, f) == BYTES && fclose(f) == 0);
    hid_t fapl = fapl_of(mode);
    H5FD_t *file = H5FDopen(path, flags, fapl, INT64_MAX);
    ck_assert_msg(file != NULL, "%s", error_text());
    ck_assert(H5FDset_eoa(file, H5FD_MEM_DEFAULT, (haddr_t)2 * BYTES) >= 0);
    H5Pclose(fapl);
    return file;
}

static bool is_content(const unsigned char *bytes, haddr_t addr, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != (addr + i < BYTES ? content[addr + i] : 0))
            return false;
    return true;
}

/* Lists that end early, pieces in any order, on each other, past the end of the file. */
START_TEST(vectors_of_any_pieces)
{
    enum { COUNT = 700, LONGEST = 9000 };
    static unsigned char bytes[COUNT][LONGEST + 1];
    static haddr_t addrs[COUNT];
    static size_t sizes[COUNT];
    static H5FD_mem_t types[COUNT];
    static void *buffers[COUNT];
    unsigned seed = (unsigned)_i;
    H5FD_t *file = open_bytes(_i % MODES, _i % 4 < 2 ? H5F_ACC_RDONLY : H5F_ACC_RDWR);
    reads.stutter = _i % 5 == 0;
    for (int round = 0; round < 20; round++) {
        uint32_t count = 1 + (uint32_t)rand_r(&seed) % (round % 2 ? COUNT : 10);
        uint32_t same_size = (uint32_t)rand_r(&seed) % 200, same_type = (uint32_t)rand_r(&seed) % 200;
        size_t longest = round % 3 ? 100 : LONGEST;
        memset(bytes, 0xee, sizeof bytes);
        for (uint32_t i = 0; i < count; i++) {
            addrs[i] = round % 4 ? (haddr_t)rand_r(&seed) % (BYTES + 100) : (haddr_t)i * (BYTES / COUNT);
            sizes[i] = i == same_size + 1 ? 0 : 1 + (size_t)rand_r(&seed) % longest;
            types[i] = i == same_type + 1  ? H5FD_MEM_NOLIST
                       : rand_r(&seed) % 4 ? H5FD_MEM_DRAW
                                           : H5FD_MEM_OHDR;
            buffers[i] = bytes[i];
        }
        for (uint32_t i = same_size + 2; i < COUNT; i++)
            sizes[i] = SIZE_MAX / 2; /* nobody looks at these */
        for (uint32_t i = same_type + 2; i < COUNT; i++)
            types[i] = H5FD_MEM_NTYPES;
        ck_assert_msg(H5FDread_vector(file, H5P_DEFAULT, count, types, addrs, sizes, buffers) >= 0, "%s",
                      error_text());
        for (uint32_t i = 0; i < count; i++) {
            size_t size = sizes[i > same_size ? same_size : i];
            ck_assert_msg(is_content(bytes[i], addrs[i], size), "piece %u", i);
            ck_assert(bytes[i][size] == 0xee);
        }
    }
    ck_assert(H5FDclose(file) >= 0);
}
END_TEST

static bool reads_content(H5FD_t *file, H5FD_mem_t type, haddr_t addr, size_t size)
{
    static unsigned char bytes[2 * BYTES];
    ck_assert_msg(H5FDread(file, type, H5P_DEFAULT, addr, size, bytes) >= 0, "%s", error_text());
    return is_content(bytes, addr, size);
}

/* Another process writes while we read: nothing may be remembered. */
START_TEST(swmr_readers_see_what_changes)
{
    H5FD_t *file = open_bytes(_i, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ);
    for (int i = 0; i < 20; i++) {
        haddr_t addr = 1000 + (haddr_t)i * 10;
        size_t size = 50;
        void *buffer = malloc(size);
        H5FD_mem_t type = H5FD_MEM_DRAW;
        ck_assert(reads_content(file, H5FD_MEM_OHDR, 0, BYTES));
        ck_assert(H5FDread_vector(file, H5P_DEFAULT, 1, &type, &addr, &size, &buffer) >= 0);
        ck_assert(is_content(buffer, addr, size));
        content[addr] ^= 0xff;
        write_outside(path, addr, content + addr, 1);
        free(buffer);
    }
    ck_assert(H5FDclose(file) >= 0);
}
END_TEST

static void say(int fd)
{
    ck_assert(write(fd, "", 1) == 1);
}

static void hear(int fd)
{
    char byte;
    ck_assert(read(fd, &byte, 1) == 1);
}

/* The reader, in a process of its own: each time that it is told so, there are 100 values more. */
static bool swmr_reader(int mode, int from, int to)
{
    hid_t fapl = fapl_of(mode), file, d;
    bool good = true;
    hear(from);
    H5Pset_file_locking(fapl, 0, 1);
    file = H5Fopen(path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, fapl);
    d = H5Dopen2(file, "d", H5P_DEFAULT);
    for (int round = 1; round <= 5 && good; round++) {
        int values[500] = {0};
        say(to);
        hear(from);
        good = d >= 0 && H5Drefresh(d) >= 0;
        hid_t space = H5Dget_space(d);
        good = good && H5Sget_simple_extent_npoints(space) == (hssize_t)round * 100 &&
               H5Dread(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
        for (int i = 0; i < round * 100; i++)
            good = good && values[i] == i;
        H5Sclose(space);
    }
    H5Dclose(d);
    H5Fclose(file);
    H5Pclose(fapl);
    return good;
}

/* With any driver under the writer: HDF5's own, or this one. */
START_TEST(swmr_through_HDF5)
{
    int there[2], back[2], status, values[500];
    hid_t fapl = _i < MODES ? sec2_fapl() : fapl_of(_i - MODES);
    ck_assert(pipe(there) == 0 && pipe(back) == 0);
    pid_t child = fork();
    if (child == 0) {
        bool good = swmr_reader(_i % MODES, there[0], back[1]);
        kill(getpid(), good ? SIGKILL : SIGABRT); /* valgrind would look for leaks in _exit */
    }
    close(back[1]); /* so that it is heard when the reader is gone */
    for (int i = 0; i < 500; i++)
        values[i] = i;
    H5Pset_file_locking(fapl, 0, 1);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    hid_t d = create_chunked(file, "d", 0, 0, 30, H5P_DEFAULT);
    ck_assert_msg(H5Fstart_swmr_write(file) >= 0, "%s", error_text());
    say(there[1]);
    for (hsize_t n = 100; n <= 500; n += 100) {
        hear(back[0]);
        ck_assert(H5Dset_extent(d, &n) >= 0);
        ck_assert(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
        ck_assert(H5Dflush(d) >= 0);
        say(there[1]);
    }
    ck_assert(waitpid(child, &status, 0) == child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    H5Dclose(d);
    H5Fclose(file);
    H5Pclose(fapl);
}
END_TEST

/* Raw data may be others' work while metadata is ours; a read of it sees theirs. */
START_TEST(raw_data_of_a_file_that_is_written_is_not_kept)
{
    H5FD_t *file = open_bytes(_i, H5F_ACC_RDWR);
    ck_assert(reads_content(file, H5FD_MEM_OHDR, 0, BYTES));
    content[5000] ^= 0xff;
    write_outside(path, 5000, content + 5000, 1);
    ck_assert(reads_content(file, H5FD_MEM_DRAW, 4000, 2000));
    content[5001] ^= 0xff;
    ck_assert(H5FDwrite(file, H5FD_MEM_OHDR, H5P_DEFAULT, 5001, 1, content + 5001) >= 0);
    ck_assert(reads_content(file, H5FD_MEM_OHDR, 5001, 2000));
    ck_assert(H5FDclose(file) >= 0);
}
END_TEST

/* As with sec2: zeros for what is not there any more. What was read before is still known. */
START_TEST(a_file_that_shrinks)
{
    H5FD_t *file = open_bytes(_i, H5F_ACC_RDONLY);
    ck_assert(_i != IMAGE || reads_content(file, H5FD_MEM_DRAW, 0, 1));
    ck_assert(truncate(path, 1000) == 0);
    if (_i != IMAGE)
        memset(content + 1000, 0, BYTES - 1000);
    ck_assert(reads_content(file, H5FD_MEM_DRAW, 500, 2000));
    ck_assert(reads_content(file, H5FD_MEM_OHDR, 250000, 20000));
    ck_assert(H5FDclose(file) >= 0);
}
END_TEST

START_TEST(past_the_end_and_over_it)
{
    H5FD_t *file = open_bytes(_i, H5F_ACC_RDONLY);
    for (haddr_t addr = BYTES - 1000; addr < BYTES + 1500; addr += 333) {
        ck_assert(reads_content(file, H5FD_MEM_OHDR, addr, 700));
        ck_assert(reads_content(file, H5FD_MEM_DRAW, addr, 700));
    }
    ck_assert(H5FDclose(file) >= 0);
}
END_TEST

START_TEST(what_is_no_file)
{
    hid_t fapl = fapl_of(DEFAULT);
    ck_assert(mkdir(path, 0700) == 0);
    ck_assert(H5Fopen(path, H5F_ACC_RDONLY, fapl) < 0);
    ck_assert_msg(error_says("directory") && error_says("errno = 21,"), "%s", error_text());
    ck_assert(rmdir(path) == 0 && mkfifo(path, 0600) == 0);
    ck_assert(H5Fopen(path, H5F_ACC_RDONLY, fapl) < 0); /* and does not wait for a writer */
    ck_assert_msg(error_says("pipe") && error_says("errno = 29,"), "%s", error_text());
    ck_assert(H5Fopen(path, H5F_ACC_RDWR, fapl) < 0);
    ck_assert_msg(error_says("pipe"), "%s", error_text());
    ck_assert(unlink(path) == 0);
    H5Pclose(fapl);
}
END_TEST

/* Two datasets, one before and one behind 5 GiB of nothing. */
START_TEST(a_sparse_file_over_4_GiB)
{
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE),
          file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hsize_t n = (hsize_t)5 << 30;
    hid_t space = H5Screate_simple(1, &n, NULL);
    H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER);
    H5Dclose(create_chunked(file, "before", 10, 0, 10, H5P_DEFAULT));
    hid_t d = H5Dcreate2(file, "huge", H5T_NATIVE_UCHAR, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    for (int i = 0; i < 20; i++) {
        char name[24];
        snprintf(name, sizeof name, "behind%d", i);
        H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    }
    unsigned char last = 77;
    hsize_t at = n - 1, one = 1;
    hid_t memory = H5Screate_simple(1, &one, NULL);
    H5Sselect_elements(space, H5S_SELECT_SET, 1, &at);
    ck_assert(H5Dwrite(d, H5T_NATIVE_UCHAR, memory, space, H5P_DEFAULT, &last) >= 0);
    H5Dclose(d);
    H5Fclose(file);
    file = open_as(_i, _i == BLOCKS ? H5F_ACC_RDWR : H5F_ACC_RDONLY);
    d = H5Dopen2(file, "huge", H5P_DEFAULT);
    last = 0;
    ck_assert(H5Dread(d, H5T_NATIVE_UCHAR, memory, space, H5P_DEFAULT, &last) >= 0 && last == 77);
    ck_assert(H5Lexists(file, "behind19", H5P_DEFAULT) > 0 &&
              H5Oexists_by_name(file, "behind0", H5P_DEFAULT) > 0);
    H5Dclose(d);
    H5Sclose(memory);
    H5Sclose(space);
    H5Pclose(dcpl);
    ck_assert(H5Fclose(file) >= 0);
}
END_TEST

/* Large enough for several readers, which are gone afterwards. */
START_TEST(a_large_image_is_read_by_threads)
{
    const off_t size = 70 << 20;
    H5FD_t *file = open_bytes(DEFAULT, H5F_ACC_RDONLY);
    ck_assert(H5FDclose(file) >= 0 && truncate(path, size) == 0);
    for (off_t at = 1 << 20; at < size; at += 1 << 20)
        write_outside(path, (haddr_t)at, &at, sizeof at);
    hid_t fapl = fapl_of(IMAGE);
    file = H5FDopen(path, H5F_ACC_RDONLY, fapl, INT64_MAX);
    ck_assert(file && H5FDset_eoa(file, H5FD_MEM_DEFAULT, (haddr_t)size) >= 0);
    reads.calls = 0;
    ck_assert(reads_content(file, H5FD_MEM_DRAW, 0, 1000));
    ck_assert(reads.threads && reads.calls == 4);
    for (off_t at = 1 << 20, got; at < size; at += 1 << 20) {
        ck_assert(H5FDread(file, H5FD_MEM_OHDR, H5P_DEFAULT, (haddr_t)at, sizeof got, &got) >= 0 &&
                  got == at);
        ck_assert(H5FDread(file, H5FD_MEM_DRAW, H5P_DEFAULT, (haddr_t)at - 8, sizeof got, &got) >= 0);
        ck_assert(got == 0);
    }
    ck_assert_int_eq(reads.calls, 4);
    ck_assert(H5FDclose(file) >= 0);
    H5Pclose(fapl);
}
END_TEST

START_TEST(an_image_that_does_not_fit)
{
    hid_t fapl = fapl_of(DEFAULT), always = fapl_of(IMAGE), sec2 = sec2_fapl();
    struct H5FD_h5vec_config config = {.sizeof_config = sizeof config, .image_max = (hsize_t)1 << 40};
    make_file(sec2, 0);
    ck_assert(truncate(path, MEMORY) == 0);
    ck_assert(H5Pset_fapl_h5vec(fapl, &config) >= 0);
    memory_limited = true;
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, fapl);
    ck_assert_msg(file >= 0, "%s", error_text());
    expect_all(file);
    H5Fclose(file);
    ck_assert(H5Fopen(path, H5F_ACC_RDONLY, always) < 0);
    ck_assert_msg(error_says("whole file into memory") && error_says("errno = 12,"), "%s", error_text());
    H5Pclose(fapl);
    H5Pclose(always);
    H5Pclose(sec2);
}
END_TEST

START_TEST(a_file_that_cannot_be_written)
{
    hid_t fapl = sec2_fapl();
    make_file(fapl, 0);
    ck_assert(chmod(path, 0400) == 0);
    hid_t file = open_as(_i, H5F_ACC_RDONLY);
    expect_all(file);
    H5Fclose(file);
    H5Pclose(fapl);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("read");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, vectors_of_any_pieces, 0, 4 * MODES);
    tcase_add_loop_test(tcase, swmr_readers_see_what_changes, 0, MODES);
    tcase_add_loop_test(tcase, swmr_through_HDF5, 0, 2 * MODES);
    tcase_add_loop_test(tcase, raw_data_of_a_file_that_is_written_is_not_kept, 0, MODES);
    tcase_add_loop_test(tcase, a_file_that_shrinks, 0, MODES);
    tcase_add_loop_test(tcase, past_the_end_and_over_it, 0, MODES);
    tcase_add_test(tcase, what_is_no_file);
    tcase_add_loop_test(tcase, a_sparse_file_over_4_GiB, ADAPTIVE, MODES);
    tcase_add_test(tcase, a_large_image_is_read_by_threads);
    tcase_add_test(tcase, an_image_that_does_not_fit);
    tcase_add_loop_test(tcase, a_file_that_cannot_be_written, 0, MODES);
    return run_tests("vfd_bytes", tcase);
}

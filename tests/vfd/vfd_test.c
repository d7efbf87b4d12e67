/* SPDX-License-Identifier: BSD-3-Clause */
#include "vfd_test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

const char *scratch(const char *tag)
{
    static char path[512];
    const char *dir = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/h5vec-vfd-%ld-%s.h5", dir ? dir : "/tmp", (long)getpid(), tag);
    unlink(path);
    return path;
}

hid_t sec2_fapl(void)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    ck_assert(H5Pset_libver_bounds(fapl, H5F_LIBVER_V110, H5F_LIBVER_V110) >= 0);
    return fapl;
}

hid_t h5vec_fapl(hsize_t first_zone, hsize_t zone)
{
    struct H5FD_h5vec_config config = {
        .sizeof_config = sizeof config, .first_zone = first_zone, .zone = zone};
    hid_t fapl = sec2_fapl();
    ck_assert(H5Pset_fapl_h5vec(fapl, &config) >= 0);
    return fapl;
}

bool same_settings(const struct H5FD_h5vec_config *a, const struct H5FD_h5vec_config *b)
{
    return a->sizeof_config == b->sizeof_config && a->first_zone == b->first_zone && a->zone == b->zone &&
           a->alignment == b->alignment && a->meta_block == b->meta_block && a->meta_cache == b->meta_cache &&
           a->image_max == b->image_max && a->image == b->image && a->write_block == b->write_block &&
           a->write_buffer == b->write_buffer && a->async == b->async && a->flush == b->flush &&
           a->foreign_max == b->foreign_max && a->bad == b->bad && a->meta_gap == b->meta_gap;
}

const char *const write_modes[WRITE_MODES] = {"default",      "none",  "small blocks",
                                              "small, async", "async", "disk"};

hid_t mode_fapl(int mode)
{
    struct H5FD_h5vec_config config = {.sizeof_config = sizeof config};
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    config.write_block = mode == 1 ? H5FD_H5VEC_NONE : mode == 2 || mode == 3 ? 4096 : 0;
    config.write_buffer = mode == 2 || mode == 3 ? 16384 : 0;
    config.async = mode == 3 || mode == 4;
    config.flush = mode == 5 ? H5FD_H5VEC_FLUSH_DISK : H5FD_H5VEC_FLUSH_OS;
    ck_assert(H5Pset_fapl_h5vec(fapl, &config) >= 0 && H5Pset_file_locking(fapl, 0, 1) >= 0);
    return fapl;
}

hid_t placement_fcpl(void)
{
    hid_t fcpl = H5Pcreate(H5P_FILE_CREATE);
    ck_assert(H5Pset_file_space_strategy(fcpl, H5F_FSPACE_STRATEGY_NONE, 0, 1) >= 0);
    return fcpl;
}

hid_t create_placed(const char *path, hsize_t first_zone, hsize_t zone)
{
    hid_t fapl = h5vec_fapl(first_zone, zone), fcpl = placement_fcpl();
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, fcpl, fapl);
    ck_assert(file >= 0);
    H5Pclose(fapl);
    H5Pclose(fcpl);
    return file;
}

hid_t create_chunked(hid_t file, const char *name, hsize_t n, hsize_t max, hsize_t chunk, hid_t dcpl)
{
    hsize_t maxdim = max ? max : H5S_UNLIMITED;
    hid_t mine = dcpl == H5P_DEFAULT ? H5Pcreate(H5P_DATASET_CREATE) : H5Pcopy(dcpl);
    hid_t space = H5Screate_simple(1, &n, &maxdim);
    H5Pset_chunk(mine, 1, &chunk);
    H5Pset_alloc_time(mine, H5D_ALLOC_TIME_INCR);
    hid_t dataset = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, mine, H5P_DEFAULT);
    ck_assert_msg(dataset >= 0, "%s", name);
    H5Sclose(space);
    H5Pclose(mine);
    return dataset;
}

herr_t place_chunk(hid_t file, hid_t dataset, hsize_t first, haddr_t addr, hsize_t size, uint32_t mask)
{
    if (H5FD_h5vec_place(file, addr, size) < 0)
        return -1;
    char *rubbish = malloc(size);
    memset(rubbish, 0xdd, size);
    herr_t result = H5Dwrite_chunk(dataset, H5P_DEFAULT, mask, &first, size, rubbish);
    free(rubbish);
    return result;
}

static bool write_there(const char *path, haddr_t addr, const void *bytes, size_t size)
{
    FILE *f = fopen(path, "r+b"); /* not pwrite, which a test replaces */
    bool good = f && fseek(f, (long)addr, SEEK_SET) == 0 && fwrite(bytes, 1, size, f) == size;
    good = f && fclose(f) == 0 && good;
    return good;
}

void write_outside(const char *path, haddr_t addr, const void *bytes, size_t size)
{
    ck_assert(write_there(path, addr, bytes, size));
}

void write_from_child(const char *path, haddr_t addr, const void *bytes, size_t size)
{
    int status;
    pid_t child = fork();
    ck_assert(child >= 0);
    if (child == 0) {
        if (write_there(path, addr, bytes, size))
            kill(getpid(), SIGKILL); /* valgrind would look for leaks in _exit */
        _exit(1);
    }
    ck_assert(waitpid(child, &status, 0) == child);
    ck_assert(WIFSIGNALED(status));
}

static herr_t append_message(unsigned n, const H5E_error2_t *entry, void *text)
{
    size_t used = strlen(text);
    (void)n;
    snprintf((char *)text + used, 4096 - used, "%s\n", entry->desc);
    return 0;
}

const char *error_text(void)
{
    static char text[4096];
    text[0] = '\0';
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, append_message, text);
    return text;
}

bool error_says(const char *part)
{
    return strstr(error_text(), part) != NULL;
}

int *read_ints(const char *path, const char *name, hsize_t *n)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    ck_assert_msg(file >= 0, "%s: %s", path, error_text());
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(dataset);
    *n = (hsize_t)H5Sget_simple_extent_npoints(space);
    int *values = calloc(*n + 1, sizeof *values);
    ck_assert(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
    return values;
}

void expect_ascending(int *values, hsize_t n)
{
    hsize_t i = 0;
    while (i < n && values[i] == (int)i)
        i++;
    ck_assert_msg(i == n, "value %llu is %d", (unsigned long long)i, i < n ? values[i] : 0);
    free(values);
}

int run_tests(const char *name, TCase *tcase)
{
    Suite *suite = suite_create(name);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    tcase_set_timeout(tcase, 60);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

void write_ints(hid_t file, const char *name, int n)
{
    int *values = malloc((size_t)n * sizeof *values);
    hid_t d = create_chunked(file, name, (hsize_t)n, 0, 100, H5P_DEFAULT);
    for (int i = 0; i < n; i++)
        values[i] = i;
    ck_assert(H5Dwrite(d, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(d);
    free(values);
}

void expect_ints(const char *path, const char *name, int n)
{
    hsize_t count;
    int *values = read_ints(path, name, &count);
    ck_assert(count == (hsize_t)n);
    expect_ascending(values, count);
}

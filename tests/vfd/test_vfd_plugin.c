/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The driver as a plugin, and beside the linked copy of it: this program has both. HDF5_PLUGIN_PATH must lead
 * to the plugin.
 */
#include "vfd_test.h"

#include <dlfcn.h>
#include <unistd.h>

#include "H5FDh5vec_file.h"
#include "fake_hdf5.h"

static const char *path;

static void setup(void)
{
    ck_assert_msg(getenv("HDF5_PLUGIN_PATH") && getenv("H5VEC_PLUGIN") && getenv("H5VEC_FAKE_HDF5"),
                  "run this through ctest");
    path = scratch("plugin");
}

static void teardown(void)
{
    unlink(path);
}

/* The library's next life; the environment's driver is read in it. */
static void begin_anew(const char *driver, const char *config)
{
    ck_assert(H5close() >= 0);
    if (driver)
        setenv("HDF5_DRIVER", driver, 1);
    if (config)
        setenv("HDF5_DRIVER_CONFIG", config, 1);
    ck_assert(H5open() >= 0);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* Which copy's code is behind an open file? */
static bool is_plugin(hid_t file)
{
    const struct H5FD_h5vec_file *f = H5FD_h5vec_file_of(file);
    Dl_info info;
    void *code;
    ck_assert_msg(f != NULL, "%s", error_text());
    memcpy(&code, &f->pub.cls->open, sizeof code);
    ck_assert(dladdr(code, &info));
    return strstr(info.dli_fname, "libh5vec_vfd.so") != NULL;
}

static hid_t by_name(const char *config)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    ck_assert_msg(H5Pset_driver_by_name(fapl, "h5vec", config) >= 0, "%s", error_text());
    return fapl;
}

static hid_t by_struct(const struct H5FD_h5vec_config *config)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    ck_assert_msg(H5Pset_fapl_h5vec(fapl, config) >= 0, "%s", error_text());
    return fapl;
}

static hid_t create(hid_t fapl)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    ck_assert_msg(file >= 0, "%s", error_text());
    return file;
}

static void expect_settings(hid_t fapl, const struct H5FD_h5vec_config *want)
{
    struct H5FD_h5vec_config got = {.sizeof_config = sizeof got};
    ck_assert_msg(H5Pget_fapl_h5vec(fapl, &got) >= 0, "%s", error_text());
    ck_assert(same_settings(&got, want));
}

static struct H5FD_h5vec_config complete(struct H5FD_h5vec_config config)
{
    hid_t fapl = by_struct(&config);
    ck_assert(H5Pget_fapl_h5vec(fapl, &config) >= 0);
    H5Pclose(fapl);
    return config;
}

/* With this text and these settings, the same file. */
#define TEXT "first_zone=1MiB; zone=128KiB; meta_block=8KiB; meta_cache=none; write_block=1MiB; flush=disk"
static const struct H5FD_h5vec_config SETTINGS = {.sizeof_config = sizeof SETTINGS,
                                                  .first_zone = 1 << 20,
                                                  .zone = 1 << 17,
                                                  .meta_block = 8192,
                                                  .meta_cache = H5FD_H5VEC_NONE,
                                                  .write_block = 1 << 20,
                                                  .flush = H5FD_H5VEC_FLUSH_DISK};

enum way { STRUCT, NAME, VALUE, ENVIRONMENT, WAYS };

static hid_t list_by(enum way way, const char *text, const struct H5FD_h5vec_config *settings)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    herr_t set = way == STRUCT  ? H5Pset_fapl_h5vec(fapl, settings)
                 : way == NAME  ? H5Pset_driver_by_name(fapl, "h5vec", text)
                 : way == VALUE ? H5Pset_driver_by_value(fapl, H5FD_H5VEC_VALUE, text)
                                : 0;
    ck_assert_msg(set >= 0, "%s", error_text());
    return fapl;
}

static void expect_file(hid_t fapl, const struct H5FD_h5vec_config *want, bool plugin)
{
    expect_settings(fapl, want);
    hid_t file = create(fapl), used = H5Fget_access_plist(file);
    ck_assert(is_plugin(file) == plugin);
    expect_settings(used, want);
    H5Fclose(file);
    file = H5Fopen(path, H5F_ACC_RDONLY, used); /* the list of an open file opens another */
    ck_assert_msg(file >= 0, "%s", error_text());
    H5Fclose(file);
    H5Pclose(used);
    H5Pclose(fapl);
}

/* _i: the way, through the plugin, or (from WAYS on) through the linked copy, which the environment cannot
 * name since it is read before a program can register anything. */
START_TEST(all_ways_are_equal)
{
    bool plugin = _i < WAYS;
    enum way way = (enum way)(_i % WAYS);
    struct H5FD_h5vec_config want = complete(SETTINGS);
    begin_anew(way == ENVIRONMENT ? "h5vec" : NULL, way == ENVIRONMENT ? TEXT : NULL);
    H5Pclose(plugin ? by_name(NULL) : by_struct(NULL)); /* who comes first is used */
    expect_file(list_by(way, TEXT, &SETTINGS), &want, plugin);
}
END_TEST

START_TEST(no_configuration_is_the_defaults)
{
    struct H5FD_h5vec_config nothing = {.sizeof_config = sizeof nothing}, want = complete(nothing);
    enum way way = (enum way)(_i % WAYS);
    const char *text = _i < WAYS ? NULL : "";
    begin_anew(way == ENVIRONMENT ? "h5vec" : NULL, way == ENVIRONMENT ? text : NULL);
    H5Pclose(by_name(NULL));
    expect_file(list_by(way, text, NULL), &want, true);
}
END_TEST

START_TEST(plugin_first_serves_the_linked_functions)
{
    hid_t fapl = by_name(NULL), linked, file, fcpl = placement_fcpl(), d;
    haddr_t at;
    int values[1000];
    linked = by_struct(NULL);
    ck_assert(H5Pget_driver(fapl) == H5Pget_driver(linked));
    file = H5Fcreate(path, H5F_ACC_TRUNC, fcpl, fapl);
    ck_assert(is_plugin(file));
    ck_assert_msg(H5FD_h5vec_reserve(file, sizeof values, &at) >= 0, "%s", error_text());
    d = create_chunked(file, "d", 1000, 0, 1000, H5P_DEFAULT);
    ck_assert_msg(place_chunk(file, d, 0, at, sizeof values, 0) >= 0, "%s", error_text());
    ck_assert(H5FD_h5vec_place(file, at, sizeof values) < 0);
    ck_assert_msg(error_says("overlaps one placed before"), "%s", error_text());
    for (int i = 0; i < 1000; i++)
        values[i] = i;
    write_outside(path, at, values, sizeof values);
    H5Dclose(d);
    ck_assert_msg(H5Fclose(file) >= 0, "%s", error_text());
    hsize_t n;
    expect_ascending(read_ints(path, "d", &n), 1000);
    H5Pclose(fapl), H5Pclose(linked), H5Pclose(fcpl);
}
END_TEST

START_TEST(linked_first_needs_no_plugin)
{
    hid_t linked = by_struct(NULL), fapl = by_name("zone=1MiB");
    ck_assert(H5Pget_driver(fapl) == H5Pget_driver(linked));
    hid_t file = create(fapl);
    ck_assert(!is_plugin(file));
    ck_assert(dlopen(getenv("H5VEC_PLUGIN"), RTLD_LAZY | RTLD_NOLOAD) == NULL);
    H5Fclose(file);
    H5Pclose(fapl), H5Pclose(linked);
}
END_TEST

/* The bad string's error needs the error class, the file the driver. */
static void use_once(hid_t fapl, bool plugin)
{
    hid_t bad = by_name("zone=x"), file;
    ck_assert(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, bad) < 0);
    ck_assert_msg(error_says("zone=x is not possible"), "%s", error_text());
    file = create(fapl);
    ck_assert(is_plugin(file) == plugin);
    ck_assert(H5FD_h5vec_usage(file, NULL, NULL) >= 0);
    ck_assert(H5Fclose(file) >= 0);
    H5Pclose(bad), H5Pclose(fapl);
}

START_TEST(the_library_can_be_closed_and_opened_again)
{
    for (int life = 0; life < 6; life++) {
        bool plugin = life % 3 != 1; /* each copy follows each */
        use_once(plugin ? by_name(NULL) : by_struct(NULL), plugin);
        begin_anew(NULL, NULL);
    }
}
END_TEST

/* Ids begin anew with the library: what was ours is another driver's then. (Unidata/netcdf-c #2990) */
START_TEST(an_id_of_an_earlier_life_is_not_trusted)
{
    H5FD_class_t other = H5FD_h5vec_class;
    hid_t fapl = by_struct(NULL), before = H5Pget_driver(fapl);
    H5Pclose(fapl);
    begin_anew(NULL, NULL);
    other.name = "other";
    other.value = H5FD_H5VEC_VALUE + 1;
    ck_assert(H5FDregister(&other) == before);
    fapl = by_struct(NULL);
    ck_assert(H5Pget_driver(fapl) != before);
    use_once(fapl, false);
}
END_TEST

/* What HDF5 closes by itself is closed through the plugin before that is unloaded. */
START_TEST(files_left_open_are_closed_by_H5close)
{
    hid_t fapl = by_name(NULL), file = create(fapl);
    hsize_t n = 0;
    H5Dclose(create_chunked(file, "d", 10, 0, 10, H5P_DEFAULT));
    begin_anew(NULL, NULL);
    free(read_ints(path, "d", &n));
    ck_assert_int_eq((int)n, 10);
}
END_TEST

static herr_t old_handle(H5FD_t *file, hid_t fapl, void **handle)
{
    herr_t result = H5FD_h5vec_class.get_handle(file, fapl, handle);
    ((struct H5FD_h5vec_probe *)handle)->version = "0.0.1";
    return result;
}

START_TEST(a_plugin_of_another_version_is_told_from_ours)
{
    H5FD_class_t old = H5FD_h5vec_class;
    haddr_t at;
    old.get_handle = old_handle;
    ck_assert(H5FDregister(&old) >= 0);
    hid_t fapl = by_struct(NULL), file = create(fapl);
    ck_assert(H5FD_h5vec_reserve(file, 1000, &at) < 0);
    ck_assert_msg(error_says("through the plugin of h5vec 0.0.1"), "%s", error_text());
    H5Fclose(file), H5Pclose(fapl);
}
END_TEST

/* The core driver took the driver's id that was once passed to it for a property list. */
START_TEST(other_drivers_are_asked_nothing_they_do_not_know)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), file;
    haddr_t at;
    ck_assert(H5Pset_fapl_core(fapl, 65536, 0) >= 0);
    file = create(fapl);
    ck_assert(H5FD_h5vec_reserve(file, 1000, &at) < 0);
    ck_assert_msg(error_says("not opened through the driver h5vec"), "%s", error_text());
    H5Fclose(file), H5Pclose(fapl);
}
END_TEST

/* After a failed H5Fopen HDF5 loads every plugin once more: that must not cost others their error messages.
 */
START_TEST(other_drivers_keep_their_errors)
{
    ck_assert(H5Fopen("/nonexistent/file", H5F_ACC_RDONLY, H5P_DEFAULT) < 0);
    ck_assert_msg(error_says("errno = 2,"), "%s", error_text());
    hid_t fapl = by_name(NULL);
    ck_assert(H5Fopen("/nonexistent/file", H5F_ACC_RDONLY, fapl) < 0);
    /* innermost, where h5py looks for it */
    ck_assert_msg(strstr(error_text(), "unable to open file: name = '/nonexistent/file', errno = 2,") ==
                      error_text(),
                  "%s", error_text());
    H5Pclose(fapl);
}
END_TEST

/* Loads the plugin as another HDF5 would; returns its complaint. */
static const char *load_from_fake(unsigned major, unsigned minor)
{
    void *fake = dlopen(getenv("H5VEC_FAKE_HDF5"), RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(fake != NULL, "%s", dlerror());
    fake_hdf5_load_function *load;
    void *symbol = dlsym(fake, "fake_hdf5_load");
    const void *info = "";
    memcpy(&load, &symbol, sizeof load);
    const char *said = load(getenv("H5VEC_PLUGIN"), major, minor, &info);
    ck_assert_msg(info == NULL, "%s", said);
    return said;
}

START_TEST(an_HDF5_of_another_version_is_refused)
{
    char want[128];
    const char *said = load_from_fake(H5_VERS_MAJOR, H5_VERS_MINOR + 1);
    snprintf(want, sizeof want, "built for HDF5 %d.%d, and this is HDF5 %d.%d.3", H5_VERS_MAJOR,
             H5_VERS_MINOR, H5_VERS_MAJOR, H5_VERS_MINOR + 1);
    ck_assert_msg(strstr(said, want) != NULL, "%s", said);
    said = load_from_fake(H5_VERS_MAJOR + 1, H5_VERS_MINOR);
    ck_assert_msg(strstr(said, "built for HDF5") != NULL, "%s", said);
}
END_TEST

START_TEST(an_HDF5_that_lacks_something_is_refused)
{
    const char *said = load_from_fake(H5_VERS_MAJOR, H5_VERS_MINOR);
    ck_assert_msg(strstr(said, "needs H5") != NULL, "%s", said);
}
END_TEST

START_TEST(a_second_HDF5_is_refused_and_the_first_goes_on)
{
    hid_t fapl = by_name(NULL);
    const char *said = load_from_fake(H5_VERS_MAJOR, H5_VERS_MINOR);
    ck_assert_msg(strstr(said, "already serves another HDF5") != NULL, "%s", said);
    use_once(fapl, true);
}
END_TEST

START_TEST(a_caller_that_is_no_HDF5_gets_the_class_for_the_one_there_is)
{
    void *handle = dlopen(getenv("H5VEC_PLUGIN"), RTLD_LAZY | RTLD_LOCAL);
    ck_assert_msg(handle != NULL, "%s", dlerror());
    const void *(*get_info)(void);
    void *symbol = dlsym(handle, "H5PLget_plugin_info");
    memcpy(&get_info, &symbol, sizeof get_info);
    const H5FD_class_t *class = get_info();
    ck_assert(class && strcmp(class->name, "h5vec") == 0 && class->value == H5FD_H5VEC_VALUE);
    ck_assert(H5FDregister(class) >= 0);
    use_once(by_struct(NULL), true);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("plugin");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, all_ways_are_equal, 0, WAYS + ENVIRONMENT);
    tcase_add_loop_test(tcase, no_configuration_is_the_defaults, 0, 2 * WAYS);
    tcase_add_test(tcase, plugin_first_serves_the_linked_functions);
    tcase_add_test(tcase, linked_first_needs_no_plugin);
    tcase_add_test(tcase, the_library_can_be_closed_and_opened_again);
    tcase_add_test(tcase, an_id_of_an_earlier_life_is_not_trusted);
    tcase_add_test(tcase, files_left_open_are_closed_by_H5close);
    tcase_add_test(tcase, a_plugin_of_another_version_is_told_from_ours);
    tcase_add_test(tcase, other_drivers_are_asked_nothing_they_do_not_know);
    tcase_add_test(tcase, other_drivers_keep_their_errors);
    tcase_add_test(tcase, an_HDF5_of_another_version_is_refused);
    tcase_add_test(tcase, an_HDF5_that_lacks_something_is_refused);
    tcase_add_test(tcase, a_second_HDF5_is_refused_and_the_first_goes_on);
    tcase_add_test(tcase, a_caller_that_is_no_HDF5_gets_the_class_for_the_one_there_is);
    return run_tests("vfd_plugin", tcase);
}

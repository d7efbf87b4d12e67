/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The driver's settings: the configuration string, and the struct.
 */
#include "vfd_test.h"

#include <stddef.h>

#include "H5FDh5vec_config.h"

static hid_t fapl;

static void setup(void)
{
    fapl = H5Pcreate(H5P_FILE_ACCESS);
    ck_assert(H5Pset_fapl_h5vec(fapl, NULL) >= 0);
}

static void teardown(void)
{
    H5Pclose(fapl);
}

static struct H5FD_h5vec_config defaults(void)
{
    struct H5FD_h5vec_config config = {.sizeof_config = sizeof config};
    ck_assert(H5FD_h5vec_config_complete(&config, NULL) >= 0);
    return config;
}

START_TEST(the_defaults_are_those_of_the_manual)
{
    struct H5FD_h5vec_config c = defaults();
    ck_assert(c.sizeof_config == sizeof c && c.first_zone == 0 && c.zone == 0 && c.alignment == 4096);
    ck_assert(c.meta_block == 0 && c.meta_gap == 32768 && c.meta_cache == 64 << 20 &&
              c.image_max == 16 << 20);
    ck_assert(c.image == H5FD_H5VEC_IMAGE_AUTO && c.write_block == 4 << 20 && c.write_buffer == 64 << 20);
    ck_assert(c.async == 0 && c.flush == H5FD_H5VEC_FLUSH_OS && c.foreign_max == 1 << 30);
    ck_assert(c.bad == H5FD_H5VEC_BAD_ERROR && c.types == H5FD_H5VEC_TYPES_INFER);
}
END_TEST

/* Each string changes one member of the defaults. */
#define SIZE(member) offsetof(struct H5FD_h5vec_config, member), sizeof(hsize_t)
#define CHOICE(member) offsetof(struct H5FD_h5vec_config, member), sizeof(unsigned)
static const struct good {
    const char *text;
    size_t offset, size;
    hsize_t value;
} good[] = {
    {"first_zone=1", SIZE(first_zone), 1},
    {"zone=1TiB", SIZE(zone), (hsize_t)1 << 40},
    {"zone=4096", SIZE(zone), 4096},
    {"zone=2KiB", SIZE(zone), 2048},
    {"zone=2K", SIZE(zone), 2048},
    {"zone=2kB", SIZE(zone), 2000},
    {"zone=3MiB", SIZE(zone), 3 << 20},
    {"zone=3M", SIZE(zone), 3 << 20},
    {"zone=3MB", SIZE(zone), 3000000},
    {"zone=2GiB", SIZE(zone), (hsize_t)2 << 30},
    {"zone=2G", SIZE(zone), (hsize_t)2 << 30},
    {"zone=2GB", SIZE(zone), 2000000000},
    {"zone=1T", SIZE(zone), (hsize_t)1 << 40},
    {"zone=1TB", SIZE(zone), 1000000000000},
    {"align=512", SIZE(alignment), 512},
    {"meta_block=512", SIZE(meta_block), 512},
    {"meta_block=none", SIZE(meta_block), H5FD_H5VEC_NONE},
    {"meta_gap=none", SIZE(meta_gap), H5FD_H5VEC_NONE},
    {"meta_gap=1MiB", SIZE(meta_gap), 1 << 20},
    {"meta_cache=none", SIZE(meta_cache), H5FD_H5VEC_NONE},
    {"meta_cache=4KiB", SIZE(meta_cache), 4096},
    {"image_max=1", SIZE(image_max), 1},
    {"image=always", CHOICE(image), H5FD_H5VEC_IMAGE_ALWAYS},
    {"image=never", CHOICE(image), H5FD_H5VEC_IMAGE_NEVER},
    {"write_block=none", SIZE(write_block), H5FD_H5VEC_NONE},
    {"write_block=1GiB", SIZE(write_block), 1 << 30},
    {"write_buffer=512", SIZE(write_buffer), 512},
    {"async=1", CHOICE(async), 1},
    {"flush=disk", CHOICE(flush), H5FD_H5VEC_FLUSH_DISK},
    {"foreign_max=2GiB", SIZE(foreign_max), (hsize_t)2 << 30},
    {"bad=skip", CHOICE(bad), H5FD_H5VEC_BAD_SKIP},
    {"types=text", CHOICE(types), H5FD_H5VEC_TYPES_TEXT},
    /* how it can be written */
    {" \tasync = 1\n", CHOICE(async), 1},
    {";; async=1 ; ;", CHOICE(async), 1},
    {"zone=auto;async=1;flush=auto;image=auto;meta_block=auto", CHOICE(async), 1},
};

static void expect(const struct H5FD_h5vec_config *got, const struct good *g)
{
    struct H5FD_h5vec_config want = defaults();
    unsigned number = (unsigned)g->value;
    memcpy((char *)&want + g->offset, g->size == sizeof number ? (void *)&number : (void *)&g->value,
           g->size);
    ck_assert_msg(same_settings(got, &want), "%s", g->text);
}

START_TEST(a_string_sets_what_it_says)
{
    struct H5FD_h5vec_config c = {.sizeof_config = sizeof c};
    ck_assert_msg(H5FD_h5vec_config_parse(&c, good[_i].text) >= 0, "%s", error_text());
    expect(&c, &good[_i]);
}
END_TEST

START_TEST(many_keys_at_once)
{
    struct H5FD_h5vec_config c = {.sizeof_config = sizeof c};
    ck_assert(H5FD_h5vec_config_parse(
                  &c, "first_zone=1MiB;zone=2MiB;align=64KiB;meta_block=8KiB;meta_gap=4KiB;meta_cache=1GiB;"
                      "image_max=1MiB;image=never;write_block=1MiB;write_buffer=8MiB;async=1;"
                      "flush=disk;foreign_max=1MiB;bad=skip;types=text") >= 0);
    ck_assert(c.first_zone == 1 << 20 && c.zone == 2 << 20 && c.alignment == 65536 && c.meta_block == 8192 &&
              c.meta_gap == 4096);
    ck_assert(c.meta_cache == 1 << 30 && c.image_max == 1 << 20 && c.image == H5FD_H5VEC_IMAGE_NEVER);
    ck_assert(c.write_block == 1 << 20 && c.write_buffer == 8 << 20 && c.async == 1);
    ck_assert(c.flush == H5FD_H5VEC_FLUSH_DISK && c.foreign_max == 1 << 20 && c.bad == H5FD_H5VEC_BAD_SKIP);
    ck_assert(c.types == H5FD_H5VEC_TYPES_TEXT);
}
END_TEST

START_TEST(an_empty_string_is_the_defaults)
{
    struct H5FD_h5vec_config c = {.sizeof_config = sizeof c}, want = defaults();
    ck_assert(H5FD_h5vec_config_parse(&c, "") >= 0 && same_settings(&c, &want));
    ck_assert(H5FD_h5vec_config_parse(&c, " ; ") >= 0 && same_settings(&c, &want));
}
END_TEST

/* What is refused, and what the message must say besides the reason: the key and the value as they were
 * given. */
static const struct {
    const char *text, *says, *also;
} bad[] = {
    {"metablock=4096", "no key 'metablock'", "meta_block"},
    {"Zone=4096", "no key 'Zone'", "zone"},
    {"zon=4096", "no key 'zon'", "zone"},
    {"zone2=4096", "no key 'zone2'", "zone"},
    {"=1", "no key ''", "zone"},
    {"zone", "'zone' is not key=value", "key=value"},
    {"async=1; xyz", "'xyz' is not key=value", "key=value"},
    {"zone=", "zone= is not possible", "from 1 to 1TiB"},
    {"zone=0", "zone=0 is not possible", "from 1 to 1TiB"},
    {"zone=-1", "zone=-1 is not possible", "from 1 to 1TiB"},
    {"zone=+1", "zone=+1 is not possible", "from 1 to 1TiB"},
    {"zone=0x10", "zone=0x10 is not possible", "from 1 to 1TiB"},
    {"zone=1.5MiB", "zone=1.5MiB is not possible", "64KiB"},
    {"zone=4096 KiB", "zone=4096 KiB is not possible", "64KiB"},
    {"zone=4096x", "zone=4096x is not possible", "64KiB"},
    {"zone=4kib", "zone=4kib is not possible", "64KiB"},
    {"zone=KiB", "zone=KiB is not possible", "64KiB"},
    {"zone=2TiB", "zone=2TiB is not possible", "from 1 to 1TiB"},
    {"zone=16777216TiB", "zone=16777216TiB is not possible", "from 1 to 1TiB"},      /* 2^64 */
    {"zone=18446744073709551617", "zone=18446744073709551617 is", "from 1 to 1TiB"}, /* 2^64 + 1 */
    {"zone=none", "zone=none is not possible", "or auto"},
    {"zone=1 zone=2", "zone=1 zone=2 is not possible", "or auto"},
    {"align=256", "align=256 is not possible", "power of two"},
    {"align=3000", "align=3000 is not possible", "power of two"},
    {"meta_block=511", "meta_block=511 is not possible", "none or auto"},
    {"meta_block=2GiB", "meta_block=2GiB is not possible", "from 512 to 1GiB"},
    {"image_max=none", "image_max=none is not possible", "or auto"},
    {"image=sometimes", "image=sometimes is not possible", "auto|always|never"},
    {"image=", "image= is not possible", "auto|always|never"},
    {"image=auto|always", "image=auto|always is not possible", "auto|always|never"},
    {"async=2", "async=2 is not possible", "0|1"},
    {"async=yes", "async=yes is not possible", "0|1"},
    {"flush=Disk", "flush=Disk is not possible", "os|disk"},
    {"bad=skip bad", "bad=skip bad is not possible", "error|skip"},
    {"async=1;zone=4096;async=1", "'async=1': the key async is given twice", "twice"},
};

START_TEST(what_is_not_possible_is_named)
{
    struct H5FD_h5vec_config c = {.sizeof_config = 77};
    H5Eclear2(H5E_DEFAULT);
    ck_assert_msg(H5FD_h5vec_config_parse(&c, bad[_i].text) < 0, "%s", bad[_i].text);
    ck_assert_msg(error_says(bad[_i].says) && error_says(bad[_i].also) && error_says("h5vec: "), "%s: %s",
                  bad[_i].text, error_text());
    ck_assert(c.sizeof_config == 77); /* untouched */
}
END_TEST

/* One string that was long enough to overrun a fixed buffer would be seen by AddressSanitizer. */
START_TEST(a_long_string_is_refused_whole)
{
    enum { LONG = 100000 };
    char *text = malloc(LONG + 1);
    memset(text, 'k', LONG);
    text[LONG] = '\0';
    struct H5FD_h5vec_config c;
    ck_assert(H5FD_h5vec_config_parse(&c, text) < 0 && error_says("not key=value"));
    text[LONG / 2] = '=';
    ck_assert(H5FD_h5vec_config_parse(&c, text) < 0 && error_says("no key"));
    memcpy(text, "zone=", 5);
    ck_assert(H5FD_h5vec_config_parse(&c, text) < 0 && error_says("zone="));
    free(text);
}
END_TEST

START_TEST(a_bad_struct_is_refused_by_the_same_rules)
{
    struct H5FD_h5vec_config c = defaults();
    c.image = (enum H5FD_h5vec_image)3;
    ck_assert(H5Pset_fapl_h5vec(fapl, &c) < 0);
    ck_assert_msg(error_says("image=3 is not possible: it can be auto|always|never"), "%s", error_text());
    c = defaults();
    c.async = 2;
    ck_assert(H5Pset_fapl_h5vec(fapl, &c) < 0 && error_says("async=2"));
    c = defaults();
    c.image_max = H5FD_H5VEC_NONE;
    ck_assert(H5Pset_fapl_h5vec(fapl, &c) < 0 && error_says("image_max="));
    c = defaults();
    c.sizeof_config = 4;
    ck_assert(H5Pset_fapl_h5vec(fapl, &c) < 0 && error_says("sizeof_config is 4"));
}
END_TEST

START_TEST(get_returns_what_was_set)
{
    struct H5FD_h5vec_config c = {.sizeof_config = sizeof c, .zone = 12345, .write_block = H5FD_H5VEC_NONE},
                             got = {.sizeof_config = sizeof got}, want = defaults();
    want.zone = 12345;
    want.write_block = H5FD_H5VEC_NONE;
    ck_assert(H5Pset_fapl_h5vec(fapl, &c) >= 0 && H5Pget_fapl_h5vec(fapl, &got) >= 0);
    ck_assert(same_settings(&got, &want));
    /* a caller that was compiled with fewer settings */
    memset(&got, 0xee, sizeof got);
    got.sizeof_config = offsetof(struct H5FD_h5vec_config, alignment);
    ck_assert(H5Pget_fapl_h5vec(fapl, &got) >= 0 && got.zone == 12345);
    ck_assert(got.alignment == 0xeeeeeeeeeeeeeeee);
}
END_TEST

START_TEST(get_refuses_what_is_not_ours)
{
    struct H5FD_h5vec_config got = {.sizeof_config = sizeof got};
    hid_t other = H5Pcreate(H5P_FILE_ACCESS);
    ck_assert(H5Pget_fapl_h5vec(other, &got) < 0);
    ck_assert_msg(error_says("driver is not h5vec"), "%s", error_text());
    ck_assert(H5Pget_fapl_h5vec(fapl, NULL) < 0);
    got.sizeof_config = 0;
    ck_assert(H5Pget_fapl_h5vec(fapl, &got) < 0 && error_says("sizeof_config"));
    got.sizeof_config = sizeof got;
    ck_assert(H5Pset_driver_by_name(other, "h5vec", "zone=x") >= 0);
    ck_assert(H5Pget_fapl_h5vec(other, &got) < 0 && error_says("zone=x is not possible"));
    H5Pclose(other);
}
END_TEST

START_TEST(bad_settings_leave_a_file_as_it_was)
{
    const char *path = scratch("config");
    hid_t bad_list = H5Pcreate(H5P_FILE_ACCESS);
    ck_assert(H5Pset_driver_by_name(bad_list, "h5vec", "zone=x") >= 0);
    ck_assert(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, bad_list) < 0);
    ck_assert(fopen(path, "rb") == NULL); /* not even made */
    H5Fclose(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    ck_assert(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, bad_list) < 0);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT); /* was truncated once */
    ck_assert(file >= 0);
    H5Fclose(file);
    H5Pclose(bad_list);
    remove(path);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("config");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, the_defaults_are_those_of_the_manual);
    tcase_add_loop_test(tcase, a_string_sets_what_it_says, 0, sizeof good / sizeof good[0]);
    tcase_add_test(tcase, many_keys_at_once);
    tcase_add_test(tcase, an_empty_string_is_the_defaults);
    tcase_add_loop_test(tcase, what_is_not_possible_is_named, 0, sizeof bad / sizeof bad[0]);
    tcase_add_test(tcase, a_long_string_is_refused_whole);
    tcase_add_test(tcase, a_bad_struct_is_refused_by_the_same_rules);
    tcase_add_test(tcase, get_returns_what_was_set);
    tcase_add_test(tcase, get_refuses_what_is_not_ours);
    tcase_add_test(tcase, bad_settings_leave_a_file_as_it_was);
    return run_tests("vfd_config", tcase);
}

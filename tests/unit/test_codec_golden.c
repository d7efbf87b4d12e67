/* SPDX-License-Identifier: BSD-3-Clause
 * The files of tests/golden against expected.tsv, and that the table names every file.
 */
#include <dirent.h>
#include "codec_test.h"

#define MOST_FILES 200

static struct {
    char path[128], status[32], expected[256];
} cases[MOST_FILES];
static int count;

static const char *golden(const char *path)
{
    static char full[2048];
    const char *dir = getenv("H5VEC_SOURCE_DIR");
    snprintf(full, sizeof full, "%s/tests/golden/%s", dir ? dir : ".", path);
    return full;
}

static void load_cases(void)
{
    FILE *f = fopen(golden("expected.tsv"), "r");
    char line[512];
    while (f && fgets(line, sizeof line, f) && count < MOST_FILES)
        count += line[0] != '#' && sscanf(line, "%127[^\t]\t%31[^\t]\t%255[^\n]", cases[count].path,
                                          cases[count].status, cases[count].expected) == 3;
    if (f)
        fclose(f);
}

static struct bytes load(const char *path)
{
    static uint8_t raw[1 << 16];
    FILE *f = fopen(golden(path), "rb");
    ck_assert_msg(f != NULL, "%s", path);
    size_t size = fread(raw, 1, sizeof raw, f);
    fclose(f);
    struct bytes b = {guarded(size), size};
    memcpy(b.data, raw, size);
    return b;
}

START_TEST(golden_file)
{
    struct bytes in = load(cases[_i].path);
    static uint8_t wkb[1 << 16];
    static char text[1 << 16];
    struct vcodec_info info;
    struct h5vec_error err = {0};
    enum h5vec_status status =
        strstr(cases[_i].path, ".wkt")
            ? vcodec_wkt_read((const char *)in.data, in.size, 0, wkb, sizeof wkb, &info, &err)
            : vcodec_wkb_canonical(in.data, in.size, wkb, sizeof wkb, &info, &err);
    ck_assert_msg(strcmp(h5vec_errname(status), cases[_i].status) == 0, "%s: %s", cases[_i].path, err.msg);
    if (status)
        ck_assert_msg(err.offset == strtoul(cases[_i].expected, NULL, 10), "%s: at %ju", cases[_i].path,
                      (uintmax_t)err.offset);
    else
        ck_assert_str_eq(to_wkt((struct bytes){wkb, info.wkb_size}, text, sizeof text), cases[_i].expected);
}
END_TEST

START_TEST(every_file_is_listed)
{
    int files = 0;
    for (int i = 0; i < 2; i++) {
        DIR *dir = opendir(golden(i ? "bad" : "good"));
        ck_assert_ptr_nonnull(dir);
        struct dirent *entry;
        while ((entry = readdir(dir)))
            files += strstr(entry->d_name, ".wk") != NULL;
        closedir(dir);
    }
    ck_assert_int_gt(count, 0);
    ck_assert_int_eq(files, count);
}
END_TEST

int main(void)
{
    load_cases();
    Suite *suite = suite_create("codec_golden");
    TCase *files = tcase_create("files");
    tcase_add_loop_test(files, golden_file, 0, count);
    tcase_add_test(files, every_file_is_listed);
    suite_add_tcase(suite, files);
    return run_suite(suite);
}

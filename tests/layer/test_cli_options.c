/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The commands' option tables: what is parsed, what is refused, what --help prints.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "../unit/suite.h"
#include "cli_options.h"

enum { OUTPUT = 1, QUIET, LEVEL, PROGRESS, FORCE };

static const struct h5vec_cli_option options[] = {
    {OUTPUT, 'o', "output", "FILE", false, "Output", "where it goes", NULL},
    {FORCE, 0, "force", NULL, false, "Output", "overwrite\nwithout asking", NULL},
    {LEVEL, 0, "level-with-a-long-name", "NUMBER", false, "Output", "how much", "6"},
    {QUIET, 'q', NULL, NULL, false, "Reporting", "say nothing", NULL},
    {PROGRESS, 0, "progress", "SECONDS", true, "Reporting", "say how far it is", "1"},
};

static const struct h5vec_cli cli = {"tool",    "tool [OPTIONS] FILE...", "Does things.", options, 5,
                                     "The end."};

struct seen {
    char text[512];
    int refuse; /* the id that the handler refuses */
};

static enum h5vec_status handler(void *context, int id, const char *value, struct h5vec_error *err)
{
    struct seen *seen = context;
    size_t used = strlen(seen->text);
    snprintf(seen->text + used, sizeof seen->text - used, "%d=%s ", id, value ? value : "-");
    return id == seen->refuse ? h5vec_error_set(err, H5VEC_E_USAGE, 0, "refused") : H5VEC_OK;
}

/* A command line of words between blanks; what the handler saw, then the operands. */
static enum h5vec_status parse(const char *line, struct seen *seen, struct h5vec_error *err)
{
    char copy[256] = "tool ", *argv[32], *rest = NULL;
    int argc = 0, first = 0;
    strncat(copy, line, sizeof copy - 6);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        argv[argc++] = word;
    argv[argc] = NULL;
    enum h5vec_status status = h5vec_cli_parse(&cli, argc, argv, handler, seen, &first, err);
    for (int i = first; status == H5VEC_OK && i < argc; i++) {
        size_t used = strlen(seen->text);
        snprintf(seen->text + used, sizeof seen->text - used, "%s ", argv[i]);
    }
    return status;
}

static const struct {
    const char *line, *seen;
} good[] = {
    {"", ""},
    {"a b", "a b "},
    {"-o x a", "1=x a "},
    {"-ox", "1=x "},
    {"--output=x --output y", "1=x 1=y "},
    {"a -q b --force c", "2=- 5=- a b c "},
    {"-qo x", "2=- 1=x "},
    {"--progress a", "4=- a "},
    {"--progress=5 a", "4=5 a "},
    {"--out x", "1=x "}, /* shortened */
    {"--level=1 -- --force -q", "3=1 --force -q "},
    {"-", "- "},
    {"--output= a", "1= a "},
};

START_TEST(test_good)
{
    for (int twice = 0; twice < 2; twice++) { /* getopt's globals start afresh */
        struct seen seen = {0};
        struct h5vec_error err = {0};
        ck_assert_msg(parse(good[_i].line, &seen, &err) == H5VEC_OK, "%s: %s", good[_i].line, err.msg);
        ck_assert_str_eq(seen.text, good[_i].seen);
    }
}
END_TEST

static const struct {
    const char *line, *message;
} bad[] = {
    {"--nonsense", "--nonsense is not an option, or could be several; try --help"},
    {"a --nonsense=3 b", "--nonsense is not an option, or could be several; try --help"},
    {"-x", "-x is not an option; try --help"},
    {"-qx", "-x is not an option; try --help"},
    {"-o", "-o needs a value; try --help"},
    {"a --output", "--output needs a value; try --help"},
    {"--force=yes", "--force takes no value; try --help"},
};

START_TEST(test_bad)
{
    struct seen seen = {0};
    struct h5vec_error err = {0};
    ck_assert_int_eq(parse(bad[_i].line, &seen, &err), H5VEC_E_USAGE);
    ck_assert_str_eq(err.msg, bad[_i].message);
}
END_TEST

START_TEST(test_handler_refuses)
{
    struct seen seen = {.refuse = QUIET};
    struct h5vec_error err = {0};
    ck_assert_int_eq(parse("--force -q -o x", &seen, &err), H5VEC_E_USAGE);
    ck_assert_str_eq(seen.text, "5=- 2=- "); /* nothing after it */
    ck_assert_str_eq(err.msg, "refused; try --help");
}
END_TEST

static char *help(bool brief)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    h5vec_cli_help(&cli, out, brief);
    fclose(out);
    return text;
}

START_TEST(test_help)
{
    char *text = help(false);
    ck_assert_str_eq(text, "Usage: tool [OPTIONS] FILE...\n"
                           "Does things.\n"
                           "\n"
                           "Output:\n"
                           "  -o, --output=FILE           where it goes\n"
                           "      --force                 overwrite\n"
                           "                              without asking\n"
                           "      --level-with-a-long-name=NUMBER\n"
                           "                              how much [6]\n"
                           "\n"
                           "Reporting:\n"
                           "  -q                          say nothing\n"
                           "      --progress[=SECONDS]    say how far it is [1]\n"
                           "\n"
                           "The end.\n");
    free(text);
    text = help(true);
    ck_assert_str_eq(text, "Usage: tool [OPTIONS] FILE...\n"
                           "Does things.\n"
                           "\n"
                           "  -o, --output=FILE           where it goes\n"
                           "  -q                          say nothing\n");
    free(text);
}
END_TEST

static const struct {
    const char *text;
    uint64_t bytes; /* UINT64_MAX: refused */
} sizes[] = {
    {"0", 0},
    {"1", 1},
    {"64MiB", 64u << 20},
    {"3KiB", 3072},
    {"2GiB", UINT64_C(2) << 30},
    {"1TiB", UINT64_C(1) << 40},
    {"5kB", 5000},
    {"7MB", 7000000},
    {"9GB", UINT64_C(9000000000)},
    {"2TB", UINT64_C(2000000000000)},
    {"9223372036854775807", INT64_MAX},
    {"8388607TiB", UINT64_C(8388607) << 40},
    {"", UINT64_MAX},
    {"MiB", UINT64_MAX},
    {"-1", UINT64_MAX},
    {"+1", UINT64_MAX},
    {" 1", UINT64_MAX},
    {"1 ", UINT64_MAX},
    {"1 MiB", UINT64_MAX},
    {"1.5MiB", UINT64_MAX},
    {"1mib", UINT64_MAX},
    {"1M", 1u << 20},
    {"2G", UINT64_C(2) << 30},
    {"1m", UINT64_MAX},
    {"1KiBB", UINT64_MAX},
    {"0x10", UINT64_MAX},
    {"9223372036854775808", UINT64_MAX},
    {"8388608TiB", UINT64_MAX},
    {"18446744073709551616", UINT64_MAX},
    {"99999999999999999999", UINT64_MAX},
};

START_TEST(test_sizes)
{
    struct h5vec_error err = {0};
    uint64_t bytes = 77;
    enum h5vec_status status = h5vec_cli_size("--size", sizes[_i].text, &bytes, &err);
    if (sizes[_i].bytes == UINT64_MAX) {
        ck_assert_int_eq(status, H5VEC_E_USAGE);
        ck_assert_uint_eq(bytes, 77);
        ck_assert_int_eq(strncmp(err.msg, "--size: '", 9), 0);
    } else {
        ck_assert_msg(status == H5VEC_OK, "%s", err.msg);
        ck_assert_uint_eq(bytes, sizes[_i].bytes);
    }
}
END_TEST

START_TEST(test_numbers_and_choices)
{
    struct h5vec_error err = {0};
    uint64_t number;
    size_t index;
    const char *const words[] = {"direct", "collective", "none"};
    ck_assert_int_eq(h5vec_cli_number("-n", "12", 1, 12, &number, &err), H5VEC_OK);
    ck_assert_uint_eq(number, 12);
    static const char *const wrong[] = {"0", "13", "", "x", "1x", "-1", "1.0", "18446744073709551617"};
    for (size_t i = 0; i < 8; i++)
        ck_assert_int_eq(h5vec_cli_number("-n", wrong[i], 1, 12, &number, &err), H5VEC_E_USAGE);
    ck_assert_str_eq(err.msg, "-n: '18446744073709551617' is not a whole number from 1 to 12");
    ck_assert_int_eq(h5vec_cli_choice("--write", "none", words, 3, &index, &err), H5VEC_OK);
    ck_assert_uint_eq(index, 2);
    ck_assert_int_eq(h5vec_cli_choice("--write", "dir", words, 3, &index, &err), H5VEC_E_USAGE);
    ck_assert_str_eq(err.msg, "--write: 'dir' is not one of direct, collective or none");
}
END_TEST

START_TEST(test_bytes)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {{0, "0 B"},
                 {1, "1 B"},
                 {1023, "1023 B"},
                 {1024, "1.0 KiB"},
                 {1536, "1.5 KiB"},
                 {1048524, "1023.9 KiB"},
                 {1048575, "1.0 MiB"},
                 {UINT64_C(64) << 20, "64.0 MiB"},
                 {UINT64_MAX, "16.0 EiB"}};
    char text[H5VEC_CLI_BYTES];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ck_assert_str_eq(h5vec_cli_bytes(cases[i].bytes, text), cases[i].text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli_options");
    TCase *tcase = tcase_create("options");
    tcase_add_loop_test(tcase, test_good, 0, sizeof good / sizeof good[0]);
    tcase_add_loop_test(tcase, test_bad, 0, sizeof bad / sizeof bad[0]);
    tcase_add_test(tcase, test_handler_refuses);
    tcase_add_test(tcase, test_help);
    tcase_add_loop_test(tcase, test_sizes, 0, sizeof sizes / sizeof sizes[0]);
    tcase_add_test(tcase, test_numbers_and_choices);
    tcase_add_test(tcase, test_bytes);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}

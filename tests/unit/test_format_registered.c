/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parsers that a caller registers: asked before the built-in formats and in order, with columns, state, rows
 * that are none, and errors with line and column.
 */
#include "format_test.h"

static int states; /* alive */

static void release(void *state)
{
    states--;
    free(state);
}

/* Adds a column and a state, and then says no: nothing of it may stay. */
static enum h5vec_status refuse_all(struct h5vec_format_reader *reader, const char *line, size_t size,
                                    bool *is, struct h5vec_error *err)
{
    (void)line, (void)size;
    *is = false;
    states++;
    h5vec_format_set_state(reader, malloc(1), release);
    return h5vec_format_add_column(reader, "never", H5VEC_FORMAT_TEXT, err);
}

/* "!K": each line is "hex byte:WKT", or "w" and a WKB in hex, or "#"; K is kept as state. */
static enum h5vec_status probe(struct h5vec_format_reader *reader, const char *line, size_t size, bool *is,
                               struct h5vec_error *err)
{
    *is = size == 2 && line[0] == '!';
    if (!*is)
        return H5VEC_OK;
    char *state = malloc(1);
    *state = line[1];
    states++;
    h5vec_format_set_state(reader, state, release);
    return h5vec_format_add_column(reader, "kind", H5VEC_FORMAT_TEXT, err);
}

static enum h5vec_status record(struct h5vec_format_reader *reader, const char *line, size_t size,
                                bool *is_row, struct h5vec_error *err)
{
    static const uint8_t point[] = {1, 1, 0,    0,    0x20, 0xe6, 0x10, 0, 0, 0, 0, 0,   0,
                                    0, 0, 0xf0, 0x3f, 0,    0,    0,    0, 0, 0, 0, 0x40};
    *is_row = line[0] != '!' && line[0] != '#';
    if (!*is_row)
        return H5VEC_OK;
    if (line[0] == '?')
        return h5vec_format_refuse(reader, line + 1, err, "not %d", 42);
    enum h5vec_status status = h5vec_format_set_text(reader, 0, h5vec_format_state(reader), 1, err);
    if (status != H5VEC_OK || line[0] == '-')
        return status;
    if (line[0] == 'i')
        return h5vec_format_set_integer(reader, 0, 1, err);
    if (line[0] == 't')
        return h5vec_format_set_text(reader, 0, line + 1, size - 1, err);
    if (line[0] == 'w')
        return h5vec_format_set_wkb(reader, point, sizeof point - (line[1] == '-'), err);
    return h5vec_format_set_wkt(reader, line, size, err);
}

static const struct h5vec_format_parser never = {
    .sizeof_parser = sizeof never, .name = "never", .probe = refuse_all, .record = record};
static const struct h5vec_format_parser mine = {
    .sizeof_parser = sizeof mine, .name = "mine", .probe = probe, .record = record};

static const struct good_case good[] = {
    {"!a\nPOINT (1 2)\n\n#\n-\ntx", "mine", "|kind", "POINT (1 2)|a\n~|a\n~|ax\n"},
    {"\n!b\r\nw\n", "mine", "|kind", "POINT (1 2)|b\n"},
    {"!b", "mine", "|kind", ""},
    {"POINT (1 2)\n", "WKT", "", "POINT (1 2)\n"}, /* the others are still there */
};

static const struct bad_case bad[] = {
    {"!a\nPOINT (1 2)\n?x\n", H5VEC_E_FORMAT_RECORD, "line 3, column 2: not 42"},
    {"!a\nPOINT (1 x)\n", H5VEC_E_WKT_SYNTAX, "line 2, column 10: "},
    {"!a\nw-\n", H5VEC_E_TRUNCATED, "line 2, column 1: WKB ends within a point"},
    {"!a\nt\xFF\n", H5VEC_E_FORMAT_RECORD, "line 2, column 1: not UTF-8 text"},
    {"!a\nw\nPOINT (1 2)\n", H5VEC_E_FORMAT_RECORD,
     "line 3, column 1: SRID 0, but the rows before have 4326"},
    {"!a\ni\n", H5VEC_E_ARG, "the parser mine sets a value of type integer in column 0"},
};

static void register_both(void)
{
    ck_assert_int_eq(h5vec_format_register(&never, NULL), H5VEC_OK);
    ck_assert_int_eq(h5vec_format_register(&mine, NULL), H5VEC_OK);
}

START_TEST(reads)
{
    register_both();
    check_good(&good[_i]);
    ck_assert_int_eq(states, 0);
}
END_TEST

START_TEST(refuses)
{
    register_both();
    check_bad(&bad[_i]);
    ck_assert_int_eq(states, 0);
}
END_TEST

START_TEST(skips)
{
    register_both();
    check_skips("!a\nPOINT (1 2\n?\n-\n", "~|a\n", 2);
    struct feed feed = {.data = "!a\nPOINT (1 2\n",
                        .size = 14,
                        .step = 3,
                        .fail_at = SIZE_MAX,
                        .options.on_bad = H5VEC_FORMAT_BAD_NULL};
    struct outcome o = read_feed(&feed, 100, 0);
    ck_assert_str_eq(o.rows, "~|a\n"); /* the columns are kept */
    ck_assert_uint_eq(o.skipped, 1);
    free(o.rows);
}
END_TEST

START_TEST(limits)
{
    struct h5vec_format_parser bare = mine;
    bare.record = NULL;
    ck_assert_int_eq(h5vec_format_register(&bare, NULL), H5VEC_E_ARG);
    for (int i = 0; i < H5VEC_FORMAT_MAX_PARSERS; i++)
        ck_assert_int_eq(h5vec_format_register(&mine, NULL), H5VEC_OK);
    ck_assert_int_eq(h5vec_format_register(&mine, NULL), H5VEC_E_ARG);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("format_registered");
    TCase *tests = tcase_create("registered");
    tcase_add_loop_test(tests, reads, 0, (int)(sizeof good / sizeof good[0]));
    tcase_add_loop_test(tests, refuses, 0, (int)(sizeof bad / sizeof bad[0]));
    tcase_add_test(tests, skips);
    tcase_add_test(tests, limits);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Types of columns: inferred from the first records, given by the caller, and values that do not fit them.
 * Times were computed with Python's datetime.
 */
#include "format_test.h"
#include "locale_test.h"

static struct outcome read_with(const char *input, const struct h5vec_format_options *options, size_t step,
                                size_t max_bytes)
{
    struct feed feed = {
        .data = input, .size = strlen(input), .step = step, .fail_at = SIZE_MAX, .options = *options};
    return read_feed(&feed, max_bytes, 0);
}

/* One column v of values: the type that is inferred, and the values. "W" is WKT before each. */
static const struct {
    const char *values; /* one a line */
    const char *type, *rows;
} inferred[] = {
    {"1\n-2\n0\n", "integer", "1 -2 0 "},
    {"9223372036854775807\n-9223372036854775808\n", "integer", "9223372036854775807 -9223372036854775808 "},
    {"9223372036854775808\n", "text", "9223372036854775808 "},
    {"12345678901234567890\n", "text", "12345678901234567890 "},
    {"007\n8\n", "text", "007 8 "},
    {"00\n", "text", "00 "},
    {"+49\n1\n", "text", "+49 1 "},
    {"-\n", "text", "- "},
    {"1\n1.5\n-0\n.5\n5.\n1e3\n", "float", "1 1.5 -0 0.5 5 1000 "},
    {"-0\n", "float", "-0 "},
    {"01.5\n", "text", "01.5 "},
    {"9007199254740992\n0.5\n", "float", "9007199254740992 0.5 "},
    {"9007199254740993\n0.5\n", "text", "9007199254740993 0.5 "}, /* a double would lose its last digit */
    {"1e309\n", "text", "1e309 "},
    {"1.2.3\n", "text", "1.2.3 "},
    {"\"1,5\"\n", "text", "1,5 "}, /* a decimal comma is no number */
    {"0x10\n", "text", "0x10 "},
    {"nan\n1\n", "text", "nan 1 "},
    {"inf\n", "text", "inf "},
    {"true\nFalse\nTRUE\n", "boolean", "TRUE FALSE TRUE "},
    {"t\nf\n", "text", "t f "},
    {"true\n1\n", "text", "true 1 "},
    {"2024-02-29\n1969-12-31\n", "time", "1709164800000000 -86400000000 "},
    {"2024-02-29T12:34:56Z\n2024-02-29 12:34\n", "time", "1709210096000000 1709210040000000 "},
    {"2024-02-29T12:34:56.789012+05:30\n", "time", "1709190296789012 "},
    {"2024-02-29T12:34:56.5-0330\n2024-02-29 12:34:56+00\n", "time", "1709222696500000 1709210096000000 "},
    {"0000-03-01\n9999-12-31T23:59:59.999999Z\n", "time", "-62162035200000000 253402300799999999 "},
    {"2024-02-29T12:34:56.7890120\n", "time", "1709210096789012 "},
    {"2024-02-29T12:34:56.7890123\n", "text", "2024-02-29T12:34:56.7890123 "}, /* beyond microseconds */
    {"2023-02-29\n", "text", "2023-02-29 "},
    {"1900-02-29\n", "text", "1900-02-29 "},
    {"2000-02-29\n", "time", "951782400000000 "},
    {"2024-13-01\n", "text", "2024-13-01 "},
    {"2024-01-01T24:00\n", "text", "2024-01-01T24:00 "},
    {"2024-01-01T12:00+1\n", "text", "2024-01-01T12:00+1 "},
    {"2024-01-01T\n", "text", "2024-01-01T "},
    {"2024-01\n", "text", "2024-01 "},
    {"20240101\n", "integer", "20240101 "},
    /* no value; blanks around a number */
    {"\"\"\n5\n  \n 6 \n", "integer", "~ 5 ~ 6 "},
    {"\"\"\n \n", "text", "   "}, /* nothing tells: an empty text stays one, blanks stay */
    {"\"7\"\n\"8\"\n", "integer", "7 8 "},
    {"\"1\"\"\"\n", "text", "1\" "},
};

START_TEST(test_inferred)
{
    static const size_t steps[] = {1, 3, SIZE_MAX};
    char input[1024] = "WKT,v\n", type[32];
    for (const char *line = inferred[_i].values; *line; line = strchr(line, '\n') + 1)
        snprintf(input + strlen(input), sizeof input - strlen(input), "POINT (1 2),%.*s\n",
                 (int)strcspn(line, "\n"), line);
    snprintf(type, sizeof type, "|%s", inferred[_i].type);
    for (size_t s = 0; s < 3; s++) {
        struct outcome o = read_with(input, &(struct h5vec_format_options){0}, steps[s], 1);
        ck_assert_msg(o.status == H5VEC_OK, "%s: %s", input, o.err.msg);
        ck_assert_str_eq(o.types, type);
        char values[512] = "";
        for (const char *row = o.rows; *row; row = strchr(row, '\n') + 1)
            snprintf(values + strlen(values), sizeof values - strlen(values), "%.*s ",
                     (int)(strcspn(row, "\n") - strlen("POINT (1 2)|")), row + strlen("POINT (1 2)|"));
        ck_assert_str_eq(values, inferred[_i].rows);
        free(o.rows);
    }
}
END_TEST

/* The caller's types, and its columns of the geometry. */
static const struct {
    const char *input;
    struct h5vec_format_options options;
    const char *columns, *types, *rows;
} given[] = {
    {"WKT,id,pop\nPOINT (1 2),1,2\n", {.types = "id=text"}, "|id|pop", "|text|integer", "POINT (1 2)|1|2\n"},
    {"WKT,a,b,c\n,1,2,3\n", {.types = "*=text,b=float"}, "|a|b|c", "|text|float|text", "~|1|2|3\n"},
    {"WKT,a,b,c\n,1,2,3\n", {.types = "#2=text,#4=float"}, "|a|b|c", "|text|integer|float", "~|1|2|3\n"},
    {"WKT,a\n,007\n,+8\n,\"\"\n", {.types = "a=integer"}, "|a", "|integer", "~|7\n~|8\n~|~\n"},
    {"WKT,a\n,t\n,no\n,1\n,FALSE\n",
     {.types = "a=boolean"},
     "|a",
     "|boolean",
     "~|TRUE\n~|FALSE\n~|TRUE\n~|FALSE\n"},
    {"WKT,a\n,9007199254740993\n", {.types = "a=float"}, "|a", "|float", "~|9007199254740992\n"},
    {"WKT,a\n,-inf\n,1\n", {.allow_nonfinite = true}, "|a", "|float", "~|-inf\n~|1\n"},
    {"WKT,a=b\n,1\n", {.types = "a=b=text"}, "|a=b", "|text", "~|1\n"},
    {"WKT,a,a\n,1,2\n", {.types = "a=text"}, "|a|a", "|text|text", "~|1|2\n"},
    {"WKT,g,v\nhello,POINT (1 2),3\n",
     {.wkt_column = "g"},
     "|WKT|v",
     "|text|integer",
     "POINT (1 2)|hello|3\n"},
    {"WKT,g\nPOINT (3 4),POINT (1 2)\n", {.wkt_column = "#2"}, "|WKT", "|text", "POINT (1 2)|POINT (3 4)\n"},
    {"shape\nPOINT (1 2)\n", {.wkt_column = "shape"}, "", "", "POINT (1 2)\n"},
    {"e,n,x,y\n1,2,3,4\n",
     {.x_column = "e", .y_column = "n"},
     "|x|y",
     "|integer|integer",
     "POINT (1 2)|3|4\n"},
    {"e,n,x,y\n1,2,3,4\n",
     {.x_column = "#4", .y_column = "#3"},
     "|e|n",
     "|integer|integer",
     "POINT (4 3)|1|2\n"},
    {"POINT (5 6)\tPOINT (1 2)\t7\n",
     {.wkt_column = "#2"},
     "|column_1|column_3",
     "|text|integer",
     "POINT (1 2)|POINT (5 6)|7\n"},
    {"POINT (5 6)\tPOINT (1 2)\t7\n",
     {.wkt_column = "column_2", .types = "column_3=float"},
     "|column_1|column_3",
     "|text|float",
     "POINT (1 2)|POINT (5 6)|7\n"},
    {"7|POINT (1 2)|a;b\n", {0}, "|column_1|column_3", "|integer|text", "POINT (1 2)|7|a;b\n"},
    {"7;POINT (1 2);a\n8;POINT (3 4);\n",
     {0},
     "|column_1|column_3",
     "|integer|text",
     "POINT (1 2)|7|a\nPOINT (3 4)|8|~\n"},
    {"SRID=5;POINT (1 2)\n", {0}, "", "", "POINT (1 2)\n"},
    {"a;b\tSRID=5;POINT (1 2)\t|\n", {0}, "|column_1|column_3", "|text|text", "POINT (1 2)|a;b||\n"},
    {"x,y\nnan,1\n+inf,-0\n", {.allow_nonfinite = true}, "", "", "POINT (nan 1)\nPOINT (inf -0)\n"},
};

START_TEST(test_given)
{
    static const size_t steps[] = {1, SIZE_MAX};
    for (size_t s = 0; s < 2; s++) {
        struct outcome o = read_with(given[_i].input, &given[_i].options, steps[s], 1 << 20);
        ck_assert_msg(o.status == H5VEC_OK, "%s: %s", given[_i].input, o.err.msg);
        ck_assert_str_eq(o.columns, given[_i].columns);
        ck_assert_str_eq(o.types, given[_i].types);
        ck_assert_str_eq(o.rows, given[_i].rows);
        free(o.rows);
    }
}
END_TEST

static const struct {
    const char *input;
    struct h5vec_format_options options;
    enum h5vec_status status;
    const char *message;
} refused[] = {
    {"WKT,a\n,1\n", {.types = "b=text"}, H5VEC_E_FORMAT_UNKNOWN, "--types: there is no attribute column b"},
    {"WKT,a\n,1\n", {.types = "#1=text"}, H5VEC_E_FORMAT_UNKNOWN, "--types: there is no attribute column #1"},
    {"WKT,a\n,1\n", {.types = "a"}, H5VEC_E_USAGE, "--types: 'a' is not NAME=TYPE"},
    {"WKT,a\n,1.5\n",
     {.types = "a=integer"},
     H5VEC_E_FORMAT_RECORD,
     "line 2, column 2: column a: '1.5' is not an integer, as its values are said to be: --types 'a=text' "},
    {"WKT,a\n,1\n,\"9223372036854775808\"\n",
     {.types = "a=integer"},
     H5VEC_E_FORMAT_RECORD,
     "line 3, column 3: column a: '9223372036854775808' is not an integer"},
    {"WKT,a\n,nan\n",
     {.types = "a=float"},
     H5VEC_E_FORMAT_RECORD,
     "line 2, column 2: column a: 'nan' is not"},
    {"WKT,a\n,maybe\n", {.types = "a=boolean"}, H5VEC_E_FORMAT_RECORD, "line 2, column 2: column a: 'maybe'"},
    {"WKT,a\n,now\n", {.types = "a=time"}, H5VEC_E_FORMAT_RECORD, "line 2, column 2: column a: 'now' is not"},
    {"WKT,a\n,1\n", {.wkt_column = "g"}, H5VEC_E_FORMAT_UNKNOWN, "there is no column g"},
    {"g,g\n,1\n", {.wkt_column = "g"}, H5VEC_E_FORMAT_UNKNOWN, "several columns are called g: say #1 for"},
    {"x,y\n1,1\n", {.x_column = "x", .y_column = "#1"}, H5VEC_E_FORMAT_UNKNOWN, "x and y are the same"},
    {"x,y\nnan,nan\n", {.allow_nonfinite = true}, H5VEC_E_NONFINITE, "line 2, column 1: a point of nan only"},
    {"7;SRID=5;POINT (1 2)\n", {0}, H5VEC_E_FORMAT_UNKNOWN, "neither WKT"}, /* whose is the SRID? */
    {"POINT (nan nan)\n", {.allow_nonfinite = true}, H5VEC_E_NONFINITE, "line 1, column "},
};

START_TEST(test_refused)
{
    struct outcome o = read_with(refused[_i].input, &refused[_i].options, SIZE_MAX, 1 << 20);
    ck_assert_msg(o.status == refused[_i].status, "%s: %s", h5vec_errname(o.status), o.err.msg);
    ck_assert_msg(strncmp(o.err.msg, refused[_i].message, strlen(refused[_i].message)) == 0, "\"%s\"",
                  o.err.msg);
    free(o.rows);
}
END_TEST

/* Records behind the first MiB do not enter: one there that does not fit is an error with its place. */
START_TEST(test_beyond_the_sample)
{
    static const struct {
        const char *value, *message;
    } last[] = {{"7", NULL},
                {"07", "column v: '07' is not an integer, as its values were in the first records: "},
                {"12a", "column v: '12a' is not an integer"}};
    size_t rows = 120000, size = 0;
    char *text = malloc(rows * 16 + 64);
    for (size_t k = 0; k < sizeof last / sizeof last[0]; k++) {
        size = (size_t)sprintf(text, "x,y,v\n");
        for (size_t i = 0; i < rows; i++)
            size += (size_t)sprintf(text + size, "1,2,%zu\n", 100000 + i);
        size += (size_t)sprintf(text + size, "1,2,%s\n", last[k].value);
        for (size_t step = 4096; step < (8 << 20); step *= 1600) {
            struct outcome o = read_text(text, size, step, 1 << 20, 0);
            char message[128];
            snprintf(message, sizeof message, "line %zu, column 5: %s", rows + 2,
                     last[k].message ? last[k].message : "");
            ck_assert_str_eq(o.types, "|integer");
            ck_assert_int_eq(o.status, last[k].message ? H5VEC_E_FORMAT_RECORD : H5VEC_OK);
            if (last[k].message)
                ck_assert_msg(strncmp(o.err.msg, message, strlen(message)) == 0, "%s", o.err.msg);
            free(o.rows);
        }
    }
    free(text);
}
END_TEST

/* A first record longer than the sample is looked at, and what follows it is not. */
START_TEST(test_long_first_record)
{
    size_t points = 300000, size;
    char *text = malloc(points * 4 + 128);
    size = (size_t)sprintf(text, "id,WKT\n17,\"LINESTRING (");
    for (size_t i = 0; i < points; i++)
        size += (size_t)sprintf(text + size, "%s1 2", i ? "," : "");
    size += (size_t)sprintf(text + size, ")\"\nx,POINT (1 2)\n");
    struct outcome o = read_text(text, size, 1000, 1 << 20, 0);
    ck_assert_str_eq(o.types, "|integer");
    ck_assert_int_eq(o.status, H5VEC_E_FORMAT_RECORD);
    ck_assert_msg(strncmp(o.err.msg, "line 3, column 1: column id: 'x'", 32) == 0, "%s", o.err.msg);
    free(o.rows);
    free(text);
}
END_TEST

/* A value that does not fit is left out alone; each record counts once. */
START_TEST(test_null)
{
    struct h5vec_format_options options = {.on_bad = H5VEC_FORMAT_BAD_NULL, .types = "*=integer"};
    struct outcome o =
        read_with("WKT,a,b\nPOINT (1 2),1,x\nPOINT (1,y,z\nPOINT (3 4),5,6\n", &options, SIZE_MAX, 1 << 20);
    ck_assert_int_eq(o.status, H5VEC_OK);
    ck_assert_str_eq(o.rows, "POINT (1 2)|1|~\n~|~|~\nPOINT (3 4)|5|6\n");
    ck_assert_uint_eq(o.skipped, 2);
    free(o.rows);
}
END_TEST

/* As text of several files has it: what the first has, if nothing is lost. */
START_TEST(test_retype)
{
    const char *text = "WKT,i,f,e\n,5,0.5,\n";
    struct feed feed = {.data = text, .size = strlen(text), .step = SIZE_MAX, .fail_at = SIZE_MAX};
    struct h5vec_format_reader *reader;
    struct h5vec_format_batch batch;
    ck_assert_int_eq(h5vec_format_open(feed_read, &feed, NULL, &reader, NULL), H5VEC_OK);
    ck_assert(!h5vec_format_column_retype(reader, 0, H5VEC_FORMAT_TIME));
    ck_assert(!h5vec_format_column_retype(reader, 1, H5VEC_FORMAT_INTEGER));
    ck_assert(h5vec_format_column_retype(reader, 0, H5VEC_FORMAT_INTEGER));
    ck_assert(h5vec_format_column_retype(reader, 0, H5VEC_FORMAT_FLOAT));
    ck_assert(h5vec_format_column_retype(reader, 1, H5VEC_FORMAT_TEXT));
    ck_assert(h5vec_format_column_retype(reader, 2, H5VEC_FORMAT_TIME));
    ck_assert_int_eq(h5vec_format_next(reader, 1 << 20, &batch, NULL), H5VEC_OK);
    ck_assert_uint_eq(batch.rows, 1);
    ck_assert_double_eq(((const double *)batch.columns[0].values)[0], 5.0);
    ck_assert_mem_eq(batch.columns[1].data, "0.5", 3);
    ck_assert_int_eq(batch.columns[2].type, H5VEC_FORMAT_TIME);
    ck_assert_uint_eq(batch.columns[2].valid[0], 0);
    h5vec_format_free(reader);
}
END_TEST

/* Where a comma is the decimal point, and where I is not the capital of i. */
START_TEST(test_locales)
{
    static const char *const names[] = {"de_DE", "tr_TR"};
    static const char text[] =
        "LATITUDE,longitude,v,b\n1.5,2.5,0.5,TRUE\n3,4,-INFINITY,False\n5,6,Inf,true\n";
    if (!use_locale(names[_i])) {
        printf("SKIP test_locales: there is no %s, and localedef made none\n", names[_i]);
        return;
    }
    struct h5vec_format_options options = {.allow_nonfinite = true};
    struct outcome o = read_with(text, &options, SIZE_MAX, 1 << 20);
    ck_assert_msg(o.status == H5VEC_OK, "%s", o.err.msg);
    ck_assert_str_eq(o.types, "|float|boolean");
    ck_assert_str_eq(o.rows, "POINT (2.5 1.5)|0.5|TRUE\nPOINT (4 3)|-inf|FALSE\nPOINT (6 5)|inf|TRUE\n");
    free(o.rows);
    o = read_with("7\tSRID=5;MultiPoint Empty\n", &options, SIZE_MAX, 1 << 20);
    ck_assert_str_eq(o.rows, "MULTIPOINT EMPTY|7\n");
    ck_assert_int_eq(o.srid, 5);
    free(o.rows);
}
END_TEST

START_TEST(test_check)
{
    static const char *const good[] = {"a=text", "a=integer,b=float", "*=boolean,#3=time", "a b=text,"},
                             *const bad[] = {"", "a", "a=", "a=int", "a=Text", "a=text,,b=text", "=text,b"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        ck_assert_int_eq(h5vec_format_types_check(good[i], NULL), H5VEC_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_int_eq(h5vec_format_types_check(bad[i], NULL), H5VEC_E_USAGE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("format_types");
    TCase *tcase = tcase_create("types");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, test_inferred, 0, sizeof inferred / sizeof inferred[0]);
    tcase_add_loop_test(tcase, test_given, 0, sizeof given / sizeof given[0]);
    tcase_add_loop_test(tcase, test_refused, 0, sizeof refused / sizeof refused[0]);
    tcase_add_test(tcase, test_beyond_the_sample);
    tcase_add_test(tcase, test_long_first_record);
    tcase_add_test(tcase, test_null);
    tcase_add_test(tcase, test_retype);
    tcase_add_loop_test(tcase, test_locales, 0, 2);
    tcase_add_test(tcase, test_check);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}

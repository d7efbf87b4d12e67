/* SPDX-License-Identifier: BSD-3-Clause
 * Numbers: reading is compared with strtod, which glibc rounds correctly; writing with what a search through
 * "%.{n}e" for the least n says. The number of random trials is kept to a second; H5VEC_TRIALS sets another.
 */
#include <math.h>
#include "codec_test.h"
#include "locale_test.h"

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 2685821657736338717u;
}

static long trials(void)
{
    const char *text = getenv("H5VEC_TRIALS");
    return text ? strtol(text, NULL, 10) : 60000;
}

static double from_bits(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static uint64_t to_bits(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* The whole text must be taken and give strtod's bits. */
static void check_read(const char *text)
{
    double value = -1;
    size_t length = 0, size = strlen(text);
    double expected = strtod(text, NULL);
    enum h5vec_status status = vcodec_number_read(text, size, &value, &length);
    if (isinf(expected)) {
        ck_assert_msg(status == H5VEC_E_WKT_NUMBER, "%s is out of range", text);
        return;
    }
    ck_assert_msg(status == H5VEC_OK && length == size, "%s: status %d, %zu bytes taken", text, status,
                  length);
    ck_assert_msg(to_bits(value) == to_bits(expected), "%s: %a, not %a", text, value, expected);
}

static const char *const numbers[] = {
    "0",
    "-0",
    "+0",
    "0.0",
    "-0.0",
    "00",
    "000.000",
    "0e0",
    "0e999999999999999999999",
    "-0e-99999",
    ".5",
    "5.",
    "+.5",
    "-5.",
    "1",
    "-1",
    "+1",
    "12345678",
    "123456789",
    "1234567890123456789",
    "12345678901234567890",
    "0.1",
    "0.12345678",
    "0.123456789",
    "0.1234567890123456",
    "0.12345678901234567890",
    "1e0",
    "1E5",
    "1e+5",
    "1e-5",
    "1e22",
    "1e23",
    "-1e23",
    "9007199254740992",
    "9007199254740993",
    "9007199254740994",
    "9007199254740995",
    "9007199254740992.5",
    "9007199254740993.0000000000000000000000000000000000001",
    "9007199254740993000e-3",
    "0.000000000000000000000000000000000000000000000000000001",
    "100000000000000000000000000000000000000000000",
    /* halfway and its neighbourhood, with more digits than fit anywhere */
    "1.00000000000000011102230246251565404236316680908203125",
    "1.00000000000000011102230246251565404236316680908203124",
    "1.00000000000000011102230246251565404236316680908203126",
    "1.000000000000000111022302462515654042363166809082031250000000000000000000000000000000000000000001",
    /* the ends of the range */
    "1.7976931348623157e308",
    "1.7976931348623158e308",
    "1.7976931348623159e308",
    "1.797693134862315807e308",
    "1.797693134862315808e308",
    "1e308",
    "1e309",
    "-1e309",
    "1e400",
    "1e99999999999999999999",
    "17976931348623157e292",
    "2.2250738585072014e-308",
    "2.2250738585072011e-308",
    "2.2250738585072012e-308",
    "2.225073858507201136e-308",
    "4.9406564584124654e-324",
    "5e-324",
    "2.4703282292062327e-324",
    "2.4703282292062328e-324",
    "2.5e-324",
    "1e-323",
    "2.47032822920623272088284396434110686182e-324",
    "1e-324",
    "1e-400",
    "1e-99999999999999999999",
    "7.4109846876186981626485318930233205854758970392148714663837852375101326090531312779794975e-324",
    /* known to be hard for the 128-bit product */
    "8.589973439413488e46",
    "3.237883913302901e-319",
    "2.2250738585072013e-308",
    "6.9294956446009195e15",
    "3.3e-342",
    "9.5e-330",
    "1448997445238699",
    "358416272e-33",
    "7.2057594037927933e16",
    "7205759403792793200001e-5",
};

START_TEST(reads_as_strtod)
{
    check_read(numbers[_i]);
}
END_TEST

static const struct {
    const char *text;
    size_t taken; /* 0: no number */
} prefixes[] = {
    {"", 0},      {"-", 0},     {"+", 0},     {".", 0},      {"-.", 0},        {"e5", 0},       {".e5", 0},
    {"x", 0},     {"--1", 0},   {"+-1", 0},   {" 1", 0},     {"nan", 0},       {"inf", 0},      {"1e", 1},
    {"1e+", 1},   {"1e-x", 1},  {"1.e", 2},   {"1.5e5.", 5}, {"1.2.3", 3},     {"0x10", 1},     {"1,5", 1},
    {"1 2", 1},   {"1)", 1},    {"1/2", 1},   {"1:2", 1},    {"12345678,", 8}, {"1234567.", 8}, {"1e5e5", 3},
    {"1\xc0", 1}, {"1\xff", 1}, {"1_000", 1},
};

START_TEST(takes_the_longest_number)
{
    double value = 5;
    size_t length = 99, size = strlen(prefixes[_i].text);
    char *text = (char *)guarded(size);
    memcpy(text, prefixes[_i].text, size);
    enum h5vec_status status = vcodec_number_read(text, size, &value, &length);
    if (prefixes[_i].taken == 0) {
        ck_assert_int_eq(status, H5VEC_E_WKT_NUMBER);
        ck_assert(value == 5 && length == 99); /* left alone */
    } else {
        ck_assert_int_eq(status, H5VEC_OK);
        ck_assert_uint_eq(length, prefixes[_i].taken);
    }
}
END_TEST

/* Every length of text at the end of a page: the eight-byte loads must not look past it, or before its start.
 */
START_TEST(reads_within_the_text)
{
    static const char digits[] = "-123456789.12345678901234567890e-12";
    for (size_t size = 2; size < sizeof digits; size++) {
        char copy[sizeof digits] = "", *text = (char *)guarded(size);
        memcpy(text, digits, size);
        memcpy(copy, digits, size);
        double value;
        size_t length;
        ck_assert_int_eq(vcodec_number_read(text, size, &value, &length), H5VEC_OK);
        ck_assert_msg(to_bits(value) == to_bits(strtod(copy, NULL)), "%s", copy);
    }
}
END_TEST

START_TEST(reads_random_digits_as_strtod)
{
    for (long i = trials(); i > 0; i--) {
        char text[1100], *p = text;
        unsigned shape = (unsigned)next_random();
        unsigned n = 1 + (shape & 15 ? shape >> 8 & 31 : shape >> 8 & 1023), point = (shape >> 20) % (n + 1);
        if (shape & 64)
            *p++ = '-';
        for (unsigned k = 0; k < n; k++) {
            if (k == point)
                *p++ = '.';
            *p++ = (char)('0' + next_random() % 10);
        }
        if (shape & 128)
            p += sprintf(p, "e%d", (int)(next_random() % 700) - 350);
        *p = '\0';
        check_read(text);
    }
}
END_TEST

/* The exact decimal expansion of points halfway between two doubles, as they are and with a last digit added.
 */
START_TEST(reads_halfway_points)
{
    for (long i = trials() / 20; i > 0; i--) {
        double low = from_bits(next_random() & ~(UINT64_C(1) << 63));
        if (i % 3 == 0)
            low = from_bits(next_random() >> 12); /* subnormal */
        if (i % 3 == 1)
            low = (double)(next_random() >> 10) * 0x1p-20;
        double high = nextafter(low, INFINITY);
        if (!isfinite(high))
            continue;
        char text[1500];
        long double half = (long double)low / 2 + (long double)high / 2; /* exact: 64 bits hold it */
        snprintf(text, sizeof text, "%.1100Lf", half);
        check_read(text);
        text[strlen(text) - 1] = '1';
        check_read(text);
        snprintf(text, sizeof text, "%.20Le", half);
        check_read(text);
    }
}
END_TEST

/* The least number of digits with which "%.{n}e" reads back, compared with ours: as few digits, reads back,
 * and no decimal of as few digits is nearer. */
static void check_write(double v)
{
    char ours[VCODEC_NUMBER_MAX + 1], best[64];
    size_t n = vcodec_number_write(v, ours);
    ck_assert_uint_lt(n, VCODEC_NUMBER_MAX);
    ours[n] = '\0';
    ck_assert_msg(to_bits(strtod(ours, NULL)) == to_bits(v), "%a: %s does not read back", v, ours);
    int precision = 0;
    do
        snprintf(best, sizeof best, "%.*e", precision, v);
    while (strtod(best, NULL) != v && ++precision < 17);
    char digits[64];
    int count = 0, significant = 0;
    for (const char *p = ours; *p && *p != 'e'; p++)
        if (*p >= '0' && *p <= '9' && (count > 0 || *p != '0'))
            digits[count++] = *p;
    for (int i = 0; i < count; i++)
        if (digits[i] != '0')
            significant = i + 1;
    if (v == 0)
        significant = 1;
    ck_assert_msg(significant <= precision + 1, "%s has more digits than %s", ours, best);
    if (significant == precision + 1) {
        long double mine = fabsl(strtold(ours, NULL) - (long double)v);
        long double its = fabsl(strtold(best, NULL) - (long double)v);
        ck_assert_msg(mine <= its, "%s is nearer than %s", best, ours);
    }
    double back;
    size_t length;
    ck_assert_int_eq(vcodec_number_read(ours, n, &back, &length), H5VEC_OK);
    ck_assert(length == n && to_bits(back) == to_bits(v));
}

START_TEST(writes_shortest_of_random_bits)
{
    for (long i = trials(); i > 0; i--) {
        double v = from_bits(next_random());
        if (isfinite(v))
            check_write(v);
    }
}
END_TEST

START_TEST(writes_shortest_of_coordinates)
{
    for (long i = trials(); i > 0; i--) {
        int64_t units = (int64_t)(next_random() % 3600000001u) - 1800000000;
        check_write((double)units / 1e7);
    }
}
END_TEST

START_TEST(writes_shortest_of_powers_and_neighbours)
{
    for (int e = -1074; e <= 1023; e++) {
        double v = ldexp(1, e);
        check_write(v);
        check_write(nextafter(v, 0));
        check_write(nextafter(v, INFINITY));
    }
    for (int e = -323; e <= 308; e++) {
        char text[16];
        snprintf(text, sizeof text, "1e%d", e);
        double v = strtod(text, NULL);
        check_write(v);
        check_write(nextafter(v, 0));
        check_write(-nextafter(v, INFINITY));
    }
    for (uint64_t bits = 1; bits < 2000; bits++)
        check_write(from_bits(bits));
    for (int v = 0; v < 2000; v++)
        check_write(v / 8.0);
}
END_TEST

static const struct {
    double value;
    const char *text;
} spelled[] = {
    {0, "0"},
    {-0.0, "-0"},
    {1, "1"},
    {-1.5, "-1.5"},
    {0.1, "0.1"},
    {0.1 + 0.2, "0.30000000000000004"},
    {100, "100"},
    {123456789, "123456789"},
    {1e20, "100000000000000000000"},
    {1e21, "1e+21"},
    {-1.25e30, "-1.25e+30"},
    {0.000001, "0.000001"},
    {-0.0000012345, "-0.0000012345"},
    {1e-7, "1e-7"},
    {5e-324, "5e-324"},
    {1.7976931348623157e308, "1.7976931348623157e+308"},
    {2.2250738585072014e-308, "2.2250738585072014e-308"},
    {0x1p53, "9007199254740992"},
    {NAN, "nan"},
    {INFINITY, "inf"},
    {-INFINITY, "-inf"},
};

START_TEST(writes_as_spelled)
{
    char out[VCODEC_NUMBER_MAX + 1];
    out[vcodec_number_write(spelled[_i].value, out)] = '\0';
    ck_assert_str_eq(out, spelled[_i].text);
}
END_TEST

START_TEST(locale_plays_no_part)
{
    if (!use_locale("de_DE")) {
        puts("SKIP locale_plays_no_part: there is no de_DE, and localedef made none");
        return;
    }
    char text[64];
    snprintf(text, sizeof text, "%.1f", 1.5);
    ck_assert_str_eq(text, "1,5"); /* the locale is in force */
    double value;
    size_t length;
    static const char *const same[] = {"1.5", "123456789.123456789123456789", "1.5e-300",
                                       "9007199254740992.5"};
    static const double expected[] = {1.5, 123456789.123456789123456789, 1.5e-300, 9007199254740992.5};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(vcodec_number_read(same[i], strlen(same[i]), &value, &length), H5VEC_OK);
        ck_assert(value == expected[i] && length == strlen(same[i]));
    }
    text[vcodec_number_write(1.5, text)] = '\0';
    ck_assert_str_eq(text, "1.5");
    struct bytes wkb = from_wkt("POINT (1.5 -2.25)");
    ck_assert_str_eq(to_wkt(wkb, text, sizeof text), "POINT (1.5 -2.25)");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("codec_number");
    TCase *read = tcase_create("read");
    tcase_set_timeout(read, 100);
    tcase_add_loop_test(read, reads_as_strtod, 0, sizeof numbers / sizeof *numbers);
    tcase_add_loop_test(read, takes_the_longest_number, 0, sizeof prefixes / sizeof *prefixes);
    tcase_add_test(read, reads_within_the_text);
    tcase_add_test(read, reads_random_digits_as_strtod);
    tcase_add_test(read, reads_halfway_points);
    suite_add_tcase(suite, read);
    TCase *write = tcase_create("write");
    tcase_set_timeout(write, 100);
    tcase_add_test(write, writes_shortest_of_random_bits);
    tcase_add_test(write, writes_shortest_of_coordinates);
    tcase_add_test(write, writes_shortest_of_powers_and_neighbours);
    tcase_add_loop_test(write, writes_as_spelled, 0, sizeof spelled / sizeof *spelled);
    suite_add_tcase(suite, write);
    TCase *locale = tcase_create("locale");
    tcase_set_timeout(locale, 60);
    tcase_add_test(locale, locale_plays_no_part);
    suite_add_tcase(suite, locale);
    return run_suite(suite);
}

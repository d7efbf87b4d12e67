/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A value written as text becomes one of its column's type, whatever the locale. Where the type was only
 * inferred from the first records, a value fits if nothing of it is lost but the way it is written: 007 and
 * +49 are no integers then, and an integer that a double does not hold is no float.
 */
#include "format_internal.h"

#include <math.h>
#include <string.h>
#include "vcodec_utf8.h"

/* Integers up to here are doubles, all of them. */
#define EXACT_INTEGER INT64_C(9007199254740992)

const char *h5vec_format_type_name(enum h5vec_format_type type)
{
    static const char *const names[H5VEC_FORMAT_TYPES] = {"text", "integer", "float", "boolean", "time"};
    return names[type];
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A plus sign, or zeros before the digits of the whole: marks of a text that only looks like a number. */
static bool is_padded(const char *text, size_t size)
{
    size_t i = text[0] == '-' || text[0] == '+';
    return text[0] == '+' || (i + 1 < size && text[i] == '0' && is_digit(text[i + 1]));
}

static bool read_integer(const char *text, size_t size, int64_t *value)
{
    size_t i = size > 0 && (text[0] == '-' || text[0] == '+');
    bool negative = i > 0 && text[0] == '-';
    uint64_t n = 0, most = negative ? UINT64_C(1) << 63 : INT64_MAX;
    if (i == size)
        return false;
    for (; i < size && is_digit(text[i]); i++) {
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (n > (most - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    *value = (int64_t)(negative ? -n : n);
    return i == size;
}

/* nan, inf or infinity, with a sign or none. */
static bool read_nonfinite(const char *text, size_t size, double *value)
{
    bool negative = size > 0 && text[0] == '-', sign = negative || (size > 0 && text[0] == '+');
    text += sign;
    size -= sign;
    bool infinite = h5vec_format_is_word(text, size, "inf") || h5vec_format_is_word(text, size, "infinity");
    if (!infinite && !h5vec_format_is_word(text, size, "nan"))
        return false;
    *value = infinite ? INFINITY : NAN;
    if (negative)
        *value = -*value;
    return true;
}

bool h5vec_format_read_float(const char *text, size_t size, bool nonfinite, double *value)
{
    size_t length = 0;
    h5vec_format_trim(&text, &size);
    if (vcodec_number_read(text, size, value, &length) == H5VEC_OK && length == size)
        return true;
    return nonfinite && read_nonfinite(text, size, value);
}

/* Whether a double holds this number, if it is a whole one. */
static bool is_exact(const char *text, size_t size)
{
    int64_t value;
    bool whole = true;
    for (size_t i = 0; i < size; i++)
        whole = whole && (is_digit(text[i]) || text[i] == '-');
    return !whole || (read_integer(text, size, &value) && value <= EXACT_INTEGER && value >= -EXACT_INTEGER);
}

/* Inferred are only the words true and false. */
static bool read_boolean(const char *text, size_t size, bool exact, bool *value)
{
    static const char *const words[][2] = {
        {"false", "true"}, {"f", "t"}, {"no", "yes"}, {"n", "y"}, {"0", "1"}};
    for (size_t i = 0; i < (exact ? 1 : sizeof words / sizeof words[0]); i++)
        for (int v = 0; v < 2; v++)
            if (h5vec_format_is_word(text, size, words[i][v])) {
                *value = v;
                return true;
            }
    return false;
}

/* ---- Times ---- */

/* Digits at *text, which is moved past them; false: there are not so many. */
static bool take_digits(const char **text, const char *end, int count, int *number)
{
    *number = 0;
    for (int i = 0; i < count; i++, ++*text) {
        if (*text == end || !is_digit(**text))
            return false;
        *number = *number * 10 + (**text - '0');
    }
    return true;
}

static bool take(const char **text, const char *end, char c)
{
    bool there = *text < end && **text == c;
    *text += there;
    return there;
}

/* Days from 1970-01-01 in the Gregorian calendar: the years are taken to begin in March, so that a leap day
 * is the last of its year (Howard Hinnant, "chrono-compatible low-level date algorithms", days_from_civil).
 */
static bool days_of(int year, int month, int day, int64_t *days)
{
    static const int8_t length[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (month < 1 || month > 12 || day < 1 || day > length[month - 1] + (leap && month == 2))
        return false;
    int64_t y = month > 2 ? year : year - 1, era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    *days = era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719468;
    return true;
}

/* hh:mm, hh:mm:ss or hh:mm:ss.f as microseconds. Digits after the sixth must be zeros. */
static bool take_clock(const char **text, const char *end, int64_t *us)
{
    int hours, minutes, seconds = 0, fraction = 0, digits = 0;
    if (!take_digits(text, end, 2, &hours) || !take(text, end, ':') || !take_digits(text, end, 2, &minutes))
        return false;
    if (take(text, end, ':')) {
        if (!take_digits(text, end, 2, &seconds))
            return false;
        if (take(text, end, '.') && (*text == end || !is_digit(**text)))
            return false;
    }
    for (; *text < end && is_digit(**text); ++*text, digits++)
        if (digits < 6)
            fraction = fraction * 10 + (**text - '0');
        else if (**text != '0')
            return false;
    for (; digits < 6; digits++)
        fraction *= 10;
    *us = ((int64_t)(hours * 60 + minutes) * 60 + seconds) * 1000000 + fraction;
    return hours < 24 && minutes < 60 && seconds < 60;
}

/* Nothing, Z, +hh, +hhmm or +hh:mm. */
static bool take_zone(const char **text, const char *end, int64_t *us)
{
    int hours, minutes = 0, sign = 0;
    *us = 0;
    if (*text == end || take(text, end, 'Z'))
        return true;
    sign = take(text, end, '+') ? 1 : take(text, end, '-') ? -1 : 0;
    if (sign == 0 || !take_digits(text, end, 2, &hours))
        return false;
    bool colon = take(text, end, ':');
    if ((colon || *text < end) && !take_digits(text, end, 2, &minutes))
        return false;
    *us = sign * (int64_t)(hours * 60 + minutes) * 60 * 1000000;
    return hours < 24 && minutes < 60;
}

/* ISO 8601's extended form: a date, or a date, T or a blank, and a time of day. Without a zone it is UTC. */
static bool read_time(const char *text, size_t size, int64_t *value)
{
    const char *end = text + size;
    int year, month, day;
    int64_t days, clock = 0, zone = 0;
    if (!take_digits(&text, end, 4, &year) || !take(&text, end, '-') || !take_digits(&text, end, 2, &month) ||
        !take(&text, end, '-') || !take_digits(&text, end, 2, &day) || !days_of(year, month, day, &days))
        return false;
    if (text < end) {
        if (!take(&text, end, 'T') && !take(&text, end, ' '))
            return false;
        if (!take_clock(&text, end, &clock) || !take_zone(&text, end, &zone))
            return false;
    }
    *value = days * INT64_C(86400000000) + clock - zone;
    return text == end;
}

bool h5vec_format_read_date(const char *text, size_t size, int64_t *value)
{
    const char *end = text + size;
    int year, month, day;
    int64_t days;
    if (size != 8 || !take_digits(&text, end, 4, &year) || !take_digits(&text, end, 2, &month) ||
        !take_digits(&text, end, 2, &day) || !days_of(year, month, day, &days))
        return false;
    *value = days * INT64_C(86400000000);
    return true;
}

/* ---- Any type ---- */

union value {
    int64_t integer;
    double real;
    bool boolean;
};

/* text has no blanks around it. */
static bool read_value(enum h5vec_format_type type, const char *text, size_t size, bool exact, bool nonfinite,
                       union value *value)
{
    switch (type) {
    case H5VEC_FORMAT_INTEGER:
        return !(exact && (is_padded(text, size) || h5vec_format_is_word(text, size, "-0"))) &&
               read_integer(text, size, &value->integer);
    case H5VEC_FORMAT_FLOAT:
        return !(exact && is_padded(text, size)) &&
               h5vec_format_read_float(text, size, nonfinite, &value->real) &&
               (!exact || is_exact(text, size));
    case H5VEC_FORMAT_BOOLEAN:
        return read_boolean(text, size, exact, &value->boolean);
    case H5VEC_FORMAT_TIME:
        return read_time(text, size, &value->integer);
    default:
        return true;
    }
}

unsigned h5vec_format_value_types(const char *text, size_t size, bool nonfinite)
{
    unsigned types = 0;
    union value value = {0};
    h5vec_format_trim(&text, &size);
    for (unsigned type = 0; type < H5VEC_FORMAT_TYPES; type++)
        if (read_value((enum h5vec_format_type)type, text, size, true, nonfinite, &value))
            types |= 1u << type;
    return types;
}

/* The value's begin, as far as it can be shown in a message. */
static int shown(const char *text, size_t size)
{
    size_t length = vcodec_utf8_check(text, size < 40 ? size : 40);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            length = i;
    return (int)length;
}

static enum h5vec_status does_not_fit(const struct h5vec_format_builder *column, const char *text,
                                      size_t size, struct h5vec_error *err)
{
    static const char *const nouns[H5VEC_FORMAT_TYPES] = {"text", "an integer", "a float", "a boolean",
                                                          "a time"};
    return h5vec_error_set(err, H5VEC_E_FORMAT_RECORD, 0,
                           "column %s: '%.*s' is not %s, as its values %s: --types '%s=text' takes any",
                           column->name, shown(text, size), text, nouns[column->type],
                           column->exact ? "were in the first records" : "are said to be", column->name);
}

enum h5vec_status h5vec_format_value_set(struct h5vec_format_rows *rows, size_t i, const char *text,
                                         size_t size, bool nonfinite, struct h5vec_error *err)
{
    const struct h5vec_format_builder *column = &rows->column[i];
    union value value = {0};
    h5vec_format_trim(&text, &size);
    if (size == 0)
        return H5VEC_OK;
    if (!read_value(column->type, text, size, column->exact, nonfinite, &value))
        return does_not_fit(column, text, size, err);
    if (column->type == H5VEC_FORMAT_FLOAT)
        h5vec_format_rows_float(rows, i, value.real);
    else if (column->type == H5VEC_FORMAT_BOOLEAN)
        h5vec_format_rows_boolean(rows, i, value.boolean);
    else
        h5vec_format_rows_integer(rows, i, value.integer);
    return H5VEC_OK;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Values of columns as text: for CSV (RFC 4180) and for JSON.
 */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "h5vinfo.h"
#include "h5vinfo_export.h"

enum h5vec_status h5vinfo_text_need(struct h5vinfo_text *text, size_t n, struct h5vec_error *err)
{
    if (n <= text->capacity - text->size)
        return H5VEC_OK;
    size_t capacity = 2 * text->capacity + n;
    char *grown = realloc(text->data, capacity);
    if (!grown)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for %zu bytes of text", capacity);
    text->data = grown;
    text->capacity = capacity;
    return H5VEC_OK;
}

enum h5vec_status h5vinfo_text_put(struct h5vinfo_text *text, const char *data, size_t n,
                                   struct h5vec_error *err)
{
    enum h5vec_status status = h5vinfo_text_need(text, n, err);
    if (status == H5VEC_OK && n > 0) {
        memcpy(text->data + text->size, data, n);
        text->size += n;
    }
    return status;
}

enum h5vec_status h5vinfo_csv_field(struct h5vinfo_text *text, const char *data, size_t n,
                                    struct h5vec_error *err)
{
    bool plain = n > 0;
    for (size_t i = 0; i < n && plain; i++)
        plain = data[i] != '"' && data[i] != ',' && data[i] != '\r' && data[i] != '\n';
    if (plain)
        return h5vinfo_text_put(text, data, n, err);
    enum h5vec_status status = h5vinfo_text_need(text, 2 * n + 2, err);
    if (status != H5VEC_OK)
        return status;
    char *to = text->data + text->size;
    *to++ = '"';
    for (size_t i = 0; i < n; i++) {
        if (data[i] == '"')
            *to++ = '"';
        *to++ = data[i];
    }
    *to++ = '"';
    text->size = (size_t)(to - text->data);
    return H5VEC_OK;
}

enum h5vec_status h5vinfo_json_string(struct h5vinfo_text *text, const char *data, size_t n,
                                      struct h5vec_error *err)
{
    json_t *string = json_stringn(data ? data : "", n);
    char *dump = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    json_decref(string);
    if (!dump)
        return h5vec_error_set(err, H5VEC_E_LAYER_INVALID, 0, "text that is not UTF-8");
    enum h5vec_status status = h5vinfo_text_put(text, dump, strlen(dump), err);
    free(dump);
    return status;
}

/* Whether an enumeration is FALSE and TRUE. */
static bool is_boolean(hid_t type)
{
    char *names[2] = {NULL, NULL};
    bool is = H5Tget_class(type) == H5T_ENUM && H5Tget_nmembers(type) == 2 && H5Tget_size(type) == 1;
    for (unsigned i = 0; i < 2 && is; i++)
        names[i] = H5Tget_member_name(type, i);
    is = is && names[0] && names[1] && strcmp(names[0], "FALSE") == 0 && strcmp(names[1], "TRUE") == 0;
    H5free_memory(names[0]);
    H5free_memory(names[1]);
    return is;
}

enum h5vec_status h5vinfo_column_kind(const struct h5vec_layer_column *column, enum h5vinfo_kind *kind,
                                      struct h5vec_error *err)
{
    *kind = H5VINFO_TEXT;
    if (column->kind == H5VEC_LAYER_TEXT)
        return H5VEC_OK;
    H5T_class_t class = H5Tget_class(column->type);
    size_t size = H5Tget_size(column->type);
    bool one = column->row_bytes == size;
    if (one && class == H5T_STRING)
        return H5VEC_OK;
    if (one && column->time) {
        *kind = H5VINFO_TIME;
        return H5VEC_OK;
    }
    if (one && class == H5T_INTEGER && size <= sizeof(int64_t)) {
        *kind = H5Tget_sign(column->type) == H5T_SGN_NONE ? H5VINFO_UNSIGNED : H5VINFO_SIGNED;
        return H5VEC_OK;
    }
    *kind = class == H5T_FLOAT ? H5VINFO_FLOAT : H5VINFO_BOOLEAN;
    if (one && ((class == H5T_FLOAT && (size == sizeof(float) || size == sizeof(double))) ||
                is_boolean(column->type)))
        return H5VEC_OK;
    char *type = h5vec_layer_type_text(column->type);
    h5vec_error_set(err, H5VEC_E_UNSUPPORTED, 0,
                    "column %s: %s%s has no text; --export=wkt and wkb write the geometries without columns",
                    column->original, one ? "" : "several values a row of ", type ? type : "its type");
    free(type);
    return H5VEC_E_UNSUPPORTED;
}

/* Sign and digits of an integer of 1, 2, 4 or 8 bytes in memory. */
static size_t integer_text(const void *at, size_t size, bool is_signed, char *to, size_t room)
{
    union {
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
    } v;
    memcpy(&v, at, size);
    int64_t number = size == 1 ? v.i8 : size == 2 ? v.i16 : size == 4 ? v.i32 : v.i64;
    uint64_t natural = size == 1 ? v.u8 : size == 2 ? v.u16 : size == 4 ? v.u32 : v.u64;
    return (size_t)(is_signed ? snprintf(to, room, "%" PRId64, number)
                              : snprintf(to, room, "%" PRIu64, natural));
}

/* A day in the Gregorian calendar: years are taken to begin in March, so that a leap day is the last of its
 * year (Howard Hinnant, "chrono-compatible low-level date algorithms", civil_from_days). */
static void date_of(int64_t days, int *year, int *month, int *day)
{
    int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097, of_era = z - era * 146097;
    int64_t of_year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_days = of_era - (365 * of_year + of_year / 4 - of_year / 100), m = (5 * of_days + 2) / 153;
    *day = (int)(of_days - (153 * m + 2) / 5 + 1);
    *month = (int)(m < 10 ? m + 3 : m - 9);
    *year = (int)(of_year + era * 400 + (*month <= 2));
}

/* Microseconds since 1970 as ISO 8601, the fraction where there is one. */
static enum h5vec_status put_time(struct h5vinfo_text *text, const char *at, bool json,
                                  struct h5vec_error *err)
{
    const int64_t second = 1000000, day = 86400 * second;
    int64_t value;
    char iso[64];
    int year, month, day_of_month;
    memcpy(&value, at, sizeof value);
    int64_t days = value / day - (value % day < 0), rest = value - days * day, seconds = rest / second;
    date_of(days, &year, &month, &day_of_month);
    if (year < 0 || year > 9999)
        return h5vec_error_set(err, H5VEC_E_UNSUPPORTED, 0, "a time outside of the years 0000 to 9999");
    int n = snprintf(iso, sizeof iso, "%s%04d-%02d-%02dT%02d:%02d:%02d", json ? "\"" : "", year, month,
                     day_of_month, (int)(seconds / 3600), (int)(seconds / 60 % 60), (int)(seconds % 60));
    if (rest % second != 0)
        n += snprintf(iso + n, sizeof iso - (size_t)n, ".%06d", (int)(rest % second));
    n += snprintf(iso + n, sizeof iso - (size_t)n, "Z%s", json ? "\"" : "");
    return h5vinfo_text_put(text, iso, (size_t)n, err);
}

/* A float32 is written as the double that it is. */
static enum h5vec_status put_float(struct h5vinfo_text *text, const char *at, size_t size, bool json,
                                   struct h5vec_error *err)
{
    float single;
    double value;
    char digits[VCODEC_NUMBER_MAX + 2];
    memcpy(size == sizeof single ? (void *)&single : (void *)&value, at, size);
    if (size == sizeof single)
        value = (double)single;
    if (json && !isfinite(value))
        return h5vec_error_set(err, H5VEC_E_NONFINITE, 0,
                               "a value that is not finite, which JSON cannot write");
    size_t n = vcodec_number_write(value, digits);
    if (value == 0 && signbit(value)) { /* as an integer it would lose its sign */
        digits[n++] = '.';
        digits[n++] = '0';
    }
    return h5vinfo_text_put(text, digits, n, err);
}

/* Bytes of a fixed-length string without its padding. */
static size_t string_length(const char *at, size_t size, hid_t type)
{
    H5T_str_t padding = H5Tget_strpad(type);
    if (padding == H5T_STR_NULLTERM)
        return strnlen(at, size);
    while (size > 0 && at[size - 1] == (padding == H5T_STR_SPACEPAD ? ' ' : '\0'))
        size--;
    return size;
}

enum h5vec_status h5vinfo_put_value(struct h5vinfo_text *text, const struct h5vec_layer_column *column,
                                    enum h5vinfo_kind kind, const struct h5vec_layer_values *values,
                                    uint64_t k, bool json, struct h5vec_error *err)
{
    char digits[24];
    if (values->valid && !values->valid[k])
        return h5vinfo_text_put(text, "null", json ? 4 : 0, err);
    const char *at =
        (const char *)values->data + (values->offsets ? (size_t)values->offsets[k] : k * column->row_bytes);
    size_t size = values->offsets ? (size_t)(values->offsets[k + 1] - values->offsets[k]) : column->row_bytes;
    switch (kind) {
    case H5VINFO_SIGNED:
    case H5VINFO_UNSIGNED:
        return h5vinfo_text_put(text, digits,
                                integer_text(at, size, kind == H5VINFO_SIGNED, digits, sizeof digits), err);
    case H5VINFO_FLOAT:
        return put_float(text, at, size, json, err);
    case H5VINFO_TIME:
        return put_time(text, at, json, err);
    case H5VINFO_BOOLEAN:
        return h5vinfo_text_put(text, *at ? "true" : "false", *at ? 4 : 5, err);
    default:
        if (!values->offsets)
            size = string_length(at, size, column->type);
        return json ? h5vinfo_json_string(text, at, size, err) : h5vinfo_csv_field(text, at, size, err);
    }
}

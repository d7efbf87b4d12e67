/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cursor over JSON. Every function looks at the end before it looks at a character; nesting is followed
 * by recursion of bounded depth.
 */
#include "json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "h5vec_format.h"

bool h5vec_format_json_fail(struct h5vec_format_json *j, const char *at, enum h5vec_status status,
                            const char *fmt, ...)
{
    if (j->status == H5VEC_OK) {
        va_list args;
        va_start(args, fmt);
        vsnprintf(j->what, sizeof j->what, fmt, args);
        va_end(args);
        j->status = status;
        j->at = at;
    }
    return false;
}

static bool expected(struct h5vec_format_json *j, const char *what)
{
    if (j->p == j->end)
        return h5vec_format_json_fail(j, j->p, H5VEC_E_FORMAT_RECORD, "the JSON ends where %s is expected",
                                      what);
    return h5vec_format_json_fail(j, j->p, H5VEC_E_FORMAT_RECORD, "not JSON: %s is expected", what);
}

char h5vec_format_json_peek(struct h5vec_format_json *j)
{
    while (j->p < j->end && (*j->p == ' ' || *j->p == '\n' || *j->p == '\r' || *j->p == '\t'))
        j->p++;
    if (j->p == j->end)
        return '\0';
    return *j->p;
}

bool h5vec_format_json_take(struct h5vec_format_json *j, char c)
{
    if (h5vec_format_json_peek(j) != c || j->p == j->end)
        return expected(j, (const char[]){'\'', c, '\'', '\0'});
    j->p++;
    return true;
}

bool h5vec_format_json_more(struct h5vec_format_json *j, bool first, char close, bool *more)
{
    char c = h5vec_format_json_peek(j);
    *more = c != close || j->p == j->end;
    if (!*more) {
        j->p++;
        return true;
    }
    if (first)
        return true;
    if (c != ',')
        return expected(j, close == ']' ? "',' or ']'" : "',' or '}'");
    j->p++;
    return true;
}

bool h5vec_format_json_string(struct h5vec_format_json *j, struct h5vec_format_json_text *text)
{
    if (h5vec_format_json_peek(j) != '"')
        return expected(j, "a string");
    const char *p = j->p + 1;
    *text = (struct h5vec_format_json_text){.text = p};
    for (; p < j->end && *p != '"'; p++) {
        if ((unsigned char)*p < 0x20)
            return h5vec_format_json_fail(j, p, H5VEC_E_FORMAT_RECORD,
                                          "not JSON: a control character in a string");
        if (*p != '\\')
            continue;
        text->escaped = true;
        if (++p == j->end)
            break;
        if (!strchr("\"\\/bfnrtu", *p))
            return h5vec_format_json_fail(j, p, H5VEC_E_FORMAT_RECORD, "not JSON: an unknown escape");
    }
    if (p >= j->end)
        return h5vec_format_json_fail(j, j->end, H5VEC_E_FORMAT_RECORD, "the JSON ends inside a string");
    text->size = (size_t)(p - text->text);
    j->p = p + 1;
    return true;
}

bool h5vec_format_json_name(struct h5vec_format_json *j, struct h5vec_format_json_text *name)
{
    return h5vec_format_json_string(j, name) && h5vec_format_json_take(j, ':');
}

static const char *skip_digits(const char *p, const char *end)
{
    while (p < end && (unsigned char)(*p - '0') < 10)
        p++;
    return p;
}

/* The end of the number at j, which has JSON's grammar. */
static const char *number_end(const struct h5vec_format_json *j)
{
    const char *p = j->p + (j->p < j->end && *j->p == '-'), *digits = p;
    p = skip_digits(p, j->end);
    if (p == digits || (*digits == '0' && p > digits + 1))
        return NULL;
    if (p < j->end && *p == '.') {
        digits = p + 1;
        p = skip_digits(digits, j->end);
        if (p == digits)
            return NULL;
    }
    if (p < j->end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < j->end && (*p == '+' || *p == '-');
        digits = p;
        p = skip_digits(p, j->end);
        if (p == digits)
            return NULL;
    }
    return p;
}

bool h5vec_format_json_number(struct h5vec_format_json *j, double *value)
{
    (void)h5vec_format_json_peek(j);
    const char *end = number_end(j);
    size_t length = 0;
    if (!end)
        return expected(j, "a number");
    if (vcodec_number_read(j->p, (size_t)(end - j->p), value, &length) != H5VEC_OK)
        return h5vec_format_json_fail(j, j->p, H5VEC_E_WKT_NUMBER,
                                      "the number %.*s is out of a double's range",
                                      (int)(end - j->p > 40 ? 40 : end - j->p), j->p);
    j->p = end;
    return true;
}

static bool skip_word(struct h5vec_format_json *j)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t size = strlen(words[i]);
        if ((size_t)(j->end - j->p) >= size && memcmp(j->p, words[i], size) == 0) {
            j->p += size;
            return true;
        }
    }
    return expected(j, "a value");
}

static bool skip_value(struct h5vec_format_json *j, int depth)
{
    struct h5vec_format_json_text text;
    char c = h5vec_format_json_peek(j);
    if (c == '"')
        return h5vec_format_json_string(j, &text);
    if (c == '-' || (unsigned char)(c - '0') < 10) {
        const char *end = number_end(j);
        if (!end)
            return expected(j, "a number");
        j->p = end;
        return true;
    }
    if (c != '{' && c != '[')
        return skip_word(j);
    if (depth == H5VEC_FORMAT_JSON_DEPTH)
        return h5vec_format_json_fail(j, j->p, H5VEC_E_DEPTH, "JSON nested deeper than %d",
                                      H5VEC_FORMAT_JSON_DEPTH);
    j->p++;
    bool more;
    for (bool first = true; h5vec_format_json_more(j, first, c == '{' ? '}' : ']', &more); first = false) {
        if (!more)
            return true;
        if ((c == '{' && !h5vec_format_json_name(j, &text)) || !skip_value(j, depth + 1))
            return false;
    }
    return false;
}

bool h5vec_format_json_skip(struct h5vec_format_json *j)
{
    return skip_value(j, 0);
}

bool h5vec_format_json_is(const struct h5vec_format_json_text *text, const char *what)
{
    return text->size == strlen(what) && memcmp(text->text, what, text->size) == 0;
}

/* Four hexadecimal digits at p, -1 if they are not. */
static int32_t hex4(const char *p, const char *end)
{
    int32_t value = 0;
    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = p[i] >= '0' && p[i] <= '9'   ? p[i] - '0'
                    : p[i] >= 'a' && p[i] <= 'f' ? p[i] - 'a' + 10
                    : p[i] >= 'A' && p[i] <= 'F' ? p[i] - 'A' + 10
                                                 : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

static size_t put_utf8(char *out, int32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length; i-- > 1; code >>= 6)
        out[i] = (char)(unsigned char)(0x80 | (code & 0x3F));
    out[0] = (char)((length == 2 ? 0xC0 : length == 3 ? 0xE0 : 0xF0) | code);
    return length;
}

/* The code point behind "\u" at *p, which goes past it: two escapes if it is a pair of surrogates. */
static int32_t code_point(const char **p, const char *end)
{
    int32_t code = hex4(*p, end);
    *p += 4;
    if (code < 0xD800 || code > 0xDFFF)
        return code == 0 ? -1 : code;
    if (code > 0xDBFF || end - *p < 6 || (*p)[0] != '\\' || (*p)[1] != 'u')
        return -1;
    int32_t low = hex4(*p + 2, end);
    *p += 6;
    return low < 0xDC00 || low > 0xDFFF ? -1 : 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
}

bool h5vec_format_json_unescape(struct h5vec_format_json *j, const struct h5vec_format_json_text *text,
                                char *out, size_t *size)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    const char *p = text->text, *end = p + text->size;
    size_t n = 0;
    while (p < end) {
        if (*p != '\\') {
            out[n++] = *p++;
            continue;
        }
        const char *escape = p++;
        const char *known = strchr(from, *p);
        if (*p != 'u') {
            const char *plain = known ? to + (known - from) : p;
            out[n++] = *plain;
            p++;
            continue;
        }
        p++;
        int32_t code = code_point(&p, end);
        if (code < 0)
            return h5vec_format_json_fail(
                j, escape, H5VEC_E_FORMAT_RECORD,
                "not text: an escape that is NUL, half a surrogate pair, or no number");
        n += put_utf8(out + n, code);
    }
    *size = n;
    return true;
}

const char *h5vec_format_json_end(const char *text, const char *end)
{
    size_t depth = 0;
    for (const char *p = text; p < end; p++) {
        if (*p == '{' || *p == '[') {
            depth++;
        } else if (*p == '}' || *p == ']') {
            if (--depth == 0)
                return p + 1;
        } else if (*p == '"') {
            for (p++; p < end && *p != '"'; p++)
                p += *p == '\\';
        }
    }
    return NULL;
}

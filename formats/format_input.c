/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The window over the input. It holds at least the record at hand and grows only when a record does not fit,
 * so memory is bounded by the longest record (twice max_record at most).
 */
#include "format_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 256 * 1024 };

static enum h5vec_status too_long(const struct h5vec_format_input *input, struct h5vec_error *err)
{
    return h5vec_format_input_error(input, input->buffer + input->begin, H5VEC_E_FORMAT_TOO_LONG, err,
                                    "the record is longer than %zu bytes", input->max_record);
}

static enum h5vec_status read_on(struct h5vec_format_input *input, struct h5vec_error *err)
{
    size_t held = input->end - input->begin;
    if (input->begin > 0) {
        memmove(input->buffer, input->buffer + input->begin, held);
        input->begin = 0;
        input->end = held;
    }
    /* Reading into less than half of the buffer would scan long records again and again. */
    if (held >= input->capacity / 2) {
        size_t capacity = input->capacity ? input->capacity * 2 : FIRST_CAPACITY;
        char *buffer = realloc(input->buffer, capacity);
        if (!buffer)
            return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for a record of more than %zu bytes",
                                   held);
        input->buffer = buffer;
        input->capacity = capacity;
    }
    size_t got = 0;
    enum h5vec_status status =
        input->source(input->context, input->buffer + input->end, input->capacity - input->end, &got, err);
    if (status != H5VEC_OK)
        return status;
    input->end += got;
    input->at_end = got == 0;
    return H5VEC_OK;
}

enum h5vec_status h5vec_format_input_more(struct h5vec_format_input *input, struct h5vec_error *err)
{
    size_t held = input->end - input->begin;
    if (held > input->max_record && held - input->max_record > 2) /* 2: the line's end may be among them */
        return too_long(input, err);
    return read_on(input, err);
}

enum h5vec_status h5vec_format_input_fill(struct h5vec_format_input *input, size_t size,
                                          struct h5vec_error *err)
{
    enum h5vec_status status = H5VEC_OK;
    while (status == H5VEC_OK && input->end - input->begin < size && !input->at_end)
        status = read_on(input, err);
    return status;
}

enum h5vec_status h5vec_format_input_line(struct h5vec_format_input *input, size_t *size, size_t *next,
                                          struct h5vec_error *err)
{
    size_t scanned = 0;
    char *newline = NULL;
    for (;;) {
        size_t held = input->end - input->begin;
        if (held > scanned)
            newline = memchr(input->buffer + input->begin + scanned, '\n', held - scanned);
        scanned = held;
        if (newline || input->at_end)
            break;
        enum h5vec_status status = h5vec_format_input_more(input, err);
        if (status != H5VEC_OK)
            return status;
    }
    const char *line = input->buffer + input->begin;
    size_t length = newline ? (size_t)(newline - line) : scanned;
    *next = newline ? length + 1 : length;
    if (length > 0 && line[length - 1] == '\r')
        length--;
    *size = length;
    return length > input->max_record ? too_long(input, err) : H5VEC_OK;
}

void h5vec_format_input_take(struct h5vec_format_input *input, size_t size)
{
    const char *from = input->buffer + input->begin, *end = from + size;
    input->column += size;
    while (from < end && (from = memchr(from, '\n', (size_t)(end - from)))) {
        input->line++;
        from++;
        input->column = (size_t)(end - from);
    }
    input->begin += size;
}

enum h5vec_status h5vec_format_input_error(const struct h5vec_format_input *input, const char *at,
                                           enum h5vec_status status, struct h5vec_error *err, const char *fmt,
                                           ...)
{
    if (!err)
        return status;
    uint64_t line = input->line;
    const char *start = input->buffer + input->begin;
    size_t held = input->end - input->begin, before = input->column;
    if ((uintptr_t)at - (uintptr_t)start > held) /* a parser's own text: the record is to blame */
        at = start;
    for (const char *p = start; p < at; p++)
        if (*p == '\n') {
            line++;
            start = p + 1;
            before = 0;
        }
    char text[sizeof err->msg];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return h5vec_error_set(err, status, 0, "line %" PRIu64 ", column %zu: %s", line,
                           before + (size_t)(at - start) + 1, text);
}

bool h5vec_format_is_word(const char *text, size_t size, const char *word)
{
    size_t i = 0;
    for (; i < size && word[i]; i++) {
        char lower = text[i];
        if (lower >= 'A' && lower <= 'Z')
            lower = (char)(lower | 0x20);
        if (lower != word[i])
            return false;
    }
    return i == size && !word[i];
}

bool h5vec_format_blank(const char *text, size_t size)
{
    size_t i = 0;
    while (i < size && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r'))
        i++;
    return i == size;
}

void h5vec_format_trim(const char **text, size_t *size)
{
    while (*size > 0 && h5vec_format_blank(*text, 1)) {
        ++*text;
        --*size;
    }
    while (*size > 0 && h5vec_format_blank(*text + *size - 1, 1))
        --*size;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parts of a text: so that several processes read one file, each its own records. Any byte is a place to cut
 * at; the first record of a part begins behind the first end of a record in it. Where a newline may be inside
 * quotes, whether a place is inside follows from the number of quotes before it.
 */
#include <string.h>
#include "format_internal.h"

enum { WINDOW = 256 * 1024 };

static enum h5vec_status read_window(int fd, uint64_t at, uint64_t end, char *window, size_t *got,
                                     struct h5vec_error *err)
{
    size_t size = end - at < WINDOW ? (size_t)(end - at) : WINDOW;
    int error = h5vec_format_pread(fd, window, size, at, got);
    if (error)
        return h5vec_error_set(err, H5VEC_E_IO, 0, "cannot read: %s", strerror(error));
    return H5VEC_OK;
}

uint64_t h5vec_format_count_in(const char *text, size_t size, char what)
{
    uint64_t n = 0;
    for (size_t i = 0; i < size; i++)
        n += text[i] == what;
    return n;
}

enum h5vec_status h5vec_format_count(int fd, uint64_t begin, uint64_t end, char what, uint64_t *count,
                                     struct h5vec_error *err)
{
    char window[WINDOW];
    uint64_t n = 0;
    for (size_t got; begin < end; begin += got) {
        enum h5vec_status status = read_window(fd, begin, end, window, &got, err);
        if (status != H5VEC_OK)
            return status;
        if (got == 0)
            break;
        n += h5vec_format_count_in(window, got, what);
    }
    *count = n;
    return H5VEC_OK;
}

size_t h5vec_format_record_end(const char *text, size_t size, bool quotes, bool *inside)
{
    if (!quotes) {
        const char *newline = memchr(text, '\n', size);
        return newline ? (size_t)(newline - text) + 1 : 0;
    }
    for (size_t i = 0; i < size; i++) {
        *inside = *inside != (text[i] == '"');
        if (text[i] == '\n' && !*inside)
            return i + 1;
    }
    return 0;
}

bool h5vec_format_is_text(const struct h5vec_format_reader *reader)
{
    return !reader->shape && !reader->whole;
}

bool h5vec_format_has_quotes(const struct h5vec_format_reader *reader)
{
    return reader->class == &h5vec_format_csv;
}

uint64_t h5vec_format_position(const struct h5vec_format_reader *reader)
{
    return reader->file.at - (reader->input.end - reader->input.begin);
}

void h5vec_format_from(struct h5vec_format_reader *reader, h5vec_format_source source, void *context,
                       uint64_t line)
{
    struct h5vec_format_input *input = &reader->input;
    input->source = source;
    input->context = context;
    input->begin = input->end = 0;
    input->at_end = false;
    input->column = 0;
    input->line = line ? line : input->line;
}

void h5vec_format_part(struct h5vec_format_reader *reader, uint64_t begin, uint64_t end, uint64_t line)
{
    reader->file.at = begin;
    reader->file.end = end;
    h5vec_format_from(reader, reader->input.source, reader->input.context, line);
}

enum h5vec_status h5vec_format_divisible(struct h5vec_format_reader *reader, bool *divisible,
                                         struct h5vec_error *err)
{
    size_t count, size = reader->class->record != NULL;
    enum h5vec_status status = H5VEC_OK;
    while (size > 0 && status == H5VEC_OK) {
        count = size = 0;
        status = reader->class->record(reader, &count, &size, err);
        if (status == H5VEC_OK)
            h5vec_format_input_take(&reader->input, size);
    }
    *divisible = status == H5VEC_OK;
    return h5vec_format_is_malformed(status) || status == H5VEC_E_FORMAT_TOO_LONG ? H5VEC_OK : status;
}

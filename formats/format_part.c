/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parts of a text: so that several processes read one file, each its own records. Any byte is a place to cut
 * at; the records of a part are those that begin in it, and the last one is read to its end. Where a newline
 * may be inside quotes, whether a place is inside follows from the number of quotes before it.
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
        for (size_t i = 0; i < got; i++)
            n += window[i] == what;
    }
    *count = n;
    return H5VEC_OK;
}

/* The first newline that is not inside quotes, or NULL. */
static const char *find_newline(const char *text, size_t size, bool quotes, bool *inside)
{
    if (!quotes)
        return memchr(text, '\n', size);
    for (size_t i = 0; i < size; i++) {
        *inside = *inside != (text[i] == '"');
        if (text[i] == '\n' && !*inside)
            return text + i;
    }
    return NULL;
}

enum h5vec_status h5vec_format_border(int fd, uint64_t size, uint64_t at, bool quotes, bool inside,
                                      uint64_t *border, struct h5vec_error *err)
{
    char window[WINDOW];
    if (at == 0 || at >= size) {
        *border = at == 0 ? 0 : size;
        return H5VEC_OK;
    }
    uint64_t from = at - 1; /* a newline there: a record begins just here. A quote there counts before at. */
    size_t got = 0;
    enum h5vec_status status = read_window(fd, from, size, window, &got, err);
    if (status == H5VEC_OK && got > 0 && window[0] == '"')
        inside = !inside;
    while (status == H5VEC_OK && got > 0) {
        const char *newline = find_newline(window, got, quotes, &inside);
        if (newline) {
            *border = from + (uint64_t)(newline - window) + 1;
            return H5VEC_OK;
        }
        from += got;
        status = from < size ? read_window(fd, from, size, window, &got, err) : H5VEC_OK;
        got = from < size ? got : 0;
    }
    if (status == H5VEC_OK)
        *border = size;
    return status;
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

void h5vec_format_part(struct h5vec_format_reader *reader, uint64_t begin, uint64_t end, uint64_t line)
{
    struct h5vec_format_input *input = &reader->input;
    reader->file.at = begin;
    reader->file.end = end;
    input->begin = input->end = 0;
    input->at_end = false;
    input->column = 0;
    input->line = line ? line : input->line;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Formats whose records are lines. Blank lines are skipped; a malformed one ends with its line.
 */
#include "format_internal.h"

enum h5vec_status h5vec_format_next_line(struct h5vec_format_reader *reader, size_t *size, size_t *next,
                                         struct h5vec_error *err)
{
    struct h5vec_format_input *input = &reader->input;
    for (;;) {
        enum h5vec_status status = h5vec_format_input_line(input, size, next, err);
        if (status != H5VEC_OK || *next == 0 || !h5vec_format_blank(input->buffer + input->begin, *size))
            return status;
        h5vec_format_input_take(input, *next);
        reader->taken += *next;
    }
}

enum h5vec_status h5vec_format_skip_line(struct h5vec_format_reader *reader, struct h5vec_error *err)
{
    size_t size, next;
    enum h5vec_status status = h5vec_format_input_line(&reader->input, &size, &next, err);
    if (status != H5VEC_OK)
        return status;
    h5vec_format_input_take(&reader->input, next);
    reader->taken += next;
    return H5VEC_OK;
}

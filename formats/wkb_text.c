/* SPDX-License-Identifier: BSD-3-Clause
 *
 * WKB or EWKB in hexadecimal, as PostGIS writes a geometry: in a field where WKT may be, too. WKT never
 * begins with a digit, WKB does: its first byte, 00 or 01, is the byte order.
 */
#include <inttypes.h>
#include "format_internal.h"

enum { LAST_TYPE = 17 }; /* Triangle: known, if not supported */

/* 0 to 15, or 16 */
static unsigned nibble(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a') + 10 : 16;
}

/* size / 2 bytes; the place of what is no digit, size if all are. */
static size_t decode(const char *text, size_t size, uint8_t *out)
{
    for (size_t i = 0; i < size; i += 2) {
        unsigned high = nibble(text[i]), low = nibble(text[i + 1]);
        if ((high | low) > 15)
            return high > 15 ? i : i + 1;
        out[i / 2] = (uint8_t)(high << 4 | low);
    }
    return size;
}

bool h5vec_format_is_hex_wkb(const char *text, size_t size)
{
    uint8_t head[5]; /* the byte order and the type */
    const size_t digits = 2 * sizeof head;
    h5vec_format_trim(&text, &size);
    if (size < digits || decode(text, digits, head) < digits || head[0] > 1)
        return false;
    uint32_t code = 0;
    for (int i = 0; i < 4; i++)
        code = code << 8 | head[head[0] ? 4 - i : 1 + i];
    code &= UINT32_C(0x1FFFFFFF); /* without EWKB's flags */
    return code / 1000 <= VCODEC_XYZM && code % 1000 >= 1 && code % 1000 <= LAST_TYPE;
}

enum h5vec_status h5vec_format_read_hex_wkb(struct h5vec_format_reader *reader,
                                            const struct h5vec_format_field *field, struct vcodec_info *info,
                                            struct h5vec_error *err)
{
    const char *text = field->text;
    size_t size = field->size;
    struct h5vec_error inner = {0};
    h5vec_format_trim(&text, &size);
    /* The canonical form is never longer: both have room behind the rows' WKB, the bytes as they come last.
     */
    size_t bytes = size / 2, even = 2 * bytes;
    uint8_t *to = h5vec_format_rows_wkb(&reader->rows, 2 * bytes);
    if (!to)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "line %" PRIu64 ": no memory for the row",
                               reader->input.line);
    size_t good = decode(text, even, to + bytes);
    if (good < even)
        return h5vec_format_input_error(&reader->input, text + good, H5VEC_E_FORMAT_RECORD, err,
                                        "not a hexadecimal digit of WKB");
    enum h5vec_status status = vcodec_wkb_canonical(to + bytes, bytes, to, bytes, info, &inner);
    if (status == H5VEC_OK && even < size)
        return h5vec_format_input_error(&reader->input, text + even, H5VEC_E_TRAILING, err,
                                        "half a byte after the end of the geometry");
    if (status != H5VEC_OK)
        return h5vec_format_input_error(&reader->input,
                                        text + (inner.offset < bytes ? 2 * inner.offset : even), status, err,
                                        "%s", inner.msg);
    return h5vec_format_check_srid(reader, info, field->text, err);
}

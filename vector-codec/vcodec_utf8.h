/* SPDX-License-Identifier: BSD-3-Clause
 *
 * UTF-8 validity of text without NUL bytes. Header-only: it is small, and both formats/ and layer/ need it.
 */
#ifndef VCODEC_UTF8_H
#define VCODEC_UTF8_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Length of the UTF-8 sequence at text[0 .. size), 0 if there is none: a NUL, a stray continuation byte, an
 * overlong form, a surrogate, a code point above U+10FFFF, or a sequence cut short. */
static inline size_t vcodec_utf8_length(const uint8_t *text, size_t size)
{
    uint8_t first = text[0];
    if (first < 0x80)
        return first != 0;
    size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || length > size)
        return 0;
    /* The second byte's range is narrower after four lead bytes (Unicode, table 3-7). */
    uint8_t low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    uint8_t high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (text[1] < low || text[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    return length;
}

/* The place of the first byte of text[0 .. size) that does not begin valid UTF-8 or is NUL; size if all is
 * well. */
static inline size_t vcodec_utf8_check(const char *text, size_t size)
{
    const uint8_t *bytes = (const uint8_t *)text;
    size_t i = 0;
    while (i < size) {
        if (size - i >= 8) { /* eight ASCII bytes at once, none of them NUL */
            uint64_t word;
            memcpy(&word, bytes + i, 8);
            uint64_t zeros = (word - UINT64_C(0x0101010101010101)) & ~word;
            if (((word | zeros) & UINT64_C(0x8080808080808080)) == 0) {
                i += 8;
                continue;
            }
        }
        size_t length = vcodec_utf8_length(bytes + i, size - i);
        if (length == 0)
            break;
        i += length;
    }
    return i;
}

#endif

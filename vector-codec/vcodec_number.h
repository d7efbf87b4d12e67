/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Decimal numbers, for the files that read and write them: the table of powers of ten, and the fast path of
 * reading, inline because WKT is mostly numbers. It takes digits eight at a time and leaves every number that
 * one correctly rounded division does not make to vcodec_number_general().
 */
#ifndef VCODEC_NUMBER_H
#define VCODEC_NUMBER_H

#include "vcodec_internal.h"

#define VCODEC_POW10_FIRST (-342)
#define VCODEC_POW10_LAST 324
#define VCODEC_POW10_EXACT                                                                                   \
    55 /* from 0 to here all bits of 10^e are in the table; all others are rounded down */

/* 10^e = (hi * 2^64 + lo) * 2^(floor(log2(10^e)) - 127) */
struct vcodec_pow10 {
    uint64_t hi, lo;
};
extern const struct vcodec_pow10 vcodec_pow10[VCODEC_POW10_LAST - VCODEC_POW10_FIRST + 1];

/* 10^0 to 10^22 are doubles. */
#define VCODEC_POW10_DOUBLE 22
extern const double vcodec_pow10_double[VCODEC_POW10_DOUBLE + 1];

/* floor(log2(10^e)) for |e| <= 1233. */
static inline int vcodec_log2_pow10(int e)
{
    return e * 1741647 >> 19;
}

/* The number at p, by the exact method. Returns its end, or NULL if there is none; *value is infinite if it
 * is out of range. */
const char *vcodec_number_general(const char *p, const char *end, double *value);

/* The text that numbers are read from. */
struct vcodec_text {
    const char *begin, *end;
};

/* Up to eight characters from p on, the first in the lowest byte, 0 behind the end. Near the end they are cut
 * out of the last eight of the text. */
static inline uint64_t vcodec_eight(const struct vcodec_text *text, const char *p)
{
    ptrdiff_t left = text->end - p;
    if (left >= 8)
        return vcodec_load64((const uint8_t *)p);
    if (text->end - text->begin >= 8) {
        int half = (int)(32 - 4 * left);
        return vcodec_load64((const uint8_t *)text->end - 8) >> half >> half;
    }
    uint64_t chunk = 0;
    for (int shift = 0; p < text->end; shift += 8)
        chunk |= (uint64_t)(unsigned char)*p++ << shift;
    return chunk;
}

/* How many of the eight characters, xored with '0' each, are digits before the first that is none. A byte
 * over 9 sets its high bit in the sum or has it; what it carries into is behind it. */
static inline unsigned vcodec_digit_count(uint64_t chunk)
{
    uint64_t none = ((chunk + UINT64_C(0x7676767676767676)) | chunk) & UINT64_C(0x8080808080808080);
    return none ? (unsigned)__builtin_ctzll(none) >> 3 : 8;
}

/* The value of the first n of them: zeros are shifted in before them, then pairs, fours and eights are
 * joined. */
static inline uint64_t vcodec_digit_value(uint64_t chunk, unsigned n)
{
    unsigned half = 32 - 4 * n;
    chunk = chunk << half << half;
    chunk = chunk * 10 + (chunk >> 8);
    const uint64_t mask = UINT64_C(0x000000ff000000ff);
    return ((chunk & mask) * (100 + (UINT64_C(1000000) << 32)) +
            (chunk >> 16 & mask) * (1 + (UINT64_C(10000) << 32))) >>
           32;
}

/* As vcodec_number_general(), at start in text. */
static inline const char *vcodec_number_parse(const struct vcodec_text *text, const char *start,
                                              double *value)
{
    static const uint64_t scale[9] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    const char *p = start, *const end = text->end;
    bool negative = p < end && *p == '-';
    p += negative;
    /* Few digits stand before the point, so one at a time is best there. Too many wrap, which is noticed
     * below. */
    uint64_t digits = 0;
    const char *first = p;
    for (; p < end && (unsigned char)(*p - '0') < 10; p++)
        digits = digits * 10 + (unsigned char)(*p - '0');
    size_t before = (size_t)(p - first), after = 0;
    if (p < end && *p == '.') {
        unsigned n;
        first = ++p;
        do {
            uint64_t chunk = vcodec_eight(text, p) ^ UINT64_C(0x3030303030303030);
            n = vcodec_digit_count(chunk);
            digits = digits * scale[n] + vcodec_digit_value(chunk, n);
            p += n;
        } while (n == 8);
        after = (size_t)(p - first);
    }
    /* 19 digits fit in 64 bits. */
    if (before + after - 1 < 19 && digits <= UINT64_C(1) << 53 && (p == end || (*p | 0x20) != 'e')) {
        double quotient = (double)digits / vcodec_pow10_double[after];
        *value = negative ? -quotient : quotient;
        return p;
    }
    double general = 0; /* not *value, which so need not be in memory */
    p = vcodec_number_general(start, end, &general);
    *value = general;
    return p;
}

#endif

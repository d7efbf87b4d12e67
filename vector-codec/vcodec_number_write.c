/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The shortest decimal that reads back to a double; of several as short, the nearest to it. This is
 * Giulietti's Schubfach: the interval of decimals that round to v = c * 2^q is scaled by the 10^-k that makes
 * it at least 1 and less than 10 units long. It then holds an integer at least and one multiple of ten at
 * most: the multiple of ten is the answer if it is there, else the nearer one of the two integers around v
 * that it holds.
 */
#include "vcodec_number.h"

#define HIDDEN_BIT (UINT64_C(1) << 52)

/* Decimals with the point between these many places from the first digit are written without an exponent. */
#define PLAIN_MOST 21
#define PLAIN_LEAST (-6)

struct decimal {
    uint64_t digits;
    int exponent;
};

/* 10^e's leading 128 bits, rounded up. */
static struct vcodec_pow10 power_above(int e)
{
    struct vcodec_pow10 power = vcodec_pow10[e - VCODEC_POW10_FIRST];
    if (e < 0 || e > VCODEC_POW10_EXACT)
        power.hi += ++power.lo == 0;
    return power;
}

/* floor(power * n / 2^128), the last bit set if something was cut off. */
static uint64_t scale_to_odd(struct vcodec_pow10 power, uint64_t n)
{
    uint64_t low = (uint64_t)((__uint128_t)power.lo * n >> 64);
    __uint128_t high = (__uint128_t)power.hi * n + low;
    return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

static struct decimal shortest(uint64_t fraction, int exponent)
{
    uint64_t c = exponent ? fraction | HIDDEN_BIT : fraction;
    int q = (exponent ? exponent : 1) - 1075;
    bool odd = c & 1;
    bool lower_closer = fraction == 0 && exponent > 1;         /* the next smaller double is half as far */
    int k = (q * 1262611 - (lower_closer ? 524031 : 0)) >> 22; /* floor(log10(the interval's length)) */
    int h = q + vcodec_log2_pow10(-k) + 1;
    struct vcodec_pow10 power = power_above(-k);
    /* Four times the lower end, v and the upper end; the ends round to v only if c is even. */
    uint64_t lower = scale_to_odd(power, (4 * c - 2 + lower_closer) << h) + odd;
    uint64_t value = scale_to_odd(power, 4 * c << h);
    uint64_t upper = scale_to_odd(power, (4 * c + 2) << h) - odd;

    uint64_t s = value / 4;
    if (s >= 10) {
        uint64_t tens = s / 10;
        bool below = lower <= 40 * tens, above = 40 * tens + 40 <= upper;
        if (below != above)
            return (struct decimal){tens + above, k + 1};
    }
    bool below = lower <= 4 * s, above = 4 * s + 4 <= upper;
    if (below != above)
        return (struct decimal){s + above, k};
    uint64_t middle = 4 * s + 2;
    bool up = value > middle || (value == middle && s & 1);
    return (struct decimal){s + up, k};
}

static void strip_zeros(struct decimal *d)
{
    while (d->digits % 10 == 0) {
        d->digits /= 10;
        d->exponent++;
    }
}

/* The digits of v, as many as it has, end before end; returns where they begin. */
static char *digits_before(char *end, uint64_t v)
{
    do {
        *--end = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    return end;
}

static char *put(char *out, const char *text, size_t n)
{
    memcpy(out, text, n);
    return out + n;
}

static char *put_zeros(char *out, int n)
{
    for (; n > 0; n--)
        *out++ = '0';
    return out;
}

/* d's n digits with the point behind the first `place` of them, or that many places before the first. */
static char *put_plain(char *out, const char *digits, int n, int place)
{
    if (place <= 0) {
        out = put_zeros(put(out, "0.", 2), -place);
        return put(out, digits, (size_t)n);
    }
    if (place >= n)
        return put_zeros(put(out, digits, (size_t)n), place - n);
    out = put(out, digits, (size_t)place);
    *out++ = '.';
    return put(out, digits + place, (size_t)(n - place));
}

static char *put_scientific(char *out, const char *digits, int n, int exponent)
{
    *out++ = digits[0];
    if (n > 1) {
        *out++ = '.';
        out = put(out, digits + 1, (size_t)n - 1);
    }
    *out++ = 'e';
    *out++ = exponent < 0 ? '-' : '+';
    char buffer[4], *end = buffer + sizeof buffer;
    char *first = digits_before(end, (uint64_t)(exponent < 0 ? -exponent : exponent));
    return put(out, first, (size_t)(end - first));
}

size_t vcodec_number_write(double value, char out[VCODEC_NUMBER_MAX])
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t fraction = bits & (HIDDEN_BIT - 1);
    int exponent = (int)(bits >> 52 & 0x7ff);
    char *at = out;
    if (exponent == 0x7ff && fraction)
        return (size_t)(put(at, "nan", 3) - out);
    if (bits >> 63)
        *at++ = '-';
    if (exponent == 0x7ff)
        return (size_t)(put(at, "inf", 3) - out);
    if (exponent == 0 && fraction == 0)
        return (size_t)(put(at, "0", 1) - out);
    struct decimal d = shortest(fraction, exponent);
    strip_zeros(&d);
    char buffer[20], *end = buffer + sizeof buffer;
    char *digits = digits_before(end, d.digits);
    int n = (int)(end - digits);
    int place = n + d.exponent;
    if (place > PLAIN_LEAST && place <= PLAIN_MOST)
        at = put_plain(at, digits, n, place);
    else
        at = put_scientific(at, digits, n, place - 1);
    return (size_t)(at - out);
}

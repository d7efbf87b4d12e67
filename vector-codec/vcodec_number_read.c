/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A decimal number becomes the double nearest to it, ties to even, in three steps of which each is tried only
 * when the one before cannot tell: one division of exact doubles (Clinger), the leading 128 bits of a product
 * with a power of ten from a table (Eisel and Lemire), and a comparison in big integers with the point
 * halfway between two doubles. The locale plays no part.
 */
#include "vcodec_number.h"

const double vcodec_pow10_double[VCODEC_POW10_DOUBLE + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                             1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                             1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

#define INFINITY_BITS UINT64_C(0x7ff0000000000000)
#define MOST_DIGITS 19 /* that always fit in 64 bits */

/* No point halfway between two doubles has more significant digits than 767, so that behind so many it
 * matters only whether a digit is not 0. */
#define ENOUGH_DIGITS 768

struct decimal {
    bool negative;
    bool cut;          /* digits other than 0 follow behind those in `leading` */
    uint64_t leading;  /* the first significant digits, MOST_DIGITS at most */
    int64_t exponent;  /* the value is leading * 10^exponent, apart from what was cut off */
    const char *first; /* the first significant digit, */
    const char *end;   /* and the end of the digits; a point may be between */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The digits of one side of the point. */
static const char *take_digits(const char *p, const char *end, bool fraction, struct decimal *d,
                               unsigned *kept)
{
    for (; p < end && is_digit(*p); p++) {
        if (*kept == 0 && *p == '0') {
            d->exponent -= fraction; /* a leading zero */
            continue;
        }
        if (*kept == 0)
            d->first = p;
        if (*kept < MOST_DIGITS) {
            d->leading = d->leading * 10 + (uint64_t)(*p - '0');
            d->exponent -= fraction;
            ++*kept;
        } else {
            d->cut |= *p != '0';
            d->exponent += !fraction;
        }
    }
    return p;
}

/* An exponent, if one is there: e, perhaps a sign, a digit at least. Else it is not part of the number. */
static const char *take_exponent(const char *p, const char *end, struct decimal *d)
{
    const int64_t limit = INT64_C(1000000000000000000);
    const char *q = p;
    if (q == end || (*q | 0x20) != 'e')
        return p;
    q++;
    bool negative = q < end && *q == '-';
    if (q < end && (*q == '-' || *q == '+'))
        q++;
    if (q == end || !is_digit(*q))
        return p;
    int64_t value = 0;
    for (; q < end && is_digit(*q); q++)
        value = value < limit / 10 ? value * 10 + (*q - '0') : limit;
    d->exponent += negative ? -value : value;
    return q;
}

static const char *take_decimal(const char *p, const char *end, struct decimal *d)
{
    *d = (struct decimal){0};
    d->negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    unsigned kept = 0;
    const char *start = p;
    p = take_digits(p, end, false, d, &kept);
    bool some = p > start;
    if (p < end && *p == '.') {
        start = ++p;
        p = take_digits(p, end, true, d, &kept);
        some = some || p > start;
    }
    d->end = p;
    return some ? take_exponent(p, end, d) : NULL;
}

/* The bits of the double nearest to w * 10^e, for -342 <= e <= 308 and w not 0. The product of w and the
 * table's entry, of which the upper 128 bits are looked at, is less than 2 of its last places below the true
 * one, as the entry is rounded down; *sure
 * says whether that leaves the rounding open. If so, the result is the right one or the one below it. */
static uint64_t approximate(uint64_t w, int e, bool *sure)
{
    int zeros = __builtin_clzll(w);
    w <<= zeros;
    struct vcodec_pow10 power = vcodec_pow10[e - VCODEC_POW10_FIRST];
    __uint128_t low = (__uint128_t)w * power.lo;
    __uint128_t product = (__uint128_t)w * power.hi + (uint64_t)(low >> 64);
    int top = 126 + (int)(product >> 127);
    int binary = top - 63 - zeros + vcodec_log2_pow10(e); /* 2^binary <= value < 2^(binary + 1) */
    int drop = top - 52;
    if (binary < -1022)
        drop += -1022 - binary; /* a subnormal has fewer bits */
    if (drop > 127) {
        *sure = drop > 128; /* far below half of the smallest */
        return 0;
    }
    __uint128_t half = (__uint128_t)1 << (drop - 1);
    __uint128_t rest = product & (2 * half - 1);
    uint64_t mantissa = (uint64_t)(product >> drop);
    if (e >= 0 && e <= VCODEC_POW10_EXACT) {
        *sure = true;
        mantissa += rest > half || (rest == half && ((uint64_t)low != 0 || mantissa & 1));
    } else {
        *sure = rest > half || rest + 2 <= half;
        mantissa += rest > half;
    }
    /* A mantissa that was rounded up to the next power of two carries into the exponent, as it should. */
    return binary < -1022 ? mantissa : ((uint64_t)(binary + 1022) << 52) + mantissa;
}

/* A natural number, lowest limb first. The longest here are 768 digits, and 5^1110 times 54 bits: under 2700
 * bits, and shifts only make the smaller of two numbers as long as the larger one. */
#define LIMBS 128
struct big {
    size_t n;
    uint32_t limb[LIMBS];
};

static void big_multiply_add(struct big *b, uint32_t factor, uint32_t carry)
{
    for (size_t i = 0; i < b->n; i++) {
        uint64_t v = (uint64_t)b->limb[i] * factor + carry;
        b->limb[i] = (uint32_t)v;
        carry = (uint32_t)(v >> 32);
    }
    if (carry && b->n < LIMBS)
        b->limb[b->n++] = carry;
}

static void big_multiply_pow5(struct big *b, int64_t e)
{
    for (; e >= 13; e -= 13)
        big_multiply_add(b, 1220703125, 0);
    for (; e > 0; e--)
        big_multiply_add(b, 5, 0);
}

static void big_shift(struct big *b, int64_t bits)
{
    for (; bits >= 31; bits -= 31)
        big_multiply_add(b, UINT32_C(1) << 31, 0);
    big_multiply_add(b, UINT32_C(1) << bits, 0);
}

static int big_compare(const struct big *a, const struct big *b)
{
    if (a->n != b->n)
        return a->n > b->n ? 1 : -1;
    for (size_t i = a->n; i-- > 0;)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] > b->limb[i] ? 1 : -1;
    return 0;
}

/* All significant digits of d in *b; returns the exponent of ten that goes with them. */
static int64_t big_digits(struct big *b, const struct decimal *d)
{
    int64_t exponent = d->exponent;
    unsigned n = 0;
    bool more = false;
    b->n = 0;
    for (const char *p = d->first; p < d->end; p++) {
        if (*p == '.')
            continue;
        if (n == ENOUGH_DIGITS) {
            more |= *p != '0';
            continue;
        }
        big_multiply_add(b, 10, (uint32_t)(*p - '0'));
        exponent -= ++n > MOST_DIGITS;
    }
    if (more) {
        big_multiply_add(b, 10, 1);
        exponent--;
    }
    return exponent;
}

/* Sign of (d - the point halfway between the doubles of these bits and of bits + 1). */
static int compare_halfway(const struct decimal *d, uint64_t bits)
{
    uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
    int64_t binary = (int64_t)(bits >> 52);
    if (binary)
        mantissa += UINT64_C(1) << 52;
    else
        binary = 1;
    uint64_t odd = 2 * mantissa + 1; /* the point is odd * 2^(binary - 1076) */
    struct big left, right = {2, {(uint32_t)odd, (uint32_t)(odd >> 32)}};
    right.n -= right.limb[1] == 0;
    int64_t exponent = big_digits(&left, d);
    big_multiply_pow5(exponent > 0 ? &left : &right, exponent > 0 ? exponent : -exponent);
    int64_t shift = exponent - (binary - 1076);
    big_shift(shift > 0 ? &left : &right, shift > 0 ? shift : -shift);
    return big_compare(&left, &right);
}

/* From bits that may be too small by a few to the right ones. */
static uint64_t refine(const struct decimal *d, uint64_t bits)
{
    for (; bits < INFINITY_BITS; bits++) {
        int sign = compare_halfway(d, bits);
        if (sign < 0 || (sign == 0 && (bits & 1) == 0))
            break;
    }
    return bits;
}

static uint64_t nearest(const struct decimal *d)
{
    if (d->leading == 0 || d->exponent < VCODEC_POW10_FIRST)
        return 0; /* 10^19 * 10^-343 is below half of the smallest double */
    if (d->exponent > 308)
        return INFINITY_BITS;
    bool sure = false, sure_above = true;
    uint64_t bits = approximate(d->leading, (int)d->exponent, &sure);
    uint64_t above = d->cut ? approximate(d->leading + 1, (int)d->exponent, &sure_above) : bits;
    if (!sure || !sure_above || bits != above)
        bits = refine(d, bits); /* what was cut off only adds */
    return bits < INFINITY_BITS ? bits : INFINITY_BITS;
}

const char *vcodec_number_general(const char *p, const char *end, double *value)
{
    struct decimal d;
    p = take_decimal(p, end, &d);
    if (!p)
        return NULL;
    uint64_t bits = nearest(&d) | (uint64_t)d.negative << 63;
    memcpy(value, &bits, sizeof *value);
    return p;
}

enum h5vec_status vcodec_number_read(const char *text, size_t size, double *value, size_t *length)
{
    double v = 0;
    struct vcodec_text all = {text, size ? text + size : text};
    const char *end = vcodec_number_parse(&all, text, &v);
    if (!end || v - v != 0)
        return H5VEC_E_WKT_NUMBER;
    *value = v;
    *length = (size_t)(end - text);
    return H5VEC_OK;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Decoding tables of deflate's prefix codes (RFC 1951, 3.2): canonical codes, so their lengths say all.
 */
#include "deflate_tables.h"
#include <string.h>

unsigned h5vcat_deflate_reversed(unsigned code, unsigned bits)
{
    unsigned r = 0;
    for (; bits > 0; bits--, code >>= 1)
        r = r << 1 | (code & 1);
    return r;
}

uint32_t h5vcat_deflate_length_entry(unsigned symbol)
{
    static const uint16_t base[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                      31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t extra[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                      2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    if (symbol < 256)
        return ENTRY_LITERAL | symbol << 16;
    if (symbol == 256)
        return ENTRY_END;
    return symbol > 285 ? ENTRY_INVALID : (uint32_t)base[symbol - 257] << 16 | extra[symbol - 257];
}

uint32_t h5vcat_deflate_distance_entry(unsigned symbol)
{
    unsigned extra = symbol < 4 ? 0 : symbol / 2 - 1;
    uint32_t base = symbol < 4 ? symbol + 1 : ((2 + symbol % 2) << extra) + 1;
    return symbol > 29 ? ENTRY_INVALID : base << 16 | extra;
}

uint32_t h5vcat_deflate_plain_entry(unsigned symbol)
{
    return symbol << 16;
}

/* Index bits of the second table for codes of length bits on, count[] of each length being left. */
static unsigned subtable_bits(const unsigned *count, unsigned bits, unsigned index_bits, unsigned longest)
{
    unsigned n = bits - index_bits;
    int left = 1 << n;
    while (n + index_bits < longest && (left -= (int)count[n + index_bits]) > 0) {
        n++;
        left <<= 1;
    }
    return n;
}

/* How many codes each length has. False: no prefix code, or one that leaves room, unless it is a single code
 * of one bit (or none at all) where that may be. */
static bool count_codes(const uint8_t *bits_of, unsigned n, bool may_be_single, unsigned *count,
                        unsigned *longest)
{
    int left = 1;
    memset(count, 0, (DEFLATE_LONGEST + 1) * sizeof *count);
    for (unsigned i = 0; i < n; i++)
        count[bits_of[i]]++;
    *longest = DEFLATE_LONGEST;
    while (*longest > 0 && count[*longest] == 0)
        --*longest;
    for (unsigned b = 1; b <= DEFLATE_LONGEST; b++) {
        left = 2 * left - (int)count[b];
        if (left < 0)
            return false;
    }
    return left == 0 || (may_be_single && *longest <= 1);
}

/* The table of the canonical code with these lengths. index_bits: of the first table. room: entries. */
bool h5vcat_deflate_table(uint32_t *table, size_t room, unsigned index_bits, const uint8_t *bits_of,
                          unsigned n, uint32_t (*entry)(unsigned), bool may_be_single)
{
    unsigned count[DEFLATE_LONGEST + 1], longest, code = 0, prefix = UINT32_MAX, sub_bits = 0;
    size_t sub = 0, end = (size_t)1 << index_bits;
    if (!count_codes(bits_of, n, may_be_single, count, &longest))
        return false;
    if (longest <= 1) /* not every place need be taken */
        for (size_t i = 0; i < end; i++)
            table[i] = ENTRY_INVALID | 1;
    uint16_t sorted[288], at[DEFLATE_LONGEST + 2] = {0};
    for (unsigned b = 1; b <= DEFLATE_LONGEST; b++)
        at[b + 1] = (uint16_t)(at[b] + count[b]);
    for (unsigned i = 0; i < n; i++)
        if (bits_of[i])
            sorted[at[bits_of[i]]++] = (uint16_t)i;
    unsigned codes = n - count[0], bits = 0;
    for (unsigned i = 0; i < codes; i++, code++) {
        unsigned now = bits_of[sorted[i]];
        code <<= now - bits;
        bits = now;
        unsigned turned = h5vcat_deflate_reversed(code, bits);
        uint32_t e = entry(sorted[i]);
        if (bits <= index_bits) {
            e += bits | bits << 8;
            for (size_t k = turned; k < (size_t)1 << index_bits; k += (size_t)1 << bits)
                table[k] = e;
            count[bits]--;
            continue;
        }
        if ((turned & ((1u << index_bits) - 1)) != prefix) {
            prefix = turned & ((1u << index_bits) - 1);
            sub_bits = subtable_bits(count, bits, index_bits, longest);
            sub = end;
            end += (size_t)1 << sub_bits;
            if (end > room)
                return false;
            table[prefix] = ENTRY_SUBTABLE | (uint32_t)sub << 16 | sub_bits << 8 | index_bits;
        }
        e += (bits - index_bits) | (bits - index_bits) << 8;
        for (size_t k = turned >> index_bits; k < (size_t)1 << sub_bits;
             k += (size_t)1 << (bits - index_bits))
            table[sub + k] = e;
        count[bits]--;
    }
    return true;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Decoding tables of deflate's codes, and bits in memory. Local.
 */
#ifndef H5VCAT_DEFLATE_TABLES_H
#define H5VCAT_DEFLATE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DEFLATE_LONGEST 15 /* bits of a code */

/* An entry of a table: bits 0-7 how many bits it takes, code and extra bits; 8-11 those of the code; 12-14
 * kinds that leave the fast path; 15 a literal; 16-31 the literal, the length or distance without its extra
 * bits, or where the second table begins (then bits 8-11 are its index's bits). */
#define ENTRY_SUBTABLE 0x1000u
#define ENTRY_END 0x2000u
#define ENTRY_INVALID 0x4000u
#define ENTRY_LITERAL 0x8000u
#define ENTRY_SPECIAL (ENTRY_SUBTABLE | ENTRY_END | ENTRY_INVALID)

/* Little-endian numbers, wherever they lie. */
static inline uint64_t h5vcat_deflate_load64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

static inline void h5vcat_deflate_store64(void *p, uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    memcpy(p, &v, sizeof v);
}

/* The low bits of a code, the last one first. */
unsigned h5vcat_deflate_reversed(unsigned code, unsigned bits);

/* What the table says of a symbol, but for the bits of its code: lengths and literals, distances, and the
 * symbol itself. */
uint32_t h5vcat_deflate_length_entry(unsigned symbol);
uint32_t h5vcat_deflate_distance_entry(unsigned symbol);
uint32_t h5vcat_deflate_plain_entry(unsigned symbol);

/* Make the table (room entries) of the canonical code of n symbols with these code lengths, the first table
 * with 1 << index_bits entries. False: the lengths make no prefix code, or one that leaves room and is no
 * single code of one bit (nor empty), which zlib allows for lengths and distances (may_be_single). */
bool h5vcat_deflate_table(uint32_t *table, size_t room, unsigned index_bits, const uint8_t *bits_of,
                          unsigned n, uint32_t (*entry)(unsigned), bool may_be_single);

#endif

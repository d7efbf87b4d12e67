/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who reads what: shares cover all inputs once, in order, binaries whole, and are balanced.
 */
#include <stdlib.h>
#include "inputs.h"
#include "suite.h"

#define FILES 40

static uint32_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

START_TEST(shares_cover_all_inputs)
{
    uint64_t sizes[FILES];
    uint8_t text[FILES];
    seed = (uint32_t)_i;
    uint32_t count = 1 + draw(FILES);
    int ranks = 1 + (int)draw(12);
    for (uint32_t i = 0; i < count; i++) {
        sizes[i] = draw(4) ? draw(1000000) : 0;
        text[i] = (uint8_t)draw(3);
    }
    ck_assert_uint_eq(h5vcat_inputs_border(sizes, text, count, 0, ranks), 0);
    ck_assert_uint_eq(h5vcat_inputs_border(sizes, text, count, ranks, ranks), (uint64_t)count * WHOLE);
    for (int r = 0; r < ranks; r++) {
        uint64_t a = h5vcat_inputs_border(sizes, text, count, r, ranks),
                 b = h5vcat_inputs_border(sizes, text, count, r + 1, ranks);
        ck_assert_uint_le(a, b);
        if (b % WHOLE)
            ck_assert_int_ne(text[b / WHOLE], INPUT_BINARY);
    }
}
END_TEST

START_TEST(hdf5_shares_are_balanced)
{
    uint64_t sizes[FILES];
    uint8_t text[FILES] = {0};
    double total = 0;
    seed = (uint32_t)_i;
    for (int i = 0; i < FILES; i++)
        total += (double)(sizes[i] = 1000 + draw(1000000));
    for (int ranks = 1; ranks <= 8; ranks++)
        for (int r = 0; r < ranks; r++) {
            double mine = 0;
            for (uint64_t f = 0; f < FILES; f++) {
                uint64_t a = h5vcat_inputs_border(sizes, text, FILES, r, ranks);
                uint64_t b = h5vcat_inputs_border(sizes, text, FILES, r + 1, ranks);
                uint64_t lo = a > f * WHOLE ? a : f * WHOLE, hi = b < (f + 1) * WHOLE ? b : (f + 1) * WHOLE;
                if (lo < hi)
                    mine += (double)sizes[f] * (double)(hi - lo) / WHOLE;
            }
            ck_assert_double_le(mine, total / ranks * 1.07);
        }
}
END_TEST

START_TEST(rows_at_cuts_cover_all_rows)
{
    static const uint64_t rows[] = {0, 1, 2, 65535, 65536, 65537, 1000003, (uint64_t)1 << 50};
    uint64_t n = rows[_i], before = 0;
    ck_assert_uint_eq(cut_row(n, 0), 0);
    ck_assert_uint_eq(cut_row(n, WHOLE), n);
    for (uint32_t cut = 0; cut <= WHOLE; cut += 97) {
        ck_assert_uint_ge(cut_row(n, cut), before);
        before = cut_row(n, cut);
        ck_assert_uint_le(before, n);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("h5vcat_inputs");
    TCase *t = tcase_create("partition");
    tcase_add_loop_test(t, shares_cover_all_inputs, 0, 300);
    tcase_add_loop_test(t, hdf5_shares_are_balanced, 0, 20);
    tcase_add_loop_test(t, rows_at_cuts_cover_all_rows, 0, 8);
    suite_add_tcase(s, t);
    return run_suite(s);
}

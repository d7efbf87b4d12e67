/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Words to byte planes and back, a tile at a time, so that a tile's words stay in the first-level cache while
 * each plane takes its byte. The loops are plain, for the compiler to vectorise.
 */
#include "vcodec_transform_internal.h"

#define TILE 2048

/* m words of a tile to planes that are n bytes apart. */
static void tile32(const uint32_t *restrict words, size_t m, unsigned width, uint8_t *planes, size_t n)
{
    for (unsigned w = 0; w < width; w++) {
        uint8_t *restrict to = planes + w * n;
        unsigned shift = 8 * w;
        for (size_t i = 0; i < m; i++)
            to[i] = (uint8_t)(words[i] >> shift);
    }
}

void vcodec_planes32(const uint32_t *words, size_t n, unsigned width, uint8_t *planes)
{
    for (size_t tile = 0; tile < n; tile += TILE)
        tile32(words + tile, n - tile < TILE ? n - tile : TILE, width, planes + tile, n);
}

/* The halves of a tile's words go apart, since loops over 32-bit words are faster. */
void vcodec_planes64(const uint64_t *words, size_t n, unsigned width, uint8_t *planes)
{
    uint32_t half[TILE];
    for (size_t tile = 0; tile < n; tile += TILE) {
        size_t m = n - tile < TILE ? n - tile : TILE;
        for (size_t i = 0; i < m; i++)
            half[i] = (uint32_t)words[tile + i];
        tile32(half, m, width < 4 ? width : 4, planes + tile, n);
        if (width <= 4)
            continue;
        for (size_t i = 0; i < m; i++)
            half[i] = (uint32_t)(words[tile + i] >> 32);
        tile32(half, m, width - 4, planes + 4 * n + tile, n);
    }
}

void vcodec_words32(const uint8_t *planes, size_t n, unsigned width, uint32_t *words)
{
    const uint8_t *a = planes, *b = a + n, *c = b + n, *d = c + n;
    uint32_t *restrict to = words;
    if (width == 4)
        for (size_t i = 0; i < n; i++)
            to[i] = (uint32_t)a[i] | (uint32_t)b[i] << 8 | (uint32_t)c[i] << 16 | (uint32_t)d[i] << 24;
    else if (width == 3)
        for (size_t i = 0; i < n; i++)
            to[i] = (uint32_t)a[i] | (uint32_t)b[i] << 8 | (uint32_t)c[i] << 16;
    else if (width == 2)
        for (size_t i = 0; i < n; i++)
            to[i] = (uint32_t)a[i] | (uint32_t)b[i] << 8;
    else
        for (size_t i = 0; i < n; i++)
            to[i] = a[i];
}

void vcodec_words64(const uint8_t *planes, size_t n, unsigned width, uint64_t *words)
{
    for (size_t tile = 0; tile < n; tile += TILE) {
        size_t m = n - tile < TILE ? n - tile : TILE;
        uint64_t *restrict to = words + tile;
        for (size_t i = 0; i < m; i++)
            to[i] = planes[tile + i];
        for (unsigned w = 1; w < width; w++) {
            const uint8_t *restrict from = planes + w * n + tile;
            unsigned shift = 8 * w;
            for (size_t i = 0; i < m; i++)
                to[i] |= (uint64_t)from[i] << shift;
        }
    }
}

void vcodec_pair(const uint8_t *x, const uint8_t *y, size_t n, uint8_t *pairs)
{
    uint8_t *restrict to = pairs;
    for (size_t i = 0; i < n; i++) {
        to[2 * i] = x[i];
        to[2 * i + 1] = y[i];
    }
}

void vcodec_unpair(const uint8_t *pairs, size_t n, uint8_t *x, uint8_t *y)
{
    uint8_t *restrict to_x = x, *restrict to_y = y;
    for (size_t i = 0; i < n; i++) {
        to_x[i] = pairs[2 * i];
        to_y[i] = pairs[2 * i + 1];
    }
}

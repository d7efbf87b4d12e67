/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Inflating a zlib stream (RFC 1950, RFC 1951) while noting where its blocks and symbols lie: what is needed
 * to cut it and to join it with others. It accepts what zlib's inflate accepts, and nothing else. Local.
 */
#ifndef H5VCAT_DEFLATE_SCAN_H
#define H5VCAT_DEFLATE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum deflate_result {
    DEFLATE_OK,
    DEFLATE_CUT_OFF,    /* the stream ends too early */
    DEFLATE_DAMAGED,    /* its bytes mean nothing */
    DEFLATE_CHECKSUM,   /* the Adler-32 is not that of the bytes */
    DEFLATE_DICTIONARY, /* it needs a preset dictionary */
    DEFLATE_SHORT,      /* it holds fewer bytes than were asked for */
    DEFLATE_LONG, /* it holds more: those asked for are there, the rest and the checksum were not looked at */
};

/* A place between two symbols (in a stored block: between two bytes). Bits count from the stream's first
 * byte. */
struct deflate_border {
    uint64_t bit; /* where the next symbol (or block) begins */
    size_t raw;   /* bytes inflated before it */
    uint64_t
        header; /* where its block begins; 0: it is between two blocks, and the members below say nothing */
    uint64_t body;     /* where its block's symbols begin */
    size_t block_raw;  /* bytes inflated before its block */
    uint32_t left;     /* stored block: bytes of it that follow */
    uint32_t end_code; /* else its end-of-block code, first bit lowest */
    uint8_t end_bits;
    uint8_t type; /* 0 stored, 1 fixed, 2 dynamic */
};
#define DEFLATE_NEVER UINT64_MAX

struct deflate_scan {
    struct deflate_border begin; /* first border with at least begin_raw bytes before it */
    struct deflate_border end;   /* last one with at most end_raw; where that is all, behind the last block */
    uint64_t last; /* header of the block that end is in, or behind: it may have the final-block bit; 0: none
                      has */
    uint64_t stored; /* header of the first stored block that begins behind begin; DEFLATE_NEVER: none does */
    uint32_t adler;  /* of all bytes */
    size_t used;     /* bytes of the stream; what follows is no part of it */
};

/* Tables, about 25 KB; one per thread. */
struct deflate_scanner;
struct deflate_scanner *h5vcat_deflate_scanner_new(void); /* NULL: out of memory */
void h5vcat_deflate_scanner_free(struct deflate_scanner *s);

/* Inflate stream to exactly raw_size bytes at raw, and find the borders for the part [begin_raw, end_raw),
 * begin_raw <= end_raw <= raw_size. The whole stream is looked at, and its checksum. */
enum deflate_result h5vcat_deflate_scan(struct deflate_scanner *s, const void *stream, size_t size, void *raw,
                                        size_t raw_size, size_t begin_raw, size_t end_raw,
                                        struct deflate_scan *scan);

/* What a result means, in words. */
const char *h5vcat_deflate_why(enum deflate_result result);

#endif

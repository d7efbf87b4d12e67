/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An inflate that knows where it is.
 *
 * The stream's next bits wait in a 64-bit buffer; one look into a table of the next 11 (distances: 8) bits
 * gives a symbol with all that has to be known about it, or a second table for the few codes that are longer.
 * The fast loop runs while neither input nor output can end within a turn of it; near an end, and near a
 * place where the caller wants a border, symbols are taken one at a time with every check.
 */
#include "deflate_scan.h"
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include "deflate_tables.h"

#define LENGTH_BITS 11
#define DISTANCE_BITS 8
#define LENGTH_ROOM 2400            /* 288 codes, a first table of 11 bits: at most 2342 entries */
#define DISTANCE_ROOM 512           /* 32 codes, 8 bits: 402 */
#define MATCH 258                   /* bytes of the longest match */
#define MAX_OUTPUT (2 + MATCH + 16) /* bytes that a turn of the fast loop may write */

struct deflate_scanner {
    uint32_t lengths[LENGTH_ROOM], distances[DISTANCE_ROOM];
    uint8_t bits_of[288 + 32];
    /* The stream. */
    const uint8_t *first, *in, *in_end;
    uint64_t buffer; /* above count: zeros, or what the stream has there */
    unsigned count;
    /* The output. */
    uint8_t *raw, *out, *out_end;
    /* Where it is. */
    struct deflate_border block;  /* of the block it is in */
    struct deflate_border before; /* the last border at or before where it was to stop */
    uint64_t stored;
    bool in_block, final;
};

struct deflate_scanner *h5vcat_deflate_scanner_new(void)
{
    return calloc(1, sizeof(struct deflate_scanner));
}

void h5vcat_deflate_scanner_free(struct deflate_scanner *s)
{
    free(s);
}

const char *h5vcat_deflate_why(enum deflate_result result)
{
    static const char *const why[] = {
        [DEFLATE_OK] = "no error",
        [DEFLATE_CUT_OFF] = "the deflate stream is cut off",
        [DEFLATE_DAMAGED] = "the deflate stream is damaged",
        [DEFLATE_CHECKSUM] = "the deflate stream is damaged (its checksum does not match)",
        [DEFLATE_DICTIONARY] = "the deflate stream needs a preset dictionary",
        [DEFLATE_SHORT] = "the deflate stream holds too few bytes",
        [DEFLATE_LONG] = "the deflate stream holds too many bytes",
    };
    return why[result];
}

/* ---- Bits -------------------------------------------------------------------------------------------- */

static uint64_t low_bits(uint64_t v, unsigned n)
{
    return v & (((uint64_t)1 << n) - 1);
}

/* At least 56 bits in the buffer, as far as there are any. */
static void refill(struct deflate_scanner *s)
{
    while (s->count <= 56 && s->in < s->in_end) {
        s->buffer |= (uint64_t)*s->in++ << s->count;
        s->count += 8;
    }
}

static void drop(struct deflate_scanner *s, unsigned n)
{
    s->buffer >>= n;
    s->count -= n;
}

/* The next n <= 32 bits; false if there are not so many. */
static bool take(struct deflate_scanner *s, unsigned n, uint32_t *v)
{
    refill(s);
    if (s->count < n)
        return false;
    *v = (uint32_t)low_bits(s->buffer, n);
    drop(s, n);
    return true;
}

static uint64_t position(const struct deflate_scanner *s)
{
    return 8 * (uint64_t)(s->in - s->first) - s->count;
}

/* The code of symbol 256: the codes of its length follow those of the shorter ones, by symbol. */
static void note_end_code(struct deflate_scanner *s, unsigned lengths)
{
    unsigned count[DEFLATE_LONGEST + 1] = {0}, code = 0, bits = s->bits_of[256];
    for (unsigned i = 0; i < lengths; i++)
        count[s->bits_of[i]]++;
    for (unsigned b = 1; b < bits; b++)
        code = (code + count[b]) << 1;
    for (unsigned i = 0; i < 256; i++)
        code += s->bits_of[i] == bits;
    s->block.end_code = h5vcat_deflate_reversed(code, bits);
    s->block.end_bits = (uint8_t)bits;
}

static bool make_tables(struct deflate_scanner *s, unsigned lengths, unsigned distances)
{
    if (!h5vcat_deflate_table(s->lengths, LENGTH_ROOM, LENGTH_BITS, s->bits_of, lengths,
                              h5vcat_deflate_length_entry, true) ||
        !h5vcat_deflate_table(s->distances, DISTANCE_ROOM, DISTANCE_BITS, s->bits_of + lengths, distances,
                              h5vcat_deflate_distance_entry, true))
        return false;
    note_end_code(s, lengths);
    return true;
}

/* ---- Headers ----------------------------------------------------------------------------------------- */

static enum deflate_result fixed_header(struct deflate_scanner *s)
{
    memset(s->bits_of, 8, 144);
    memset(s->bits_of + 144, 9, 112);
    memset(s->bits_of + 256, 7, 24);
    memset(s->bits_of + 280, 8, 8);
    memset(s->bits_of + 288, 5, 32);
    return make_tables(s, 288, 32) ? DEFLATE_OK : DEFLATE_DAMAGED;
}

/* The code lengths of a dynamic block, n of them. */
static enum deflate_result read_code_lengths(struct deflate_scanner *s, const uint32_t *table, unsigned n)
{
    for (unsigned i = 0; i < n;) {
        static const uint8_t extra[3] = {2, 3, 7}, least[3] = {3, 3, 11};
        uint32_t e, more = 0;
        refill(s);
        e = table[low_bits(s->buffer, 7)];
        if ((e & 0xff) > s->count)
            return DEFLATE_CUT_OFF;
        if (e & ENTRY_SPECIAL)
            return DEFLATE_DAMAGED;
        drop(s, e & 0xff);
        unsigned symbol = e >> 16;
        if (symbol < 16) {
            s->bits_of[i++] = (uint8_t)symbol;
            continue;
        }
        if (!take(s, extra[symbol - 16], &more))
            return DEFLATE_CUT_OFF;
        more += least[symbol - 16];
        if ((symbol == 16 && i == 0) || more > n - i)
            return DEFLATE_DAMAGED;
        memset(s->bits_of + i, symbol == 16 ? s->bits_of[i - 1] : 0, more);
        i += more;
    }
    return DEFLATE_OK;
}

static enum deflate_result dynamic_header(struct deflate_scanner *s)
{
    static const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    uint32_t counts, v, table[1 << 7];
    uint8_t bits_of[19] = {0};
    if (!take(s, 14, &counts))
        return DEFLATE_CUT_OFF;
    unsigned lengths = (counts & 31) + 257, distances = (counts >> 5 & 31) + 1, codes = (counts >> 10) + 4;
    if (lengths > 286 || distances > 30)
        return DEFLATE_DAMAGED;
    for (unsigned i = 0; i < codes; i++) {
        if (!take(s, 3, &v))
            return DEFLATE_CUT_OFF;
        bits_of[order[i]] = (uint8_t)v;
    }
    if (!h5vcat_deflate_table(table, 1 << 7, 7, bits_of, 19, h5vcat_deflate_plain_entry, false))
        return DEFLATE_DAMAGED;
    enum deflate_result result = read_code_lengths(s, table, lengths + distances);
    if (result)
        return result;
    return s->bits_of[256] && make_tables(s, lengths, distances) ? DEFLATE_OK : DEFLATE_DAMAGED;
}

static enum deflate_result stored_header(struct deflate_scanner *s)
{
    uint32_t v;
    drop(s, s->count % 8);
    if (!take(s, 32, &v))
        return DEFLATE_CUT_OFF;
    if ((v & 0xffff) != (~v >> 16))
        return DEFLATE_DAMAGED;
    s->in -= s->count / 8; /* back to where the bytes begin */
    s->buffer = s->count = 0;
    s->block.left = v & 0xffff;
    return DEFLATE_OK;
}

static enum deflate_result block_header(struct deflate_scanner *s)
{
    uint32_t v;
    enum deflate_result result = DEFLATE_DAMAGED;
    refill(s);
    s->block = (struct deflate_border){.header = position(s), .block_raw = (size_t)(s->out - s->raw)};
    if (!take(s, 3, &v))
        return DEFLATE_CUT_OFF;
    s->final = v & 1;
    s->block.type = (uint8_t)(v >> 1);
    if (v >> 1 == 0) {
        result = stored_header(s);
        if (s->stored == DEFLATE_NEVER)
            s->stored = s->block.header;
    } else if (v >> 1 == 1) {
        result = fixed_header(s);
    } else if (v >> 1 == 2) {
        result = dynamic_header(s);
    }
    s->block.body = position(s);
    s->in_block = !result;
    return result;
}

/* ---- Symbols ----------------------------------------------------------------------------------------- */

/* Bytes already there, from so far back; may write up to 15 bytes past the end. */
static void copy_match(uint8_t *out, size_t length, size_t distance)
{
    const uint8_t *from = out - distance, *end = from + length;
    if (distance >= 16) {
        do {
            memcpy(out, from, 16);
            out += 16;
            from += 16;
        } while (from < end);
    } else if (distance >= 8) {
        do {
            memcpy(out, from, 8);
            out += 8;
            from += 8;
        } while (from < end);
    } else if (distance == 1) {
        memset(out, *from, length);
    } else {
        do
            *out++ = *from++;
        while (from < end);
    }
}

/* Symbols of the block as long as neither end, nor stop, is near. The slow loop goes on, and meets the
 * errors. */
static void fast_symbols(struct deflate_scanner *s, const uint8_t *stop)
{
    const uint32_t *lengths = s->lengths, *distances = s->distances;
    const uint8_t *in = s->in, *in_stop = s->in_end - 16;
    uint8_t *out = s->out;
    uint64_t buffer = s->buffer;
    unsigned count = s->count;
    if (s->in_end - in < 16 || stop - out < MAX_OUTPUT)
        return;
    stop -= MAX_OUTPUT;
    while (in < in_stop && out <= stop) {
        buffer |= h5vcat_deflate_load64(in)
                  << count; /* at least 56 bits; those above count are what the stream has there */
        in += (63 - count) >> 3;
        count |= 56;
        uint32_t e = lengths[low_bits(buffer, LENGTH_BITS)];
        if (e & ENTRY_LITERAL) {
            buffer >>= e & 0xff;
            count -= e & 0xff;
            *out++ = (uint8_t)(e >> 16);
            e = lengths[low_bits(buffer, LENGTH_BITS)];
            if (e & ENTRY_LITERAL) {
                buffer >>= e & 0xff;
                count -= e & 0xff;
                *out++ = (uint8_t)(e >> 16);
                e = lengths[low_bits(buffer, LENGTH_BITS)];
                if (e & ENTRY_LITERAL) {
                    buffer >>= e & 0xff;
                    count -= e & 0xff;
                    *out++ = (uint8_t)(e >> 16);
                    continue;
                }
            }
            buffer |= h5vcat_deflate_load64(in) << count;
            in += (63 - count) >> 3;
            count |= 56;
        }
        uint64_t saved = buffer;
        unsigned saved_count = count;
        if (e & ENTRY_SUBTABLE) {
            buffer >>= LENGTH_BITS;
            count -= LENGTH_BITS;
            e = lengths[(e >> 16) + low_bits(buffer, e >> 8 & 15)];
        }
        if (e & ENTRY_LITERAL) {
            buffer >>= e & 0xff;
            count -= e & 0xff;
            *out++ = (uint8_t)(e >> 16);
            continue;
        }
        uint32_t d = ENTRY_INVALID;
        size_t length = 0, distance = SIZE_MAX;
        if (!(e & ENTRY_SPECIAL)) {
            length = (e >> 16) + (low_bits(buffer, e & 0xff) >> (e >> 8 & 15));
            buffer >>= e & 0xff;
            count -= e & 0xff;
            d = distances[low_bits(buffer, DISTANCE_BITS)];
            if (d & ENTRY_SUBTABLE) {
                buffer >>= DISTANCE_BITS;
                count -= DISTANCE_BITS;
                d = distances[(d >> 16) + low_bits(buffer, d >> 8 & 15)];
            }
            distance = (d >> 16) + (low_bits(buffer, d & 0xff) >> (d >> 8 & 15));
            buffer >>= d & 0xff;
            count -= d & 0xff;
        }
        if (d & ENTRY_SPECIAL ||
            distance > (size_t)(out - s->raw)) { /* or the block's end: not this loop's */
            buffer = saved;
            count = saved_count;
            break;
        }
        copy_match(out, length, distance);
        out += length;
    }
    s->in = in - count / 8;
    s->count = count % 8;
    s->buffer = low_bits(buffer, s->count);
    s->out = out;
}

/* The entry of the next code, its bits taken but for the extra ones. */
static enum deflate_result look_up(struct deflate_scanner *s, const uint32_t *table, unsigned index_bits,
                                   uint32_t *e)
{
    *e = table[low_bits(s->buffer, index_bits)];
    if (*e & ENTRY_SUBTABLE) {
        if (s->count < index_bits)
            return DEFLATE_CUT_OFF;
        drop(s, index_bits);
        *e = table[(*e >> 16) + low_bits(s->buffer, *e >> 8 & 15)];
    }
    if ((*e & 0xff) > s->count)
        return DEFLATE_CUT_OFF;
    return *e & ENTRY_INVALID ? DEFLATE_DAMAGED : DEFLATE_OK;
}

/* The value that an entry and the extra bits behind its code make. */
static size_t value_of(struct deflate_scanner *s, uint32_t e)
{
    size_t v = (e >> 16) + (size_t)(low_bits(s->buffer, e & 0xff) >> (e >> 8 & 15));
    drop(s, e & 0xff);
    return v;
}

/* One symbol, with every check. */
static enum deflate_result one_symbol(struct deflate_scanner *s)
{
    uint32_t e, d;
    refill(s);
    enum deflate_result result = look_up(s, s->lengths, LENGTH_BITS, &e);
    if (result)
        return result;
    size_t value = value_of(s, e);
    if (e & ENTRY_END) {
        s->in_block = false;
        return DEFLATE_OK;
    }
    if (e & ENTRY_LITERAL) {
        if (s->out == s->out_end)
            return DEFLATE_LONG;
        *s->out++ = (uint8_t)value;
        return DEFLATE_OK;
    }
    refill(s);
    result = look_up(s, s->distances, DISTANCE_BITS, &d);
    if (result)
        return result;
    size_t distance = value_of(s, d);
    if (distance > (size_t)(s->out - s->raw))
        return DEFLATE_DAMAGED;
    for (; value > 0; value--, s->out++) {
        if (s->out == s->out_end)
            return DEFLATE_LONG;
        *s->out = *(s->out - distance);
    }
    return DEFLATE_OK;
}

static struct deflate_border here(const struct deflate_scanner *s)
{
    struct deflate_border b = s->in_block ? s->block : (struct deflate_border){0};
    b.bit = position(s);
    b.raw = (size_t)(s->out - s->raw);
    return b;
}

static enum deflate_result stored_bytes(struct deflate_scanner *s, const uint8_t *stop)
{
    size_t n = s->block.left;
    if (n > (size_t)(stop - s->out))
        n = (size_t)(stop - s->out);
    if (n > (size_t)(s->in_end - s->in))
        n = (size_t)(s->in_end - s->in);
    memcpy(s->out, s->in, n);
    s->out += n;
    s->in += n;
    s->block.left -= (uint32_t)n;
    if (s->block.left == 0)
        s->in_block = false;
    else if (s->out == s->out_end)
        return DEFLATE_LONG;
    else if (s->out < stop)
        return DEFLATE_CUT_OFF;
    return DEFLATE_OK;
}

/* Go on to the first border with at least so many bytes inflated, or (to_end) to the end of the stream. */
static enum deflate_result run_to(struct deflate_scanner *s, size_t raw, bool to_end)
{
    const uint8_t *stop = s->raw + raw;
    enum deflate_result result = DEFLATE_OK;
    s->before = here(s);
    while (!result && (to_end ? s->in_block || !s->final : s->out < stop)) {
        if (!s->in_block && s->final)
            return DEFLATE_SHORT;
        if (!s->in_block) {
            result = block_header(s);
        } else if (s->block.type == 0) {
            result = stored_bytes(s, stop);
        } else {
            fast_symbols(s, stop);
            result = one_symbol(s);
        }
        if (!result && s->out <= stop)
            s->before = here(s);
    }
    return result;
}

/* ---- Streams ----------------------------------------------------------------------------------------- */

static enum deflate_result stream_header(struct deflate_scanner *s)
{
    if (s->in_end - s->in < 2)
        return DEFLATE_CUT_OFF;
    unsigned method = s->in[0], flags = s->in[1];
    s->in += 2;
    if ((method << 8 | flags) % 31 || (method & 15) != 8 || method >> 4 > 7)
        return DEFLATE_DAMAGED;
    return flags & 0x20 ? DEFLATE_DICTIONARY : DEFLATE_OK;
}

static enum deflate_result stream_trailer(struct deflate_scanner *s, size_t raw_size,
                                          struct deflate_scan *scan)
{
    s->in -= s->count / 8;
    if (s->in_end - s->in < 4)
        return DEFLATE_CUT_OFF;
    uint32_t sum = (uint32_t)s->in[0] << 24 | (uint32_t)s->in[1] << 16 | (uint32_t)s->in[2] << 8 | s->in[3];
    size_t n = (size_t)(s->out - s->raw);
    scan->adler = libdeflate_adler32(1, s->raw, n);
    scan->used = (size_t)(s->in - s->first) + 4;
    if (sum != scan->adler)
        return DEFLATE_CHECKSUM;
    return n < raw_size ? DEFLATE_SHORT : DEFLATE_OK;
}

enum deflate_result h5vcat_deflate_scan(struct deflate_scanner *s, const void *stream, size_t size, void *raw,
                                        size_t raw_size, size_t begin_raw, size_t end_raw,
                                        struct deflate_scan *scan)
{
    s->first = s->in = stream;
    s->in_end = s->first + size;
    s->raw = s->out = raw;
    s->out_end = s->raw + raw_size;
    s->buffer = s->count = 0;
    s->block = s->before = (struct deflate_border){0};
    s->in_block = s->final = false;
    *scan = (struct deflate_scan){.stored = DEFLATE_NEVER};
    s->stored = DEFLATE_NEVER;
    enum deflate_result result = stream_header(s);
    if (!result)
        result = run_to(s, begin_raw, false);
    scan->begin = here(s);
    s->stored = DEFLATE_NEVER;
    if (!result && end_raw < raw_size && end_raw > scan->begin.raw) {
        result = run_to(s, end_raw, false);
        scan->end = s->before;
        scan->last = scan->end.header;
    }
    if (!result)
        result = run_to(s, raw_size, true);
    if (end_raw == raw_size) {
        scan->end = here(s);
        scan->last = s->block.header;
    } else if (scan->end.raw < scan->begin.raw) {
        scan->end = scan->begin;
    }
    scan->stored = s->stored;
    return result ? result : stream_trailer(s, raw_size, scan);
}

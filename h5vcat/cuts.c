/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A border between ranks falls on some byte of a text. The record that it falls into, and one that begins
 * just there, belong to the rank before; the other one begins behind the first end of a record in its share.
 * The rest of the record reaches the rank before as a message, or that rank reads on.
 *
 * In CSV a newline does not end a record if it is inside quotes, which is so if an odd number of quotes is
 * before it: ranks that share a CSV count those of their shares first, and add up what is before them. They
 * count from the last block to the first, which is then at hand for what follows. A quote too many or too few
 * makes all later records begin elsewhere. Where that is an error, the first rank to meet it says so, and
 * what the others read does not matter. Where malformed records are left out, the ranks look first whether
 * quotes divide every record that they would read; if not, the first rank reads the whole text.
 */
#include "cuts.h"
#include <stdlib.h>
#include <string.h>
#include "agree.h"
#include "blocks.h"
#include "error.h"
#include "h5vec_format.h"
#include "pass.h"

#define STEP 65536 /* bytes that are read at once behind a share */

/* What the ranks behind must know of a rank's last part. */
struct count {
    uint32_t input; /* NOBODY: the part goes to the end of its input */
    uint32_t odd;   /* 1: an odd number of quotes */
    uint64_t lines;
};

/* The parts of this rank that begin, or end, inside a text; NULL: there is none. Both may be the same. */
struct ends {
    struct part *first, *last;
};

static struct ends find_ends(struct merge *m)
{
    const struct inputs *in = &m->inputs;
    struct ends e = {NULL, NULL};
    if (in->part_count == 0)
        return e;
    struct part *first = in->parts, *last = in->parts + in->part_count - 1;
    if (part_is_cut(in, first) && first->lo > 0)
        e.first = first;
    if (part_is_cut(in, last) && last->hi < WHOLE)
        e.last = last;
    return e;
}

static enum h5vec_status about(const struct merge *m, const struct part *p, enum h5vec_status st,
                               struct h5vec_error *err)
{
    return h5vcat_about(err, st, m->inputs.names[p->input], NULL);
}

/* Bytes that are enough to say that a record is too long. */
static size_t most(const struct merge *m)
{
    return (size_t)(m->options->buffer_size / 8) + 3;
}

/* ---- Counting ------------------------------------------------------------------------------------------ */

static enum h5vec_status count_blocks(struct merge *m, const struct part *p, uint64_t blocks, struct count *c,
                                      struct h5vec_error *err)
{
    uint64_t lo = cut_byte(&m->inputs, p->input, p->lo), hi = cut_byte(&m->inputs, p->input, p->hi);
    uint64_t quotes = 0, size = h5vcat_blocks_size(m->blocks, p->input);
    enum h5vec_status st = H5VEC_OK;
    for (uint64_t k = blocks; k-- > 0 && !st;) {
        const char *bytes = NULL;
        size_t n = 0;
        st = h5vcat_blocks_get(m->blocks, p->input, lo, lo + k * size, hi, &bytes, &n, err);
        if (!st) {
            quotes += h5vec_format_count_in(bytes, n, '"');
            c->lines += h5vec_format_count_in(bytes, n, '\n');
        }
    }
    c->odd = quotes & 1;
    return about(m, p, st, err);
}

/* Whether a cut lies inside quotes, and on which line. */
static enum h5vec_status add_up(struct merge *m, struct ends e, struct h5vec_error *err)
{
    struct count mine = {.input = e.last ? e.last->input : NOBODY};
    uint64_t blocks = 0;
    if (e.last && !e.last->alone && (e.last->quotes || m->options->on_bad != H5VCAT_BAD_STOP)) {
        uint64_t lo = cut_byte(&m->inputs, e.last->input, e.last->lo);
        blocks = h5vcat_blocks_count(m->blocks, e.last->input, lo, lo,
                                     cut_byte(&m->inputs, e.last->input, e.last->hi));
    }
    struct count *all = malloc((size_t)m->ranks * sizeof *all);
    enum h5vec_status st = all ? H5VEC_OK : h5vcat_no_memory(err);
    h5vcat_blocks_rounds(m->blocks, blocks);
    if (!st && blocks > 0)
        st = count_blocks(m, e.last, blocks, &mine, err);
    h5vcat_blocks_finish(m->blocks);
    st = h5vcat_agree(m->comm, st, err);
    if (!st) {
        MPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, m->comm);
        for (int r = 0; r < m->rank && e.first; r++)
            if (all[r].input == e.first->input) {
                e.first->lo_inside = e.first->lo_inside != (all[r].odd != 0);
                e.first->lines += all[r].lines;
            }
        if (e.last)
            e.last->hi_inside = e.last->lo_inside != (mine.odd != 0);
    }
    free(all);
    return st;
}

/* ---- Torn records -------------------------------------------------------------------------------------- */

/* A search for the end of the record that a place lies in. */
struct search {
    const struct part *part;
    uint64_t origin, at, end; /* bytes [at, end) are looked at */
    uint64_t step;            /* so many at a time */
    bool wanted;              /* false: not, or not any more */
    bool inside, found;
    uint64_t lines;    /* newlines before it */
    struct torn *torn; /* gets the bytes before it; NULL: nobody does */
};

static enum h5vec_status look_on(struct merge *m, struct search *s, struct h5vec_error *err)
{
    const char *bytes;
    size_t size;
    uint64_t stop = s->end - s->at < s->step ? s->end : s->at + s->step;
    enum h5vec_status st =
        h5vcat_blocks_get(m->blocks, s->part->input, s->origin, s->at, stop, &bytes, &size, err);
    if (st)
        return about(m, s->part, st, err);
    size_t end = h5vec_format_record_end(bytes, size, s->part->quotes, &s->inside);
    size = end ? end : size;
    s->found = end > 0;
    s->lines += m->options->on_bad == H5VCAT_BAD_STOP ? 0 : h5vec_format_count_in(bytes, size, '\n');
    s->at += size;
    s->wanted = !s->found && s->at < s->end && s->at - s->origin < most(m);
    return s->torn ? h5vcat_pass_append(s->torn, bytes, size, err) : H5VEC_OK;
}

/* Collective over the group that reads together: ranks that have found it wait for those that have not. */
static enum h5vec_status search(struct merge *m, struct search *s, struct h5vec_error *err)
{
    enum h5vec_status st = H5VEC_OK;
    s->wanted = s->wanted && s->at < s->end;
    while (h5vcat_blocks_rounds(m->blocks, s->wanted) > 0) {
        if (s->wanted)
            st = look_on(m, s, err);
        s->wanted = s->wanted && !st;
        h5vcat_blocks_finish(m->blocks);
    }
    return st;
}

/* Where this rank's records begin. What is before is torn's, unless it is NULL. */
static enum h5vec_status find_begin(struct merge *m, struct part *p, struct torn *torn,
                                    struct h5vec_error *err)
{
    struct search s = {.part = p, .step = UINT64_MAX, .torn = torn};
    if (p) {
        s.wanted = !p->alone;
        s.inside = p->lo_inside;
        s.origin = s.at = cut_byte(&m->inputs, p->input, p->lo);
        s.end = cut_byte(&m->inputs, p->input, p->hi);
    }
    enum h5vec_status st = search(m, &s, err);
    if (st || !p)
        return st;
    p->begin = s.found ? s.at : s.end;
    p->lines += s.lines;
    if (torn)
        torn->open = !s.found && p->hi < WHOLE;
    if (!s.found) { /* its records are all of the rank before: so is the tail */
        free(p->tail);
        p->tail = NULL;
        p->tail_size = 0;
    }
    return H5VEC_OK;
}

/* --split=overlap: read on behind a share, to the end of its last record. */
static enum h5vec_status read_on(struct merge *m, struct part *p, struct h5vec_error *err)
{
    struct torn torn = {.most = most(m)};
    struct search s = {.part = p, .step = STEP, .torn = &torn};
    if (p) {
        s.wanted = !p->alone;
        s.inside = p->hi_inside;
        s.origin = s.at = cut_byte(&m->inputs, p->input, p->hi);
        s.end = m->inputs.sizes[p->input];
    }
    enum h5vec_status st = search(m, &s, err);
    if (!st && p) {
        p->tail = torn.piece;
        p->tail_size = torn.size;
        torn.piece = NULL;
    }
    h5vcat_pass_free(&torn);
    return st;
}

/* The begin of the first part and the tail of the last one. */
static enum h5vec_status mend(struct merge *m, struct ends e, struct h5vec_error *err)
{
    bool message = m->options->split == H5VCAT_SPLIT_MESSAGE;
    struct torn torn = {.gives = e.first != NULL, .takes = e.last != NULL, .most = most(m)};
    enum h5vec_status st = message ? H5VEC_OK : read_on(m, e.last, err);
    if (!st || !message) { /* the others of a group wait */
        struct h5vec_error second;
        enum h5vec_status begin = find_begin(m, e.first, message ? &torn : NULL, st ? &second : err);
        st = st ? st : begin;
    }
    st = h5vcat_agree(m->comm, st, err);
    if (!st && message) {
        st = h5vcat_pass_torn(m->comm, &torn, H5VCAT_PASS_LIMIT, err);
        if (!st && e.last) {
            e.last->tail = torn.tail;
            e.last->tail_size = torn.tail_size;
            torn.tail = NULL;
        }
    }
    h5vcat_pass_free(&torn);
    return st;
}

/* ---- Whether parts can be read --------------------------------------------------------------------------
 */

/* Blocks of this rank's part of the text that it reads with others. */
static uint64_t blocks_to_read(const struct merge *m)
{
    const struct inputs *in = &m->inputs;
    for (int i = 0; i < in->part_count; i++) {
        const struct part *p = &in->parts[i];
        if (!part_is_cut(in, p))
            continue;
        uint64_t lo = cut_byte(in, p->input, p->lo), hi = cut_byte(in, p->input, p->hi);
        return p->alone ? 0 : h5vcat_blocks_count(m->blocks, p->input, lo, p->begin > lo ? p->begin : lo, hi);
    }
    return 0;
}

/* Where malformed records are no error: texts with a record that quotes do not divide are read by one rank.
 */
static enum h5vec_status find_indivisible(struct merge *m, struct h5vec_error *err)
{
    struct inputs *in = &m->inputs;
    uint32_t mine[2] = {NOBODY, NOBODY}, *all = malloc(2 * (size_t)m->ranks * sizeof *all);
    enum h5vec_status st = all ? H5VEC_OK : h5vcat_no_memory(err);
    h5vcat_blocks_rounds(m->blocks, blocks_to_read(m));
    for (int i = 0; i < in->part_count && !st; i++) {
        struct part *p = &in->parts[i];
        bool divisible = true;
        if (part_is_cut(in, p) && p->quotes && !p->alone)
            st = h5vcat_text_divisible(m, p, &divisible, err);
        if (!divisible)
            mine[i > 0] = p->input;
    }
    h5vcat_blocks_finish(m->blocks);
    st = h5vcat_agree(m->comm, st, err);
    if (!st)
        MPI_Allgather(mine, 2, MPI_UINT32_T, all, 2, MPI_UINT32_T, m->comm);
    for (int r = 0; r < 2 * m->ranks && !st; r++)
        for (int i = 0; i < in->part_count; i++)
            if (all[r] == in->parts[i].input)
                in->parts[i].alone = true;
    free(all);
    return st;
}

enum h5vec_status h5vcat_cuts_find(struct merge *m, struct h5vec_error *err)
{
    struct ends e = find_ends(m);
    struct part *const ends[] = {e.first, e.last};
    enum h5vec_status st = h5vcat_blocks_new(&m->inputs, m->options, m->ranks, &m->blocks, err);
    st = h5vcat_agree(m->comm, st, err);
    if (st)
        return st;
    st = h5vcat_blocks_share(m->blocks, m->comm, err);
    for (int i = 0; i < 2 && !st; i++)
        st = ends[i] ? h5vcat_text_look(m, ends[i], err) : H5VEC_OK;
    st = h5vcat_agree(m->comm, st, err);
    if (!st)
        st = add_up(m, e, err);
    if (!st)
        st = mend(m, e, err);
    if (!st && m->options->on_bad != H5VCAT_BAD_STOP)
        st = find_indivisible(m, err);
    if (!st)
        h5vcat_blocks_rounds(m->blocks, blocks_to_read(m));
    return st;
}

/* ---- Reading a part --------------------------------------------------------------------------------------
 */

void h5vcat_share_open(const struct merge *m, const struct part *p, uint64_t data, struct share *share)
{
    uint64_t end = cut_byte(&m->inputs, p->input, p->hi), at = p->begin > data ? p->begin : data;
    uint64_t over = at > end ? at - end : 0;
    *share = (struct share){.blocks = m->blocks,
                            .part = p,
                            .origin = cut_byte(&m->inputs, p->input, p->lo),
                            .at = at < end ? at : end,
                            .end = end,
                            .tail_at = over < p->tail_size ? (size_t)over : p->tail_size};
}

enum h5vec_status h5vcat_share_read(void *context, void *buffer, size_t size, size_t *got,
                                    struct h5vec_error *err)
{
    struct share *s = context;
    const char *bytes;
    if (s->at < s->end) {
        size_t n = 0;
        enum h5vec_status st =
            h5vcat_blocks_get(s->blocks, s->part->input, s->origin, s->at, s->end, &bytes, &n, err);
        if (st)
            return st;
        *got = n < size ? n : size;
        memcpy(buffer, bytes, *got);
        s->at += *got;
        return H5VEC_OK;
    }
    size_t left = s->part->tail_size - s->tail_at;
    *got = left < size ? left : size;
    if (*got > 0)
        memcpy(buffer, s->part->tail + s->tail_at, *got);
    s->tail_at += *got;
    return H5VEC_OK;
}

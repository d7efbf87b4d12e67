/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owners and rounds.
 *
 * A chunk that a rank border cuts goes to the contributor with the fewest bytes so far. Where the dataset has
 * no more chunks than ranks it goes to the rank with the fewest bytes of all, so that many small datasets are
 * dealt out evenly. Rounds are formed by simulating every rank's buffers: the outcome is the same everywhere.
 *
 * A piece (one rank's rows of one chunk) is a run of the chunk's bytes: it is received where it belongs.
 * Pieces between two ranks arrive in the order of the batch. A piece without stored data is a message of no
 * bytes.
 */
#include "error.h"
#include "exchange.h"
#include <stdlib.h>
#include <string.h>
#include "agree.h"

/* Creating a dataset takes rank 0 about as long as encoding so many bytes (tuning/README.md). */
#define CREATE_BYTES 4096
#define CREATE_BYTES_ZLIB 512
#define RUN_LEAST 64    /* bytes that a run saves, more than it costs to join it */
#define MIN_PIECES 2048 /* a rank may send or receive in a round */

/* A message that is being received. */
struct arrival {
    int chunk; /* in own */
    int span;
    struct box piece;
    uint64_t bytes;
};

struct exchange {
    struct merge *m;
    int max_pieces;     /* a rank sends or receives in a round: at least one chunk of all ranks */
    struct shared *own; /* max_pieces */
    int own_count;
    MPI_Request *requests; /* max_pieces receives, then max_pieces sends */
    MPI_Status *statuses;
    struct arrival *arrivals;
    struct span *spans; /* of the chunks in own; max_pieces */
    int span_count;
    char *work; /* of the round: where runs are made */
    struct join *join;
    int receives, sends;
    uint64_t *load; /* of each rank: bytes of chunks it encodes in this page */
    uint64_t *held; /* of each rank in this round: bytes being put together */
    uint64_t *sent; /* of each rank in this round: bytes of pieces on their way */
    int *pieces;    /* of each rank in this round */
    char *outgoing; /* where pieces are read that are not in memory: budget.rows bytes */
    uint64_t outgoing_size;
    /* The next shared chunk: tile of slab of entry; the slab is cut by the border before rank. */
    struct page *page;
    int entry, border;
    uint64_t slab, tile;
    bool done;
};

/* ---- Which chunks are shared --------------------------------------------------------------------------- */

void h5vcat_exchange_own_slabs(const struct merge *m, const struct page_item *p, int rank, uint64_t *first,
                               uint64_t *end)
{
    uint64_t begin = p->base[rank], stop = p->base[rank + 1], c = p->storage.chunk[0],
             total = p->base[m->ranks];
    *first = (begin + c - 1) / c;
    *end = stop == total ? (total + c - 1) / c : stop / c;
    if (begin == stop || *end < *first)
        *end = *first;
}

static bool is_compact(const struct page_item *p)
{
    return p->storage.layout == H5D_COMPACT;
}

/* Go on to the next slab that a rank border cuts, from border x->border of x->entry on. */
static void find_slab(struct exchange *x)
{
    for (; x->entry < x->page->count; x->entry++, x->border = 1) {
        const struct page_item *p = &x->page->items[x->entry];
        uint64_t c = p->storage.chunk[0], total = p->base[x->m->ranks];
        if (is_compact(p) && x->border == 1)
            return; /* rank 0 writes it, whoever has it */
        for (; p->storage.layout == H5D_CHUNKED && x->border < x->m->ranks; x->border++) {
            uint64_t at = p->base[x->border];
            bool seen = x->border > 1 && p->base[x->border - 1] % c && p->base[x->border - 1] / c == at / c;
            if (at % c == 0 || at == total || seen)
                continue;
            x->slab = at / c;
            return;
        }
    }
    x->done = true;
}

static void next_chunk(struct exchange *x)
{
    hsize_t grid[H5S_MAX_RANK];
    const struct page_item *p = &x->page->items[x->entry];
    if (++x->tile < h5vcat_page_grid(x->m, p, grid))
        return;
    x->tile = 0;
    x->slab = 0;
    x->border += is_compact(p) ? x->m->ranks : 1;
    find_slab(x);
}

/* ---- Owners ------------------------------------------------------------------------------------------- */

/* The ranks [*first, *end) with rows of [begin, stop). */
static void contributors(const struct merge *m, const struct page_item *p, uint64_t begin, uint64_t stop,
                         int *first, int *end)
{
    int lo = 0, hi = m->ranks; /* the last rank whose base is <= begin */
    while (hi - lo > 1) {
        int mid = lo + (hi - lo) / 2;
        if (p->base[mid] <= begin)
            lo = mid;
        else
            hi = mid;
    }
    *first = lo;
    while (lo < m->ranks && p->base[lo] < stop)
        lo++;
    *end = lo;
}

static int choose_owner(const struct exchange *x, const struct page_item *p, int first, int end)
{
    const struct merge *m = x->m;
    if (is_compact(p))
        return 0;
    uint64_t slabs = (p->base[m->ranks] + p->storage.chunk[0] - 1) / p->storage.chunk[0];
    bool deal = slabs <= (uint64_t)m->ranks;
    int best = -1, n = deal ? m->ranks : end - first, from = deal ? 0 : first;
    /* Among equals not always the first: every second dataset may take twice as long to encode. */
    uint32_t turn = deal ? (uint32_t)p->item * 2654435769u >> 16 : 0; /* 2^32 / golden ratio */
    for (int k = 0; k < n; k++) {
        int r = from + (int)((turn + (uint32_t)k) % (uint32_t)n);
        bool has_rows = p->base[r] < p->base[r + 1];
        if ((deal || has_rows) && (best < 0 || x->load[r] < x->load[best]))
            best = r;
    }
    return best;
}

void h5vcat_exchange_begin(struct exchange *x, struct page *page)
{
    struct merge *m = x->m;
    x->page = page;
    x->entry = 0;
    x->border = 1;
    x->slab = x->tile = 0;
    x->done = false;
    uint64_t create = m->options->encoder == H5VCAT_ENCODER_ZLIB ? CREATE_BYTES_ZLIB : CREATE_BYTES;
    for (int r = 0; r < m->ranks; r++) {
        x->load[r] = r == 0 ? (uint64_t)page->count * create : 0;
        for (int i = 0; i < page->count; i++) {
            const struct page_item *p = &page->items[i];
            uint64_t first = 0, end = 0;
            if (p->storage.layout == H5D_CHUNKED)
                h5vcat_exchange_own_slabs(m, p, r, &first, &end);
            x->load[r] += (end - first) * p->storage.chunk[0] * m->schema->items[p->item].row_bytes;
        }
    }
    find_slab(x);
}

bool h5vcat_exchange_left(const struct exchange *x)
{
    return !x->done;
}

/* ---- A round ------------------------------------------------------------------------------------------ */

/* A chunk of the batch, as every rank sees it. */
struct plan {
    int owner, first, end; /* ranks */
    struct box chunk;
    uint64_t bytes, row_bytes; /* of the chunk, of one of its rows */
};

static void describe(const struct exchange *x, struct plan *c)
{
    const struct merge *m = x->m;
    const struct page_item *p = &x->page->items[x->entry];
    h5vcat_page_chunk(m, p, x->slab, x->tile, &c->chunk);
    uint64_t begin = c->chunk.start[0], stop = begin + c->chunk.count[0], total = p->base[m->ranks];
    contributors(m, p, begin, stop < total ? stop : total, &c->first, &c->end);
    c->bytes = h5vcat_box_volume(&c->chunk) * m->schema->items[p->item].element;
    c->row_bytes = c->bytes / c->chunk.count[0];
    c->owner = choose_owner(x, p, c->first, c->end);
}

/* Bytes of rank r's piece. */
static uint64_t piece_bytes(const struct exchange *x, const struct plan *c, int r)
{
    const struct page_item *p = &x->page->items[x->entry];
    uint64_t begin = c->chunk.start[0], stop = begin + c->chunk.count[0];
    uint64_t lo = p->base[r] > begin ? p->base[r] : begin, hi = p->base[r + 1] < stop ? p->base[r + 1] : stop;
    return lo < hi ? (hi - lo) * c->row_bytes : 0;
}

/* Whether the chunk fits all ranks' buffers in this round; takes the room if so. */
static bool take_room(struct exchange *x, const struct plan *c)
{
    const struct merge *m = x->m;
    uint64_t bound = c->bytes + c->bytes / 512 + 4096; /* of h5vcat_coder_bound */
    bool fits = x->held[c->owner] + bound <= m->budget.assembly &&
                x->held[c->owner] + bound <= m->budget.encoded &&
                x->pieces[c->owner] + (c->end - c->first) < x->max_pieces;
    for (int r = c->first; r < c->end && fits; r++)
        fits = x->sent[r] + piece_bytes(x, c, r) <= m->budget.rows && x->pieces[r] + 1 < x->max_pieces;
    if (!fits)
        return false;
    x->held[c->owner] += bound;
    x->pieces[c->owner] += c->end - c->first;
    x->load[c->owner] += c->bytes;
    for (int r = c->first; r < c->end; r++) {
        x->sent[r] += r == c->owner ? 0 : piece_bytes(x, c, r);
        x->pieces[r]++;
    }
    return true;
}

/* This rank's rows of a chunk into the array that covers rows (the piece with the chunk's full width). Where
 * they can be joined, they become a run: then *run is its bytes, else 0. */
static enum h5vec_status read_piece(struct exchange *x, const struct box *piece, char *array,
                                    const struct box *rows, bool *missing, uint64_t *run,
                                    struct h5vec_error *err)
{
    struct page_item *p = &x->page->items[x->entry];
    struct merge *m = x->m;
    size_t element = m->schema->items[p->item].element, size = 0;
    uint64_t bytes = h5vcat_box_volume(rows) * element;
    uint32_t adler = 0;
    *run = 0;
    bool joins = p->joins == PLAN_JOINS && bytes > RUN_LEAST;
    if (joins) {
        h5vcat_box_fill_outside(piece, element, p->fill, array, rows);
        h5vcat_join_begin_run(x->join, &p->storage.pipeline, m->options->encoder, array,
                              x->work + sizeof adler, (size_t)bytes - RUN_LEAST);
        p->join = x->join;
    }
    enum h5vec_status st = h5vcat_page_box(m, p, piece, array, rows, missing, err);
    p->join = NULL;
    if (st)
        return st;
    h5vcat_page_done(m, p, piece, array, rows);
    if (joins && !*missing)
        st = h5vcat_join_finish_run(x->join, bytes, &size, &adler, err);
    if (st || size == 0)
        return st;
    memcpy(x->work, &adler, sizeof adler);
    *run = size + sizeof adler;
    memcpy(array, x->work, *run);
    h5vcat_merge_joined(m, x->join);
    return H5VEC_OK;
}

/* The piece's rows with the chunk's full width: what is sent. */
static void widen(const struct plan *c, struct box *piece)
{
    for (int d = 1; d < piece->rank; d++) {
        piece->start[d] = c->chunk.start[d];
        piece->count[d] = c->chunk.count[d];
    }
}

static enum h5vec_status send_piece(struct exchange *x, const struct plan *c, bool failed,
                                    struct h5vec_error *err)
{
    struct merge *m = x->m;
    const struct page_item *p = &x->page->items[x->entry];
    struct box piece, rows;
    uint64_t bytes = piece_bytes(x, c, m->rank);
    enum h5vec_status st = H5VEC_OK;
    bool missing = true;
    if (bytes == 0 || !h5vcat_page_piece(m, p, &c->chunk, p->base[m->rank], p->base[m->rank + 1], &piece))
        return H5VEC_OK;
    rows = piece;
    widen(c, &rows);
    char *array = x->outgoing + x->outgoing_size;
    uint64_t run = 0;
    if (!failed)
        st = read_piece(x, &piece, array, &rows, &missing, &run, err);
    x->outgoing_size += bytes;
    MPI_Isend(array, st || missing ? 0 : (int)(run ? run : bytes), MPI_BYTE, c->owner, 0, m->comm,
              &x->requests[x->max_pieces + x->sends++]);
    return st;
}

static enum h5vec_status own_chunk(struct exchange *x, const struct plan *c, char *array, bool failed,
                                   struct h5vec_error *err)
{
    struct merge *m = x->m;
    const struct page_item *p = &x->page->items[x->entry];
    struct shared *u = &x->own[x->own_count++];
    enum h5vec_status st = H5VEC_OK;
    *u = (struct shared){.entry = x->entry,
                         .slab = x->slab,
                         .tile = x->tile,
                         .chunk = c->chunk,
                         .array = array,
                         .first_span = x->span_count,
                         .missing = true};
    for (int r = c->first; r < c->end; r++) {
        struct box piece;
        if (!h5vcat_page_piece(m, p, &c->chunk, p->base[r], p->base[r + 1], &piece))
            continue;
        struct box rows = piece;
        uint64_t bytes = piece_bytes(x, c, r), at = (piece.start[0] - c->chunk.start[0]) * c->row_bytes;
        struct span *span = &x->spans[x->span_count++];
        *span = (struct span){.at = at, .bytes = bytes};
        u->spans++;
        widen(c, &rows);
        if (r == m->rank) {
            bool missing = true;
            if (!failed)
                st = read_piece(x, &piece, array + at, &rows, &missing, &span->run, err);
            u->missing = u->missing && missing;
            u->joined = u->joined || span->run;
            continue;
        }
        x->arrivals[x->receives] = (struct arrival){x->own_count - 1, x->span_count - 1, rows, bytes};
        MPI_Irecv(array + at, (int)bytes, MPI_BYTE, r, 0, m->comm, &x->requests[x->receives++]);
    }
    return st;
}

/* Wait for all pieces; those that came without bytes are the fill value. */
static void wait_all(struct exchange *x)
{
    const struct merge *m = x->m;
    MPI_Waitall(x->receives, x->requests, x->statuses);
    MPI_Waitall(x->sends, x->requests + x->max_pieces, x->statuses + x->max_pieces);
    for (int i = 0; i < x->receives; i++) {
        const struct arrival *a = &x->arrivals[i];
        struct shared *u = &x->own[a->chunk];
        const struct page_item *p = &x->page->items[u->entry];
        size_t element = m->schema->items[p->item].element;
        int got = 0;
        MPI_Get_count(&x->statuses[i], MPI_BYTE, &got);
        if (got > 0)
            u->missing = false;
        if (got > 0 && (uint64_t)got < a->bytes) {
            x->spans[a->span].run = (uint64_t)got;
            u->joined = true;
        }
        if (got == 0)
            h5vcat_fill_elements(u->array +
                                     (a->piece.start[0] - u->chunk.start[0]) * (a->bytes / a->piece.count[0]),
                                 (size_t)(a->bytes / element), element, p->fill);
    }
}

enum h5vec_status h5vcat_exchange_round(struct exchange *x, char *assembly, char *work, struct join *join,
                                        struct h5vec_error *err)
{
    struct merge *m = x->m;
    enum h5vec_status st = H5VEC_OK;
    size_t ranks = (size_t)m->ranks;
    memset(x->held, 0, ranks * sizeof *x->held);
    memset(x->sent, 0, ranks * sizeof *x->sent);
    memset(x->pieces, 0, ranks * sizeof *x->pieces);
    x->own_count = x->span_count = x->receives = x->sends = 0;
    x->work = work;
    x->join = join;
    x->outgoing_size = 0;
    while (!x->done) {
        struct plan c;
        enum h5vec_status mine = H5VEC_OK;
        struct h5vec_error *to = st ? NULL : err; /* the first error counts */
        uint64_t held = 0;
        describe(x, &c);
        held = x->held[c.owner];
        if (!take_room(x, &c))
            break;
        if (c.owner == m->rank)
            mine = own_chunk(x, &c, assembly + held, st != H5VEC_OK, to);
        else if (m->rank >= c.first && m->rank < c.end)
            mine = send_piece(x, &c, st != H5VEC_OK, to);
        if (!st)
            st = mine;
        next_chunk(x);
    }
    wait_all(x);
    return st;
}

int h5vcat_exchange_count(const struct exchange *x)
{
    return x->own_count;
}

const struct shared *h5vcat_exchange_chunk(const struct exchange *x, int i)
{
    return &x->own[i];
}

const struct span *h5vcat_exchange_spans(const struct exchange *x, const struct shared *u)
{
    return x->spans + u->first_span;
}

/* ---- New and free -------------------------------------------------------------------------------------- */

void h5vcat_exchange_free(struct exchange *x)
{
    if (!x)
        return;
    free(x->own);
    free(x->requests);
    free(x->statuses);
    free(x->arrivals);
    free(x->spans);
    free(x->load);
    free(x->held);
    free(x->sent);
    free(x->pieces);
    free(x->outgoing);
    free(x);
}

enum h5vec_status h5vcat_exchange_new(struct merge *m, struct exchange **out, struct h5vec_error *err)
{
    struct exchange *x = calloc(1, sizeof *x);
    size_t ranks = (size_t)m->ranks, pieces = ranks + 2 > MIN_PIECES / 2 ? 2 * (ranks + 2) : MIN_PIECES;
    if (!x)
        return h5vcat_no_memory(err);
    *x = (struct exchange){.m = m,
                           .max_pieces = (int)pieces,
                           .own = calloc(pieces, sizeof *x->own),
                           .requests = calloc(2 * pieces, sizeof *x->requests),
                           .statuses = calloc(2 * pieces, sizeof *x->statuses),
                           .arrivals = calloc(pieces, sizeof *x->arrivals),
                           .spans = calloc(pieces, sizeof *x->spans),
                           .load = calloc(ranks, sizeof *x->load),
                           .held = calloc(ranks, sizeof *x->held),
                           .sent = calloc(ranks, sizeof *x->sent),
                           .pieces = calloc(ranks, sizeof *x->pieces),
                           .outgoing = malloc(m->budget.rows),
                           .done = true};
    bool ok = x->own && x->requests && x->statuses && x->arrivals && x->spans && x->load && x->held &&
              x->sent && x->pieces && x->outgoing;
    if (!ok) {
        h5vcat_exchange_free(x);
        return h5vcat_no_memory(err);
    }
    *out = x;
    return H5VEC_OK;
}

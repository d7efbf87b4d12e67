/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pages: which items belong together, and reading their rows whatever the source: a dataset of an HDF5 input,
 * the spool of a text, or rows that are made (validity of an input without nulls, the block index).
 */
#include "error.h"
#include "page.h"
#include <stdlib.h>
#include <string.h>
#include "agree.h"
#include "plan.h"
#include "reader.h"

#define MAX_ITEMS 4096
#define PART_BYTES                                                                                           \
    (8 + 8 + sizeof(struct rows) + sizeof(struct packed)) /* starts, delta, numbers, packed of a part */

/* ---- Which items -------------------------------------------------------------------------------------- */

static bool has_rows(const struct item *it)
{
    return it->kind == ITEM_ROWS && it->total > 0 && it->row_bytes > 0 && h5vcat_plan_wanted(it);
}

/* The end of the page that begins at first: the same on every rank. */
static int page_end(const struct merge *m, int first)
{
    uint64_t per_item =
        sizeof(struct page_item) + ((uint64_t)m->ranks + 1) * 8 + ((uint64_t)m->most_parts + 1) * PART_BYTES;
    uint64_t room = m->budget.page / per_item, bytes = 0;
    int count = 0, i = first;
    for (; i < m->schema->count && i - first < MAX_ITEMS * 16; i++) {
        const struct item *it = &m->schema->items[i];
        if (!has_rows(it))
            continue;
        uint64_t size = it->most * it->row_bytes;
        bool alone = size > m->budget.rows;
        bool full = bytes + size > m->budget.rows || count >= MAX_ITEMS || (uint64_t)count >= room;
        if (count > 0 && (alone || full))
            break;
        count++;
        bytes += size;
        if (alone)
            return i + 1;
    }
    return i;
}

/* ---- Numbers of the page ------------------------------------------------------------------------------ */

static enum h5vec_status set_parts(const struct merge *m, struct page_item *p, struct h5vec_error *err)
{
    const struct schema *s = m->schema;
    const struct item *it = &s->items[p->item];
    uint64_t row = it->base, byte = it->bytes_item >= 0 ? s->items[it->bytes_item].base : 0;
    for (int k = 0; k < m->inputs.part_count; k++) {
        struct rows bytes = {0};
        enum h5vec_status st = h5vcat_merge_numbers(m, k, p->item, 1, &p->numbers[k], err);
        if (!st && it->bytes_item >= 0)
            st = h5vcat_merge_numbers(m, k, it->bytes_item, 1, &bytes, err);
        if (st)
            return st;
        bool text = m->inputs.text[m->inputs.parts[k].input];
        p->starts[k] = row;
        p->delta[k] = (int64_t)(byte - (text ? 0 : bytes.start));
        row += p->numbers[k].count;
        byte += bytes.count;
    }
    p->starts[m->inputs.part_count] = row;
    return H5VEC_OK;
}

static enum h5vec_status set_fill(const struct merge *m, const struct item *it, struct page_item *p,
                                  struct h5vec_error *err)
{
    H5D_fill_value_t state;
    hid_t dcpl = h5vcat_schema_plist(m->schema, it->dcpl), type = h5vcat_blob_type(it->type);
    enum h5vec_status st = H5VEC_OK;
    if (dcpl < 0 || type < 0 || H5Pfill_value_defined(dcpl, &state) < 0) {
        st = h5vec_layer_error_hdf5(err, "%s: cannot decode its properties", it->path);
    } else if (state == H5D_FILL_VALUE_USER_DEFINED) {
        p->fill = calloc(1, it->element);
        if (!p->fill || H5Pget_fill_value(dcpl, type, p->fill) < 0)
            st = h5vec_layer_error_hdf5(err, "%s: cannot read the fill value", it->path);
    }
    return st;
}

static enum h5vec_status fill_page(const struct merge *m, struct page *page, struct h5vec_error *err)
{
    size_t ranks = (size_t)m->ranks + 1, parts = (size_t)m->inputs.part_count + 1;
    uint64_t *base = page->numbers, *starts = base + ranks * (size_t)page->count;
    int64_t *delta = (int64_t *)(starts + parts * (size_t)page->count);
    struct rows *numbers = (struct rows *)(delta + parts * (size_t)page->count);
    struct packed *packed = (struct packed *)(numbers + parts * (size_t)page->count);
    int k = 0;
    for (int i = page->first; i < page->end; i++) {
        const struct item *it = &m->schema->items[i];
        if (!has_rows(it))
            continue;
        struct page_item *p = &page->items[k];
        *p = (struct page_item){.item = i,
                                .base = base + (size_t)k * ranks,
                                .starts = starts + (size_t)k * parts,
                                .numbers = numbers + (size_t)k * parts,
                                .delta = delta + (size_t)k * parts,
                                .packed = packed + (size_t)k * parts,
                                .dset = H5I_INVALID_HID};
        k++;
        enum h5vec_status st = h5vcat_plan_storage(m, it, &p->storage, err);
        p->joins = h5vcat_plan_joins(m, it, &p->storage);
        if (!st)
            st = set_fill(m, it, p, err);
        if (!st)
            st = set_parts(m, p, err);
        if (st)
            return st;
    }
    return H5VEC_OK;
}

/* Every rank's first row of every item. */
static enum h5vec_status share_bases(const struct merge *m, struct page *page, struct h5vec_error *err)
{
    size_t n = (size_t)page->count, ranks = (size_t)m->ranks;
    uint64_t *mine = malloc((ranks + 1) * (n + 1) * sizeof *mine), *all = mine + n;
    enum h5vec_status st = h5vcat_agree(m->comm, mine ? H5VEC_OK : h5vcat_no_memory(err), err);
    if (!st) {
        for (size_t i = 0; i < n; i++)
            mine[i] = m->schema->items[page->items[i].item].base;
        MPI_Allgather(mine, (int)n, MPI_UINT64_T, all, (int)n, MPI_UINT64_T, m->comm);
        for (size_t i = 0; i < n; i++) {
            uint64_t *base = (uint64_t *)page->numbers + i * (ranks + 1);
            for (size_t r = 0; r < ranks; r++)
                base[r] = all[r * n + i];
            base[ranks] = m->schema->items[page->items[i].item].total;
        }
    }
    free(mine);
    return st;
}

enum h5vec_status h5vcat_page_next(const struct merge *m, int *cursor, struct page *page,
                                   struct h5vec_error *err)
{
    *page = (struct page){.first = *cursor, .end = page_end(m, *cursor)};
    *cursor = page->end;
    for (int i = page->first; i < page->end; i++)
        page->count += has_rows(&m->schema->items[i]);
    size_t per_item = ((size_t)m->ranks + 1) * 8 + ((size_t)m->inputs.part_count + 1) * PART_BYTES;
    page->items = calloc((size_t)page->count + 1, sizeof *page->items);
    page->numbers = calloc((size_t)page->count + 1, per_item);
    enum h5vec_status st = page->items && page->numbers ? fill_page(m, page, err) : h5vcat_no_memory(err);
    st = h5vcat_agree(m->comm, st, err);
    if (!st && page->count > 0)
        st = share_bases(m, page, err);
    if (st)
        h5vcat_page_free(page);
    return st;
}

void h5vcat_page_free(struct page *page)
{
    for (int i = 0; i < page->count && page->items; i++)
        free(page->items[i].fill);
    free(page->items);
    free(page->numbers);
    *page = (struct page){0};
}

/* ---- Reading rows ------------------------------------------------------------------------------------- */

/* The array covers whole rows, one after the other, from what's first row on? */
static bool whole_rows(const struct item *it, const struct box *what, const struct box *to_box)
{
    for (int d = 1; d < it->rank; d++)
        if (what->count[d] != it->dims[d] || to_box->count[d] != it->dims[d])
            return false;
    return true;
}

static char *row_address(const struct item *it, const struct box *what, void *to, const struct box *to_box)
{
    return (char *)to + (what->start[0] - to_box->start[0]) * it->row_bytes;
}

/* Rows from a spooled stream, whose row `row` is what's first. */
static enum h5vec_status read_stream(struct merge *m, const struct item *it, int stream, uint64_t row,
                                     const struct box *what, void *to, const struct box *to_box,
                                     struct h5vec_error *err)
{
    uint64_t at = row * it->row_bytes;
    size_t size = (size_t)(what->count[0] * it->row_bytes);
    if (whole_rows(it, what, to_box))
        return h5vcat_spool_read(m->spool, stream, at, row_address(it, what, to, to_box), size, err);
    struct box rows = *what;
    for (int d = 1; d < it->rank; d++) {
        rows.start[d] = 0;
        rows.count[d] = it->dims[d];
    }
    void *copy = malloc(size);
    enum h5vec_status st =
        copy ? h5vcat_spool_read(m->spool, stream, at, copy, size, err) : h5vcat_no_memory(err);
    if (!st)
        h5vcat_box_copy(what, it->element, copy, &rows, to, to_box);
    free(copy);
    return st;
}

static void add_to_offsets(const struct item *it, const struct box *what, void *to, const struct box *to_box,
                           int64_t delta)
{
    char *at = row_address(it, what, to, to_box);
    for (hsize_t i = 0; i < what->count[0]; i++) {
        int64_t v;
        memcpy(&v, at + 8 * i, 8);
        v += delta;
        memcpy(at + 8 * i, &v, 8);
    }
}

/* This rank's rows as a box. */
static void rank_box(const struct item *it, struct box *b)
{
    b->rank = it->rank;
    b->start[0] = it->base;
    b->count[0] = it->mine;
    for (int d = 1; d < it->rank; d++) {
        b->start[d] = 0;
        b->count[d] = it->dims[d];
    }
}

/* The rows of one part from its input; what in rows of the output. */
static enum h5vec_status read_source(struct merge *m, struct page_item *p, int k, const struct box *what,
                                     void *to, const struct box *to_box, bool *missing,
                                     struct h5vec_error *err)
{
    const struct item *it = &m->schema->items[p->item];
    const struct part *part = &m->inputs.parts[k];
    uint64_t row = what->start[0] - p->starts[k]; /* in the part */
    enum h5vec_status st;
    *missing = false;
    if (p->numbers[k].start == ROWS_VALID) {
        memset(row_address(it, what, to, to_box), 1, what->count[0]);
        return H5VEC_OK;
    }
    row += rows_first(&p->numbers[k]);
    if (m->inputs.text[part->input]) {
        st = read_stream(m, it, m->streams[p->item], row, what, to, to_box, err);
    } else {
        struct box in = *what, in_to = *to_box; /* shifted to rows of the input; to_box may wrap around 0 */
        in.start[0] = row;
        in_to.start[0] += row - what->start[0];
        st = h5vcat_reader_read(m->reader, part->input, p->item, &p->numbers[k], &in, to, &in_to, p->fill,
                                p->join, missing, err);
    }
    if (!st && it->bytes_item >= 0)
        add_to_offsets(it, what, to, to_box, p->delta[k]);
    return st;
}

/* The same, from what was read ahead. */
static enum h5vec_status read_part(struct merge *m, struct page_item *p, int k, const struct box *what,
                                   void *to, const struct box *to_box, bool *missing, struct h5vec_error *err)
{
    const struct item *it = &m->schema->items[p->item];
    struct box in = *what, in_to = *to_box, all;
    if (!p->rows)
        return read_source(m, p, k, what, to, to_box, missing, err);
    *missing = false;
    if (!p->packed[k].bytes) {
        rank_box(it, &all);
        h5vcat_box_copy(what, it->element, p->rows, &all, to, to_box);
        return H5VEC_OK;
    }
    in.start[0] += rows_first(&p->numbers[k]) - p->starts[k];
    in_to.start[0] += rows_first(&p->numbers[k]) - p->starts[k];
    return h5vcat_reader_read_packed(m->reader, m->inputs.parts[k].input, p->item, &p->packed[k],
                                     p->rows + (p->starts[k] - it->base) * it->row_bytes, &in, to, &in_to,
                                     p->join, err);
}

/* The row after the last feature's: where its bytes end. */
static void last_offset(const struct merge *m, const struct item *it, const struct box *what, void *to,
                        const struct box *to_box)
{
    struct box row = *what;
    row.start[0] = it->total - 1;
    uint64_t end = m->schema->items[it->bytes_item].total;
    memcpy(row_address(it, &row, to, to_box), &end, sizeof end);
}

static enum h5vec_status read_parts(struct merge *m, struct page_item *p, const struct box *what, void *to,
                                    const struct box *to_box, bool *missing, struct h5vec_error *err)
{
    const struct item *it = &m->schema->items[p->item];
    uint64_t begin = what->start[0], end = begin + what->count[0];
    enum h5vec_status st = H5VEC_OK;
    if (it->role == H5VEC_LAYER_ROLE_BLOCKS) {
        const struct layer_plan *l = &m->schema->layers[it->layer];
        *missing = false;
        return read_stream(m, it, l->block_stream, begin - it->base + (uint64_t)l->block_skip, what, to,
                           to_box, err);
    }
    *missing = true;
    int k = 0;
    while (k < m->inputs.part_count && p->starts[k + 1] <= begin)
        k++;
    for (; k < m->inputs.part_count && p->starts[k] < end && !st; k++) {
        struct box piece = *what;
        bool gap = false;
        uint64_t from = p->starts[k] > begin ? p->starts[k] : begin;
        uint64_t to_row = p->starts[k + 1] < end ? p->starts[k + 1] : end;
        if (from >= to_row)
            continue;
        piece.start[0] = from;
        piece.count[0] = to_row - from;
        st = read_part(m, p, k, &piece, to, to_box, &gap, err);
        *missing = *missing && gap;
    }
    if (!st && it->bytes_item >= 0 && end == it->total) {
        last_offset(m, it, what, to, to_box);
        *missing = false;
    }
    return st;
}

/* If the item's chunks are joined, keep the part's stored chunks where its rows would be, which has to be
 * enough. */
static enum h5vec_status pack_part(struct merge *m, struct page_item *p, int k, struct h5vec_error *err)
{
    const struct item *it = &m->schema->items[p->item];
    uint32_t input = m->inputs.parts[k].input;
    uint64_t count = p->starts[k + 1] - p->starts[k];
    if (p->joins != PLAN_JOINS || m->inputs.text[input] || p->numbers[k].start == ROWS_VALID)
        return H5VEC_OK;
    enum h5vec_status st = h5vcat_reader_pack(
        m->reader, input, p->item, &p->numbers[k], p->fill, rows_first(&p->numbers[k]), count,
        p->rows + (p->starts[k] - it->base) * it->row_bytes, count * it->row_bytes, &p->packed[k], err);
    p->any_packed = p->any_packed || p->packed[k].bytes;
    return st;
}

/* One part's rows into the read-ahead buffer. */
static enum h5vec_status read_ahead_part(struct merge *m, struct page_item *p, int k, struct h5vec_error *err)
{
    const struct item *it = &m->schema->items[p->item];
    struct box all, rows;
    bool gap = false;
    rank_box(it, &all);
    rows = all;
    rows.start[0] = p->starts[k];
    rows.count[0] = p->starts[k + 1] - p->starts[k];
    if (rows.count[0] == 0)
        return H5VEC_OK;
    enum h5vec_status st = pack_part(m, p, k, err);
    if (st || p->packed[k].bytes)
        return st;
    st = read_source(m, p, k, &rows, p->rows, &all, &gap, err);
    p->gaps = p->gaps || gap;
    return st;
}

enum h5vec_status h5vcat_page_read_ahead(struct merge *m, struct page *page, struct h5vec_error *err)
{
    char *at = m->rows_buffer;
    for (int i = 0; i < page->count; i++) { /* a dataset that does not fit is alone in its page */
        const struct item *it = &m->schema->items[page->items[i].item];
        if (it->most * it->row_bytes > m->budget.rows)
            return H5VEC_OK;
        page->items[i].rows = at;
        at += it->mine * it->row_bytes;
    }
    enum h5vec_status st = H5VEC_OK;
    for (int k = 0; k < m->inputs.part_count && !st; k++)
        for (int i = 0; i < page->count && !st; i++)
            if (m->schema->items[page->items[i].item].role != H5VEC_LAYER_ROLE_BLOCKS)
                st = read_ahead_part(m, &page->items[i], k, err);
    for (int i = 0; i < page->count && !st; i++) {
        struct page_item *p = &page->items[i];
        const struct item *it = &m->schema->items[p->item];
        struct box all;
        bool gap;
        rank_box(it, &all);
        if (it->role == H5VEC_LAYER_ROLE_BLOCKS && it->mine > 0)
            st = read_parts(m, p, &all, p->rows, &all, &gap, err);
        else if (it->bytes_item >= 0 && it->mine > 0 && it->base + it->mine == it->total)
            last_offset(m, it, &all, p->rows, &all);
    }
    return st;
}

/* Whether an array is nothing but copies of the fill value. */
static bool all_fill(const char *bytes, uint64_t size, size_t element, const void *fill)
{
    static const char zero[256];
    for (uint64_t i = 0; i < element; i += sizeof zero) {
        size_t n = element - i < sizeof zero ? (size_t)(element - i) : sizeof zero;
        if (memcmp(bytes + i, fill ? (const char *)fill + i : zero, n) != 0)
            return false;
    }
    return size <= element || memcmp(bytes, bytes + element, size - element) == 0;
}

enum h5vec_status h5vcat_page_box(struct merge *m, struct page_item *p, const struct box *what, void *to,
                                  const struct box *to_box, bool *missing, struct h5vec_error *err)
{
    const struct item *it = &m->schema->items[p->item];
    enum h5vec_status st = H5VEC_OK;
    *missing = false;
    if (p->rows && !p->any_packed) {
        struct box all;
        rank_box(it, &all);
        h5vcat_box_copy(what, it->element, p->rows, &all, to, to_box);
        if (p->gaps && whole_rows(it, what, to_box))
            *missing = all_fill(row_address(it, what, to, to_box), what->count[0] * it->row_bytes,
                                it->element, p->fill);
    } else {
        st = read_parts(m, p, what, to, to_box, missing, err);
    }
    return st;
}

/* ---- Chunks ------------------------------------------------------------------------------------------- */

uint64_t h5vcat_page_grid(const struct merge *m, const struct page_item *p, hsize_t *grid)
{
    const struct item *it = &m->schema->items[p->item];
    const hsize_t *chunk = p->storage.chunk;
    uint64_t tiles = 1;
    grid[0] = (it->total + chunk[0] - 1) / chunk[0];
    for (int d = 1; d < it->rank; d++)
        tiles *= grid[d] = (it->dims[d] + chunk[d] - 1) / chunk[d];
    return tiles;
}

void h5vcat_page_chunk(const struct merge *m, const struct page_item *p, uint64_t slab, uint64_t tile,
                       struct box *chunk)
{
    hsize_t grid[H5S_MAX_RANK] = {0};
    h5vcat_page_grid(m, p, grid);
    chunk->rank = m->schema->items[p->item].rank;
    for (int d = chunk->rank - 1; d >= 0; d--) {
        uint64_t tiles = d && grid[d] ? grid[d] : 1, at = d ? tile % tiles : slab;
        tile /= tiles;
        chunk->start[d] = at * p->storage.chunk[d];
        chunk->count[d] = p->storage.chunk[d];
    }
}

bool h5vcat_page_piece(const struct merge *m, const struct page_item *p, const struct box *chunk,
                       uint64_t begin, uint64_t end, struct box *piece)
{
    const struct item *it = &m->schema->items[p->item];
    struct box rows = {.rank = it->rank};
    if (begin >= end)
        return false;
    rows.start[0] = begin;
    rows.count[0] = end - begin;
    for (int d = 1; d < it->rank; d++)
        rows.count[d] = it->dims[d];
    return h5vcat_box_intersect(chunk, &rows, piece);
}

void h5vcat_page_done(struct merge *m, const struct page_item *p, const struct box *piece, const void *array,
                      const struct box *to_box)
{
    struct item *it = &m->schema->items[p->item];
    h5vcat_merge_progress(m, h5vcat_box_volume(piece) * it->element);
    if (m->options->verify)
        it->sum += h5vcat_page_hash(it, p->item, piece, array, to_box);
}

void h5vcat_page_encoded(struct merge *m, const struct page_item *p, uint64_t bytes)
{
    struct h5vcat_report *r = &m->report;
    uint64_t *const why[PLAN_JOINS_COUNT] = {[PLAN_JOINS] = &r->splice.shapes,
                                             [PLAN_JOINS_NEVER] = &r->splice.off,
                                             [PLAN_JOINS_FILTERS] = &r->splice.filters,
                                             [PLAN_JOINS_VALUES] = &r->splice.values};
    if (p->storage.pipeline.count > 0) {
        r->splice.encoded += bytes;
        *why[p->joins] += bytes;
    }
}

uint64_t h5vcat_page_hash(const struct item *it, int number, const struct box *piece, const void *array,
                          const struct box *to_box)
{
    uint64_t seed = (uint64_t)number;
    for (int d = 0; d < piece->rank; d++)
        seed = (seed + piece->start[d]) * 0x9E3779B97F4A7C15u; /* 2^64 / golden ratio */
    return h5vcat_box_hash(piece, it->element, array, to_box, seed);
}

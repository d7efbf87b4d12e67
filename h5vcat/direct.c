/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Direct writing: rank 0 writes the metadata through the h5vec driver, every rank encodes its own chunks and
 * writes them itself, at addresses from a prefix sum over one reservation a round (docs/design.md,
 * placement).
 *
 * A page is written in rounds. In each, chunks that several ranks have rows of go to one owner (exchange.c);
 * then every rank encodes them and as many of its own chunks as its buffer takes; then all get their place,
 * write with one pwrite each, and tell rank 0 what lies where.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "H5FDh5vec.h"
#include "error.h"
#include "agree.h"
#include "create.h"
#include "exchange.h"
#include "file.h"
#include "foreign.h"
#include "join.h"
#include "keep.h"
#include "output.h"
#include "pointers.h"
#include "writer.h"

/* What rank 0 is told of an encoded chunk. */
struct record {
    uint64_t address;
    uint64_t slab, tile;
    uint32_t size, mask;
    uint32_t entry; /* in the page */
    uint32_t unused;
};

struct direct {
    struct merge *m;
    struct creator creator; /* rank 0 */
    hid_t file;             /* rank 0 */
    int fd;
    uint64_t alignment;
    struct exchange *exchange;
    char *assembly; /* budget.assembly bytes */
    char *encoded;  /* budget.encoded bytes */
    uint64_t encoded_size;
    struct keeper keeper;
    struct join join;
    uint64_t written;       /* contiguous bytes of this round */
    bool created;           /* rank 0: the objects of the page are there */
    struct record *records; /* of this round */
    size_t record_count, record_room;
    int *sizes;  /* 2 * ranks: to gather records */
    void *zeros; /* rank 0: what HDF5 is told to write; never touched */
    size_t zeros_size;
};

/* Where a rank is among its own chunks of the page. */
struct cursor {
    int entry;
    uint64_t slab, tile;
    bool begun; /* slab and tile are set for entry */
};

/* ---- Open -------------------------------------------------------------------------------------------- */

static void direct_free(struct direct *d)
{
    if (d->m->rank == 0)
        h5vcat_creator_close(&d->creator);
    h5vcat_exchange_free(d->exchange);
    if (d->fd >= 0)
        close(d->fd);
    h5vcat_splice_free(d->join.splice);
    free(d->assembly);
    free(d->encoded);
    free(d->records);
    free(d->sizes);
    free(d->zeros);
    free(d);
}

static enum h5vec_status direct_open(struct merge *m, void **state, struct h5vec_error *err)
{
    struct direct *d = calloc(1, sizeof *d);
    enum h5vec_status st = H5VEC_OK;
    if (d) {
        *d = (struct direct){.m = m, .file = H5I_INVALID_HID, .fd = -1};
        d->creator.in = H5I_INVALID_HID;
        d->assembly = malloc(m->budget.assembly);
        d->encoded = malloc(m->budget.encoded);
        d->sizes = calloc(2 * (size_t)m->ranks, sizeof *d->sizes);
        st = h5vcat_exchange_new(m, &d->exchange, err);
        if (!st)
            st = h5vcat_splice_new(&d->join.splice, err);
    }
    if (!d || !d->assembly || !d->encoded || !d->sizes)
        st = h5vcat_no_memory(err);
    st = h5vcat_agree(m->comm, st, err);
    if (st) {
        if (d)
            direct_free(d);
        return st;
    }
    struct stat created = {0};
    d->alignment = m->rank == 0 ? h5vcat_file_alignment(m->directory) : 0;
    MPI_Bcast(&d->alignment, 1, MPI_UINT64_T, 0, m->comm);
    *state = d;
    if (m->rank == 0)
        st = h5vcat_output_create(m, d->alignment, &d->file, &d->fd, &created, err);
    if (m->rank == 0 && !st)
        st = h5vcat_creator_open(m, d->file, &d->creator, err);
    st = h5vcat_agree(m->comm, st, err);
    if (st)
        return st;
    MPI_Bcast(&created, (int)sizeof created, MPI_BYTE, 0, m->comm);
    if (m->rank != 0)
        st = h5vcat_output_open(m, &created, &d->fd, err);
    return h5vcat_agree(m->comm, st, err);
}

/* ---- Metadata, on rank 0 ------------------------------------------------------------------------------ */

static enum h5vec_status place_contiguous(void *context, uint64_t size, uint64_t *address,
                                          struct h5vec_error *err)
{
    struct direct *d = context;
    haddr_t at;
    if (H5FD_h5vec_reserve(d->file, size, &at) < 0 || H5FD_h5vec_place(d->file, at, size) < 0)
        return h5vec_layer_error_hdf5(err, "%s: cannot place data", d->m->temporary);
    *address = at;
    return H5VEC_OK;
}

/* Rank 0: the page's objects, once. */
static enum h5vec_status create_objects(struct direct *d, struct page *page, struct h5vec_error *err)
{
    if (d->m->rank != 0 || d->created)
        return H5VEC_OK;
    d->creator.place = place_contiguous;
    d->creator.context = d;
    d->created = true;
    return h5vcat_creator_page(&d->creator, page, err);
}

/* Create the page's objects now if they have data that is not in chunks, and tell all where it lies. Else
 * rank 0 does so when it has encoded its chunks of the first round: the other ranks need not wait for it. */
static enum h5vec_status begin_page(struct direct *d, struct page *page, struct h5vec_error *err)
{
    struct merge *m = d->m;
    bool early = false;
    for (int i = 0; i < page->count; i++)
        early = early || page->items[i].storage.layout != H5D_CHUNKED;
    d->created = false;
    if (!early && page->count > 0)
        return H5VEC_OK;
    enum h5vec_status st = create_objects(d, page, err);
    uint64_t *addresses = calloc((size_t)page->count + 1, sizeof *addresses);
    if (!st && !addresses)
        st = h5vcat_no_memory(err);
    st = h5vcat_agree(m->comm, st, err);
    if (!st) {
        for (int i = 0; i < page->count; i++)
            addresses[i] = page->items[i].address;
        MPI_Bcast(addresses, page->count, MPI_UINT64_T, 0, m->comm);
        for (int i = 0; i < page->count; i++)
            page->items[i].address = addresses[i];
    }
    free(addresses);
    return st;
}

/* Memory that HDF5 may read from but never does: the driver drops the write. */
static enum h5vec_status need_zeros(struct direct *d, size_t size, struct h5vec_error *err)
{
    if (size <= d->zeros_size)
        return H5VEC_OK;
    free(d->zeros);
    d->zeros = calloc(1, size);
    d->zeros_size = d->zeros ? size : 0;
    return d->zeros ? H5VEC_OK : h5vcat_no_memory(err);
}

static enum h5vec_status place_chunk(struct direct *d, const struct page *page, const struct record *r,
                                     struct h5vec_error *err)
{
    const struct page_item *p = &page->items[r->entry];
    struct box chunk;
    h5vcat_page_chunk(d->m, p, r->slab, r->tile, &chunk);
    enum h5vec_status st = need_zeros(d, r->size, err);
    if (!st && (H5FD_h5vec_place(d->file, r->address, r->size) < 0 ||
                H5Dwrite_chunk(p->dset, H5P_DEFAULT, r->mask, chunk.start, r->size, d->zeros) < 0))
        st = h5vec_layer_error_hdf5(err, "%s: %s: cannot enter a chunk", d->m->temporary,
                                    d->m->schema->items[p->item].path);
    return st;
}

/* All ranks' records of the round to rank 0, which enters them. */
static enum h5vec_status enter_records(struct direct *d, struct page *page, struct h5vec_error *err)
{
    struct merge *m = d->m;
    int mine = (int)(d->record_count * sizeof *d->records), *sizes = d->sizes, *offsets = sizes + m->ranks;
    struct record *all = NULL;
    enum h5vec_status st = H5VEC_OK;
    size_t total = 0;
    MPI_Gather(&mine, 1, MPI_INT, sizes, 1, MPI_INT, 0, m->comm);
    if (m->rank == 0) {
        for (int r = 0; r < m->ranks; r++) {
            offsets[r] = (int)total;
            total += (size_t)sizes[r];
        }
        all = total <= INT32_MAX ? malloc(total + 1) : NULL;
        st = all ? H5VEC_OK : h5vcat_no_memory(err);
    }
    st = h5vcat_agree(m->comm, st, err);
    if (!st) {
        MPI_Gatherv(d->records, mine, MPI_BYTE, all, sizes, offsets, MPI_BYTE, 0, m->comm);
        for (size_t i = 0; i < total / sizeof *all && !st; i++)
            st = place_chunk(d, page, &all[i], err);
        m->report.chunks += total / sizeof *all;
    }
    free(all);
    return h5vcat_agree(m->comm, st, err);
}

/* ---- Encoding ----------------------------------------------------------------------------------------- */

static bool room_for(const struct direct *d, const struct page_item *p, uint64_t bytes)
{
    return d->encoded_size + h5vcat_coder_bound(&p->storage.pipeline, bytes) <= d->m->budget.encoded;
}

static enum h5vec_status add_record(struct direct *d, const struct record *r, struct h5vec_error *err)
{
    if (d->record_count == d->record_room) {
        size_t room = d->record_room ? 2 * d->record_room : 256;
        struct record *p = realloc(d->records, room * sizeof *p);
        if (!p)
            return h5vcat_no_memory(err);
        d->records = p;
        d->record_room = room;
    }
    d->records[d->record_count++] = *r;
    return H5VEC_OK;
}

/* A chunk has been encoded behind the others of the round, in size bytes; mask: filters left out. */
static enum h5vec_status encoded(struct direct *d, int entry, uint64_t slab, uint64_t tile, size_t size,
                                 uint32_t mask, struct h5vec_error *err)
{
    struct record r = {.address = d->encoded_size, /* relative until the place is known */
                       .slab = slab,
                       .tile = tile,
                       .size = (uint32_t)size,
                       .mask = mask,
                       .entry = (uint32_t)entry};
    d->encoded_size += size;
    return add_record(d, &r, err);
}

/* Encode a whole chunk, padded, behind the others of the round. used: its bytes that are the dataset's. */
static enum h5vec_status encode_chunk(struct direct *d, struct page *page, int entry, uint64_t slab,
                                      uint64_t tile, const void *raw, uint64_t bytes, uint64_t used,
                                      struct h5vec_error *err)
{
    size_t size = 0;
    double begin = h5vcat_merge_now();
    struct page_item *p = &page->items[entry];
    char *to = d->encoded + d->encoded_size;
    H5Z_filter_t foreign;
    uint32_t mask = 0;
    enum h5vec_status st =
        h5vcat_pipeline_is_ours(&p->storage.pipeline, &foreign)
            ? h5vcat_keep_encode(d->m, &d->keeper, p, raw, bytes, used, to, &size, err)
            : h5vcat_foreign_encode(d->m, &d->m->schema->items[p->item], &p->storage, raw, to,
                                    h5vcat_coder_bound(&p->storage.pipeline, bytes), &size, &mask, err);
    d->m->report.seconds_encode += h5vcat_merge_now() - begin;
    if (st)
        return st;
    h5vcat_page_encoded(d->m, p, bytes);
    return encoded(d, entry, slab, tile, size, mask, err);
}

static uint64_t chunk_size(const struct merge *m, const struct page_item *p, const struct box *chunk)
{
    return h5vcat_box_volume(chunk) * m->schema->items[p->item].element;
}

/* Fill the array outside of the dataset. Returns the bytes inside. */
static uint64_t pad(const struct merge *m, const struct page_item *p, const struct box *chunk, void *array)
{
    const struct item *it = &m->schema->items[p->item];
    struct box inside;
    if (!h5vcat_page_piece(m, p, chunk, 0, it->total, &inside))
        return 0;
    if (h5vcat_box_volume(&inside) != h5vcat_box_volume(chunk))
        h5vcat_box_fill_outside(&inside, it->element, p->fill, array, chunk);
    return h5vcat_box_volume(&inside) * it->element;
}

/* Join the next chunk from array's rows on, behind the others of the round. */
static void begin_join(struct direct *d, struct page_item *p, const void *array, uint64_t bytes)
{
    h5vcat_join_begin(&d->join, &p->storage.pipeline, d->m->options->encoder, array,
                      d->encoded + d->encoded_size, h5vcat_coder_bound(&p->storage.pipeline, bytes));
}

/* A chunk of which some pieces are runs. */
static enum h5vec_status join_shared(struct direct *d, struct page_item *p, const struct shared *u,
                                     struct h5vec_error *err)
{
    const struct span *span = h5vcat_exchange_spans(d->exchange, u);
    uint64_t bytes = chunk_size(d->m, p, &u->chunk), end = span[u->spans - 1].at + span[u->spans - 1].bytes;
    size_t element = d->m->schema->items[p->item].element, size = 0;
    enum h5vec_status st = H5VEC_OK;
    h5vcat_fill_elements(u->array + end, (size_t)((bytes - end) / element), element, p->fill);
    begin_join(d, p, u->array, bytes);
    for (int i = 0; i < u->spans && !st; i++) {
        uint32_t adler;
        const char *run = u->array + span[i].at;
        if (!span[i].run)
            continue;
        memcpy(&adler, run, sizeof adler);
        st = h5vcat_join_run(&d->join, run + sizeof adler, (size_t)span[i].run - sizeof adler, adler,
                             (size_t)span[i].bytes, span[i].at, err);
    }
    if (!st)
        st = h5vcat_join_finish(&d->join, &p->storage.pipeline, bytes, &size, err);
    if (!st && size == 0)
        st = h5vec_error_set(err, H5VEC_E_INTERNAL, 0, "%s: runs are larger than their chunk",
                             d->m->schema->items[p->item].path);
    if (st)
        return st;
    h5vcat_merge_joined(d->m, &d->join);
    return encoded(d, u->entry, u->slab, u->tile, size, 0, err);
}

/* Chunks that came together from several ranks. */
static enum h5vec_status finish_shared(struct direct *d, struct page *page, struct h5vec_error *err)
{
    struct merge *m = d->m;
    for (int i = 0; i < h5vcat_exchange_count(d->exchange); i++) {
        const struct shared *u = h5vcat_exchange_chunk(d->exchange, i);
        struct page_item *p = &page->items[u->entry];
        enum h5vec_status st = H5VEC_OK;
        if (u->missing)
            continue;
        if (p->storage.layout == H5D_COMPACT) {
            if (H5Dwrite(p->dset, h5vcat_blob_type(m->schema->items[p->item].type), H5S_ALL, H5S_ALL,
                         H5P_DEFAULT, u->array) < 0)
                st = h5vec_layer_error_hdf5(err, "%s: %s: cannot write", m->temporary,
                                            m->schema->items[p->item].path);
        } else if (u->joined) {
            st = join_shared(d, p, u, err);
        } else {
            uint64_t used = pad(m, p, &u->chunk, u->array);
            st = encode_chunk(d, page, u->entry, u->slab, u->tile, u->array, chunk_size(m, p, &u->chunk),
                              used, err);
        }
        if (st)
            return st;
    }
    return H5VEC_OK;
}

/* ---- A rank's own chunks ------------------------------------------------------------------------------- */

/* Slabs of an entry that only this rank writes: [*first, *end). */
static void own_slabs(const struct direct *d, const struct page_item *p, uint64_t *first, uint64_t *end)
{
    uint64_t begin = p->base[d->m->rank], stop = p->base[d->m->rank + 1], c = p->storage.chunk[0];
    if (p->storage.layout == H5D_CHUNKED)
        h5vcat_exchange_own_slabs(d->m, p, d->m->rank, first, end);
    else if (p->storage.layout == H5D_CONTIGUOUS && begin < stop) {
        *first = begin / c;
        *end = (stop - 1) / c + 1;
    } else {
        *first = *end = 0;
    }
}

/* Move to the next chunk; false when the page has no more for this rank. */
static bool advance(const struct direct *d, const struct page *page, struct cursor *at)
{
    while (at->entry < page->count) {
        const struct page_item *p = &page->items[at->entry];
        hsize_t grid[H5S_MAX_RANK];
        uint64_t first, end, tiles = h5vcat_page_grid(d->m, p, grid);
        own_slabs(d, p, &first, &end);
        if (!at->begun) {
            *at = (struct cursor){at->entry, first, 0, true};
        } else if (++at->tile == tiles) {
            at->tile = 0;
            at->slab++;
        }
        if (at->slab < end && tiles > 0)
            return true;
        *at = (struct cursor){.entry = at->entry + 1};
    }
    return false;
}

/* Contiguous data: read a box, write it where it belongs. */
static enum h5vec_status write_box(struct direct *d, struct page_item *p, const struct box *piece,
                                   struct h5vec_error *err)
{
    struct merge *m = d->m;
    const struct item *it = &m->schema->items[p->item];
    uint64_t bytes = h5vcat_box_volume(piece) * it->element, at = 0;
    bool missing;
    double begin = h5vcat_merge_now();
    enum h5vec_status st = h5vcat_page_box(m, p, piece, d->assembly, piece, &missing, err);
    if (st)
        return st;
    h5vcat_page_done(m, p, piece, d->assembly, piece);
    m->report.seconds_read += h5vcat_merge_now() - begin;
    for (int k = 0; k < it->rank; k++)
        at = at * (k ? it->dims[k] : 1) + piece->start[k];
    begin = h5vcat_merge_now();
    st = h5vcat_file_write(d->fd, m->temporary, p->address + at * it->element, d->assembly, (size_t)bytes,
                           err);
    m->report.seconds_write += h5vcat_merge_now() - begin;
    m->report.stored_bytes += bytes;
    d->written += bytes;
    return st;
}

/* Read, pad and encode one chunk of this rank. */
static enum h5vec_status own_chunk(struct direct *d, struct page *page, const struct cursor *at,
                                   struct h5vec_error *err)
{
    struct merge *m = d->m;
    struct page_item *p = &page->items[at->entry];
    struct box chunk, piece;
    bool missing;
    h5vcat_page_chunk(m, p, at->slab, at->tile, &chunk);
    if (!h5vcat_page_piece(m, p, &chunk, p->base[m->rank], p->base[m->rank + 1], &piece))
        return H5VEC_OK;
    if (p->storage.layout == H5D_CONTIGUOUS)
        return write_box(d, p, &piece, err);
    uint64_t bytes = chunk_size(m, p, &chunk);
    size_t size = 0;
    bool joins = p->joins == PLAN_JOINS;
    uint64_t used = pad(m, p, &chunk, d->assembly);
    if (joins) {
        begin_join(d, p, d->assembly, bytes);
        p->join = &d->join;
    }
    double begin = h5vcat_merge_now();
    enum h5vec_status st = h5vcat_page_box(m, p, &piece, d->assembly, &chunk, &missing, err);
    p->join = NULL;
    m->report.seconds_read += h5vcat_merge_now() - begin;
    if (st)
        return st;
    h5vcat_page_done(m, p, &piece, d->assembly, &chunk);
    if (missing)
        return H5VEC_OK;
    if (joins)
        st = h5vcat_join_finish(&d->join, &p->storage.pipeline, bytes, &size, err);
    if (st || size == 0)
        return st ? st : encode_chunk(d, page, at->entry, at->slab, at->tile, d->assembly, bytes, used, err);
    h5vcat_merge_joined(m, &d->join);
    return encoded(d, at->entry, at->slab, at->tile, size, 0, err);
}

/* As many of this rank's chunks as the round has room for. *more: some are left, and *at is the next one. */
static enum h5vec_status own_chunks(struct direct *d, struct page *page, struct cursor *at, bool *more,
                                    struct h5vec_error *err)
{
    while (*more) {
        const struct page_item *p = &page->items[at->entry];
        struct box chunk;
        h5vcat_page_chunk(d->m, p, at->slab, at->tile, &chunk);
        bool contiguous = p->storage.layout == H5D_CONTIGUOUS;
        if (contiguous ? d->written > d->m->budget.encoded : !room_for(d, p, chunk_size(d->m, p, &chunk)))
            return H5VEC_OK;
        enum h5vec_status st = own_chunk(d, page, at, err);
        if (st)
            return st;
        *more = advance(d, page, at);
    }
    return H5VEC_OK;
}

/* ---- Rounds ------------------------------------------------------------------------------------------- */

/* Give the round's chunks of all ranks their place, and write this rank's. */
static enum h5vec_status place_and_write(struct direct *d, struct h5vec_error *err)
{
    struct merge *m = d->m;
    uint64_t padded = (d->encoded_size + d->alignment - 1) / d->alignment * d->alignment, before = 0,
             total = 0;
    haddr_t base = 0;
    enum h5vec_status st = H5VEC_OK;
    MPI_Exscan(&padded, &before, 1, MPI_UINT64_T, MPI_SUM, m->comm);
    MPI_Allreduce(&padded, &total, 1, MPI_UINT64_T, MPI_SUM, m->comm);
    if (m->rank == 0) {
        before = 0;
        if (total > 0 && H5FD_h5vec_reserve(d->file, total, &base) < 0)
            st = h5vec_layer_error_hdf5(err, "%s: cannot reserve space", m->temporary);
    }
    st = h5vcat_agree(m->comm, st, err);
    if (st)
        return st;
    uint64_t at = base;
    MPI_Bcast(&at, 1, MPI_UINT64_T, 0, m->comm);
    for (size_t i = 0; i < d->record_count; i++)
        d->records[i].address += at + before;
    double begin = h5vcat_merge_now();
    st = h5vcat_file_write(d->fd, m->temporary, at + before, d->encoded, (size_t)d->encoded_size, err);
    m->report.seconds_write += h5vcat_merge_now() - begin;
    m->report.stored_bytes += d->encoded_size;
    return h5vcat_agree(m->comm, st, err);
}

static enum h5vec_status write_round(struct direct *d, struct page *page, struct cursor *at, bool *more,
                                     struct h5vec_error *err)
{
    struct merge *m = d->m;
    d->encoded_size = d->record_count = d->written = 0;
    double begin = h5vcat_merge_now();
    enum h5vec_status st = h5vcat_exchange_round(d->exchange, d->assembly, d->encoded, &d->join, err);
    m->report.seconds_exchange += h5vcat_merge_now() - begin;
    if (!st)
        st = finish_shared(d, page, err);
    if (!st)
        st = own_chunks(d, page, at, more, err);
    if (!st) /* rank 0, whose share of the chunks is smaller by that, while the others encode on */
        st = create_objects(d, page, err);
    st = h5vcat_agree(m->comm, st, err);
    if (!st)
        st = place_and_write(d, err);
    if (!st)
        st = enter_records(d, page, err);
    m->report.rounds++;
    return st;
}

static enum h5vec_status direct_page(struct merge *m, void *state, struct page *page, struct h5vec_error *err)
{
    struct direct *d = state;
    struct cursor at = {0};
    enum h5vec_status st = begin_page(d, page, err);
    int left = page->count > 0;
    bool more = advance(d, page, &at);
    h5vcat_exchange_begin(d->exchange, page);
    while (!st && left) {
        st = write_round(d, page, &at, &more, err);
        left = more || h5vcat_exchange_left(d->exchange);
        MPI_Allreduce(MPI_IN_PLACE, &left, 1, MPI_INT, MPI_MAX, m->comm);
    }
    h5vcat_creator_page_end(page);
    return st;
}

/* ---- Close -------------------------------------------------------------------------------------------- */

/* Every rank's data is on disk before rank 0 writes the superblock: H5Fclose does so last. */
static enum h5vec_status direct_close(struct merge *m, void *state, enum h5vec_status status,
                                      struct h5vec_error *err)
{
    struct direct *d = state;
    enum h5vec_status st = status;
    if (!d)
        return st;
    if (!st && m->rank == 0)
        st = h5vcat_creator_finish(&d->creator, err);
    if (!st && m->rank == 0)
        st = h5vcat_pointers_write(m, d->file, err);
    if (!st && fsync(d->fd) < 0)
        st = h5vec_error_set(err, H5VEC_E_IO, 0, "%s: cannot flush: %s", m->temporary, strerror(errno));
    if (d->fd >= 0 && close(d->fd) < 0 && !st)
        st = h5vec_error_set(err, H5VEC_E_IO, 0, "%s: cannot close: %s", m->temporary, strerror(errno));
    d->fd = -1;
    if (!status)
        st = h5vcat_agree(m->comm, st, err);
    if (!st && m->rank == 0 &&
        H5Fflush(d->file, H5F_SCOPE_LOCAL) < 0) /* while a failure can still be handled */
        st = h5vec_layer_error_hdf5(err, "%s: cannot write", m->temporary);
    if (st && d->file >= 0)
        H5FD_h5vec_abandon(d->file);
    if (d->file >= 0 && H5Fclose(d->file) < 0 && !st)
        st = h5vec_layer_error_hdf5(err, "%s: cannot close", m->temporary);
    direct_free(d);
    return status ? status : h5vcat_agree(m->comm, st, err);
}

const struct writer h5vcat_writer_direct = {
    .name = "direct", .open = direct_open, .page = direct_page, .close = direct_close};

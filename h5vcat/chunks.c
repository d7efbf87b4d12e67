/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The chunk table, reading ahead, and the cache of decoded chunks.
 *
 * Small chunks that follow each other in the file are read together: the window begins with the size of one
 * chunk and doubles as long as the next chunk is just behind it, so that scattered chunks cost no more bytes
 * than their own.
 */
#include "error.h"
#include "chunks.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "file.h"
#include "h5vec_layer.h"

#define MAX_TABLE 1000000 /* entries of the table (16 MB); larger datasets are looked up chunk by chunk */
#define MAX_WINDOW ((size_t)1 << 20)

struct entry {
    uint64_t address; /* HADDR_UNDEF: not stored */
    uint32_t size, mask;
};

struct slot {
    uint64_t number; /* of the chunk; UINT64_MAX: free */
    uint64_t used;
    char *bytes;
};

struct chunks {
    struct coder *coder;
    struct chunk_form form;
    hid_t dset; /* not needed if there is a table */
    int fd;
    uint64_t file_size;
    size_t chunk_bytes;
    hsize_t dims[H5S_MAX_RANK], grid[H5S_MAX_RANK]; /* grid: chunks along each dimension */
    struct entry *table;                            /* by chunk number from table_first on, or NULL */
    uint64_t table_first;
    const char *memory; /* packed: what addresses count in, file_size bytes */
    char *window;       /* bytes of the file from window_at on */
    uint64_t window_at;
    size_t window_length, window_room, ahead;
    struct slot *slots;
    int slot_count;
    uint64_t clock;
    uint64_t raw_seen, stored_seen;
};

/* ---- The table --------------------------------------------------------------------------------------- */

static uint64_t chunk_number(const struct chunks *c, const hsize_t *offset)
{
    uint64_t n = 0;
    for (int d = 0; d < c->form.rank; d++)
        n = n * c->grid[d] + offset[d] / c->form.chunk[d];
    return n;
}

static int enter(const hsize_t *offset, unsigned mask, haddr_t address, hsize_t size, void *context)
{
    struct chunks *c = context;
    for (int d = 0; d < c->form.rank; d++)
        if (offset[d] >= c->dims[d])
            return 0; /* left over from before the dataset shrank */
    c->table[chunk_number(c, offset)] = (struct entry){address, (uint32_t)size, mask};
    return 0;
}

static void set_grid(struct chunks *c)
{
    for (int d = 0; d < c->form.rank; d++)
        c->grid[d] = (c->dims[d] + c->form.chunk[d] - 1) / c->form.chunk[d];
}

/* Chunks along all dimensions but the first. */
static uint64_t tiles_of(const struct chunks *c)
{
    uint64_t tiles = 1;
    for (int d = 1; d < c->form.rank; d++)
        tiles *= c->grid[d];
    return tiles;
}

static enum h5vec_status make_table(struct chunks *c, struct h5vec_error *err)
{
    uint64_t slots = 1;
    set_grid(c);
    for (int d = 0; d < c->form.rank; d++) {
        if (c->grid[d] && slots > MAX_TABLE / c->grid[d])
            return H5VEC_OK;
        slots *= c->grid[d];
    }
    c->table = malloc((slots + 1) * sizeof *c->table);
    if (!c->table)
        return h5vcat_no_memory(err);
    for (uint64_t i = 0; i < slots; i++)
        c->table[i] = (struct entry){.address = HADDR_UNDEF};
    if (H5Dchunk_iter(c->dset, H5P_DEFAULT, enter, c) < 0)
        return h5vec_layer_error_hdf5(err, "cannot read the chunk index");
    return H5VEC_OK;
}

static enum h5vec_status look_up(struct chunks *c, const hsize_t *offset, struct entry *e,
                                 struct h5vec_error *err)
{
    if (c->table) {
        *e = c->table[chunk_number(c, offset) - c->table_first];
        return H5VEC_OK;
    }
    hsize_t size = 0;
    unsigned mask = 0;
    haddr_t address = HADDR_UNDEF;
    if (H5Dget_chunk_info_by_coord(c->dset, offset, &mask, &address, &size) < 0)
        return h5vec_layer_error_hdf5(err, "cannot read the chunk index");
    *e = (struct entry){address, (uint32_t)size, mask};
    return H5VEC_OK;
}

/* ---- Stored bytes ------------------------------------------------------------------------------------ */

/* The bytes [at, at + size) of the file, valid until the next call. */
static enum h5vec_status stored_bytes(struct chunks *c, uint64_t at, size_t size, const char **bytes,
                                      struct h5vec_error *err)
{
    if (at > c->file_size || size > c->file_size - at)
        return h5vec_error_set(err, H5VEC_E_DATA, at, "lies outside the file");
    if (c->memory) {
        *bytes = c->memory + at;
        return H5VEC_OK;
    }
    if (at >= c->window_at && at + size <= c->window_at + c->window_length) {
        *bytes = c->window + (at - c->window_at);
        return H5VEC_OK;
    }
    uint64_t end = c->window_at + c->window_length;
    bool follows = c->window_length && at + size > end && at <= end + 4096 && at >= c->window_at;
    c->ahead = follows ? 2 * c->ahead + size : size;
    if (c->ahead > MAX_WINDOW)
        c->ahead = MAX_WINDOW;
    size_t length = c->ahead > size ? c->ahead : size;
    if (length > c->file_size - at)
        length = (size_t)(c->file_size - at);
    if (length > c->window_room) {
        free(c->window);
        c->window = malloc(length);
        c->window_room = c->window ? length : 0;
        if (!c->window)
            return h5vcat_no_memory(err);
    }
    c->window_length = 0;
    enum h5vec_status st = h5vcat_file_read(c->fd, "its bytes", at, c->window, length, err);
    if (st)
        return st;
    c->window_at = at;
    c->window_length = length;
    *bytes = c->window;
    return H5VEC_OK;
}

static bool sticks_out(const struct chunks *c, const hsize_t *offset)
{
    for (int d = 0; d < c->form.rank; d++)
        if (offset[d] + c->form.chunk[d] > c->dims[d])
            return true;
    return false;
}

/* Bytes of the chunk that lie in the dataset. */
static uint64_t inside_bytes(const struct chunks *c, const hsize_t *offset)
{
    uint64_t bytes = c->form.element;
    for (int d = 0; d < c->form.rank; d++)
        bytes *= c->form.chunk[d] < c->dims[d] - offset[d] ? c->form.chunk[d] : c->dims[d] - offset[d];
    return bytes;
}

/* Decode the stored chunk e at offset to chunk_bytes at raw. */
static enum h5vec_status decode(struct chunks *c, const hsize_t *offset, const struct entry *e, void *raw,
                                struct h5vec_error *err)
{
    static const struct pipeline none = {0};
    const struct pipeline *p =
        c->form.partial_unfiltered && sticks_out(c, offset) ? &none : &c->form.pipeline;
    const char *stored = NULL;
    enum h5vec_status st = stored_bytes(c, e->address, e->size, &stored, err);
    c->raw_seen += inside_bytes(c, offset);
    c->stored_seen += e->size;
    if (!st)
        st = h5vcat_coder_decode(c->coder, p, e->mask, stored, e->size, raw, c->chunk_bytes, err);
    if (!st || !err)
        return st;
    char where[200], why[sizeof err->msg];
    int n = 0;
    for (int d = 0; d < c->form.rank && n < (int)sizeof where - 24; d++)
        n += snprintf(where + n, sizeof where - (size_t)n, "%s%llu", d ? "," : "",
                      (unsigned long long)offset[d]);
    memcpy(why, err->msg, sizeof why);
    return h5vec_error_set(err, st, e->address, "chunk at (%s): %s", where, why);
}

/* ---- The cache --------------------------------------------------------------------------------------- */

/* The slot of a chunk: its own, or the one used longest ago, which is then free. NULL: out of memory. */
static struct slot *find_slot(struct chunks *c, uint64_t number)
{
    struct slot *victim = &c->slots[0];
    for (int i = 0; i < c->slot_count; i++) {
        if (c->slots[i].number == number)
            return &c->slots[i];
        if (c->slots[i].used < victim->used)
            victim = &c->slots[i];
    }
    victim->number = UINT64_MAX;
    if (!victim->bytes)
        victim->bytes = malloc(c->chunk_bytes);
    return victim->bytes ? victim : NULL;
}

static enum h5vec_status cached(struct chunks *c, const hsize_t *offset, const struct entry *e,
                                const char **bytes, struct h5vec_error *err)
{
    uint64_t number = chunk_number(c, offset);
    struct slot *slot = find_slot(c, number);
    enum h5vec_status st = slot ? H5VEC_OK : h5vcat_no_memory(err);
    if (!st && slot->number != number)
        st = decode(c, offset, e, slot->bytes, err);
    if (st)
        return st;
    *slot = (struct slot){number, ++c->clock, slot->bytes};
    *bytes = slot->bytes;
    return H5VEC_OK;
}

/* ---- Open, read, free -------------------------------------------------------------------------------- */

bool h5vcat_chunks_form(hid_t dcpl, int rank, size_t element, struct chunk_form *form)
{
    unsigned options = 0;
    H5Z_filter_t foreign;
    memset(form, 0, sizeof *form);
    form->rank = rank;
    form->element = element;
    if (H5Pget_chunk(dcpl, rank, form->chunk) != rank || H5Pget_chunk_opts(dcpl, &options) < 0 ||
        h5vcat_pipeline_get(dcpl, element, &form->pipeline, NULL) ||
        !h5vcat_pipeline_is_ours(&form->pipeline, &foreign))
        return false;
    form->partial_unfiltered = options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS;
    return true;
}

uint64_t h5vcat_chunks_form_bytes(const struct chunk_form *form)
{
    uint64_t bytes = form->element;
    for (int d = 0; d < form->rank; d++)
        bytes *= form->chunk[d];
    return bytes;
}

/* Everything but the table. file is negative if there is none. */
static enum h5vec_status new_chunks(struct coder *coder, hid_t file, const struct chunk_form *form,
                                    const hsize_t *dims, uint64_t cache, struct chunks **out,
                                    struct h5vec_error *err)
{
    int *fd = NULL;
    struct stat st = {0};
    struct chunks *c = calloc(1, sizeof *c);
    if (!c)
        return h5vcat_no_memory(err);
    c->coder = coder;
    c->form = *form;
    c->chunk_bytes = h5vcat_chunks_form_bytes(form);
    memcpy(c->dims, dims, (size_t)form->rank * sizeof *dims);
    uint64_t slots = cache / (c->chunk_bytes ? c->chunk_bytes : 1);
    c->slot_count = slots < 1 ? 1 : slots > 256 ? 256 : (int)slots;
    c->slots = calloc((size_t)c->slot_count, sizeof *c->slots);
    enum h5vec_status status = c->slots ? H5VEC_OK : h5vcat_no_memory(err);
    for (int i = 0; i < c->slot_count && !status; i++)
        c->slots[i].number = UINT64_MAX;
    if (!status && file >= 0 &&
        (H5Fget_vfd_handle(file, H5P_DEFAULT, (void **)&fd) < 0 || fstat(*fd, &st) < 0))
        status = h5vec_error_set(err, H5VEC_E_IO, 0, "cannot look at the file: %s", strerror(errno));
    if (status) {
        h5vcat_chunks_free(c);
        return status;
    }
    c->fd = fd ? *fd : -1;
    c->file_size = (uint64_t)st.st_size;
    *out = c;
    return H5VEC_OK;
}

enum h5vec_status h5vcat_chunks_open(struct coder *coder, hid_t file, hid_t dset,
                                     const struct chunk_form *form, const hsize_t *dims, uint64_t cache,
                                     struct chunks **out, struct h5vec_error *err)
{
    struct chunks *c;
    enum h5vec_status st = new_chunks(coder, file, form, dims, cache, &c, err);
    if (st)
        return st;
    c->dset = dset;
    st = make_table(c, err);
    if (st)
        h5vcat_chunks_free(c);
    else
        *out = c;
    return st;
}

enum h5vec_status h5vcat_chunks_open_only(struct coder *coder, hid_t file, const struct chunk_form *form,
                                          const hsize_t *dims, uint64_t address, uint32_t size,
                                          struct chunks **out, struct h5vec_error *err)
{
    struct chunks *c;
    enum h5vec_status st = new_chunks(coder, file, form, dims, 0, &c, err);
    if (st)
        return st;
    for (int d = 0; d < form->rank; d++)
        c->grid[d] = 1;
    c->table = malloc(sizeof *c->table);
    if (!c->table) {
        h5vcat_chunks_free(c);
        return h5vcat_no_memory(err);
    }
    c->table[0] = (struct entry){address, size, 0};
    *out = c;
    return H5VEC_OK;
}

enum h5vec_status h5vcat_chunks_open_packed(struct coder *coder, const struct packed *packed,
                                            const char *bytes, int rank, const hsize_t *dims, size_t element,
                                            uint64_t cache, struct chunks **out, struct h5vec_error *err)
{
    struct chunks *c;
    struct chunk_form form = {
        .element = element, .rank = rank, .partial_unfiltered = packed->partial_unfiltered};
    form.pipeline.count = packed->summed ? 2 : 1;
    form.pipeline.filter[0].id = H5Z_FILTER_DEFLATE;
    form.pipeline.filter[1].id = H5Z_FILTER_FLETCHER32;
    memcpy(form.chunk, bytes, (size_t)rank * sizeof *form.chunk);
    enum h5vec_status st = new_chunks(coder, H5I_INVALID_HID, &form, dims, cache, &c, err);
    if (st)
        return st;
    c->dims[0] = packed->rows;
    set_grid(c);
    c->table_first = packed->first_slab * tiles_of(c);
    c->memory = bytes;
    c->file_size = packed->bytes;
    c->table = malloc((size_t)packed->count * sizeof *c->table + 1);
    if (!c->table) {
        h5vcat_chunks_free(c);
        return h5vcat_no_memory(err);
    }
    memcpy(c->table, bytes + (size_t)rank * sizeof(hsize_t), (size_t)packed->count * sizeof *c->table);
    *out = c;
    return H5VEC_OK;
}

void h5vcat_chunks_free(struct chunks *c)
{
    if (!c)
        return;
    for (int i = 0; i < c->slot_count && c->slots; i++)
        free(c->slots[i].bytes);
    free(c->slots);
    free(c->table);
    free(c->window);
    free(c);
}

void h5vcat_chunks_seen(struct chunks *c, uint64_t *raw, uint64_t *stored)
{
    *raw = c->raw_seen;
    *stored = c->stored_seen;
    c->raw_seen = c->stored_seen = 0;
}

/* If the array to takes the whole chunk as one run of bytes, where; else NULL. */
static char *whole_chunk(const struct chunks *c, const struct box *chunk, const struct box *what, char *to,
                         const struct box *to_box)
{
    hsize_t row = c->form.element;
    for (int d = 0; d < c->form.rank; d++) {
        if (what->start[d] > chunk->start[d] ||
            what->start[d] + what->count[d] < chunk->start[d] + chunk->count[d])
            return NULL;
        if (d > 0 && to_box->count[d] != chunk->count[d])
            return NULL;
        row *= d > 0 ? to_box->count[d] : 1;
    }
    return to + (chunk->start[0] - to_box->start[0]) * row;
}

/* Whether rows of the chunk are rows of to_box, all of them, with what pads them. */
static bool rows_alike(const struct chunks *c, const struct box *chunk, const struct box *to_box,
                       bool same_fill)
{
    for (int d = 1; d < c->form.rank; d++)
        if (chunk->start[d] != to_box->start[d] || chunk->count[d] != to_box->count[d] ||
            (!same_fill && chunk->start[d] + chunk->count[d] > c->dims[d]))
            return false;
    return !(c->form.partial_unfiltered && sticks_out(c, chunk->start));
}

/* Join a stored chunk's rows that are in part to the output's chunk, and put them into the array. */
static enum h5vec_status join_chunk(struct chunks *c, struct join *join, const struct box *chunk,
                                    const struct entry *e, const struct box *part, char *whole, char *to,
                                    const struct box *to_box, bool *taken, struct h5vec_error *err)
{
    size_t row = c->form.element;
    for (int d = 1; d < c->form.rank; d++)
        row *= (size_t)chunk->count[d];
    size_t from = (size_t)(part->start[0] - chunk->start[0]) * row, bytes = (size_t)part->count[0] * row;
    const char *stored = NULL;
    *taken = false;
    struct slot *slot = whole ? NULL : find_slot(c, chunk_number(c, chunk->start));
    if (!whole && !slot)
        return h5vcat_no_memory(err);
    char *raw = whole ? whole : slot->bytes;
    if (slot)
        slot->number = UINT64_MAX;
    enum h5vec_status st = stored_bytes(c, e->address, e->size, &stored, err);
    if (!st)
        st = h5vcat_join_stored(join, &c->form.pipeline, e->mask, stored, e->size, raw, c->chunk_bytes, from,
                                from + bytes, (part->start[0] - to_box->start[0]) * row, taken, err);
    if (st || !*taken)
        return st;
    c->raw_seen += inside_bytes(c, chunk->start);
    c->stored_seen += e->size;
    if (slot) {
        *slot = (struct slot){chunk_number(c, chunk->start), ++c->clock, slot->bytes};
        h5vcat_box_copy(part, c->form.element, raw, chunk, to, to_box);
    }
    return H5VEC_OK;
}

static enum h5vec_status read_chunk(struct chunks *c, const struct box *chunk, const struct box *what,
                                    char *to, const struct box *to_box, const void *fill, struct join *join,
                                    bool *stored, struct h5vec_error *err)
{
    struct entry e = {.address = HADDR_UNDEF};
    struct box part;
    enum h5vec_status st = look_up(c, chunk->start, &e, err);
    if (st || !h5vcat_box_intersect(chunk, what, &part))
        return st;
    if (e.address == HADDR_UNDEF) {
        hsize_t n = h5vcat_box_volume(&part);
        char *value = malloc(n * c->form.element);
        if (!value)
            return h5vcat_no_memory(err);
        h5vcat_fill_elements(value, n, c->form.element, fill);
        h5vcat_box_copy(&part, c->form.element, value, &part, to, to_box);
        free(value);
        return H5VEC_OK;
    }
    *stored = true;
    char *whole = whole_chunk(c, chunk, what, to, to_box);
    bool taken = false;
    if (join && rows_alike(c, chunk, to_box, join->same_fill))
        st = join_chunk(c, join, chunk, &e, &part, whole, to, to_box, &taken, err);
    if (st || taken)
        return st;
    if (whole)
        return decode(c, chunk->start, &e, whole, err);
    const char *bytes = NULL;
    st = cached(c, chunk->start, &e, &bytes, err);
    if (!st)
        h5vcat_box_copy(&part, c->form.element, bytes, chunk, to, to_box);
    return st;
}

enum h5vec_status h5vcat_chunks_read(struct chunks *c, const struct box *what, void *to,
                                     const struct box *to_box, const void *fill, struct join *join,
                                     bool *stored, struct h5vec_error *err)
{
    struct box chunk = {.rank = c->form.rank};
    *stored = false;
    if (h5vcat_box_volume(what) == 0)
        return H5VEC_OK;
    for (int d = 0; d < c->form.rank; d++) {
        chunk.start[d] = what->start[d] / c->form.chunk[d] * c->form.chunk[d];
        chunk.count[d] = c->form.chunk[d];
    }
    for (;;) {
        enum h5vec_status st = read_chunk(c, &chunk, what, to, to_box, fill, join, stored, err);
        if (st)
            return st;
        int d = c->form.rank - 1;
        while (d >= 0 && (chunk.start[d] += c->form.chunk[d]) >= what->start[d] + what->count[d]) {
            chunk.start[d] = what->start[d] / c->form.chunk[d] * c->form.chunk[d];
            d--;
        }
        if (d < 0)
            return H5VEC_OK;
    }
}

enum h5vec_status h5vcat_chunks_pack(struct chunks *c, uint64_t first, uint64_t count, char *bytes,
                                     uint64_t room, struct packed *packed, struct h5vec_error *err)
{
    size_t dims = (size_t)c->form.rank * sizeof(hsize_t);
    uint64_t tiles = tiles_of(c), begin = first / c->form.chunk[0],
             slabs = (first + count - 1) / c->form.chunk[0] + 1 - begin, n = slabs * tiles;
    packed->bytes = 0;
    if (!c->table || !h5vcat_join_can(&c->form.pipeline) || room < dims ||
        n > (room - dims) / sizeof(struct entry))
        return H5VEC_OK;
    uint64_t at = dims + n * sizeof(struct entry);
    memcpy(bytes, c->form.chunk, dims);
    for (uint64_t i = 0; i < n; i++) {
        struct entry e = c->table[begin * tiles + i];
        const char *stored = NULL;
        if (e.address == HADDR_UNDEF || e.size == 0 || e.size > room - at)
            return H5VEC_OK;
        enum h5vec_status st = stored_bytes(c, e.address, e.size, &stored, err);
        if (st || !stored) /* a chunk outside of the file: reading it as usual tells which */
            return st == H5VEC_E_DATA ? H5VEC_OK : st;
        memcpy(bytes + at, stored, e.size);
        e.address = at;
        memcpy(bytes + dims + i * sizeof e, &e, sizeof e);
        at += e.size;
    }
    *packed = (struct packed){.rows = c->dims[0],
                              .first_slab = begin,
                              .count = n,
                              .bytes = at,
                              .summed = c->form.pipeline.count > 1,
                              .partial_unfiltered = c->form.partial_unfiltered,
                              .same_fill = packed->same_fill};
    return H5VEC_OK;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Their values lie in heaps of the file, which HDF5 alone writes, and not in parallel. So the rank that
 * writes the metadata reads them input by input and writes them at their rows, in pieces that fit the buffer:
 * half of it holds the elements, half what they point to. How much that is shows only when it is read: HDF5
 * gets that memory from here, and where it is too little the piece is halved.
 */
#include "pointers.h"
#include <stdlib.h>
#include <string.h>
#include "error.h"
#include "reader.h"
#include "repoint.h"

struct arena {
    char *at;
    size_t size, used;
    bool full;
};

struct copying {
    const struct merge *m;
    struct repointing to;
    uint64_t *rows;   /* of each item: how many rows were written */
    uint64_t *hashes; /* of each scalar item: of the first input's value */
    struct arena arena;
    hid_t dxpl;
    const char *file; /* the input */
};

static void *arena_take(size_t size, void *context)
{
    struct arena *a = context;
    size_t need = (size + 15) / 16 * 16;
    if (need < size || need > a->size - a->used) {
        a->full = true;
        return NULL;
    }
    a->used += need;
    return a->at + a->used - need;
}

static void arena_give(void *memory, void *context)
{
    (void)memory;
    (void)context;
}

bool h5vcat_pointers_any(const struct schema *s)
{
    for (int i = 0; i < s->count; i++)
        if (s->items[i].kind == ITEM_POINTERS)
            return true;
    return false;
}

bool h5vcat_pointers_fill(hid_t from, hid_t to, hid_t type)
{
    H5D_fill_value_t state;
    H5D_fill_time_t when;
    if (H5Pfill_value_defined(from, &state) < 0 || H5Pget_fill_time(from, &when) < 0)
        return false;
    if (state != H5D_FILL_VALUE_USER_DEFINED)
        return true;
    void *value = calloc(1, H5Tget_size(type));
    hid_t space = H5Screate(H5S_SCALAR);
    bool ok = value && H5Pget_fill_value(from, type, value) >= 0;
    if (ok) {
        ok = H5Pset_fill_value(to, type, value) >= 0 && H5Pset_fill_time(to, when) >= 0;
        H5Treclaim(type, space, H5P_DEFAULT, value);
    }
    H5Sclose(space);
    free(value);
    return ok;
}

/* ---- A piece ------------------------------------------------------------------------------------------ */

struct datasets {
    hid_t in, out, type, in_space, out_space;
    const struct item *it;
};

static hid_t select_rows(hid_t space, const struct item *it, uint64_t first, uint64_t count)
{
    hsize_t start[H5S_MAX_RANK] = {0}, size[H5S_MAX_RANK];
    if (it->rank == 0)
        return H5Scopy(space);
    memcpy(size, it->dims, (size_t)it->rank * sizeof *size);
    start[0] = first;
    size[0] = count;
    if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) < 0)
        return H5I_INVALID_HID;
    return H5Screate_simple(it->rank, size, NULL);
}

static enum h5vec_status repoint_all(struct copying *c, const struct datasets *d, char *values, uint64_t n,
                                     struct h5vec_error *err)
{
    enum h5vec_status st = H5VEC_OK;
    bool any = h5vcat_repoint_contents(d->type) & CONTENTS_REFERENCES;
    for (uint64_t i = 0; i < n && any && !st; i++)
        st = h5vcat_repoint(&c->to, d->type, values + i * d->it->element, err);
    return h5vcat_about(err, st, c->file, d->it->path);
}

/* Read rows [first, first + count) of the input and write them from row `to` on. *full: they do not fit. */
static enum h5vec_status copy_piece(struct copying *c, const struct datasets *d, uint64_t first,
                                    uint64_t count, uint64_t to, bool *full, struct h5vec_error *err)
{
    char *values = c->m->rows_buffer;
    const struct item *it = d->it;
    hid_t memory = select_rows(d->in_space, it, first, count);
    enum h5vec_status st = H5VEC_OK;
    c->arena.used = 0;
    c->arena.full = false;
    memset(values, 0, (size_t)(count * it->row_bytes));
    bool read = memory >= 0 && H5Dread(d->in, d->type, memory, d->in_space, c->dxpl, values) >= 0;
    *full = c->arena.full;
    if (!read && !*full)
        st = h5vec_layer_error_hdf5(err, "%s: %s: cannot read rows from %llu on", c->file, it->path,
                                    (unsigned long long)first);
    if (!st && !*full)
        st = repoint_all(c, d, values, count * (it->row_bytes / it->element), err);
    hid_t written = st || *full ? H5I_INVALID_HID : select_rows(d->out_space, it, to, count);
    if (!st && !*full &&
        (written < 0 || H5Dwrite(d->out, d->type, memory, d->out_space, c->dxpl, values) < 0))
        st = h5vec_layer_error_hdf5(err, "%s: %s: cannot write", c->m->options->output, it->path);
    if (read)
        H5Treclaim(d->type, memory, c->dxpl, values);
    if (written >= 0)
        H5Sclose(written);
    if (memory >= 0)
        H5Sclose(memory);
    return st;
}

/* ---- A dataset ---------------------------------------------------------------------------------------- */

static enum h5vec_status copy_rows(struct copying *c, const struct datasets *d, uint64_t rows, uint64_t to,
                                   struct h5vec_error *err)
{
    uint64_t most = c->arena.size / d->it->row_bytes; /* the elements' half is as large */
    enum h5vec_status st = H5VEC_OK;
    for (uint64_t first = 0; first < rows && !st;) {
        uint64_t count = rows - first < most ? rows - first : most;
        bool full = count == 0;
        if (count > 0)
            st = copy_piece(c, d, first, count, to + first, &full, err);
        if (!st && full && count <= 1)
            return h5vec_error_set(err, H5VEC_E_USAGE, 0,
                                   "%s: %s: row %llu does not fit; a larger --buffer-size would do", c->file,
                                   d->it->path, (unsigned long long)first);
        if (full)
            most = count / 2;
        else
            first += count;
    }
    return st;
}

/* A scalar: the first input's is written, the others' must mean the same. */
static enum h5vec_status copy_scalar(struct copying *c, const struct datasets *d, int item, bool is_first,
                                     struct h5vec_error *err)
{
    char *value = c->m->rows_buffer;
    memset(value, 0, d->it->element);
    c->arena.used = 0;
    if (H5Dread(d->in, d->type, H5S_ALL, H5S_ALL, c->dxpl, value) < 0)
        return h5vec_layer_error_hdf5(err, "%s: %s: cannot read", c->file, d->it->path);
    uint64_t hash = h5vcat_repoint_hash(&c->to, d->type, value, 0);
    enum h5vec_status st = H5VEC_OK;
    if (!is_first && hash != c->hashes[item])
        st = h5vec_error_set(err, H5VEC_E_INCOMPATIBLE, 0, "%s: %s: another value than in %s", c->file,
                             d->it->path, c->m->inputs.names[0]);
    c->hashes[item] = hash;
    hid_t scalar = H5Screate(H5S_SCALAR);
    H5Treclaim(d->type, scalar, c->dxpl, value);
    H5Sclose(scalar);
    if (is_first) {
        bool full;
        st = copy_piece(c, d, 0, 1, 0, &full, err);
    }
    return st;
}

static enum h5vec_status copy_dataset(struct copying *c, int item, bool is_first, struct h5vec_error *err)
{
    struct datasets d = {.it = &c->m->schema->items[item]};
    hsize_t dims[H5S_MAX_RANK] = {0};
    enum h5vec_status st = H5VEC_OK;
    d.in = H5Dopen2(c->to.in, d.it->path, H5P_DEFAULT);
    d.out = H5Dopen2(c->to.out, d.it->path, H5P_DEFAULT);
    d.in_space = d.in < 0 ? d.in : H5Dget_space(d.in);
    d.out_space = d.out < 0 ? d.out : H5Dget_space(d.out);
    d.type = d.in < 0 ? d.in : H5Dget_type(d.in);
    if (d.type < 0 || d.in_space < 0 || d.out_space < 0)
        st = h5vec_layer_error_hdf5(err, "%s: %s: cannot open", c->file, d.it->path);
    else if (d.it->rank == 0)
        st = d.it->value ? copy_scalar(c, &d, item, is_first, err) : H5VEC_OK;
    else if (H5Sget_simple_extent_dims(d.in_space, dims, NULL) > 0 && d.it->row_bytes > 0)
        st = copy_rows(c, &d, dims[0], c->rows[item], err);
    c->rows[item] += dims[0];
    if (d.type >= 0)
        H5Tclose(d.type);
    if (d.in_space >= 0)
        H5Sclose(d.in_space);
    if (d.out_space >= 0)
        H5Sclose(d.out_space);
    if (d.in >= 0)
        H5Dclose(d.in);
    if (d.out >= 0)
        H5Dclose(d.out);
    return st;
}

/* ---- All of them -------------------------------------------------------------------------------------- */

/* Rows of the other datasets of an input, where a region may point. */
static void count_rows(struct copying *c)
{
    for (int i = 0; i < c->m->schema->count; i++) {
        const struct item *it = &c->m->schema->items[i];
        hsize_t dims[H5S_MAX_RANK] = {0};
        hid_t dset = it->kind == ITEM_ROWS ? H5Dopen2(c->to.in, it->path, H5P_DEFAULT) : H5I_INVALID_HID;
        hid_t space = dset < 0 ? dset : H5Dget_space(dset);
        if (space >= 0 && H5Sget_simple_extent_dims(space, dims, NULL) > 0)
            c->rows[i] += dims[0];
        if (space >= 0)
            H5Sclose(space);
        if (dset >= 0)
            H5Dclose(dset);
    }
}

static enum h5vec_status copy_inputs(struct copying *c, struct h5vec_error *err)
{
    const struct schema *s = c->m->schema;
    bool regions = false;
    for (int i = 0; i < s->count; i++)
        regions = regions || (s->items[i].kind == ITEM_POINTERS &&
                              h5vcat_repoint_contents(h5vcat_blob_type(s->items[i].type)) & CONTENTS_REGIONS);
    uint64_t *bases = calloc((size_t)s->count, sizeof *bases);
    enum h5vec_status st = bases ? H5VEC_OK : h5vcat_no_memory(err);
    c->to.bases = bases;
    for (uint32_t k = 0; k < c->m->inputs.count && !st; k++) {
        if (c->m->inputs.text[k])
            continue;
        c->file = c->m->inputs.names[k];
        memcpy(bases, c->rows, (size_t)s->count * sizeof *bases);
        st = h5vcat_reader_file(c->m->reader, k, &c->to.in, err);
        for (int i = 0; i < s->count && !st; i++)
            if (s->items[i].kind == ITEM_POINTERS)
                st = copy_dataset(c, i, k == 0, err);
        if (!st && regions)
            count_rows(c);
    }
    free(bases);
    return st;
}

enum h5vec_status h5vcat_pointers_write(const struct merge *m, hid_t out, struct h5vec_error *err)
{
    size_t n = (size_t)m->schema->count, half = (size_t)(m->budget.rows / 2) / 16 * 16;
    if (!h5vcat_pointers_any(m->schema))
        return H5VEC_OK;
    struct copying c = {.m = m, .to = {.out = out, .schema = m->schema}};
    c.arena = (struct arena){.at = m->rows_buffer + half, .size = half};
    c.rows = calloc(n, sizeof *c.rows);
    c.hashes = calloc(n, sizeof *c.hashes);
    c.dxpl = H5Pcreate(H5P_DATASET_XFER);
    enum h5vec_status st = H5VEC_OK;
    if (!c.rows || !c.hashes)
        st = h5vcat_no_memory(err);
    else if (c.dxpl < 0 || H5Pset_vlen_mem_manager(c.dxpl, arena_take, &c.arena, arena_give, &c.arena) < 0)
        st = h5vec_layer_error_hdf5(err, "%s: cannot set up reading", m->options->output);
    else
        st = copy_inputs(&c, err);
    if (c.dxpl >= 0)
        H5Pclose(c.dxpl);
    free(c.rows);
    free(c.hashes);
    return st;
}

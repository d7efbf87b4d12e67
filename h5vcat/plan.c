/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers, storage, budget.
 */
#include "error.h"
#include "plan.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "H5Zh5vec.h"
#include "agree.h"
#include "foreign.h"
#include "join.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define KEEP_CHUNK (256 * KIB) /* an input's chunk of at least so many bytes is kept */
#define MAX_COMPACT 60000      /* bytes; an object header message holds 64 KiB less its own fields */
#define BOX_BYTES (4 * MIB)    /* of contiguous data read and written at a time, unless the buffer is small */
#define MAX_PARAMETERS 256     /* of a filter */
#define MAX_CHUNK ((uint64_t)INT32_MAX) /* bytes: a message between ranks carries a chunk */

/* libdeflate's level for each level of zlib's on record: the fastest that does not make larger output on
 * detector and map data (tuning/README.md has the figures). */
static const int libdeflate_level[10] = {0, 1, 2, 3, 4, 5, 5, 6, 8, 9};

bool h5vcat_plan_wanted(const struct item *it)
{
    return !it->optional || it->present;
}

/* ---- Storage ----------------------------------------------------------------------------------------- */

static bool set_maxdims(const struct item *it, struct storage *s)
{
    bool extendible = false;
    for (int d = 0; d < it->rank; d++) {
        hsize_t size = d ? it->dims[d] : it->total, max = d ? it->dims[it->rank + d] : it->max_rows;
        s->maxdims[d] = max > size ? max : size;
        if (it->unlimited >> d & 1)
            s->maxdims[d] = H5S_UNLIMITED;
        extendible = extendible || s->maxdims[d] != size;
    }
    return extendible;
}

static void remove_filter(struct pipeline *p, int i)
{
    memmove(&p->filter[i], &p->filter[i + 1], (size_t)(p->count - i - 1) * sizeof p->filter[0]);
    p->count--;
}

static void insert_filter(struct pipeline *p, int i, H5Z_filter_t id, unsigned value)
{
    if (p->count == PIPELINE_MAX)
        return;
    memmove(&p->filter[i + 1], &p->filter[i], (size_t)(p->count - i) * sizeof p->filter[0]);
    p->filter[i].id = id;
    p->filter[i].flags = H5Z_FLAG_OPTIONAL;
    p->filter[i].value = value;
    p->count++;
}

static bool is_compressor(H5Z_filter_t id)
{
    return id != H5Z_FILTER_SHUFFLE && id != H5Z_FILTER_FLETCHER32;
}

/* Geometries have the codec or not as --codec says, whatever the input has. */
static void set_codec(const struct h5vcat_options *o, const struct item *it, struct pipeline *p)
{
    if (it->role != H5VEC_LAYER_ROLE_WKB)
        return;
    for (int i; (i = h5vcat_pipeline_find(p, H5Z_FILTER_H5VEC)) >= 0;)
        remove_filter(p, i);
    if (o->codec == H5VCAT_CODEC_VECTOR && p->count < PIPELINE_MAX) {
        insert_filter(p, 0, H5Z_FILTER_H5VEC, H5Z_H5VEC_VALUE);
        p->filter[0].flags = H5Z_FLAG_MANDATORY;
    }
}

/* Scale-offset of floats rounds them once more for every other chunk that they are in: shuffle and deflate
 * stand for it. That of integers keeps all of them with as many bits as a chunk needs (add_filter). */
static void replace_rounding(hid_t dcpl, struct pipeline *p, unsigned element)
{
    unsigned values[MAX_PARAMETERS], flags, config;
    size_t n = MAX_PARAMETERS;
    int at = h5vcat_pipeline_find(p, H5Z_FILTER_SCALEOFFSET);
    if (at < 0 ||
        H5Pget_filter_by_id2(dcpl, H5Z_FILTER_SCALEOFFSET, &flags, &n, values, 0, NULL, &config) < 0 ||
        values[0] == H5Z_SO_INT)
        return;
    remove_filter(p, at);
    if (h5vcat_pipeline_find(p, H5Z_FILTER_DEFLATE) < 0)
        insert_filter(p, at, H5Z_FILTER_DEFLATE, 6);
    if (h5vcat_pipeline_find(p, H5Z_FILTER_SHUFFLE) < 0)
        insert_filter(p, at, H5Z_FILTER_SHUFFLE, element);
}

/* The input's pipeline with --compress and --shuffle applied. */
static void set_filters(const struct h5vcat_options *o, const struct item *it, struct pipeline *p)
{
    bool shuffled = h5vcat_pipeline_find(p, H5Z_FILTER_SHUFFLE) >= 0;
    H5Z_filter_t foreign;
    if (o->compress != H5VCAT_COMPRESS_KEEP)
        for (int i = p->count - 1; i >= 0; i--)
            if (is_compressor(p->filter[i].id))
                remove_filter(p, i);
    /* Shuffle alone would only cost time. */
    bool shuffle = o->shuffle == H5VCAT_SHUFFLE_ON ||
                   (o->shuffle == H5VCAT_SHUFFLE_KEEP && shuffled && o->compress != H5VCAT_COMPRESS_NONE);
    if (!shuffle && shuffled)
        remove_filter(p, h5vcat_pipeline_find(p, H5Z_FILTER_SHUFFLE));
    /* Others take values, not bytes (nbit, scale-offset), or shuffle by themselves. */
    if (shuffle && !shuffled && it->element > 1 && h5vcat_pipeline_is_ours(p, &foreign))
        insert_filter(p, 0, H5Z_FILTER_SHUFFLE, it->element);
    if (o->compress == H5VCAT_COMPRESS_DEFLATE) {
        int at = h5vcat_pipeline_find(p, H5Z_FILTER_SHUFFLE) + 1;
        insert_filter(p, at, H5Z_FILTER_DEFLATE, (unsigned)(o->compress_level > 9 ? 9 : o->compress_level));
        p->level = o->compress_level;
        return;
    }
    int deflate = h5vcat_pipeline_find(p, H5Z_FILTER_DEFLATE);
    unsigned level = deflate < 0 ? 0 : p->filter[deflate].value > 9 ? 9 : p->filter[deflate].value;
    p->level = libdeflate_level[level];
}

/* A chunk of about target bytes: whole rows if one fits, else part of one in the input's proportions. */
static void aim_chunk(const struct item *it, hid_t dcpl, uint64_t target, hsize_t *chunk)
{
    hsize_t old[H5S_MAX_RANK];
    if (it->row_bytes <= target) {
        memcpy(chunk, it->dims, (size_t)it->rank * sizeof *chunk);
        chunk[0] = it->row_bytes ? target / it->row_bytes : 1;
    } else {
        bool chunked = H5Pget_layout(dcpl) == H5D_CHUNKED && H5Pget_chunk(dcpl, it->rank, old) == it->rank;
        memcpy(chunk, chunked ? old : it->dims, (size_t)it->rank * sizeof *chunk);
        chunk[0] = 1;
        for (;;) {
            uint64_t bytes = it->element;
            int largest = 0;
            for (int d = 0; d < it->rank; d++) {
                bytes *= chunk[d];
                if (chunk[d] > chunk[largest])
                    largest = d;
            }
            if (bytes <= target || chunk[largest] == 1)
                break;
            chunk[largest] = (chunk[largest] + 1) / 2;
        }
    }
    if (chunk[0] > it->total)
        chunk[0] = it->total;
    for (int d = 0; d < it->rank; d++)
        if (chunk[d] == 0)
            chunk[d] = 1;
}

static uint64_t array_bytes(const struct item *it, const hsize_t *dims)
{
    uint64_t bytes = it->element;
    for (int d = 0; d < it->rank; d++)
        bytes *= dims[d];
    return bytes;
}

static void set_chunk(const struct merge *m, const struct item *it, hid_t dcpl, struct storage *s)
{
    uint64_t target = m->options->chunk_size;
    bool chunked = H5Pget_layout(dcpl) == H5D_CHUNKED && H5Pget_chunk(dcpl, it->rank, s->chunk) == it->rank;
    bool keep = chunked && !target && it->first != NOBODY && it->chunks_agree &&
                array_bytes(it, s->chunk) >= KEEP_CHUNK;
    if (!keep && !(chunked && it->total == 0)) {
        if (!target)
            target = it->row_bytes == it->element ? MIB : 4 * MIB;
        aim_chunk(it, dcpl, target, s->chunk);
    }
    for (int d = 0; d < it->rank; d++)
        if (s->maxdims[d] != H5S_UNLIMITED && s->chunk[d] > s->maxdims[d])
            s->chunk[d] = s->maxdims[d] ? s->maxdims[d] : 1;
}

/* The box in which contiguous data is handled: a run of bytes of the file, whole rows if they are small. */
static void set_box(const struct merge *m, const struct item *it, struct storage *s)
{
    uint64_t bytes = it->element, most = m->options->buffer_size / 64;
    if (most > BOX_BYTES)
        most = BOX_BYTES;
    for (int d = it->rank - 1; d >= 0; d--) {
        hsize_t size = d ? it->dims[d] : it->total, fit = bytes < most ? most / bytes : 1;
        s->chunk[d] = fit < size ? fit : size;
        bytes = fit < size ? most : bytes * size;
        if (s->chunk[d] == 0)
            s->chunk[d] = 1;
        if (bytes == 0) /* a dimension of no extent */
            bytes = 1;
    }
    if (s->layout == H5D_COMPACT) /* one piece */
        s->chunk[0] = it->total ? it->total : 1;
}

enum h5vec_status h5vcat_plan_storage(const struct merge *m, const struct item *it, struct storage *s,
                                      struct h5vec_error *err)
{
    const struct h5vcat_options *o = m->options;
    memset(s, 0, sizeof *s);
    hid_t dcpl = h5vcat_schema_plist(m->schema, it->dcpl);
    if (dcpl < 0)
        return h5vec_layer_error_hdf5(err, "%s: cannot decode its properties", it->path);
    bool extendible = set_maxdims(it, s);
    bool filtered =
        it->total > 0 && (o->compress == H5VCAT_COMPRESS_DEFLATE || o->shuffle == H5VCAT_SHUFFLE_ON ||
                          (o->codec == H5VCAT_CODEC_VECTOR && it->role == H5VEC_LAYER_ROLE_WKB));
    s->layout = H5Pget_layout(dcpl);
    uint64_t stored =
        it->total * it->row_bytes * (it->kind == ITEM_POINTERS ? 2 : 1); /* of a string: 16, not 8 */
    if (s->layout == H5D_COMPACT && stored > MAX_COMPACT)
        s->layout = H5D_CONTIGUOUS;
    if ((s->layout == H5D_CONTIGUOUS && (extendible || filtered)) || (s->layout == H5D_COMPACT && extendible))
        s->layout = H5D_CHUNKED;
    enum h5vec_status st = h5vcat_pipeline_get(dcpl, it->element, &s->pipeline, err);
    if (!st && s->layout == H5D_CHUNKED) {
        set_chunk(m, it, dcpl, s);
        replace_rounding(dcpl, &s->pipeline, it->element);
        set_filters(o, it, &s->pipeline);
        set_codec(o, it, &s->pipeline);
    } else if (!st) {
        set_box(m, it, s);
    }
    return st;
}

enum plan_joins h5vcat_plan_joins(const struct merge *m, const struct item *it, const struct storage *s)
{
    const struct h5vcat_options *o = m->options;
    if (o->splice == H5VCAT_SPLICE_NEVER || o->write != H5VCAT_WRITE_DIRECT ||
        o->compress == H5VCAT_COMPRESS_NONE ||
        (o->splice == H5VCAT_SPLICE_AUTO && o->compress != H5VCAT_COMPRESS_KEEP))
        return PLAN_JOINS_NEVER;
    if (s->layout != H5D_CHUNKED || !h5vcat_join_can(&s->pipeline))
        return PLAN_JOINS_FILTERS;
    return it->bytes_item >= 0 || it->role == H5VEC_LAYER_ROLE_BLOCKS ? PLAN_JOINS_VALUES : PLAN_JOINS;
}

/* Append filter i of a pipeline to a creation list, with all parameters that it has in the old one. */
static bool add_filter(hid_t dcpl, hid_t old, const struct pipeline *p, int i)
{
    unsigned values[MAX_PARAMETERS], flags, config;
    size_t n = MAX_PARAMETERS;
    H5Z_filter_t id = p->filter[i].id;
    bool known = !is_compressor(id) || id == H5Z_FILTER_DEFLATE || id == H5Z_FILTER_H5VEC;
    if (known || H5Pget_filter_by_id2(old, id, &flags, &n, values, 0, NULL, &config) < 0)
        return H5Pset_filter(dcpl, id, p->filter[i].flags, id != H5Z_FILTER_FLETCHER32,
                             &p->filter[i].value) >= 0;
    if (id == H5Z_FILTER_SCALEOFFSET && n > 1)
        values[1] = 0; /* bits: as many as the values need */
    return n <= MAX_PARAMETERS && H5Pset_filter(dcpl, id, flags, n, values) >= 0;
}

enum h5vec_status h5vcat_plan_dcpl(const struct merge *m, const struct item *it, const struct storage *s,
                                   hid_t *dcpl, struct h5vec_error *err)
{
    struct pipeline old;
    hid_t id = H5Pcopy(h5vcat_schema_plist(m->schema, it->dcpl));
    enum h5vec_status st = h5vcat_pipeline_get(id, it->element, &old, err);
    bool ok = !st && H5Pset_layout(id, s->layout) >= 0;
    if (ok && s->layout == H5D_CHUNKED)
        ok = H5Pset_chunk(id, it->rank, s->chunk) >= 0 && H5Pset_chunk_opts(id, 0) >= 0;
    bool same =
        h5vcat_pipeline_equal(&old, &s->pipeline) && h5vcat_pipeline_find(&old, H5Z_FILTER_SCALEOFFSET) < 0;
    if (ok && !same) {
        if (old.count > 0)
            ok = H5Premove_filter(id, H5Z_FILTER_ALL) >= 0;
        for (int i = 0; i < s->pipeline.count && ok; i++)
            ok = add_filter(id, h5vcat_schema_plist(m->schema, it->dcpl), &s->pipeline, i);
    }
    if (ok)
        ok =
            H5Pset_alloc_time(id, s->layout == H5D_CHUNKED ? H5D_ALLOC_TIME_INCR : H5D_ALLOC_TIME_EARLY) >= 0;
    if (ok) {
        *dcpl = id;
        return H5VEC_OK;
    }
    st = h5vec_layer_error_hdf5(err, "%s: cannot set its properties", it->path);
    H5Pclose(id);
    return st;
}

/* ---- Numbers ----------------------------------------------------------------------------------------- */

/* The group that an optional dataset is in is wanted with it. */
static void want_group(struct schema *s, const struct item *it)
{
    size_t n = (size_t)(strrchr(it->path, '/') - it->path);
    char *group = strndup(it->path, n);
    int i = group ? h5vcat_schema_find(s, group) : -1;
    if (i >= 0)
        s->items[i].present = true;
    free(group);
}

/* Layers grow, and their offsets have one row more than there are features: the rank with the last part adds
 * it. */
static void finish_layers(struct merge *m)
{
    struct schema *s = m->schema;
    const struct part *last = m->inputs.part_count ? &m->inputs.parts[m->inputs.part_count - 1] : NULL;
    bool is_last = last && last->input == m->inputs.count - 1 && last->hi == WHOLE;
    for (int i = 0; i < s->count; i++) {
        struct item *it = &s->items[i];
        if (it->layer >= 0 && it->kind == ITEM_ROWS)
            it->unlimited |= 1;
        if (it->bytes_item >= 0 && is_last)
            it->mine++;
        if (!h5vcat_plan_wanted(it))
            it->mine = 0;
        else if (it->optional && it->kind == ITEM_ROWS)
            want_group(s, it);
    }
}

static enum h5vec_status share_rows(struct merge *m, struct h5vec_error *err)
{
    struct schema *s = m->schema;
    int n = s->count;
    uint64_t *mine = calloc(3 * (size_t)n, sizeof *mine), *base = mine + n, *all = base + n;
    enum h5vec_status st = mine ? H5VEC_OK : h5vcat_no_memory(err);
    st = h5vcat_agree(m->comm, st, err);
    if (!st) {
        for (int i = 0; i < n; i++)
            mine[i] = s->items[i].mine;
        MPI_Exscan(mine, base, n, MPI_UINT64_T, MPI_SUM, m->comm);
        MPI_Allreduce(mine, all, n, MPI_UINT64_T, MPI_SUM, m->comm);
        for (int i = 0; i < n; i++) {
            s->items[i].base = m->rank ? base[i] : 0;
            s->items[i].total = all[i];
        }
        MPI_Allreduce(mine, all, n, MPI_INT64_T, MPI_MAX, m->comm);
        for (int i = 0; i < n; i++)
            s->items[i].most = all[i];
    }
    free(mine);
    return st;
}

/* ---- Checks and budget ------------------------------------------------------------------------------- */

static enum h5vec_status check_item(struct merge *m, const struct item *it, uint64_t *chunk,
                                    struct h5vec_error *err)
{
    struct storage s;
    H5Z_filter_t foreign;
    *chunk = 0;
    if (it->kind != ITEM_ROWS || it->total * it->row_bytes == 0)
        return H5VEC_OK;
    enum h5vec_status st = h5vcat_plan_storage(m, it, &s, err);
    if (st)
        return st;
    *chunk = array_bytes(it, s.chunk);
    if (!h5vcat_pipeline_is_ours(&s.pipeline, &foreign)) {
        hid_t dcpl = H5I_INVALID_HID;
        m->foreign = true;
        st = h5vcat_plan_dcpl(m, it, &s, &dcpl, err);
        if (st)
            return st;
        st = h5vcat_foreign_check(
            dcpl, m->options->write == H5VCAT_WRITE_DIRECT ? FOREIGN_WRITE : FOREIGN_WRITE_ALONE,
            m->inputs.names[it->first == NOBODY ? 0 : it->first], it->path, err);
        H5Pclose(dcpl);
        if (st)
            return st;
    }
    if (*chunk > MAX_CHUNK)
        return h5vec_error_set(
            err, H5VEC_E_USAGE, 0,
            "%s: a chunk of %llu bytes is larger than 2 GiB; --chunk-size makes smaller ones", it->path,
            (unsigned long long)*chunk);
    return H5VEC_OK;
}

/* Whether geometries are transformed in the output, or in the inputs that the schema knows. */
static bool uses_codec(const struct merge *m)
{
    bool uses = m->options->codec == H5VCAT_CODEC_VECTOR;
    for (int i = 0; i < m->schema->layer_count && !uses; i++) {
        struct pipeline p;
        const struct item *it = &m->schema->items[m->schema->layers[i].wkb];
        hid_t dcpl = h5vcat_schema_plist(m->schema, it->dcpl);
        uses = dcpl >= 0 && h5vcat_pipeline_get(dcpl, it->element, &p, NULL) == H5VEC_OK &&
               h5vcat_pipeline_find(&p, H5Z_FILTER_H5VEC) >= 0;
    }
    return uses;
}

/* Deal out --buffer-size. chunk: bytes of the largest chunk of the output, that of item. */
static enum h5vec_status make_budget(struct merge *m, uint64_t chunk, const char *item,
                                     struct h5vec_error *err)
{
    uint64_t buffer = m->options->buffer_size, in = m->input_chunk;
    uint64_t larger = chunk > in ? chunk : in;
    uint64_t plan =
        m->schema->memory + buffer / 16; /* the schema, and as much of the spool as stays in memory */
    uint64_t scratch = 2 * larger + in;  /* of the coder, and stored bytes */
    if (uses_codec(m) || m->foreign)
        scratch += 4 * larger;                   /* of the transform, or of HDF5 */
    uint64_t bound = chunk + chunk / 512 + 4096; /* encoded */
    uint64_t cache = in > buffer / 16 ? in : buffer / 16;
    uint64_t page = buffer / 16;
    uint64_t need = plan + scratch + cache + page + 4 * bound;
    if (need > buffer) {
        uint64_t enough = (m->schema->memory + scratch + in + 4 * bound) * 16 / 12 + MIB;
        return h5vec_error_set(
            err, H5VEC_E_USAGE, 0,
            "%s: chunks of %llu bytes (inputs: %llu) do not fit in --buffer-size %llu; %lluMiB "
            "would do, or a smaller --chunk-size",
            item, (unsigned long long)chunk, (unsigned long long)in, (unsigned long long)buffer,
            (unsigned long long)(enough / MIB + 1));
    }
    uint64_t rest = (buffer - plan - scratch - cache - page) / 4;
    m->budget =
        (struct budget){.rows = rest, .assembly = rest, .encoded = rest, .cache = cache, .page = page};
    return H5VEC_OK;
}

/* Each rank checks every P-th item. */
static enum h5vec_status check_items(struct merge *m, struct h5vec_error *err)
{
    struct {
        uint64_t bytes;
        int item;
    } largest = {0, 0};
    uint64_t bytes[3] = {0, m->input_chunk, 0}, chunk;
    enum h5vec_status st = H5VEC_OK;
    for (int i = m->rank; i < m->schema->count && !st; i += m->ranks) {
        st = check_item(m, &m->schema->items[i], &chunk, err);
        if (!st && chunk > largest.bytes) {
            largest.bytes = chunk;
            largest.item = i;
        }
    }
    st = h5vcat_agree(m->comm, st, err);
    if (st)
        return st;
    bytes[0] = largest.bytes;
    bytes[2] = m->foreign;
    MPI_Allreduce(MPI_IN_PLACE, bytes, 3, MPI_INT64_T, MPI_MAX, m->comm);
    int item = largest.bytes == bytes[0] ? largest.item : INT32_MAX;
    MPI_Allreduce(MPI_IN_PLACE, &item, 1, MPI_INT, MPI_MIN, m->comm);
    m->input_chunk = bytes[1];
    m->foreign = bytes[2];
    return make_budget(m, bytes[0], m->schema->items[item].path, err);
}

static void count(struct merge *m)
{
    struct h5vcat_report *r = &m->report;
    for (uint32_t i = 0; i < m->inputs.count; i++)
        r->input_bytes += m->inputs.sizes[i];
    r->inputs = m->inputs.count;
    r->layers = (uint64_t)m->schema->layer_count;
    for (int i = 0; i < m->schema->count; i++) {
        const struct item *it = &m->schema->items[i];
        if ((it->kind != ITEM_ROWS && it->kind != ITEM_SAME && it->kind != ITEM_POINTERS) ||
            !h5vcat_plan_wanted(it))
            continue;
        r->datasets++;
        r->rows += it->total;
        r->raw_bytes += it->total * it->row_bytes;
    }
    MPI_Allreduce(MPI_IN_PLACE, &r->invalid_geometries, 1, MPI_UINT64_T, MPI_SUM, m->comm);
}

enum h5vec_status h5vcat_plan_make(struct merge *m, struct h5vec_error *err)
{
    finish_layers(m);
    m->most_parts = m->inputs.part_count;
    MPI_Allreduce(MPI_IN_PLACE, &m->most_parts, 1, MPI_INT, MPI_MAX, m->comm);
    enum h5vec_status st = share_rows(m, err);
    if (!st)
        st = check_items(m, err);
    if (!st)
        count(m);
    return st;
}

/* ---- Telling ----------------------------------------------------------------------------------------- */

static int put_dims(char *to, size_t room, const hsize_t *dims, int rank, uint64_t first)
{
    int n = 0;
    for (int d = 0; d < rank && n < (int)room - 24; d++)
        n += snprintf(to + n, room - (size_t)n, "%s%llu", d ? "x" : "",
                      (unsigned long long)(d ? dims[d] : first));
    return n;
}

/* Rows of n, from row `first` of an input on, which has `from` rows a chunk, that lie in chunks not taken
 * whole by the output's, which has `to` rows a chunk and gets them at row `at`. */
static uint64_t cut_rows(uint64_t first, uint64_t n, uint64_t from, uint64_t at, uint64_t to)
{
    uint64_t cut = 0, rows;
    for (uint64_t row = 0; row < n && to > 0; row += rows) {
        rows = from - (first + row) % from;
        bool whole = rows == from && rows <= n - row && (at + row) % to + rows <= to;
        rows = rows < n - row ? rows : n - row;
        cut += whole ? 0 : rows;
    }
    return cut;
}

/* How many of this rank's rows of item i are in chunks that will be cut, about: inputs whose chunks differ
 * count with the first one's. */
static uint64_t my_cut_rows(const struct merge *m, int i)
{
    const struct item *it = &m->schema->items[i];
    struct storage s;
    struct rows rows;
    hsize_t from[H5S_MAX_RANK];
    hid_t dcpl = h5vcat_schema_plist(m->schema, it->dcpl);
    uint64_t at = it->base, cut = 0;
    if (dcpl < 0 || H5Pget_layout(dcpl) != H5D_CHUNKED || H5Pget_chunk(dcpl, it->rank, from) != it->rank ||
        h5vcat_plan_storage(m, it, &s, NULL))
        return 0;
    for (int k = 0; k < m->inputs.part_count; k++) {
        if (h5vcat_merge_numbers(m, k, i, 1, &rows, NULL))
            return 0;
        cut += cut_rows(rows_first(&rows), rows.count, from[0], at, s.chunk[0]);
        at += rows.count;
    }
    return cut;
}

/* cut: of the item's rows, in chunks that are cut. */
static void tell_item(const struct merge *m, const struct item *it, const uint64_t *mine, uint64_t cut)
{
    char joins[100] = "", shape[400] = "", chunk[400] = "", filters[400] = "", ranks[400] = "", name[32];
    struct storage s;
    if (h5vcat_plan_storage(m, it, &s, NULL))
        return;
    put_dims(shape, sizeof shape, it->dims, it->rank, it->total);
    put_dims(chunk, sizeof chunk, s.chunk, it->rank, s.chunk[0]);
    size_t n = 0;
    for (int i = 0; i < s.pipeline.count && n < sizeof filters - 64; i++)
        n += (size_t)snprintf(filters + n, sizeof filters - n, i ? "+%s" : " %s",
                              h5vcat_filter_name(s.pipeline.filter[i].id, name));
    n = 0;
    uint64_t at = 0;
    for (int r = 0; r < m->ranks && n < sizeof ranks - 64; at += mine[r++])
        n += (size_t)snprintf(ranks + n, sizeof ranks - n, r ? " %llu" : " rank offsets %llu",
                              (unsigned long long)at);
    if (h5vcat_plan_joins(m, it, &s) == PLAN_JOINS && it->total > 0)
        snprintf(joins, sizeof joins, ", spliced, %.1f %% of it in chunks that are cut",
                 100.0 * (double)cut / (double)it->total);
    const char *layout = s.layout == H5D_CHUNKED   ? "chunk "
                         : s.layout == H5D_COMPACT ? "compact"
                                                   : "contiguous";
    h5vcat_merge_say(
        m, H5VCAT_PLAN, "%s: %s%s, %llu bytes, %s%s%s%s;%s", it->path, shape,
        s.maxdims[0] == H5S_UNLIMITED ? " (unlimited)" : "", (unsigned long long)(it->total * it->row_bytes),
        layout, s.layout == H5D_CHUNKED ? chunk : "", s.layout == H5D_CHUNKED ? filters : "", joins, ranks);
}

void h5vcat_plan_tell(const struct merge *m)
{
    for (uint32_t i = 0; i < m->inputs.count; i++)
        h5vcat_merge_say(m, H5VCAT_PLAN, "input %s: %llu bytes%s", m->inputs.names[i],
                         (unsigned long long)m->inputs.sizes[i], m->inputs.text[i] ? ", text" : "");
    uint64_t *mine = calloc((size_t)m->ranks, sizeof *mine);
    for (int i = 0; i < m->schema->count; i++) {
        const struct item *it = &m->schema->items[i];
        if (it->kind != ITEM_ROWS || !h5vcat_plan_wanted(it))
            continue;
        uint64_t cut = my_cut_rows(m, i), all = 0;
        MPI_Reduce(&cut, &all, 1, MPI_UINT64_T, MPI_SUM, 0, m->comm);
        if (mine)
            MPI_Gather(&it->mine, 1, MPI_UINT64_T, mine, 1, MPI_UINT64_T, 0, m->comm);
        if (mine && m->rank == 0)
            tell_item(m, it, mine, all);
    }
    free(mine);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The source stage's first pass: every input is compared with the first one, and what the plan needs is
 * collected. No rank holds files x datasets numbers: those of its own parts go to the spool.
 */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "error.h"
#include "agree.h"
#include "attributes.h"
#include "blocks.h"
#include "cuts.h"
#include "foreign.h"
#include "links.h"
#include "match.h"
#include "reader.h"

/* Room for the schema's items; nothing is known of new ones. */
enum h5vec_status h5vcat_match_room(struct matching *w, struct h5vec_error *err)
{
    int n = w->m->schema->count;
    if (w->items && w->rows && n <= w->room)
        return H5VEC_OK;
    int room = 2 * n;
    struct match *items = realloc(w->items, (size_t)room * sizeof *items);
    if (items)
        w->items = items;
    struct rows *rows = realloc(w->rows, (size_t)room * sizeof *rows);
    if (rows)
        w->rows = rows;
    if (!items || !rows)
        return h5vcat_no_memory(err);
    memset(rows + w->room, 0, (size_t)(room - w->room) * sizeof *rows);
    for (int i = w->room; i < room; i++)
        items[i] = (struct match){.first = NOBODY};
    w->room = room;
    return H5VEC_OK;
}

/* ---- Rows ---------------------------------------------------------------------------------------------- */

/* Bytes of a decoded chunk, and a number that is the same for equal chunks; 0 and 1 without chunks. */
static uint64_t chunk_bytes(const struct scan_object *o, uint64_t *hash)
{
    hsize_t chunk[H5S_MAX_RANK];
    *hash = 1;
    if (H5Pget_layout(o->dcpl) != H5D_CHUNKED || H5Pget_chunk(o->dcpl, o->rank, chunk) != o->rank)
        return 0;
    *hash = XXH64(chunk, (size_t)o->rank * sizeof *chunk, 0) >>
            1; /* MPICH 4.0's MPI_MAX takes the top bit for a sign */
    uint64_t bytes = o->element;
    for (int d = 0; d < o->rank; d++)
        bytes *= chunk[d];
    return bytes;
}

/* Rows that this rank takes from a dataset: count and properties. */
enum h5vec_status h5vcat_match_rows(struct matching *w, int i, const struct scan_object *o,
                                    struct h5vec_error *err)
{
    struct item *it = &w->m->schema->items[i];
    if (it->layer < 0) { /* those of layers come from the layer as a whole */
        w->rows[i].start = cut_row(o->dims[0], w->part->lo);
        w->rows[i].count = cut_row(o->dims[0], w->part->hi) - w->rows[i].start;
        if (w->part->lo == 0 && w->part->hi == WHOLE && it->kind == ITEM_ROWS)
            h5vcat_reader_remember(w->m->reader, o->id, o->dcpl, o->rank, o->dims, o->element, &w->rows[i]);
    }
    for (int d = 0; d < o->rank; d++)
        if (o->maxdims[d] == H5S_UNLIMITED)
            it->unlimited |= 1u << d;
    if (o->maxdims[0] != H5S_UNLIMITED && o->maxdims[0] > o->dims[0] && o->maxdims[0] > it->max_rows)
        it->max_rows = o->maxdims[0];
    if (o->dims[0] == 0)
        return H5VEC_OK;
    enum h5vec_status st = h5vcat_foreign_check(o->dcpl, FOREIGN_READ, o->file, o->path, err);
    if (st)
        return st;
    uint64_t hash, bytes = chunk_bytes(o, &hash);
    if (bytes > w->m->input_chunk)
        w->m->input_chunk = bytes;
    if (w->items[i].first != NOBODY) {
        it->chunks_agree = it->chunks_agree && hash == w->items[i].chunk;
        return H5VEC_OK;
    }
    w->items[i].first = w->part->input;
    w->items[i].chunk = hash;
    if (w->part->input > 0) {
        w->items[i].mine = h5vcat_schema_encode_plist(w->m->schema, o->dcpl);
        if (!w->items[i].mine)
            return h5vec_layer_error_hdf5(err, "%s: %s: cannot read its properties", o->file, o->path);
    }
    return H5VEC_OK;
}

/* ---- The schema ---------------------------------------------------------------------------------------- */

/* Rank 0: the schema of the first input. */
static enum h5vec_status build_schema(struct matching *w, struct h5vec_error *err)
{
    struct merge *m = w->m;
    m->schema = h5vcat_schema_new();
    if (!m->schema)
        return h5vcat_no_memory(err);
    enum h5vec_status st =
        m->inputs.text[0] ? h5vcat_text_schema(m, m->schema, 0, err) : h5vcat_build_hdf5(w, 0, err);
    if (!st)
        st = h5vcat_build_layers(m->schema, err);
    if (!st)
        h5vcat_schema_link(m->schema);
    return st;
}

/* ---- Ahead of the schema ------------------------------------------------------------------------------- */

/* Other ranks, while rank 0 is at the first input: a schema of the first input of this rank's. NULL if there
 * is none or something is wrong with it, which is found, and said, when the input is matched. */
static struct schema *build_ahead(struct matching *w)
{
    struct merge *m = w->m;
    if (m->inputs.part_count == 0 || m->inputs.text[m->inputs.parts->input])
        return NULL;
    struct schema *ahead = m->schema = h5vcat_schema_new();
    if (ahead && h5vcat_build_hdf5(w, m->inputs.parts->input, NULL))
        w->built = false;
    m->schema = NULL;
    return ahead;
}

static bool same_blob(const struct blob *a, const struct blob *b)
{
    return a && b ? a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0 : a == b;
}

static bool same_item(const struct item *a, const struct item *b)
{
    return strcmp(a->path, b->path) == 0 && a->kind == b->kind && a->rank == b->rank &&
           a->element == b->element && a->time == b->time &&
           (a->rank == 0 || memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0) &&
           same_blob(a->type, b->type) && same_blob(a->value, b->value);
}

/* If what was built ahead is like rank 0's schema, its matches are taken; else the part is matched again. */
static enum h5vec_status adopt(struct matching *w, const struct schema *ahead, struct h5vec_error *err)
{
    struct schema *s = w->m->schema;
    bool same = w->built && ahead->count == s->count;
    for (int i = 0; i < s->count && same; i++)
        same = same_item(&ahead->items[i], &s->items[i]);
    w->built = same;
    for (int i = 0; i < w->room && !same; i++)
        w->items[i] = (struct match){.first = NOBODY};
    for (int i = 0; i < s->count && same; i++) {
        s->items[i].unlimited = ahead->items[i].unlimited;
        s->items[i].max_rows = ahead->items[i].max_rows;
        struct blob *mine = w->items[i].mine;
        if (mine && !(w->items[i].mine = h5vcat_schema_blob(s, mine->bytes, mine->size)))
            return h5vcat_no_memory(err);
    }
    return H5VEC_OK;
}

/* ---- An input against the schema ----------------------------------------------------------------------- */

static enum h5vec_status differs(const struct matching *w, const struct scan_object *o, const char *what,
                                 struct h5vec_error *err)
{
    return h5vec_error_set(err, H5VEC_E_INCOMPATIBLE, 0, "%s: %s: %s than in %s", o->file, o->path, what,
                           w->m->inputs.names[0]);
}

static enum h5vec_status match_scalar(const struct matching *w, const struct item *it,
                                      const struct scan_object *o, struct h5vec_error *err)
{
    if ((o->space == H5S_NULL) != (it->value == NULL))
        return differs(w, o, "another kind of dataspace", err);
    if (!it->value || it->kind == ITEM_POINTERS)
        return H5VEC_OK;
    void *bytes = NULL;
    enum h5vec_status st = h5vcat_build_scalar(o, &bytes, err);
    if (bytes && memcmp(bytes, it->value->bytes, o->element) != 0)
        st = differs(w, o, "another value", err);
    free(bytes);
    return st;
}

/* The character sets of the variable-length strings in a type: H5Tequal does not compare them. */
static uint64_t text_sets(hid_t type, uint64_t seed)
{
    H5T_class_t class = H5Tget_class(type);
    if (class == H5T_STRING && H5Tis_variable_str(type) > 0)
        return seed * 4 + (uint64_t)H5Tget_cset(type) + 1;
    int n = class == H5T_COMPOUND ? H5Tget_nmembers(type) : class == H5T_ARRAY || class == H5T_VLEN;
    for (int i = 0; i < n; i++) {
        hid_t inner = class == H5T_COMPOUND ? H5Tget_member_type(type, (unsigned)i) : H5Tget_super(type);
        seed = text_sets(inner, seed);
        H5Tclose(inner);
    }
    return seed;
}

/* Whether two types are the same: HDF5 tells variable-length ones of two files apart, so that both are taken
 * apart and put together again in memory. */
static bool same_type(hid_t type, hid_t other)
{
    if (text_sets(type, 0) != text_sets(other, 0))
        return false;
    if (H5Tequal(type, other) > 0)
        return true;
    size_t size = 0;
    if (H5Tencode(other, NULL, &size) < 0)
        return false;
    void *bytes = malloc(size);
    hid_t copy = bytes && H5Tencode(other, bytes, &size) >= 0 ? H5Tdecode(bytes) : H5I_INVALID_HID;
    bool same = copy >= 0 && H5Tequal(type, copy) > 0;
    if (copy >= 0)
        H5Tclose(copy);
    free(bytes);
    return same;
}

static enum h5vec_status match_type(const struct matching *w, struct item *it, hid_t other,
                                    const struct scan_object *o, struct h5vec_error *err)
{
    hid_t type = h5vcat_blob_type(it->type);
    if (type < 0)
        return h5vec_layer_error_hdf5(err, "%s: %s: cannot decode its type", o->file, o->path);
    if (same_type(type, other))
        return H5VEC_OK;
    char *mine = h5vec_layer_type_text(other), *first = h5vec_layer_type_text(type);
    enum h5vec_status st = h5vec_error_set(
        err, H5VEC_E_INCOMPATIBLE, 0, "%s: %s: another type (%s) than in %s (%s)%s", o->file, o->path,
        mine ? mine : "?", w->m->inputs.names[0], first ? first : "?",
        it->role == H5VEC_LAYER_ROLE_COLUMN_FIXED ? "; --types gives the columns of texts the same ones"
                                                  : "");
    free(mine);
    free(first);
    return st;
}

static enum h5vec_status match_link(const struct matching *w, const struct item *it,
                                    const struct scan_object *o, struct h5vec_error *err)
{
    const struct blob *b = h5vcat_links_blob(w->m->schema, w->m->directory, o);
    if (!b)
        return h5vcat_no_memory(err);
    return b == it->value ? H5VEC_OK : differs(w, o, "a link to another object", err);
}

static enum h5vec_status match_dataset(struct matching *w, int i, const struct scan_object *o,
                                       struct h5vec_error *err)
{
    struct item *it = &w->m->schema->items[i];
    if (o->rank != it->rank)
        return differs(w, o, "another rank", err);
    bool time = false;
    enum h5vec_status st = match_type(w, it, o->type, o, err);
    if (!st && it->role == H5VEC_LAYER_ROLE_COLUMN_FIXED)
        st = h5vcat_about(err, h5vec_layer_is_time(o->id, &time, err), o->file, o->path);
    if (st)
        return st;
    if (it->time != time)
        return differs(w, o, "other units (times, or just numbers)", err);
    for (int d = 1; d < o->rank; d++)
        if (o->dims[d] != it->dims[d])
            return differs(w, o, "another size of a dimension after the first", err);
    return it->rank > 0 ? h5vcat_match_rows(w, i, o, err) : match_scalar(w, it, o, err);
}

static enum h5vec_status add_skipped(struct layer_plan *l, const struct scan_object *o,
                                     struct h5vec_error *err)
{
    uint64_t skipped;
    enum h5vec_status st = h5vcat_attributes_skipped(o->id, &skipped, err);
    l->skipped += skipped;
    return st;
}

/* The rows of every dataset of a layer follow from its features [lo, hi). */
static enum h5vec_status match_layer(struct matching *w, const struct scan_object *o, int number,
                                     struct h5vec_error *err)
{
    struct merge *m = w->m;
    struct h5vec_layer *layer;
    enum h5vec_status st = h5vec_layer_open(o->id, ".", &layer, err);
    if (st)
        return h5vcat_about(err, st, o->file, o->path);
    const struct h5vec_layer_info *info = h5vec_layer_info(layer);
    uint64_t lo = cut_row(info->rows, w->part->lo), hi = cut_row(info->rows, w->part->hi);
    m->schema->layers[number].features += hi - lo;
    st = h5vcat_layers_crs(m, number, w->part->input, info->geo, err);
    h5vec_layer_free(layer);
    if (!st && w->part->lo == 0)
        st = h5vcat_about(err, add_skipped(&m->schema->layers[number], o, err), o->file, o->path);
    for (int i = 0; i < m->schema->count && !st; i++) {
        struct item *it = &m->schema->items[i];
        if (it->layer != number || it->kind != ITEM_ROWS || it->role == H5VEC_LAYER_ROLE_BLOCKS)
            continue;
        w->rows[i] = (struct rows){.start = it->optional ? ROWS_VALID : lo, .count = hi - lo};
    }
    return st;
}

static enum scan_kind kind_of(const struct item *it)
{
    switch (it->kind) {
    case ITEM_GROUP:
        return SCAN_GROUP;
    case ITEM_TYPE:
        return SCAN_TYPE;
    case ITEM_LINK:
        return SCAN_LINK;
    default:
        return SCAN_DATASET;
    }
}

static enum h5vec_status match_visit(void *context, const struct scan_object *o, struct h5vec_error *err)
{
    struct matching *w = context;
    struct schema *s = w->m->schema;
    enum h5vec_layer_role role;
    enum h5vec_status st = h5vcat_build_role(o, &role, err);
    if (st)
        return st;
    int i = h5vcat_schema_find(s, o->path);
    if (i < 0)
        return h5vec_error_set(err, H5VEC_E_INCOMPATIBLE, 0, "%s: %s: is not in %s", o->file, o->path,
                               w->m->inputs.names[0]);
    struct item *it = &s->items[i];
    if (o->kind != kind_of(it))
        return differs(w, o, "another kind of object", err);
    if (o->is_layer != it->is_layer)
        return differs(w, o, o->is_layer ? "is a layer, other" : "is no layer, other", err);
    w->items[i].seen = true;
    it->present |= it->optional;
    if (o->is_layer)
        return match_layer(w, o, it->layer, err);
    if (o->kind == SCAN_GROUP)
        return H5VEC_OK;
    if (o->kind == SCAN_TYPE)
        return match_type(w, it, o->id, o, err);
    if (o->kind == SCAN_LINK)
        return match_link(w, it, o, err);
    if (it->optional)
        w->rows[i].start = w->rows[s->layers[it->layer].offsets].start;
    return match_dataset(w, i, o, err);
}

/* Byte ranges of a layer's WKB and text columns: from the offsets at the cuts. */
static enum h5vec_status layer_bytes(struct matching *w, hid_t file, struct h5vec_error *err)
{
    struct schema *s = w->m->schema;
    for (int i = 0; i < s->count; i++) {
        if (s->items[i].bytes_item < 0)
            continue;
        int64_t at[2];
        enum h5vec_status st = h5vcat_reader_offsets(file, w->name, s->items[i].path, &w->rows[i], at, err);
        if (st)
            return st;
        w->rows[s->items[i].bytes_item] =
            (struct rows){.start = (uint64_t)at[0], .count = (uint64_t)(at[1] - at[0])};
    }
    return H5VEC_OK;
}

static enum h5vec_status match_hdf5(struct matching *w, struct h5vec_error *err)
{
    struct schema *s = w->m->schema;
    hid_t file;
    enum h5vec_status st = h5vcat_reader_file(w->m->reader, w->part->input, &file, err);
    if (st)
        return st;
    for (int i = 0; i < s->count; i++)
        w->items[i].seen = false;
    st = h5vcat_scan_file(file, w->name, match_visit, w, err);
    for (int i = 0; i < s->count && !st; i++) {
        bool made = s->items[i].role == H5VEC_LAYER_ROLE_BLOCKS; /* ours, whatever the input has */
        if (!w->items[i].seen && !s->items[i].optional && !made)
            st = h5vec_error_set(err, H5VEC_E_INCOMPATIBLE, 0, "%s: %s: is missing; %s has it", w->name,
                                 s->items[i].path, w->m->inputs.names[0]);
    }
    if (!st)
        st = layer_bytes(w, file, err);
    return st;
}

static enum h5vec_status match_text(struct matching *w, struct h5vec_error *err)
{
    struct schema *s = w->m->schema;
    enum h5vec_status st = h5vcat_text_spool(w->m, w->part, w->rows, err);
    int number = h5vcat_layers_find(s, w->m->options->layer);
    for (int i = 0; i < s->count && !st; i++) {
        struct item *it = &s->items[i];
        it->unlimited |= it->layer == number;
        it->chunks_agree = it->chunks_agree && it->layer != number; /* a text has none: one is aimed at */
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): match_room() has set all */
        if (it->kind == ITEM_ROWS && w->rows[i].count > 0 && w->items[i].first == NOBODY) {
            w->items[i].first = w->part->input;
            w->items[i].chunk = 1;
        }
    }
    return st;
}

static enum h5vec_status match_part(struct matching *w, const struct part *part, struct h5vec_error *err)
{
    struct merge *m = w->m;
    struct schema *s = m->schema;
    w->part = part;
    w->name = m->inputs.names[part->input];
    enum h5vec_status st = H5VEC_OK;
    if (!w->built) {
        memset(w->rows, 0, (size_t)s->count * sizeof *w->rows);
        st = m->inputs.text[part->input] ? match_text(w, err) : match_hdf5(w, err);
    }
    w->built = false;
    if (st)
        return st;
    for (int i = 0; i < s->count; i++)
        s->items[i].mine += w->rows[i].count;
    return h5vcat_spool_append(m->spool, m->numbers, w->rows, (size_t)s->count * sizeof *w->rows, err);
}

/* ---- All of it ---------------------------------------------------------------------------------------- */

static enum h5vec_status match_all(struct matching *w, struct h5vec_error *err)
{
    struct merge *m = w->m;
    enum h5vec_status st = h5vcat_match_room(w, err);
    for (int p = 0; p < m->inputs.part_count && !st; p++) {
        st = match_part(w, &m->inputs.parts[p], err);
        if (part_is_cut(&m->inputs, &m->inputs.parts[p]))
            h5vcat_blocks_finish(m->blocks); /* others may wait for this rank */
    }
    h5vcat_blocks_finish(m->blocks);
    st = h5vcat_agree(m->comm, st, err);
    return st ? st : h5vcat_share_matches(m, w->items, err);
}

enum h5vec_status h5vcat_merge_numbers(const struct merge *m, int part, int first, int n, struct rows *out,
                                       struct h5vec_error *err)
{
    uint64_t at = ((uint64_t)part * (uint64_t)m->schema->count + (uint64_t)first) * sizeof *out;
    return h5vcat_spool_read(m->spool, m->numbers, at, out, (size_t)n * sizeof *out, err);
}

/* Make the schema and match the inputs against it. */
static enum h5vec_status gather(struct matching *w, struct h5vec_error *err)
{
    struct merge *m = w->m;
    struct schema *ahead = m->rank == 0 ? NULL : build_ahead(w);
    enum h5vec_status st = m->rank == 0 ? build_schema(w, err) : H5VEC_OK;
    st = h5vcat_agree(m->comm, st, err);
    if (!st)
        st = h5vcat_schema_broadcast(m->comm, &m->schema, err);
    if (!st)
        st = h5vcat_agree(m->comm, ahead ? adopt(w, ahead, err) : H5VEC_OK, err);
    h5vcat_schema_free(ahead);
    if (st)
        return st;
    m->streams = malloc((size_t)m->schema->count * sizeof *m->streams);
    if (m->streams)
        for (int i = 0; i < m->schema->count; i++)
            m->streams[i] = -1;
    m->vertices = -1;
    st = m->streams ? h5vcat_spool_stream(m->spool, &m->numbers, err) : h5vcat_no_memory(err);
    st = h5vcat_agree(m->comm, st, err);
    if (!st)
        st = h5vcat_cuts_find(m, err);
    if (!st)
        st = match_all(w, err);
    h5vcat_blocks_free(m->blocks);
    m->blocks = NULL;
    return st ? st : h5vcat_text_left_out(m, err);
}

enum h5vec_status h5vcat_gather_inputs(struct merge *m, struct h5vec_error *err)
{
    struct matching w = {.m = m};
    enum h5vec_status st = gather(&w, err);
    free(w.items);
    free(w.rows);
    return st;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Layers are not concatenated dataset by dataset alone: their CRS must agree, and the block index, the box
 * and the geometry types are made anew from the features. Each rank passes once over its features; a block
 * that a rank border cuts is joined from the parts that the ranks on both sides made.
 */
#include <stdlib.h>
#include <string.h>
#include "error.h"
#include "agree.h"
#include "merge.h"
#include "reader.h"

/* ---- The schema of a layer --------------------------------------------------------------------------- */

int h5vcat_layers_find(const struct schema *s, const char *path)
{
    for (int i = 0; i < s->layer_count; i++)
        if (strcmp(s->layers[i].path, path) == 0)
            return i;
    return -1;
}

static char *join_path(const char *layer, const char *path)
{
    bool root = strcmp(layer, "/") == 0;
    char *full = malloc(strlen(layer) + strlen(path) + 2);
    if (full) {
        strcpy(full, root ? "" : layer);
        if (*path || root)
            strcat(strcat(full, "/"), path);
    }
    return full;
}

/* The group with this absolute path, and every group above it. */
static enum h5vec_status add_groups(struct schema *s, int layer, char *path, struct h5vec_error *err)
{
    for (char *end = path; end; end = strchr(end + 1, '/')) {
        char keep = '\0';
        if (end > path) {
            keep = *end;
            *end = '\0';
        }
        const char *name = end > path ? path : "/";
        bool there = h5vcat_schema_find(s, name) >= 0;
        struct item *it = there ? NULL : h5vcat_schema_add(s, name);
        if (it) {
            const char *base = s->layers[layer].path;
            hid_t gcpl = H5Pcreate(H5P_GROUP_CREATE);
            it->kind = ITEM_GROUP;
            it->is_layer = strcmp(name, base) == 0;
            size_t n = strcmp(base, "/") == 0 ? 0 : strlen(base);
            bool inside = strncmp(name, base, n) == 0 && (name[n] == '/' || name[n] == '\0');
            it->layer = inside ? layer : -1;
            it->optional = inside && name[n] && strcmp(name + n + 1, H5VEC_LAYER_GROUP_VALID) == 0;
            it->dcpl = gcpl < 0 ? NULL : h5vcat_schema_encode_plist(s, gcpl);
            if (gcpl >= 0)
                H5Pclose(gcpl);
        }
        if (!there && (!it || !it->dcpl))
            return h5vcat_no_memory(err);
        if (end > path)
            *end = keep;
    }
    return H5VEC_OK;
}

enum h5vec_status h5vcat_layers_add_group(struct schema *s, int layer, const char *path,
                                          struct h5vec_error *err)
{
    char *full = join_path(s->layers[layer].path, path);
    if (!full)
        return h5vcat_no_memory(err);
    size_t n = strlen(full);
    enum h5vec_status st = H5VEC_OK;
    char *whole = malloc(n + 2);
    if (whole)
        strcat(strcpy(whole, full), strcmp(full, "/") == 0 ? "" : "/");
    st = whole ? add_groups(s, layer, whole, err) : h5vcat_no_memory(err);
    free(whole);
    free(full);
    return st;
}

enum h5vec_status h5vcat_layers_add_dataset(struct schema *s, int layer, const char *path,
                                            enum h5vec_layer_role role, const struct h5vec_layer_shape *shape,
                                            struct h5vec_error *err)
{
    char *full = join_path(s->layers[layer].path, path);
    if (!full)
        return h5vcat_no_memory(err);
    enum h5vec_status st = H5VEC_OK;
    struct h5vec_layer_dataset made = {H5I_INVALID_HID, H5I_INVALID_HID, H5I_INVALID_HID};
    if (h5vcat_schema_find(s, full) >= 0)
        goto done;
    st = add_groups(s, layer, full, err);
    if (!st)
        st = h5vec_layer_dataset_init(&made, role, shape, 1 << 20, NULL, err);
    if (st)
        goto done;
    struct item *it = h5vcat_schema_add(s, full);
    hsize_t dims[H5S_MAX_RANK];
    if (!it || !(it->dims = calloc((size_t)2 * H5S_MAX_RANK, sizeof *it->dims))) {
        st = h5vcat_no_memory(err);
        goto done;
    }
    it->kind = ITEM_ROWS;
    it->role = role;
    it->layer = layer;
    it->optional = role == H5VEC_LAYER_ROLE_VALID || role == H5VEC_LAYER_ROLE_COLUMN_VALID;
    it->rank = H5Sget_simple_extent_dims(made.space, dims, NULL);
    it->element = (uint32_t)H5Tget_size(made.type);
    it->row_bytes = it->element;
    for (int d = 1; d < it->rank; d++)
        it->row_bytes *= it->dims[d] = dims[d];
    it->type = h5vcat_schema_encode_type(s, made.type);
    it->dcpl = h5vcat_schema_encode_plist(s, made.dcpl);
    if (!it->type || !it->dcpl)
        st = h5vcat_no_memory(err);
    h5vec_layer_dataset_free(&made);
done:
    free(full);
    return st;
}

/* ---- CRS --------------------------------------------------------------------------------------------- */

static enum h5vec_status crs_differs(struct merge *m, int layer, uint32_t a, uint32_t b,
                                     struct h5vec_error *err)
{
    uint32_t first = a < b ? a : b, second = a < b ? b : a;
    if (a == b) /* parts of a text; without a line, since the rows before have no geometry */
        return h5vec_error_set(err, H5VEC_E_DATA, 0, "%s: %s: its rows have different SRIDs",
                               m->inputs.names[a], m->schema->layers[layer].path);
    return h5vec_error_set(err, H5VEC_E_INCOMPATIBLE, 0, "%s: %s: another CRS than in %s",
                           m->inputs.names[second], m->schema->layers[layer].path, m->inputs.names[first]);
}

enum h5vec_status h5vcat_layers_crs(struct merge *m, int layer, uint32_t input,
                                    const struct h5vec_layer_geo *geo, struct h5vec_error *err)
{
    struct layer_plan *l = &m->schema->layers[layer];
    if (l->crs_input == NOBODY) {
        uint64_t types = l->geo.types;
        h5vec_layer_geo_free(&l->geo);
        enum h5vec_status st = h5vec_layer_geo_copy(geo, &l->geo, err);
        l->geo.types = types;
        l->geo.box = vcodec_box_empty();
        l->crs_input = input;
        return st;
    }
    return h5vec_layer_geo_same_crs(&l->geo, geo) ? H5VEC_OK
                                                  : crs_differs(m, layer, l->crs_input, input, err);
}

/* Send a string (or NULL) from root to all. */
static enum h5vec_status share_text(struct merge *m, char **text, int root, struct h5vec_error *err)
{
    int64_t size = *text ? (int64_t)strlen(*text) + 1 : 0;
    MPI_Bcast(&size, 1, MPI_INT64_T, root, m->comm);
    if (m->rank != root) {
        free(*text);
        *text = size ? malloc((size_t)size) : NULL;
    }
    enum h5vec_status st = h5vcat_agree(m->comm, size && !*text ? h5vcat_no_memory(err) : H5VEC_OK, err);
    if (!st && size)
        MPI_Bcast(*text, (int)size, MPI_CHAR, root, m->comm);
    return st;
}

/* The CRS of the first input that has one to say becomes everybody's, if all agree. */
static enum h5vec_status share_crs(struct merge *m, int layer, struct h5vec_error *err)
{
    struct layer_plan *l = &m->schema->layers[layer];
    int64_t own = l->crs_input, first;
    int holder = m->ranks, root;
    MPI_Allreduce(&own, &first, 1, MPI_INT64_T, MPI_MIN, m->comm);
    if (first == NOBODY)
        return H5VEC_OK;
    if (own == first)
        holder = m->rank;
    MPI_Allreduce(&holder, &root, 1, MPI_INT, MPI_MIN, m->comm);
    struct h5vec_layer_geo mine = l->geo;
    uint32_t input = l->crs_input;
    if (m->rank != root)
        l->geo.crs = l->geo.crs_source = NULL;
    enum h5vec_status st = share_text(m, &l->geo.crs, root, err);
    if (!st)
        st = share_text(m, &l->geo.crs_source, root, err);
    if (!st && m->rank != root && input != NOBODY && !h5vec_layer_geo_same_crs(&l->geo, &mine))
        st = crs_differs(m, layer, (uint32_t)first, input, err);
    if (m->rank != root) {
        free(mine.crs);
        free(mine.crs_source);
    }
    return h5vcat_agree(m->comm, st, err);
}

/* ---- The pass over the features ---------------------------------------------------------------------- */

/* Blocks of this rank's features so far: complete ones leave for the spool. */
struct indexing {
    struct merge *m;
    int layer;
    struct h5vec_layer_blocks blocks;
    struct h5vec_layer_block head; /* the first entry, once it is complete */
    uint64_t entries;              /* all that were begun */
    uint64_t row, offset;          /* of the next feature, in the output */
};

/* What the other ranks must know of one rank's entries. */
struct border {
    uint64_t entries;
    uint64_t last_offset; /* where its last feature begins */
    struct h5vec_layer_block head;
};

#define HELD 4096 /* entries in memory */

static enum h5vec_status spill_blocks(struct indexing *x, size_t n, struct h5vec_error *err)
{
    if (n == 0)
        return H5VEC_OK;
    if (x->entries == x->blocks.count) /* none was spilled yet */
        x->head = x->blocks.block[0];
    int stream = x->m->schema->layers[x->layer].block_stream;
    enum h5vec_status st =
        h5vcat_spool_append(x->m->spool, stream, x->blocks.block, n * sizeof *x->blocks.block, err);
    if (!st)
        h5vec_layer_blocks_drop(&x->blocks, n);
    return st;
}

static enum h5vec_status add_feature(struct indexing *x, uint64_t bytes, uint64_t vertices,
                                     struct vcodec_box box, struct h5vec_error *err)
{
    struct layer_plan *l = &x->m->schema->layers[x->layer];
    size_t before = x->blocks.count;
    if (h5vec_layer_blocks_add(&x->blocks, x->row, x->offset, x->offset + bytes, vertices, box))
        return h5vcat_no_memory(err);
    x->entries += x->blocks.count - before;
    x->row++;
    x->offset += bytes;
    l->geo.box = vcodec_box_union(l->geo.box, box);
    return x->blocks.count > HELD ? spill_blocks(x, x->blocks.count - 1, err) : H5VEC_OK;
}

static enum h5vec_status index_batch(struct indexing *x, const struct h5vec_layer_batch *b, uint32_t input,
                                     struct h5vec_error *err)
{
    struct layer_plan *l = &x->m->schema->layers[x->layer];
    for (size_t i = 0; i < b->rows; i++) {
        uint64_t size = (uint64_t)(b->offsets[i + 1] - b->offsets[i]);
        struct vcodec_info info = {.box = vcodec_box_empty()};
        struct h5vec_error why;
        bool null = b->valid && !b->valid[i];
        if (!null && vcodec_wkb_scan(b->wkb + b->offsets[i], size, &info, &why))
            return h5vec_error_set(err, H5VEC_E_DATA, 0, "%s: %s: feature %llu: %s",
                                   x->m->inputs.names[input], l->path, (unsigned long long)(b->first_row + i),
                                   why.msg);
        if (!null)
            l->geo.types |= vcodec_type_bit(info.type, info.dim);
        enum h5vec_status st = add_feature(x, size, info.vertices, info.box, err);
        if (st)
            return st;
    }
    return H5VEC_OK;
}

static enum h5vec_status index_hdf5(struct indexing *x, const struct part *part, const struct rows *features,
                                    struct h5vec_error *err)
{
    struct merge *m = x->m;
    const char *path = m->schema->layers[x->layer].path;
    struct h5vec_layer *layer = NULL;
    hid_t file;
    enum h5vec_status st = h5vcat_reader_file(m->reader, part->input, &file, err);
    if (st)
        return st;
    st = h5vec_layer_open(file, path, &layer, err);
    uint64_t i = features->start, end = features->start + features->count;
    while (!st && i < end) {
        uint64_t j;
        struct h5vec_layer_batch batch;
        st = h5vec_layer_fit(layer, i, 65536, m->options->buffer_size / 8, &j, err);
        if (!st)
            st = h5vec_layer_read(layer, i, j < end ? j : end, H5VEC_LAYER_READ_WKB | H5VEC_LAYER_READ_VALID,
                                  &batch, err);
        if (st) {
            h5vcat_about(err, st, m->inputs.names[part->input], path);
            break;
        }
        st = index_batch(x, &batch, part->input, err);
        i = batch.first_row + batch.rows;
    }
    h5vec_layer_free(layer);
    return st;
}

#define TEXT_ROWS 4096

static enum h5vec_status index_text(struct indexing *x, const struct rows *features, uint64_t bytes, int bbox,
                                    struct h5vec_error *err)
{
    struct merge *m = x->m;
    int offsets_stream = m->streams[m->schema->layers[x->layer].offsets];
    int64_t *offsets = malloc((TEXT_ROWS + 1) * sizeof *offsets);
    uint64_t *vertices = malloc(TEXT_ROWS * sizeof *vertices);
    struct vcodec_box *boxes = malloc(TEXT_ROWS * sizeof *boxes);
    enum h5vec_status st = offsets && vertices && boxes ? H5VEC_OK : h5vcat_no_memory(err);
    for (uint64_t i = 0; i < features->count && !st;) {
        size_t n = features->count - i < TEXT_ROWS ? (size_t)(features->count - i) : TEXT_ROWS;
        bool last = i + n == features->count;
        uint64_t at = features->start + i;
        st = h5vcat_spool_read(m->spool, offsets_stream, at * sizeof *offsets, offsets,
                               (n + !last) * sizeof *offsets, err);
        if (last)
            offsets[n] = (int64_t)bytes;
        if (!st)
            st = h5vcat_spool_read(m->spool, m->vertices, at * sizeof *vertices, vertices,
                                   n * sizeof *vertices, err);
        if (!st)
            st = h5vcat_spool_read(m->spool, m->streams[bbox], at * sizeof *boxes, boxes, n * sizeof *boxes,
                                   err);
        for (size_t k = 0; k < n && !st; k++)
            st = add_feature(x, (uint64_t)(offsets[k + 1] - offsets[k]), vertices[k], boxes[k], err);
        i += n;
    }
    free(offsets);
    free(vertices);
    free(boxes);
    return st;
}

static enum h5vec_status index_parts(struct indexing *x, struct h5vec_error *err)
{
    struct merge *m = x->m;
    struct layer_plan *l = &m->schema->layers[x->layer];
    int bbox = -1;
    for (int i = 0; i < m->schema->count; i++)
        if (m->schema->items[i].layer == x->layer && m->schema->items[i].role == H5VEC_LAYER_ROLE_BBOX)
            bbox = i;
    for (int p = 0; p < m->inputs.part_count; p++) {
        const struct part *part = &m->inputs.parts[p];
        struct rows features, wkb;
        enum h5vec_status st = h5vcat_merge_numbers(m, p, l->offsets, 1, &features, err);
        if (!st)
            st = h5vcat_merge_numbers(m, p, l->wkb, 1, &wkb, err);
        if (!st && features.count > 0)
            st = m->inputs.text[part->input] ? index_text(x, &features, wkb.count, bbox, err)
                                             : index_hdf5(x, part, &features, err);
        if (st)
            return st;
    }
    return H5VEC_OK;
}

/* ---- Across the ranks -------------------------------------------------------------------------------- */

/* Whether rank r's first entry is a block of its own, given the rank before it that has features. */
static bool head_starts(const struct border *b, int r)
{
    int before = r - 1;
    while (before >= 0 && b[before].entries == 0)
        before--;
    return before < 0 ||
           h5vec_layer_block_starts(b[r].head.first_row, b[r].head.first_byte, b[before].last_offset);
}

/* Join the entries of the following ranks that belong to this rank's last block, and give what is this rank's
 * to its stream. */
static enum h5vec_status settle(struct indexing *x, const struct border *all, struct h5vec_error *err)
{
    struct merge *m = x->m;
    struct layer_plan *l = &m->schema->layers[x->layer];
    if (x->entries == 0)
        return H5VEC_OK;
    bool own_head = head_starts(all, m->rank);
    l->block_skip = !own_head;
    struct h5vec_layer_block *last = &x->blocks.block[x->blocks.count - 1];
    for (int r = m->rank + 1; r < m->ranks && (x->entries > 1 || own_head); r++) {
        if (all[r].entries == 0)
            continue;
        if (head_starts(all, r))
            break;
        h5vec_layer_block_join(last, &all[r].head);
        if (all[r].entries > 1)
            break;
    }
    return h5vcat_spool_append(m->spool, l->block_stream, x->blocks.block, x->blocks.count * sizeof *last,
                               err);
}

static enum h5vec_status share_borders(struct indexing *x, struct h5vec_error *err)
{
    struct merge *m = x->m;
    struct layer_plan *l = &m->schema->layers[x->layer];
    struct border mine = {.entries = x->entries, .last_offset = x->blocks.previous_offset};
    struct border *all = malloc((size_t)m->ranks * sizeof *all);
    if (x->entries) /* nothing was spilled: the head is still in memory */
        mine.head = x->blocks.count == x->entries ? x->blocks.block[0] : x->head;
    enum h5vec_status st = h5vcat_agree(m->comm, all ? H5VEC_OK : h5vcat_no_memory(err), err);
    if (!st) {
        MPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, m->comm);
        st = settle(x, all, err);
        uint64_t held = h5vcat_spool_length(m->spool, l->block_stream) / sizeof mine.head;
        m->schema->items[l->blocks].mine = held - (uint64_t)l->block_skip;
        st = h5vcat_agree(m->comm, st, err);
    }
    free(all);
    return st;
}

/* Geometry types and box of all ranks. */
static void share_geo(struct merge *m, struct h5vec_layer_geo *geo)
{
    double low[2] = {geo->box.xmin, geo->box.ymin}, high[2] = {geo->box.xmax, geo->box.ymax};
    MPI_Allreduce(MPI_IN_PLACE, &geo->types, 1, MPI_UINT64_T, MPI_BOR, m->comm);
    MPI_Allreduce(MPI_IN_PLACE, low, 2, MPI_DOUBLE, MPI_MIN, m->comm);
    MPI_Allreduce(MPI_IN_PLACE, high, 2, MPI_DOUBLE, MPI_MAX, m->comm);
    geo->box = (struct vcodec_box){low[0], low[1], high[0], high[1]};
}

static enum h5vec_status index_layer(struct merge *m, int layer, struct h5vec_error *err)
{
    struct layer_plan *l = &m->schema->layers[layer];
    struct indexing x = {.m = m, .layer = layer};
    uint64_t mine[2] = {l->features, m->schema->items[l->wkb].mine}, before[2] = {0, 0};
    MPI_Allreduce(MPI_IN_PLACE, &l->skipped, 1, MPI_UINT64_T, MPI_SUM, m->comm);
    MPI_Exscan(mine, before, 2, MPI_UINT64_T, MPI_SUM, m->comm);
    if (m->rank == 0)
        before[0] = before[1] = 0;
    l->features_base = x.row = before[0];
    x.offset = before[1];
    l->geo.box = vcodec_box_empty();
    enum h5vec_status st = h5vcat_spool_stream(m->spool, &l->block_stream, err);
    if (!st)
        st = index_parts(&x, err);
    st = h5vcat_agree(m->comm, st, err);
    if (!st)
        st = share_borders(&x, err);
    if (!st)
        share_geo(m, &l->geo);
    h5vec_layer_blocks_free(&x.blocks);
    return st;
}

enum h5vec_status h5vcat_layers_index(struct merge *m, struct h5vec_error *err)
{
    for (int i = 0; i < m->schema->layer_count; i++) {
        enum h5vec_status st = share_crs(m, i, err);
        if (!st)
            st = index_layer(m, i, err);
        if (st)
            return st;
    }
    return H5VEC_OK;
}

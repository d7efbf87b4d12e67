/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One function per kind of object. Attributes come from the first input; those of layers are made anew.
 */
#include "create.h"
#include <stdlib.h>
#include <string.h>
#include "error.h"
#include "links.h"
#include "plan.h"
#include "pointers.h"
#include "reader.h"

static enum h5vec_status create_failed(const struct creator *c, const struct item *it,
                                       struct h5vec_error *err)
{
    return h5vec_layer_error_hdf5(err, "%s: %s: cannot create", c->m->options->output, it->path);
}

hid_t h5vcat_create_fcpl(const struct merge *m)
{
    hid_t fcpl = H5Pcreate(H5P_FILE_CREATE);
    hid_t root = h5vcat_schema_plist(m->schema, m->schema->items[0].dcpl);
    unsigned links = 0, attributes = 0, compact, dense;
    if (fcpl < 0)
        return fcpl;
    H5Pset_file_space_strategy(fcpl, H5F_FSPACE_STRATEGY_NONE, 0, 1);
    H5Pset_obj_track_times(fcpl, 0);
    H5Pset_userblock(fcpl, m->schema->user_block);
    if (root < 0)
        return fcpl;
    if (H5Pget_link_creation_order(root, &links) >= 0)
        H5Pset_link_creation_order(fcpl, links);
    if (H5Pget_attr_creation_order(root, &attributes) >= 0)
        H5Pset_attr_creation_order(fcpl, attributes);
    if (H5Pget_link_phase_change(root, &compact, &dense) >= 0)
        H5Pset_link_phase_change(fcpl, compact, dense);
    return fcpl;
}

enum h5vec_status h5vcat_creator_open(const struct merge *m, hid_t out, struct creator *c,
                                      struct h5vec_error *err)
{
    *c = (struct creator){.m = m, .in = H5I_INVALID_HID, .out = out, .lcpl = H5Pcreate(H5P_LINK_CREATE)};
    if (c->lcpl < 0)
        return h5vec_layer_error_hdf5(err, "cannot make a property list");
    if (m->inputs.text[0])
        return H5VEC_OK;
    return h5vcat_reader_open_file(m->inputs.names[0], &c->in, err);
}

/* The file does not close with them. */
static void close_types(struct creator *c)
{
    for (size_t i = 0; i < c->type_count; i++)
        if (c->types[i].id >= 0)
            H5Tclose(c->types[i].id);
    free(c->types);
    c->types = NULL;
    c->type_count = 0;
}

void h5vcat_creator_close(struct creator *c)
{
    if (c->in >= 0)
        H5Fclose(c->in);
    if (c->lcpl > 0)
        H5Pclose(c->lcpl);
    if (c->dcpl > 0)
        H5Pclose(c->dcpl);
    c->dcpl = 0;
    close_types(c);
    c->in = c->lcpl = H5I_INVALID_HID;
    h5vcat_attribute_list_free(&c->refs);
}

/* ---- Datatypes ---------------------------------------------------------------------------------------- */

/* The output's committed datatype for the input's with this token; negative if that has no name. Made without
 * a link if its item has not been reached. */
static hid_t committed_type(struct creator *c, const struct blob *token)
{
    struct schema *s = c->m->schema;
    for (size_t i = 0; i < c->type_count; i++)
        if (c->types[i].token == token)
            return c->types[i].id;
    int k = 0;
    while (k < s->count && (s->items[k].kind != ITEM_TYPE || s->items[k].token != token))
        k++;
    struct committed *p = realloc(c->types, (c->type_count + 1) * sizeof *p);
    if (p)
        c->types = p;
    if (!p)
        return H5I_INVALID_HID;
    hid_t id = H5I_INVALID_HID;
    if (k < s->count) {
        id = H5Tcopy(h5vcat_blob_type(s->items[k].type));
        hid_t tcpl = H5Pcopy(h5vcat_schema_plist(s, s->items[k].dcpl));
        H5Pset_obj_track_times(tcpl, 0);
        if (id >= 0 && H5Tcommit_anon(c->out, id, tcpl, H5P_DEFAULT) < 0) {
            H5Tclose(id);
            id = H5I_INVALID_HID;
        }
        H5Pclose(tcpl);
    }
    p[c->type_count++] = (struct committed){token, id};
    return id;
}

/* The type that a dataset is created with. Borrowed. */
static hid_t dataset_type(struct creator *c, const struct item *it)
{
    hid_t committed = it->token ? committed_type(c, it->token) : H5I_INVALID_HID;
    return committed >= 0 ? committed : h5vcat_blob_type(it->type);
}

static hid_t attribute_type(void *context, hid_t stored)
{
    struct creator *c = context;
    H5O_info2_t info;
    if (H5Tcommitted(stored) <= 0 || H5Oget_info3(stored, &info, H5O_INFO_BASIC) < 0)
        return H5I_INVALID_HID;
    const struct blob *token = h5vcat_schema_blob(c->m->schema, &info.token, sizeof info.token);
    return token ? committed_type(c, token) : H5I_INVALID_HID;
}

/* ---- Attributes ---------------------------------------------------------------------------------------- */

/* Link creation with the character set that input 0's link has. */
static hid_t link_list(const struct creator *c, const struct item *it)
{
    H5Pset_char_encoding(c->lcpl, it->ascii ? H5T_CSET_ASCII : H5T_CSET_UTF8);
    return c->lcpl;
}

static enum h5vec_status copy_comment(const struct creator *c, hid_t from, hid_t to, const struct item *it,
                                      struct h5vec_error *err)
{
    ssize_t n = H5Oget_comment(from, NULL, 0);
    if (n <= 0)
        return H5VEC_OK;
    char *text = calloc(1, (size_t)n + 1);
    bool ok = text && H5Oget_comment(from, text, (size_t)n + 1) >= 0 && H5Oset_comment(to, text) >= 0;
    free(text);
    return ok ? H5VEC_OK : create_failed(c, it, err);
}

/* Attributes and comment of the object from input 0, if that has it. */
static enum h5vec_status add_attributes(struct creator *c, const struct item *it, hid_t to,
                                        struct h5vec_error *err)
{
    enum h5vec_status st = H5VEC_OK;
    if (it->is_layer)
        st = h5vec_layer_write_attributes(to, &c->m->schema->layers[it->layer].geo, err);
    if (!st && it->is_layer && c->m->schema->layers[it->layer].skipped > 0)
        st = h5vcat_attributes_write_skipped(to, c->m->schema->layers[it->layer].skipped, err);
    if (!st && (it->kind == ITEM_GROUP || it->kind == ITEM_ROWS) &&
        it->value) /* a column under another name */
        st = h5vec_layer_write_name(to, strrchr(it->path, '/') + 1, (const char *)it->value->bytes, err);
    if (!st && it->time && !it->annotated) /* of a text */
        st = h5vec_layer_write_time_units(to, err);
    if (st || !it->annotated)
        return st;
    hid_t from = H5Oopen(c->in, it->path, H5P_DEFAULT);
    if (from < 0)
        return h5vec_layer_error_hdf5(err, "%s: %s: cannot open", c->m->inputs.names[0], it->path);
    const struct attribute_source source = {
        .file = c->m->inputs.names[0], .type = attribute_type, .context = c};
    st = h5vcat_attributes_copy(from, to, &source, it->path, it->is_layer, &c->refs, err);
    if (!st)
        st = copy_comment(c, from, to, it, err);
    H5Oclose(from);
    return st;
}

static enum h5vec_status create_link(const struct creator *c, const struct item *it, struct h5vec_error *err)
{
    if (h5vcat_links_create(c->out, it->path, it->value, link_list(c, it)) < 0)
        return create_failed(c, it, err);
    return H5VEC_OK;
}

static enum h5vec_status create_group(struct creator *c, const struct item *it, struct h5vec_error *err)
{
    hid_t group;
    if (strcmp(it->path, "/") == 0) {
        group = H5Gopen2(c->out, "/", H5P_DEFAULT);
    } else {
        hid_t gcpl = H5Pcopy(h5vcat_schema_plist(c->m->schema, it->dcpl)), lcpl = link_list(c, it);
        if (gcpl >= 0)
            H5Pset_obj_track_times(gcpl, 0);
        group = H5Gcreate2(c->out, it->path, lcpl, gcpl, H5P_DEFAULT);
        H5Pclose(gcpl);
    }
    if (group < 0)
        return create_failed(c, it, err);
    enum h5vec_status st = add_attributes(c, it, group, err);
    H5Gclose(group);
    return st;
}

static enum h5vec_status create_type(struct creator *c, const struct item *it, struct h5vec_error *err)
{
    hid_t id = committed_type(c, it->token);
    if (id < 0 || H5Olink(id, c->out, it->path, link_list(c, it), H5P_DEFAULT) < 0)
        return create_failed(c, it, err);
    return add_attributes(c, it, id, err);
}

/* ---- Datasets ----------------------------------------------------------------------------------------- */

/* A creation list with input 0's fill value, which the schema's cannot hold. The caller closes it. */
static hid_t list_with_fill(const struct creator *c, const struct item *it, hid_t dcpl)
{
    hid_t list = H5Pcopy(dcpl), from = H5I_INVALID_HID;
    if (it->kind == ITEM_POINTERS && c->in >= 0)
        from = H5Dopen2(c->in, it->path, H5P_DEFAULT);
    if (from < 0)
        return list;
    hid_t old = H5Dget_create_plist(from), type = H5Dget_type(from);
    bool ok = old >= 0 && type >= 0 && h5vcat_pointers_fill(old, list, type);
    if (old >= 0)
        H5Pclose(old);
    if (type >= 0)
        H5Tclose(type);
    H5Dclose(from);
    if (ok)
        return list;
    H5Pclose(list);
    return H5I_INVALID_HID;
}

static enum h5vec_status create_same(struct creator *c, struct item *it, struct h5vec_error *err)
{
    hid_t type = dataset_type(c, it), space = H5Screate(it->value ? H5S_SCALAR : H5S_NULL);
    hid_t dcpl = list_with_fill(c, it, h5vcat_schema_plist(c->m->schema, it->dcpl)), lcpl = link_list(c, it);
    H5Pset_obj_track_times(dcpl, 0);
    hid_t dset = H5Dcreate2(c->out, it->path, type, space, lcpl, dcpl, H5P_DEFAULT);
    enum h5vec_status st = H5VEC_OK;
    if (dset < 0)
        st = create_failed(c, it, err);
    else if (it->value && it->kind == ITEM_SAME &&
             H5Dwrite(dset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, it->value->bytes) < 0)
        st = h5vec_layer_error_hdf5(err, "%s: %s: cannot write", c->m->options->output, it->path);
    if (!st)
        st = add_attributes(c, it, dset, err);
    if (dset >= 0)
        H5Dclose(dset);
    H5Pclose(dcpl);
    H5Sclose(space);
    return st;
}

static bool same_storage(const struct storage *a, const struct storage *b)
{
    return a->layout == b->layout && memcmp(a->chunk, b->chunk, sizeof a->chunk) == 0 &&
           memcmp(a->maxdims, b->maxdims, sizeof a->maxdims) == 0 &&
           h5vcat_pipeline_equal(&a->pipeline, &b->pipeline) && a->pipeline.level == b->pipeline.level;
}

/* The creation list of a dataset with rows that is stored like this. Owned by the creator. */
static enum h5vec_status dataset_list(struct creator *c, const struct item *it, const struct storage *s,
                                      struct h5vec_error *err)
{
    if (c->dcpl > 0 && c->dcpl_from == it->dcpl && same_storage(&c->dcpl_storage, s))
        return H5VEC_OK;
    if (c->dcpl > 0)
        H5Pclose(c->dcpl);
    c->dcpl = 0;
    enum h5vec_status st = h5vcat_plan_dcpl(c->m, it, s, &c->dcpl, err);
    if (st)
        return st;
    H5Pset_obj_track_times(c->dcpl, 0);
    c->dcpl_from = it->dcpl;
    c->dcpl_storage = *s;
    return H5VEC_OK;
}

/* Its rows are written when all objects are there. */
static enum h5vec_status create_pointers(struct creator *c, struct item *it, struct h5vec_error *err)
{
    struct storage s;
    hsize_t dims[H5S_MAX_RANK];
    if (it->rank == 0)
        return create_same(c, it, err);
    enum h5vec_status st = h5vcat_plan_storage(c->m, it, &s, err);
    if (!st)
        st = dataset_list(c, it, &s, err);
    if (st)
        return st;
    memcpy(dims, it->dims, (size_t)it->rank * sizeof *dims);
    dims[0] = it->total;
    hid_t space = H5Screate_simple(it->rank, dims, s.maxdims), dcpl = list_with_fill(c, it, c->dcpl);
    hid_t dset =
        H5Dcreate2(c->out, it->path, dataset_type(c, it), space, link_list(c, it), dcpl, H5P_DEFAULT);
    st = dset < 0 ? create_failed(c, it, err) : add_attributes(c, it, dset, err);
    if (dset >= 0)
        H5Dclose(dset);
    if (dcpl >= 0)
        H5Pclose(dcpl);
    H5Sclose(space);
    return st;
}

/* p: the page's entry, NULL for a dataset without rows. */
static enum h5vec_status create_rows(struct creator *c, struct item *it, struct page_item *p,
                                     struct h5vec_error *err)
{
    struct storage empty;
    hsize_t dims[H5S_MAX_RANK];
    enum h5vec_status st = p ? H5VEC_OK : h5vcat_plan_storage(c->m, it, &empty, err);
    const struct storage *s = p ? &p->storage : &empty;
    if (!st)
        st = dataset_list(c, it, s, err);
    if (st)
        return st;
    memcpy(dims, it->dims, (size_t)it->rank * sizeof *dims);
    dims[0] = it->total;
    uint64_t bytes = it->total * it->row_bytes;
    if (p && s->layout == H5D_CONTIGUOUS && bytes > 0 && c->place)
        st = c->place(c->context, bytes, &p->address, err);
    hid_t space = H5Screate_simple(it->rank, dims, s->maxdims), lcpl = link_list(c, it);
    hid_t dset = st ? H5I_INVALID_HID
                    : H5Dcreate2(c->out, it->path, dataset_type(c, it), space, lcpl, c->dcpl, H5P_DEFAULT);
    if (!st && dset < 0)
        st = create_failed(c, it, err);
    if (!st)
        st = add_attributes(c, it, dset, err);
    if (!st && p)
        p->dset = dset;
    else if (dset >= 0)
        H5Dclose(dset);
    H5Sclose(space);
    return st;
}

enum h5vec_status h5vcat_creator_page(struct creator *c, struct page *page, struct h5vec_error *err)
{
    int k = 0;
    enum h5vec_status st = H5VEC_OK;
    for (int i = page->first; i < page->end && !st; i++) {
        struct item *it = &c->m->schema->items[i];
        struct page_item *p = k < page->count && page->items[k].item == i ? &page->items[k++] : NULL;
        if (!h5vcat_plan_wanted(it))
            continue;
        if (it->kind == ITEM_GROUP)
            st = create_group(c, it, err);
        else if (it->kind == ITEM_SAME)
            st = create_same(c, it, err);
        else if (it->kind == ITEM_POINTERS)
            st = create_pointers(c, it, err);
        else if (it->kind == ITEM_TYPE)
            st = create_type(c, it, err);
        else if (it->kind == ITEM_LINK)
            st = create_link(c, it, err);
        else
            st = create_rows(c, it, p, err);
    }
    return st;
}

void h5vcat_creator_page_end(struct page *page)
{
    for (int i = 0; i < page->count; i++)
        if (page->items[i].dset >= 0) {
            H5Dclose(page->items[i].dset);
            page->items[i].dset = H5I_INVALID_HID;
        }
}

enum h5vec_status h5vcat_creator_finish(struct creator *c, struct h5vec_error *err)
{
    close_types(c);
    const struct repointing p = {.in = c->in, .out = c->out, .schema = c->m->schema};
    return h5vcat_attributes_write_references(&p, c->m->inputs.names[0], &c->refs, err);
}

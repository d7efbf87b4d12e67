/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The walk, and what is refused: user-defined links. Every object with
 * several links is remembered by its token, so that each is met once and loops end.
 */
#include "error.h"
#include "scan.h"
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "h5vec_layer.h"
#include "links.h"
#include "repoint.h"

#define MAX_DEPTH 500 /* groups in groups: each level takes stack */

#define SHARED_BUCKETS 4096

/* An object with several hard links, and where it was first met. */
struct shared_object {
    struct shared_object *next; /* in its bucket */
    H5O_token_t token;
    char path[];
};

struct shared_objects {
    struct shared_object *buckets[SHARED_BUCKETS];
};

struct walk {
    const char *file;
    scan_visit visit;
    void *context;
    struct h5vec_error *err;
    enum h5vec_status status;
    char *path; /* of the current object */
    size_t length, room;
    size_t layer_length; /* the layer's path is the first bytes of path; 0: none */
    int depth;
    struct shared_objects *shared;
};

static enum h5vec_status walk_object(struct walk *w, hid_t group, hid_t id, H5T_cset_t cset);

static enum h5vec_status refuse(struct walk *w, const char *what)
{
    return h5vec_error_set(w->err, H5VEC_E_REFUSED, 0, "%s: %s: %s not supported", w->file, w->path, what);
}

static enum h5vec_status failed(struct walk *w, const char *what)
{
    return h5vec_layer_error_hdf5(w->err, "%s: %s: cannot read %s", w->file, w->path, what);
}

/* ---- Objects ----------------------------------------------------------------------------------------- */

/* The layer that the current object is in, or NULL. The caller frees it. */
static char *layer_path(const struct walk *w)
{
    return w->layer_length ? strndup(w->path, w->layer_length) : NULL;
}

/* Look an object up that may have several hard links: *before is where it was met, or NULL, and then it is
 * remembered. */
static enum h5vec_status remember(struct walk *w, const H5O_info2_t *info, const char **before)
{
    *before = NULL;
    if (info->rc <= 1)
        return H5VEC_OK;
    struct shared_object **bucket =
        &w->shared->buckets[XXH64(&info->token, sizeof info->token, 0) % SHARED_BUCKETS];
    for (struct shared_object *s = *bucket; s; s = s->next)
        if (memcmp(&s->token, &info->token, sizeof s->token) == 0) {
            *before = s->path;
            return H5VEC_OK;
        }
    struct shared_object *s = malloc(sizeof *s + w->length + 1);
    if (!s)
        return h5vcat_no_memory(w->err);
    s->next = *bucket;
    s->token = info->token;
    strcpy(s->path, w->path);
    *bucket = s;
    return H5VEC_OK;
}

static enum h5vec_status describe_type(struct walk *w, struct scan_object *o)
{
    H5O_info2_t info;
    o->committed = H5Tcommitted(o->type) > 0;
    if (!o->committed)
        return H5VEC_OK;
    if (H5Oget_info3(o->type, &info, H5O_INFO_BASIC) < 0)
        return failed(w, "its datatype");
    o->token = info.token;
    return H5VEC_OK;
}

/* Where the data lie in other datasets or files they are read through HDF5, and the list becomes one of
 * contiguous data. */
static enum h5vec_status describe_storage(struct walk *w, struct scan_object *o)
{
    H5D_layout_t layout = H5Pget_layout(o->dcpl);
    if (layout != H5D_VIRTUAL && (layout != H5D_CONTIGUOUS || H5Pget_external_count(o->dcpl) <= 0))
        return H5VEC_OK;
    enum h5vec_status st =
        layout == H5D_VIRTUAL ? h5vcat_links_check_virtual(w->file, w->path, o->dcpl, w->err) : H5VEC_OK;
    hid_t plain = st ? H5I_INVALID_HID : h5vcat_links_contiguous(o->dcpl, o->type);
    if (!st && plain < 0)
        st = failed(w, "the dataset's properties");
    if (!st) {
        H5Pclose(o->dcpl);
        o->dcpl = plain;
    }
    return st;
}

/* A fill value of variable length lies in a heap of its file: the list is made to be used in another one. */
static enum h5vec_status drop_fill(struct walk *w, struct scan_object *o)
{
    H5D_fill_value_t state;
    if (H5Pfill_value_defined(o->dcpl, &state) < 0)
        return failed(w, "the fill value");
    if (state == H5D_FILL_VALUE_USER_DEFINED &&
        (H5Pset_fill_value(o->dcpl, o->type, NULL) < 0 || H5Pset_fill_time(o->dcpl, H5D_FILL_TIME_IFSET) < 0))
        return failed(w, "the fill value");
    return H5VEC_OK;
}

static enum h5vec_status describe_dataset(struct walk *w, struct scan_object *o)
{
    hid_t space = H5Dget_space(o->id);
    o->type = H5Dget_type(o->id);
    o->dcpl = H5Dget_create_plist(o->id);
    if (space < 0 || o->type < 0 || o->dcpl < 0) {
        enum h5vec_status st = failed(w, "the dataset's header");
        H5Sclose(space);
        return st;
    }
    o->space = H5Sget_simple_extent_type(space);
    o->rank = H5Sget_simple_extent_dims(space, o->dims, o->maxdims);
    o->element = H5Tget_size(o->type);
    H5Sclose(space);
    o->pointers = h5vcat_repoint_contents(o->type) != CONTENTS_PLAIN;
    enum h5vec_status st = describe_type(w, o);
    if (!st)
        st = describe_storage(w, o);
    return !st && o->pointers ? drop_fill(w, o) : st;
}

static enum h5vec_status walk_dataset(struct walk *w, struct scan_object *o)
{
    o->type = o->dcpl = H5I_INVALID_HID;
    enum h5vec_status st = describe_dataset(w, o);
    if (!st)
        st = w->visit(w->context, o, w->err);
    if (o->type >= 0)
        H5Tclose(o->type);
    if (o->dcpl >= 0)
        H5Pclose(o->dcpl);
    return st;
}

/* ---- Groups ------------------------------------------------------------------------------------------ */

static enum h5vec_status push_name(struct walk *w, const char *name)
{
    size_t need = w->length + strlen(name) + 2;
    if (need > w->room) {
        char *p = realloc(w->path, 2 * need);
        if (!p)
            return h5vcat_no_memory(w->err);
        w->path = p;
        w->room = 2 * need;
    }
    if (w->length > 1) /* not after the root's "/" */
        w->path[w->length++] = '/';
    strcpy(w->path + w->length, name);
    w->length += strlen(name);
    return H5VEC_OK;
}

/* A link that is content itself: soft, external, or hard to what was met before. */
static enum h5vec_status visit_link(struct walk *w, struct scan_object *o)
{
    char *layer = layer_path(w);
    o->kind = SCAN_LINK;
    o->file = w->file;
    o->path = w->path;
    o->layer = layer;
    enum h5vec_status st = w->visit(w->context, o, w->err);
    free(layer);
    return st;
}

static enum h5vec_status walk_symbolic(struct walk *w, hid_t group, const char *name, const H5L_info2_t *info)
{
    if (info->type != H5L_TYPE_SOFT && info->type != H5L_TYPE_EXTERNAL)
        return refuse(w, "a user-defined link is");
    size_t size = info->u.val_size;
    char *value = calloc(1, size + 1);
    if (!value)
        return h5vcat_no_memory(w->err);
    struct scan_object o = {
        .id = group, .cset = info->cset, .link = info->type, .value = value, .value_size = size};
    enum h5vec_status st =
        H5Lget_val(group, name, value, size, H5P_DEFAULT) < 0 ? failed(w, "the link") : visit_link(w, &o);
    free(value);
    return st;
}

static enum h5vec_status walk_hard(struct walk *w, hid_t group, const H5L_info2_t *info)
{
    hid_t id = H5Oopen_by_token(group, info->u.token); /* no second look-up of the name */
    if (id < 0)
        return h5vec_layer_error_hdf5(w->err, "%s: %s: cannot open", w->file, w->path);
    enum h5vec_status st = walk_object(w, group, id, info->cset);
    H5Oclose(id);
    return st;
}

static herr_t walk_link(hid_t group, const char *name, const H5L_info2_t *info, void *context)
{
    struct walk *w = context;
    size_t length = w->length;
    w->status = push_name(w, name);
    if (!w->status)
        w->status =
            info->type == H5L_TYPE_HARD ? walk_hard(w, group, info) : walk_symbolic(w, group, name, info);
    w->length = length;
    w->path[length] = '\0';
    return w->status ? -1 : 0;
}

static enum h5vec_status walk_members(struct walk *w, hid_t id)
{
    hid_t gcpl = H5Gget_create_plist(id);
    unsigned order = 0;
    if (gcpl < 0 || H5Pget_link_creation_order(gcpl, &order) < 0)
        return failed(w, "the group's properties");
    H5Pclose(gcpl);
    if (++w->depth > MAX_DEPTH)
        return refuse(w, "nesting of groups deeper than 500 is");
    hsize_t at = 0;
    H5_index_t index = order & H5P_CRT_ORDER_TRACKED ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    herr_t code = H5Literate2(id, index, H5_ITER_INC, &at, walk_link, w);
    w->depth--;
    if (code < 0 && !w->status)
        return failed(w, "the group's links");
    return w->status;
}

static enum h5vec_status walk_group(struct walk *w, struct scan_object *o)
{
    enum h5vec_status st = h5vec_layer_is(o->id, &o->is_layer, w->err);
    if (st)
        return st;
    size_t outer = w->layer_length;
    if (o->is_layer && outer)
        return refuse(w, "a layer inside a layer is");
    if (o->is_layer)
        w->layer_length = w->length;
    char *layer = layer_path(w);
    o->layer = layer;
    st = w->visit(w->context, o, w->err);
    free(layer);
    if (!st)
        st = walk_members(w, o->id);
    w->layer_length = outer;
    return st;
}

static enum h5vec_status walk_object(struct walk *w, hid_t group, hid_t id, H5T_cset_t cset)
{
    struct scan_object o = {.file = w->file, .path = w->path, .id = id, .cset = cset};
    H5O_info2_t info;
    if (H5Oget_info3(id, &info, H5O_INFO_BASIC) < 0)
        return failed(w, "its object header");
    const char *before;
    enum h5vec_status st = remember(w, &info, &before);
    if (st)
        return st;
    if (before) {
        o = (struct scan_object){.id = group,
                                 .cset = cset,
                                 .link = H5L_TYPE_HARD,
                                 .value = before,
                                 .value_size = strlen(before) + 1};
        return visit_link(w, &o);
    }
    if (info.type == H5O_TYPE_GROUP)
        return walk_group(w, &o);
    char *layer = layer_path(w);
    o.layer = layer;
    o.kind = info.type == H5O_TYPE_DATASET ? SCAN_DATASET : SCAN_TYPE;
    o.token = info.token;
    st = o.kind == SCAN_DATASET ? walk_dataset(w, &o) : w->visit(w->context, &o, w->err);
    free(layer);
    return st;
}

static void free_shared(struct walk *w)
{
    for (int i = 0; w->shared && i < SHARED_BUCKETS; i++)
        for (struct shared_object *next, *s = w->shared->buckets[i]; s; s = next) {
            next = s->next;
            free(s);
        }
    free(w->shared);
}

enum h5vec_status h5vcat_scan_file(hid_t file, const char *name, scan_visit visit, void *context,
                                   struct h5vec_error *err)
{
    struct walk w = {.file = name, .visit = visit, .context = context, .err = err, .room = 256};
    w.path = malloc(w.room);
    w.shared = calloc(1, sizeof *w.shared);
    enum h5vec_status st = w.path && w.shared ? H5VEC_OK : h5vcat_no_memory(err);
    if (!st) {
        strcpy(w.path, "/");
        w.length = 1;
        hid_t root = H5Gopen2(file, "/", H5P_DEFAULT);
        st = root < 0 ? failed(&w, "the root group") : walk_object(&w, root, root, H5T_CSET_ASCII);
        if (root >= 0)
            H5Gclose(root);
    }
    free_shared(&w);
    free(w.path);
    return st;
}

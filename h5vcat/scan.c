/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The walk, and the list of what is refused: soft, external and user-defined links, a second hard link to an
 * object, committed types, user blocks, virtual and external storage, variable-length and reference data.
 */
#include "error.h"
#include "scan.h"
#include <stdlib.h>
#include <string.h>
#include "h5vec_layer.h"

#define MAX_DEPTH 500 /* groups in groups: each level takes stack */

/* Objects with several hard links, and where each was first met. */
struct shared_object {
    H5O_token_t token;
    char *path;
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
    struct shared_object *shared;
    size_t shared_count;
};

static enum h5vec_status walk_object(struct walk *w, hid_t id, H5T_cset_t cset);

static enum h5vec_status refuse(struct walk *w, const char *what)
{
    return h5vec_error_set(w->err, H5VEC_E_REFUSED, 0, "%s: %s: %s not supported", w->file, w->path, what);
}

static enum h5vec_status failed(struct walk *w, const char *what)
{
    return h5vec_layer_error_hdf5(w->err, "%s: %s: cannot read %s", w->file, w->path, what);
}

/* ---- Types ------------------------------------------------------------------------------------------- */

/* What in a type has no fixed size, or NULL. */
static const char *unsupported_type(hid_t type)
{
    const char *what = NULL;
    H5T_class_t class = H5Tget_class(type);
    if (class == H5T_VLEN)
        return "variable-length data is";
    if (class == H5T_REFERENCE)
        return H5Tequal(type, H5T_STD_REF_DSETREG) > 0 ? "a dataset of region references is"
                                                       : "a dataset of references is";
    if (class == H5T_STRING && H5Tis_variable_str(type) > 0)
        return "variable-length string data is";
    if (class == H5T_ARRAY) {
        hid_t super = H5Tget_super(type);
        what = unsupported_type(super);
        H5Tclose(super);
    } else if (class == H5T_COMPOUND) {
        int n = H5Tget_nmembers(type);
        for (int i = 0; i < n && !what; i++) {
            hid_t member = H5Tget_member_type(type, (unsigned)i);
            what = unsupported_type(member);
            H5Tclose(member);
        }
    }
    return what;
}

/* ---- Objects ----------------------------------------------------------------------------------------- */

/* An object with several hard links must be met only once. */
static enum h5vec_status check_links(struct walk *w, hid_t id)
{
    H5O_info2_t info;
    if (H5Oget_info3(id, &info, H5O_INFO_BASIC) < 0)
        return failed(w, "its object header");
    if (info.rc <= 1)
        return H5VEC_OK;
    for (size_t i = 0; i < w->shared_count; i++) {
        int order;
        if (H5Otoken_cmp(id, &info.token, &w->shared[i].token, &order) >= 0 && order == 0)
            return h5vec_error_set(w->err, H5VEC_E_REFUSED, 0,
                                   "%s: %s: a second hard link (to %s) is not supported", w->file, w->path,
                                   w->shared[i].path);
    }
    struct shared_object *p = realloc(w->shared, (w->shared_count + 1) * sizeof *p);
    char *copy = strdup(w->path);
    if (p)
        w->shared = p;
    if (!p || !copy) {
        free(copy);
        return h5vcat_no_memory(w->err);
    }
    p[w->shared_count++] = (struct shared_object){info.token, copy};
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
    const char *what = unsupported_type(o->type);
    if (what)
        return refuse(w, what);
    if (H5Tcommitted(o->type) > 0)
        return refuse(w, "a committed datatype is");
    H5D_layout_t layout = H5Pget_layout(o->dcpl);
    if (layout == H5D_VIRTUAL)
        return refuse(w, "a virtual dataset is");
    if (layout == H5D_CONTIGUOUS && H5Pget_external_count(o->dcpl) > 0)
        return refuse(w, "data in an external file is");
    return H5VEC_OK;
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

static herr_t walk_link(hid_t group, const char *name, const H5L_info2_t *info, void *context)
{
    struct walk *w = context;
    size_t length = w->length;
    w->status = push_name(w, name);
    if (!w->status && info->type == H5L_TYPE_SOFT)
        w->status = refuse(w, "a soft link is");
    else if (!w->status && info->type == H5L_TYPE_EXTERNAL)
        w->status = refuse(w, "an external link is");
    else if (!w->status && info->type != H5L_TYPE_HARD)
        w->status = refuse(w, "a user-defined link is");
    if (!w->status) {
        hid_t id = H5Oopen_by_token(group, info->u.token); /* no second look-up of the name */
        if (id < 0) {
            w->status = h5vec_layer_error_hdf5(w->err, "%s: %s: cannot open", w->file, w->path);
        } else {
            w->status = walk_object(w, id, info->cset);
            H5Oclose(id);
        }
    }
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
    char *layer = w->layer_length ? strndup(w->path, w->layer_length) : NULL;
    o->layer = layer;
    st = w->visit(w->context, o, w->err);
    free(layer);
    if (!st)
        st = walk_members(w, o->id);
    w->layer_length = outer;
    return st;
}

static enum h5vec_status walk_object(struct walk *w, hid_t id, H5T_cset_t cset)
{
    struct scan_object o = {.file = w->file, .path = w->path, .id = id, .cset = cset};
    H5I_type_t kind = H5Iget_type(id);
    enum h5vec_status st = check_links(w, id);
    if (st)
        return st;
    if (kind == H5I_GROUP) {
        o.is_group = true;
        return walk_group(w, &o);
    }
    if (kind != H5I_DATASET)
        return refuse(w, "a committed datatype is");
    char *layer = w->layer_length ? strndup(w->path, w->layer_length) : NULL;
    o.layer = layer;
    st = walk_dataset(w, &o);
    free(layer);
    return st;
}

enum h5vec_status h5vcat_scan_file(hid_t file, const char *name, scan_visit visit, void *context,
                                   struct h5vec_error *err)
{
    struct walk w = {.file = name, .visit = visit, .context = context, .err = err, .room = 256};
    w.path = malloc(w.room);
    if (!w.path)
        return h5vcat_no_memory(err);
    strcpy(w.path, "/");
    w.length = 1;
    hsize_t block = 0;
    hid_t fcpl = H5Fget_create_plist(file), root = H5Gopen2(file, "/", H5P_DEFAULT);
    enum h5vec_status st = H5VEC_OK;
    if (fcpl < 0 || root < 0 || H5Pget_userblock(fcpl, &block) < 0)
        st = failed(&w, "the root group");
    else if (block > 0)
        st = h5vec_error_set(err, H5VEC_E_REFUSED, 0, "%s: a user block is not supported", name);
    else
        st = walk_object(&w, root, H5T_CSET_ASCII);
    if (root >= 0)
        H5Gclose(root);
    if (fcpl >= 0)
        H5Pclose(fcpl);
    for (size_t i = 0; i < w.shared_count; i++)
        free(w.shared[i].path);
    free(w.shared);
    free(w.path);
    return st;
}

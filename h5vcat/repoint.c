/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A walk over a value along its type. HDF5 has three kinds of references: the two original ones, to an object
 * and to a region of a dataset, and one for all (1.12), which may also name an attribute.
 */
#include "repoint.h"
#include <string.h>
#include <xxhash.h>
#include "error.h"

#define MAX_PATH 4096

unsigned h5vcat_repoint_contents(hid_t type)
{
    H5T_class_t class = H5Tget_class(type);
    unsigned found = CONTENTS_PLAIN;
    if (class == H5T_REFERENCE)
        return H5Tequal(type, H5T_STD_REF_OBJ) > 0 ? CONTENTS_REFERENCES
                                                   : CONTENTS_REFERENCES | CONTENTS_REGIONS;
    if (class == H5T_STRING)
        return H5Tis_variable_str(type) > 0 ? CONTENTS_SEQUENCES : CONTENTS_PLAIN;
    if (class == H5T_VLEN || class == H5T_ARRAY) {
        hid_t super = H5Tget_super(type);
        found = h5vcat_repoint_contents(super) | (class == H5T_VLEN ? CONTENTS_SEQUENCES : CONTENTS_PLAIN);
        H5Tclose(super);
    } else if (class == H5T_COMPOUND) {
        int n = H5Tget_nmembers(type);
        for (int i = 0; i < n; i++) {
            hid_t member = H5Tget_member_type(type, (unsigned)i);
            found |= h5vcat_repoint_contents(member);
            H5Tclose(member);
        }
    }
    return found;
}

/* ---- One reference ------------------------------------------------------------------------------------ */

static enum h5vec_status no_path(struct h5vec_error *err)
{
    return h5vec_error_set(err, H5VEC_E_REFUSED, 0,
                           "a reference to an object without a path is not supported");
}

static enum h5vec_status cannot(struct h5vec_error *err)
{
    return h5vec_layer_error_hdf5(err, "cannot re-point a reference");
}

static bool is_null(const void *bytes, size_t size)
{
    static const char zero[sizeof(H5R_ref_t)];
    return memcmp(bytes, zero, size) == 0;
}

/* The path of what an original reference names in the input. */
static bool original_path(const struct repointing *p, H5R_type_t kind, const void *ref, char path[MAX_PATH])
{
    hid_t object = H5Rdereference2(p->in, H5P_DEFAULT, kind, ref);
    ssize_t n = object < 0 ? -1 : H5Rget_name(p->in, kind, ref, path, MAX_PATH);
    if (object >= 0)
        H5Oclose(object);
    return n > 0 && n < MAX_PATH;
}

/* The item of a dataset's path, which may be a further hard link to it; -1: unknown. */
static int item_of(const struct schema *s, const char *path)
{
    int i = h5vcat_schema_find(s, path);
    if (i >= 0 && s->items[i].kind == ITEM_LINK && s->items[i].value->bytes[0] == H5L_TYPE_HARD)
        i = h5vcat_schema_find(s, (const char *)s->items[i].value->bytes + 1);
    return i;
}

/* The region of the output's dataset at path that an input's region is. Negative: failure. */
static hid_t moved_region(const struct repointing *p, const char *path, hid_t region)
{
    hssize_t back[H5S_MAX_RANK] = {0};
    hsize_t dims[H5S_MAX_RANK], zero[H5S_MAX_RANK] = {0};
    int item = item_of(p->schema, path);
    hid_t dset = H5Dopen2(p->out, path, H5P_DEFAULT), space = dset < 0 ? dset : H5Dget_space(dset);
    bool ok = space >= 0 && (!p->bases || item >= 0);
    if (ok && H5Sget_select_type(region) == H5S_SEL_ALL)
        ok = H5Sget_simple_extent_dims(region, dims, NULL) > 0 &&
             H5Sselect_hyperslab(region, H5S_SELECT_SET, zero, NULL, dims, NULL) >= 0;
    if (ok && p->bases)
        back[0] = -(hssize_t)p->bases[item];
    ok = ok && H5Sselect_copy(space, region) >= 0 && H5Sselect_adjust(space, back) >= 0;
    if (dset >= 0)
        H5Dclose(dset);
    if (!ok && space >= 0)
        H5Sclose(space);
    return ok ? space : H5I_INVALID_HID;
}

static enum h5vec_status repoint_object(const struct repointing *p, hobj_ref_t *ref, struct h5vec_error *err)
{
    char path[MAX_PATH];
    if (is_null(ref, sizeof *ref))
        return H5VEC_OK;
    if (!original_path(p, H5R_OBJECT, ref, path))
        return no_path(err);
    return H5Rcreate(ref, p->out, path, H5R_OBJECT, H5I_INVALID_HID) < 0 ? cannot(err) : H5VEC_OK;
}

static enum h5vec_status repoint_region(const struct repointing *p, hdset_reg_ref_t *ref,
                                        struct h5vec_error *err)
{
    char path[MAX_PATH];
    if (is_null(ref, sizeof *ref))
        return H5VEC_OK;
    if (!original_path(p, H5R_DATASET_REGION, ref, path))
        return no_path(err);
    hid_t region = H5Rget_region(p->in, H5R_DATASET_REGION, ref);
    hid_t moved = region < 0 ? region : moved_region(p, path, region);
    bool ok = moved >= 0 && H5Rcreate(ref, p->out, path, H5R_DATASET_REGION, moved) >= 0;
    if (moved >= 0)
        H5Sclose(moved);
    if (region >= 0)
        H5Sclose(region);
    return ok ? H5VEC_OK : cannot(err);
}

static bool create_any(const struct repointing *p, const char *path, H5R_ref_t *from, H5R_ref_t *to)
{
    char name[MAX_PATH];
    bool ok;
    if (H5Rget_type(from) == H5R_OBJECT2)
        return H5Rcreate_object(p->out, path, H5P_DEFAULT, to) >= 0;
    if (H5Rget_type(from) == H5R_ATTR) {
        ssize_t n = H5Rget_attr_name(from, name, sizeof name);
        return n > 0 && n < MAX_PATH && H5Rcreate_attr(p->out, path, name, H5P_DEFAULT, to) >= 0;
    }
    hid_t region = H5Ropen_region(from, H5P_DEFAULT, H5P_DEFAULT);
    hid_t moved = region < 0 ? region : moved_region(p, path, region);
    ok = moved >= 0 && H5Rcreate_region(p->out, path, moved, H5P_DEFAULT, to) >= 0;
    if (moved >= 0)
        H5Sclose(moved);
    if (region >= 0)
        H5Sclose(region);
    return ok;
}

static enum h5vec_status repoint_any(const struct repointing *p, H5R_ref_t *ref, struct h5vec_error *err)
{
    char path[MAX_PATH], out[MAX_PATH], here[MAX_PATH];
    H5R_ref_t made;
    if (is_null(ref, sizeof *ref))
        return H5VEC_OK;
    ssize_t n = H5Rget_obj_name(ref, H5P_DEFAULT, path, sizeof path);
    if (n <= 0 || n >= MAX_PATH)
        return no_path(err);
    if (H5Rget_file_name(ref, out, sizeof out) <= 0 || H5Fget_name(p->in, here, sizeof here) <= 0 ||
        strcmp(out, here) != 0)
        return h5vec_error_set(err, H5VEC_E_REFUSED, 0, "a reference into another file is not supported");
    if (!create_any(p, path, ref, &made))
        return cannot(err);
    H5Rdestroy(ref);
    *ref = made;
    return H5VEC_OK;
}

/* ---- A value ------------------------------------------------------------------------------------------ */

/* The elements of an array or sequence. */
static size_t elements_of(hid_t type, hid_t super, const char *value, const char **elements)
{
    *elements = value;
    if (H5Tget_class(type) == H5T_ARRAY)
        return H5Tget_size(type) / H5Tget_size(super);
    hvl_t sequence;
    memcpy(&sequence, value, sizeof sequence);
    *elements = sequence.p;
    return sequence.len;
}

enum h5vec_status h5vcat_repoint(const struct repointing *p, hid_t type, char *value, struct h5vec_error *err)
{
    enum h5vec_status st = H5VEC_OK;
    H5T_class_t class = H5Tget_class(type);
    if (class == H5T_REFERENCE && H5Tequal(type, H5T_STD_REF_OBJ) > 0)
        return repoint_object(p, (hobj_ref_t *)value, err);
    if (class == H5T_REFERENCE && H5Tequal(type, H5T_STD_REF_DSETREG) > 0)
        return repoint_region(p, (hdset_reg_ref_t *)value, err);
    if (class == H5T_REFERENCE)
        return repoint_any(p, (H5R_ref_t *)value, err);
    if (class == H5T_COMPOUND) {
        int n = H5Tget_nmembers(type);
        for (int i = 0; i < n && !st; i++) {
            hid_t member = H5Tget_member_type(type, (unsigned)i);
            st = h5vcat_repoint(p, member, value + H5Tget_member_offset(type, (unsigned)i), err);
            H5Tclose(member);
        }
    } else if (class == H5T_ARRAY || class == H5T_VLEN) {
        hid_t super = H5Tget_super(type);
        const char *elements;
        size_t size = H5Tget_size(super), n = elements_of(type, super, value, &elements);
        bool any = h5vcat_repoint_contents(super) & CONTENTS_REFERENCES;
        for (size_t i = 0; i < n && any && !st; i++)
            st = h5vcat_repoint(p, super, (char *)(uintptr_t)elements + i * size, err);
        H5Tclose(super);
    }
    return st;
}

static uint64_t hash_reference(const struct repointing *p, hid_t type, const char *value, uint64_t seed)
{
    char path[MAX_PATH] = "";
    if (H5Tequal(type, H5T_STD_REF_OBJ) > 0)
        original_path(p, H5R_OBJECT, value, path);
    else if (H5Tequal(type, H5T_STD_REF_DSETREG) > 0)
        original_path(p, H5R_DATASET_REGION, value, path);
    else if (!is_null(value, sizeof(H5R_ref_t)))
        H5Rget_obj_name((H5R_ref_t *)(uintptr_t)value, H5P_DEFAULT, path, sizeof path);
    return XXH64(path, strnlen(path, sizeof path), seed);
}

uint64_t h5vcat_repoint_hash(const struct repointing *p, hid_t type, const char *value, uint64_t seed)
{
    H5T_class_t class = H5Tget_class(type);
    if (class == H5T_REFERENCE)
        return hash_reference(p, type, value, seed);
    if (class == H5T_STRING && H5Tis_variable_str(type) > 0) {
        const char *text;
        memcpy(&text, value, sizeof text);
        return text ? XXH64(text, strlen(text), seed) : seed + 1;
    }
    if (class == H5T_COMPOUND) {
        int n = H5Tget_nmembers(type);
        for (int i = 0; i < n; i++) {
            hid_t member = H5Tget_member_type(type, (unsigned)i);
            seed = h5vcat_repoint_hash(p, member, value + H5Tget_member_offset(type, (unsigned)i), seed);
            H5Tclose(member);
        }
        return seed;
    }
    if (class == H5T_ARRAY || class == H5T_VLEN) {
        hid_t super = H5Tget_super(type);
        const char *elements;
        size_t size = H5Tget_size(super), n = elements_of(type, super, value, &elements);
        for (size_t i = 0; i < n; i++)
            seed = h5vcat_repoint_hash(p, super, elements + i * size, seed);
        H5Tclose(super);
        return XXH64(&n, sizeof n, seed);
    }
    return XXH64(value, H5Tget_size(type), seed);
}

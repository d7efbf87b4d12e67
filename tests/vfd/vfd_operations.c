/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The random operations. Each decides by its own seed and by what is in the file, does something, and folds
 * every answer of HDF5 into a digest: what fails must fail alike. Storage is always filled, so that no value
 * depends on what lay on the disk.
 */
#include "vfd_random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct work {
    struct rnd r;
    hid_t file;
    uint64_t digest;
};

static void note(struct work *w, int64_t answer)
{
    w->digest = fold(w->digest, answer < 0 ? UINT64_MAX : (uint64_t)answer);
}

static void noted_close(struct work *w, hid_t id)
{
    if (id >= 0)
        note(w, H5Idec_ref(id) >= 0);
}

/* The root or a group below it, mostly near the root. */
static hid_t pick_group(struct work *w)
{
    hid_t group = H5Gopen2(w->file, "/", H5P_DEFAULT);
    for (int depth = 0; depth < 3 && group >= 0 && rnd_once_in(&w->r, 2); depth++) {
        char name[8];
        snprintf(name, sizeof name, "g%u", rnd_below(&w->r, 4));
        if (H5Lexists(group, name, H5P_DEFAULT) <= 0 || H5Oexists_by_name(group, name, H5P_DEFAULT) <= 0)
            break;
        hid_t below = H5Oopen(group, name, H5P_DEFAULT);
        if (below < 0 || H5Iget_type(below) != H5I_GROUP) {
            noted_close(w, below);
            break;
        }
        H5Gclose(group);
        group = below;
    }
    note(w, group >= 0);
    return group;
}

/* A name that may be there: of a group, a dataset or a link, or one of the given kind. */
static void pick_name(struct work *w, char kind, char name[8])
{
    static const char kinds[] = "ggdddds";
    snprintf(name, 8, "%c%u", kind ? kind : kinds[rnd_below(&w->r, sizeof kinds - 1)], rnd_below(&w->r, 6));
}

/* An object of that type (H5I_BADID: any), or an invalid id. */
static hid_t pick_object(struct work *w, H5I_type_t type)
{
    for (int try = 0; try < 4; try++) {
        char name[8];
        hid_t group = pick_group(w), object = H5I_INVALID_HID;
        pick_name(w, type == H5I_DATASET ? 'd' : 0, name);
        if (H5Lexists(group, name, H5P_DEFAULT) > 0 && H5Oexists_by_name(group, name, H5P_DEFAULT) > 0)
            object = H5Oopen(group, name, H5P_DEFAULT);
        noted_close(w, group);
        if (object >= 0 && (type == H5I_BADID || H5Iget_type(object) == type))
            return object;
        noted_close(w, object);
    }
    return H5I_INVALID_HID;
}

static void make_group(struct work *w)
{
    char name[8];
    hid_t where = pick_group(w), gcpl = H5Pcreate(H5P_GROUP_CREATE);
    pick_name(w, 'g', name);
    if (rnd_once_in(&w->r, 3))
        H5Pset_link_creation_order(gcpl, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    if (rnd_once_in(&w->r, 3))
        H5Pset_link_phase_change(gcpl, 2, 1);
    hid_t group = H5Gcreate2(where, name, H5P_DEFAULT, gcpl, H5P_DEFAULT);
    note(w, group >= 0);
    noted_close(w, group);
    for (unsigned i = rnd_once_in(&w->r, 8) ? 40 : 0; i > 0; i--) {
        char many[24];
        snprintf(many, sizeof many, "%s/many%u", name, i);
        noted_close(w, H5Gcreate2(where, many, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    }
    noted_close(w, where);
    H5Pclose(gcpl);
}

struct shape {
    int rank;
    hsize_t dims[2], max[2], chunk[2];
};

static hsize_t random_extent(struct rnd *r)
{
    unsigned n = rnd_below(r, 100);
    return n < 4 ? 0 : n < 60 ? 1 + rnd_below(r, 60) : n < 92 ? rnd_below(r, 3000) : rnd_below(r, 60000);
}

static struct shape random_shape(struct rnd *r, bool chunked)
{
    struct shape s = {.rank = 1 + (int)rnd_once_in(r, 3)};
    for (int i = 0; i < s.rank; i++) {
        s.dims[i] = i > 0 ? 1 + rnd_below(r, 40) : s.rank == 2 ? random_extent(r) / 20 : random_extent(r);
        unsigned kind = rnd_below(r, 3);
        s.max[i] = !chunked || kind == 0 ? s.dims[i] : kind == 1 ? H5S_UNLIMITED : 2 * s.dims[i] + 1;
        s.chunk[i] = 1 + rnd_below(r, i > 0 ? 20 : (unsigned)(s.dims[i] / 2 + 4));
        if (s.chunk[i] * 300 < s.dims[i])
            s.chunk[i] = s.dims[i] / 100;
        if (s.max[i] != H5S_UNLIMITED && s.chunk[i] > s.max[i])
            s.chunk[i] = s.max[i] ? s.max[i] : 1;
    }
    return s;
}

static void random_filters(struct rnd *r, hid_t dcpl)
{
    if (rnd_once_in(r, 2))
        return;
    if (rnd_once_in(r, 2))
        H5Pset_shuffle(dcpl);
    if (rnd_once_in(r, 2))
        H5Pset_deflate(dcpl, 1);
    if (rnd_once_in(r, 3))
        H5Pset_fletcher32(dcpl);
    if (rnd_once_in(r, 4))
        H5Pset_chunk_opts(dcpl, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
}

static hid_t random_dcpl(struct rnd *r, const struct shape *s, H5D_layout_t layout)
{
    static const H5D_alloc_time_t times[] = {H5D_ALLOC_TIME_DEFAULT, H5D_ALLOC_TIME_EARLY,
                                             H5D_ALLOC_TIME_LATE, H5D_ALLOC_TIME_INCR};
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_layout(dcpl, layout);
    H5Pset_fill_time(dcpl, H5D_FILL_TIME_ALLOC);
    if (layout == H5D_CHUNKED) {
        H5Pset_chunk(dcpl, s->rank, s->chunk);
        random_filters(r, dcpl);
        H5Pset_alloc_time(dcpl, times[rnd_below(r, 4)]);
    } else if (layout == H5D_CONTIGUOUS) {
        H5Pset_alloc_time(dcpl, times[rnd_below(r, 3)]);
    }
    if (rnd_once_in(r, 3))
        H5Pset_attr_phase_change(dcpl, 3, 2);
    if (rnd_once_in(r, 4))
        H5Pset_attr_creation_order(dcpl, H5P_CRT_ORDER_TRACKED);
    return dcpl;
}

/* Read or write what is selected in the file's space. */
static void transfer(struct work *w, hid_t dataset, hid_t space, bool write)
{
    hid_t stored = H5Dget_type(dataset), type = H5Tget_native_type(stored, H5T_DIR_DEFAULT);
    hssize_t selected = H5Sget_select_npoints(space);
    hsize_t n = selected > 0 ? (hsize_t)selected : 0;
    size_t size = H5Tget_size(type);
    hid_t memory = H5Screate_simple(1, &n, NULL);
    char *values = calloc(n + 1, size);
    if (write) {
        values_fill(&w->r, w->file, type, values, size, n);
        note(w, H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, values));
    } else {
        note(w, H5Dread(dataset, type, memory, space, H5P_DEFAULT, values));
        w->digest = values_fold(w->digest, w->file, type, values, size, n);
    }
    values_free(type, n, values);
    H5Sclose(memory);
    H5Tclose(type);
    H5Tclose(stored);
}

static void make_dataset(struct work *w)
{
    static const H5D_layout_t layouts[] = {H5D_CONTIGUOUS, H5D_CHUNKED, H5D_CHUNKED, H5D_COMPACT};
    char name[8];
    H5D_layout_t layout = layouts[rnd_below(&w->r, 4)];
    struct shape s = random_shape(&w->r, layout == H5D_CHUNKED);
    hid_t where = pick_group(w), dcpl = random_dcpl(&w->r, &s, layout);
    hid_t type = random_type(&w->r, w->file);
    hid_t space = rnd_once_in(&w->r, 12) && layout != H5D_CHUNKED ? H5Screate(H5S_SCALAR)
                                                                  : H5Screate_simple(s.rank, s.dims, s.max);
    pick_name(w, 'd', name);
    hid_t dataset = H5Dcreate2(where, name, type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    note(w, dataset >= 0);
    if (dataset >= 0 && !rnd_once_in(&w->r, 4))
        transfer(w, dataset, space, true);
    noted_close(w, dataset);
    noted_close(w, where);
    H5Sclose(space);
    H5Tclose(type);
    H5Pclose(dcpl);
}

/* A regular selection, or all. Small steps make many pieces. */
static void select_some(struct rnd *r, hid_t space)
{
    hsize_t dims[2] = {1, 1}, start[2], stride[2], count[2], block[2];
    int rank = H5Sget_simple_extent_ndims(space);
    H5Sget_simple_extent_dims(space, dims, NULL);
    if (rank == 0 || dims[0] == 0 || dims[1] == 0 || rnd_once_in(r, 6))
        return;
    for (int i = 0; i < rank; i++) {
        start[i] = rnd_next(r) % dims[i];
        block[i] = 1 + rnd_below(r, 5);
        if (rnd_once_in(r, 2))
            block[i] = 1 + rnd_next(r) % (dims[i] - start[i]);
        block[i] = block[i] > dims[i] - start[i] ? 1 : block[i];
        stride[i] = block[i] + rnd_below(r, rnd_once_in(r, 2) ? 4 : 300);
        count[i] = 1 + (dims[i] - start[i] - block[i]) / stride[i];
        count[i] = count[i] > 1000 ? 1000 : count[i];
    }
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, block);
}

static void transfer_some(struct work *w, bool write)
{
    hid_t dataset = pick_object(w, H5I_DATASET);
    if (dataset < 0)
        return;
    hid_t space = H5Dget_space(dataset);
    select_some(&w->r, space);
    transfer(w, dataset, space, write);
    if (rnd_once_in(&w->r, 8))
        note(w, H5Dflush(dataset));
    H5Sclose(space);
    noted_close(w, dataset);
}

static void write_some(struct work *w)
{
    transfer_some(w, true);
}

static void read_some(struct work *w)
{
    transfer_some(w, false);
}

static void set_extent(struct work *w)
{
    hid_t dataset = pick_object(w, H5I_DATASET);
    hsize_t dims[2] = {0, 0}, max[2] = {0, 0};
    if (dataset < 0)
        return;
    hid_t space = H5Dget_space(dataset);
    int rank = H5Sget_simple_extent_dims(space, dims, max);
    for (int i = 0; i < rank; i++) {
        if (rnd_once_in(&w->r, 2))
            dims[i] = dims[i] * (1 + rnd_below(&w->r, 5)) / 2 + rnd_below(&w->r, 30);
        else
            dims[i] = rnd_next(&w->r) % (dims[i] + 1);
        if (dims[i] > max[i] && !rnd_once_in(&w->r, 10))
            dims[i] = max[i];
        if (dims[i] > (rank == 2 ? 6000u : 150000u))
            dims[i] = 10;
    }
    note(w, H5Dset_extent(dataset, dims));
    H5Sclose(space);
    noted_close(w, dataset);
}

static hid_t attribute_space(struct rnd *r, bool large)
{
    hsize_t n = large ? 1 + 102400 / 4 : rnd_below(r, 40);
    if (!large && rnd_once_in(r, 3))
        return H5Screate(rnd_once_in(r, 10) ? H5S_NULL : H5S_SCALAR);
    return H5Screate_simple(1, &n, NULL);
}

static void write_attribute(struct work *w, hid_t attribute)
{
    hid_t stored = H5Aget_type(attribute), type = H5Tget_native_type(stored, H5T_DIR_DEFAULT);
    hid_t space = H5Aget_space(attribute);
    hssize_t points = H5Sget_simple_extent_npoints(space);
    hsize_t n = points > 0 ? (hsize_t)points : 0;
    size_t size = H5Tget_size(type);
    char *values = calloc(n + 1, size);
    values_fill(&w->r, w->file, type, values, size, n);
    note(w, H5Awrite(attribute, type, values));
    values_free(type, n, values);
    H5Sclose(space);
    H5Tclose(type);
    H5Tclose(stored);
}

static void make_attribute(struct work *w, hid_t object, const char *name)
{
    bool large = rnd_once_in(&w->r, 20);
    /* No committed types here: H5Ocopy of such attributes crashes in HDF5 1.14.5 (H5A__attr_post_copy_file).
     */
    hid_t type = large ? H5Tcopy(H5T_STD_I32LE) : random_type(&w->r, H5I_INVALID_HID);
    hid_t space = attribute_space(&w->r, large);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    note(w, attribute >= 0);
    if (attribute >= 0)
        write_attribute(w, attribute);
    noted_close(w, attribute);
    H5Sclose(space);
    H5Tclose(type);
}

static void change_attributes(struct work *w)
{
    hid_t object = rnd_once_in(&w->r, 4) ? H5Oopen(w->file, "/", H5P_DEFAULT) : pick_object(w, H5I_BADID);
    if (object < 0)
        return;
    for (unsigned n = rnd_once_in(&w->r, 6) ? 24 : 1 + rnd_below(&w->r, 3); n > 0; n--) {
        char name[8], other[8];
        snprintf(name, sizeof name, "a%u", rnd_below(&w->r, 30));
        snprintf(other, sizeof other, "a%u", rnd_below(&w->r, 30));
        if (H5Aexists(object, name) <= 0) {
            make_attribute(w, object, name);
        } else if (rnd_once_in(&w->r, 3)) {
            note(w, H5Adelete(object, name));
        } else if (rnd_once_in(&w->r, 4)) {
            note(w, H5Aexists(object, other) > 0 ? 0 : H5Arename(object, name, other));
        } else {
            hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
            write_attribute(w, attribute);
            noted_close(w, attribute);
        }
    }
    noted_close(w, object);
}

static void delete_link(struct work *w)
{
    char name[8];
    hid_t where = pick_group(w);
    pick_name(w, 0, name);
    if (H5Lexists(where, name, H5P_DEFAULT) > 0)
        note(w, H5Ldelete(where, name, H5P_DEFAULT));
    noted_close(w, where);
}

static void make_link(struct work *w)
{
    char name[8], target[8], path[16];
    hid_t where = pick_group(w), other = pick_group(w);
    pick_name(w, rnd_once_in(&w->r, 2) ? 's' : 'd', name);
    pick_name(w, rnd_once_in(&w->r, 6) ? 'g' : 'd', target);
    snprintf(path, sizeof path, "/g0/%s", target);
    if (rnd_once_in(&w->r, 2))
        note(w, H5Lcreate_soft(rnd_once_in(&w->r, 2) ? path : target, where, name, H5P_DEFAULT, H5P_DEFAULT));
    else if (H5Lexists(other, target, H5P_DEFAULT) > 0)
        note(w, H5Lcreate_hard(other, target, where, name, H5P_DEFAULT, H5P_DEFAULT));
    noted_close(w, where);
    noted_close(w, other);
}

static void move_link(struct work *w)
{
    char name[8], new_name[8];
    hid_t where = pick_group(w), other = pick_group(w);
    pick_name(w, 'd', name);
    pick_name(w, 'd', new_name);
    if (H5Lexists(where, name, H5P_DEFAULT) > 0)
        note(w, H5Lmove(where, name, other, new_name, H5P_DEFAULT, H5P_DEFAULT));
    noted_close(w, where);
    noted_close(w, other);
}

/* Filtered chunks of variable-length values: H5Ocopy of HDF5 1.14.5 unpacks them into a new, larger buffer
 * and then clears its old background buffer by that size (H5D__chunk_copy_cb): past its end. */
static bool copying_overflows(hid_t where, const char *name)
{
    hid_t object = H5Oopen(where, name, H5P_DEFAULT);
    bool overflows = false;
    if (object >= 0 && H5Iget_type(object) == H5I_DATASET) {
        hid_t type = H5Dget_type(object), dcpl = H5Dget_create_plist(object);
        bool varies = H5Tdetect_class(type, H5T_VLEN) > 0 || H5Tdetect_class(type, H5T_STRING) > 0;
        overflows = H5Pget_nfilters(dcpl) > 0 && varies;
        H5Tclose(type);
        H5Pclose(dcpl);
    }
    if (object >= 0)
        H5Oclose(object);
    return overflows;
}

static void copy_object(struct work *w)
{
    char name[8], new_name[8];
    hid_t where = pick_group(w), other = pick_group(w);
    pick_name(w, 'd', name);
    pick_name(w, 'd', new_name);
    if (H5Lexists(where, name, H5P_DEFAULT) > 0 && H5Lexists(other, new_name, H5P_DEFAULT) == 0 &&
        !copying_overflows(where, name))
        note(w, H5Ocopy(where, name, other, new_name, H5P_DEFAULT, H5P_DEFAULT));
    noted_close(w, where);
    noted_close(w, other);
}

static void commit_type(struct work *w)
{
    if (H5Lexists(w->file, "type", H5P_DEFAULT) > 0) {
        note(w, H5Ldelete(w->file, "type", H5P_DEFAULT));
        return;
    }
    hid_t type = random_type(&w->r, w->file);
    note(w, H5Tcommit2(w->file, "type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    noted_close(w, type);
}

/* A chunk as it is stored, read and written back under another mask: HDF5 does not see its values. */
static void rewrite_chunk(struct work *w)
{
    hid_t dataset = pick_object(w, H5I_DATASET);
    hsize_t offset[2] = {0, 0}, size = 0;
    uint32_t mask = 0;
    if (dataset < 0)
        return;
    hid_t dcpl = H5Dget_create_plist(dataset), type = H5Dget_type(dataset);
    if (H5Pget_layout(dcpl) == H5D_CHUNKED && H5Tdetect_class(type, H5T_VLEN) == 0 &&
        H5Dget_chunk_storage_size(dataset, offset, &size) >= 0 && size > 0) {
        char *bytes = malloc(size);
        note(w, H5Dread_chunk(dataset, H5P_DEFAULT, offset, &mask, bytes));
        if (!rnd_once_in(&w->r, 3) || H5Pget_nfilters(dcpl) > 0) {
            note(w, H5Dwrite_chunk(dataset, H5P_DEFAULT, mask, offset, size, bytes));
        } else if (H5Tget_class(type) == H5T_INTEGER) {
            memset(bytes, (int)rnd_below(&w->r, 256), size);
            note(w, H5Dwrite_chunk(dataset, H5P_DEFAULT, mask, offset, size, bytes));
        }
        free(bytes);
    }
    H5Tclose(type);
    H5Pclose(dcpl);
    noted_close(w, dataset);
}

static bool are_integers(hid_t dataset)
{
    hid_t type = dataset < 0 ? H5I_INVALID_HID : H5Dget_type(dataset);
    bool integers = type >= 0 && H5Tget_class(type) == H5T_INTEGER;
    if (type >= 0)
        H5Tclose(type);
    return integers;
}

static bool are_one(hid_t a, hid_t b)
{
    H5O_info2_t x, y;
    return H5Oget_info3(a, &x, H5O_INFO_BASIC) >= 0 && H5Oget_info3(b, &y, H5O_INFO_BASIC) >= 0 &&
           memcmp(&x.token, &y.token, sizeof x.token) == 0;
}

/* Two datasets in one call. */
static void write_two(struct work *w)
{
    hid_t pair[2] = {pick_object(w, H5I_DATASET), pick_object(w, H5I_DATASET)};
    hid_t types[2] = {H5T_NATIVE_INT, H5T_NATIVE_INT}, spaces[2] = {H5S_ALL, H5S_ALL};
    int *values[2] = {NULL, NULL};
    bool good = are_integers(pair[0]) && are_integers(pair[1]) && !are_one(pair[0], pair[1]);
    for (int i = 0; i < 2 && good; i++) {
        hid_t space = H5Dget_space(pair[i]);
        size_t n = (size_t)H5Sget_simple_extent_npoints(space);
        values[i] = calloc(n + 1, sizeof(int));
        values_fill(&w->r, w->file, types[i], (char *)values[i], sizeof(int), n);
        H5Sclose(space);
    }
    if (good)
        note(w, H5Dwrite_multi(2, pair, types, spaces, spaces, H5P_DEFAULT, (const void **)values));
    for (int i = 0; i < 2; i++) {
        free(values[i]);
        noted_close(w, pair[i]);
    }
}

/* A large contiguous dataset is written, read in pieces and perhaps deleted: larger than any block. */
static void large_dataset(struct work *w)
{
    hsize_t n = 100000 + rnd_below(&w->r, 1000000), part[2];
    hid_t space = H5Screate_simple(1, &n, NULL);
    if (H5Lexists(w->file, "large", H5P_DEFAULT) > 0) {
        note(w, H5Ldelete(w->file, "large", H5P_DEFAULT));
    } else {
        hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_fill_time(dcpl, H5D_FILL_TIME_ALLOC);
        hid_t dataset = H5Dcreate2(w->file, "large", H5T_STD_U8LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
        if (dataset >= 0)
            transfer(w, dataset, space, true);
        for (int i = 0; i < 4 && dataset >= 0; i++) {
            part[0] = rnd_next(&w->r) % n;
            part[1] = 1 + rnd_next(&w->r) % (n - part[0]);
            H5Sselect_hyperslab(space, H5S_SELECT_SET, part, NULL, part + 1, NULL);
            transfer(w, dataset, space, i % 2);
        }
        noted_close(w, dataset);
        H5Pclose(dcpl);
    }
    H5Sclose(space);
}

static void open_twice(struct work *w)
{
    unsigned intent = 0;
    char path[512];
    hid_t fapl = H5Fget_access_plist(w->file);
    H5Fget_intent(w->file, &intent);
    H5Fget_name(w->file, path, sizeof path);
    hid_t again = H5Fopen(path, intent & H5F_ACC_RDWR ? H5F_ACC_RDWR : H5F_ACC_RDONLY, fapl);
    note(w, again >= 0);
    if (again >= 0) {
        struct work other = {w->r, again, w->digest};
        make_dataset(&other);
        change_attributes(&other);
        w->digest = other.digest;
        note(w, H5Fclose(again));
    }
    H5Pclose(fapl);
}

static void flush(struct work *w)
{
    note(w, H5Fflush(w->file, rnd_once_in(&w->r, 2) ? H5F_SCOPE_LOCAL : H5F_SCOPE_GLOBAL));
}

static void (*const operations[OPERATIONS])(struct work *) = {
    make_group,   make_dataset,      write_some,      [READ_SOME] = read_some,
    set_extent,   change_attributes, delete_link,     make_link,
    move_link,    copy_object,       commit_type,     rewrite_chunk,
    write_two,    open_twice,        [FLUSH] = flush, large_dataset,
    make_dataset,
};
const char *const operation_names[OPERATIONS] = {
    "make_group",  "make_dataset", "write_some", "read_some",     "set_extent",   "change_attributes",
    "delete_link", "make_link",    "move_link",  "copy_object",   "commit_type",  "rewrite_chunk",
    "write_two",   "open_twice",   "flush",      "large_dataset", "make_dataset",
};

uint64_t operation(unsigned which, uint64_t seed, hid_t file)
{
    struct work w = {{seed}, file, 0xcbf29ce484222325u};
    operations[which](&w);
    return w.digest;
}

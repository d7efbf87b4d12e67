/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is in a file, as text, a line for every link, object and attribute: equal files have equal texts, and
 * the first line that differs says where they do not. Values appear as digests.
 */
#include "vfd_random.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
    char *bytes;
    size_t used, room;
    hid_t file;
};

static void add(struct text *t, const char *format, ...)
{
    va_list arguments;
    if (t->room - t->used < 4096)
        t->bytes = realloc(t->bytes, t->room = 2 * t->room + 8192);
    va_start(arguments, format);
    int n = vsnprintf(t->bytes + t->used, 4096, format, arguments);
    va_end(arguments);
    t->used += n < 4096 ? (size_t)n : 4095;
}

static void add_type_and_space(struct text *t, hid_t type, hid_t space)
{
    char what[1024];
    hsize_t dims[H5S_MAX_RANK], max[H5S_MAX_RANK];
    int rank = H5Sget_simple_extent_dims(space, dims, max);
    type_text(type, what, sizeof what);
    add(t, " %s space %d", what, (int)H5Sget_simple_extent_type(space));
    for (int i = 0; i < rank; i++)
        add(t, " %llu/%lld", (unsigned long long)dims[i], (long long)max[i]);
}

/* The whole of a dataset or an attribute. */
static void add_values(struct text *t, hid_t id, hid_t type, hid_t space, bool attribute)
{
    hid_t native = H5Tget_native_type(type, H5T_DIR_DEFAULT);
    hssize_t points = H5Sget_simple_extent_npoints(space);
    hsize_t n = points > 0 ? (hsize_t)points : 0;
    size_t size = H5Tget_size(native);
    char *values = calloc(n + 1, size);
    herr_t got =
        attribute ? H5Aread(id, native, values) : H5Dread(id, native, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    uint64_t digest = values_fold(0, t->file, native, values, size, n);
    add(t, " read %d values %016llx\n", (int)got, (unsigned long long)digest);
    values_free(native, n, values);
    H5Tclose(native);
}

static herr_t add_attribute(hid_t object, const char *name, const H5A_info_t *info, void *text)
{
    struct text *t = text;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    (void)info;
    add(t, "  attribute %s", name);
    add_type_and_space(t, type, space);
    add_values(t, attribute, type, space, true);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    return 0;
}

static void add_layout(struct text *t, hid_t dcpl)
{
    hsize_t chunk[H5S_MAX_RANK];
    H5D_layout_t layout = H5Pget_layout(dcpl);
    add(t, " layout %d filters %d", (int)layout, H5Pget_nfilters(dcpl));
    int rank = layout == H5D_CHUNKED ? H5Pget_chunk(dcpl, H5S_MAX_RANK, chunk) : 0;
    for (int i = 0; i < rank; i++)
        add(t, " chunk %llu", (unsigned long long)chunk[i]);
}

static void add_dataset(struct text *t, hid_t dataset)
{
    hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    hid_t dcpl = H5Dget_create_plist(dataset);
    H5D_space_status_t status;
    add_type_and_space(t, type, space);
    add_layout(t, dcpl);
    if (H5Dget_space_status(dataset, &status) >= 0)
        add(t, " allocated %d", (int)status);
    add_values(t, dataset, type, space, false);
    H5Pclose(dcpl);
    H5Sclose(space);
    H5Tclose(type);
}

static herr_t add_object(hid_t root, const char *name, const H5O_info2_t *info, void *text)
{
    struct text *t = text;
    hid_t object = H5Oopen(root, name, H5P_DEFAULT);
    add(t, "object %s type %d count %u attributes %llu", name, (int)info->type, info->rc,
        (unsigned long long)info->num_attrs);
    if (object < 0)
        add(t, " cannot be opened\n");
    else if (info->type == H5O_TYPE_DATASET)
        add_dataset(t, object);
    else if (info->type == H5O_TYPE_NAMED_DATATYPE) {
        char what[1024];
        type_text(object, what, sizeof what);
        add(t, " %s\n", what);
    } else
        add(t, "\n");
    if (object >= 0) {
        if (H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, NULL, add_attribute, t) < 0)
            add(t, "  attributes cannot be read\n");
        H5Oclose(object);
    }
    return 0;
}

static herr_t add_link(hid_t root, const char *name, const H5L_info2_t *info, void *text)
{
    char target[64] = "";
    if (info->type == H5L_TYPE_SOFT)
        H5Lget_val(root, name, target, sizeof target, H5P_DEFAULT);
    add(text, "link %s type %d to '%s'\n", name, (int)info->type, target);
    return 0;
}

char *content_text(hid_t file)
{
    struct text t = {NULL, 0, 0, file};
    add(&t, "content\n");
    if (H5Lvisit2(file, H5_INDEX_NAME, H5_ITER_INC, add_link, &t) < 0)
        add(&t, "links cannot be visited\n");
    if (H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_INC, add_object, &t, H5O_INFO_BASIC | H5O_INFO_NUM_ATTRS) < 0)
        add(&t, "objects cannot be visited\n");
    return t.bytes;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A dataset in a few words: shape, layout, filters and bytes; its type is layer_type_text.c's.
 */
#include "h5vinfo.h"
#include "H5Zh5vec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void filter_text(FILE *out, hid_t dcpl, unsigned i)
{
    unsigned flags, values[8] = {0};
    size_t count = sizeof values / sizeof values[0];
    char name[64] = "";
    H5Z_filter_t id = H5Pget_filter2(dcpl, i, &flags, &count, values, sizeof name, name, NULL);
    static const struct {
        H5Z_filter_t id;
        const char *name;
    } known[] = {{H5Z_FILTER_SHUFFLE, "shuffle"},
                 {H5Z_FILTER_FLETCHER32, "fletcher32"},
                 {H5Z_FILTER_SZIP, "szip"},
                 {H5Z_FILTER_NBIT, "nbit"},
                 {H5Z_FILTER_SCALEOFFSET, "scaleoffset"},
                 {H5Z_FILTER_H5VEC, "vector"}};
    if (i > 0)
        fputc(' ', out);
    if (id == H5Z_FILTER_DEFLATE) {
        fprintf(out, "deflate:%u", values[0]);
        return;
    }
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
        if (known[k].id == id)
            snprintf(name, sizeof name, "%s", known[k].name);
    for (char *p = name; *p; p++) /* one word of printable ASCII each, whatever the file says */
        if (*p <= ' ' || *p > '~')
            *p = '_';
    fprintf(out, name[0] ? "%s" : "%sfilter:%d", name, (int)id);
}

static char *filters_text(hid_t dcpl)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    int count = H5Pget_nfilters(dcpl);
    for (int i = 0; i < count; i++)
        filter_text(out, dcpl, (unsigned)i);
    return fclose(out) == 0 ? text : NULL;
}

static const char *layout_text(hid_t dcpl)
{
    switch (H5Pget_layout(dcpl)) {
    case H5D_COMPACT:
        return "compact";
    case H5D_CONTIGUOUS:
        return "contiguous";
    case H5D_CHUNKED:
        return "chunked";
    case H5D_VIRTUAL:
        return "virtual";
    default:
        return "other";
    }
}

static uint64_t bytes_of(const struct h5vinfo_dataset *dataset, hid_t space, hid_t type)
{
    uint64_t bytes = H5Sget_simple_extent_type(space) == H5S_NULL ? 0 : H5Tget_size(type);
    for (int i = 0; i < dataset->rank; i++)
        if (__builtin_mul_overflow(bytes, dataset->dims[i], &bytes))
            return UINT64_MAX;
    return bytes;
}

enum h5vec_status h5vinfo_describe(hid_t id, struct h5vinfo_dataset *dataset, struct h5vec_error *err)
{
    enum h5vec_status status = H5VEC_OK;
    hid_t type = H5Dget_type(id), space = H5Dget_space(id), dcpl = H5Dget_create_plist(id);
    if (type < 0 || space < 0 || dcpl < 0) {
        status = h5vec_layer_error_hdf5(err, "cannot be described");
    } else {
        dataset->layout = layout_text(dcpl);
        dataset->rank = H5Sget_simple_extent_dims(space, dataset->dims, dataset->max);
        dataset->rank = dataset->rank < 0 ? 0 : dataset->rank;
        dataset->chunked =
            H5Pget_layout(dcpl) == H5D_CHUNKED && H5Pget_chunk(dcpl, H5S_MAX_RANK, dataset->chunk) > 0;
        dataset->stored = H5Dget_storage_size(id);
        dataset->unpacked = bytes_of(dataset, space, type);
        dataset->type = h5vec_layer_type_text(type);
        dataset->filters = filters_text(dcpl);
        if (!dataset->type || !dataset->filters)
            status = h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory");
    }
    if (dcpl >= 0)
        H5Pclose(dcpl);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    return status;
}

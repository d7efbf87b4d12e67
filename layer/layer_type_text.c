/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A type in a few words: "int64", "string[8]", "enum of uint8".
 */
#include "h5vec_layer.h"

#include <inttypes.h>
#include <stdio.h>

static void number_text(FILE *out, hid_t type, const char *kind)
{
    size_t size = H5Tget_size(type);
    bool big = size > 1 && H5Tget_order(type) == H5T_ORDER_BE;
    fprintf(out, "%s%zu%s", kind, 8 * size, big ? " big-endian" : "");
}

static void type_text(FILE *out, hid_t type, int depth);

/* The type that type is made of. */
static void base_text(FILE *out, hid_t type, int depth)
{
    hid_t base = H5Tget_super(type);
    if (base >= 0) {
        type_text(out, base, depth + 1);
        H5Tclose(base);
    }
}

static void array_text(FILE *out, hid_t type, int depth)
{
    hsize_t dims[H5S_MAX_RANK];
    base_text(out, type, depth);
    int rank = H5Tget_array_dims2(type, dims);
    for (int i = 0; i < rank; i++)
        fprintf(out, "[%" PRIu64 "]", (uint64_t)dims[i]);
}

static void type_text(FILE *out, hid_t type, int depth)
{
    enum { MAX_DEPTH = 8 };
    if (depth > MAX_DEPTH) {
        fputs("...", out);
        return;
    }
    switch (H5Tget_class(type)) {
    case H5T_INTEGER:
        number_text(out, type, H5Tget_sign(type) == H5T_SGN_NONE ? "uint" : "int");
        break;
    case H5T_FLOAT:
        number_text(out, type, "float");
        break;
    case H5T_STRING:
        if (H5Tis_variable_str(type) > 0)
            fputs("string", out);
        else
            fprintf(out, "string[%zu]", H5Tget_size(type));
        break;
    case H5T_BITFIELD:
        number_text(out, type, "bitfield");
        break;
    case H5T_OPAQUE:
        fprintf(out, "opaque[%zu]", H5Tget_size(type));
        break;
    case H5T_COMPOUND:
        fprintf(out, "compound[%zu]", H5Tget_size(type));
        break;
    case H5T_REFERENCE:
        fputs("reference", out);
        break;
    case H5T_ENUM:
        fputs("enum of ", out);
        base_text(out, type, depth);
        break;
    case H5T_VLEN:
        fputs("variable-length ", out);
        base_text(out, type, depth);
        break;
    case H5T_ARRAY:
        array_text(out, type, depth);
        break;
    default:
        fputs("other", out);
    }
}

char *h5vec_layer_type_text(hid_t type)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    type_text(out, type, 0);
    return fclose(out) == 0 ? text : NULL;
}

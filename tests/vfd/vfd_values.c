/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Types, and values of them. Values are walked with a stride, so that a compound type's members are reached
 * member by member and HDF5 is asked about each type once.
 */
#include "vfd_random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t rnd_next(struct rnd *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

unsigned rnd_below(struct rnd *r, unsigned n)
{
    return (unsigned)(rnd_next(r) % n);
}

bool rnd_once_in(struct rnd *r, unsigned n)
{
    return rnd_below(r, n) == 0;
}

uint64_t fold_bytes(uint64_t digest, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < size; i++)
        digest = (digest ^ p[i]) * 0x100000001b3u;
    return digest;
}

uint64_t fold(uint64_t digest, uint64_t number)
{
    return fold_bytes(digest, &number, sizeof number);
}

static hid_t string_type(size_t size)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, size);
    return type;
}

static hid_t compound_type(bool with_string)
{
    hid_t word = string_type(5), text = string_type(H5T_VARIABLE);
    hid_t type = H5Tcreate(H5T_COMPOUND, with_string ? 17 + sizeof(char *) : 17);
    H5Tinsert(type, "id", 0, H5T_NATIVE_INT);
    H5Tinsert(type, "value", 4, H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "word", 12, word);
    if (with_string)
        H5Tinsert(type, "text", 17, text);
    H5Tclose(word);
    H5Tclose(text);
    return type;
}

static hid_t enum_type(void)
{
    hid_t type = H5Tenum_create(H5T_NATIVE_UCHAR);
    for (unsigned char i = 0; i < 4; i++) {
        char name[8];
        snprintf(name, sizeof name, "e%d", i);
        H5Tenum_insert(type, name, &i);
    }
    return type;
}

hid_t random_type(struct rnd *r, hid_t file)
{
    hsize_t three = 3;
    switch (rnd_below(r, 16)) {
    case 0:
        return H5Tcopy(H5T_STD_U8LE);
    case 1:
        return H5Tcopy(H5T_STD_I16BE);
    case 2:
    case 3:
        return H5Tcopy(H5T_IEEE_F64LE);
    case 4:
        return H5Tcopy(H5T_IEEE_F32BE);
    case 5:
        return string_type(13);
    case 6:
    case 7:
        return string_type(H5T_VARIABLE);
    case 8:
        return compound_type(false);
    case 9:
        return compound_type(true);
    case 10:
        return H5Tarray_create2(H5T_STD_I32LE, 1, &three);
    case 11:
        return enum_type();
    case 12:
        return H5Tvlen_create(H5T_STD_I32LE);
    case 13:
        return H5Tcopy(H5T_STD_REF_OBJ);
    case 14:
        if (file >= 0 && H5Lexists(file, "type", H5P_DEFAULT) > 0)
            return H5Topen2(file, "type", H5P_DEFAULT);
        return H5Tcopy(H5T_STD_I64LE);
    default:
        return H5Tcopy(H5T_STD_I32LE);
    }
}

static char *random_string(struct rnd *r)
{
    size_t length = rnd_once_in(r, 200) ? rnd_below(r, 5000) : rnd_below(r, 24);
    char *string = malloc(length + 1);
    for (size_t i = 0; i < length; i++)
        string[i] = (char)('a' + rnd_below(r, 26));
    string[length] = '\0';
    return string;
}

static void fill_strings(struct rnd *r, hid_t type, char *p, size_t stride, size_t n)
{
    size_t size = H5Tget_size(type);
    bool variable = H5Tis_variable_str(type) > 0;
    for (size_t i = 0; i < n; i++, p += stride) {
        if (variable) {
            char *string = random_string(r);
            memcpy(p, &string, sizeof string);
        } else {
            memset(p, 0, size);
            memset(p, 'a' + (int)rnd_below(r, 26), rnd_below(r, (unsigned)size));
        }
    }
}

static void fill_floats(struct rnd *r, size_t size, char *p, size_t stride, size_t n)
{
    for (size_t i = 0; i < n; i++, p += stride) {
        double d = (double)(int64_t)(rnd_next(r) >> 40) / 16;
        float f = (float)d;
        memcpy(p, size == sizeof d ? (const void *)&d : (const void *)&f, size);
    }
}

static void fill_bytes(struct rnd *r, size_t size, unsigned mask, char *p, size_t stride, size_t n)
{
    for (size_t i = 0; i < n; i++, p += stride)
        for (size_t k = 0; k < size; k += 8) {
            uint64_t value = rnd_next(r) & (mask ? mask : UINT64_MAX);
            memcpy(p + k, &value, size - k < 8 ? size - k : 8);
        }
}

static void fill_lists(struct rnd *r, hid_t file, hid_t type, char *p, size_t stride, size_t n)
{
    hid_t base = H5Tget_super(type);
    size_t size = H5Tget_size(base);
    for (size_t i = 0; i < n; i++, p += stride) {
        hvl_t list = {rnd_below(r, 9), NULL};
        list.p = list.len ? calloc(list.len, size) : NULL;
        values_fill(r, file, base, list.p, size, list.len);
        memcpy(p, &list, sizeof list);
    }
    H5Tclose(base);
}

static void fill_members(struct rnd *r, hid_t file, hid_t type, char *p, size_t stride, size_t n)
{
    for (unsigned m = 0; m < (unsigned)H5Tget_nmembers(type); m++) {
        hid_t member = H5Tget_member_type(type, m);
        values_fill(r, file, member, p + H5Tget_member_offset(type, m), stride, n);
        H5Tclose(member);
    }
}

static void fill_references(hid_t file, char *p, size_t stride, size_t n)
{
    for (size_t i = 0; i < n; i++, p += stride)
        H5Rcreate(p, file, KEEP_GROUP, H5R_OBJECT, H5I_INVALID_HID);
}

static void fill_arrays(struct rnd *r, hid_t file, hid_t type, char *p, size_t stride, size_t n)
{
    hid_t base = H5Tget_super(type);
    size_t size = H5Tget_size(base), count = H5Tget_size(type) / size;
    for (size_t k = 0; k < count; k++)
        values_fill(r, file, base, p + k * size, stride, n);
    H5Tclose(base);
}

void values_fill(struct rnd *r, hid_t file, hid_t type, char *p, size_t stride, size_t n)
{
    switch (H5Tget_class(type)) {
    case H5T_STRING:
        fill_strings(r, type, p, stride, n);
        break;
    case H5T_FLOAT:
        fill_floats(r, H5Tget_size(type), p, stride, n);
        break;
    case H5T_VLEN:
        fill_lists(r, file, type, p, stride, n);
        break;
    case H5T_COMPOUND:
        fill_members(r, file, type, p, stride, n);
        break;
    case H5T_ARRAY:
        fill_arrays(r, file, type, p, stride, n);
        break;
    case H5T_REFERENCE:
        fill_references(file, p, stride, n);
        break;
    case H5T_ENUM:
        fill_bytes(r, H5Tget_size(type), 3, p, stride, n);
        break;
    default:
        fill_bytes(r, H5Tget_size(type), 0, p, stride, n);
    }
}

static uint64_t fold_strings(uint64_t digest, const char *p, size_t stride, size_t n)
{
    for (size_t i = 0; i < n; i++, p += stride) {
        const char *string;
        memcpy(&string, p, sizeof string);
        digest = string ? fold_bytes(digest, string, strlen(string) + 1) : fold(digest, 77);
    }
    return digest;
}

static uint64_t fold_lists(uint64_t digest, hid_t file, hid_t type, const char *p, size_t stride, size_t n)
{
    hid_t base = H5Tget_super(type);
    for (size_t i = 0; i < n; i++, p += stride) {
        hvl_t list;
        memcpy(&list, p, sizeof list);
        digest = values_fold(fold(digest, list.len), file, base, list.p, H5Tget_size(base), list.len);
    }
    H5Tclose(base);
    return digest;
}

/* A reference is what it points to: addresses differ from file to file. */
static uint64_t fold_references(uint64_t digest, hid_t file, const char *p, size_t stride, size_t n)
{
    for (size_t i = 0; i < n; i++, p += stride) {
        haddr_t addr;
        memcpy(&addr, p, sizeof addr);
        hid_t object = addr ? H5Rdereference2(file, H5P_DEFAULT, H5R_OBJECT, p) : H5I_INVALID_HID;
        digest = fold(digest, addr == 0 ? 0 : object < 0 ? 1 : 2 + (uint64_t)H5Iget_type(object));
        if (object >= 0)
            H5Oclose(object);
    }
    return digest;
}

static uint64_t fold_members(uint64_t digest, hid_t file, hid_t type, const char *p, size_t stride, size_t n)
{
    for (unsigned m = 0; m < (unsigned)H5Tget_nmembers(type); m++) {
        hid_t member = H5Tget_member_type(type, m);
        digest = values_fold(digest, file, member, p + H5Tget_member_offset(type, m), stride, n);
        H5Tclose(member);
    }
    return digest;
}

uint64_t values_fold(uint64_t digest, hid_t file, hid_t type, const char *p, size_t stride, size_t n)
{
    H5T_class_t class = H5Tget_class(type);
    if (class == H5T_VLEN)
        return fold_lists(digest, file, type, p, stride, n);
    if (class == H5T_COMPOUND)
        return fold_members(digest, file, type, p, stride, n);
    if (class == H5T_REFERENCE)
        return fold_references(digest, file, p, stride, n);
    if (class == H5T_STRING && H5Tis_variable_str(type) > 0)
        return fold_strings(digest, p, stride, n);
    size_t size = H5Tget_size(type);
    if (stride == size)
        return fold_bytes(digest, p, size * n);
    for (size_t i = 0; i < n; i++, p += stride)
        digest = fold_bytes(digest, p, size);
    return digest;
}

void values_free(hid_t type, hsize_t n, void *values)
{
    if (n > 0 && (H5Tdetect_class(type, H5T_VLEN) > 0 || H5Tdetect_class(type, H5T_STRING) > 0)) {
        hid_t space = H5Screate_simple(1, &n, NULL);
        H5Treclaim(type, space, H5P_DEFAULT, values);
        H5Sclose(space);
    }
    free(values);
}

static void append_members(hid_t type, char *text, size_t size)
{
    for (unsigned m = 0; m < (unsigned)H5Tget_nmembers(type); m++) {
        size_t used = strlen(text);
        char *name = H5Tget_member_name(type, m);
        hid_t member = H5Tget_member_type(type, m);
        snprintf(text + used, size - used, " %s@%zu=", name, H5Tget_member_offset(type, m));
        used = strlen(text);
        type_text(member, text + used, size - used);
        H5Tclose(member);
        H5free_memory(name);
    }
}

void type_text(hid_t type, char *text, size_t size)
{
    H5T_class_t class = H5Tget_class(type);
    bool variable = class == H5T_STRING && H5Tis_variable_str(type) > 0;
    snprintf(text, size, "[class %d size %zu order %d%s%s", (int)class, H5Tget_size(type),
             class == H5T_COMPOUND ? 0 : (int)H5Tget_order(type), variable ? " variable" : "",
             H5Tcommitted(type) > 0 ? " committed" : "");
    if (class == H5T_COMPOUND)
        append_members(type, text, size);
    if (class == H5T_ARRAY || class == H5T_VLEN || class == H5T_ENUM) {
        size_t used = strlen(text);
        hid_t base = H5Tget_super(type);
        type_text(base, text + used, size - used);
        H5Tclose(base);
    }
    size_t used = strlen(text);
    snprintf(text + used, size - used, "]");
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * compare_files A B: are two files equal, object by object and value by value? Types are compared, shapes,
 * and the bytes of every dataset and attribute; and whether storage is there, which h5diff passes over. For
 * types of fixed size.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "h5vec_hdf5.h"

struct state {
    hid_t other;
    long objects, bytes;
    int differences;
};

static int differ(struct state *s, const char *name, const char *what)
{
    fprintf(stderr, "compare_files: %s: %s differs\n", name, what);
    s->differences++;
    return 1; /* ends the iteration */
}

/* Equal types and shapes; *size is the bytes of the whole. */
static int same_shape(hid_t a_type, hid_t a, hid_t b_type, hid_t b, size_t *size)
{
    hsize_t dims[2][H5S_MAX_RANK], max[2][H5S_MAX_RANK];
    int n = H5Sget_simple_extent_dims(a, dims[0], max[0]);
    int same = H5Tequal(a_type, b_type) > 0 && H5Sget_simple_extent_type(a) == H5Sget_simple_extent_type(b) &&
               n == H5Sget_simple_extent_dims(b, dims[1], max[1]) && n >= 0 &&
               memcmp(dims[0], dims[1], (size_t)n * sizeof **dims) == 0 &&
               memcmp(max[0], max[1], (size_t)n * sizeof **max) == 0;
    *size = (size_t)H5Sget_simple_extent_npoints(a) * H5Tget_size(a_type);
    return same;
}

static herr_t read_all(hid_t id, hid_t type, void *bytes, int attribute)
{
    return attribute ? H5Aread(id, type, bytes) : H5Dread(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes);
}

static int same_values(hid_t a, hid_t b, int attribute, long *bytes)
{
    size_t size = 0;
    hid_t a_type = attribute ? H5Aget_type(a) : H5Dget_type(a),
          b_type = attribute ? H5Aget_type(b) : H5Dget_type(b),
          a_space = attribute ? H5Aget_space(a) : H5Dget_space(a),
          b_space = attribute ? H5Aget_space(b) : H5Dget_space(b);
    int same = same_shape(a_type, a_space, b_type, b_space, &size);
    unsigned char *x = malloc(size + 1), *y = malloc(size + 1);
    memset(x, 1, size + 1);
    memset(y, 2, size + 1);
    same = same && read_all(a, a_type, x, attribute) >= 0 && read_all(b, b_type, y, attribute) >= 0 &&
           memcmp(x, y, size) == 0;
    *bytes += (long)size;
    free(x);
    free(y);
    H5Tclose(a_type);
    H5Tclose(b_type);
    H5Sclose(a_space);
    H5Sclose(b_space);
    return same;
}

static int same_storage(hid_t a, hid_t b)
{
    hid_t p = H5Dget_create_plist(a), q = H5Dget_create_plist(b);
    H5D_space_status_t s, t;
    int same = H5Pequal(p, q) > 0 && H5Dget_space_status(a, &s) >= 0 && H5Dget_space_status(b, &t) >= 0 &&
               s == t && H5Dget_storage_size(a) == H5Dget_storage_size(b);
    H5Pclose(p);
    H5Pclose(q);
    return same;
}

static int same_attributes(struct state *s, hid_t a, hid_t b, const char *name)
{
    H5O_info2_t x, y;
    if (H5Oget_info3(a, &x, H5O_INFO_NUM_ATTRS) < 0 || H5Oget_info3(b, &y, H5O_INFO_NUM_ATTRS) < 0 ||
        x.num_attrs != y.num_attrs)
        return differ(s, name, "the number of attributes");
    for (hsize_t i = 0; i < x.num_attrs; i++) {
        char attribute[256];
        hid_t p = H5Aopen_by_idx(a, ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT, H5P_DEFAULT);
        H5Aget_name(p, sizeof attribute, attribute);
        hid_t q = H5Aopen(b, attribute, H5P_DEFAULT);
        int same = q >= 0 && same_values(p, q, 1, &s->bytes);
        H5Aclose(p);
        H5Aclose(q);
        if (!same)
            return differ(s, name, attribute);
    }
    return 0;
}

static herr_t visit(hid_t root, const char *name, const H5O_info2_t *info, void *data)
{
    struct state *s = data;
    hid_t a = H5Oopen(root, name, H5P_DEFAULT), b = H5Oopen(s->other, name, H5P_DEFAULT);
    herr_t result = 0;
    s->objects++;
    if (b < 0 || H5Iget_type(a) != H5Iget_type(b))
        result = differ(s, name, "the kind of object");
    else if (info->type == H5O_TYPE_DATASET && !same_storage(a, b))
        result = differ(s, name, "creation list or storage");
    else if (info->type == H5O_TYPE_DATASET && !same_values(a, b, 0, &s->bytes))
        result = differ(s, name, "type, shape or values");
    else
        result = same_attributes(s, a, b, name);
    H5Oclose(a);
    H5Oclose(b);
    return result;
}

static herr_t count(hid_t root, const char *name, const H5O_info2_t *info, void *data)
{
    (void)root, (void)name, (void)info;
    ++*(long *)data;
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    struct state s = {0};
    long others = 0;
    hid_t a = H5Fopen(argv[1], H5F_ACC_RDONLY, H5P_DEFAULT),
          b = H5Fopen(argv[2], H5F_ACC_RDONLY, H5P_DEFAULT);
    s.other = b;
    if (a < 0 || b < 0 || H5Ovisit3(a, H5_INDEX_NAME, H5_ITER_NATIVE, visit, &s, H5O_INFO_BASIC) < 0 ||
        H5Ovisit3(b, H5_INDEX_NAME, H5_ITER_NATIVE, count, &others, H5O_INFO_BASIC) < 0)
        return 1;
    if (others != s.objects)
        differ(&s, "/", "the number of objects");
    printf("%ld objects, %ld bytes compared\n", s.objects, s.bytes);
    H5Fclose(a);
    H5Fclose(b);
    return s.differences != 0;
}

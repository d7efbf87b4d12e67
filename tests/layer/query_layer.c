/* SPDX-License-Identifier: BSD-3-Clause
 *
 * query_layer FILE LAYER: for each line "xmin ymin xmax ymax" of standard input, the rows that the layer's
 * tree finds, as a line of numbers in the order in which they come; "error: NAME: message" where a query
 * fails. For tests.
 */
#include <inttypes.h>
#include <stdio.h>
#include "h5vec_layer_rtree.h"

static enum h5vec_status print_row(void *context, uint64_t row, struct h5vec_error *err)
{
    (void)err;
    fprintf(context, "%" PRIu64 " ", row);
    return H5VEC_OK;
}

static void fail(enum h5vec_status status, const struct h5vec_error *err)
{
    printf("error: %s: %s\n", h5vec_errname(status), err->msg);
}

int main(int argc, char **argv)
{
    struct h5vec_layer *layer = NULL;
    struct h5vec_layer_rtree *tree = NULL;
    struct h5vec_error err = {0};
    struct vcodec_box box;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = argc == 3 ? H5Fopen(argv[1], H5F_ACC_RDONLY, H5P_DEFAULT) : H5I_INVALID_HID;
    enum h5vec_status status = file < 0 ? h5vec_layer_error_hdf5(&err, "cannot open the file")
                                        : h5vec_layer_open(file, argv[2], &layer, &err);
    if (status == H5VEC_OK)
        status = h5vec_layer_rtree_open(layer, &tree, &err);
    if (status != H5VEC_OK)
        fail(status, &err);
    while (tree && scanf("%lf %lf %lf %lf", &box.xmin, &box.ymin, &box.xmax, &box.ymax) == 4) {
        status = h5vec_layer_rtree_query(tree, box, print_row, stdout, &err);
        if (status != H5VEC_OK)
            fail(status, &err);
        else
            putchar('\n');
    }
    h5vec_layer_rtree_free(tree);
    h5vec_layer_free(layer);
    if (file >= 0)
        H5Fclose(file);
    return 0;
}

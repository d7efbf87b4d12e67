/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the C tests of layer/ share: a file in memory, and a small layer in it.
 */
#ifndef LAYER_TEST_H
#define LAYER_TEST_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../unit/suite.h"
#include "h5vec_layer.h"

/* A new HDF5 file in memory; nothing reaches a disk. */
static inline hid_t memory_file(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    ck_assert_int_ge(H5Pset_fapl_core(fapl, 1 << 20, false), 0);
    hid_t file = H5Fcreate("memory.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    H5Pclose(fapl);
    ck_assert_int_ge(file, 0);
    return file;
}

#define ck_ok(call)                                                                                          \
    do {                                                                                                     \
        struct h5vec_error err = {0};                                                                        \
        enum h5vec_status status_ = (call);                                                                  \
        ck_assert_msg(status_ == H5VEC_OK, "%s: %s: %s", #call, h5vec_errname(status_), err.msg);            \
    } while (0)

#define ck_fails(call, expected, text)                                                                       \
    do {                                                                                                     \
        struct h5vec_error err = {0};                                                                        \
        enum h5vec_status status_ = (call);                                                                  \
        ck_assert_msg(status_ == (expected), "%s: %s: %s", #call, h5vec_errname(status_), err.msg);          \
        ck_assert_msg(strstr(err.msg, text) != NULL, "\"%s\" is not in \"%s\"", text, err.msg);              \
    } while (0)

/* Rows of points (i, -i), every seventh null, every fifth an empty collection; columns as the caller likes.
 */
struct rows {
    size_t count;
    uint8_t *wkb;
    int64_t *offsets;
    struct vcodec_box *box;
    uint8_t *valid;
    uint64_t *vertices;
    uint32_t types;
};

static inline struct rows make_rows(size_t count)
{
    struct rows rows = {count,
                        malloc(21 * count + 1),
                        calloc(count + 1, sizeof(int64_t)),
                        calloc(count + 1, sizeof(struct vcodec_box)),
                        calloc(count + 1, 1),
                        calloc(count + 1, sizeof(uint64_t)),
                        0};
    for (size_t i = 0; i < count; i++) {
        char wkt[64];
        struct vcodec_info info = {.box = vcodec_box_empty()};
        if (i % 7 != 6) {
            if (i % 5 == 4)
                strcpy(wkt, "GEOMETRYCOLLECTION EMPTY");
            else
                snprintf(wkt, sizeof wkt, "POINT (%zu -%zu)", i, i);
            ck_assert_int_eq(
                vcodec_wkt_read(wkt, strlen(wkt), 0, rows.wkb + rows.offsets[i], 21, &info, NULL), 0);
            rows.types |= 1u << ((unsigned)info.type - 1);
        }
        rows.valid[i] = i % 7 != 6;
        rows.offsets[i + 1] = rows.offsets[i] + (int64_t)info.wkb_size;
        rows.box[i] = info.box;
        rows.vertices[i] = info.vertices;
    }
    return rows;
}

static inline void free_rows(struct rows *rows)
{
    free(rows->wkb);
    free(rows->offsets);
    free(rows->box);
    free(rows->valid);
    free(rows->vertices);
}

#endif

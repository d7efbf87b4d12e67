/* SPDX-License-Identifier: BSD-3-Clause
 *
 * layer OUT.h5: write a layer of points, as docs/format.md has it, through the driver. It keeps the metadata
 * in front: a program that opens the file, with any driver, finds all it needs in the first bytes.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "H5FDh5vec.h"
#include "h5vec_layer.h"

enum { POINTS = 200000, BATCH = 1000, POINT_BYTES = 21 };

/* Points first .. first + BATCH - 1 of a spiral, in little endian WKB. */
static enum h5vec_status append(struct h5vec_layer_writer *writer, int first, struct h5vec_error *err)
{
    static uint8_t wkb[BATCH * POINT_BYTES];
    static struct vcodec_box box[BATCH];
    static uint64_t vertices[BATCH];
    static int64_t offsets[BATCH + 1];
    for (int i = 0; i < BATCH; i++) {
        double at = (first + i) / 1000.0, xy[2] = {at * cos(at), at * sin(at)};
        uint8_t *point = wkb + (size_t)i * POINT_BYTES;
        memcpy(point, (const uint8_t[]){1, VCODEC_POINT, 0, 0, 0}, 5);
        memcpy(point + 5, xy, sizeof xy); /* on a little endian machine */
        box[i] = (struct vcodec_box){xy[0], xy[1], xy[0], xy[1]};
        vertices[i] = 1;
        offsets[i + 1] = offsets[i] + POINT_BYTES;
    }
    struct h5vec_layer_rows rows = {
        .rows = BATCH, .wkb = wkb, .offsets = offsets, .box = box, .vertices = vertices};
    return h5vec_layer_writer_append(writer, &rows, err);
}

static enum h5vec_status write_layer(hid_t file, struct h5vec_error *err)
{
    struct h5vec_layer_writer *writer = NULL;
    struct h5vec_layer_geo geo;
    h5vec_layer_geo_init(&geo);
    geo.types = 1U << (VCODEC_POINT - 1);
    enum h5vec_status status = h5vec_layer_writer_new(file, "spiral", NULL, NULL, 0, &writer, err);
    for (int i = 0; i < POINTS && status == H5VEC_OK; i += BATCH)
        status = append(writer, i, err);
    if (status == H5VEC_OK)
        status = h5vec_layer_writer_finish(writer, &geo, err);
    h5vec_layer_writer_free(writer);
    h5vec_layer_geo_free(&geo);
    return status;
}

int main(int argc, char **argv)
{
    struct H5FD_h5vec_config config = {.sizeof_config = sizeof config, .first_zone = 1 << 16};
    struct h5vec_error err = {0};
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(fapl, H5F_LIBVER_V110, H5F_LIBVER_V110);
    if (argc != 2 || H5Pset_fapl_h5vec(fapl, &config) < 0)
        return 2;
    hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    if (file < 0 || write_layer(file, &err) != H5VEC_OK) {
        fprintf(stderr, "%s: %s\n", argv[1], err.msg);
        return 1;
    }
    H5Pclose(fapl);
    return H5Fclose(file) < 0;
}

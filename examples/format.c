/* SPDX-License-Identifier: BSD-3-Clause
 *
 * format IN OUT.h5: a format of our own. Its first line is "#positions"; every other line is
 * "SHIP;PORT;LAT;LON", or a comment that begins with #. Once its parser is
 * registered, the driver opens such a file like any other (docs/adding-a-format.md).
 */
#include <stdio.h>
#include <string.h>

#include "H5FDh5vec.h"
#include "h5vec_format.h"

enum { SHIP, PORT }; /* the columns, in the order in which probe adds them */

static enum h5vec_status probe(struct h5vec_format_reader *reader, const char *line, size_t size, bool *is,
                               struct h5vec_error *err)
{
    *is = size == 10 && memcmp(line, "#positions", 10) == 0;
    enum h5vec_status status = H5VEC_OK;
    if (*is)
        status = h5vec_format_add_column(reader, "ship", H5VEC_FORMAT_TEXT, err);
    if (*is && status == H5VEC_OK)
        status = h5vec_format_add_column(reader, "port", H5VEC_FORMAT_TEXT, err);
    return status;
}

static enum h5vec_status record(struct h5vec_format_reader *reader, const char *line, size_t size,
                                bool *is_row, struct h5vec_error *err)
{
    char copy[256], ship[64], port[64], wkt[128];
    double lat, lon;
    int end = -1;
    *is_row = line[0] != '#';
    if (!*is_row)
        return H5VEC_OK;
    snprintf(copy, sizeof copy, "%.*s", (int)(size < sizeof copy ? size : sizeof copy), line);
    if (sscanf(copy, "%63[^;];%63[^;];%lf;%lf%n", ship, port, &lat, &lon, &end) != 4 || end != (int)size)
        return h5vec_format_refuse(reader, line, err, "SHIP;PORT;LAT;LON is expected");
    int length = snprintf(wkt, sizeof wkt, "POINT (%.17g %.17g)", lon, lat);
    enum h5vec_status status = h5vec_format_set_wkt(reader, wkt, (size_t)length, err);
    if (status == H5VEC_OK)
        status = h5vec_format_set_text(reader, SHIP, ship, strlen(ship), err);
    if (status == H5VEC_OK)
        status = h5vec_format_set_text(reader, PORT, port, strlen(port), err);
    return status;
}

static const struct h5vec_format_parser positions = {
    .sizeof_parser = sizeof positions, .name = "positions", .probe = probe, .record = record};

int main(int argc, char **argv)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    if (argc != 3 || h5vec_format_register(&positions, NULL) != H5VEC_OK || H5Pset_fapl_h5vec(fapl, NULL) < 0)
        return 2;
    hid_t in = H5Fopen(argv[1], H5F_ACC_RDONLY, fapl);
    hid_t out = in < 0 ? in : H5Fcreate(argv[2], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Pclose(fapl);
    return out < 0 || H5Ocopy(in, "layer", out, "positions", H5P_DEFAULT, H5P_DEFAULT) < 0;
}

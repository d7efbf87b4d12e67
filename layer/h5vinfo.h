/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Inside of the command h5vinfo: what is found in a file (h5vinfo_scan.c), in words (h5vinfo_describe.c),
 * printed as text (h5vinfo_text.c) or as JSON (h5vinfo_json.c).
 */
#ifndef H5VINFO_H
#define H5VINFO_H

#include <jansson.h>
#include "h5vec_layer.h"

struct h5vinfo_dataset {
    char *path;         /* from the file's root: "/roads/geometry/wkb" */
    char *type;         /* "uint8", "float64", "string[12]", "compound[72]" */
    char *filters;      /* "shuffle deflate:6"; "" without filters */
    const char *layout; /* "chunked", "contiguous", "compact", "virtual" */
    int rank;           /* 0: scalar or without a value */
    hsize_t dims[H5S_MAX_RANK], max[H5S_MAX_RANK], chunk[H5S_MAX_RANK];
    bool chunked;
    uint64_t stored;   /* bytes in the file */
    uint64_t unpacked; /* bytes of its elements; UINT64_MAX if that is more */
};

struct h5vinfo_layer {
    char *path;
    struct h5vec_layer *layer; /* NULL if it could not be opened: why says so */
    char *why;
    uint64_t stored, unpacked; /* sums over its datasets */
    bool checked;
    uint64_t findings;
    char **line; /* what was told of them */
    size_t lines;
};

struct h5vinfo_report {
    const char *file;
    char *group; /* what was asked for, "/" without a group */
    struct h5vinfo_layer *layer;
    size_t layers;
    struct h5vinfo_dataset *dataset;
    size_t datasets;
};

/* Look at argument, FILE[:/GROUP]; with check, check its layers too. Free *report and close *file in any case
 * (H5I_INVALID_HID if it was not opened), the report first. Messages do not name the file. */
enum h5vec_status h5vinfo_scan(char *argument, bool check, hid_t *file, struct h5vinfo_report *report,
                               struct h5vec_error *err);
void h5vinfo_report_free(struct h5vinfo_report *report);

/* Describe an open dataset into *dataset (all but its path). H5VEC_E_HDF5 or _NOMEM. */
enum h5vec_status h5vinfo_describe(hid_t id, struct h5vinfo_dataset *dataset, struct h5vec_error *err);

/* Print what is in the file, or what the check found, to stdout. */
void h5vinfo_print(const struct h5vinfo_report *report);
void h5vinfo_print_check(const struct h5vinfo_report *report);

/* The report as an object; NULL without memory. */
json_t *h5vinfo_json(const struct h5vinfo_report *report);

#endif

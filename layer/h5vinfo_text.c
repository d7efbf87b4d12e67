/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The report as text: a paragraph for each layer, a line for each dataset.
 */
#include "h5vinfo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli_options.h"

static void print_types(uint64_t types)
{
    const char *between = "";
    for (unsigned bit = 0; bit < 64; bit++) {
        char name[H5VEC_LAYER_TYPE_NAME];
        if (!(types >> bit & 1) || !h5vec_layer_type_name(bit, name))
            continue;
        printf("%s%s", between, name);
        between = ", ";
    }
    printf("%s\n", types ? "" : "none");
}

static void print_box(struct vcodec_box box)
{
    const double side[] = {box.xmin, box.ymin, box.xmax, box.ymax};
    if (!(box.xmin <= box.xmax)) {
        puts("none");
        return;
    }
    for (size_t i = 0; i < 4; i++) {
        char digits[VCODEC_NUMBER_MAX];
        printf("%s%.*s", i ? " " : "", (int)vcodec_number_write(side[i], digits), digits);
    }
    putchar('\n');
}

/* "WGS 84 (EPSG:4326)", from the PROJJSON. */
static void print_crs(const char *text)
{
    json_t *crs = text ? json_loads(text, 0, NULL) : NULL;
    const json_t *id = json_object_get(crs, "id");
    const char *name = json_string_value(json_object_get(crs, "name"));
    const char *authority = json_string_value(json_object_get(id, "authority"));
    const json_t *code = json_object_get(id, "code");
    printf("%s", name ? name : crs ? "without a name" : "unknown");
    if (authority && json_is_integer(code))
        printf(" (%s:%" JSON_INTEGER_FORMAT ")", authority, json_integer_value(code));
    else if (authority && json_is_string(code))
        printf(" (%s:%s)", authority, json_string_value(code));
    putchar('\n');
    json_decref(crs);
}

static void print_columns(const struct h5vec_layer_info *info)
{
    for (size_t i = 0; i < info->columns; i++) {
        const struct h5vec_layer_column *column = &info->column[i];
        char *type = column->kind == H5VEC_LAYER_FIXED ? h5vec_layer_type_text(column->type) : NULL;
        printf("  column    %s: %s%s\n", column->original,
               column->time ? "time"
               : type       ? type
                            : "text",
               column->has_valid ? ", some values missing" : "");
        free(type);
    }
}

static void print_layer(const struct h5vinfo_layer *layer)
{
    char stored[H5VEC_CLI_BYTES], unpacked[H5VEC_CLI_BYTES];
    printf("layer %s\n", layer->path);
    if (!layer->layer) {
        printf("  not valid %s\n", layer->why);
        return;
    }
    const struct h5vec_layer_info *info = h5vec_layer_info(layer->layer);
    printf("  rows      %" PRIu64 "%s\n", info->rows, info->has_valid ? ", some geometries null" : "");
    printf("  types     ");
    print_types(info->geo->types);
    printf("  bbox      ");
    print_box(info->geo->box);
    printf("  crs       ");
    print_crs(info->geo->crs);
    printf("  bytes     %s stored, %s unpacked\n", h5vec_cli_bytes(layer->stored, stored),
           h5vec_cli_bytes(layer->unpacked, unpacked));
    printf("  blocks    %" PRIu64 "\n", info->blocks);
    print_columns(info);
}

/* "[10 x 4 of unlimited x 4]" without the maximum where it is the same. */
static void print_dims(const hsize_t *dims, int rank)
{
    putchar('[');
    for (int i = 0; i < rank; i++) {
        if (dims[i] == H5S_UNLIMITED)
            printf("%sunlimited", i ? " x " : "");
        else
            printf("%s%" PRIu64, i ? " x " : "", (uint64_t)dims[i]);
    }
    putchar(']');
}

static void print_dataset(const struct h5vinfo_dataset *dataset)
{
    char stored[H5VEC_CLI_BYTES], unpacked[H5VEC_CLI_BYTES];
    printf("dataset %s  %s ", dataset->path, dataset->type);
    print_dims(dataset->dims, dataset->rank);
    if (dataset->rank > 0 &&
        memcmp(dataset->dims, dataset->max, (size_t)dataset->rank * sizeof(hsize_t)) != 0) {
        printf(" of ");
        print_dims(dataset->max, dataset->rank);
    }
    printf("  %s", dataset->layout);
    if (dataset->chunked) {
        putchar(' ');
        print_dims(dataset->chunk, dataset->rank);
    }
    printf("%s%s  %s stored, %s unpacked\n", dataset->filters[0] ? "  " : "", dataset->filters,
           h5vec_cli_bytes(dataset->stored, stored), h5vec_cli_bytes(dataset->unpacked, unpacked));
}

void h5vinfo_print(const struct h5vinfo_report *report)
{
    printf("%s%s%s: %zu layer%s, %zu dataset%s\n", report->file, strcmp(report->group, "/") == 0 ? "" : ":",
           strcmp(report->group, "/") == 0 ? "" : report->group, report->layers,
           report->layers == 1 ? "" : "s", report->datasets, report->datasets == 1 ? "" : "s");
    for (size_t i = 0; i < report->layers; i++)
        print_layer(&report->layer[i]);
    for (size_t i = 0; i < report->datasets; i++)
        print_dataset(&report->dataset[i]);
}

void h5vinfo_print_check(const struct h5vinfo_report *report)
{
    for (size_t i = 0; i < report->layers; i++) {
        const struct h5vinfo_layer *layer = &report->layer[i];
        for (size_t k = 0; k < layer->lines; k++)
            printf("%s:%s: %s\n", report->file, layer->path, layer->line[k]);
        if (layer->findings > 0)
            printf("%s:%s: %" PRIu64 " finding%s\n", report->file, layer->path, layer->findings,
                   layer->findings == 1 ? "" : "s");
        else
            printf("%s:%s: ok, %" PRIu64 " rows\n", report->file, layer->path,
                   h5vec_layer_info(layer->layer)->rows);
    }
}

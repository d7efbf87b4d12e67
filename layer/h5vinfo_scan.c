/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Walk a file (or a group of it): groups that are layers, and all datasets. Objects are met once however many
 * hard links they have; soft and external links are not followed.
 */
#include "h5vinfo.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct walk {
    struct h5vinfo_report *report;
    struct h5vec_error *err;
    enum h5vec_status status;
    size_t layer_capacity, dataset_capacity;
};

static enum h5vec_status no_memory(struct h5vec_error *err)
{
    return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for the list of its objects");
}

/* "/group" and "name" joined; name "." is the group itself. */
static char *join(const char *group, const char *name)
{
    if (strcmp(name, ".") == 0)
        return strdup(group);
    size_t length = strcmp(group, "/") == 0 ? 0 : strlen(group);
    size_t size = length + 1 + strlen(name) + 1;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%.*s/%s", (int)length, group, name);
    return path;
}

/* Room for one more element in an array; the new one is zeros. NULL without memory. */
static void *grow(void *array, size_t count, size_t *capacity, size_t element)
{
    if (count == *capacity) {
        size_t size = *capacity ? 2 * *capacity : 32;
        void *grown = realloc(array, size * element);
        if (!grown)
            return NULL;
        array = grown;
        *capacity = size;
    }
    memset((char *)array + count * element, 0, element);
    return array;
}

static enum h5vec_status meet_dataset(struct walk *walk, hid_t root, const char *name)
{
    struct h5vinfo_report *report = walk->report;
    void *grown = grow(report->dataset, report->datasets, &walk->dataset_capacity, sizeof *report->dataset);
    if (!grown)
        return no_memory(walk->err);
    report->dataset = grown;
    struct h5vinfo_dataset *dataset = &report->dataset[report->datasets++];
    dataset->path = join(report->group, name);
    if (!dataset->path)
        return no_memory(walk->err);
    struct h5vec_error inner = {0};
    hid_t id = H5Dopen2(root, name, H5P_DEFAULT);
    enum h5vec_status status =
        id < 0 ? h5vec_layer_error_hdf5(&inner, "cannot be opened") : h5vinfo_describe(id, dataset, &inner);
    if (id >= 0)
        H5Dclose(id);
    return status == H5VEC_OK ? status
                              : h5vec_error_set(walk->err, status, 0, "%s: %s", dataset->path, inner.msg);
}

static enum h5vec_status meet_layer(struct walk *walk, hid_t root, const char *name)
{
    struct h5vinfo_report *report = walk->report;
    void *grown = grow(report->layer, report->layers, &walk->layer_capacity, sizeof *report->layer);
    if (!grown)
        return no_memory(walk->err);
    report->layer = grown;
    struct h5vinfo_layer *layer = &report->layer[report->layers++];
    layer->path = join(report->group, name);
    struct h5vec_error inner = {0};
    enum h5vec_status status = h5vec_layer_open(root, name, &layer->layer, &inner);
    if (status != H5VEC_OK)
        layer->why = strdup(inner.msg);
    return layer->path && (layer->why || status == H5VEC_OK) ? H5VEC_OK : no_memory(walk->err);
}

static enum h5vec_status meet_group(struct walk *walk, hid_t root, const char *name)
{
    bool is_layer = false;
    hid_t group = H5Gopen2(root, name, H5P_DEFAULT);
    if (group < 0)
        return h5vec_layer_error_hdf5(walk->err, "%s: cannot be opened", name);
    enum h5vec_status status = h5vec_layer_is(group, &is_layer, walk->err);
    H5Gclose(group);
    return status == H5VEC_OK && is_layer ? meet_layer(walk, root, name) : status;
}

static herr_t meet(hid_t root, const char *name, const H5O_info2_t *object, void *context)
{
    struct walk *walk = context;
    if (object->type == H5O_TYPE_GROUP)
        walk->status = meet_group(walk, root, name);
    else if (object->type == H5O_TYPE_DATASET)
        walk->status = meet_dataset(walk, root, name);
    return walk->status == H5VEC_OK ? 0 : -1;
}

/* Bytes of the datasets in each layer. */
static void sum_bytes(struct h5vinfo_report *report)
{
    for (size_t i = 0; i < report->layers; i++) {
        struct h5vinfo_layer *layer = &report->layer[i];
        size_t length = strcmp(layer->path, "/") == 0 ? 0 : strlen(layer->path);
        for (size_t k = 0; k < report->datasets; k++) {
            const struct h5vinfo_dataset *dataset = &report->dataset[k];
            if (strncmp(dataset->path, layer->path, length) != 0 || dataset->path[length] != '/')
                continue;
            layer->stored += dataset->stored;
            layer->unpacked += dataset->unpacked;
        }
    }
}

struct told {
    struct h5vinfo_layer *layer;
    size_t capacity;
    bool no_memory;
};

static void keep_line(void *context, const char *line)
{
    struct told *told = context;
    struct h5vinfo_layer *layer = told->layer;
    void *grown = grow(layer->line, layer->lines, &told->capacity, sizeof *layer->line);
    char *copy = strdup(line);
    if (grown)
        layer->line = grown;
    if (!grown || !copy) {
        free(copy);
        told->no_memory = true;
        return;
    }
    layer->line[layer->lines++] = copy;
}

static enum h5vec_status check_layers(hid_t file, struct h5vinfo_report *report, struct h5vec_error *err)
{
    for (size_t i = 0; i < report->layers; i++) {
        struct told told = {.layer = &report->layer[i]};
        struct h5vec_error inner = {0};
        enum h5vec_status status = h5vec_layer_check(file, report->layer[i].path, keep_line, &told,
                                                     &report->layer[i].findings, &inner);
        if (status == H5VEC_OK && told.no_memory)
            status = no_memory(&inner);
        if (status != H5VEC_OK)
            return h5vec_error_set(err, status, 0, "%s: %s", report->layer[i].path, inner.msg);
        report->layer[i].checked = true;
    }
    return H5VEC_OK;
}

/* Open for reading; a lock that cannot be had on a read-only file system does not matter. */
static enum h5vec_status open_file(const char *name, hid_t *file, struct h5vec_error *err)
{
    struct stat st;
    if (access(name, R_OK) != 0 || stat(name, &st) != 0)
        return h5vec_error_set(err, H5VEC_E_IO, 0, "%s", strerror(errno));
    if (!S_ISREG(st.st_mode)) /* a pipe would have us wait */
        return h5vec_error_set(err, H5VEC_E_IO, 0, "is not a regular file");
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    if (fapl < 0 || H5Pset_file_locking(fapl, true, true) < 0)
        return h5vec_layer_error_hdf5(err, "HDF5 does not work");
    enum h5vec_status status = H5VEC_OK;
    htri_t is_hdf5 = H5Fis_accessible(name, fapl);
    if (is_hdf5 == 0)
        status = h5vec_error_set(err, H5VEC_E_IO, 0, "not an HDF5 file");
    else if (is_hdf5 < 0 || (*file = H5Fopen(name, H5F_ACC_RDONLY, fapl)) < 0)
        status = h5vec_layer_error_hdf5(err, "cannot be opened");
    H5Pclose(fapl);
    return status;
}

/* Divide FILE:/GROUP where the last ":/" is, unless there is a file of the whole name. */
static char *divide(char *argument)
{
    if (access(argument, F_OK) == 0)
        return NULL;
    char *colon = NULL;
    for (char *p = strstr(argument, ":/"); p; p = strstr(p + 1, ":/"))
        colon = p;
    if (!colon)
        return NULL;
    *colon = '\0';
    return colon + 1;
}

/* The group's path without slashes at its end. */
static char *clean_path(const char *group)
{
    char *path = strdup(group ? group : "/");
    size_t length = path ? strlen(path) : 0;
    while (length > 1 && path[length - 1] == '/')
        path[--length] = '\0';
    return path;
}

enum h5vec_status h5vinfo_scan(char *argument, bool check, hid_t *file, struct h5vinfo_report *report,
                               struct h5vec_error *err)
{
    struct walk walk = {.report = report, .err = err};
    report->group = clean_path(divide(argument));
    report->file = argument;
    if (!report->group)
        return no_memory(err);
    enum h5vec_status status = open_file(argument, file, err);
    if (status != H5VEC_OK)
        return status;
    hid_t root = H5Gopen2(*file, report->group, H5P_DEFAULT);
    if (root < 0)
        return h5vec_layer_error_hdf5(err, "%s: cannot be opened as a group", report->group);
    herr_t visited = H5Ovisit3(root, H5_INDEX_NAME, H5_ITER_INC, meet, &walk, H5O_INFO_BASIC);
    status = walk.status;
    if (visited < 0 && status == H5VEC_OK)
        status = h5vec_layer_error_hdf5(err, "%s: cannot be walked", report->group);
    H5Gclose(root);
    sum_bytes(report);
    return status == H5VEC_OK && check ? check_layers(*file, report, err) : status;
}

void h5vinfo_report_free(struct h5vinfo_report *report)
{
    for (size_t i = 0; i < report->layers; i++) {
        struct h5vinfo_layer *layer = &report->layer[i];
        h5vec_layer_free(layer->layer);
        for (size_t k = 0; k < layer->lines; k++)
            free(layer->line[k]);
        free(layer->line);
        free(layer->path);
        free(layer->why);
    }
    for (size_t i = 0; i < report->datasets; i++) {
        free(report->dataset[i].path);
        free(report->dataset[i].type);
        free(report->dataset[i].filters);
    }
    free(report->layer);
    free(report->dataset);
    free(report->group);
}

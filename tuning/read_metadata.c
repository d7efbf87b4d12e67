/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a program does that looks a file over: visit every object, open every dataset, read its type and
 * shape.
 *
 *     read_metadata sec2|core|h5vec FILE [meta_block=BYTES] [meta_gap=BYTES] [meta_cache=BYTES]
 * [image=auto|always|never] [data=1]
 *
 * data=1 also reads every dataset's values. Prints one line of JSON: seconds, peak memory, number of
 * datasets, and a sum over what was found, which must not depend on the driver. read_metadata.sh counts
 * system calls.
 */
#include "H5FDh5vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

struct found {
    unsigned long long datasets, sum;
    int data;
};

static void mix(struct found *found, const void *bytes, size_t size)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < size; i++)
        found->sum = (found->sum ^ b[i]) * 1099511628211ULL;
}

static herr_t read_values(hid_t dataset, hid_t type, hid_t space, struct found *found)
{
    size_t size = (size_t)H5Sget_simple_extent_npoints(space) * H5Tget_size(type);
    unsigned char *values = malloc(size + 1);
    herr_t result = values ? H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) : -1;
    if (result >= 0)
        mix(found, values, size);
    free(values);
    return result;
}

static herr_t visit(hid_t root, const char *name, const H5O_info2_t *info, void *data)
{
    struct found *found = data;
    if (info->type != H5O_TYPE_DATASET)
        return 0;
    hid_t dataset = H5Dopen2(root, name, H5P_DEFAULT);
    hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    hsize_t dims[H5S_MAX_RANK] = {0};
    int rank = H5Sget_simple_extent_dims(space, dims, NULL);
    size_t size = H5Tget_size(type);
    H5T_class_t class = H5Tget_class(type);
    found->datasets++;
    mix(found, name, strlen(name));
    mix(found, &size, sizeof size);
    mix(found, &class, sizeof class);
    mix(found, dims, rank > 0 ? (size_t)rank * sizeof *dims : 0);
    herr_t result = rank < 0 || size == 0 ? -1 : 0;
    if (result >= 0 && found->data)
        result = read_values(dataset, type, space, found);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(dataset);
    return result;
}

/* 0, or -1 when the setting is unknown. */
static int setting(struct H5FD_h5vec_config *config, struct found *found, const char *text)
{
    unsigned long long n = strtoull(strchr(text, '=') ? strchr(text, '=') + 1 : "", NULL, 0);
    if (strncmp(text, "meta_block=", 11) == 0)
        config->meta_block = n;
    else if (strncmp(text, "meta_cache=", 11) == 0)
        config->meta_cache = n;
    else if (strncmp(text, "meta_gap=", 9) == 0)
        config->meta_gap = n;
    else if (strncmp(text, "image_max=", 10) == 0)
        config->image_max = n;
    else if (strcmp(text, "image=always") == 0)
        config->image = H5FD_H5VEC_IMAGE_ALWAYS;
    else if (strcmp(text, "image=never") == 0)
        config->image = H5FD_H5VEC_IMAGE_NEVER;
    else if (strcmp(text, "data=1") == 0)
        found->data = 1;
    else
        return strcmp(text, "image=auto") == 0 ? 0 : -1;
    return 0;
}

static herr_t choose(hid_t fapl, const char *driver, const struct H5FD_h5vec_config *config)
{
    if (strcmp(driver, "sec2") == 0)
        return H5Pset_fapl_sec2(fapl);
    if (strcmp(driver, "core") == 0)
        return H5Pset_fapl_core(fapl, 1 << 20, 0);
    return strcmp(driver, "h5vec") == 0 ? H5Pset_fapl_h5vec(fapl, config) : -1;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    struct H5FD_h5vec_config config = {.sizeof_config = sizeof config};
    struct found found = {.sum = 14695981039346656037ULL};
    int bad = argc < 3;
    for (int i = 3; i < argc; i++)
        bad |= setting(&config, &found, argv[i]) < 0;
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    if (bad || choose(fapl, argv[1], &config) < 0) {
        fprintf(stderr, "usage: read_metadata sec2|core|h5vec FILE [SETTING=VALUE]...\n");
        return 2;
    }
    double start = now();
    hid_t file = H5Fopen(argv[2], H5F_ACC_RDONLY, fapl);
    if (file < 0 || H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_NATIVE, visit, &found, H5O_INFO_BASIC) < 0)
        return 1;
    double seconds = now() - start;
    H5Fclose(file);
    H5Pclose(fapl);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"driver\": \"%s\", \"seconds\": %.4f, \"peak_kib\": %ld, \"datasets\": %llu, \"sum\": "
           "\"%016llx\"}\n",
           argv[1], seconds, usage.ru_maxrss, found.datasets, found.sum);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names inside a layer: which dataset has which role, and link names for columns.
 */
#include "layer_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "vcodec_utf8.h"

/* What follows prefix and a slash in path; NULL if path is not below prefix. */
static const char *below(const char *path, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(path, prefix, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}

enum h5vec_layer_role h5vec_layer_role(const char *path)
{
    static const struct {
        const char *path;
        enum h5vec_layer_role role;
    } fixed[] = {
        {H5VEC_LAYER_PATH_WKB, H5VEC_LAYER_ROLE_WKB},
        {H5VEC_LAYER_PATH_OFFSETS, H5VEC_LAYER_ROLE_OFFSETS},
        {H5VEC_LAYER_PATH_BBOX, H5VEC_LAYER_ROLE_BBOX},
        {H5VEC_LAYER_PATH_VALID, H5VEC_LAYER_ROLE_VALID},
        {H5VEC_LAYER_PATH_BLOCKS, H5VEC_LAYER_ROLE_BLOCKS},
        {H5VEC_LAYER_PATH_RTREE, H5VEC_LAYER_ROLE_RTREE},
        {H5VEC_LAYER_PATH_RTREE_NODES, H5VEC_LAYER_ROLE_RTREE_NODES},
        {H5VEC_LAYER_PATH_RTREE_LEVELS, H5VEC_LAYER_ROLE_RTREE_LEVELS},
        {H5VEC_LAYER_PATH_RTREE_ROWS, H5VEC_LAYER_ROLE_RTREE_ROWS},
    };
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        if (strcmp(path, fixed[i].path) == 0)
            return fixed[i].role;
    if (below(path, H5VEC_LAYER_PATH_RTREE))
        return H5VEC_LAYER_ROLE_RTREE;
    const char *rest = below(path, H5VEC_LAYER_GROUP_VALID);
    if (rest)
        return strchr(rest, '/') ? H5VEC_LAYER_ROLE_UNKNOWN : H5VEC_LAYER_ROLE_COLUMN_VALID;
    rest = below(path, H5VEC_LAYER_GROUP_COLUMNS);
    if (!rest)
        return H5VEC_LAYER_ROLE_UNKNOWN;
    const char *part = strchr(rest, '/');
    if (!part)
        return H5VEC_LAYER_ROLE_COLUMN_FIXED;
    if (strcmp(part + 1, H5VEC_LAYER_TEXT_DATA) == 0)
        return H5VEC_LAYER_ROLE_TEXT_DATA;
    return strcmp(part + 1, H5VEC_LAYER_TEXT_OFFSETS) == 0 ? H5VEC_LAYER_ROLE_TEXT_OFFSETS
                                                           : H5VEC_LAYER_ROLE_UNKNOWN;
}

enum h5vec_status h5vec_layer_is(hid_t group, bool *is_layer, struct h5vec_error *err)
{
    htri_t there = H5Aexists(group, "h5vec_version");
    if (there < 0)
        return h5vec_layer_error_hdf5(err, "cannot look for the attribute h5vec_version");
    *is_layer = there > 0;
    return H5VEC_OK;
}

/* Bytes of the longest link that a name can need: all of it encoded, a suffix, and the NUL. */
static size_t link_room(const char *name)
{
    return 3 * strlen(name) + sizeof "%_18446744073709551615";
}

/* The link for a name that HDF5 may not hold. Returns its length. */
static size_t encode(const char *name, char *link)
{
    if (name[0] == '\0' || strcmp(name, ".") == 0)
        return (size_t)sprintf(link, name[0] ? "%%2E" : "%%");
    char *end = link;
    for (const char *p = name; *p; p++) {
        if (*p == '/')
            end += sprintf(end, "%%2F");
        else
            *end++ = *p;
    }
    *end = '\0';
    return (size_t)(end - link);
}

static bool taken(char *const *links, size_t n, const char *link)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(links[i], link) == 0)
            return true;
    return false;
}

enum h5vec_status h5vec_layer_column_links(const char *const *names, size_t n, char ***links,
                                           struct h5vec_error *err)
{
    size_t room = (n + 1) * sizeof(char *);
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(names[i]);
        if (length > H5VEC_LAYER_MAX_NAME || vcodec_utf8_check(names[i], length) < length)
            return h5vec_error_set(err, H5VEC_E_ARG, 0, "the name of column %zu is %s", i + 1,
                                   length > H5VEC_LAYER_MAX_NAME ? "longer than 1024 bytes" : "not UTF-8");
        room += link_room(names[i]);
    }
    char **made = malloc(room);
    if (!made)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for the names of %zu columns", n);
    char *next = (char *)(made + n + 1);
    for (size_t i = 0; i < n; i++) {
        size_t length = encode(names[i], next);
        for (size_t suffix = 2; taken(made, i, next); suffix++)
            sprintf(next + length, "_%zu", suffix);
        made[i] = next;
        next += link_room(names[i]);
    }
    made[n] = NULL;
    *links = made;
    return H5VEC_OK;
}

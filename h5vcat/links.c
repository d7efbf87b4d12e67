/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An external link names its file relative to the file that it is in. A relative name is made one from the
 * output's directory to the input's, joined with what the link says: by real paths, since ".." leads out of
 * the directory that a symbolic link points to.
 */
#include "links.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "error.h"
#include "file.h"
#include "h5vec_layer.h"
#include "merge.h"

/* ---- Paths ------------------------------------------------------------------------------------------- */

/* The directory that a file's name says, as a real path. NULL: there is none, or out of memory. */
static char *directory_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    char *name = slash ? strndup(file, slash == file ? 1 : (size_t)(slash - file)) : strdup(".");
    char *real = name ? realpath(name, NULL) : NULL;
    free(name);
    return real;
}

/* The way from one directory to another, "" or ending in '/'; both are real paths. The caller frees it. */
static char *way(const char *from, const char *to)
{
    size_t same = 0, ups = 0; /* same: bytes of the common directories, with the slash behind them */
    for (size_t i = 0;; i++) {
        bool from_ends = from[i] == '/' || from[i] == '\0', to_ends = to[i] == '/' || to[i] == '\0';
        if (from_ends && to_ends)
            same = i;
        if (from[i] != to[i] || from[i] == '\0')
            break;
    }
    for (const char *at = from + same; *at; at++)
        ups += *at == '/' && at[1] != '\0';
    char *text = malloc(3 * ups + strlen(to + same) + 2), *end = text;
    if (!text)
        return NULL;
    for (; ups > 0; ups--)
        end = stpcpy(end, "../");
    const char *rest = to[same] == '/' ? to + same + 1 : to + same;
    end = stpcpy(end, rest);
    if (*rest)
        strcpy(end, "/");
    return text;
}

/* ---- Links ------------------------------------------------------------------------------------------- */

/* An external link's bytes with its file named from directory. */
static struct blob *external_blob(struct schema *s, const char *directory, const struct scan_object *o)
{
    unsigned flags;
    const char *file, *object;
    if (H5Lunpack_elink_val(o->value, o->value_size, &flags, &file, &object) < 0)
        return NULL;
    char *from = realpath(directory, NULL), *to = directory_of(o->file);
    char *prefix = *file == '/' || !from || !to ? strdup("") : way(from, to);
    size_t room = prefix ? 1 + strlen(prefix) + strlen(file) + 1 + strlen(object) + 1 : 0;
    char *bytes = room ? malloc(room) : NULL;
    struct blob *b = NULL;
    if (bytes) {
        bytes[0] = (char)H5L_TYPE_EXTERNAL;
        strcpy(stpcpy(stpcpy(bytes + 1, prefix), file) + 1, object);
        b = h5vcat_schema_blob(s, bytes, room);
    }
    free(bytes);
    free(prefix);
    free(from);
    free(to);
    return b;
}

struct blob *h5vcat_links_blob(struct schema *s, const char *directory, const struct scan_object *o)
{
    if (o->link == H5L_TYPE_EXTERNAL)
        return external_blob(s, directory, o);
    char *bytes = calloc(1, o->value_size + 2);
    struct blob *b = NULL;
    if (bytes) {
        bytes[0] = (char)o->link;
        memcpy(bytes + 1, o->value, o->value_size);
        b = h5vcat_schema_blob(s, bytes, strlen(bytes + 1) + 2);
    }
    free(bytes);
    return b;
}

herr_t h5vcat_links_create(hid_t out, const char *path, const struct blob *link, hid_t lcpl)
{
    const char *value = (const char *)link->bytes + 1;
    switch (link->bytes[0]) {
    case H5L_TYPE_HARD:
        return H5Lcreate_hard(out, value, out, path, lcpl, H5P_DEFAULT);
    case H5L_TYPE_SOFT:
        return H5Lcreate_soft(value, out, path, lcpl, H5P_DEFAULT);
    default:
        return H5Lcreate_external(value, value + strlen(value) + 1, out, path, lcpl, H5P_DEFAULT);
    }
}

/* ---- Data in other files ------------------------------------------------------------------------------ */

/* Where HDF5 looks for a source: as it is named, beside the file's name, beside the file itself. */
static bool source_exists(const char *file, const char *source)
{
    char *real = realpath(file, NULL);
    const char *const beside[] = {file, real ? real : file};
    bool found = access(source, R_OK) == 0;
    for (int i = 0; i < 2 && !found && *source != '/'; i++) {
        const char *slash = strrchr(beside[i], '/');
        int n = slash ? (int)(slash - beside[i]) + 1 : 0;
        char *name = malloc((size_t)n + strlen(source) + 1);
        if (!name)
            break;
        memcpy(name, beside[i], (size_t)n);
        strcpy(name + n, source);
        found = access(name, R_OK) == 0;
        free(name);
    }
    free(real);
    return found;
}

enum h5vec_status h5vcat_links_check_virtual(const char *file, const char *path, hid_t dcpl,
                                             struct h5vec_error *err)
{
    size_t n = 0;
    if (H5Pget_virtual_count(dcpl, &n) < 0)
        return h5vec_layer_error_hdf5(err, "%s: %s: cannot read its virtual mapping", file, path);
    for (size_t i = 0; i < n; i++) {
        char source[4096];
        ssize_t size = H5Pget_virtual_filename(dcpl, i, source, sizeof source);
        if (size < 0 || size >= (ssize_t)sizeof source)
            return h5vec_layer_error_hdf5(err, "%s: %s: cannot read its virtual mapping", file, path);
        if (strcmp(source, ".") != 0 && !strchr(source, '%') && !source_exists(file, source))
            return h5vec_error_set(err, H5VEC_E_IO, 0, "%s: %s: the virtual dataset's source %s is not there",
                                   file, path, source);
    }
    return H5VEC_OK;
}

static bool copy_fill(hid_t from, hid_t to, hid_t type)
{
    H5D_fill_value_t state;
    H5D_fill_time_t when;
    if (H5Pget_fill_time(from, &when) < 0 || H5Pset_fill_time(to, when) < 0 ||
        H5Pfill_value_defined(from, &state) < 0)
        return false;
    if (state != H5D_FILL_VALUE_USER_DEFINED)
        return true;
    void *value = calloc(1, H5Tget_size(type));
    bool ok = value && H5Pget_fill_value(from, type, value) >= 0 && H5Pset_fill_value(to, type, value) >= 0;
    free(value);
    return ok;
}

hid_t h5vcat_links_contiguous(hid_t dcpl, hid_t type)
{
    hid_t plain = H5Pcreate(H5P_DATASET_CREATE);
    unsigned order, compact, dense;
    if (plain >= 0 && H5Pget_attr_creation_order(dcpl, &order) >= 0 &&
        H5Pset_attr_creation_order(plain, order) >= 0 &&
        H5Pget_attr_phase_change(dcpl, &compact, &dense) >= 0 &&
        H5Pset_attr_phase_change(plain, compact, dense) >= 0 && copy_fill(dcpl, plain, type))
        return plain;
    H5Pclose(plain);
    return H5I_INVALID_HID;
}

/* ---- User block --------------------------------------------------------------------------------------- */

static enum h5vec_status copy_bytes(int in, const char *name, int out, const char *to, uint64_t size,
                                    struct h5vec_error *err)
{
    static const size_t piece = (size_t)1 << 20;
    char *bytes = malloc(piece);
    enum h5vec_status st = bytes ? H5VEC_OK : h5vcat_no_memory(err);
    for (uint64_t at = 0; at < size && !st; at += piece) {
        size_t n = size - at < piece ? (size_t)(size - at) : piece;
        st = h5vcat_file_read(in, name, at, bytes, n, err);
        if (!st)
            st = h5vcat_file_write(out, to, at, bytes, n, err);
    }
    free(bytes);
    return st;
}

enum h5vec_status h5vcat_links_user_block(const struct merge *m, struct h5vec_error *err)
{
    const char *name = m->inputs.names[0];
    if (m->schema->user_block == 0)
        return H5VEC_OK;
    int in = open(name, O_RDONLY | O_CLOEXEC), out = open(m->temporary, O_WRONLY | O_CLOEXEC);
    enum h5vec_status st = H5VEC_OK;
    if (in < 0 || out < 0)
        st = h5vec_error_set(err, H5VEC_E_IO, 0, "%s: cannot open: %s", in < 0 ? name : m->temporary,
                             strerror(errno));
    else
        st = copy_bytes(in, name, out, m->temporary, m->schema->user_block, err);
    if (!st && fsync(out) < 0)
        st = h5vec_error_set(err, H5VEC_E_IO, 0, "%s: cannot flush: %s", m->temporary, strerror(errno));
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    return st;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The files of a shapefile. shapelib asks for them by name through hooks; here a name leads to files that are
 * open already, so that the .shp may be called anything, a missing .shx may live in memory, and nothing is
 * ever written or printed. Reads go through a window, as shapelib seeks and reads for every record.
 */
#include "shapefile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WINDOW = 64 * 1024, SHP_HEADER = 100, RECORD_HEADER = 8 };

static uint32_t load_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void store_be32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* ---- Reading ---- */

/* Some bytes at an offset inside the file; fewer than size where the window ends. */
static size_t read_some(struct h5vec_format_shape_file *file, void *buffer, size_t size, uint64_t offset)
{
    size_t got = 0;
    if (file->made) {
        memcpy(buffer, file->made + offset, size);
        return size;
    }
    if (size >= WINDOW || (!file->window && !(file->window = malloc(WINDOW)))) {
        file->error = h5vec_format_pread(file->fd, buffer, size, offset, &got);
        return got;
    }
    if (offset < file->window_at || offset >= file->window_at + file->window_size) {
        file->window_at = offset;
        file->error = h5vec_format_pread(file->fd, file->window, WINDOW, offset, &file->window_size);
    }
    size_t held = file->window_size - (size_t)(offset - file->window_at);
    got = held < size ? held : size;
    memcpy(buffer, file->window + (offset - file->window_at), got);
    return got;
}

static size_t read_at(struct h5vec_format_shape_file *file, void *buffer, size_t size, uint64_t offset)
{
    size_t done = 0;
    file->error = 0;
    if (offset >= file->size)
        return 0;
    if (size > file->size - offset)
        size = (size_t)(file->size - offset);
    while (done < size) {
        size_t got = read_some(file, (uint8_t *)buffer + done, size - done, offset + done);
        if (got == 0)
            break;
        done += got;
    }
    return done;
}

enum h5vec_status h5vec_format_shape_read(struct h5vec_format_shape_file *file, void *buffer, size_t size,
                                          uint64_t offset, size_t *got, struct h5vec_error *err)
{
    *got = read_at(file, buffer, size, offset);
    if (file->error)
        return h5vec_error_set(err, H5VEC_E_IO, 0, "cannot read: %s", strerror(file->error));
    return H5VEC_OK;
}

/* ---- Hooks ---- */

static SAFile find_file(struct h5vec_format_shape_files *files, const char *name)
{
    const char *extension = strrchr(name, '.');
    const struct {
        const char *extension;
        struct h5vec_format_shape_file *file;
    } known[] = {{".shp", &files->shp}, {".shx", &files->shx}, {".dbf", &files->dbf}, {".cpg", &files->cpg}};
    for (size_t i = 0; extension && i < sizeof known / sizeof known[0]; i++)
        if (strcmp(extension, known[i].extension) == 0 && known[i].file->there) {
            known[i].file->at = 0;
            return (SAFile)(void *)known[i].file;
        }
    return NULL;
}

#ifdef SHAPELIB_VERSION_NUMBER /* 1.6 and later */
static SAFile hook_open(const char *name, const char *access, void *context)
{
    (void)access;
    return find_file(context, name);
}
#else
/* No context comes along, so the name carries it. */
static SAFile hook_open(const char *name, const char *access)
{
    void *context;
    (void)access;
    return sscanf(name, "%p", &context) == 1 ? find_file(context, name) : NULL;
}
#endif

static struct h5vec_format_shape_file *file_of(SAFile file)
{
    return (struct h5vec_format_shape_file *)(void *)file;
}

static SAOffset hook_read(void *buffer, SAOffset size, SAOffset count, SAFile handle)
{
    struct h5vec_format_shape_file *file = file_of(handle);
    size_t bytes;
    if (size == 0 || __builtin_mul_overflow(size, count, &bytes))
        return 0;
    size_t got = read_at(file, buffer, bytes, file->at);
    file->at += got;
    return got / size;
}

static SAOffset hook_seek(SAFile handle, SAOffset offset, int whence)
{
    struct h5vec_format_shape_file *file = file_of(handle);
    file->at = (whence == SEEK_END ? file->size : whence == SEEK_CUR ? file->at : 0) + offset;
    return 0;
}

static SAOffset hook_tell(SAFile handle)
{
    return file_of(handle)->at;
}

static int hook_close(SAFile handle)
{
    (void)handle; /* h5vec_format_shape_files_close does it */
    return 0;
}

static void hook_error(const char *message)
{
    (void)message; /* what failed is told by who called shapelib */
}

void h5vec_format_shape_hooks(struct h5vec_format_shape_files *files, SAHooks *hooks,
                              char name[H5VEC_FORMAT_SHAPE_NAME])
{
    SASetupDefaultHooks(hooks);
    hooks->FOpen = hook_open;
    hooks->FRead = hook_read;
    hooks->FSeek = hook_seek;
    hooks->FTell = hook_tell;
    hooks->FClose = hook_close;
    hooks->Error = hook_error;
#ifdef SHAPELIB_VERSION_NUMBER
    hooks->pvUserData = files;
#endif
    snprintf(name, H5VEC_FORMAT_SHAPE_NAME, "%p", (void *)files);
}

/* ---- Siblings ---- */

static enum h5vec_status open_named(const char *path, struct h5vec_format_shape_file *file,
                                    struct h5vec_error *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT)
        return H5VEC_OK;
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        enum h5vec_status status = h5vec_error_set(err, H5VEC_E_IO, 0, "cannot open %s: %s", path,
                                                   fd < 0 ? strerror(errno) : "it is not a regular file");
        if (fd >= 0)
            close(fd);
        return status;
    }
    *file = (struct h5vec_format_shape_file){
        .fd = fd, .there = true, .owned = true, .size = (uint64_t)st.st_size};
    return H5VEC_OK;
}

/* Open stem with an extension, in lower case or upper. */
static enum h5vec_status open_sibling(const char *stem, const char *lower, const char *upper,
                                      struct h5vec_format_shape_file *file, struct h5vec_error *err)
{
    size_t room = strlen(stem) + strlen(lower) + 1;
    char *path = malloc(room);
    if (!path)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for a path");
    snprintf(path, room, "%s%s", stem, lower);
    enum h5vec_status status = open_named(path, file, err);
    snprintf(path, room, "%s%s", stem, upper);
    if (status == H5VEC_OK && !file->there)
        status = open_named(path, file, err);
    free(path);
    return status;
}

/* Append the index entry of the record at offset. */
static bool add_entry(struct h5vec_format_shape_file *shx, size_t *capacity, uint64_t offset, uint32_t words)
{
    if (!h5vec_format_grow(&shx->made, capacity, shx->size + RECORD_HEADER, 1))
        return false;
    store_be32(shx->made + shx->size, (uint32_t)(offset / 2));
    store_be32(shx->made + shx->size + 4, words);
    shx->size += RECORD_HEADER;
    return true;
}

/* The index says where each record begins, and so do the records. The last one may be cut short; its reader
 * will see that. Lengths are in words of two bytes. */
static enum h5vec_status make_index(struct h5vec_format_shape_files *files, struct h5vec_error *err)
{
    struct h5vec_format_shape_file *shx = &files->shx;
    size_t capacity = 0, got = 0;
    uint64_t offset = SHP_HEADER;
    uint8_t head[RECORD_HEADER];
    *shx = (struct h5vec_format_shape_file){.fd = -1};
    bool room = h5vec_format_grow(&shx->made, &capacity, SHP_HEADER, 1);
    enum h5vec_status status =
        room ? h5vec_format_shape_read(&files->shp, shx->made, SHP_HEADER, 0, &got, err) : H5VEC_OK;
    shx->size = SHP_HEADER;
    while (status == H5VEC_OK && room && offset / 2 <= INT32_MAX) {
        status = h5vec_format_shape_read(&files->shp, head, sizeof head, offset, &got, err);
        if (status != H5VEC_OK || got < sizeof head)
            break;
        uint32_t words = load_be32(head + 4);
        room = words <= INT32_MAX && add_entry(shx, &capacity, offset, words);
        offset += RECORD_HEADER + 2 * (uint64_t)words;
        if (words > INT32_MAX)
            return h5vec_error_set(err, H5VEC_E_FORMAT_RECORD, 0,
                                   "record %llu: its length is no length, and there is no .shx",
                                   (unsigned long long)(shx->size - SHP_HEADER) / RECORD_HEADER + 1);
    }
    if (!room)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for the index of the records");
    store_be32(shx->made + 24, (uint32_t)(shx->size / 2));
    shx->there = true;
    return status;
}

/* shapelib takes the number of records from the header. */
static enum h5vec_status check_index(struct h5vec_format_shape_files *files, struct h5vec_error *err)
{
    uint8_t header[SHP_HEADER];
    size_t got;
    enum h5vec_status status = h5vec_format_shape_read(&files->shx, header, sizeof header, 0, &got, err);
    if (status != H5VEC_OK)
        return status;
    uint64_t length = got < sizeof header ? 0 : 2 * (uint64_t)load_be32(header + 24);
    if (got < sizeof header || load_be32(header) != 9994 || length < SHP_HEADER || length > files->shx.size)
        return h5vec_error_set(err, H5VEC_E_FORMAT_RECORD, 0,
                               "the index %s.shx is damaged or cut short; without it, it would be made anew",
                               files->stem);
    return H5VEC_OK;
}

static char *stem_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return strndup(path, dot && dot > name ? (size_t)(dot - path) : strlen(path));
}

enum h5vec_status h5vec_format_shape_files_open(struct h5vec_format_shape_files *files, const char *path,
                                                struct h5vec_error *err)
{
    files->stem = stem_of(path);
    if (!files->stem)
        return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "no memory for a path");
    const struct {
        const char *lower, *upper;
        struct h5vec_format_shape_file *file;
    } siblings[] = {{".shx", ".SHX", &files->shx},
                    {".dbf", ".DBF", &files->dbf},
                    {".cpg", ".CPG", &files->cpg},
                    {".prj", ".PRJ", &files->prj}};
    enum h5vec_status status = H5VEC_OK;
    for (size_t i = 0; i < sizeof siblings / sizeof siblings[0] && status == H5VEC_OK; i++)
        status = open_sibling(files->stem, siblings[i].lower, siblings[i].upper, siblings[i].file, err);
    if (status != H5VEC_OK)
        return status;
    return files->shx.there ? check_index(files, err) : make_index(files, err);
}

void h5vec_format_shape_files_close(struct h5vec_format_shape_files *files)
{
    struct h5vec_format_shape_file *const all[] = {&files->shp, &files->shx, &files->dbf, &files->cpg,
                                                   &files->prj};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i]->owned)
            close(all[i]->fd);
        free(all[i]->made);
        free(all[i]->window);
    }
    free(files->stem);
}

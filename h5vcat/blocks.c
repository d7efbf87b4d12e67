/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Three ways of reading a block: pread, MPI_File_read_at, MPI_File_read_at_all.
 */
#include "blocks.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "error.h"
#include "file.h"

#define LARGEST ((uint64_t)1 << 30) /* MPI counts in int */
#define SMALLEST 65536              /* if nobody says otherwise */

struct blocks {
    const struct inputs *in;
    const struct h5vcat_options *options;
    int ranks;
    char *buffer;
    size_t room;
    uint32_t input; /* that is open; NOBODY */
    uint64_t at;    /* the block that is held: its first byte ... */
    size_t held;    /* ... and its bytes, 0: none */
    int fd;
    MPI_File file; /* instead of fd */
    /* The ranks that read a text together; MPI_COMM_NULL: this one does not. */
    MPI_Comm group;
    uint32_t group_input;
    MPI_File group_file;
    uint64_t rounds;
};

enum h5vec_status h5vcat_blocks_new(const struct inputs *in, const struct h5vcat_options *options, int ranks,
                                    struct blocks **out, struct h5vec_error *err)
{
    struct blocks *b = malloc(sizeof *b);
    if (!b)
        return h5vcat_no_memory(err);
    *b = (struct blocks){.in = in,
                         .options = options,
                         .ranks = ranks,
                         .input = NOBODY,
                         .fd = -1,
                         .file = MPI_FILE_NULL,
                         .group = MPI_COMM_NULL,
                         .group_input = NOBODY,
                         .group_file = MPI_FILE_NULL};
    *out = b;
    return H5VEC_OK;
}

/* The copy of standard input has no name that MPI could open. */
static bool is_posix(const struct blocks *b, uint32_t input)
{
    return b->options->read == H5VCAT_READ_POSIX || h5vcat_is_standard(b->in->names[input]);
}

static void close_input(struct blocks *b)
{
    if (b->fd >= 0)
        close(b->fd);
    if (b->file != MPI_FILE_NULL)
        MPI_File_close(&b->file);
    b->fd = -1;
    b->input = NOBODY;
    b->held = 0;
}

void h5vcat_blocks_free(struct blocks *b)
{
    if (!b)
        return;
    close_input(b);
    if (b->group_file != MPI_FILE_NULL)
        MPI_File_close(&b->group_file);
    if (b->group != MPI_COMM_NULL)
        MPI_Comm_free(&b->group);
    free(b->buffer);
    free(b);
}

static enum h5vec_status mpi_error(int code, const char *what, struct h5vec_error *err)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    return h5vec_error_set(err, H5VEC_E_IO, 0, "%s: %.*s", what, (int)strcspn(text, "\n"), text);
}

enum h5vec_status h5vcat_blocks_share(struct blocks *b, MPI_Comm comm, struct h5vec_error *err)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < b->in->part_count && b->options->read == H5VCAT_READ_COLLECTIVE; i++)
        if (part_is_cut(b->in, &b->in->parts[i]) && !is_posix(b, b->in->parts[i].input))
            b->group_input = b->in->parts[i].input;
    if (b->options->read != H5VCAT_READ_COLLECTIVE)
        return H5VEC_OK;
    MPI_Comm_split(comm, b->group_input == NOBODY ? MPI_UNDEFINED : (int)b->group_input, rank, &b->group);
    if (b->group == MPI_COMM_NULL)
        return H5VEC_OK;
    const char *name = b->in->names[b->group_input];
    int code = MPI_File_open(b->group, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &b->group_file);
    return code == MPI_SUCCESS ? H5VEC_OK
                               : h5vcat_about(err, mpi_error(code, "cannot open", err), name, NULL);
}

uint64_t h5vcat_blocks_rounds(struct blocks *b, uint64_t n)
{
    if (b->group != MPI_COMM_NULL) {
        MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_UINT64_T, MPI_MAX, b->group);
        b->rounds = n;
    }
    return n;
}

/* A round of the group's. */
static int read_together(struct blocks *b, uint64_t at, char *to, size_t size, MPI_Status *status)
{
    b->rounds--;
    return MPI_File_read_at_all(b->group_file, (MPI_Offset)at, to, (int)size, MPI_BYTE, status);
}

void h5vcat_blocks_finish(struct blocks *b)
{
    MPI_Status status;
    char nothing;
    while (b->rounds > 0)
        read_together(b, 0, &nothing, 0, &status);
}

uint64_t h5vcat_blocks_size(const struct blocks *b, uint32_t input)
{
    uint64_t size = b->options->block_size;
    if (size == 0) {
        uint64_t share = b->in->sizes[input] / (uint64_t)b->ranks + 1, unit = b->in->units[input];
        share = share < SMALLEST ? SMALLEST : share;
        size = H5VCAT_BLOCK_MOST(b->options->buffer_size);
        size = share < size ? (share + unit - 1) / unit * unit : size > unit ? size / unit * unit : size;
    }
    return size < LARGEST ? size : LARGEST;
}

uint64_t h5vcat_blocks_count(const struct blocks *b, uint32_t input, uint64_t origin, uint64_t at,
                             uint64_t end)
{
    uint64_t size = h5vcat_blocks_size(b, input);
    return at < end ? (end - origin - 1) / size - (at - origin) / size + 1 : 0;
}

static enum h5vec_status open_input(struct blocks *b, uint32_t input, struct h5vec_error *err)
{
    close_input(b);
    const char *name = b->in->names[input];
    int code = MPI_SUCCESS;
    if (input == b->group_input)
        ; /* is open */
    else if (is_posix(b, input))
        b->fd = h5vcat_is_standard(name) ? fcntl(b->in->standard, F_DUPFD_CLOEXEC, 0)
                                         : open(name, O_RDONLY | O_CLOEXEC);
    else
        code = MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &b->file);
    if (code != MPI_SUCCESS)
        return mpi_error(code, "cannot open", err);
    if (is_posix(b, input) && b->fd < 0)
        return h5vec_error_set(err, H5VEC_E_IO, 0, "cannot open: %s", strerror(errno));
    b->input = input;
    return H5VEC_OK;
}

/* Read size bytes at a place of the open input. */
static enum h5vec_status read_block(struct blocks *b, uint64_t at, size_t size, struct h5vec_error *err)
{
    char what[64];
    MPI_Status status;
    int code, got = 0;
    snprintf(what, sizeof what, "block at byte %llu", (unsigned long long)at);
    if (b->fd >= 0)
        return h5vcat_file_read(b->fd, what, at, b->buffer, size, err);
    if (b->input == b->group_input && b->rounds == 0)
        return h5vec_error_set(err, H5VEC_E_INTERNAL, 0, "%s: more reads than agreed", what);
    code = b->input == b->group_input
               ? read_together(b, at, b->buffer, size, &status)
               : MPI_File_read_at(b->file, (MPI_Offset)at, b->buffer, (int)size, MPI_BYTE, &status);
    if (code != MPI_SUCCESS)
        return mpi_error(code, what, err);
    MPI_Get_count(&status, MPI_BYTE, &got);
    return (size_t)got == size ? H5VEC_OK
                               : h5vec_error_set(err, H5VEC_E_IO, 0, "%s: the file has become shorter", what);
}

enum h5vec_status h5vcat_blocks_get(struct blocks *b, uint32_t input, uint64_t origin, uint64_t at,
                                    uint64_t end, const char **bytes, size_t *size, struct h5vec_error *err)
{
    enum h5vec_status st = b->input == input ? H5VEC_OK : open_input(b, input, err);
    if (!st && !(b->held > 0 && at >= b->at && at - b->at < b->held)) {
        uint64_t block = h5vcat_blocks_size(b, input), from = origin + (at - origin) / block * block;
        size_t n = (size_t)(end - from < block ? end - from : block);
        char *buffer = n > b->room ? realloc(b->buffer, n) : b->buffer;
        if (!buffer)
            return h5vcat_no_memory(err);
        b->buffer = buffer;
        b->room = n > b->room ? n : b->room;
        st = read_block(b, from, n, err);
        b->at = from;
        b->held = st ? 0 : n;
    }
    if (st)
        return st;
    uint64_t stop = b->at + b->held < end ? b->at + b->held : end;
    *bytes = b->buffer + (at - b->at);
    *size = (size_t)(stop - at);
    return H5VEC_OK;
}

uint64_t h5vcat_blocks_stripe(const char *name, uint64_t block, enum h5vcat_read how)
{
    MPI_File file;
    MPI_Info info;
    char text[MPI_MAX_INFO_VAL + 1];
    int there = 0;
    if (how == H5VCAT_READ_POSIX ||
        MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS)
        return block;
    MPI_File_get_info(file, &info);
    MPI_Info_get(info, "striping_unit", MPI_MAX_INFO_VAL, text, &there);
    MPI_Info_free(&info);
    MPI_File_close(&file);
    uint64_t unit = there ? strtoull(text, NULL, 10) : 0;
    return unit > block ? unit : block;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Looking at the inputs (in turn by all ranks, so that 100,000 files cost each rank its share of the calls)
 * and dealing them out by bytes.
 */
#include "error.h"
#include "inputs.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "agree.h"
#include "blocks.h"
#include "h5vec_format.h"

/* A border that is this close to a file's begin or end, as a share of what a rank reads, moves there: one
 * file less is opened by two ranks. */
#define SLACK 0.03

#define MANY 16 /* blocks of the file system in a share, for cuts to keep to them */

/* Text has no NUL. */
static bool has_nul(int fd)
{
    char bytes[512];
    ssize_t n = pread(fd, bytes, sizeof bytes, 0);
    return n > 0 && memchr(bytes, '\0', (size_t)n);
}

/* What a file of formats/ is. */
static uint8_t kind_of(int fd, uint64_t size)
{
    bool shapefile = false;
    if (!has_nul(fd))
        return INPUT_TEXT;
    (void)h5vec_format_is_shapefile(fd, size, &shapefile, NULL); /* who opens it says why it cannot be read */
    return shapefile ? INPUT_SHAPEFILE : INPUT_BINARY;
}

/* Cuts of a text fall on the borders of its blocks if their size is given; else on those of the file system
 * if each share has many of them. */
static uint64_t unit_of(const struct h5vcat_options *options, const char *name, uint64_t size, uint64_t block,
                        int ranks)
{
    if (options->block_size)
        return options->block_size;
    uint64_t share = size / (uint64_t)ranks, stripe = h5vcat_blocks_stripe(name, block, options->read);
    return stripe > 0 && share / stripe >= MANY ? stripe : 1;
}

static enum h5vec_status look_at(struct inputs *in, uint32_t input, const struct h5vcat_options *options,
                                 int ranks, struct h5vec_error *err)
{
    const char *name = in->names[input];
    struct stat st;
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe has no writer to wait for */
    if (fd < 0 || fstat(fd, &st) < 0) {
        int code = errno;
        if (fd >= 0)
            close(fd);
        return h5vec_error_set(err, H5VEC_E_IO, 0, "%s: cannot open: %s", name, strerror(code));
    }
    enum h5vec_status status = H5VEC_OK;
    if (S_ISDIR(st.st_mode))
        status = h5vec_error_set(err, H5VEC_E_IO, 0, "%s: is a directory; name the files in it", name);
    else if (!S_ISREG(st.st_mode))
        status = h5vec_error_set(err, H5VEC_E_REFUSED, 0, "%s: is not a regular file", name);
    uint64_t size = in->sizes[input] = (uint64_t)st.st_size;
    bool hdf5 = false;
    (void)h5vec_format_is_hdf5(fd, size, &hdf5); /* who opens it says why it cannot be read */
    in->text[input] = hdf5 ? INPUT_HDF5 : kind_of(fd, size);
    if (in->text[input] == INPUT_TEXT && !status)
        in->units[input] = unit_of(options, name, size, (uint64_t)st.st_blksize, ranks);
    close(fd);
    return status;
}

uint64_t h5vcat_inputs_border(const uint64_t *sizes, const uint8_t *text, uint32_t count, int rank, int ranks)
{
    if (rank <= 0)
        return 0;
    if (rank >= ranks)
        return (uint64_t)count * WHOLE;
    double total = 0, before = 0;
    for (uint32_t i = 0; i < count; i++)
        total += (double)sizes[i] + 1;
    double share = total / ranks, target = share * rank;
    for (uint32_t i = 0; i < count; i++) {
        double size = (double)sizes[i] + 1, inside = target - before;
        if (inside < size) {
            bool near_begin = inside < SLACK * share, near_end = size - inside < SLACK * share;
            if (text[i] == INPUT_BINARY || near_begin || near_end)
                return ((uint64_t)i + (inside > size / 2)) * WHOLE;
            return (uint64_t)i * WHOLE + (uint64_t)(inside / size * WHOLE);
        }
        before += size;
    }
    return (uint64_t)count * WHOLE;
}

void h5vcat_inputs_share(const struct inputs *in, int rank, int ranks, bool apart, uint64_t *begin,
                         uint64_t *end)
{
    uint64_t from = 0, to = 0;
    for (int r = apart ? 0 : rank; r <= rank; r++) {
        from = apart ? to : h5vcat_inputs_border(in->sizes, in->text, in->count, r, ranks);
        to = h5vcat_inputs_border(in->sizes, in->text, in->count, r + 1, ranks);
        if (apart && from % WHOLE && to % WHOLE && from / WHOLE != to / WHOLE)
            to = to / WHOLE * WHOLE;
    }
    *begin = from;
    *end = to;
}

static enum h5vec_status deal(struct inputs *in, int rank, int ranks, bool apart, struct h5vec_error *err)
{
    uint64_t begin, end;
    h5vcat_inputs_share(in, rank, ranks, apart, &begin, &end);
    uint64_t files = begin < end ? (end - 1) / WHOLE - begin / WHOLE + 1 : 0;
    in->parts = malloc((files + 1) * sizeof *in->parts);
    if (!in->parts)
        return h5vcat_no_memory(err);
    for (uint64_t at = begin; at < end;) {
        uint64_t next = (at / WHOLE + 1) * WHOLE;
        if (next > end)
            next = end;
        in->parts[in->part_count++] = (struct part){.input = (uint32_t)(at / WHOLE),
                                                    .lo = (uint32_t)(at % WHOLE),
                                                    .hi = (uint32_t)((next - 1) % WHOLE + 1)};
        at = next;
    }
    return H5VEC_OK;
}

/* Only text: an HDF5 file is opened by its name, and a shapefile has several files. */
static enum h5vec_status look_at_standard(struct inputs *in, uint32_t input,
                                          const struct h5vcat_options *options, struct h5vec_error *err)
{
    struct stat st;
    if (fstat(in->standard, &st) < 0)
        return h5vec_error_set(err, H5VEC_E_IO, 0, "standard input: cannot stat its copy: %s",
                               strerror(errno));
    in->sizes[input] = (uint64_t)st.st_size;
    in->units[input] = options->block_size ? options->block_size : 1;
    in->text[input] = INPUT_TEXT;
    return has_nul(in->standard)
               ? h5vec_error_set(err, H5VEC_E_REFUSED, 0,
                                 "-: standard input must be text; give other files by their names")
               : H5VEC_OK;
}

enum h5vec_status h5vcat_inputs_open(MPI_Comm comm, const struct h5vcat_options *options, int standard,
                                     struct inputs *in, struct h5vec_error *err)
{
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    memset(in, 0, sizeof *in);
    in->names = options->inputs;
    in->count = (uint32_t)options->input_count;
    in->standard = standard;
    in->sizes = calloc(in->count, sizeof *in->sizes);
    in->units = calloc(in->count, sizeof *in->units);
    in->text = calloc(in->count, sizeof *in->text);
    enum h5vec_status st = H5VEC_OK;
    if (ranks > (int)WHOLE)
        st = h5vec_error_set(err, H5VEC_E_USAGE, 0, "%d ranks: %u is the most", ranks, WHOLE);
    else if (!in->sizes || !in->units || !in->text)
        st = h5vcat_no_memory(err);
    for (uint32_t i = (uint32_t)rank; i < in->count && !st; i += (uint32_t)ranks)
        st = h5vcat_is_standard(in->names[i]) ? look_at_standard(in, i, options, err)
                                              : look_at(in, i, options, ranks, err);
    st = h5vcat_agree(comm, st, err);
    if (st)
        return st;
    MPI_Allreduce(MPI_IN_PLACE, in->sizes, (int)in->count, MPI_UINT64_T, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, in->units, (int)in->count, MPI_UINT64_T, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, in->text, (int)in->count, MPI_UINT8_T, MPI_MAX, comm);
    st = deal(in, rank, ranks, options->read == H5VCAT_READ_COLLECTIVE, err);
    return h5vcat_agree(comm, st, err);
}

void h5vcat_inputs_free(struct inputs *in)
{
    free(in->sizes);
    free(in->units);
    free(in->text);
    for (int i = 0; i < in->part_count; i++)
        free(in->parts[i].tail);
    free(in->parts);
    memset(in, 0, sizeof *in);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collective writing: parallel HDF5 as it is mostly used. One file opened by all ranks with the MPI-IO
 * driver, datasets created and written collectively, metadata collective too, the metadata cache held at 128
 * MiB. HDF5 encodes (zlib) and places the chunks.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "error.h"
#include "agree.h"
#include "create.h"
#include "pointers.h"
#include "writer.h"

#define MDC_BYTES ((size_t)128 << 20)
#define META_BLOCK ((hsize_t)4 << 20)

struct collective {
    struct merge *m;
    struct creator creator;
    hid_t file, dxpl;
    char *slice; /* budget.encoded bytes */
    int broken;  /* HDF5 failed to write on this rank */
};

static hid_t parallel_fapl(MPI_Comm comm)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    H5AC_cache_config_t config = {.version = H5AC__CURR_CACHE_CONFIG_VERSION};
    if (fapl < 0 || H5Pget_mdc_config(fapl, &config) < 0)
        return fapl;
    config.set_initial_size = true;
    config.initial_size = config.min_size = config.max_size = MDC_BYTES;
    config.incr_mode = H5C_incr__off;
    config.flash_incr_mode = H5C_flash_incr__off;
    config.decr_mode = H5C_decr__off;
    if (H5Pset_fapl_mpio(fapl, comm, MPI_INFO_NULL) < 0 || H5Pset_all_coll_metadata_ops(fapl, true) < 0 ||
        H5Pset_coll_metadata_write(fapl, true) < 0 || H5Pset_mdc_config(fapl, &config) < 0 ||
        H5Pset_meta_block_size(fapl, META_BLOCK) < 0 ||
        H5Pset_libver_bounds(fapl, H5F_LIBVER_V110, H5F_LIBVER_V110) < 0) {
        H5Pclose(fapl);
        return H5I_INVALID_HID;
    }
    return fapl;
}

static enum h5vec_status create_file(struct collective *c, struct h5vec_error *err)
{
    hid_t fapl = parallel_fapl(c->m->comm), fcpl = h5vcat_create_fcpl(c->m);
    enum h5vec_status st = H5VEC_OK;
    if (fapl >= 0 && fcpl >= 0)
        c->file = H5Fcreate(c->m->temporary, H5F_ACC_TRUNC, fcpl, fapl);
    if (c->file < 0)
        st = h5vec_layer_error_hdf5(err, "%s: cannot create", c->m->temporary);
    if (fapl >= 0)
        H5Pclose(fapl);
    if (fcpl >= 0)
        H5Pclose(fcpl);
    return st;
}

static void collective_free(struct collective *c)
{
    h5vcat_creator_close(&c->creator);
    if (c->dxpl >= 0)
        H5Pclose(c->dxpl);
    free(c->slice);
    free(c);
}

static enum h5vec_status collective_open(struct merge *m, void **state, struct h5vec_error *err)
{
    struct collective *c = calloc(1, sizeof *c);
    enum h5vec_status st = H5VEC_OK;
    if (c) {
        *c = (struct collective){.m = m, .file = H5I_INVALID_HID};
        c->creator.in = H5I_INVALID_HID;
        c->slice = malloc(m->budget.encoded);
        c->dxpl = H5Pcreate(H5P_DATASET_XFER);
    }
    if (!c || !c->slice)
        st = h5vcat_no_memory(err);
    else if (c->dxpl < 0 || H5Pset_dxpl_mpio(c->dxpl, H5FD_MPIO_COLLECTIVE) < 0)
        st = h5vec_layer_error_hdf5(err, "cannot ask for collective transfer");
    st = h5vcat_agree(m->comm, st, err);
    if (st) {
        if (c)
            collective_free(c);
        return st;
    }
    *state = c;
    st = h5vcat_agree(m->comm, create_file(c, err), err);
    if (!st)
        st = h5vcat_creator_open(m, c->file, &c->creator, err);
    return h5vcat_agree(m->comm, st, err);
}

/* ---- A dataset's rows --------------------------------------------------------------------------------- */

/* A collective write in which this rank has piece (NULL: nothing), an array of exactly its elements. */
static enum h5vec_status write_piece(struct collective *c, struct page_item *p, const struct box *piece,
                                     struct h5vec_error *err)
{
    const struct item *it = &c->m->schema->items[p->item];
    hid_t space = H5Dget_space(p->dset), memory;
    hsize_t none = 0;
    bool ok;
    if (piece) {
        memory = H5Screate_simple(it->rank, piece->count, NULL);
        ok = H5Sselect_hyperslab(space, H5S_SELECT_SET, piece->start, NULL, piece->count, NULL) >= 0;
    } else {
        memory = H5Screate_simple(1, &none, NULL);
        ok = H5Sselect_none(space) >= 0 && H5Sselect_none(memory) >= 0;
    }
    hid_t type = h5vcat_blob_type(it->type);
    ok = ok && H5Dwrite(p->dset, type, memory, space, c->dxpl, c->slice) >= 0;
    enum h5vec_status st =
        ok ? H5VEC_OK : h5vec_layer_error_hdf5(err, "%s: %s: cannot write", c->m->temporary, it->path);
    H5Sclose(memory);
    H5Sclose(space);
    return st;
}

/* Account for the chunk pieces that a slice of rows is made of. */
static void slice_done(const struct collective *c, struct page_item *p, const struct box *slice)
{
    struct merge *m = c->m;
    hsize_t grid[H5S_MAX_RANK];
    uint64_t tiles = h5vcat_page_grid(m, p, grid), begin = slice->start[0], end = begin + slice->count[0];
    for (uint64_t slab = begin / p->storage.chunk[0]; slab * p->storage.chunk[0] < end; slab++)
        for (uint64_t tile = 0; tile < tiles; tile++) {
            struct box chunk, piece, part;
            h5vcat_page_chunk(m, p, slab, tile, &chunk);
            if (h5vcat_page_piece(m, p, &chunk, begin, end, &piece) &&
                h5vcat_box_intersect(&piece, slice, &part))
                h5vcat_page_done(m, p, &part, c->slice, slice);
        }
}

/* Rows of rank r's k-th slice: [*begin, *end). Slices end where chunks do, so that none is encoded twice. */
static bool slice_rows(const struct collective *c, const struct page_item *p, int r, uint64_t k,
                       uint64_t *begin, uint64_t *end)
{
    uint64_t row_bytes = c->m->schema->items[p->item].row_bytes, chunk = p->storage.chunk[0];
    uint64_t rows = c->m->budget.encoded / (row_bytes ? row_bytes : 1) / chunk * chunk;
    if (rows == 0)
        rows = chunk;
    uint64_t first = p->base[r] / rows;
    *begin = (first + k) * rows;
    *end = *begin + rows;
    if (*begin < p->base[r])
        *begin = p->base[r];
    if (*end > p->base[r + 1])
        *end = p->base[r + 1];
    return *begin < *end;
}

/* This rank's part of one collective write: rows [begin, end), tile of those that do not fit whole. */
static enum h5vec_status write_slice(struct collective *c, struct page_item *p, bool mine,
                                     const struct box *slice, enum h5vec_status status,
                                     struct h5vec_error *err)
{
    bool missing;
    enum h5vec_status st = status;
    if (!st && mine)
        st = h5vcat_page_box(c->m, p, slice, c->slice, slice, &missing, err);
    if (!st && mine)
        slice_done(c, p, slice);
    enum h5vec_status written = write_piece(c, p, !st && mine ? slice : NULL, st ? NULL : err);
    c->broken = written != H5VEC_OK;
    return st ? st : written;
}

/* Agree after collective writes. A rank that HDF5 gave an error may be alone: the others can be waiting
 * inside HDF5 for what it did not send. */
static enum h5vec_status agree_on_writes(struct collective *c, enum h5vec_status status,
                                         struct h5vec_error *err)
{
    struct merge *m = c->m;
    bool late = false;
    enum h5vec_status st = h5vcat_agree_on_error(m->comm, status, err, status ? &late : NULL);
    if (late) {
        unlink(m->temporary);
        if (m->options->say)
            m->options->say(m->options->say_context, H5VCAT_LOST, err->msg);
        MPI_Abort(m->comm, h5vcat_exit_code(st));
    }
    return st;
}

static enum h5vec_status write_rows(struct collective *c, struct page_item *p, struct h5vec_error *err)
{
    struct merge *m = c->m;
    const struct item *it = &m->schema->items[p->item];
    hsize_t grid[H5S_MAX_RANK];
    uint64_t tiles = h5vcat_page_grid(m, p, grid);
    bool whole = it->row_bytes * p->storage.chunk[0] <= m->budget.encoded; /* rows at a time, else chunks */
    enum h5vec_status st = H5VEC_OK;
    bool any = true;
    for (uint64_t k = 0; any && !c->broken; k++) {
        uint64_t begin, end;
        any = false;
        for (int r = 0; r < m->ranks && !any; r++)
            any = slice_rows(c, p, r, k, &begin, &end);
        bool mine = slice_rows(c, p, m->rank, k, &begin, &end);
        for (uint64_t tile = 0; any && tile < (whole ? 1 : tiles) && !c->broken; tile++) {
            struct box chunk, slice = {.rank = it->rank};
            h5vcat_page_chunk(m, p, begin / p->storage.chunk[0], tile, &chunk);
            if (whole) {
                chunk.start[0] = begin;
                chunk.count[0] = mine ? end - begin : 0;
                for (int d = 1; d < it->rank; d++) {
                    chunk.start[d] = 0;
                    chunk.count[d] = it->dims[d];
                }
            }
            bool here = mine && h5vcat_page_piece(m, p, &chunk, begin, end, &slice);
            st = write_slice(c, p, here, &slice, st, err);
        }
    }
    return st;
}

/* Compact data is part of the metadata: every rank writes all of it. */
static enum h5vec_status write_compact(struct collective *c, struct page_item *p, struct h5vec_error *err)
{
    struct merge *m = c->m;
    const struct item *it = &m->schema->items[p->item];
    int *sizes = malloc(2 * (size_t)m->ranks * sizeof *sizes);
    char *all = malloc((size_t)(it->total * it->row_bytes) + 1);
    enum h5vec_status st = H5VEC_OK;
    struct box rows = {.rank = it->rank, .start = {it->base}, .count = {it->mine}};
    bool missing;
    for (int d = 1; d < it->rank; d++)
        rows.count[d] = it->dims[d];
    if (!sizes || !all)
        st = h5vcat_no_memory(err);
    if (!st && it->mine > 0)
        st = h5vcat_page_box(m, p, &rows, c->slice, &rows, &missing, err);
    if (!st && it->mine > 0)
        slice_done(c, p, &rows);
    st = h5vcat_agree(m->comm, st, err);
    if (!st) {
        for (int r = 0; r < m->ranks; r++) {
            sizes[r] = (int)((p->base[r + 1] - p->base[r]) * it->row_bytes);
            sizes[m->ranks + r] = (int)(p->base[r] * it->row_bytes);
        }
        MPI_Allgatherv(c->slice, sizes[m->rank], MPI_BYTE, all, sizes, sizes + m->ranks, MPI_BYTE, m->comm);
        c->broken = H5Dwrite(p->dset, h5vcat_blob_type(it->type), H5S_ALL, H5S_ALL, c->dxpl, all) < 0;
        if (c->broken)
            st = h5vec_layer_error_hdf5(err, "%s: %s: cannot write", m->temporary, it->path);
    }
    free(all);
    free(sizes);
    return st;
}

static enum h5vec_status collective_page(struct merge *m, void *state, struct page *page,
                                         struct h5vec_error *err)
{
    struct collective *c = state;
    enum h5vec_status st = h5vcat_creator_page(&c->creator, page, err);
    c->broken = st != H5VEC_OK;
    st = agree_on_writes(c, st, err);
    for (int i = 0; i < page->count && !st; i++) {
        struct page_item *p = &page->items[i];
        double begin = h5vcat_merge_now();
        st = p->storage.layout == H5D_COMPACT ? write_compact(c, p, err) : write_rows(c, p, err);
        m->report.seconds_write += h5vcat_merge_now() - begin;
        if (!st && m->rank == 0)
            m->report.stored_bytes += H5Dget_storage_size(p->dset);
        st = agree_on_writes(c, st, err);
    }
    m->report.rounds++;
    h5vcat_creator_page_end(page);
    return st;
}

/* Rank 0, once the file is closed: what has to be written by one process. */
static enum h5vec_status write_pointers(const struct merge *m, struct h5vec_error *err)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), file = H5I_INVALID_HID;
    if (fapl >= 0 && H5Pset_fapl_sec2(fapl) >= 0 &&
        H5Pset_libver_bounds(fapl, H5F_LIBVER_V110, H5F_LIBVER_V110) >= 0)
        file = H5Fopen(m->temporary, H5F_ACC_RDWR, fapl);
    enum h5vec_status st = file < 0 ? h5vec_layer_error_hdf5(err, "%s: cannot open again", m->temporary)
                                    : h5vcat_pointers_write(m, file, err);
    if (file >= 0 && H5Fclose(file) < 0 && !st)
        st = h5vec_layer_error_hdf5(err, "%s: cannot close", m->temporary);
    if (fapl >= 0)
        H5Pclose(fapl);
    return st;
}

static enum h5vec_status collective_close(struct merge *m, void *state, enum h5vec_status status,
                                          struct h5vec_error *err)
{
    struct collective *c = state;
    enum h5vec_status st = status;
    if (!c)
        return st;
    if (!st) {
        st = h5vcat_creator_finish(&c->creator, err);
        c->broken = st != H5VEC_OK;
        st = agree_on_writes(c, st, err);
    }
    if (st) /* all ranks are here with an error: do they close the file? */
        MPI_Allreduce(MPI_IN_PLACE, &c->broken, 1, MPI_INT, MPI_LOR, m->comm);
    /* HDF5 cannot close a parallel file after a failed write: it would write again, and wait for ranks that
     * do not. The file stays open, and the command leaves without HDF5's help. */
    if (c->file >= 0 && !c->broken && H5Fclose(c->file) < 0 && !st)
        st = h5vec_layer_error_hdf5(err, "%s: cannot close", m->temporary);
    if (!st && h5vcat_pointers_any(m->schema)) /* HDF5 writes them in no parallel file */
        st = h5vcat_agree(m->comm, m->rank == 0 ? write_pointers(m, err) : H5VEC_OK, err);
    int fd = st ? -1 : open(m->temporary, O_RDONLY | O_CLOEXEC);
    if (!st && (fd < 0 || fsync(fd) < 0))
        st = h5vec_error_set(err, H5VEC_E_IO, 0, "%s: cannot flush: %s", m->temporary, strerror(errno));
    if (fd >= 0)
        close(fd);
    collective_free(c);
    return status ? status : h5vcat_agree(m->comm, st, err);
}

const struct writer h5vcat_writer_collective = {
    .name = "collective", .open = collective_open, .page = collective_page, .close = collective_close};

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A piece is one rank's rows of one chunk; its XXH64 is seeded by dataset and place, and a dataset's sum is
 * the sum of its pieces' hashes modulo 2^64, so that it does not depend on their order. HDF5 itself reads the
 * output here, with its own index lookups and zlib: nothing of the writing side is trusted.
 */
#include "error.h"
#include "verify.h"
#include <stdlib.h>
#include <string.h>
#include "agree.h"
#include "page.h"

static enum h5vec_status read_piece(const struct merge *m, const struct item *it, hid_t dset,
                                    const struct box *piece, void *array, struct h5vec_error *err)
{
    hid_t space = H5Dget_space(dset), memory = H5Screate_simple(it->rank, piece->count, NULL);
    memset(array, 0,
           h5vcat_box_volume(piece) * it->element); /* HDF5 leaves it alone where there is no fill value */
    bool ok = H5Sselect_hyperslab(space, H5S_SELECT_SET, piece->start, NULL, piece->count, NULL) >= 0 &&
              H5Dread(dset, h5vcat_blob_type(it->type), memory, space, H5P_DEFAULT, array) >= 0;
    H5Sclose(memory);
    H5Sclose(space);
    return ok ? H5VEC_OK
              : h5vec_layer_error_hdf5(err, "%s: %s: cannot read back", m->options->output, it->path);
}

/* The sum of rank r's pieces as the output has them. */
static enum h5vec_status sum_rows(const struct merge *m, const struct page_item *p, hid_t dset, int r,
                                  void *array, uint64_t *sum, struct h5vec_error *err)
{
    const struct item *it = &m->schema->items[p->item];
    hsize_t grid[H5S_MAX_RANK];
    uint64_t tiles = h5vcat_page_grid(m, p, grid), begin = p->base[r], end = p->base[r + 1],
             c = p->storage.chunk[0];
    for (uint64_t slab = begin / c; slab * c < end && begin < end; slab++)
        for (uint64_t tile = 0; tile < tiles; tile++) {
            struct box chunk, piece;
            h5vcat_page_chunk(m, p, slab, tile, &chunk);
            if (!h5vcat_page_piece(m, p, &chunk, begin, end, &piece))
                continue;
            enum h5vec_status st = read_piece(m, it, dset, &piece, array, err);
            if (st)
                return st;
            *sum += h5vcat_page_hash(it, p->item, &piece, array, &piece);
        }
    return H5VEC_OK;
}

static enum h5vec_status sum_dataset(const struct merge *m, const struct page_item *p, hid_t file, int r,
                                     void *array, uint64_t *sum, struct h5vec_error *err)
{
    const struct item *it = &m->schema->items[p->item];
    hid_t dapl = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_chunk_cache(dapl, 521, (size_t)m->budget.cache + (size_t)m->budget.encoded, 1.0);
    hid_t dset = H5Dopen2(file, it->path, dapl);
    enum h5vec_status st = H5VEC_OK;
    if (dset < 0)
        st = h5vec_layer_error_hdf5(err, "%s: %s: cannot open", m->options->output, it->path);
    else
        st = sum_rows(m, p, dset, r, array, sum, err);
    if (dset >= 0)
        H5Dclose(dset);
    H5Pclose(dapl);
    return st;
}

static enum h5vec_status verify_page(struct merge *m, const struct page *page, hid_t file, void *array,
                                     struct h5vec_error *err)
{
    size_t n = (size_t)page->count;
    uint64_t *sums = calloc(2 * n + 1, sizeof *sums);
    enum h5vec_status st = sums ? H5VEC_OK : h5vcat_no_memory(err);
    for (size_t i = 0; i < n && !st; i++) {
        sums[i] = m->schema->items[page->items[i].item].sum;
        st = sum_dataset(m, &page->items[i], file, (m->rank + m->ranks - 1) % m->ranks, array, &sums[n + i],
                         err);
    }
    st = h5vcat_agree(m->comm, st, err);
    if (!st)
        MPI_Allreduce(MPI_IN_PLACE, sums, (int)(2 * n), MPI_UINT64_T, MPI_SUM, m->comm);
    for (size_t i = 0; i < n && !st; i++)
        if (sums[i] != sums[n + i])
            st = h5vec_error_set(err, H5VEC_E_VERIFY, 0, "%s: %s: the output does not hold what was read",
                                 m->options->output, m->schema->items[page->items[i].item].path);
    free(sums);
    return st;
}

enum h5vec_status h5vcat_verify_output(struct merge *m, struct h5vec_error *err)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), file = H5I_INVALID_HID;
    void *array = malloc(m->budget.rows);
    enum h5vec_status st = H5VEC_OK;
    double begin = h5vcat_merge_now();
    if (fapl >= 0 && H5Pset_fapl_sec2(fapl) >= 0)
        file = H5Fopen(m->temporary, H5F_ACC_RDONLY, fapl);
    if (file < 0)
        st = h5vec_layer_error_hdf5(err, "%s: cannot open the output again", m->options->output);
    else if (!array)
        st = h5vcat_no_memory(err);
    st = h5vcat_agree(m->comm, st, err);
    int cursor = 0;
    while (!st && cursor < m->schema->count) {
        struct page page;
        st = h5vcat_page_next(m, &cursor, &page, err);
        if (st)
            break;
        st = verify_page(m, &page, file, array, err);
        h5vcat_page_free(&page);
    }
    if (file >= 0)
        H5Fclose(file);
    if (fapl >= 0)
        H5Pclose(fapl);
    free(array);
    m->report.seconds_verify += h5vcat_merge_now() - begin;
    m->report.verified = !st;
    return st;
}

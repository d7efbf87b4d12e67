/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From each rank's numbers to everybody's, by reductions; properties are sent by the one rank that has them.
 */
#include "share.h"
#include <stdlib.h>
#include "agree.h"
#include "error.h"
#include "pack.h"

/* Send the properties of items whose first input with rows is not input 0 from who has them to all. */
static enum h5vec_status share_properties(struct merge *m, const struct match *items, struct h5vec_error *err)
{
    struct schema *s = m->schema;
    struct pack p = {0};
    for (int i = 0; i < s->count; i++)
        if (items[i].mine && items[i].first == s->items[i].first) {
            pack_u64(&p, (uint64_t)i);
            pack_blob(&p, items[i].mine->bytes, items[i].mine->size);
        }
    int size = p.failed || p.size > INT32_MAX ? -1 : (int)p.size;
    int *sizes = malloc(2 * (size_t)m->ranks * sizeof *sizes);
    enum h5vec_status st = size < 0 || !sizes ? h5vcat_no_memory(err) : H5VEC_OK;
    st = h5vcat_agree(m->comm, st, err);
    char *all = NULL;
    if (!st) {
        MPI_Allgather(&size, 1, MPI_INT, sizes, 1, MPI_INT, m->comm);
        int64_t total = 0;
        for (int r = 0; r < m->ranks; r++) {
            sizes[m->ranks + r] = (int)total;
            total += sizes[r];
        }
        all = total <= INT32_MAX ? malloc((size_t)total + 1) : NULL;
        st = h5vcat_agree(m->comm, all ? H5VEC_OK : h5vcat_no_memory(err), err);
        if (!st) {
            MPI_Allgatherv(p.bytes, size, MPI_BYTE, all, sizes, sizes + m->ranks, MPI_BYTE, m->comm);
            struct unpack u = {.at = all, .end = all + total};
            while (u.at < u.end && !u.failed && !st) {
                struct item *it = &s->items[unpack_u64(&u)];
                size_t n;
                const void *bytes = unpack_blob(&u, &n);
                if (!(it->dcpl = h5vcat_schema_blob(s, bytes, n)))
                    st = h5vcat_no_memory(err);
            }
        }
        st = h5vcat_agree(m->comm, st, err);
    }
    free(all);
    free(sizes);
    free(p.bytes);
    return st;
}

/* What every rank must know of all: the first input with rows, agreement of chunks, limits, and row counts.
 */
static enum h5vec_status share_numbers(struct merge *m, const struct match *items, struct h5vec_error *err)
{
    struct schema *s = m->schema;
    int n = s->count;
    uint64_t *a = calloc((size_t)n, sizeof *a), *b = calloc((size_t)n, sizeof *b);
    uint8_t *agree = calloc((size_t)n, 1);
    enum h5vec_status st = h5vcat_agree(m->comm, a && b && agree ? H5VEC_OK : h5vcat_no_memory(err), err);
    if (!st) {
        for (int i = 0; i < n; i++)
            a[i] = items[i].first;
        MPI_Allreduce(MPI_IN_PLACE, a, n, MPI_INT64_T, MPI_MIN, m->comm);
        for (int i = 0; i < n; i++) /* the chunk of the first input; its several parts all say the same */
            b[i] = items[i].first == a[i] && a[i] != NOBODY ? items[i].chunk : 0;
        MPI_Allreduce(MPI_IN_PLACE, b, n, MPI_INT64_T, MPI_MAX, m->comm);
        for (int i = 0; i < n; i++) {
            struct item *it = &s->items[i];
            agree[i] = it->chunks_agree && (items[i].first == NOBODY || items[i].chunk == b[i]);
            it->first = (uint32_t)a[i];
            a[i] = it->unlimited;
            b[i] = it->max_rows;
        }
        MPI_Allreduce(MPI_IN_PLACE, agree, n, MPI_UINT8_T, MPI_MIN, m->comm);
        MPI_Allreduce(MPI_IN_PLACE, a, n, MPI_UINT64_T, MPI_BOR, m->comm);
        MPI_Allreduce(MPI_IN_PLACE, b, n, MPI_INT64_T, MPI_MAX, m->comm);
        for (int i = 0; i < n; i++) {
            s->items[i].chunks_agree = agree[i];
            s->items[i].unlimited = (uint32_t)a[i];
            s->items[i].max_rows = b[i];
            agree[i] = s->items[i].present;
        }
        MPI_Allreduce(MPI_IN_PLACE, agree, n, MPI_UINT8_T, MPI_MAX, m->comm);
        for (int i = 0; i < n; i++)
            s->items[i].present = agree[i];
    }
    free(a);
    free(b);
    free(agree);
    return st;
}

enum h5vec_status h5vcat_share_matches(struct merge *m, const struct match *items, struct h5vec_error *err)
{
    enum h5vec_status st = share_numbers(m, items, err);
    return st ? st : share_properties(m, items, err);
}

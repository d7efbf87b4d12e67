/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stored chunks come in the order of their rows. What lies between two of them is deflated from the array
 * when the second one comes.
 */
#include "join.h"
#include "error.h"

bool h5vcat_join_can(const struct pipeline *p)
{
    return p->count >= 1 && p->count <= 2 && p->filter[0].id == H5Z_FILTER_DEFLATE &&
           (p->count == 1 || p->filter[1].id == H5Z_FILTER_FLETCHER32);
}

static int level_of(const struct pipeline *p, enum h5vcat_encoder encoder)
{
    return encoder == H5VCAT_ENCODER_ZLIB ? (int)p->filter[0].value : p->level;
}

static void begin(struct join *j, const void *array)
{
    j->before = *h5vcat_splice_counted(j->splice);
    j->array = array;
    j->at = 0;
    j->runs = 0;
}

void h5vcat_join_begin(struct join *j, const struct pipeline *p, enum h5vcat_encoder encoder,
                       const void *array, void *out, size_t room)
{
    begin(j, array);
    j->out = out;
    h5vcat_splice_begin(j->splice, encoder, level_of(p, encoder), out, p->count > 1 ? room - 4 : room);
}

void h5vcat_join_begin_run(struct join *j, const struct pipeline *p, enum h5vcat_encoder encoder,
                           const void *array, void *out, size_t room)
{
    begin(j, array);
    h5vcat_splice_run_begin(j->splice, encoder, level_of(p, encoder), out, room);
}

struct h5vcat_splice_counts h5vcat_join_counts(const struct join *j)
{
    struct h5vcat_splice_counts n = *h5vcat_splice_counted(j->splice);
    n.copied -= j->before.copied;
    n.spliced -= j->before.spliced;
    n.encoded -= j->before.encoded;
    n.surplus -= j->before.surplus;
    return n;
}

/* The array's bytes up to `to`, unless they are in the splice. */
static enum h5vec_status catch_up(struct join *j, uint64_t to, struct h5vec_error *err)
{
    enum h5vec_status st = h5vcat_splice_raw(j->splice, j->array + j->at, (size_t)(to - j->at), err);
    if (!st)
        j->at = to;
    return st;
}

enum h5vec_status h5vcat_join_stored(struct join *j, const struct pipeline *p, unsigned mask,
                                     const void *stored, size_t size, void *raw, size_t raw_size, size_t from,
                                     size_t to, uint64_t at, bool *taken, struct h5vec_error *err)
{
    *taken = false;
    if (!h5vcat_join_can(p) || mask & 1)
        return H5VEC_OK;
    if (p->count > 1 && !(mask & 2)) {
        if (!h5vcat_fletcher32_matches(stored, size))
            return H5VEC_OK;
        size -= 4;
    }
    enum h5vec_status st = catch_up(j, at, err);
    if (st)
        return st;
    st = h5vcat_splice_stream(j->splice, stored, size, raw, raw_size, from, to, err);
    *taken = !st;
    j->at = st ? at : at + (to - from);
    return st == H5VEC_E_DATA ? H5VEC_OK : st;
}

enum h5vec_status h5vcat_join_run(struct join *j, const void *run, size_t size, uint32_t adler, size_t count,
                                  uint64_t at, struct h5vec_error *err)
{
    enum h5vec_status st = catch_up(j, at, err);
    if (st)
        return st;
    h5vcat_splice_run(j->splice, run, size, count, adler);
    j->runs++;
    j->at = at + count;
    return H5VEC_OK;
}

enum h5vec_status h5vcat_join_finish(struct join *j, const struct pipeline *p, uint64_t count, size_t *size,
                                     struct h5vec_error *err)
{
    *size = 0;
    struct h5vcat_splice_counts n = h5vcat_join_counts(j);
    if (n.copied + n.spliced == 0 && j->runs == 0)
        return H5VEC_OK;
    enum h5vec_status st = catch_up(j, count, err);
    if (!st)
        st = h5vcat_splice_finish(j->splice, size, err);
    if (!st && p->count > 1)
        *size = h5vcat_fletcher32_append(j->out, *size);
    return st == H5VEC_E_ARG ? H5VEC_OK : st;
}

enum h5vec_status h5vcat_join_finish_run(struct join *j, uint64_t count, size_t *size, uint32_t *adler,
                                         struct h5vec_error *err)
{
    struct h5vcat_splice_counts n = h5vcat_join_counts(j);
    *size = 0;
    if (n.copied + n.spliced == 0)
        return H5VEC_OK;
    enum h5vec_status st = catch_up(j, count, err);
    if (!st)
        st = h5vcat_splice_run_finish(j->splice, size, adler, err);
    return st == H5VEC_E_ARG ? H5VEC_OK : st;
}

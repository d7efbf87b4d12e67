/* SPDX-License-Identifier: BSD-3-Clause
 *
 * In rounds: a piece goes one rank down in each. So there are as many rounds as a record has ranks, most
 * often one. In a round ranks with an even number send first and receive then, those with an odd one the
 * other way round: no send waits for a receive that comes after another send.
 */
#include "pass.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "agree.h"
#include "error.h"

enum { TAG = 1 };

/* What goes before a piece. */
struct word {
    uint64_t size;
    uint32_t open;
    uint32_t there;
};

static enum h5vec_status append(char **to, size_t *held, size_t *room, const char *bytes, size_t size,
                                struct h5vec_error *err)
{
    if (size == 0)
        return H5VEC_OK;
    if (*held + size > *room) {
        size_t more = 2 * *room + size;
        char *grown = realloc(*to, more);
        if (!grown)
            return h5vcat_no_memory(err);
        *to = grown;
        *room = more;
    }
    memcpy(*to + *held, bytes, size);
    *held += size;
    return H5VEC_OK;
}

enum h5vec_status h5vcat_pass_append(struct torn *t, const char *bytes, size_t size, struct h5vec_error *err)
{
    size_t left = t->most - t->size;
    return append(&t->piece, &t->size, &t->room, bytes, size < left ? size : left, err);
}

static void send_down(MPI_Comm comm, int rank, const char *bytes, size_t size, size_t limit)
{
    for (size_t at = 0; at < size; at += limit) {
        size_t n = size - at < limit ? size - at : limit;
        MPI_Send(bytes + at, (int)n, MPI_BYTE, rank - 1, TAG, comm);
    }
}

static void receive_from_above(MPI_Comm comm, int rank, char *bytes, size_t size, size_t limit)
{
    for (size_t at = 0; at < size; at += limit) {
        size_t n = size - at < limit ? size - at : limit;
        MPI_Recv(bytes + at, (int)n, MPI_BYTE, rank + 1, TAG, comm, MPI_STATUS_IGNORE);
    }
}

/* Tell the rank below what it will get, and hear it from the rank above. */
static struct word exchange_words(MPI_Comm comm, int rank, int ranks, const struct torn *t)
{
    struct word down = {.size = t->size, .open = t->open, .there = t->gives}, up = {0};
    int below = rank > 0 ? rank - 1 : MPI_PROC_NULL, above = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    if (!t->gives)
        down.size = 0;
    MPI_Sendrecv(&down, (int)sizeof down, MPI_BYTE, below, TAG, &up, (int)sizeof up, MPI_BYTE, above, TAG,
                 comm, MPI_STATUS_IGNORE);
    return up;
}

/* One round; what came is in *got. */
static enum h5vec_status pass_once(MPI_Comm comm, struct torn *t, size_t limit, struct torn *got,
                                   struct h5vec_error *err)
{
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    struct word up = exchange_words(comm, rank, ranks, t);
    *got = (struct torn){.gives = up.there && t->takes, .open = up.open, .size = (size_t)up.size};
    got->piece = malloc(got->size + 1);
    got->room = got->size + 1;
    enum h5vec_status st = h5vcat_agree(comm, got->piece ? H5VEC_OK : h5vcat_no_memory(err), err);
    if (st)
        return st;
    size_t down = t->gives ? t->size : 0;
    if (rank % 2 == 0)
        send_down(comm, rank, t->piece, down, limit);
    receive_from_above(comm, rank, got->piece, got->size, limit);
    if (rank % 2 == 1)
        send_down(comm, rank, t->piece, down, limit);
    return H5VEC_OK;
}

enum h5vec_status h5vcat_pass_torn(MPI_Comm comm, struct torn *t, size_t limit, struct h5vec_error *err)
{
    bool through = t->gives && t->open; /* nothing that comes is this rank's */
    size_t room = 0;
    enum h5vec_status st = H5VEC_OK;
    int some = 1;
    while (!st && some) {
        struct torn got;
        st = pass_once(comm, t, limit, &got, err);
        if (!st && got.gives && !through)
            st = append(&t->tail, &t->tail_size, &room, got.piece,
                        got.size < t->most - t->tail_size ? got.size : t->most - t->tail_size, err);
        free(t->piece);
        t->piece = got.piece;
        t->size = got.size;
        t->room = got.room;
        t->takes = t->takes && got.gives && got.open;
        t->open = got.open;
        t->gives = through && got.gives;
        some = t->gives;
        st = h5vcat_agree(comm, st, err);
        MPI_Allreduce(MPI_IN_PLACE, &some, 1, MPI_INT, MPI_LOR, comm);
    }
    return st;
}

void h5vcat_pass_free(struct torn *t)
{
    free(t->piece);
    free(t->tail);
    t->piece = t->tail = NULL;
}

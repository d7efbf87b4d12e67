/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The blocks that wait are an array in order of address. A block in flight is out of the array: the thread
 * writes it without holding the lock, while new bytes for the same place begin a new block. They are written
 * later, since there is one thread, and a drain waits for it. A block whose write failed comes back, with the
 * newer bytes in it.
 *
 * The thread takes a block when a good part of it is there, when its first bytes are DELAY old, or when half
 * of the buffer waits; while it writes, the next bytes gather, so that a slow disk gets few large writes.
 * Sooner would not be better: metadata that changes again between bytes that are down takes writes of its
 * own, so a small file is down sooner in one write at its end.
 */
#include "H5FDh5vec_behind.h"

#include "H5FDh5vec_block.h"
#include "H5FDh5vec_io.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DELAY ((uint64_t)1000000000) /* nanoseconds */
enum { BLOCK_MIN = 4096, EXTENTS_MAX = 1 << 14, PART = 4 };

struct H5FD_h5vec_behind {
    int fd;
    size_t block_size, blocks_max, enough;    /* enough: bytes of a block that are worth writing at once */
    struct H5FD_h5vec_block **blocks, *spare; /* spare: not in use */
    size_t count;
    bool async, running, stop, hurry; /* hurry: the program waits for room */
    pthread_t thread;
    pid_t owner; /* the process that has the thread */
    pthread_mutex_t lock;
    pthread_cond_t work, done; /* something to write; a block is down */
    struct H5FD_h5vec_block *flight;
    int error; /* of the thread, which rests as long as it is set */
    bool told; /* a call has returned it */
};

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- The set of blocks: all with the lock held -------------------------------------------------------- */

/* The first block that ends behind addr. */
static size_t find(const struct H5FD_h5vec_behind *b, uint64_t addr)
{
    size_t low = 0, high = b->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (b->blocks[middle]->addr + b->block_size <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool holds(const struct H5FD_h5vec_behind *b, size_t at, uint64_t addr)
{
    return at < b->count && b->blocks[at]->addr <= addr;
}

static void insert(struct H5FD_h5vec_behind *b, size_t at, struct H5FD_h5vec_block *block)
{
    memmove(b->blocks + at + 1, b->blocks + at, (b->count - at) * sizeof(struct H5FD_h5vec_block *));
    b->blocks[at] = block;
    b->count++;
}

static struct H5FD_h5vec_block *take(struct H5FD_h5vec_behind *b, size_t at)
{
    struct H5FD_h5vec_block *block = b->blocks[at];
    b->count--;
    memmove(b->blocks + at, b->blocks + at + 1, (b->count - at) * sizeof(struct H5FD_h5vec_block *));
    return block;
}

static void recycle(struct H5FD_h5vec_behind *b, struct H5FD_h5vec_block *block)
{
    H5FD_h5vec_block_clean(block);
    if (b->spare)
        H5FD_h5vec_block_free(block);
    else
        b->spare = block;
}

static size_t oldest(const struct H5FD_h5vec_behind *b)
{
    size_t at = 0;
    for (size_t i = 1; i < b->count; i++)
        if (b->blocks[i]->since < b->blocks[at]->since)
            at = i;
    return at;
}

static void wait_for_flight(struct H5FD_h5vec_behind *b)
{
    while (b->flight)
        pthread_cond_wait(&b->done, &b->lock);
}

/* The thread's error, once. */
static int tell(struct H5FD_h5vec_behind *b)
{
    int error = b->told ? 0 : b->error;
    b->told = b->told || error;
    return error;
}

/* ---- The thread --------------------------------------------------------------------------------------- */

/* The block to write now, or b->count; *until is then when to look again, if the array is not empty. */
static size_t due(const struct H5FD_h5vec_behind *b, uint64_t *until)
{
    size_t at = oldest(b);
    if (b->error || b->count == 0)
        return b->count;
    for (size_t i = 0; i < b->count; i++)
        if (b->blocks[i]->dirty_size >= b->enough)
            return i;
    *until = b->blocks[at]->since + DELAY;
    return b->hurry || b->count > b->blocks_max / 2 || *until <= now() ? at : b->count;
}

/* The block in flight could not be written: it waits again, with what came in the meantime on top. */
static void bring_back(struct H5FD_h5vec_behind *b, struct H5FD_h5vec_block *old)
{
    size_t at = find(b, old->addr);
    if (!holds(b, at, old->addr)) {
        insert(b, at, old);
        return;
    }
    struct H5FD_h5vec_block *newer = take(b, at);
    int error = 0;
    for (size_t i = 0; i < newer->count && !error; i++)
        error = H5FD_h5vec_block_put(old, newer->dirty[i].begin, newer->dirty[i].end - newer->dirty[i].begin,
                                     newer->bytes + newer->dirty[i].begin);
    insert(b, at, old);
    recycle(b, newer);
}

static void fly(struct H5FD_h5vec_behind *b, size_t at)
{
    struct H5FD_h5vec_block *block = b->flight = take(b, at);
    pthread_mutex_unlock(&b->lock);
    int error = H5FD_h5vec_block_write(block, b->fd, 0, UINT64_MAX);
    pthread_mutex_lock(&b->lock);
    b->flight = NULL;
    if (error) {
        b->error = error;
        b->told = false;
        bring_back(b, block);
    } else {
        recycle(b, block);
    }
    pthread_cond_broadcast(&b->done);
}

static void *writer(void *behind)
{
    struct H5FD_h5vec_behind *b = behind;
    pthread_mutex_lock(&b->lock);
    while (!b->stop) {
        uint64_t until = 0;
        size_t at = due(b, &until);
        if (at < b->count) {
            fly(b, at);
        } else if (b->count > 0 && !b->error) {
            struct timespec t = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
            pthread_cond_timedwait(&b->work, &b->lock, &t);
        } else {
            pthread_cond_wait(&b->work, &b->lock);
        }
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* Signals are for the program's own threads. Without a thread the program writes itself. */
static void start(struct H5FD_h5vec_behind *b)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    b->running = pthread_create(&b->thread, NULL, writer, b) == 0;
    b->async = b->running;
    b->owner = getpid();
    b->enough = b->async ? b->enough : b->block_size;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- The program's side ------------------------------------------------------------------------------- */

static void init_lock(struct H5FD_h5vec_behind *b)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->work, &monotonic);
    pthread_cond_init(&b->done, NULL);
    pthread_condattr_destroy(&monotonic);
}

/* Take the lock. In a process that was forked the thread is missing, and nobody gives back what it had: from
 * there on the program writes itself. */
static void enter(struct H5FD_h5vec_behind *b)
{
    if (b->running && b->owner != getpid()) {
        struct H5FD_h5vec_block *flight = b->flight;
        init_lock(b);
        b->running = b->async = false;
        b->enough = b->block_size;
        b->flight = NULL;
        if (flight)
            bring_back(b, flight);
    }
    pthread_mutex_lock(&b->lock);
}

/* Write a block here and now, after whatever is in flight. It stays in the array, clean, or dirty on error.
 */
static int write_block(struct H5FD_h5vec_behind *b, struct H5FD_h5vec_block *block)
{
    wait_for_flight(b);
    int error = H5FD_h5vec_block_write(block, b->fd, 0, UINT64_MAX);
    if (!error)
        H5FD_h5vec_block_clean(block);
    return error;
}

/* Until the thread has written a block, if it can. (No thread: b->async is false then.) */
static int wait_for_thread(struct H5FD_h5vec_behind *b)
{
    if (!b->running)
        start(b);
    if (!b->running)
        return 0;
    b->hurry = true;
    pthread_cond_signal(&b->work);
    if (!b->error)
        pthread_cond_wait(&b->done, &b->lock);
    b->hurry = false;
    b->told = b->told || b->error;
    return b->error;
}

static bool full(const struct H5FD_h5vec_behind *b)
{
    return b->count + (b->flight != NULL) >= b->blocks_max;
}

static int make_room(struct H5FD_h5vec_behind *b)
{
    int error = 0;
    while (b->async && full(b) && !error)
        error = wait_for_thread(b);
    if (b->async || !full(b))
        return error;
    size_t at = oldest(b);
    error = write_block(b, b->blocks[at]);
    if (!error)
        recycle(b, take(b, at));
    return error;
}

/* A new block, not yet in the array; *block is NULL when memory is out. */
static int obtain(struct H5FD_h5vec_behind *b, uint64_t addr, struct H5FD_h5vec_block **block)
{
    int error = make_room(b);
    if (error)
        return error;
    *block = b->spare ? b->spare : H5FD_h5vec_block_new(b->block_size);
    b->spare = NULL;
    if (*block) {
        (*block)->addr = addr / b->block_size * b->block_size;
        (*block)->since = now();
    }
    return 0;
}

/* Bytes for which there is no memory. */
static int write_through(struct H5FD_h5vec_behind *b, uint64_t addr, size_t size, const void *bytes)
{
    wait_for_flight(b);
    return H5FD_h5vec_io_write(b->fd, bytes, size, addr);
}

/* The block for addr, with room for one more extent; *at is b->count when there is no memory for it. */
static int prepare(struct H5FD_h5vec_behind *b, uint64_t addr, size_t *at)
{
    struct H5FD_h5vec_block *block = NULL;
    int error = 0;
    while (!error && holds(b, *at = find(b, addr), addr)) {
        if (b->blocks[*at]->count < EXTENTS_MAX)
            return 0;
        error = b->async ? wait_for_thread(b) : write_block(b, b->blocks[*at]);
    }
    error = error ? error : obtain(b, addr, &block); /* may change the array */
    *at = b->count;
    if (block) {
        insert(b, *at = find(b, addr), block);
        pthread_cond_signal(&b->work);
    }
    return error;
}

static int put(struct H5FD_h5vec_behind *b, uint64_t addr, size_t size, const void *bytes)
{
    size_t at;
    int error = prepare(b, addr, &at);
    if (error || at == b->count)
        return error ? error : write_through(b, addr, size, bytes);
    struct H5FD_h5vec_block *block = b->blocks[at];
    error = H5FD_h5vec_block_put(block, (size_t)(addr - block->addr), size, bytes);
    if (b->async && !b->running && (block->dirty_size >= b->enough || b->count > b->blocks_max / 2))
        start(b);
    if (error || block->dirty_size < b->enough)
        return error;
    if (b->async) {
        pthread_cond_signal(&b->work);
        return 0;
    }
    error = write_block(b, block);
    if (!error)
        recycle(b, take(b, at));
    return error;
}

static bool waits(const struct H5FD_h5vec_behind *b, uint64_t addr, size_t size)
{
    size_t at = find(b, addr);
    return at < b->count && b->blocks[at]->addr < addr + size;
}

int H5FD_h5vec_behind_write(struct H5FD_h5vec_behind *b, uint64_t addr, size_t size, const void *bytes)
{
    const unsigned char *from = bytes;
    enter(b);
    int error = tell(b);
    if (!error && !b->async && size >= b->block_size / PART && !waits(b, addr, size)) {
        error = write_through(b, addr, size, bytes);
        size = 0;
    }
    while (!error && size > 0) {
        size_t room = b->block_size - (size_t)(addr % b->block_size), n = size < room ? size : room;
        error = put(b, addr, n, from);
        addr += n;
        from += n;
        size -= n;
    }
    pthread_mutex_unlock(&b->lock);
    return error;
}

int H5FD_h5vec_behind_read(struct H5FD_h5vec_behind *b, uint64_t addr, size_t size, void *buffer)
{
    enter(b); /* so that no block is down, and gone, between the two */
    int error = H5FD_h5vec_io_read(b->fd, buffer, size, addr);
    if (!error && b->flight)
        H5FD_h5vec_block_overlay(b->flight, addr, size, buffer);
    for (size_t i = find(b, addr); !error && i < b->count && b->blocks[i]->addr < addr + size; i++)
        H5FD_h5vec_block_overlay(b->blocks[i], addr, size, buffer);
    pthread_mutex_unlock(&b->lock);
    return error;
}

int H5FD_h5vec_behind_drain(struct H5FD_h5vec_behind *b, uint64_t kept)
{
    enter(b);
    wait_for_flight(b);
    int error = 0, earlier = tell(b);
    for (size_t i = 0; i < b->count && !error; i++)
        error = H5FD_h5vec_block_write(b->blocks[i], b->fd, kept, UINT64_MAX);
    for (size_t i = 0; i < b->count && !error; i++)
        error = H5FD_h5vec_block_write(b->blocks[i], b->fd, 0, kept);
    while (!error && b->count > 0)
        recycle(b, take(b, b->count - 1));
    b->error = error ? b->error : 0;
    pthread_mutex_unlock(&b->lock);
    return earlier ? earlier : error;
}

/* ---- Life --------------------------------------------------------------------------------------------- */

struct H5FD_h5vec_behind *H5FD_h5vec_behind_new(int fd, uint64_t block, uint64_t buffer, bool async)
{
    struct H5FD_h5vec_behind *b = calloc(1, sizeof *b);
    uint64_t most = async ? buffer / 2 : buffer; /* one waits while the other is in flight */
    block = block > most ? most : block;
    block = block < BLOCK_MIN ? BLOCK_MIN : block;
    uint64_t max = buffer / block, least = async ? 2 : 1;
    max = max < least ? least : max;
    if (!b || block > SIZE_MAX || max > SIZE_MAX / sizeof(struct H5FD_h5vec_block *) ||
        !(b->blocks = malloc((size_t)max * sizeof(struct H5FD_h5vec_block *)))) {
        free(b);
        return NULL;
    }
    b->fd = fd;
    b->block_size = (size_t)block;
    b->blocks_max = (size_t)max;
    b->async = async;
    b->enough = async ? b->block_size / PART : b->block_size;
    init_lock(b);
    return b;
}

int H5FD_h5vec_behind_free(struct H5FD_h5vec_behind *b)
{
    if (!b)
        return 0;
    enter(b);
    b->stop = true;
    pthread_cond_signal(&b->work);
    pthread_mutex_unlock(&b->lock);
    if (b->running)
        pthread_join(b->thread, NULL);
    int error = tell(b);
    while (b->count > 0)
        H5FD_h5vec_block_free(take(b, b->count - 1));
    H5FD_h5vec_block_free(b->spare);
    pthread_mutex_destroy(&b->lock);
    pthread_cond_destroy(&b->work);
    pthread_cond_destroy(&b->done);
    free(b->blocks);
    free(b);
    return error;
}

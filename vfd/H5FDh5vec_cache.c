/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cache is made of pages of one size at multiples of it, so that no byte is there twice. They are found
 * through a hash table and forgotten in the order of their last use. What is loaded at once is a run of pages
 * that are not there.
 *
 * How long a run is: HDF5 asks for single headers and nodes, which may lie side by side or scattered among
 * raw data, and comes back to each region in the order of names. Fixed blocks are right for one or the other
 * only. So what is read is searched for addresses of more metadata (H5FDh5vec_hints.c), and a run goes on, in
 * both directions, while there is more within the gap. Where nothing is known, runs are small and double
 * while reading goes on behind the last ones.
 */
#include "H5FDh5vec_cache.h"

#include "H5FDh5vec_hints.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAGE = H5FD_H5VEC_PAGE,
    KNOWN_MIN = 4096 / PAGE,   /* pages of a run from known metadata on, */
    UNKNOWN_MIN = 8192 / PAGE, /* and from anything else */
    RUN_MAX = (1 << 20) / PAGE,
    TRACKS = 4,       /* places where reading may go on */
    SLAB_PAGES = 64,  /* memory is taken for so many pages at a time */
    BUCKETS = 1 << 10 /* at first */
};

struct page {
    uint64_t number; /* it holds [number * PAGE, (number + 1) * PAGE) */
    struct page *chain, *older, *newer;
    unsigned char bytes[PAGE];
};

struct slab {
    struct slab *next;
    struct page pages[];
};

struct track {
    uint64_t end, pages; /* behind a run of so many pages */
};

struct run {
    uint64_t first, end;
};

struct H5FD_h5vec_cache {
    struct H5FD_h5vec_cache_config config;
    uint64_t limit, pages; /* how many there may be, and are */
    struct page ages;      /* a ring: its newer is the oldest page, its older the newest */
    size_t buckets;        /* a power of two */
    struct page **table;
    uint64_t made;      /* pages in slabs: in the table, */
    struct page *spare; /* or in this chain */
    struct slab *slabs;
    uint64_t base, end;
    struct H5FD_h5vec_hints hints;
    struct track tracks[TRACKS];
    unsigned next_track;
    unsigned char *staging; /* what is loaded, before it becomes pages */
    size_t staging_size;
};

struct H5FD_h5vec_cache *H5FD_h5vec_cache_new(const struct H5FD_h5vec_cache_config *config)
{
    struct H5FD_h5vec_cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        return NULL;
    cache->config = *config;
    cache->limit = config->capacity / PAGE;
    cache->ages.older = cache->ages.newer = &cache->ages;
    cache->buckets = BUCKETS;
    if ((cache->table = calloc(cache->buckets, sizeof(struct page *))))
        return cache;
    free(cache);
    return NULL;
}

static struct page **bucket(const struct H5FD_h5vec_cache *cache, uint64_t number)
{
    return &cache->table[(number ^ number >> 17) & (cache->buckets - 1)];
}

static struct page *find(const struct H5FD_h5vec_cache *cache, uint64_t number)
{
    struct page *page = *bucket(cache, number);
    while (page && page->number != number)
        page = page->chain;
    return page;
}

static void unlink_age(struct page *page)
{
    page->older->newer = page->newer;
    page->newer->older = page->older;
}

static void make_newest(struct H5FD_h5vec_cache *cache, struct page *page)
{
    page->older = cache->ages.older;
    page->newer = &cache->ages;
    page->older->newer = page->newer->older = page;
}

/* Take a page out; its memory is the caller's. */
static struct page *take(struct H5FD_h5vec_cache *cache, struct page *page)
{
    struct page **link = bucket(cache, page->number);
    while (*link != page)
        link = &(*link)->chain;
    *link = page->chain;
    unlink_age(page);
    cache->pages--;
    return page;
}

static void recycle(struct H5FD_h5vec_cache *cache, struct page *page)
{
    page->chain = cache->spare;
    cache->spare = page;
}

/* Memory for a page: new, or the oldest page's; NULL if there is neither. */
static struct page *obtain(struct H5FD_h5vec_cache *cache)
{
    uint64_t left = cache->limit - cache->made, count = left < SLAB_PAGES ? left : SLAB_PAGES;
    struct slab *slab = NULL;
    if (!cache->spare && count > 0)
        slab = malloc(sizeof *slab + (size_t)count * sizeof(struct page));
    if (slab) {
        slab->next = cache->slabs;
        cache->slabs = slab;
        cache->made += count;
        while (count > 0)
            recycle(cache, &slab->pages[--count]);
    }
    struct page *page = cache->spare;
    if (page)
        cache->spare = page->chain;
    else if (cache->pages > 0)
        page = take(cache, cache->ages.newer);
    return page;
}

/* A bucket for each page, while there is memory for that. */
static void grow_table(struct H5FD_h5vec_cache *cache)
{
    size_t before = cache->buckets;
    struct page **old = cache->table, **table = calloc(4 * before, sizeof(struct page *));
    if (!table)
        return;
    cache->table = table;
    cache->buckets = 4 * before;
    for (size_t i = 0; i < before; i++)
        for (struct page *page = old[i], *next; page; page = next) {
            struct page **link = bucket(cache, page->number);
            next = page->chain;
            page->chain = *link;
            *link = page;
        }
    free(old);
}

/* Put a page in that is not there, in place of the oldest if need be. No memory: nothing happens. */
static void put(struct H5FD_h5vec_cache *cache, uint64_t number, const unsigned char *bytes)
{
    struct page *page = obtain(cache);
    if (!page)
        return;
    if (cache->pages >= cache->buckets)
        grow_table(cache);
    struct page **link = bucket(cache, number);
    page->number = number;
    page->chain = *link;
    *link = page;
    memcpy(page->bytes, bytes, PAGE);
    make_newest(cache, page);
    cache->pages++;
}

void H5FD_h5vec_cache_free(struct H5FD_h5vec_cache *cache)
{
    if (!cache)
        return;
    for (struct slab *slab = cache->slabs, *next; slab; slab = next) {
        next = slab->next;
        free(slab);
    }
    H5FD_h5vec_hints_clear(&cache->hints);
    free(cache->staging);
    free(cache->table);
    free(cache);
}

void H5FD_h5vec_cache_bounds(struct H5FD_h5vec_cache *cache, uint64_t base, uint64_t end)
{
    cache->base = base;
    cache->end = end;
}

/* How many pages to read where nothing is known: twice as many as last time, if this is right behind. */
static uint64_t follow(struct H5FD_h5vec_cache *cache, uint64_t number)
{
    for (unsigned i = 0; i < TRACKS; i++) {
        struct track *track = &cache->tracks[i];
        if (track->pages == 0 || number < track->end || number - track->end > UNKNOWN_MIN)
            continue;
        uint64_t pages = 2 * track->pages;
        track->pages = 0;
        return pages < RUN_MAX ? pages : RUN_MAX;
    }
    return UNKNOWN_MIN;
}

/* The adaptive run around [number, end). */
static struct run adapt(struct H5FD_h5vec_cache *cache, uint64_t number, uint64_t end)
{
    bool known = H5FD_h5vec_hints_has(&cache->hints, number);
    uint64_t pages = known ? KNOWN_MIN : follow(cache, number), gap = cache->config.gap / PAGE;
    struct run run = {number, number + pages > end ? number + pages : end};
    for (uint64_t i = run.end; i - run.end < gap && i - number < RUN_MAX; i++)
        if (H5FD_h5vec_hints_has(&cache->hints, i))
            run.end = i + 1;
    for (uint64_t i = number; i > 0 && run.first - i < gap && number - i < RUN_MAX; i--)
        if (H5FD_h5vec_hints_has(&cache->hints, i - 1))
            run.first = i - 1;
    return run;
}

/* What to load when [number, end) is not there: perhaps more, but nothing that is, and at most half of what
 * the cache holds (the caller asks for no more). */
static struct run choose(struct H5FD_h5vec_cache *cache, uint64_t number, uint64_t end)
{
    uint64_t block = (cache->config.block + PAGE - 1) / PAGE, most = cache->limit / 2;
    struct run run, wish;
    if (block > 0)
        wish = (struct run){number - number % block, (end + block - 1) / block * block};
    else
        wish = adapt(cache, number, end);
    uint64_t file = cache->end / PAGE + (cache->end % PAGE != 0);
    wish.end = wish.end < file ? wish.end : file;
    for (run.end = end; run.end < wish.end && run.end - number < most && !find(cache, run.end);)
        run.end++;
    for (run.first = number; run.first > wish.first && run.end - run.first < most;) {
        if (find(cache, run.first - 1))
            break;
        run.first--;
    }
    return run;
}

static bool make_staging(struct H5FD_h5vec_cache *cache, size_t size)
{
    if (size <= cache->staging_size)
        return true;
    free(cache->staging);
    cache->staging = malloc(size);
    cache->staging_size = cache->staging ? size : 0;
    return cache->staging != NULL;
}

/* Try to get [number, end) and what else is worth it. */
static void fetch(struct H5FD_h5vec_cache *cache, uint64_t number, uint64_t end)
{
    struct run run = choose(cache, number, end);
    size_t size = (size_t)(run.end - run.first) * PAGE;
    if (!make_staging(cache, size) ||
        cache->config.load(cache->config.context, run.first * PAGE, size, cache->staging) != 0)
        return;
    for (uint64_t i = run.first; i < run.end; i++)
        put(cache, i, cache->staging + (i - run.first) * PAGE);
    if (cache->config.block > 0)
        return;
    H5FD_h5vec_hints_learn(&cache->hints, cache->staging, size, cache->base, cache->end);
    cache->tracks[cache->next_track++ % TRACKS] = (struct track){run.end, run.end - run.first};
}

/* Copy as much of [addr, addr + size) as is there from its start on; returns how much. */
static size_t copy_cached(struct H5FD_h5vec_cache *cache, uint64_t addr, size_t size, unsigned char *buffer)
{
    size_t done = 0;
    while (done < size) {
        struct page *page = find(cache, (addr + done) / PAGE);
        size_t offset = (size_t)((addr + done) % PAGE), n = PAGE - offset;
        if (!page)
            break;
        n = n < size - done ? n : size - done;
        memcpy(buffer + done, page->bytes + offset, n);
        unlink_age(page);
        make_newest(cache, page);
        done += n;
    }
    return done;
}

int H5FD_h5vec_cache_read(struct H5FD_h5vec_cache *cache, uint64_t addr, size_t size, void *buffer)
{
    unsigned char *to = buffer;
    for (;;) {
        size_t n = copy_cached(cache, addr, size, to);
        to += n, addr += n, size -= n;
        if (size == 0)
            return 0;
        uint64_t number = addr / PAGE, last = (addr + size - 1) / PAGE, end = number + 1;
        while (end <= last && !find(cache, end))
            end++;
        if (end - number <= cache->limit / 2)
            fetch(cache, number, end);
        if (find(cache, number))
            continue;
        uint64_t missing = end * PAGE - addr;
        n = missing < size ? (size_t)missing : size;
        int error = cache->config.load(cache->config.context, addr, n, to);
        if (error)
            return error;
        to += n, addr += n, size -= n;
    }
}

void H5FD_h5vec_cache_write(struct H5FD_h5vec_cache *cache, uint64_t addr, size_t size, const void *bytes)
{
    const unsigned char *from = bytes;
    for (size_t done = 0, n; done < size; done += n) {
        struct page *page = find(cache, (addr + done) / PAGE);
        size_t offset = (size_t)((addr + done) % PAGE);
        n = PAGE - offset < size - done ? PAGE - offset : size - done;
        if (page)
            memcpy(page->bytes + offset, from + done, n);
    }
}

void H5FD_h5vec_cache_drop(struct H5FD_h5vec_cache *cache, uint64_t addr, uint64_t size)
{
    uint64_t last = size > UINT64_MAX - addr ? UINT64_MAX : addr + size - 1;
    if (size == 0)
        return;
    for (struct page *page = cache->ages.newer, *newer; page != &cache->ages; page = newer) {
        newer = page->newer;
        if (page->number >= addr / PAGE && page->number <= last / PAGE)
            recycle(cache, take(cache, page));
    }
}

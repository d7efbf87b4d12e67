/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the coordinates are. WKB's structure is walked from geometry to geometry; where the bytes do not
 * begin with one (a chunk that starts inside a geometry), or the walk meets something else, the next place is
 * looked for where geometries follow each other, or closed rings do. What lies before it is taken as the rest
 * of a run of points. A wrong guess costs size, never a byte: the decoder repeats the walk from the same
 * headers and counts.
 */
#include "vcodec_transform_internal.h"

#define MAX_SECTIONS 1024
#define PLAUSIBLE_COUNT (1u << 28)
#define CHAIN 4        /* geometries in a row that convince */
#define CHAIN_RINGS 64 /* rings of a polygon that convince */
#define SAMPLES 128    /* words looked at to find out how points are aligned */

struct scan {
    struct vcodec_transform *t;
    const uint8_t *raw;
    size_t size;
    struct vcodec_form *f;
    uint64_t runs[4], points[4]; /* of each dimension */
    bool no_memory;
};

/* ---- What is found ----------------------------------------------------------------------------------- */

/* Room for one more element behind n; grows by half. */
static bool grow(struct scan *s, struct vcodec_buffer *b, uint64_t n, size_t element)
{
    size_t need = (size_t)(n + 1) * element;
    if (need <= b->room)
        return true;
    s->no_memory = s->no_memory || !vcodec_reserve(b, need + need / 2 + 4096);
    return !s->no_memory;
}

static void put_head(struct scan *s, unsigned type, unsigned dim)
{
    if (grow(s, &s->t->heads, s->f->heads, 1))
        ((uint8_t *)s->t->heads.data)[s->f->heads++] = (uint8_t)(type | dim << 3);
}

static void put_count(struct scan *s, struct vcodec_buffer *b, uint64_t *n, uint32_t count)
{
    if (grow(s, b, *n, sizeof count))
        ((uint32_t *)b->data)[(*n)++] = count;
}

static size_t point_bytes(unsigned dim)
{
    return vcodec_ordinates((enum vcodec_dim)dim) * sizeof(double);
}

static void put_run(struct scan *s, size_t at, uint64_t points, bool ring, unsigned dim)
{
    size_t bytes = point_bytes(dim);
    if (points == 0 || !grow(s, &s->t->runs, s->t->run_count, sizeof(struct vcodec_run)))
        return;
    ring = ring && points >= 2;
    if (ring && memcmp(s->raw + at, s->raw + at + (points - 1) * bytes, bytes) != 0)
        s->f->closed = false;
    ((struct vcodec_run *)s->t->runs.data)[s->t->run_count++] = (struct vcodec_run){
        .offset = at, .points = points & ((UINT64_C(1) << 61) - 1), .ring = ring, .dim = dim & 3};
    s->runs[dim]++;
    s->points[dim] += points;
}

static void put_section(struct scan *s, struct vcodec_section section)
{
    if (grow(s, &s->t->sections, s->f->sections, sizeof section))
        ((struct vcodec_section *)s->t->sections.data)[s->f->sections++] = section;
    s->f->kept += section.kept;
}

/* ---- The walk ---------------------------------------------------------------------------------------- */

/* The points of a line or ring of which count are announced: all, or (*cut) those that the bytes hold. */
static size_t walk_points(struct scan *s, size_t at, uint32_t count, bool ring, unsigned dim, bool *cut)
{
    size_t bytes = point_bytes(dim), fit = (s->size - at) / bytes;
    *cut = count > fit;
    put_count(s, &s->t->counts, &s->f->counts, count);
    put_run(s, at, *cut ? fit : count, ring && !*cut, dim);
    return at + (*cut ? fit : count) * bytes;
}

/* Walk from at, where `rings` rings of dimension dim are outstanding, as far as there is WKB. Returns the
 * end. */
static size_t walk(struct scan *s, size_t at, uint64_t rings, unsigned dim)
{
    const uint8_t *raw = s->raw;
    bool cut = false;
    while (!cut && !s->no_memory) {
        size_t left = s->size - at;
        unsigned type;
        if (rings) {
            if (left < 4)
                break;
            at = walk_points(s, at + 4, vcodec_load32(raw + at), true, dim, &cut);
            rings--;
            continue;
        }
        if (left < 9 || raw[at] != 1 || !vcodec_iso_code(vcodec_load32(raw + at + 1), &type, &dim))
            break;
        if (type == VCODEC_POINT && left < 5 + point_bytes(dim))
            break;
        put_head(s, type, dim);
        at += 5;
        if (type == VCODEC_POINT) {
            put_run(s, at, 1, false, dim);
            at += point_bytes(dim);
        } else if (type == VCODEC_LINESTRING) {
            at = walk_points(s, at + 4, vcodec_load32(raw + at), false, dim, &cut);
        } else {
            uint32_t members = vcodec_load32(raw + at);
            put_count(s, &s->t->members, &s->f->members, members);
            at += 4;
            rings = type == VCODEC_POLYGON ? members : 0;
        }
    }
    return at;
}

/* ---- Finding a place to begin -------------------------------------------------------------------------- */

/* Past count points at at; false if they do not fit. */
static bool skip_points(const struct scan *s, size_t *at, uint32_t count, unsigned dim)
{
    if (count > (s->size - *at) / point_bytes(dim))
        return false;
    *at += count * point_bytes(dim);
    return true;
}

/* Past one geometry's own bytes. *end: the bytes end in it, plausibly. */
static bool skip_geometry(const struct scan *s, size_t *at, unsigned *dim, bool *end)
{
    unsigned type;
    if (s->size - *at < 9 || s->raw[*at] != 1 ||
        !vcodec_iso_code(vcodec_load32(s->raw + *at + 1), &type, dim))
        return false;
    uint32_t count = vcodec_load32(s->raw + *at + 5);
    *at += type == VCODEC_POINT ? 5 : 9;
    if (type == VCODEC_POINT) /* one that is cut is no place to begin: the walk does not take it */
        return skip_points(s, at, 1, *dim);
    if (count > PLAUSIBLE_COUNT)
        return false;
    if (type == VCODEC_LINESTRING)
        *end = !skip_points(s, at, count, *dim);
    for (uint32_t i = 0; type == VCODEC_POLYGON && i < count && !*end; i++) {
        if (i == CHAIN_RINGS || s->size - *at < 4) {
            *end = true;
            break;
        }
        uint32_t points = vcodec_load32(s->raw + *at);
        *at += 4;
        if (points > PLAUSIBLE_COUNT)
            return false;
        *end = !skip_points(s, at, points, *dim);
    }
    return true;
}

/* Do `enough` geometries or all that is left follow each other from at? *dim: of the first. */
static bool geometries_at(const struct scan *s, size_t at, unsigned enough, unsigned *dim)
{
    bool end = false;
    unsigned n = 0, other;
    while (n < CHAIN && !end && at < s->size && skip_geometry(s, &at, n ? &other : dim, &end))
        n++;
    return n > 0 && (n >= enough || end || at == s->size);
}

/* Does a ring that ends where it begins lie at at? */
static bool ring_at(const struct scan *s, size_t at, unsigned dim)
{
    if (s->size - at < 4)
        return false;
    uint32_t n = vcodec_load32(s->raw + at);
    size_t bytes = point_bytes(dim);
    if (n < 3 || n > (s->size - at - 4) / bytes)
        return false;
    const uint8_t *first = s->raw + at + 4;
    return memcmp(first, first + (n - 1) * bytes, bytes) == 0 && memcmp(first, first + bytes, bytes) != 0;
}

/* Rings in a row from at, the last of which may be cut by the end of the bytes. */
static uint64_t count_rings(const struct scan *s, size_t at, unsigned dim)
{
    uint64_t n = 0;
    unsigned other;
    while (ring_at(s, at, dim)) {
        at += 4 + vcodec_load32(s->raw + at) * point_bytes(dim);
        n++;
    }
    if (s->size - at < 4 || geometries_at(s, at, 1, &other))
        return n;
    uint32_t count = vcodec_load32(s->raw + at);
    return count < PLAUSIBLE_COUNT && count > (s->size - at - 4) / point_bytes(dim) ? n + 1 : n;
}

/* The next place at or behind from where the walk can begin, in *section's dim and rings; s->size if none. */
static size_t find_begin(const struct scan *s, size_t from, struct vcodec_section *section)
{
    unsigned dim = 0;
    if (geometries_at(s, from, 1, &dim)) {
        section->dim = dim;
        return from;
    }
    /* A header's fourth byte, or the top byte of a ring's count, is 0. */
    for (size_t at = from; s->size - at >= 9; at++) {
        const uint8_t *zero = memchr(s->raw + at + 3, 0, s->size - at - 3);
        if (!zero)
            break;
        at = (size_t)(zero - s->raw) - 3;
        bool found = s->raw[at] == 1 && geometries_at(s, at, 2, &dim);
        section->rings = 0;
        for (unsigned d = VCODEC_XY; d <= VCODEC_XYZM && !found; d += d == VCODEC_XY ? 1 : 2) {
            found = ring_at(s, at, d);
            dim = d;
            section->rings = found ? count_rings(s, at, d) : 0;
        }
        section->dim = dim;
        if (found)
            return at;
    }
    section->rings = 0;
    return s->size;
}

/* How many of the sampled words at..end have the sign and exponent of the word `apart` words on, and one of
 * a number of usual size. */
static unsigned alike(const struct scan *s, size_t at, size_t end, size_t apart)
{
    size_t words = (end - at) / 8 - apart, step = words / SAMPLES + 1;
    unsigned n = 0;
    for (size_t i = 0; i < words; i += step) {
        uint64_t a = vcodec_load64(s->raw + at + 8 * i), b = vcodec_load64(s->raw + at + 8 * (i + apart));
        unsigned exponent = (unsigned)(a >> 56 & 0x7f);
        n += a >> 52 == b >> 52 && exponent >= 0x3e && exponent <= 0x43;
    }
    return n;
}

/* No place to begin is known: if from..size looks like points only, the section's kept bytes, dim and
 * points. */
static void guess_run(const struct scan *s, size_t from, struct vcodec_section *section)
{
    static const enum vcodec_dim dims[] = {VCODEC_XY, VCODEC_XYZ, VCODEC_XYZM};
    unsigned best = SAMPLES / 3;
    if (s->size - from < (size_t)16 * SAMPLES)
        return;
    for (size_t d = 0; d < sizeof dims / sizeof *dims; d++)
        for (size_t shift = 0; shift < 8; shift++) {
            unsigned n = alike(s, from + shift, s->size, vcodec_ordinates(dims[d]));
            if (n <= best + (section->points ? SAMPLES / 16 : 0))
                continue;
            best = n;
            *section = (struct vcodec_section){
                .kept = shift, .dim = dims[d], .points = (s->size - from - shift) / point_bytes(dims[d])};
        }
}

/* ---- Sections ---------------------------------------------------------------------------------------- */

/* One section from at; returns its end. */
static size_t put_next(struct scan *s, size_t at)
{
    struct vcodec_section section = {0};
    size_t begin = find_begin(s, at, &section);
    if (begin == s->size)
        guess_run(s, at, &section);
    else
        section.points = (begin - at) / point_bytes((unsigned)section.dim);
    size_t bytes = point_bytes((unsigned)section.dim);
    if (begin < s->size)
        section.kept = (begin - at) % bytes;
    else if (section.points == 0)
        section.kept = s->size - at;
    size_t run = at + section.kept, end = run + section.points * bytes;
    put_run(s, run, section.points, false, (unsigned)section.dim);
    if (begin < s->size)
        end = walk(s, begin, section.rings, (unsigned)section.dim);
    section.length = end - run;
    put_section(s, section);
    return end;
}

bool vcodec_scan(struct vcodec_transform *t, const uint8_t *raw, size_t size, struct vcodec_form *f)
{
    struct scan s = {.t = t, .raw = raw, .size = size, .f = f};
    t->run_count = 0;
    f->closed = true;
    size_t at = 0;
    while (at < size && f->sections < MAX_SECTIONS && !s.no_memory)
        at = put_next(&s, at);
    if (at < size)
        put_section(&s, (struct vcodec_section){.kept = size - at});
    for (unsigned dim = 0; dim < 4; dim++)
        for (unsigned k = 0; k < vcodec_ordinates((enum vcodec_dim)dim); k++) {
            struct vcodec_ordinate *o = &f->ordinate[vcodec_ordinate_index(dim, k)];
            o->starts += s.runs[dim];
            o->rest += s.points[dim] - s.runs[dim];
        }
    return !s.no_memory;
}

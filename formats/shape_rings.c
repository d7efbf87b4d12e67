/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which rings of a polygon shape are holes, and of which others. A shapefile says so by orientation alone:
 * outer rings go clockwise, holes the other way round. A hole belongs to the smallest outer ring that it lies
 * in. Coordinates are compared as they are, so touching rings come out right where they share vertices.
 */
#include "shapefile.h"

#include <stdlib.h>

/* Comparisons of one shape, a few seconds' worth: a quarter of a million holes in as many outer rings would
 * take minutes. */
#define MAX_WORK (UINT64_C(1) << 32)

struct nesting {
    struct h5vec_format_rings *rings;
    const SHPObject *shape;
    uint64_t work;
};

static void measure(struct h5vec_format_ring *ring, const SHPObject *shape)
{
    const double *x = shape->padfX + ring->first, *y = shape->padfY + ring->first;
    ring->area = 0;
    ring->box = vcodec_box_empty();
    for (int i = 0, last = ring->count - 1; i < ring->count; last = i++) {
        /* Relative to the first vertex: far from the origin the products would round the area away. */
        ring->area += (x[last] - x[0]) * (y[i] - y[0]) - (x[i] - x[0]) * (y[last] - y[0]);
        ring->box = vcodec_box_union(ring->box, (struct vcodec_box){x[i], y[i], x[i], y[i]});
    }
}

enum side { OUTSIDE, INSIDE, ON };

/* Where a point is to a ring: the crossings of the ray to its right, which are even in number outside. */
static enum side side_of(const SHPObject *shape, const struct h5vec_format_ring *ring, double px, double py)
{
    const double *x = shape->padfX + ring->first, *y = shape->padfY + ring->first;
    bool inside = false;
    for (int i = 0, last = ring->count - 1; i < ring->count; last = i++) {
        double x1 = x[last], y1 = y[last], x2 = x[i], y2 = y[i];
        double cross = (x2 - x1) * (py - y1) - (px - x1) * (y2 - y1);
        bool spans_x = px >= (x1 < x2 ? x1 : x2) && px <= (x1 < x2 ? x2 : x1);
        bool spans_y = py >= (y1 < y2 ? y1 : y2) && py <= (y1 < y2 ? y2 : y1);
        if (cross == 0 && spans_x && spans_y)
            return ON;
        if ((y1 > py) != (y2 > py) && (cross > 0) == (y2 > y1))
            inside = !inside;
    }
    return inside ? INSIDE : OUTSIDE;
}

/* The first vertex of the hole that is not on the outer ring decides; if all are, the middles of its edges
 * do. */
static bool lies_in(struct nesting *nesting, const struct h5vec_format_ring *hole,
                    const struct h5vec_format_ring *outer)
{
    const double *x = nesting->shape->padfX + hole->first, *y = nesting->shape->padfY + hole->first;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i + pass < hole->count && nesting->work < MAX_WORK; i++) {
            double px = pass ? x[i] + (x[i + 1] - x[i]) / 2 : x[i];
            double py = pass ? y[i] + (y[i + 1] - y[i]) / 2 : y[i];
            nesting->work += (uint64_t)outer->count;
            enum side side = side_of(nesting->shape, outer, px, py);
            if (side != ON)
                return side == INSIDE;
        }
    return true;
}

static bool holds(const struct vcodec_box *a, const struct vcodec_box *b)
{
    return a->xmin <= b->xmin && a->xmax >= b->xmax && a->ymin <= b->ymin && a->ymax >= b->ymax;
}

/* Outer rings are in order of xmin: those from order[n] on begin right of the hole. */
static void place(struct nesting *nesting, size_t index, size_t outers)
{
    struct h5vec_format_rings *rings = nesting->rings;
    struct h5vec_format_ring *hole = &rings->ring[index], *best = NULL;
    for (size_t i = 0; i < outers && nesting->work < MAX_WORK; i++) {
        struct h5vec_format_ring *outer = &rings->ring[rings->order[i]];
        nesting->work++;
        if (outer->box.xmin > hole->box.xmin)
            break;
        /* Areas of clockwise rings are negative: the smaller ring has the larger number. */
        if (holds(&outer->box, &hole->box) && (!best || outer->area > best->area) &&
            lies_in(nesting, hole, outer)) {
            best = outer;
            hole->outer = (int)rings->order[i];
        }
    }
}

static int by_xmin(const void *a, const void *b, void *context)
{
    const struct h5vec_format_ring *ring = context;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    double x = ring[i].box.xmin, y = ring[j].box.xmin;
    return x < y ? -1 : x > y ? 1 : i < j ? -1 : i > j;
}

/* An outer ring, then its holes. */
static int by_polygon(const void *a, const void *b, void *context)
{
    const struct h5vec_format_ring *ring = context;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    if (ring[i].outer != ring[j].outer)
        return ring[i].outer < ring[j].outer ? -1 : 1;
    bool hole_i = ring[i].outer != (int)i, hole_j = ring[j].outer != (int)j;
    if (hole_i != hole_j)
        return hole_i ? 1 : -1;
    return i < j ? -1 : i > j;
}

bool h5vec_format_rings_nest(struct h5vec_format_rings *rings, const SHPObject *shape)
{
    struct nesting nesting = {rings, shape, 0};
    size_t outers = 0;
    for (size_t i = 0; i < rings->count; i++) {
        measure(&rings->ring[i], shape);
        rings->ring[i].outer = (int)i;
        if (rings->ring[i].area < 0)
            rings->order[outers++] = i;
    }
    if (outers > 1)
        qsort_r(rings->order, outers, sizeof *rings->order, by_xmin, rings->ring);
    for (size_t i = 0; i < rings->count; i++)
        if (!(rings->ring[i].area < 0))
            place(&nesting, i, outers);
    for (size_t i = 0; i < rings->count; i++)
        rings->order[i] = i;
    if (rings->count > 1)
        qsort_r(rings->order, rings->count, sizeof *rings->order, by_polygon, rings->ring);
    return nesting.work < MAX_WORK;
}

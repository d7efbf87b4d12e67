/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What follows from the leaves of a tree: its levels, its nodes, and before that the order of the leaves.
 * Rounding outward commutes with union, so a level is made from the rounded level below it as well as from
 * the leaves.
 */
#include "h5vec_layer_rtree.h"

#include <float.h>
#include <math.h>

unsigned h5vec_layer_rtree_levels(uint64_t n, int64_t levels[H5VEC_LAYER_RTREE_LEVELS + 1])
{
    unsigned count = 0;
    levels[0] = 0;
    while (n > 0 && (count == 0 || n > 1)) {
        n = n / H5VEC_LAYER_RTREE_NODE + (n % H5VEC_LAYER_RTREE_NODE != 0);
        levels[count + 1] = levels[count] + (int64_t)n;
        count++;
    }
    return count;
}

/* The largest float32 that is not larger than v. The conversion of C is to the nearest, and undefined beyond
 * the range. */
static float round_down(double v)
{
    if (v > FLT_MAX)
        return v < INFINITY ? FLT_MAX : INFINITY;
    if (v < -FLT_MAX)
        return -INFINITY;
    float nearest = (float)v;
    return (double)nearest > v ? nextafterf(nearest, -INFINITY) : nearest;
}

static float smaller(float a, float b)
{
    return b < a ? b : a;
}

static float larger(float a, float b)
{
    return b > a ? b : a;
}

static const struct h5vec_layer_node nothing = {INFINITY, INFINITY, -INFINITY, -INFINITY};

static struct h5vec_layer_node unite(struct h5vec_layer_node a, struct h5vec_layer_node b)
{
    return (struct h5vec_layer_node){smaller(a.xmin, b.xmin), smaller(a.ymin, b.ymin), larger(a.xmax, b.xmax),
                                     larger(a.ymax, b.ymax)};
}

void h5vec_layer_rtree_pack(const struct vcodec_box *leaves, size_t n, struct h5vec_layer_node *nodes)
{
    for (size_t i = 0; i < n; i += H5VEC_LAYER_RTREE_NODE) {
        struct vcodec_box box = vcodec_box_empty();
        for (size_t k = i; k < n && k < i + H5VEC_LAYER_RTREE_NODE; k++)
            box = vcodec_box_union(box, leaves[k]);
        nodes[i / H5VEC_LAYER_RTREE_NODE] = (struct h5vec_layer_node){
            round_down(box.xmin), round_down(box.ymin), -round_down(-box.xmax), -round_down(-box.ymax)};
    }
}

void h5vec_layer_rtree_join(const struct h5vec_layer_node *below, size_t n, struct h5vec_layer_node *nodes)
{
    for (size_t i = 0; i < n; i += H5VEC_LAYER_RTREE_NODE) {
        struct h5vec_layer_node node = nothing;
        for (size_t k = i; k < n && k < i + H5VEC_LAYER_RTREE_NODE; k++)
            node = unite(node, below[k]);
        nodes[i / H5VEC_LAYER_RTREE_NODE] = node;
    }
}

static bool is_finite(struct vcodec_box box)
{
    return isfinite(box.xmin) && isfinite(box.ymin) && isfinite(box.xmax) && isfinite(box.ymax);
}

bool h5vec_layer_order_key(struct vcodec_box box, struct vcodec_box extent, uint64_t *key)
{
    if (!is_finite(box))
        return false;
    *key = vcodec_hilbert(box.xmin / 2 + box.xmax / 2, box.ymin / 2 + box.ymax / 2, extent);
    return true;
}

struct vcodec_box h5vec_layer_order_extent(struct vcodec_box extent, struct vcodec_box box)
{
    return is_finite(box) ? vcodec_box_union(extent, box) : extent;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What needs no encoding: boxes, the Hilbert key, and the names of the types.
 */
#include "vcodec_internal.h"

#include <math.h>

struct vcodec_box vcodec_box_empty(void)
{
    return (struct vcodec_box){INFINITY, INFINITY, -INFINITY, -INFINITY};
}

struct vcodec_box vcodec_box_union(struct vcodec_box a, struct vcodec_box b)
{
    return (struct vcodec_box){
        .xmin = b.xmin < a.xmin ? b.xmin : a.xmin,
        .ymin = b.ymin < a.ymin ? b.ymin : a.ymin,
        .xmax = b.xmax > a.xmax ? b.xmax : a.xmax,
        .ymax = b.ymax > a.ymax ? b.ymax : a.ymax,
    };
}

/* floor((v - lo) / (hi - lo) * 2^32), kept within 0 .. 2^32 - 1; every comparison is false for NaN. */
static uint32_t cell(double v, double lo, double hi)
{
    double extent = hi - lo;
    if (!(extent > 0))
        return 0;
    double scaled = (v - lo) / extent * 0x1p32;
    if (!(scaled > 0))
        return 0;
    return scaled >= 0x1p32 ? UINT32_MAX : (uint32_t)scaled;
}

/* From the highest bit down, each pair of bits (x, y) is a quadrant of the square that is left. The curve
 * visits quadrants in the order (0,0) (0,1) (1,1) (1,0) in state 0; the other states are that order
 * transposed (bit 0) and turned by 180 degrees (bit 1), as the square they are in was entered. */
uint64_t vcodec_hilbert(double x, double y, struct vcodec_box box)
{
    static const uint8_t rank[4][4] = {{0, 1, 3, 2}, {0, 3, 1, 2}, {2, 3, 1, 0}, {2, 1, 3, 0}};
    static const uint8_t next[4][4] = {{1, 0, 3, 0}, {0, 2, 1, 1}, {2, 1, 2, 3}, {3, 3, 0, 2}};
    uint32_t cx = cell(x, box.xmin, box.xmax);
    uint32_t cy = cell(y, box.ymin, box.ymax);
    uint64_t key = 0;
    unsigned state = 0;
    for (int bit = 31; bit >= 0; bit--) {
        unsigned quadrant = (cx >> bit & 1) << 1 | (cy >> bit & 1);
        key = key << 2 | rank[state][quadrant];
        state = next[state][quadrant];
    }
    return key;
}

const char *vcodec_code_name(uint32_t code)
{
    static const char *const names[] = {
        NULL,
        "Point",
        "LineString",
        "Polygon",
        "MultiPoint",
        "MultiLineString",
        "MultiPolygon",
        "GeometryCollection",
        "CircularString",
        "CompoundCurve",
        "CurvePolygon",
        "MultiCurve",
        "MultiSurface",
        "Curve",
        "Surface",
        "PolyhedralSurface",
        "TIN",
        "Triangle",
    };
    return code < sizeof names / sizeof *names ? names[code] : NULL;
}

const char *vcodec_type_name(enum vcodec_type type)
{
    return type >= VCODEC_POINT && type <= VCODEC_GEOMETRYCOLLECTION ? vcodec_code_name(type) : "Unknown";
}

const char *vcodec_dim_name(enum vcodec_dim dim)
{
    static const char *const names[] = {"XY", "XYZ", "XYM", "XYZM"};
    return names[dim];
}

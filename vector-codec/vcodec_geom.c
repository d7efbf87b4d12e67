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
    return vcodec_is_type(type) ? vcodec_code_name(type) : "Unknown";
}

bool vcodec_may_hold(enum vcodec_type collection, enum vcodec_type member)
{
    bool simple = member == VCODEC_LINESTRING || member == VCODEC_CIRCULARSTRING;
    switch (collection) {
    case VCODEC_GEOMETRYCOLLECTION:
        return true;
    case VCODEC_COMPOUNDCURVE:
        return simple;
    case VCODEC_CURVEPOLYGON:
    case VCODEC_MULTICURVE:
        return simple || member == VCODEC_COMPOUNDCURVE;
    case VCODEC_MULTISURFACE:
        return member == VCODEC_POLYGON || member == VCODEC_CURVEPOLYGON;
    case VCODEC_POLYHEDRALSURFACE:
        return member == VCODEC_POLYGON;
    case VCODEC_TIN:
        return member == VCODEC_TRIANGLE;
    default:
        return (int)member == (int)collection - 3;
    }
}

uint64_t vcodec_type_bit(enum vcodec_type type, enum vcodec_dim dim)
{
    unsigned n = type <= VCODEC_GEOMETRYCOLLECTION ? type - 1u
                 : type <= VCODEC_MULTISURFACE     ? type - VCODEC_CIRCULARSTRING + 32u
                                                   : type - VCODEC_POLYHEDRALSURFACE + 37u;
    return UINT64_C(1) << (n + 8u * dim);
}

bool vcodec_type_of_bit(unsigned bit, enum vcodec_type *type, enum vcodec_dim *dim)
{
    unsigned n = bit % 8;
    *dim = (enum vcodec_dim)(bit / 8 % 4);
    if (bit < 32)
        *type = (enum vcodec_type)(n + 1);
    else
        *type = (enum vcodec_type)(n < 5 ? n + VCODEC_CIRCULARSTRING : n - 5 + VCODEC_POLYHEDRALSURFACE);
    return bit < 64 && (bit >= 32 || n < 7);
}

const char *vcodec_dim_name(enum vcodec_dim dim)
{
    static const char *const names[] = {"XY", "XYZ", "XYM", "XYZM"};
    return names[dim];
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sink: parts of a geometry in, canonical WKB and its info out. Both decoders end here, so that what
 * counts as a vertex, as empty or as invalid is decided once. Points arrive as the little-endian bytes that
 * also leave.
 */
#include "vcodec_internal.h"

#include <math.h>

const struct vcodec_visitor vcodec_sink_visitor = {
    .geometry = vcodec_sink_geometry,
    .ring = vcodec_sink_ring,
    .points = vcodec_sink_points,
    .end_ring = vcodec_sink_end_ring,
    .end_geometry = vcodec_sink_end_geometry,
};

void vcodec_sink_init(struct vcodec_sink *sink, uint8_t *out, size_t capacity)
{
    *sink = (struct vcodec_sink){.out = out, .capacity = capacity};
    sink->info.box = vcodec_box_empty();
}

static uint8_t *room(struct vcodec_sink *sink, size_t n)
{
    bool fits = sink->size <= sink->capacity && sink->capacity - sink->size >= n;
    uint8_t *at = fits ? sink->out + sink->size : NULL;
    sink->size += n;
    return at;
}

static void put32(struct vcodec_sink *sink, uint32_t v)
{
    uint8_t *at = room(sink, sizeof v);
    if (at)
        vcodec_store32(at, v);
}

void vcodec_sink_set_count(struct vcodec_sink *sink, size_t end, uint32_t count)
{
    if (end <= sink->capacity)
        vcodec_store32(sink->out + end - sizeof count, count);
}

static void put_empty_point(struct vcodec_sink *sink)
{
    for (size_t i = 0; i < sink->ordinates; i++) {
        uint8_t *at = room(sink, sizeof(double));
        if (at)
            vcodec_store64(at, UINT64_C(0x7ff8000000000000));
    }
}

void vcodec_sink_geometry(void *self, enum vcodec_type type, enum vcodec_dim dim, uint32_t count)
{
    struct vcodec_sink *sink = self;
    if (!sink->started) {
        sink->started = true;
        sink->info.type = type;
        sink->info.dim = dim;
        sink->ordinates = vcodec_ordinates(dim);
    }
    uint8_t *at = room(sink, VCODEC_WKB_HEADER);
    if (at) {
        at[0] = 1;
        vcodec_store32(at + 1, (uint32_t)type + 1000 * (uint32_t)dim);
    }
    sink->run = 0;
    if (type != VCODEC_POINT)
        put32(sink, count);
    else if (count == 0)
        put_empty_point(sink);
}

void vcodec_sink_ring(void *self, uint32_t count)
{
    struct vcodec_sink *sink = self;
    sink->run = 0;
    put32(sink, count);
}

/* v - v is 0 for a finite v and NaN else, so the sum of many says whether all were finite. */
struct measure {
    struct vcodec_box box;
    double trace;
};

static inline void measure_point(struct measure *m, const uint8_t *p)
{
    double x = vcodec_load_double(p);
    double y = vcodec_load_double(p + sizeof x);
    /* In this order a comparison with NaN keeps what is there, and each is one instruction (minsd, maxsd). */
    m->box.xmin = x < m->box.xmin ? x : m->box.xmin;
    m->box.ymin = y < m->box.ymin ? y : m->box.ymin;
    m->box.xmax = x > m->box.xmax ? x : m->box.xmax;
    m->box.ymax = y > m->box.ymax ? y : m->box.ymax;
    m->trace += (x - x) + (y - y);
}

/* Two measures at a time, as each waits for the result of its last point. */
static void measure_xy(struct measure *m, const uint8_t *p, size_t n)
{
    const size_t stride = 2 * sizeof(double);
    if (n >= 2) {
        struct measure a = *m, b = {vcodec_box_empty(), 0};
        for (; n >= 2; n -= 2, p += 2 * stride) {
            measure_point(&a, p);
            measure_point(&b, p + stride);
        }
        *m = (struct measure){vcodec_box_union(a.box, b.box), a.trace + b.trace};
    }
    if (n)
        measure_point(m, p);
}

static void measure_more(struct measure *m, const uint8_t *p, size_t n, size_t ordinates)
{
    for (size_t i = 0; i < n; i++, p += ordinates * sizeof(double)) {
        measure_point(m, p);
        for (size_t k = 2; k < ordinates; k++) {
            double v = vcodec_load_double(p + k * sizeof v);
            m->trace += v - v;
        }
    }
}

static void load_xy(double xy[2], const uint8_t *p)
{
    xy[0] = vcodec_load_double(p);
    xy[1] = vcodec_load_double(p + sizeof(double));
}

void vcodec_sink_points(void *self, const uint8_t *points, size_t n)
{
    struct vcodec_sink *sink = self;
    if (n == 0)
        return;
    size_t stride = sink->ordinates * sizeof(double);
    struct measure m = {sink->info.box, 0};
    if (sink->ordinates == 2)
        measure_xy(&m, points, n);
    else
        measure_more(&m, points, n, sink->ordinates);
    sink->info.box = m.box;
    sink->info.nonfinite |= isnan(m.trace) != 0;
    sink->info.vertices += n;
    if (sink->run == 0)
        load_xy(sink->first, points);
    load_xy(sink->last, points + (n - 1) * stride);
    sink->run += n;
    uint8_t *at = room(sink, n * stride);
    if (at && at != points)
        memcpy(at, points, n * stride);
}

void vcodec_sink_end_ring(void *self)
{
    struct vcodec_sink *sink = self;
    bool closed = sink->first[0] == sink->last[0] && sink->first[1] == sink->last[1];
    if (sink->run != 0 && (sink->run < 4 || !closed))
        sink->info.invalid = true;
}

void vcodec_sink_end_geometry(void *self, enum vcodec_type type)
{
    struct vcodec_sink *sink = self;
    if ((type == VCODEC_LINESTRING || type == VCODEC_CIRCULARSTRING) && sink->run == 1)
        sink->info.invalid = true;
}

void vcodec_sink_finish(struct vcodec_sink *sink, struct vcodec_info *info)
{
    const struct vcodec_box *box = &sink->info.box;
    sink->info.empty = !(box->xmin <= box->xmax) && !(box->ymin <= box->ymax);
    sink->info.wkb_size = sink->size;
    *info = sink->info;
}

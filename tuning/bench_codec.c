/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How fast vector-codec is, and how much faster than GEOS: one core, data in memory.
 *
 *     tests/tools/gen_geo.py --out D --lakes 60000 --roads 120000 --points 200000
 *     bench_codec D/lakes.wkt D/roads.wkt D/points.wkt
 *
 * Takes files of one geometry a line, "id TAB WKT TAB tags" or just WKT. Before anything is timed, each WKT's
 * WKB is compared with GEOS's, and its own WKT read back. Each line of output is a JSON object: median, least
 * and most seconds of the runs after a warm-up, and MB/s (10^6 bytes of the input) by the median. CPU time is
 * measured, so that other programs on the machine disturb less.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "vcodec.h"
#ifdef H5VEC_HAVE_GEOS
#include <geos_c.h>
#endif

#define RUNS 7

struct input {
    const char *name;
    char *text; /* the file */
    size_t count;
    const char **wkt; /* of each geometry, in text, followed by a NUL */
    size_t *wkt_size, wkt_total, wkt_longest;
    uint8_t *wkb; /* all of them */
    size_t *wkb_at, wkb_total;
};

static void die(const char *name, const char *what)
{
    fprintf(stderr, "bench_codec: %s: %s\n", name, what);
    exit(1);
}

static void *allocate(size_t size)
{
    void *p = malloc(size ? size : 1);
    if (!p)
        die("memory", "not enough");
    return p;
}

static char *load(const char *name, size_t *size)
{
    FILE *f = fopen(name, "rb");
    if (!f || fseek(f, 0, SEEK_END))
        die(name, "cannot be read");
    *size = (size_t)ftell(f);
    rewind(f);
    char *text = allocate(*size + 1);
    if (fread(text, 1, *size, f) != *size)
        die(name, "cannot be read");
    fclose(f);
    text[*size] = '\0';
    return text;
}

static void split(struct input *in, size_t size)
{
    size_t lines = 0;
    for (size_t i = 0; i < size; i++)
        lines += in->text[i] == '\n';
    in->wkt = allocate(lines * sizeof *in->wkt);
    in->wkt_size = allocate(lines * sizeof *in->wkt_size);
    in->wkb_at = allocate((lines + 1) * sizeof *in->wkb_at);
    for (char *line = in->text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        char *tab = strchr(line, '\t'), *wkt = tab ? tab + 1 : line;
        size_t n = strcspn(wkt, "\t");
        wkt[n] = '\0';
        in->wkt[in->count] = wkt;
        in->wkt_size[in->count++] = n;
        in->wkt_total += n;
        in->wkt_longest = n > in->wkt_longest ? n : in->wkt_longest;
    }
}

/* What is timed; each returns a number that depends on all of its work. */

static size_t wkt_read(struct input *in)
{
    size_t at = 0, room = vcodec_wkt_bound(in->wkt_total);
    for (size_t i = 0; i < in->count; i++) {
        struct vcodec_info info;
        struct h5vec_error err;
        in->wkb_at[i] = at;
        if (vcodec_wkt_read(in->wkt[i], in->wkt_size[i], 0, in->wkb + at, room - at, &info, &err))
            die(in->name, err.msg);
        at += info.wkb_size;
    }
    in->wkb_at[in->count] = at;
    return in->wkb_total = at;
}

static size_t wkb_scan(struct input *in)
{
    size_t vertices = 0;
    for (size_t i = 0; i < in->count; i++) {
        struct vcodec_info info;
        struct h5vec_error err;
        if (vcodec_wkb_scan(in->wkb + in->wkb_at[i], in->wkb_at[i + 1] - in->wkb_at[i], &info, &err))
            die(in->name, err.msg);
        vertices += info.vertices;
    }
    return vertices;
}

static size_t wkt_write(struct input *in)
{
    static char *out;
    static size_t room;
    if (room < 2 * in->wkt_longest) {
        free(out);
        out = allocate(room = 2 * in->wkt_longest);
    }
    size_t total = 0;
    for (size_t i = 0; i < in->count; i++) {
        size_t length;
        struct h5vec_error err;
        if (vcodec_wkt_write(in->wkb + in->wkb_at[i], in->wkb_at[i + 1] - in->wkb_at[i], out, room, &length,
                             &err))
            die(in->name, err.msg);
        total += length;
    }
    return total;
}

static size_t wkb_touch(struct input *in)
{
    uint64_t sum = 0;
    for (size_t i = 0; i + 8 <= in->wkb_total; i += 8) {
        uint64_t v;
        memcpy(&v, in->wkb + i, sizeof v);
        sum ^= v;
    }
    return (size_t)sum;
}

static void verify(struct input *in)
{
    char *text = allocate(2 * in->wkt_longest);
    uint8_t *wkb = allocate(vcodec_wkt_bound(2 * in->wkt_longest));
    for (size_t i = 0; i < in->count; i++) {
        size_t length, size = in->wkb_at[i + 1] - in->wkb_at[i];
        struct vcodec_info info;
        const uint8_t *expected = in->wkb + in->wkb_at[i];
        if (vcodec_wkt_write(expected, size, text, 2 * in->wkt_longest, &length, NULL) ||
            vcodec_wkt_read(text, length, 0, wkb, size, &info, NULL) || info.wkb_size != size ||
            memcmp(wkb, expected, size) != 0)
            die(in->name, "a geometry's text does not read back to it");
    }
    free(wkb);
    free(text);
}

#ifdef H5VEC_HAVE_GEOS
static GEOSContextHandle_t geos;

static size_t geos_wkt_read(struct input *in)
{
    GEOSWKTReader *reader = GEOSWKTReader_create_r(geos);
    size_t read = 0;
    for (size_t i = 0; i < in->count; i++) {
        GEOSGeometry *g = GEOSWKTReader_read_r(geos, reader, in->wkt[i]);
        read += g != NULL;
        GEOSGeom_destroy_r(geos, g);
    }
    GEOSWKTReader_destroy_r(geos, reader);
    return read;
}

static void verify_with_geos(struct input *in)
{
    GEOSWKTReader *reader = GEOSWKTReader_create_r(geos);
    GEOSWKBWriter *writer = GEOSWKBWriter_create_r(geos);
    GEOSWKBWriter_setByteOrder_r(geos, writer, GEOS_WKB_NDR);
    for (size_t i = 0; i < in->count; i++) {
        size_t size = 0;
        GEOSGeometry *g = GEOSWKTReader_read_r(geos, reader, in->wkt[i]);
        unsigned char *wkb = g ? GEOSWKBWriter_write_r(geos, writer, g, &size) : NULL;
        if (!wkb || size != in->wkb_at[i + 1] - in->wkb_at[i] ||
            memcmp(wkb, in->wkb + in->wkb_at[i], size) != 0)
            die(in->name, "GEOS reads another geometry");
        GEOSFree_r(geos, wkb);
        GEOSGeom_destroy_r(geos, g);
    }
    GEOSWKBWriter_destroy_r(geos, writer);
    GEOSWKTReader_destroy_r(geos, reader);
}
#endif

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the median. */
static double run(struct input *in, const char *what, size_t (*work)(struct input *), size_t bytes)
{
    double seconds[RUNS];
    size_t expected = work(in);
    for (int i = 0; i < RUNS; i++) {
        double start = cpu_seconds();
        if (work(in) != expected)
            die(what, "two runs differ");
        seconds[i] = cpu_seconds() - start;
    }
    qsort(seconds, RUNS, sizeof *seconds, compare);
    printf("{\"what\": \"%s\", \"file\": \"%s\", \"geometries\": %zu, \"bytes\": %zu, \"median_s\": %.6f, "
           "\"min_s\": %.6f, \"max_s\": %.6f, \"MB_per_s\": %.1f}\n",
           what, in->name, in->count, bytes, seconds[RUNS / 2], seconds[0], seconds[RUNS - 1],
           (double)bytes / 1e6 / seconds[RUNS / 2]);
    return seconds[RUNS / 2];
}

static void bench(const char *name)
{
    const char *slash = strrchr(name, '/');
    struct input in = {.name = slash ? slash + 1 : name};
    size_t size;
    in.text = load(name, &size);
    split(&in, size);
    in.wkb = allocate(vcodec_wkt_bound(in.wkt_total));
    wkt_read(&in);
    verify(&in);
    double ours = run(&in, "wkt_read", wkt_read, in.wkt_total);
    run(&in, "wkt_write", wkt_write, wkt_write(&in));
    run(&in, "wkb_scan", wkb_scan, in.wkb_total);
    run(&in, "wkb_touch", wkb_touch, in.wkb_total); /* all bytes xored: the memory's speed */
#ifdef H5VEC_HAVE_GEOS
    verify_with_geos(&in);
    double its = run(&in, "geos_wkt_read", geos_wkt_read, in.wkt_total);
    printf("{\"what\": \"wkt_read to geos_wkt_read\", \"file\": \"%s\", \"ratio\": %.2f}\n", in.name,
           its / ours);
#else
    (void)ours;
#endif
    free(in.wkb);
    free(in.wkb_at);
    free(in.wkt_size);
    free(in.wkt);
    free(in.text);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        die("usage", "bench_codec FILE.wkt...");
#ifdef H5VEC_HAVE_GEOS
    geos = GEOS_init_r();
#endif
    for (int i = 1; i < argc; i++)
        bench(argv[i]);
#ifdef H5VEC_HAVE_GEOS
    GEOS_finish_r(geos);
#endif
    return 0;
}

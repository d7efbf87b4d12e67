/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How small the coordinate transform and deflate make WKB, and how fast the transform is: one core, data in
 * memory, chunk by chunk as HDF5 would hand them out.
 *
 *     tests/tools/gen_geo.py --out D
 *     bench_transform [--chunk=BYTES] D/lakes.wkb D/roads.wkb D/points.wkb
 *
 * Takes files of WKB without framing; beside X.wkb, X.off may hold the offsets (int64). Each chunk is decoded
 * and compared before anything is timed. Each line of output is a JSON object: ratios with zlib at level 6 of
 * the plain bytes and of the transformed ones; "with_offsets" counts packed offsets (shuffled, zlib 6) into
 * the packed size, not into the raw one. Seconds are CPU time, the median and the least of the runs; MB are
 * 10^6 raw bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>
#include "vcodec_transform.h"

#define RUNS 9

struct input {
    const char *name;
    uint8_t *raw, *encoded, *decoded;
    size_t size, chunk, count;
    size_t *encoded_size;
    struct vcodec_transform *t;
};

static void die(const char *name, const char *what)
{
    fprintf(stderr, "bench_transform: %s: %s\n", name, what);
    exit(1);
}

static void *allocate(size_t size)
{
    void *p = malloc(size ? size : 1);
    if (!p)
        die("memory", "not enough");
    return p;
}

/* NULL if the file is not there. */
static uint8_t *load(const char *name, size_t *size)
{
    FILE *f = fopen(name, "rb");
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    uint8_t *bytes = allocate(*size);
    if (fread(bytes, 1, *size, f) != *size)
        die(name, "cannot be read");
    fclose(f);
    return bytes;
}

static size_t length(const struct input *in, size_t i)
{
    size_t left = in->size - i * in->chunk;
    return left < in->chunk ? left : in->chunk;
}

static void encode(struct input *in)
{
    for (size_t i = 0; i < in->count; i++)
        if (vcodec_transform_encode(in->t, in->raw + i * in->chunk, length(in, i),
                                    in->encoded + i * vcodec_transform_bound(in->chunk), &in->encoded_size[i],
                                    NULL))
            die(in->name, "encoding failed");
}

static void decode(struct input *in)
{
    for (size_t i = 0; i < in->count; i++)
        if (vcodec_transform_decode(in->t, in->encoded + i * vcodec_transform_bound(in->chunk),
                                    in->encoded_size[i], in->decoded + i * in->chunk, length(in, i), NULL))
            die(in->name, "decoding failed");
}

static size_t packed(const uint8_t *bytes, size_t size)
{
    uLongf out_size = compressBound(size);
    uint8_t *out = allocate(out_size);
    if (compress2(out, &out_size, bytes, size, 6) != Z_OK)
        die("zlib", "compression failed");
    free(out);
    return out_size;
}

static size_t packed_offsets(const char *name)
{
    size_t size, sum = 0, chunk = (size_t)1 << 20, n = strlen(name);
    char *other = allocate(n + 5);
    snprintf(other, n + 5, "%.*s.off", (int)(n > 4 ? n - 4 : n), name);
    uint8_t *offsets = load(other, &size);
    uint8_t *shuffled = allocate(chunk);
    for (size_t at = 0; offsets && at < size; at += chunk) {
        size_t m = (size - at < chunk ? size - at : chunk) / 8;
        for (size_t i = 0; i < m; i++)
            for (size_t w = 0; w < 8; w++)
                shuffled[w * m + i] = offsets[at + 8 * i + w];
        sum += packed(shuffled, 8 * m);
    }
    free(shuffled);
    free(offsets);
    free(other);
    return sum;
}

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

static void measure(struct input *in, const char *what, void (*work)(struct input *))
{
    double seconds[RUNS];
    work(in);
    for (int i = 0; i < RUNS; i++) {
        double start = cpu_seconds();
        work(in);
        seconds[i] = cpu_seconds() - start;
    }
    qsort(seconds, RUNS, sizeof *seconds, compare);
    printf("{\"what\": \"%s\", \"file\": \"%s\", \"median_MB_per_s\": %.0f, \"best_MB_per_s\": %.0f}\n", what,
           in->name, (double)in->size / 1e6 / seconds[RUNS / 2], (double)in->size / 1e6 / seconds[0]);
}

static void bench(const char *path, size_t chunk)
{
    const char *slash = strrchr(path, '/');
    struct input in = {.name = slash ? slash + 1 : path, .chunk = chunk};
    in.raw = load(path, &in.size);
    if (!in.raw || in.size == 0 || vcodec_transform_new(&in.t, NULL))
        die(path, "cannot be read");
    in.count = (in.size + chunk - 1) / chunk;
    in.encoded = allocate(in.count * vcodec_transform_bound(chunk));
    in.decoded = allocate(in.size);
    in.encoded_size = allocate(in.count * sizeof *in.encoded_size);
    encode(&in);
    decode(&in);
    if (memcmp(in.raw, in.decoded, in.size) != 0)
        die(path, "other bytes came back");
    size_t plain = 0, coded = 0, sum = 0, offsets = packed_offsets(path);
    for (size_t i = 0; i < in.count; i++) {
        plain += packed(in.raw + i * chunk, length(&in, i));
        coded += packed(in.encoded + i * vcodec_transform_bound(chunk), in.encoded_size[i]);
        sum += in.encoded_size[i];
    }
    printf("{\"what\": \"ratio\", \"file\": \"%s\", \"bytes\": %zu, \"chunk\": %zu, \"deflate\": %.3f, "
           "\"transform\": %.3f, \"transform_deflate\": %.3f, \"with_offsets\": %.3f}\n",
           in.name, in.size, chunk, (double)in.size / (double)plain, (double)in.size / (double)sum,
           (double)in.size / (double)coded, (double)in.size / (double)(coded + offsets));
    measure(&in, "encode", encode);
    measure(&in, "decode", decode);
    vcodec_transform_free(in.t);
    free(in.encoded_size);
    free(in.decoded);
    free(in.encoded);
    free(in.raw);
}

int main(int argc, char **argv)
{
    size_t chunk = (size_t)1 << 20;
    if (argc > 1 && strncmp(argv[1], "--chunk=", 8) == 0) {
        chunk = (size_t)strtoull(argv[1] + 8, NULL, 10);
        argv++;
        argc--;
    }
    if (argc < 2 || chunk == 0)
        die("usage", "bench_transform [--chunk=BYTES] FILE.wkb...");
    for (int i = 1; i < argc; i++)
        bench(argv[i], chunk);
    return 0;
}

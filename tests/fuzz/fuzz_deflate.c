/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as a zlib stream: the scanner accepts what zlib's inflate accepts, gives the same bytes, and what
 * is joined from parts of it is a stream that zlib reads back. A second trial mends the header and the
 * checksum, to get behind those checks.
 */
#include "fuzz.h"
#include <zlib.h>
#include "deflate_scan.h"
#include "h5vcat_splice.h"

#define MOST (1 << 16)

/* Whether zlib finds a whole stream of at most MOST bytes, *n of them. */
static int zlib_reads(const uint8_t *stream, size_t size, int bits, uint8_t *raw, size_t *n, size_t *used)
{
    z_stream z = {
        .next_in = (Bytef *)(uintptr_t)stream, .avail_in = (uInt)size, .next_out = raw, .avail_out = MOST};
    MUST(inflateInit2(&z, bits) == Z_OK);
    int code = inflate(&z, Z_FINISH);
    *n = MOST - z.avail_out;
    *used = size - z.avail_in;
    inflateEnd(&z);
    return code == Z_STREAM_END;
}

/* Both parts of the stream, cut at `cut`, give the whole again. */
static void join(const uint8_t *stream, size_t size, const uint8_t *raw, size_t n, size_t cut)
{
    struct h5vcat_splice *s;
    size_t room = 2 * size + 2 * n + 4096, made, back, used;
    uint8_t *out = exactly(room), *work = exactly(n), *again = exactly(MOST);
    MUST(h5vcat_splice_new(&s, NULL) == H5VEC_OK);
    h5vcat_splice_begin(s, H5VCAT_ENCODER_LIBDEFLATE, 1, out, room);
    MUST(h5vcat_splice_stream(s, stream, size, work, n, 0, cut, NULL) == H5VEC_OK);
    MUST(h5vcat_splice_stream(s, stream, size, work, n, cut, n, NULL) == H5VEC_OK);
    MUST(h5vcat_splice_finish(s, &made, NULL) == H5VEC_OK);
    MUST(zlib_reads(out, made, 15, again, &back, &used) && back == n && used == made &&
         memcmp(again, raw, n) == 0);
    h5vcat_splice_free(s);
    free(again);
    free(work);
    free(out);
}

static void compare(const uint8_t *data, size_t size)
{
    struct deflate_scanner *s = h5vcat_deflate_scanner_new();
    struct deflate_scan scan;
    uint8_t *theirs = exactly(MOST), *stream = exactly(size);
    size_t n, used;
    memcpy(stream, data, size);
    int good = zlib_reads(stream, size, 15, theirs, &n, &used);
    uint8_t *ours = exactly(n);
    enum deflate_result result = h5vcat_deflate_scan(s, stream, size, ours, n, 0, n, &scan);
    MUST(good ? result == DEFLATE_OK && scan.used == used : result != DEFLATE_OK);
    if (good) {
        MUST(memcmp(ours, theirs, n) == 0);
        join(stream, size, theirs, n, (size ? data[size / 2] * 331u : 0) % (n + 1));
    }
    free(ours);
    free(stream);
    free(theirs);
    h5vcat_deflate_scanner_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    compare(data, size);
    size_t n, used;
    uint8_t *raw = exactly(MOST), *mended = exactly(size + 6);
    memcpy(mended + 2, data, size);
    mended[0] = 0x78;
    mended[1] = 0x9c;
    if (zlib_reads(data, size, -15, raw, &n, &used)) {
        uint32_t sum = (uint32_t)adler32(1, raw, (uInt)n);
        for (unsigned i = 0; i < 4; i++)
            mended[2 + used + i] = (uint8_t)(sum >> (24 - 8 * i));
        compare(mended, used + 6);
    }
    free(mended);
    free(raw);
    return 0;
}

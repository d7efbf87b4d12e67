/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as what the coordinate transform wrote: refused with a reason, or decoded within their bounds,
 * and what they say can be encoded again. A header whose sizes do not add up is refused at once; so a second
 * trial makes the streams as long as it says (the bytes go round), to get behind that check.
 */
#include "fuzz.h"
#include "vcodec_transform_internal.h"

#define MOST (1 << 16)

static void decode(struct vcodec_transform *t, const uint8_t *encoded, size_t size)
{
    size_t raw_size, n;
    struct h5vec_error err = {0};
    enum h5vec_status status = vcodec_transform_raw_size(encoded, size, &raw_size, &err);
    if (!status) {
        MUST(raw_size <= VCODEC_TRANSFORM_EXPANSION * (size + 1));
        uint8_t *raw = exactly(raw_size), *again = exactly(vcodec_transform_bound(raw_size));
        status = vcodec_transform_decode(t, encoded, size, raw, raw_size, &err);
        if (!status)
            MUST(vcodec_transform_encode(t, raw, raw_size, again, &n, NULL) == H5VEC_OK);
        free(again);
        free(raw);
    }
    MUST(status == H5VEC_OK || status == H5VEC_E_TRANSFORM || status == H5VEC_E_TRANSFORM_VERSION);
    MUST(status == H5VEC_OK || err.msg[0]);
}

/* The counts of a header, made small, and the size that they call for. */
static size_t fit_header(uint8_t *header)
{
    static const size_t unit[] = {VCODEC_SECTION_BYTES, 1, 4, 4, 1};
    size_t size = VCODEC_FORM_HEADER;
    static const uint8_t begin[8] = {'V', 'C', 'T', VCODEC_TRANSFORM_VERSION, 1};
    memcpy(header, begin, sizeof begin);
    vcodec_store64(header + 8, vcodec_load64(header + 8) % MOST);
    for (size_t i = 0; i < 5; i++) {
        uint64_t n = vcodec_load64(header + 16 + 8 * i) % 512;
        vcodec_store64(header + 16 + 8 * i, n);
        size += (size_t)n * unit[i];
    }
    for (size_t j = 0; j < VCODEC_ORDINATES; j++) {
        uint8_t *o = header + 64 + 32 * j;
        memset(o + 5, 0, 3);
        for (size_t k = 8; k < 32; k += 8)
            vcodec_store64(o + k, vcodec_load64(o + k) % 512);
        size += (size_t)vcodec_load64(o + 8) * (o[3] & 15u) + (size_t)vcodec_load64(o + 16) * (o[4] & 15u) +
                (size_t)vcodec_load64(o + 24) * 16;
    }
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vcodec_transform *t;
    MUST(vcodec_transform_new(&t, NULL) == H5VEC_OK);
    decode(t, data, size);
    if (size > VCODEC_FORM_HEADER) {
        uint8_t header[VCODEC_FORM_HEADER];
        memcpy(header, data, sizeof header);
        size_t n = fit_header(header), left = size - sizeof header;
        uint8_t *fitted = exactly(n);
        memcpy(fitted, header, sizeof header);
        for (size_t i = sizeof header; i < n; i++)
            fitted[i] = data[sizeof header + (i - sizeof header) % left];
        decode(t, fitted, n);
        free(fitted);
    }
    vcodec_transform_free(t);
    return 0;
}

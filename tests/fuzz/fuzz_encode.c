/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes through the coordinate transform and back: the same bytes, no larger than promised. Each input is
 * also tried as a piece of itself repeated, which has more structure than its size allows.
 */
#include "fuzz.h"
#include "vcodec_transform.h"

static void round_trip(struct vcodec_transform *t, const uint8_t *raw, size_t size)
{
    size_t bound = vcodec_transform_bound(size), n, back;
    uint8_t *encoded = exactly(bound), *decoded = exactly(size);
    MUST(bound <= size + 64);
    MUST(vcodec_transform_encode(t, raw, size, encoded, &n, NULL) == H5VEC_OK && n <= bound);
    MUST(n > 0);
    encoded = realloc(encoded, n);
    MUST(encoded);
    MUST(vcodec_transform_raw_size(encoded, n, &back, NULL) == H5VEC_OK && back == size);
    MUST(vcodec_transform_decode(t, encoded, n, decoded, size, NULL) == H5VEC_OK);
    MUST(memcmp(decoded, raw, size) == 0);
    free(decoded);
    free(encoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vcodec_transform *t;
    MUST(vcodec_transform_new(&t, NULL) == H5VEC_OK);
    round_trip(t, data, size);
    size_t times = size ? 2000 / size + 1 : 0, offset = size / 3;
    uint8_t *more = exactly(times * size);
    for (size_t i = 0; i < times; i++)
        memcpy(more + i * size, data, size);
    if (times)
        round_trip(t, more + offset, times * size - offset);
    free(more);
    vcodec_transform_free(t);
    return 0;
}

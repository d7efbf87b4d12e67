/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as WKT: refused with a place inside them, or canonical as described in fuzz.h. Whatever is read
 * without non-finite numbers is read the same with them allowed.
 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct vcodec_info info, strict;
    struct h5vec_error err = {0};
    enum h5vec_status status = vcodec_wkt_read(text, size, VCODEC_ALLOW_NONFINITE, NULL, 0, &info, &err);
    enum h5vec_status strictly = vcodec_wkt_read(text, size, 0, NULL, 0, &strict, NULL);
    if (status) {
        MUST(err.status == status && err.offset <= size && err.msg[0] && strictly);
        return 0;
    }
    MUST(strictly == (info.nonfinite ? H5VEC_E_NONFINITE : H5VEC_OK));
    MUST(info.wkb_size <= vcodec_wkt_bound(size));
    uint8_t *wkb = exactly(info.wkb_size);
    MUST(vcodec_wkt_read(text, size, VCODEC_ALLOW_NONFINITE, wkb, info.wkb_size, &info, &err) == H5VEC_OK);
    check_canonical(wkb, &info);
    free(wkb);
    return 0;
}

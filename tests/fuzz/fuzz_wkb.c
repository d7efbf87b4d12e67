/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as WKB: refused with a place inside them, or canonical as described in fuzz.h.
 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vcodec_info info, again;
    struct h5vec_error err = {0};
    enum h5vec_status status = vcodec_wkb_scan(data, size, &info, &err);
    if (status) {
        MUST(err.status == status && err.offset <= size && err.msg[0]);
        return 0;
    }
    MUST(info.wkb_size <= size);
    uint8_t *wkb = exactly(info.wkb_size);
    MUST(vcodec_wkb_canonical(data, size, wkb, info.wkb_size, &again, &err) == H5VEC_OK);
    MUST(again.wkb_size == info.wkb_size && again.srid == info.srid && again.has_srid == info.has_srid);
    check_canonical(wkb, &info);
    free(wkb);
    return 0;
}

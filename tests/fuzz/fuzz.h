/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a fuzz target shares with libFuzzer or standalone.c, and with the other targets.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "vcodec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A property that does not hold is a crash, in every kind of build. */
#define MUST(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                  \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

/* Exactly size bytes, so that a sanitizer sees one too many. */
static inline void *exactly(size_t size)
{
    void *p = malloc(size ? size : 1);
    MUST(p);
    return p;
}

/* Canonical WKB is its own canonical form, and its text reads back to it: to the same bytes, or, where there
 * are NaNs (whose bits text does not keep), to bytes of the same text. */
static inline void check_canonical(const uint8_t *wkb, const struct vcodec_info *info)
{
    struct vcodec_info again, back;
    struct h5vec_error err;
    uint8_t *copy = exactly(info->wkb_size);
    MUST(vcodec_wkb_canonical(wkb, info->wkb_size, copy, info->wkb_size, &again, &err) == H5VEC_OK);
    MUST(again.wkb_size == info->wkb_size && memcmp(copy, wkb, info->wkb_size) == 0);
    MUST(again.type == info->type && again.dim == info->dim && again.vertices == info->vertices);
    MUST(again.empty == info->empty && again.invalid == info->invalid && again.nonfinite == info->nonfinite);
    MUST(again.box.xmin == info->box.xmin && again.box.ymin == info->box.ymin);
    MUST(again.box.xmax == info->box.xmax && again.box.ymax == info->box.ymax);

    size_t length, length2;
    enum h5vec_status status = vcodec_wkt_write(wkb, info->wkb_size, NULL, 0, &length, &err);
    if (status == H5VEC_E_UNSUPPORTED) { /* a curve: only WKB has it */
        free(copy);
        return;
    }
    MUST(status == H5VEC_OK);
    char *text = exactly(length), *text2 = exactly(length);
    MUST(vcodec_wkt_write(wkb, info->wkb_size, text, length, &length2, &err) == H5VEC_OK &&
         length2 == length);
    MUST(vcodec_wkt_bound(length) >= info->wkb_size);
    MUST(vcodec_wkt_read(text, length, VCODEC_ALLOW_NONFINITE, copy, info->wkb_size, &back, &err) ==
         H5VEC_OK);
    MUST(back.wkb_size == info->wkb_size && (info->nonfinite || memcmp(copy, wkb, back.wkb_size) == 0));
    MUST(vcodec_wkt_write(copy, back.wkb_size, text2, length, &length2, &err) == H5VEC_OK &&
         length2 == length);
    MUST(memcmp(text, text2, length) == 0);
    free(text2);
    free(text);
    free(copy);
}

#endif

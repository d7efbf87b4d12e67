/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The filter's one function. It needs nothing of HDF5 but the class's layout, which has been the same since
 * 1.8: so one plugin serves every HDF5 that loads it, however that is linked. Buffers are malloc's, as HDF5's
 * own are unless it was built to check its memory (there, no plugin that does without H5allocate_memory
 * works).
 */
#include "H5Zh5vec.h"

#include <stdlib.h>
#include "vcodec_transform.h"

/* The new contents of a chunk take the place of the old. Returns their size. */
static size_t replace(void **buf, size_t *buf_size, void *with, size_t room, size_t size)
{
    free(*buf);
    *buf = with;
    *buf_size = room;
    return size;
}

static size_t encode(struct vcodec_transform *t, size_t nbytes, size_t *buf_size, void **buf)
{
    size_t room = vcodec_transform_bound(nbytes), size;
    void *out = malloc(room);
    if (out && vcodec_transform_encode(t, *buf, nbytes, out, &size, NULL) == H5VEC_OK)
        return replace(buf, buf_size, out, room, size);
    free(out);
    return 0;
}

static size_t decode(struct vcodec_transform *t, size_t nbytes, size_t *buf_size, void **buf)
{
    size_t size;
    if (vcodec_transform_raw_size(*buf, nbytes, &size, NULL) || size == 0)
        return 0;
    void *out = malloc(size);
    if (out && vcodec_transform_decode(t, *buf, nbytes, out, size, NULL) == H5VEC_OK)
        return replace(buf, buf_size, out, size, size);
    free(out);
    return 0;
}

/* Returns the size of the new contents, 0 on failure: the old ones are then left alone. HDF5 keeps no errors
 * while a filter runs, so the reason stays here. */
static size_t filter(unsigned flags, size_t cd_nelmts, const unsigned cd_values[], size_t nbytes,
                     size_t *buf_size, void **buf)
{
    (void)cd_nelmts;
    (void)cd_values;
    struct vcodec_transform *t;
    if (vcodec_transform_new(&t, NULL))
        return 0;
    size_t size =
        flags & H5Z_FLAG_REVERSE ? decode(t, nbytes, buf_size, buf) : encode(t, nbytes, buf_size, buf);
    vcodec_transform_free(t);
    return size;
}

const H5Z_class2_t *H5Z_h5vec_class(void)
{
    static const H5Z_class2_t class = {
        .version = H5Z_CLASS_T_VERS,
        .id = H5Z_FILTER_H5VEC,
        .encoder_present = 1,
        .decoder_present = 1,
        .name = "h5vec vector",
        .filter = filter,
    };
    return &class;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Scratch memory, and the header of the encoded form. Every number in a header is checked here, alone and
 * against the size of what follows, so that the decoder can lay out the streams without further thought.
 */
#include "vcodec_transform_internal.h"

#include <inttypes.h>
#include <stdlib.h>

#define MAX_SIZE                                                                                             \
    (UINT64_C(1) << 48) /* of anything in a header: sums of products of these stay in 64 bits                \
                         */

static const uint8_t magic[4] = {'V', 'C', 'T', VCODEC_TRANSFORM_VERSION};

/* ---- Scratch ----------------------------------------------------------------------------------------- */

enum h5vec_status vcodec_transform_no_memory(struct h5vec_error *err)
{
    return h5vec_error_set(err, H5VEC_E_NOMEM, 0, "out of memory");
}

bool vcodec_reserve(struct vcodec_buffer *b, size_t size)
{
    if (size <= b->room && b->data)
        return true;
    void *p = realloc(b->data, size ? size : 1);
    if (!p)
        return false;
    b->data = p;
    b->room = size;
    return true;
}

enum h5vec_status vcodec_transform_new(struct vcodec_transform **out, struct h5vec_error *err)
{
    struct vcodec_transform *t = calloc(1, sizeof *t);
    if (!t)
        return vcodec_transform_no_memory(err);
    *out = t;
    return H5VEC_OK;
}

void vcodec_transform_free(struct vcodec_transform *t)
{
    if (!t)
        return;
    free(t->sections.data);
    free(t->heads.data);
    free(t->members.data);
    free(t->counts.data);
    free(t->runs.data);
    free(t->escapes.data);
    free(t->words.data);
    for (int j = 0; j < VCODEC_ORDINATES; j++) {
        free(t->starts[j].data);
        free(t->rest[j].data);
    }
    free(t);
}

size_t vcodec_transform_bound(size_t size)
{
    return size + VCODEC_PLAIN_HEADER;
}

/* ---- Header ------------------------------------------------------------------------------------------ */

void vcodec_form_write(const struct vcodec_form *f, uint8_t *out)
{
    memset(out, 0, f->coded ? VCODEC_FORM_HEADER : VCODEC_PLAIN_HEADER);
    memcpy(out, magic, sizeof magic);
    out[4] = f->coded;
    vcodec_store64(out + 8, f->raw_size);
    if (!f->coded)
        return;
    const uint64_t fields[] = {f->sections, f->heads, f->members, f->counts, f->kept};
    for (size_t i = 0; i < 5; i++)
        vcodec_store64(out + 16 + 8 * i, fields[i]);
    out[56] = (uint8_t)((f->closed ? 1 : 0) | (f->paired ? 2 : 0));
    for (size_t j = 0; j < VCODEC_ORDINATES; j++) {
        const struct vcodec_ordinate *o = &f->ordinate[j];
        uint8_t *at = out + 64 + 32 * j;
        const uint8_t bytes[] = {o->kind, o->decimals, o->delta, o->start_width, o->rest_width};
        memcpy(at, bytes, sizeof bytes);
        vcodec_store64(at + 8, o->starts);
        vcodec_store64(at + 16, o->rest);
        vcodec_store64(at + 24, o->escapes);
    }
}

static enum h5vec_status damaged(struct h5vec_error *err, uint64_t offset, const char *what)
{
    return h5vec_error_set(err, H5VEC_E_TRANSFORM, offset, "not what the coordinate transform writes: %s",
                           what);
}

static bool all_zero(const uint8_t *p, size_t n)
{
    while (n > 0 && *p == 0)
        p++, n--;
    return n == 0;
}

static bool width_is_valid(uint64_t n, unsigned width, unsigned word)
{
    return n == 0 ? width == 0 : width >= 1 && width <= word;
}

static bool ordinate_read(const uint8_t *at, struct vcodec_ordinate *o)
{
    *o = (struct vcodec_ordinate){.kind = at[0],
                                  .decimals = at[1],
                                  .delta = at[2],
                                  .start_width = at[3],
                                  .rest_width = at[4],
                                  .starts = vcodec_load64(at + 8),
                                  .rest = vcodec_load64(at + 16),
                                  .escapes = vcodec_load64(at + 24)};
    if (o->kind > VCODEC_KIND_BITS || o->decimals > VCODEC_MAX_DECIMALS || o->delta > 1 ||
        !all_zero(at + 5, 3))
        return false;
    if ((o->kind == VCODEC_KIND_NONE) != (o->starts == 0) || (o->starts == 0 && (o->rest || o->escapes)))
        return false;
    if (o->starts > MAX_SIZE || o->rest > MAX_SIZE || o->escapes > MAX_SIZE)
        return false;
    unsigned word = vcodec_word_bytes(o->kind);
    return width_is_valid(o->starts, o->start_width, word) && width_is_valid(o->rest, o->rest_width, word);
}

/* Bytes of the whole form. */
static uint64_t form_size(const struct vcodec_form *f)
{
    uint64_t size = VCODEC_FORM_HEADER + f->sections * VCODEC_SECTION_BYTES + f->kept + f->heads +
                    4 * (f->members + f->counts);
    for (int j = 0; j < VCODEC_ORDINATES; j++) {
        const struct vcodec_ordinate *o = &f->ordinate[j];
        size += o->starts * o->start_width + o->rest * o->rest_width + o->escapes * 16;
    }
    return size;
}

static enum h5vec_status coded_read(const uint8_t *in, size_t size, struct vcodec_form *f,
                                    struct h5vec_error *err)
{
    if (size < VCODEC_FORM_HEADER)
        return damaged(err, size, "it ends within its header");
    uint64_t *fields[] = {&f->sections, &f->heads, &f->members, &f->counts, &f->kept};
    for (size_t i = 0; i < 5; i++) {
        *fields[i] = vcodec_load64(in + 16 + 8 * i);
        if (*fields[i] > MAX_SIZE)
            return damaged(err, 16 + 8 * i, "a number that cannot be");
    }
    if (in[56] > 3 || !all_zero(in + 57, 7))
        return damaged(err, 56, "unknown flags");
    f->closed = in[56] & 1;
    f->paired = in[56] & 2;
    for (size_t j = 0; j < VCODEC_ORDINATES; j++)
        if (!ordinate_read(in + 64 + 32 * j, &f->ordinate[j]))
            return damaged(err, 64 + 32 * j, "an ordinate's parameters");
    const struct vcodec_ordinate *x = &f->ordinate[0], *y = x + 1;
    if (x->starts != y->starts || x->rest != y->rest)
        return damaged(err, 64, "x and y differ in number");
    if (f->paired && (x->starts == 0 || x->start_width != y->start_width ||
                      vcodec_word_bytes(x->kind) != vcodec_word_bytes(y->kind)))
        return damaged(err, 56, "starts of different sizes are paired");
    if (form_size(f) != size)
        return damaged(err, size, "its size is not what its header says");
    return H5VEC_OK;
}

enum h5vec_status vcodec_form_read(const uint8_t *in, size_t size, struct vcodec_form *f,
                                   struct h5vec_error *err)
{
    memset(f, 0, sizeof *f);
    if (size < VCODEC_PLAIN_HEADER)
        return damaged(err, size, "it ends within its header");
    if (memcmp(in, magic, 3) != 0)
        return damaged(err, 0, "it does not begin with VCT");
    if (in[3] != VCODEC_TRANSFORM_VERSION)
        return h5vec_error_set(err, H5VEC_E_TRANSFORM_VERSION, 3,
                               "coordinate transform of version %u: only version %d is known", in[3],
                               VCODEC_TRANSFORM_VERSION);
    if (in[4] > 1 || !all_zero(in + 5, 3))
        return damaged(err, 4, "unknown form");
    f->coded = in[4];
    f->raw_size = vcodec_load64(in + 8);
    if (f->raw_size > MAX_SIZE || f->raw_size / VCODEC_TRANSFORM_EXPANSION > size)
        return damaged(err, 8, "a raw size that cannot be");
    if (f->coded)
        return coded_read(in, size, f, err);
    return f->raw_size == size - VCODEC_PLAIN_HEADER
               ? H5VEC_OK
               : damaged(err, 8, "its size is not what its header says");
}

enum h5vec_status vcodec_transform_raw_size(const uint8_t *encoded, size_t size, size_t *raw_size,
                                            struct h5vec_error *err)
{
    struct vcodec_form f;
    enum h5vec_status status = vcodec_form_read(encoded, size, &f, err);
    if (!status)
        *raw_size = (size_t)f.raw_size;
    return status;
}

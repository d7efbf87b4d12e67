/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Input files, least recently used ones closed first, and the one dataset that is being read.
 *
 * A chunked dataset's index is read once into a table (H5Dchunk_iter), its chunks are then read with pread:
 * HDF5 would look each one up again and inflate it with zlib. A decoded chunk that is not wholly used stays
 * in a small cache. Contiguous and compact data, and chunks with other filters, go through H5Dread.
 */
#include "error.h"
#include "reader.h"
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "chunks.h"

#define MAX_FILES 24 /* open at a time: each holds up to MDC_BYTES of metadata */
#define MDC_BYTES ((size_t)1 << 20)
#define MAX_FORMS 256
#define MAX_ONLY ((uint64_t)1 << 20) /* bytes of a chunk whose place is remembered */

struct open_file {
    uint32_t input;
    hid_t id;
    uint64_t used; /* clock of the last use */
};

struct reader {
    struct merge *m;
    struct open_file files[MAX_FILES];
    int file_count;
    uint64_t clock;
    hid_t dapl;               /* 0: not made yet */
    struct chunk_form *forms; /* MAX_FORMS; rows->form counts from 1 */
    uint64_t *form_hashes;
    uint32_t form_count;
    struct chunks *chunks; /* of the open dataset if it is chunked with filters of ours */
    uint32_t input;        /* the open dataset; NOBODY: none */
    const char *packed;    /* it is not in its file, but here */
    int item;
    hid_t dset, type, space; /* negative: not needed */
    void *fill;              /* the input's fill value; NULL: zeros */
    bool same_fill;          /* it is the output's */
};

/* ---- Files ------------------------------------------------------------------------------------------- */

/* Little memory, and sec2 whatever HDF5_DRIVER says. */
static hid_t input_fapl(void)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    H5AC_cache_config_t config = {.version = H5AC__CURR_CACHE_CONFIG_VERSION};
    if (fapl < 0 || H5Pset_fapl_sec2(fapl) < 0 || H5Pget_mdc_config(fapl, &config) < 0)
        return fapl;
    config.set_initial_size = true;
    config.initial_size = MDC_BYTES / 2;
    config.min_size = MDC_BYTES / 4;
    config.max_size = MDC_BYTES;
    H5Pset_mdc_config(fapl, &config);
    return fapl;
}

enum h5vec_status h5vcat_reader_open_file(const char *name, hid_t *file, struct h5vec_error *err)
{
    hid_t fapl = input_fapl();
    hid_t id = H5Fopen(name, H5F_ACC_RDONLY, fapl);
    enum h5vec_status st = H5VEC_OK;
    if (id < 0)
        st = h5vec_layer_error_hdf5(err, "%s: cannot open as HDF5", name);
    if (fapl >= 0)
        H5Pclose(fapl);
    if (!st)
        *file = id;
    return st;
}

enum h5vec_status h5vcat_reader_file(struct reader *r, uint32_t input, hid_t *file, struct h5vec_error *err)
{
    struct open_file *slot = &r->files[0];
    for (int i = 0; i < r->file_count; i++) {
        struct open_file *f = &r->files[i];
        if (f->input == input) {
            f->used = ++r->clock;
            *file = f->id;
            return H5VEC_OK;
        }
        if (f->used < slot->used)
            slot = f;
    }
    hid_t id;
    enum h5vec_status st = h5vcat_reader_open_file(r->m->inputs.names[input], &id, err);
    if (st)
        return st;
    if (r->file_count < MAX_FILES)
        slot = &r->files[r->file_count++];
    else
        H5Fclose(slot->id);
    *slot = (struct open_file){input, id, ++r->clock};
    *file = id;
    return H5VEC_OK;
}

enum h5vec_status h5vcat_reader_offsets(hid_t file, const char *name, const char *path,
                                        const struct rows *rows, int64_t at[2], struct h5vec_error *err)
{
    hid_t dset = H5Dopen2(file, path, H5P_DEFAULT), space = dset < 0 ? dset : H5Dget_space(dset);
    hsize_t two = 2;
    hid_t memory = H5Screate_simple(1, &two, NULL);
    hsize_t points[2] = {rows->start, rows->start + rows->count};
    enum h5vec_status st = H5VEC_OK;
    if (space < 0 || H5Sselect_elements(space, H5S_SELECT_SET, 2, points) < 0 ||
        H5Dread(dset, H5T_NATIVE_INT64, memory, space, H5P_DEFAULT, at) < 0)
        st = h5vec_layer_error_hdf5(err, "%s: %s: cannot read", name, path);
    else if (at[0] < 0 || at[1] < at[0])
        st = h5vec_error_set(err, H5VEC_E_DATA, 0, "%s: %s: offsets run backwards", name, path);
    H5Sclose(memory);
    if (space >= 0)
        H5Sclose(space);
    if (dset >= 0)
        H5Dclose(dset);
    return st;
}

/* ---- The open dataset -------------------------------------------------------------------------------- */

enum h5vec_status h5vcat_reader_new(struct merge *m, struct reader **out, struct h5vec_error *err)
{
    struct reader *r = calloc(1, sizeof *r);
    if (!r)
        return h5vcat_no_memory(err);
    r->m = m;
    r->dset = H5I_INVALID_HID;
    r->input = NOBODY;
    r->forms = calloc(MAX_FORMS, sizeof *r->forms);
    r->form_hashes = calloc(MAX_FORMS, sizeof *r->form_hashes);
    if (!r->forms || !r->form_hashes) {
        h5vcat_reader_free(r);
        return h5vcat_no_memory(err);
    }
    *out = r;
    return H5VEC_OK;
}

static void close_dataset(struct reader *r)
{
    if (r->input == NOBODY)
        return;
    h5vcat_chunks_free(r->chunks);
    r->chunks = NULL;
    free(r->fill);
    r->fill = NULL;
    if (r->dset >= 0) {
        H5Sclose(r->space);
        H5Tclose(r->type);
        H5Dclose(r->dset);
    }
    r->dset = H5I_INVALID_HID;
    r->packed = NULL;
    r->input = NOBODY;
}

void h5vcat_reader_free(struct reader *r)
{
    if (!r)
        return;
    close_dataset(r);
    for (int i = 0; i < r->file_count; i++)
        H5Fclose(r->files[i].id);
    if (r->dapl > 0)
        H5Pclose(r->dapl);
    free(r->forms);
    free(r->form_hashes);
    free(r);
}

/* The value that a missing chunk stands for; NULL for zeros. */
static void *fill_value(hid_t dcpl, hid_t type, size_t element)
{
    H5D_fill_value_t state;
    void *value = NULL;
    if (H5Pfill_value_defined(dcpl, &state) >= 0 && state == H5D_FILL_VALUE_USER_DEFINED &&
        (value = calloc(1, element)) && H5Pget_fill_value(dcpl, type, value) < 0) {
        free(value);
        value = NULL;
    }
    return value;
}

/* Dataset access for H5Dread: a chunk cache that holds the chunks of one row of chunks if it may. */
static hid_t access_list(const struct reader *r)
{
    hid_t dapl = H5Pcreate(H5P_DATASET_ACCESS);
    if (dapl >= 0)
        H5Pset_chunk_cache(dapl, 521, (size_t)r->m->budget.cache, 1.0);
    return dapl;
}

/* The form's number, 0 if there is no room for another one. */
static uint32_t form_number(struct reader *r, const struct chunk_form *form)
{
    uint64_t hash = XXH64(form, sizeof *form, 0);
    for (uint32_t i = r->form_count; i-- > 0;)
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): what is between the members is zero */
        if (r->form_hashes[i] == hash && memcmp(&r->forms[i], form, sizeof *form) == 0)
            return i + 1;
    if (r->form_count == MAX_FORMS)
        return 0;
    r->forms[r->form_count] = *form;
    r->form_hashes[r->form_count] = hash;
    return ++r->form_count;
}

void h5vcat_reader_remember(struct reader *r, hid_t dset, hid_t dcpl, int rank, const hsize_t *dims,
                            size_t element, struct rows *rows)
{
    static const hsize_t first[H5S_MAX_RANK];
    struct chunk_form form;
    unsigned mask = 0;
    haddr_t address = HADDR_UNDEF;
    hsize_t size = 0;
    if (H5Pget_layout(dcpl) != H5D_CHUNKED || !h5vcat_chunks_form(dcpl, rank, element, &form) ||
        h5vcat_chunks_form_bytes(&form) > MAX_ONLY)
        return;
    for (int d = 0; d < rank; d++)
        if (dims[d] == 0 || dims[d] > form.chunk[d])
            return;
    if (H5Dget_chunk_info_by_coord(dset, first, &mask, &address, &size) < 0 || address == HADDR_UNDEF ||
        mask != 0 || size == 0 || size > UINT32_MAX)
        return;
    rows->form = form_number(r, &form);
    if (rows->form) {
        rows->start = address;
        rows->size = (uint32_t)size;
    }
}

/* Its place is known: no object of the file has to be opened. */
static enum h5vec_status open_only(struct reader *r, hid_t file, uint32_t input, int item,
                                   const struct rows *rows, struct h5vec_error *err)
{
    const struct item *it = &r->m->schema->items[item];
    hsize_t dims[H5S_MAX_RANK];
    memcpy(dims, it->dims, (size_t)it->rank * sizeof *dims);
    dims[0] = rows->count;
    enum h5vec_status st = h5vcat_chunks_open_only(r->m->coder, file, &r->forms[rows->form - 1], dims,
                                                   rows->start, rows->size, &r->chunks, err);
    if (st)
        return h5vcat_about(err, st, r->m->inputs.names[input], it->path);
    r->input = input;
    r->item = item;
    r->same_fill = false; /* not known */
    return H5VEC_OK;
}

/* Whether HDF5 tells where the chunks of a dataset belong. Of one whose only unlimited dimension is not the
 * first it says wrong coordinates: its index (an extensible array) has that dimension first, and
 * H5Dchunk_iter of 1.14.5 counts as if it had not. */
static bool coordinates_are_right(hid_t space, int rank)
{
    hsize_t max[H5S_MAX_RANK];
    int unlimited = 0;
    if (H5Sget_simple_extent_dims(space, NULL, max) != rank)
        return false;
    for (int d = 0; d < rank; d++)
        unlimited += max[d] == H5S_UNLIMITED;
    return unlimited != 1 || max[0] == H5S_UNLIMITED;
}

static enum h5vec_status open_chunks(struct reader *r, hid_t file, hid_t dcpl, size_t element,
                                     struct h5vec_error *err)
{
    struct chunk_form form;
    hsize_t dims[H5S_MAX_RANK];
    int rank = H5Sget_simple_extent_dims(r->space, dims, NULL);
    if (H5Pget_layout(dcpl) != H5D_CHUNKED || !coordinates_are_right(r->space, rank) ||
        !h5vcat_chunks_form(dcpl, rank, element, &form))
        return H5VEC_OK;
    return h5vcat_chunks_open(r->m->coder, file, r->dset, &form, dims, r->m->budget.cache, &r->chunks, err);
}

static enum h5vec_status open_dataset(struct reader *r, uint32_t input, int item, const struct rows *rows,
                                      const void *out_fill, struct h5vec_error *err)
{
    const char *name = r->m->inputs.names[input], *path = r->m->schema->items[item].path;
    size_t element = r->m->schema->items[item].element;
    hid_t file;
    enum h5vec_status st = h5vcat_reader_file(r, input, &file, err);
    if (st)
        return st;
    if (rows->form)
        return open_only(r, file, input, item, rows, err);
    if (r->dapl <= 0)
        r->dapl = access_list(r);
    hid_t dset = H5Dopen2(file, path, r->dapl), dcpl = dset < 0 ? dset : H5Dget_create_plist(dset);
    if (dcpl < 0) {
        st = h5vec_layer_error_hdf5(err, "%s: %s: cannot open", name, path);
        if (dset >= 0)
            H5Dclose(dset);
        return st;
    }
    r->dset = dset;
    r->type = H5Dget_type(dset);
    r->space = H5Dget_space(dset);
    r->input = input;
    r->item = item;
    r->fill = fill_value(dcpl, r->type, element);
    r->same_fill = false;
    if (!r->fill || !out_fill)
        r->same_fill = !r->fill && !out_fill;
    else
        r->same_fill = memcmp(r->fill, out_fill, element) == 0;
    st = open_chunks(r, file, dcpl, element, err);
    H5Pclose(dcpl);
    if (st)
        close_dataset(r);
    return h5vcat_about(err, st, name, path);
}

/* Through HDF5. */
static enum h5vec_status read_box(struct reader *r, const struct box *what, void *to,
                                  const struct box *to_box, struct h5vec_error *err)
{
    hsize_t at[H5S_MAX_RANK];
    for (int d = 0; d < what->rank; d++)
        at[d] = what->start[d] - to_box->start[d];
    hid_t memory = H5Screate_simple(what->rank, to_box->count, NULL);
    enum h5vec_status st = H5VEC_OK;
    if (memory < 0 || H5Sselect_hyperslab(memory, H5S_SELECT_SET, at, NULL, what->count, NULL) < 0 ||
        H5Sselect_hyperslab(r->space, H5S_SELECT_SET, what->start, NULL, what->count, NULL) < 0 ||
        H5Dread(r->dset, r->type, memory, r->space, H5P_DEFAULT, to) < 0)
        st =
            h5vec_layer_error_hdf5(err, "%s: %s: cannot read rows from %llu on", r->m->inputs.names[r->input],
                                   r->m->schema->items[r->item].path, (unsigned long long)what->start[0]);
    if (memory >= 0)
        H5Sclose(memory);
    return st;
}

/* Make this the open dataset. */
static enum h5vec_status need_dataset(struct reader *r, uint32_t input, int item, const struct rows *rows,
                                      const void *fill, struct h5vec_error *err)
{
    if (r->input == input && r->item == item && !r->packed)
        return H5VEC_OK;
    close_dataset(r);
    return open_dataset(r, input, item, rows, fill, err);
}

static enum h5vec_status read_chunks(struct reader *r, const struct box *what, void *to,
                                     const struct box *to_box, struct join *join, bool *stored,
                                     struct h5vec_error *err)
{
    struct item *it = &r->m->schema->items[r->item];
    if (join)
        join->same_fill = r->same_fill;
    enum h5vec_status st = h5vcat_chunks_read(r->chunks, what, to, to_box, r->fill, join, stored, err);
    uint64_t raw_bytes, stored_bytes;
    h5vcat_chunks_seen(r->chunks, &raw_bytes, &stored_bytes);
    it->raw_seen += raw_bytes;
    it->stored_seen += stored_bytes;
    return h5vcat_about(err, st, r->m->inputs.names[r->input], it->path);
}

enum h5vec_status h5vcat_reader_read(struct reader *r, uint32_t input, int item, const struct rows *rows,
                                     const struct box *what, void *to, const struct box *to_box,
                                     const void *fill, struct join *join, bool *missing,
                                     struct h5vec_error *err)
{
    *missing = false;
    enum h5vec_status st = need_dataset(r, input, item, rows, fill, err);
    if (st || !r->chunks)
        return st ? st : read_box(r, what, to, to_box, err);
    bool stored = false;
    st = read_chunks(r, what, to, to_box, join, &stored, err);
    *missing = !stored && r->same_fill;
    return st;
}

enum h5vec_status h5vcat_reader_pack(struct reader *r, uint32_t input, int item, const struct rows *rows,
                                     const void *fill, uint64_t first, uint64_t count, char *bytes,
                                     uint64_t room, struct packed *packed, struct h5vec_error *err)
{
    packed->bytes = 0;
    enum h5vec_status st = need_dataset(r, input, item, rows, fill, err);
    if (st || !r->chunks)
        return st;
    packed->same_fill = r->same_fill;
    st = h5vcat_chunks_pack(r->chunks, first, count, bytes, room, packed, err);
    return h5vcat_about(err, st, r->m->inputs.names[input], r->m->schema->items[item].path);
}

enum h5vec_status h5vcat_reader_read_packed(struct reader *r, uint32_t input, int item,
                                            const struct packed *packed, const char *bytes,
                                            const struct box *what, void *to, const struct box *to_box,
                                            struct join *join, struct h5vec_error *err)
{
    enum h5vec_status st = H5VEC_OK;
    bool stored;
    if (r->packed != bytes) {
        const struct item *it = &r->m->schema->items[item];
        close_dataset(r);
        st = h5vcat_chunks_open_packed(r->m->coder, packed, bytes, it->rank, it->dims, it->element,
                                       r->m->budget.cache, &r->chunks, err);
        if (st)
            return st;
        r->input = input;
        r->item = item;
        r->packed = bytes;
        r->same_fill = packed->same_fill;
    }
    return read_chunks(r, what, to, to_box, join, &stored, err);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of output objects: shared blobs, lookup by path, and its way from rank 0 to the others.
 */
#include "error.h"
#include "schema.h"
#include <xxhash.h>
#include "agree.h"
#include "pack.h"

#define BUCKETS (sizeof((struct schema *)0)->buckets / sizeof(struct blob *))

struct schema *h5vcat_schema_new(void)
{
    return calloc(1, sizeof(struct schema));
}

void h5vcat_schema_free(struct schema *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < BUCKETS; i++)
        while (s->buckets[i]) {
            struct blob *b = s->buckets[i];
            s->buckets[i] = b->next;
            if (b->id > 0)
                H5Tclose(b->id);
            free(b);
        }
    for (int i = 0; i < PLISTS; i++)
        if (s->plists[i].blob)
            H5Pclose(s->plists[i].id);
    for (int i = 0; i < s->count; i++) {
        free((char *)(uintptr_t)s->items[i].path);
        free(s->items[i].dims);
    }
    for (int i = 0; i < s->layer_count; i++) {
        free((char *)(uintptr_t)s->layers[i].path);
        h5vec_layer_geo_free(&s->layers[i].geo);
    }
    free(s->items);
    free(s->layers);
    free(s->index);
    free(s);
}

/* ---- Blobs ------------------------------------------------------------------------------------------- */

struct blob *h5vcat_schema_blob(struct schema *s, const void *bytes, size_t size)
{
    if (size > UINT32_MAX)
        return NULL;
    struct blob **bucket = &s->buckets[XXH64(bytes, size, 0) % BUCKETS];
    for (struct blob *b = *bucket; b; b = b->next)
        if (b->size == size && memcmp(b->bytes, bytes, size) == 0)
            return b;
    struct blob *b = malloc(sizeof *b + size);
    if (!b)
        return NULL;
    *b = (struct blob){.next = *bucket, .size = (uint32_t)size};
    memcpy(b->bytes, bytes, size);
    *bucket = b;
    s->memory += sizeof *b + size;
    return b;
}

/* H5Tencode and H5Pencode2 have one shape: ask for the size, then for the bytes. */
static herr_t encode(hid_t id, void *bytes, size_t *size, bool plist)
{
    return plist ? H5Pencode2(id, bytes, size, H5P_DEFAULT) : H5Tencode(id, bytes, size);
}

static struct blob *encode_blob(struct schema *s, hid_t id, bool plist)
{
    size_t size = 0;
    if (encode(id, NULL, &size, plist) < 0)
        return NULL;
    void *bytes = calloc(1, size);
    struct blob *b = NULL;
    if (bytes && encode(id, bytes, &size, plist) >= 0)
        b = h5vcat_schema_blob(s, bytes, size);
    free(bytes);
    return b;
}

struct blob *h5vcat_schema_encode_type(struct schema *s, hid_t type)
{
    return encode_blob(s, type, false);
}

struct blob *h5vcat_schema_encode_plist(struct schema *s, hid_t plist)
{
    return encode_blob(s, plist, true);
}

hid_t h5vcat_blob_type(struct blob *b)
{
    if (b->id <= 0)
        b->id = H5Tdecode(b->bytes);
    return b->id;
}

hid_t h5vcat_schema_plist(struct schema *s, const struct blob *b)
{
    size_t at = (uintptr_t)b / 64 % PLISTS;
    if (s->plists[at].blob == b)
        return s->plists[at].id;
    if (s->plists[at].blob)
        H5Pclose(s->plists[at].id);
    s->plists[at].blob = NULL;
    hid_t id = H5Pdecode(b->bytes);
    if (id >= 0) {
        s->plists[at].blob = b;
        s->plists[at].id = id;
    }
    return id;
}

/* ---- Items ------------------------------------------------------------------------------------------- */

static void index_put(struct schema *s, int item)
{
    size_t mask = s->index_room - 1, at = XXH64(s->items[item].path, strlen(s->items[item].path), 0) & mask;
    while (s->index[at] >= 0)
        at = (at + 1) & mask;
    s->index[at] = item;
}

/* Keep the table at most half full. */
static bool index_grow(struct schema *s)
{
    if (2 * ((size_t)s->count + 1) <= s->index_room)
        return true;
    size_t room = s->index_room ? 2 * s->index_room : 64;
    int *index = malloc(room * sizeof *index);
    if (!index)
        return false;
    for (size_t i = 0; i < room; i++)
        index[i] = -1;
    free(s->index);
    s->index = index;
    s->index_room = room;
    for (int i = 0; i < s->count; i++)
        index_put(s, i);
    return true;
}

struct item *h5vcat_schema_add(struct schema *s, const char *path)
{
    if (s->count == s->room) {
        int room = s->room ? 2 * s->room : 64;
        struct item *items = realloc(s->items, (size_t)room * sizeof *items);
        if (!items)
            return NULL;
        s->items = items;
        s->room = room;
    }
    char *copy = strdup(path);
    if (!copy || !index_grow(s)) {
        free(copy);
        return NULL;
    }
    struct item *it = &s->items[s->count];
    *it = (struct item){.path = copy, .layer = -1, .bytes_item = -1, .first = NOBODY, .chunks_agree = true};
    index_put(s, s->count++);
    s->memory += sizeof *it + strlen(path) + 64;
    return it;
}

int h5vcat_schema_add_layer(struct schema *s, const char *path)
{
    struct layer_plan *p = realloc(s->layers, ((size_t)s->layer_count + 1) * sizeof *p);
    char *copy = strdup(path);
    if (p)
        s->layers = p;
    if (!p || !copy) {
        free(copy);
        return -1;
    }
    struct layer_plan *l = &p[s->layer_count];
    *l = (struct layer_plan){.path = copy, .wkb = -1, .offsets = -1, .blocks = -1, .crs_input = NOBODY};
    h5vec_layer_geo_init(&l->geo);
    return s->layer_count++;
}

int h5vcat_schema_find(const struct schema *s, const char *path)
{
    if (s->index_room == 0)
        return -1;
    size_t mask = s->index_room - 1, at = XXH64(path, strlen(path), 0) & mask;
    while (s->index[at] >= 0) {
        if (strcmp(s->items[s->index[at]].path, path) == 0)
            return s->index[at];
        at = (at + 1) & mask;
    }
    return -1;
}

/* ".../offsets" -> index of ".../<name>" */
static int sibling(const struct schema *s, const char *path, const char *name)
{
    size_t stem = (size_t)(strrchr(path, '/') - path) + 1;
    char *other = malloc(stem + strlen(name) + 1);
    if (!other)
        return -1;
    memcpy(other, path, stem);
    strcpy(other + stem, name);
    int found = h5vcat_schema_find(s, other);
    free(other);
    return found;
}

void h5vcat_schema_link(struct schema *s)
{
    for (int i = 0; i < s->count; i++) {
        struct item *it = &s->items[i];
        struct layer_plan *l = it->layer >= 0 ? &s->layers[it->layer] : NULL;
        if (!l)
            continue;
        switch (it->role) {
        case H5VEC_LAYER_ROLE_WKB:
            l->wkb = i;
            break;
        case H5VEC_LAYER_ROLE_OFFSETS:
            l->offsets = i;
            it->bytes_item = sibling(s, it->path, "wkb");
            break;
        case H5VEC_LAYER_ROLE_TEXT_OFFSETS:
            it->bytes_item = sibling(s, it->path, H5VEC_LAYER_TEXT_DATA);
            break;
        case H5VEC_LAYER_ROLE_BLOCKS:
            l->blocks = i;
            break;
        default:
            break;
        }
    }
}

/* ---- From rank 0 to the others ----------------------------------------------------------------------- */

static void pack_shared(struct pack *p, const struct blob *b)
{
    pack_blob(p, b ? b->bytes : NULL, b ? b->size : 0);
}

static void pack_item(struct pack *p, const struct item *it)
{
    pack_blob(p, it->path, strlen(it->path));
    pack_u64(p, (uint64_t)it->kind);
    pack_u64(p, (uint64_t)it->role);
    pack_u64(p, (uint64_t)(it->layer + 1));
    pack_u64(p, (uint64_t)it->is_layer | (uint64_t)it->optional << 1 | (uint64_t)it->present << 2 |
                    (uint64_t)it->annotated << 3 | (uint64_t)it->ascii << 4 | (uint64_t)it->time << 5);
    pack_u64(p, (uint64_t)it->rank);
    pack_put(p, it->dims, 2 * (size_t)it->rank * sizeof *it->dims);
    pack_u64(p, it->element);
    pack_u64(p, it->row_bytes);
    pack_shared(p, it->type);
    pack_shared(p, it->dcpl);
    pack_shared(p, it->value);
    pack_shared(p, it->token);
}

static struct blob *unpack_shared(struct schema *s, struct unpack *u)
{
    size_t size;
    const void *bytes = unpack_blob(u, &size);
    return bytes ? h5vcat_schema_blob(s, bytes, size) : NULL;
}

static bool unpack_item(struct schema *s, struct unpack *u)
{
    size_t length;
    const char *path = unpack_blob(u, &length);
    char *copy = path ? strndup(path, length) : NULL;
    struct item *it = copy ? h5vcat_schema_add(s, copy) : NULL;
    free(copy);
    if (!it)
        return false;
    it->kind = (enum item_kind)unpack_u64(u);
    it->role = (enum h5vec_layer_role)unpack_u64(u);
    it->layer = (int)unpack_u64(u) - 1;
    uint64_t flags = unpack_u64(u);
    it->is_layer = flags & 1;
    it->optional = flags >> 1 & 1;
    it->present = flags >> 2 & 1;
    it->annotated = flags >> 3 & 1;
    it->ascii = flags >> 4 & 1;
    it->time = flags >> 5 & 1;
    it->rank = (int)unpack_u64(u);
    size_t size = 2 * (size_t)it->rank * sizeof *it->dims;
    const void *dims = unpack_get(u, size);
    it->dims = calloc(1, size + 1);
    if (u->failed || !it->dims)
        return false;
    memcpy(it->dims, dims, size);
    it->element = (uint32_t)unpack_u64(u);
    it->row_bytes = unpack_u64(u);
    it->type = unpack_shared(s, u);
    it->dcpl = unpack_shared(s, u);
    it->value = unpack_shared(s, u);
    it->token = unpack_shared(s, u);
    return !u->failed;
}

static struct schema *unpack_schema(const char *bytes, size_t size)
{
    struct unpack u = {.at = bytes, .end = bytes + size};
    struct schema *s = h5vcat_schema_new();
    bool ok = s != NULL;
    uint64_t user_block = unpack_u64(&u), layers = unpack_u64(&u);
    for (uint64_t i = 0; ok && i < layers; i++) {
        size_t length;
        const char *path = unpack_blob(&u, &length);
        char *copy = path ? strndup(path, length) : NULL;
        ok = copy && h5vcat_schema_add_layer(s, copy) >= 0;
        free(copy);
    }
    uint64_t items = unpack_u64(&u);
    for (uint64_t i = 0; ok && i < items; i++)
        ok = unpack_item(s, &u);
    if (ok) {
        s->user_block = user_block;
        return s;
    }
    h5vcat_schema_free(s);
    return NULL;
}

/* Bytes in slices that an int counts. */
static void broadcast_bytes(MPI_Comm comm, char *bytes, uint64_t size)
{
    for (uint64_t at = 0; at < size; at += 1u << 30) {
        uint64_t n = size - at < 1u << 30 ? size - at : 1u << 30;
        MPI_Bcast(bytes + at, (int)n, MPI_BYTE, 0, comm);
    }
}

enum h5vec_status h5vcat_schema_broadcast(MPI_Comm comm, struct schema **s, struct h5vec_error *err)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    struct pack p = {0};
    if (rank == 0) {
        pack_u64(&p, (*s)->user_block);
        pack_u64(&p, (uint64_t)(*s)->layer_count);
        for (int i = 0; i < (*s)->layer_count; i++)
            pack_blob(&p, (*s)->layers[i].path, strlen((*s)->layers[i].path));
        pack_u64(&p, (uint64_t)(*s)->count);
        for (int i = 0; i < (*s)->count; i++)
            pack_item(&p, &(*s)->items[i]);
    }
    uint64_t size = p.size;
    MPI_Bcast(&size, 1, MPI_UINT64_T, 0, comm);
    if (rank != 0) {
        p.bytes = malloc(size ? size : 1);
        p.failed = p.bytes == NULL;
    }
    enum h5vec_status st = p.failed ? h5vcat_no_memory(err) : H5VEC_OK;
    st = h5vcat_agree(comm, st, err);
    if (!st) {
        broadcast_bytes(comm, p.bytes, size);
        if (rank != 0) {
            *s = unpack_schema(p.bytes, size);
            if (*s)
                h5vcat_schema_link(*s);
            else
                st = h5vcat_no_memory(err);
        }
        st = h5vcat_agree(comm, st, err);
    }
    free(p.bytes);
    return st;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text inputs, and shapefiles. A text is parsed once, batch by batch, into the spool: one stream per dataset
 * of the layer, so that from then on its rows are read like those of any other input. The sizes that the plan
 * needs are known only after parsing; parsing twice would cost more than the spool does.
 * Which records of a text that several ranks share are this rank's is cuts.c's to know.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "h5vec_format.h"
#include "error.h"
#include "agree.h"
#include "cuts.h"
#include "merge.h"

_Static_assert((int)H5VCAT_BAD_STOP == (int)H5VEC_FORMAT_BAD_ERROR &&
                   (int)H5VCAT_BAD_SKIP == (int)H5VEC_FORMAT_BAD_SKIP &&
                   (int)H5VCAT_BAD_NULL == (int)H5VEC_FORMAT_BAD_NULL,
               "on_bad is passed on as it is");
_Static_assert((int)H5VEC_LAYER_INTEGER == (int)H5VEC_FORMAT_INTEGER &&
                   (int)H5VEC_LAYER_FLOAT == (int)H5VEC_FORMAT_FLOAT &&
                   (int)H5VEC_LAYER_BOOLEAN == (int)H5VEC_FORMAT_BOOLEAN &&
                   (int)H5VEC_LAYER_TIME == (int)H5VEC_FORMAT_TIME,
               "a column's type is passed on as it is");

#define COLUMN_PATH (H5VEC_LAYER_MAX_NAME * 3 + 64)
#define LEFT_OUT_BYTES 65536 /* of lines about records, of each rank */

/* An open text and its place in the layer. */
struct text {
    struct merge *m;
    const char *name;
    int fd;
    struct h5vec_format_reader *reader;
    size_t columns;
    char **links; /* link names of the columns; one allocation */
    bool quiet;   /* what is left out now is another rank's to tell */
};

/* Items of a column. */
struct column_items {
    int data, offsets, valid; /* offsets: -1 unless it is text */
};

/* Remember which record was left out. */
static void left_out(void *context, const struct h5vec_error *what)
{
    struct text *t = context;
    struct merge *m = t->m;
    if (t->quiet)
        return;
    m->report.left_out++;
    if (m->options->on_bad == H5VCAT_BAD_SKIP)
        m->schema->layers[h5vcat_layers_find(m->schema, m->options->layer)].skipped++;
    if (!m->left_out && !(m->left_out = malloc(LEFT_OUT_BYTES)))
        return;
    size_t room = LEFT_OUT_BYTES - m->left_out_size;
    int n = snprintf(m->left_out + m->left_out_size, room, "%s: %s\n", t->name, what->msg);
    if (n > 0 && (size_t)n < room)
        m->left_out_size += (size_t)n;
}

static void text_close(struct text *t)
{
    free(t->links);
    h5vec_format_free(t->reader);
    if (t->fd >= 0)
        close(t->fd);
}

/* spooling: records that are left out are to be reported. */
static enum h5vec_status text_open(struct merge *m, uint32_t input, bool spooling, struct text *t,
                                   struct h5vec_error *err)
{
    *t = (struct text){.m = m, .name = m->inputs.names[input]};
    t->fd = h5vcat_is_standard(t->name) ? fcntl(m->standard, F_DUPFD_CLOEXEC, 0)
                                        : open(t->name, O_RDONLY | O_CLOEXEC);
    if (t->fd < 0)
        return h5vec_error_set(err, H5VEC_E_IO, 0, "%s: cannot open: %s", t->name, strerror(errno));
    struct h5vec_format_options options = {.sizeof_options = sizeof options,
                                           .max_record = (size_t)(m->options->buffer_size / 8),
                                           .on_bad = (enum h5vec_format_on_bad)m->options->on_bad,
                                           .bad = spooling ? left_out : NULL,
                                           .bad_context = t,
                                           .wkt_column = m->options->wkt_column,
                                           .x_column = m->options->x_column,
                                           .y_column = m->options->y_column,
                                           .types = m->options->types,
                                           .allow_nonfinite = m->options->allow_nonfinite};
    enum h5vec_status st = h5vec_format_open_file(t->name, t->fd, &options, &t->reader, err);
    const char **names = NULL;
    if (!st) {
        t->columns = h5vec_format_column_count(t->reader);
        names = malloc((t->columns + 1) * sizeof *names);
        if (!names)
            st = h5vcat_no_memory(err);
    }
    for (size_t i = 0; i < t->columns && !st; i++)
        names[i] = h5vec_format_column_name(t->reader, i);
    if (!st)
        st = h5vec_layer_column_links(names, t->columns, &t->links, err);
    free(names);
    if (st)
        text_close(t);
    return h5vcat_about(err, st, t->name, NULL);
}

/* ---- The schema -------------------------------------------------------------------------------------- */

/* The item at this path inside the layer. */
static int layer_item(const struct schema *s, int layer, const char *path)
{
    char full[H5VEC_LAYER_MAX_NAME * 6 + 128];
    const char *base = s->layers[layer].path;
    snprintf(full, sizeof full, "%s/%s", strcmp(base, "/") == 0 ? "" : base, path);
    return h5vcat_schema_find(s, full);
}

static enum h5vec_status add_text(struct schema *s, const char *column, struct h5vec_error *err)
{
    char path[COLUMN_PATH + sizeof "/" H5VEC_LAYER_TEXT_OFFSETS];
    snprintf(path, sizeof path, "%s/%s", column, H5VEC_LAYER_TEXT_DATA);
    enum h5vec_status st = h5vcat_layers_add_dataset(s, 0, path, H5VEC_LAYER_ROLE_TEXT_DATA, NULL, err);
    snprintf(path, sizeof path, "%s/%s", column, H5VEC_LAYER_TEXT_OFFSETS);
    return st ? st : h5vcat_layers_add_dataset(s, 0, path, H5VEC_LAYER_ROLE_TEXT_OFFSETS, NULL, err);
}

static enum h5vec_status add_fixed(struct schema *s, const char *column, enum h5vec_format_type type,
                                   struct h5vec_error *err)
{
    struct h5vec_layer_shape shape = {.type = h5vec_layer_value_type((enum h5vec_layer_value)type)};
    if (shape.type < 0)
        return h5vec_layer_error_hdf5(err, "%s: its type cannot be made", column);
    enum h5vec_status st =
        h5vcat_layers_add_dataset(s, 0, column, H5VEC_LAYER_ROLE_COLUMN_FIXED, &shape, err);
    H5Tclose(shape.type);
    return st;
}

static enum h5vec_status add_column(struct schema *s, const struct text *t, size_t column,
                                    struct h5vec_error *err)
{
    const char *link = t->links[column], *name = h5vec_format_column_name(t->reader, column);
    enum h5vec_format_type type = h5vec_format_column_type(t->reader, column);
    char path[COLUMN_PATH];
    snprintf(path, sizeof path, "%s/%s", H5VEC_LAYER_GROUP_COLUMNS, link);
    enum h5vec_status st = type == H5VEC_FORMAT_TEXT ? add_text(s, path, err) : add_fixed(s, path, type, err);
    int i = st ? -1 : layer_item(s, 0, path);
    if (i < 0)
        return st;
    s->items[i].time = type == H5VEC_FORMAT_TIME;
    if (strcmp(link, name) == 0)
        return H5VEC_OK;
    s->items[i].value = h5vcat_schema_blob(s, name, strlen(name) + 1);
    return s->items[i].value ? H5VEC_OK : h5vcat_no_memory(err);
}

enum h5vec_status h5vcat_text_schema(struct merge *m, struct schema *s, uint32_t input,
                                     struct h5vec_error *err)
{
    static const struct {
        const char *path;
        enum h5vec_layer_role role;
    } geometry[] = {{H5VEC_LAYER_PATH_WKB, H5VEC_LAYER_ROLE_WKB},
                    {H5VEC_LAYER_PATH_OFFSETS, H5VEC_LAYER_ROLE_OFFSETS},
                    {H5VEC_LAYER_PATH_BBOX, H5VEC_LAYER_ROLE_BBOX}};
    struct text t;
    enum h5vec_status st = text_open(m, input, false, &t, err);
    if (st)
        return st;
    if (h5vcat_schema_add_layer(s, m->options->layer) < 0)
        st = h5vcat_no_memory(err);
    if (!st)
        st = h5vcat_layers_add_group(s, 0, "", err);
    for (int i = 0; i < 3 && !st; i++)
        st = h5vcat_layers_add_dataset(s, 0, geometry[i].path, geometry[i].role, NULL, err);
    if (!st)
        st = h5vcat_layers_add_group(s, 0, H5VEC_LAYER_GROUP_COLUMNS, err);
    for (size_t i = 0; i < t.columns && !st; i++)
        st = add_column(s, &t, i, err);
    text_close(&t);
    return st;
}

/* ---- Spooling ---------------------------------------------------------------------------------------- */

static int column_item(const struct schema *s, int layer, const char *group, const char *link,
                       const char *last)
{
    char path[COLUMN_PATH];
    snprintf(path, sizeof path, "%s/%s%s%s", group, link, *last ? "/" : "", last);
    return layer_item(s, layer, path);
}

/* What the values of a fixed column mean; text, which it is not, if it is of a type that no text has. */
static enum h5vec_format_type type_of(const struct item *it)
{
    hid_t type = h5vcat_blob_type(it->type);
    for (int v = H5VEC_LAYER_INTEGER; v <= H5VEC_LAYER_BOOLEAN && it->rank == 1 && type >= 0; v++) {
        hid_t other = h5vec_layer_value_type((enum h5vec_layer_value)v);
        bool equal = other >= 0 && H5Tequal(type, other) > 0;
        if (other >= 0)
            H5Tclose(other);
        if (equal)
            return it->time ? H5VEC_FORMAT_TIME : (enum h5vec_format_type)v;
    }
    return H5VEC_FORMAT_TEXT;
}

/* Read a column as the type that the output's has. */
static enum h5vec_status fit_type(const struct text *t, size_t i, enum h5vec_format_type type,
                                  struct h5vec_error *err)
{
    enum h5vec_format_type own = h5vec_format_column_type(t->reader, i);
    const char *name = h5vec_format_column_name(t->reader, i);
    if (h5vec_format_column_retype(t->reader, i, type))
        return H5VEC_OK;
    bool numbers = own == H5VEC_FORMAT_FLOAT && type == H5VEC_FORMAT_INTEGER;
    return h5vec_error_set(err, H5VEC_E_INCOMPATIBLE, 0,
                           "%s: column %s: its values are of type %s, those of %s of type %s: "
                           "--types '%s=%s' fits both",
                           t->name, name, h5vec_format_type_name(own), t->m->inputs.names[0],
                           h5vec_format_type_name(type), name, numbers ? "float" : "text");
}

/* The items of a column, which is read as what they are. */
static enum h5vec_status find_column(const struct text *t, int layer, size_t i, struct column_items *c,
                                     struct h5vec_error *err)
{
    const struct schema *s = t->m->schema;
    const char *link = t->links[i];
    enum h5vec_format_type type = H5VEC_FORMAT_TEXT;
    c->data = column_item(s, layer, H5VEC_LAYER_GROUP_COLUMNS, link, H5VEC_LAYER_TEXT_DATA);
    c->offsets = column_item(s, layer, H5VEC_LAYER_GROUP_COLUMNS, link, H5VEC_LAYER_TEXT_OFFSETS);
    c->valid = column_item(s, layer, H5VEC_LAYER_GROUP_VALID, link, "");
    bool text = c->data >= 0 && c->offsets >= 0;
    if (!text) {
        c->data = column_item(s, layer, H5VEC_LAYER_GROUP_COLUMNS, link, "");
        c->offsets = -1;
        bool fixed = c->data >= 0 && s->items[c->data].role == H5VEC_LAYER_ROLE_COLUMN_FIXED;
        type = fixed ? type_of(&s->items[c->data]) : H5VEC_FORMAT_TEXT;
    }
    if (!text && type == H5VEC_FORMAT_TEXT)
        return h5vec_error_set(err, H5VEC_E_INCOMPATIBLE, 0, "%s: column %s: %s %s", t->name,
                               h5vec_format_column_name(t->reader, i),
                               c->data < 0 ? "is not in" : "is of a type that no text has in",
                               t->m->inputs.names[0]);
    return fit_type(t, i, type, err);
}

static enum h5vec_status find_columns(const struct text *t, int layer, struct column_items *c,
                                      struct h5vec_error *err)
{
    const struct schema *s = t->m->schema;
    size_t expected = 0;
    for (int i = 0; i < s->count; i++)
        expected += s->items[i].layer == layer && (s->items[i].role == H5VEC_LAYER_ROLE_TEXT_DATA ||
                                                   s->items[i].role == H5VEC_LAYER_ROLE_COLUMN_FIXED);
    for (size_t i = 0; i < t->columns; i++) {
        enum h5vec_status st = find_column(t, layer, i, &c[i], err);
        if (st)
            return st;
    }
    if (t->columns == expected)
        return H5VEC_OK;
    for (int i = 0; i < s->count; i++) { /* which one is missing? */
        bool found = s->items[i].layer != layer || (s->items[i].role != H5VEC_LAYER_ROLE_TEXT_DATA &&
                                                    s->items[i].role != H5VEC_LAYER_ROLE_COLUMN_FIXED);
        for (size_t k = 0; k < t->columns && !found; k++)
            found = c[k].data == i;
        if (!found)
            return h5vec_error_set(err, H5VEC_E_INCOMPATIBLE, 0, "%s: %s: is missing; %s has it", t->name,
                                   s->items[i].path, t->m->inputs.names[0]);
    }
    return H5VEC_OK;
}

/* Append count elements to an item's stream, and count them as its rows. */
static enum h5vec_status put(struct merge *m, int item, const void *data, size_t count, struct rows *numbers,
                             struct h5vec_error *err)
{
    const struct item *it = &m->schema->items[item];
    enum h5vec_status st = H5VEC_OK;
    if (m->streams[item] < 0)
        st = h5vcat_spool_stream(m->spool, &m->streams[item], err);
    if (st)
        return st;
    if (numbers[item].count == 0)
        numbers[item].start = h5vcat_spool_length(m->spool, m->streams[item]) / it->row_bytes;
    numbers[item].count += count;
    return h5vcat_spool_append(m->spool, m->streams[item], data, count * it->row_bytes, err);
}

/* Offsets of a batch begin at 0; those of the stream at the text's first byte. room: rows values. */
static enum h5vec_status put_offsets(struct merge *m, int item, const int64_t *offsets, size_t rows,
                                     struct rows *numbers, int64_t *room, struct h5vec_error *err)
{
    int bytes = m->schema->items[item].bytes_item;
    for (size_t i = 0; i < rows; i++)
        room[i] = offsets[i] + (int64_t)numbers[bytes].count;
    return put(m, item, room, rows, numbers, err);
}

static enum h5vec_status put_valid(struct merge *m, int item, const uint8_t *valid, size_t rows,
                                   struct rows *numbers, struct h5vec_error *err)
{
    struct item *it = &m->schema->items[item];
    it->present = it->present || memchr(valid, 0, rows) != NULL;
    return put(m, item, valid, rows, numbers, err);
}

static enum h5vec_status put_column(struct merge *m, const struct column_items *items,
                                    const struct h5vec_format_column *c, size_t rows, struct rows *numbers,
                                    int64_t *room, struct h5vec_error *err)
{
    bool text = c->type == H5VEC_FORMAT_TEXT;
    enum h5vec_status st =
        text ? put_offsets(m, items->offsets, c->offsets, rows, numbers, room, err) : H5VEC_OK;
    if (!st)
        st = put(m, items->data, text ? c->data : c->values, text ? (size_t)c->offsets[rows] : rows, numbers,
                 err);
    return st ? st : put_valid(m, items->valid, c->valid, rows, numbers, err);
}

static enum h5vec_status put_batch(const struct text *t, int layer, const struct column_items *columns,
                                   const struct h5vec_format_batch *b, struct rows *numbers,
                                   struct h5vec_error *err)
{
    struct merge *m = t->m;
    struct layer_plan *l = &m->schema->layers[layer];
    int64_t *room = malloc(b->rows * sizeof *room);
    if (!room)
        return h5vcat_no_memory(err);
    enum h5vec_status st = put_offsets(m, l->offsets, b->offsets, b->rows, numbers, room, err);
    if (!st)
        st = put(m, l->wkb, b->wkb, (size_t)b->offsets[b->rows], numbers, err);
    if (!st)
        st = put(m, layer_item(m->schema, layer, H5VEC_LAYER_PATH_BBOX), b->box, b->rows, numbers, err);
    if (!st)
        st = put_valid(m, layer_item(m->schema, layer, H5VEC_LAYER_PATH_VALID), b->valid, b->rows, numbers,
                       err);
    if (!st && m->vertices < 0)
        st = h5vcat_spool_stream(m->spool, &m->vertices, err);
    if (!st)
        st = h5vcat_spool_append(m->spool, m->vertices, b->vertices, b->rows * sizeof *b->vertices, err);
    for (size_t i = 0; i < t->columns && !st; i++)
        st = put_column(m, &columns[i], &b->columns[i], b->rows, numbers, room, err);
    free(room);
    l->geo.types |= b->geometry_types;
    l->features += b->rows;
    m->report.invalid_geometries += b->invalid;
    return st;
}

/* The CRS that the rows' SRID names, or a shapefile's .prj has. */
static enum h5vec_status note_crs(const struct text *t, int layer, uint32_t input, struct h5vec_error *err)
{
    int32_t srid = 0;
    struct h5vec_layer_geo geo;
    h5vec_layer_geo_init(&geo);
    h5vec_format_srid(t->reader, &srid);
    const char *wkt = h5vec_format_crs(t->reader);
    enum h5vec_status st =
        wkt ? h5vec_layer_geo_set_crs(&geo, wkt, err) : h5vec_layer_geo_set_epsg(&geo, srid, err);
    if (st)
        h5vcat_about(err, st, t->name, NULL);
    else
        st = h5vcat_layers_crs(t->m, layer, input, &geo, err);
    h5vec_layer_geo_free(&geo);
    return st;
}

/* ---- Parts ------------------------------------------------------------------------------------------- */

/* Go on with a part that does not begin the text. The first record is read first, so that its SRID is what
 * the others must have. */
static enum h5vec_status read_first(struct text *t, struct h5vec_error *err)
{
    struct h5vec_format_batch first;
    t->quiet = true;
    enum h5vec_status st = h5vec_format_next(t->reader, 1, &first, err);
    t->quiet = false;
    return st;
}

/* Let the reader read a part, wherever its bytes are. */
static enum h5vec_status take_part(struct text *t, const struct part *p, struct share *share,
                                   struct h5vec_error *err)
{
    struct merge *m = t->m;
    const struct inputs *in = &m->inputs;
    enum h5vec_status st = H5VEC_OK;
    if (in->text[p->input] == INPUT_SHAPEFILE) {
        h5vec_format_share(t->reader, p->lo, p->hi, WHOLE);
        return st;
    }
    bool whole = !part_is_cut(in, p) && m->options->read == H5VCAT_READ_POSIX;
    if (p->alone || whole || !h5vec_format_is_text(t->reader))
        return st; /* the reader reads by itself */
    uint64_t data = h5vec_format_position(t->reader);
    h5vcat_share_open(m, p, data, share);
    if (p->begin <= data) {
        h5vec_format_from(t->reader, h5vcat_share_read, share, 0);
        return st;
    }
    st = read_first(t, err);
    if (!st)
        h5vec_format_from(t->reader, h5vcat_share_read, share, p->lines + 1);
    return h5vcat_about(err, st, t->name, NULL);
}

/* A text input has its layer and nothing else. */
static enum h5vec_status fits(const struct merge *m, const char *name, int layer, struct h5vec_error *err)
{
    const struct schema *s = m->schema;
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->items[i].path, "/") != 0 && (layer < 0 || s->items[i].layer != layer))
            return h5vec_error_set(
                err, H5VEC_E_INCOMPATIBLE, 0,
                "%s: %s: is missing; %s has it, and a text input has only the layer %s (--layer)", name,
                s->items[i].path, m->inputs.names[0], m->options->layer);
    if (layer < 0)
        return h5vec_error_set(err, H5VEC_E_INCOMPATIBLE, 0,
                               "%s: %s: a text input's layer is not in %s (--layer)", name, m->options->layer,
                               m->inputs.names[0]);
    return H5VEC_OK;
}

/* Open a text and let its columns be those of the output. columns: freed by the caller, whatever happens. */
static enum h5vec_status open_fitted(struct merge *m, uint32_t input, bool spooling, struct text *t,
                                     struct column_items **columns, struct h5vec_error *err)
{
    *columns = NULL;
    enum h5vec_status st = text_open(m, input, spooling, t, err);
    if (st)
        return st;
    int layer = h5vcat_layers_find(m->schema, m->options->layer);
    st = fits(m, t->name, layer, err);
    if (!st) {
        *columns = malloc((t->columns + 1) * sizeof **columns);
        st = *columns ? find_columns(t, layer, *columns, err) : h5vcat_no_memory(err);
    }
    if (st)
        text_close(t);
    return st;
}

/* The error of a part again, with its line counted from the text's begin, which takes reading all before. */
static void say_with_line(struct merge *m, const struct part *p, struct h5vec_error *err)
{
    struct text t;
    struct column_items *columns = NULL;
    struct h5vec_format_batch batch;
    uint64_t lines, end = cut_byte(&m->inputs, p->input, p->hi) + p->tail_size;
    if (!err || open_fitted(m, p->input, false, &t, &columns, NULL)) {
        free(columns);
        return;
    }
    if (p->begin > h5vec_format_position(t.reader) &&
        !h5vec_format_count(t.fd, 0, p->begin, '\n', &lines, NULL)) {
        struct h5vec_error again;
        enum h5vec_status st = read_first(&t, &again);
        h5vec_format_part(t.reader, p->begin, end, lines + 1);
        batch.rows = 1;
        while (!st && batch.rows > 0)
            st = h5vec_format_next(t.reader, (size_t)(m->options->buffer_size / 32), &batch, &again);
        if (st)
            *err = again;
    }
    free(columns);
    text_close(&t);
}

enum h5vec_status h5vcat_text_look(struct merge *m, struct part *p, struct h5vec_error *err)
{
    struct text t;
    enum h5vec_status st = text_open(m, p->input, false, &t, err);
    if (st)
        return st;
    p->alone = !h5vec_format_is_text(t.reader);
    p->quotes = h5vec_format_has_quotes(t.reader);
    text_close(&t);
    return H5VEC_OK;
}

enum h5vec_status h5vcat_text_divisible(struct merge *m, const struct part *p, bool *divisible,
                                        struct h5vec_error *err)
{
    struct text t;
    struct share share;
    enum h5vec_status st = text_open(m, p->input, false, &t, err);
    if (st)
        return st;
    h5vcat_share_open(m, p, h5vec_format_position(t.reader), &share);
    h5vec_format_from(t.reader, h5vcat_share_read, &share, 0);
    st = h5vec_format_divisible(t.reader, divisible, err);
    text_close(&t);
    return h5vcat_about(err, st, m->inputs.names[p->input], NULL);
}

/* Every batch of an open part, into the layer's streams. */
static enum h5vec_status spool_rows(struct text *t, const struct part *part,
                                    const struct column_items *columns, struct rows *numbers,
                                    struct h5vec_error *err)
{
    struct merge *m = t->m;
    int layer = h5vcat_layers_find(m->schema, m->options->layer);
    enum h5vec_status st = H5VEC_OK;
    uint64_t rows = 0;
    while (!st) {
        struct h5vec_format_batch batch;
        st = h5vec_format_next(t->reader, (size_t)(m->options->buffer_size / 32), &batch, err);
        if (st && part->lo > 0 && m->inputs.text[part->input] == INPUT_TEXT &&
            m->options->on_bad == H5VCAT_BAD_STOP)
            say_with_line(m, part, err);
        h5vcat_about(err, st, t->name, NULL);
        if (st || batch.rows == 0)
            break;
        rows += batch.rows;
        st = put_batch(t, layer, columns, &batch, numbers, err);
    }
    return !st && rows > 0 ? note_crs(t, layer, part->input, err) : st;
}

enum h5vec_status h5vcat_text_spool(struct merge *m, const struct part *part, struct rows *numbers,
                                    struct h5vec_error *err)
{
    struct text t;
    struct share share;
    struct column_items *columns;
    enum h5vec_status st = open_fitted(m, part->input, true, &t, &columns, err);
    if (!st) {
        st = take_part(&t, part, &share, err);
        if (!st && !(part->alone && part->lo > 0))
            st = spool_rows(&t, part, columns, numbers, err);
        text_close(&t);
    }
    free(columns);
    return st;
}

enum h5vec_status h5vcat_text_left_out(struct merge *m, struct h5vec_error *err)
{
    int size = (int)m->left_out_size, total = 0, *sizes = calloc(2 * (size_t)m->ranks, sizeof *sizes);
    MPI_Allreduce(MPI_IN_PLACE, &m->report.left_out, 1, MPI_UINT64_T, MPI_SUM, m->comm);
    char *all = NULL;
    enum h5vec_status st = sizes ? H5VEC_OK : h5vcat_no_memory(err);
    st = h5vcat_agree(m->comm, st, err);
    if (!st && m->report.left_out > 0) {
        MPI_Gather(&size, 1, MPI_INT, sizes, 1, MPI_INT, 0, m->comm);
        for (int r = 0; r < m->ranks && m->rank == 0; r++) {
            sizes[m->ranks + r] = total;
            total += sizes[r];
        }
        all = malloc((size_t)total + 1);
        st = h5vcat_agree(m->comm, all ? H5VEC_OK : h5vcat_no_memory(err), err);
    }
    if (!st && m->report.left_out > 0) {
        MPI_Gatherv(m->left_out, size, MPI_BYTE, all, sizes, sizes + m->ranks, MPI_BYTE, 0, m->comm);
        for (char *line = all, *end = all + total; line < end && m->rank == 0;) {
            char *newline = memchr(line, '\n', (size_t)(end - line));
            *newline = '\0';
            h5vcat_merge_say(m, H5VCAT_LEFT_OUT, "%s", line);
            line = newline + 1;
        }
    }
    free(all);
    free(sizes);
    return st;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text inputs, and shapefiles. A text is parsed once, batch by batch, into the spool: one stream per dataset
 * of the layer, so that from then on its rows are read like those of any other input. The sizes that the plan
 * needs are known only after parsing; parsing twice would cost more than the spool does.
 *
 * A border between ranks falls on some byte of a text. The record that it falls into belongs to the rank
 * before: that one reads on to its end, the other one begins behind it. In CSV a newline does not end a
 * record if it is inside quotes, which is so if an odd number of quotes is before it: ranks that share a CSV
 * count those of their parts first, and tell each other.
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
#include "merge.h"

_Static_assert((int)H5VCAT_BAD_STOP == (int)H5VEC_FORMAT_BAD_ERROR &&
                   (int)H5VCAT_BAD_SKIP == (int)H5VEC_FORMAT_BAD_SKIP &&
                   (int)H5VCAT_BAD_NULL == (int)H5VEC_FORMAT_BAD_NULL,
               "on_bad is passed on as it is");

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
    int data, offsets, valid;
};

/* Remember which record was left out. */
static void left_out(void *context, const struct h5vec_error *what)
{
    struct text *t = context;
    struct merge *m = t->m;
    if (t->quiet)
        return;
    m->report.left_out++;
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
    t->fd = open(t->name, O_RDONLY | O_CLOEXEC);
    if (t->fd < 0)
        return h5vec_error_set(err, H5VEC_E_IO, 0, "%s: cannot open: %s", t->name, strerror(errno));
    struct h5vec_format_options options = {.sizeof_options = sizeof options,
                                           .max_record = (size_t)(m->options->buffer_size / 8),
                                           .on_bad = (enum h5vec_format_on_bad)m->options->on_bad,
                                           .bad = spooling ? left_out : NULL,
                                           .bad_context = t};
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

enum h5vec_status h5vcat_text_check(struct merge *m, uint32_t input, struct h5vec_error *err)
{
    struct text t;
    enum h5vec_status st = text_open(m, input, false, &t, err);
    if (!st)
        text_close(&t);
    return st;
}

/* ---- The schema -------------------------------------------------------------------------------------- */

static enum h5vec_status add_column(struct schema *s, const struct text *t, size_t column,
                                    struct h5vec_error *err)
{
    const char *link = t->links[column], *name = h5vec_format_column_name(t->reader, column);
    char path[H5VEC_LAYER_MAX_NAME * 3 + 64];
    snprintf(path, sizeof path, "%s/%s/%s", H5VEC_LAYER_GROUP_COLUMNS, link, H5VEC_LAYER_TEXT_DATA);
    enum h5vec_status st = h5vcat_layers_add_dataset(s, 0, path, H5VEC_LAYER_ROLE_TEXT_DATA, err);
    snprintf(path, sizeof path, "%s/%s/%s", H5VEC_LAYER_GROUP_COLUMNS, link, H5VEC_LAYER_TEXT_OFFSETS);
    if (!st)
        st = h5vcat_layers_add_dataset(s, 0, path, H5VEC_LAYER_ROLE_TEXT_OFFSETS, err);
    if (st || strcmp(link, name) == 0)
        return st;
    snprintf(path, sizeof path, "%s/%s/%s", s->layers[0].path, H5VEC_LAYER_GROUP_COLUMNS, link);
    int group = h5vcat_schema_find(s, path);
    s->items[group].value = h5vcat_schema_blob(s, name, strlen(name) + 1);
    return s->items[group].value ? H5VEC_OK : h5vcat_no_memory(err);
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
        st = h5vcat_layers_add_dataset(s, 0, geometry[i].path, geometry[i].role, err);
    if (!st)
        st = h5vcat_layers_add_group(s, 0, H5VEC_LAYER_GROUP_COLUMNS, err);
    for (size_t i = 0; i < t.columns && !st; i++)
        st = add_column(s, &t, i, err);
    text_close(&t);
    return st;
}

/* ---- Spooling ---------------------------------------------------------------------------------------- */

/* The item at this path inside the layer. */
static int layer_item(const struct schema *s, int layer, const char *path)
{
    char full[H5VEC_LAYER_MAX_NAME * 6 + 128];
    const char *base = s->layers[layer].path;
    snprintf(full, sizeof full, "%s/%s", strcmp(base, "/") == 0 ? "" : base, path);
    return h5vcat_schema_find(s, full);
}

static int column_item(const struct schema *s, int layer, const char *group, const char *link,
                       const char *last)
{
    char path[H5VEC_LAYER_MAX_NAME * 3 + 64];
    snprintf(path, sizeof path, "%s/%s%s%s", group, link, *last ? "/" : "", last);
    return layer_item(s, layer, path);
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
        c[i].data = column_item(s, layer, H5VEC_LAYER_GROUP_COLUMNS, t->links[i], H5VEC_LAYER_TEXT_DATA);
        c[i].offsets =
            column_item(s, layer, H5VEC_LAYER_GROUP_COLUMNS, t->links[i], H5VEC_LAYER_TEXT_OFFSETS);
        c[i].valid = column_item(s, layer, H5VEC_LAYER_GROUP_VALID, t->links[i], "");
        if (c[i].data < 0 || c[i].offsets < 0)
            return h5vec_error_set(err, H5VEC_E_INCOMPATIBLE, 0, "%s: column %s: is not a text column of %s",
                                   t->name, h5vec_format_column_name(t->reader, i), t->m->inputs.names[0]);
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
    for (size_t i = 0; i < t->columns && !st; i++) {
        const struct h5vec_format_column *c = &b->columns[i];
        st = put_offsets(m, columns[i].offsets, c->offsets, b->rows, numbers, room, err);
        if (!st)
            st = put(m, columns[i].data, c->data, (size_t)c->offsets[b->rows], numbers, err);
        if (!st)
            st = put_valid(m, columns[i].valid, c->valid, b->rows, numbers, err);
    }
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
        wkt ? h5vec_layer_geo_set_wkt(&geo, wkt, err) : h5vec_layer_geo_set_epsg(&geo, srid, err);
    if (st)
        h5vcat_about(err, st, t->name, NULL);
    else
        st = h5vcat_layers_crs(t->m, layer, input, &geo, err);
    h5vec_layer_geo_free(&geo);
    return st;
}

/* ---- Parts ------------------------------------------------------------------------------------------- */

static bool is_cut(const struct merge *m, const struct part *p)
{
    return m->inputs.text[p->input] == INPUT_TEXT && (p->lo > 0 || p->hi < WHOLE);
}

/* What the ranks with later parts of a text must know of this one. */
struct count {
    uint32_t input; /* NOBODY: this rank's last part goes to the end of its input */
    uint32_t odd;   /* 1: an odd number of quotes that matter */
    uint64_t lines; /* if malformed records are no error: messages about them need their lines */
};

static enum h5vec_status count_part(struct merge *m, const struct part *p, struct count *c,
                                    struct h5vec_error *err)
{
    struct text t;
    uint64_t size = m->inputs.sizes[p->input], lo = cut_row(size, p->lo), hi = cut_row(size, p->hi),
             quotes = 0;
    enum h5vec_status st = text_open(m, p->input, false, &t, err);
    if (st)
        return st;
    if (h5vec_format_has_quotes(t.reader))
        st = h5vec_format_count(t.fd, lo, hi, '"', &quotes, err);
    if (!st && m->options->on_bad != H5VCAT_BAD_STOP)
        st = h5vec_format_count(t.fd, lo, hi, '\n', &c->lines, err);
    c->input = p->input;
    c->odd = quotes & 1;
    text_close(&t);
    return h5vcat_about(err, st, m->inputs.names[p->input], NULL);
}

enum h5vec_status h5vcat_text_cuts(struct merge *m, struct h5vec_error *err)
{
    struct count mine = {.input = NOBODY}, *all = malloc((size_t)m->ranks * sizeof *all);
    struct part *first = m->inputs.parts, *last = first + m->inputs.part_count - 1;
    bool some = m->inputs.part_count > 0;
    enum h5vec_status st = all ? H5VEC_OK : h5vcat_no_memory(err);
    if (!st && some && is_cut(m, last) && last->hi < WHOLE)
        st = count_part(m, last, &mine, err);
    st = h5vcat_agree(m->comm, st, err);
    if (!st) {
        MPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, m->comm);
        for (int r = 0; r < m->rank && some && first->lo > 0; r++)
            if (all[r].input == first->input) {
                first->lo_inside = first->lo_inside != (all[r].odd != 0);
                first->lines += all[r].lines;
            }
        if (some)
            last->hi_inside = last->lo_inside != (mine.odd != 0);
    }
    free(all);
    return st;
}

/* Go on with a part that does not begin the text. The first record is read first, so that its SRID is what
 * the others must have. */
static enum h5vec_status go_to(struct text *t, uint64_t begin, uint64_t end, uint64_t line,
                               struct h5vec_error *err)
{
    struct h5vec_format_batch first;
    t->quiet = true;
    enum h5vec_status st = h5vec_format_next(t->reader, 1, &first, err);
    t->quiet = false;
    if (!st)
        h5vec_format_part(t->reader, begin, end, line);
    return st;
}

/* Let the reader read the records that begin in the part: bytes [*begin, *end) of the text. */
static enum h5vec_status take_part(struct text *t, const struct part *p, uint64_t *begin, uint64_t *end,
                                   struct h5vec_error *err)
{
    uint64_t size = t->m->inputs.sizes[p->input], data = h5vec_format_position(t->reader);
    bool quotes = h5vec_format_has_quotes(t->reader);
    enum h5vec_status st =
        h5vec_format_border(t->fd, size, cut_row(size, p->lo), quotes, p->lo_inside, begin, err);
    if (!st)
        st = h5vec_format_border(t->fd, size, cut_row(size, p->hi), quotes, p->hi_inside, end, err);
    if (st)
        return h5vcat_about(err, st, t->name, NULL);
    *begin = *begin > data ? *begin : data;
    *end = *end > *begin ? *end : *begin;
    if (p->lo == 0) {
        h5vec_format_part(t->reader, *begin, *end, 0);
        return H5VEC_OK;
    }
    uint64_t lines = 0;
    if (t->m->options->on_bad != H5VCAT_BAD_STOP)
        st = h5vec_format_count(t->fd, cut_row(size, p->lo), *begin, '\n', &lines, err);
    if (!st)
        st = go_to(t, *begin, *end, p->lines + lines + 1, err);
    return h5vcat_about(err, st, t->name, NULL);
}

/* The error of a part again, with its line counted from the text's begin, which takes reading all before. */
static void say_with_line(struct merge *m, const struct part *p, uint64_t begin, uint64_t end,
                          struct h5vec_error *err)
{
    struct text t;
    struct h5vec_format_batch batch;
    uint64_t lines;
    if (!err || begin == 0 || text_open(m, p->input, false, &t, NULL))
        return;
    if (!h5vec_format_count(t.fd, 0, begin, '\n', &lines, NULL)) {
        struct h5vec_error again;
        enum h5vec_status st = go_to(&t, begin, end, lines + 1, &again);
        batch.rows = 1;
        while (!st && batch.rows > 0)
            st = h5vec_format_next(t.reader, (size_t)(m->options->buffer_size / 32), &batch, &again);
        if (st)
            *err = again;
    }
    text_close(&t);
}

enum h5vec_status h5vcat_text_spool(struct merge *m, const struct part *part, struct rows *numbers,
                                    struct h5vec_error *err)
{
    struct text t;
    uint32_t input = part->input;
    uint64_t begin = 0, end = 0;
    enum h5vec_status st = text_open(m, input, true, &t, err);
    if (!st && is_cut(m, part) &&
        !(m->options->on_bad != H5VCAT_BAD_STOP && h5vec_format_has_quotes(t.reader))) {
        st = take_part(&t, part, &begin, &end, err);
        if (st)
            text_close(&t);
    }
    if (st)
        return st;
    /* A quote too many or too few must not make later parts begin elsewhere: such a text is read whole. */
    bool others = part->lo > 0 && begin == 0;
    int layer = h5vcat_layers_find(m->schema, m->options->layer);
    struct column_items *columns = malloc((t.columns + 1) * sizeof *columns);
    st = columns ? find_columns(&t, layer, columns, err) : h5vcat_no_memory(err);
    uint64_t rows = 0;
    while (!st && !others) {
        struct h5vec_format_batch batch;
        st = h5vec_format_next(t.reader, (size_t)(m->options->buffer_size / 32), &batch, err);
        if (st && part->lo > 0 && m->options->on_bad == H5VCAT_BAD_STOP)
            say_with_line(m, part, begin, end, err);
        h5vcat_about(err, st, t.name, NULL);
        if (st || batch.rows == 0)
            break;
        rows += batch.rows;
        st = put_batch(&t, layer, columns, &batch, numbers, err);
    }
    if (!st && rows > 0)
        st = note_crs(&t, layer, input, err);
    free(columns);
    text_close(&t);
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

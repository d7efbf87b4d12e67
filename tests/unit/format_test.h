/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the tests of formats/ share: an input that arrives in steps of any size, and all rows of a reader as
 * one text, so that what a table says can be compared with what came out, whatever the steps and the batches.
 */
#ifndef FORMAT_TEST_H
#define FORMAT_TEST_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "h5vec_format.h"
#include "suite.h"

/* The input: step bytes a call; fails at byte fail_at (SIZE_MAX: never). */
struct feed {
    const char *data;
    size_t size, at, step, fail_at;
    struct h5vec_format_options options; /* max_record apart */
};

static inline enum h5vec_status feed_read(void *context, void *buffer, size_t size, size_t *got,
                                          struct h5vec_error *err)
{
    struct feed *feed = context;
    size_t n = feed->size - feed->at;
    n = n < feed->step ? n : feed->step;
    n = n < size ? n : size;
    if (feed->at + n > feed->fail_at)
        return h5vec_error_set(err, H5VEC_E_IO, 0, "the disk is on fire");
    if (n > 0)
        memcpy(buffer, feed->data + feed->at, n);
    feed->at += n;
    *got = n;
    return H5VEC_OK;
}

struct outcome {
    enum h5vec_status status;
    char *rows; /* "WKT|column|column\n" a row; null geometry or no value: ~ */
    size_t batches;
    uint64_t skipped;
    int32_t srid;
    char name[8];
    char columns[256]; /* "|name|name" */
    char types[256];   /* "|integer|text" */
    struct h5vec_error err;
};

static inline void print_value(FILE *out, const struct h5vec_format_column *column, size_t row)
{
    static const uint8_t none[sizeof(int64_t)];
    char number[VCODEC_NUMBER_MAX];
    if (!column->valid[row])
        fputc('~', out);
    if (column->type == H5VEC_FORMAT_TEXT) {
        int64_t begin = column->offsets[row], end = column->offsets[row + 1];
        ck_assert(begin <= end && (row > 0 || begin == 0));
        ck_assert(column->valid[row] || begin == end);
        fprintf(out, "%.*s", (int)(end - begin), column->data ? column->data + begin : "");
        return;
    }
    size_t size = column->type == H5VEC_FORMAT_BOOLEAN ? 1 : sizeof(int64_t);
    if (!column->valid[row])
        ck_assert_mem_eq((const uint8_t *)column->values + row * size, none, size);
    else if (column->type == H5VEC_FORMAT_FLOAT)
        fprintf(out, "%.*s", (int)vcodec_number_write(((const double *)column->values)[row], number), number);
    else if (column->type == H5VEC_FORMAT_BOOLEAN)
        fputs(((const uint8_t *)column->values)[row] ? "TRUE" : "FALSE", out);
    else
        fprintf(out, "%lld", (long long)((const int64_t *)column->values)[row]);
}

static inline void print_row(FILE *out, const struct h5vec_format_batch *batch, size_t row, size_t columns)
{
    char wkt[4096] = "~";
    size_t length = 1, size = (size_t)(batch->offsets[row + 1] - batch->offsets[row]);
    if (batch->valid[row])
        ck_assert_int_eq(
            vcodec_wkt_write(batch->wkb + batch->offsets[row], size, wkt, sizeof wkt, &length, NULL), 0);
    else
        ck_assert_uint_eq(size, 0);
    fprintf(out, "%.*s", (int)length, wkt);
    for (size_t c = 0; c < columns; c++) {
        fputc('|', out);
        print_value(out, &batch->columns[c], row);
    }
    fputc('\n', out);
}

/* What the codec says of each row must be what the batch says. */
static inline void check_facts(const struct h5vec_format_batch *batch)
{
    uint32_t types = 0;
    uint64_t invalid = 0;
    ck_assert_int_eq(batch->offsets[0], 0);
    for (size_t i = 0; i < batch->rows; i++) {
        struct vcodec_info info = {.box = vcodec_box_empty()};
        if (batch->valid[i]) {
            size_t size = (size_t)(batch->offsets[i + 1] - batch->offsets[i]);
            ck_assert_int_eq(vcodec_wkb_scan(batch->wkb + batch->offsets[i], size, &info, NULL), H5VEC_OK);
            types |= 1u << ((unsigned)info.type - 1 + 8 * (unsigned)info.dim);
        }
        invalid += info.invalid;
        ck_assert_uint_eq(batch->vertices[i], info.vertices);
        ck_assert_mem_eq(&batch->box[i], &info.box, sizeof info.box);
    }
    ck_assert_uint_eq(batch->geometry_types, types);
    ck_assert_uint_eq(batch->invalid, invalid);
}

static inline struct outcome read_feed(struct feed *feed, size_t max_bytes, size_t max_record)
{
    struct outcome outcome = {0};
    struct h5vec_format_options options = feed->options;
    options.sizeof_options = sizeof options;
    options.max_record = max_record;
    struct h5vec_format_reader *reader = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&outcome.rows, &length);
    outcome.status = h5vec_format_open(feed_read, feed, &options, &reader, &outcome.err);
    if (outcome.status == H5VEC_OK) {
        size_t columns = h5vec_format_column_count(reader);
        snprintf(outcome.name, sizeof outcome.name, "%s", h5vec_format_name(reader));
        for (size_t c = 0; c < columns; c++) {
            size_t used = strlen(outcome.columns);
            snprintf(outcome.columns + used, sizeof outcome.columns - used, "|%s",
                     h5vec_format_column_name(reader, c));
            used = strlen(outcome.types);
            snprintf(outcome.types + used, sizeof outcome.types - used, "|%s",
                     h5vec_format_type_name(h5vec_format_column_type(reader, c)));
        }
        struct h5vec_format_batch batch;
        while ((outcome.status = h5vec_format_next(reader, max_bytes, &batch, &outcome.err)) == H5VEC_OK &&
               batch.rows > 0) {
            check_facts(&batch);
            for (size_t i = 0; i < batch.rows; i++)
                print_row(out, &batch, i, columns);
            outcome.batches++;
        }
        h5vec_format_srid(reader, &outcome.srid);
        outcome.skipped = h5vec_format_bad(reader);
        if (outcome.status != H5VEC_OK) /* after an error only _free is of use */
            ck_assert_int_eq(h5vec_format_next(reader, max_bytes, &batch, NULL), H5VEC_E_ARG);
    } else {
        ck_assert_ptr_null(reader);
    }
    h5vec_format_free(reader);
    fclose(out);
    return outcome;
}

/* A copy in memory of its own size, so that a sanitizer sees a read past its end. */
static inline struct outcome read_text(const char *text, size_t size, size_t step, size_t max_bytes,
                                       size_t max_record)
{
    char *copy = malloc(size ? size : 1);
    if (size > 0)
        memcpy(copy, text, size);
    struct feed feed = {.data = copy, .size = size, .step = step, .fail_at = SIZE_MAX};
    struct outcome outcome = read_feed(&feed, max_bytes, max_record);
    free(copy);
    return outcome;
}

struct good_case {
    const char *input, *name, *columns, *rows;
};

struct bad_case {
    const char *input;
    enum h5vec_status status;
    const char *message; /* how it begins */
};

static inline void check_good(const struct good_case *c)
{
    static const size_t steps[] = {1, 2, 3, 7, 64, SIZE_MAX};
    static const size_t batches[] = {1, 5, 40, 1 << 20};
    for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++)
        for (size_t b = 0; b < sizeof batches / sizeof batches[0]; b++) {
            struct outcome o = read_text(c->input, strlen(c->input), steps[s], batches[b], 0);
            ck_assert_msg(o.status == H5VEC_OK, "%s: %s", c->input, o.err.msg);
            ck_assert_str_eq(o.name, c->name);
            ck_assert_str_eq(o.columns, c->columns);
            ck_assert_str_eq(o.rows, c->rows);
            free(o.rows);
        }
}

static inline void check_bad_bytes(const char *input, size_t size, enum h5vec_status status,
                                   const char *message)
{
    static const size_t steps[] = {1, 3, SIZE_MAX};
    for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
        struct outcome o = read_text(input, size, steps[s], 1 << 20, 0);
        ck_assert_msg(o.status == status, "%s: %s instead of %s: %s", input, h5vec_errname(o.status),
                      h5vec_errname(status), o.err.msg);
        ck_assert_msg(strncmp(o.err.msg, message, strlen(message)) == 0, "%s: \"%s\" instead of \"%s\"",
                      input, o.err.msg, message);
        free(o.rows);
    }
}

/* Malformed records left out: the same rows whatever the steps and batches. */
static inline void check_skips(const char *input, const char *rows, uint64_t skipped)
{
    static const size_t steps[] = {1, 7, SIZE_MAX};
    static const size_t batches[] = {1, 40, 1 << 20};
    for (size_t s = 0; s < 3; s++)
        for (size_t b = 0; b < 3; b++) {
            struct feed feed = {.data = input,
                                .size = strlen(input),
                                .step = steps[s],
                                .fail_at = SIZE_MAX,
                                .options.on_bad = H5VEC_FORMAT_BAD_SKIP};
            struct outcome o = read_feed(&feed, batches[b], 0);
            ck_assert_msg(o.status == H5VEC_OK, "%s: %s", input, o.err.msg);
            ck_assert_str_eq(o.rows, rows);
            ck_assert_uint_eq(o.skipped, skipped);
            free(o.rows);
        }
}

static inline void check_bad(const struct bad_case *c)
{
    check_bad_bytes(c->input, strlen(c->input), c->status, c->message);
}

/* Every beginning of an input is read without harm, and gives the whole input's first rows or an error. */
static inline void check_truncations(const char *input)
{
    struct outcome whole = read_text(input, strlen(input), SIZE_MAX, 1 << 20, 0);
    ck_assert_int_eq(whole.status, H5VEC_OK);
    size_t errors = 0;
    for (size_t n = 0; n < strlen(input); n++) {
        struct outcome part = read_text(input, n, 5, 1 << 20, 0);
        struct outcome again = read_text(input, n, SIZE_MAX, 10, 0);
        ck_assert_int_eq(part.status, again.status);
        ck_assert_str_eq(part.err.msg, again.err.msg);
        if (part.status == H5VEC_OK) {
            /* Only the last row may differ: it was cut. */
            char *last = strlen(part.rows) > 0 ? part.rows + strlen(part.rows) - 1 : part.rows;
            while (last > part.rows && last[-1] != '\n')
                last--;
            ck_assert_msg(strncmp(part.rows, whole.rows, (size_t)(last - part.rows)) == 0, "%zu bytes", n);
        } else {
            errors++;
            ck_assert_msg(part.err.msg[0] != '\0', "%zu bytes", n);
        }
        free(part.rows);
        free(again.rows);
    }
    ck_assert_uint_gt(errors, 5);
    free(whole.rows);
}

#endif

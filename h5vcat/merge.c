/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A merge from begin to end: look at the inputs, plan, write page by page, verify, rename.
 */
#include "error.h"
#include "merge.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "H5Zh5vec.h"
#include "agree.h"
#include "blocks.h"
#include "join.h"
#include "links.h"
#include "plan.h"
#include "reader.h"
#include "verify.h"
#include "writer.h"

double h5vcat_merge_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void h5vcat_merge_say(const struct merge *m, enum h5vcat_message kind, const char *fmt, ...)
{
    char line[4200];
    va_list args;
    if (m->rank != 0 || !m->options->say)
        return;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    m->options->say(m->options->say_context, kind, line);
}

void h5vcat_merge_joined(struct merge *m, const struct join *join)
{
    struct h5vcat_splice_counts n = h5vcat_join_counts(join);
    m->report.splice.copied += n.copied;
    m->report.splice.spliced += n.spliced;
    m->report.splice.encoded += n.encoded;
    m->report.splice.rims += n.encoded;
    m->report.splice.surplus += n.surplus;
}

void h5vcat_merge_progress(struct merge *m, uint64_t bytes)
{
    m->done += bytes;
    if (m->rank != 0 || m->options->progress <= 0 || m->all == 0)
        return;
    double now = h5vcat_merge_now(), share = (double)m->done / (double)m->all, spent = now - m->started;
    if (now - m->told < m->options->progress)
        return;
    m->told = now;
    h5vcat_merge_say(m, H5VCAT_PROGRESS, "%3.0f %%, %.1f MB/s, %.0f s left", 100 * share,
                     share * (double)m->report.raw_bytes / spent / 1e6,
                     share > 0 ? spent / share - spent : 0.0);
}

int h5vcat_exit_code(enum h5vec_status status)
{
    switch (status) {
    case H5VEC_OK:
        return 0;
    case H5VEC_E_USAGE:
    case H5VEC_E_EXISTS:
        return 2;
    case H5VEC_E_INCOMPATIBLE:
        return 3;
    case H5VEC_E_LEFT_OUT:
        return 4;
    default:
        return 1;
    }
}

/* ---- Begin and end ------------------------------------------------------------------------------------ */

/* Defaults filled in. layer: room for the absolute path of the text layer. */
static enum h5vec_status normalise(const struct h5vcat_options *given, struct h5vcat_options *o, char **layer,
                                   struct h5vec_error *err)
{
    if (!given || given->sizeof_options != sizeof *given || !given->output || given->input_count == 0)
        return h5vec_error_set(err, H5VEC_E_ARG, 0, "options: output, inputs or sizeof_options is not set");
    *o = *given;
    if (o->buffer_size == 0)
        o->buffer_size = H5VCAT_BUFFER_DEFAULT;
    const char *name = o->layer ? o->layer : "layer";
    while (*name == '/')
        name++;
    *layer = malloc(strlen(name) + 2);
    if (!*layer)
        return h5vcat_no_memory(err);
    sprintf(*layer, "/%s", name);
    o->layer = *layer;
    if (o->block_size > H5VCAT_BLOCK_MOST(o->buffer_size))
        return h5vec_error_set(err, H5VEC_E_USAGE, 0,
                               "--block-size: %llu bytes are more than a sixteenth of --buffer-size",
                               (unsigned long long)o->block_size);
    int most = o->encoder == H5VCAT_ENCODER_ZLIB || o->write == H5VCAT_WRITE_COLLECTIVE ? 9 : 12;
    if (o->compress == H5VCAT_COMPRESS_DEFLATE && (o->compress_level < 1 || o->compress_level > most))
        return h5vec_error_set(err, H5VEC_E_USAGE, 0, "deflate level %d: 1 to %d is possible%s",
                               o->compress_level, most, most == 9 ? " with zlib" : "");
    return H5VEC_OK;
}

/* Names of the output's directory and of the file until it is renamed: alike on every rank. */
static enum h5vec_status name_output(struct merge *m, struct h5vec_error *err)
{
    const char *out = m->options->output, *slash = strrchr(out, '/');
    uint64_t id = (uint64_t)time(NULL) << 24 ^ (uint64_t)getpid();
    MPI_Bcast(&id, 1, MPI_UINT64_T, 0, m->comm);
    size_t n = strlen(out) + 32;
    m->temporary = malloc(n);
    m->directory = slash ? strndup(out, slash == out ? 1 : (size_t)(slash - out)) : strdup(".");
    if (!m->temporary || !m->directory)
        return h5vcat_no_memory(err);
    snprintf(m->temporary, n, "%s.tmp-%llx", out, (unsigned long long)id);
    if (m->rank == 0 && !m->options->force && !m->options->dry_run && access(out, F_OK) == 0)
        return h5vec_error_set(err, H5VEC_E_EXISTS, 0, "%s: exists; --force replaces it", out);
    struct stat st;
    if (m->rank == 0 && stat(out, &st) == 0 && !S_ISREG(st.st_mode))
        return h5vec_error_set(err, H5VEC_E_IO, 0, "%s: is not a regular file", out);
    return H5VEC_OK;
}

static enum h5vec_status merge_open(struct merge *m, struct h5vec_error *err)
{
    MPI_Comm_rank(m->comm, &m->rank);
    MPI_Comm_size(m->comm, &m->ranks);
    m->started = m->told = h5vcat_merge_now();
    enum h5vec_status st = h5vcat_agree(m->comm, name_output(m, err), err);
    if (st)
        return st;
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): directory is m's, and freed with it */
    st = h5vcat_spool_new(m->directory, (size_t)(m->options->buffer_size / 16), &m->spool, err);
    if (!st)
        st = h5vcat_coder_new(&m->coder, err);
    if (!st)
        st = h5vcat_reader_new(m, &m->reader, err);
    st = h5vcat_agree(m->comm, st, err);
    if (!st)
        st = h5vcat_standard_open(m, err);
    return st ? st : h5vcat_inputs_open(m->comm, m->options, m->standard, &m->inputs, err);
}

static void merge_free(struct merge *m)
{
    h5vcat_blocks_free(m->blocks);
    h5vcat_reader_free(m->reader);
    h5vcat_coder_free(m->coder);
    h5vcat_spool_free(m->spool);
    h5vcat_schema_free(m->schema);
    h5vcat_inputs_free(&m->inputs);
    if (m->standard >= 0)
        close(m->standard);
    free(m->streams);
    free(m->rows_buffer);
    free(m->left_out);
    free(m->temporary);
    free(m->directory);
}

/* ---- The stages --------------------------------------------------------------------------------------- */

static enum h5vec_status make_plan(struct merge *m, struct h5vec_error *err)
{
    double begin = h5vcat_merge_now();
    enum h5vec_status st = h5vcat_gather_inputs(m, err);
    if (!st)
        st = h5vcat_layers_index(m, err);
    if (!st)
        st = h5vcat_plan_make(m, err);
    for (int i = 0; !st && i < m->schema->count; i++)
        m->all += m->schema->items[i].mine * m->schema->items[i].row_bytes;
    m->report.seconds_scan = h5vcat_merge_now() - begin;
    return st;
}

static enum h5vec_status write_pages(struct merge *m, const struct writer *w, void *state,
                                     struct h5vec_error *err)
{
    int cursor = 0;
    enum h5vec_status st = H5VEC_OK;
    while (!st && cursor < m->schema->count) {
        struct page page;
        st = h5vcat_page_next(m, &cursor, &page, err);
        if (st)
            break;
        double begin = h5vcat_merge_now();
        st = h5vcat_page_read_ahead(m, &page, err);
        m->report.seconds_read += h5vcat_merge_now() - begin;
        st = h5vcat_agree(m->comm, st, err);
        if (!st)
            st = w->page(m, state, &page, err);
        h5vcat_page_free(&page);
    }
    return st;
}

/* The output takes its name only now: whoever sees it sees all of it, and so it is after a power cut. */
static enum h5vec_status publish(struct merge *m, struct h5vec_error *err)
{
    enum h5vec_status st = H5VEC_OK;
    if (m->rank == 0) {
        int fd = open(m->directory, O_RDONLY | O_CLOEXEC);
        if (rename(m->temporary, m->options->output) < 0)
            st = h5vec_error_set(err, H5VEC_E_IO, 0, "%s: cannot rename %s to it: %s", m->options->output,
                                 m->temporary, strerror(errno));
        else if (fd >= 0 && fsync(fd) < 0 && errno != EINVAL)
            st = h5vec_error_set(err, H5VEC_E_IO, 0, "%s: cannot flush: %s", m->directory, strerror(errno));
        if (fd >= 0)
            close(fd);
    }
    return h5vcat_agree(m->comm, st, err);
}

/* On every rank: whichever is told to end first takes the file with it, before the launcher kills the others.
 */
static void tell_temporary(const struct merge *m, const char *name)
{
    if (m->options->say)
        m->options->say(m->options->say_context, H5VCAT_TEMPORARY, name);
}

static enum h5vec_status write_output(struct merge *m, struct h5vec_error *err)
{
    const struct writer *w =
        m->options->write == H5VCAT_WRITE_COLLECTIVE ? &h5vcat_writer_collective : &h5vcat_writer_direct;
    void *state = NULL;
    m->rows_buffer = malloc(m->budget.rows + 1);
    enum h5vec_status st = m->rows_buffer ? H5VEC_OK : h5vcat_no_memory(err);
    st = h5vcat_agree(m->comm, st, err);
    tell_temporary(m, m->temporary);
    if (!st)
        st = w->open(m, &state, err);
    if (!st)
        st = write_pages(m, w, state, err);
    st = w->close(m, state, st, err);
    if (!st)
        st = h5vcat_agree(m->comm, m->rank == 0 ? h5vcat_links_user_block(m, err) : H5VEC_OK, err);
    if (!st && m->options->verify)
        st = h5vcat_verify_output(m, err);
    if (!st)
        st = publish(m, err);
    if (st && m->rank == 0)
        unlink(m->temporary);
    tell_temporary(m, "");
    return st;
}

/* Sums over the ranks, and the longest times. */
static void share_report(struct merge *m)
{
    struct h5vcat_report *r = &m->report;
    double *times[] = {&r->seconds,        &r->seconds_scan,  &r->seconds_read,  &r->seconds_exchange,
                       &r->seconds_encode, &r->seconds_write, &r->seconds_verify};
    r->seconds = h5vcat_merge_now() - m->started;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        MPI_Allreduce(MPI_IN_PLACE, times[i], 1, MPI_DOUBLE, MPI_MAX, m->comm);
    MPI_Allreduce(MPI_IN_PLACE, &r->stored_bytes, 1, MPI_UINT64_T, MPI_SUM, m->comm);
    MPI_Allreduce(MPI_IN_PLACE, &r->chunks, 1, MPI_UINT64_T, MPI_SUM, m->comm);
    MPI_Allreduce(MPI_IN_PLACE, &r->splice, sizeof r->splice / 8, MPI_UINT64_T, MPI_SUM, m->comm);
    if (m->rank == 0 && !m->options->dry_run) {
        int fd = open(m->options->output, O_RDONLY | O_CLOEXEC);
        off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
        r->output_bytes = size > 0 ? (uint64_t)size : 0;
        if (fd >= 0)
            close(fd);
    }
    MPI_Bcast(&r->output_bytes, 1, MPI_UINT64_T, 0, m->comm);
}

static enum h5vec_status left_out(const struct merge *m, struct h5vec_error *err)
{
    static const char *const words[][2] = {{"records were left out", "record was left out"},
                                           {"records have no geometry", "record has no geometry"}};
    return h5vec_error_set(err, H5VEC_E_LEFT_OUT, 0, "%s: done, but %llu malformed %s", m->options->output,
                           (unsigned long long)m->report.left_out,
                           words[m->options->on_bad != H5VCAT_BAD_SKIP][m->report.left_out == 1]);
}

enum h5vec_status h5vcat_merge(MPI_Comm comm, const struct h5vcat_options *options,
                               struct h5vcat_report *report, struct h5vec_error *err)
{
    struct h5vcat_options normal;
    struct merge m = {.options = &normal, .standard = -1};
    char *layer = NULL;
    H5E_auto2_t print;
    void *print_data;
    enum h5vec_status st = normalise(options, &normal, &layer, err);
    if (st) { /* alike on every rank */
        free(layer);
        return st;
    }
    H5Eget_auto2(H5E_DEFAULT, &print, &print_data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5Z_h5vec_register();
    MPI_Comm_dup(comm, &m.comm);
    st = merge_open(&m, err);
    if (!st)
        st = make_plan(&m, err);
    if (!st && normal.dry_run)
        h5vcat_plan_tell(&m);
    else if (!st)
        st = write_output(&m, err);
    if (!st) {
        share_report(&m);
        *report = m.report;
    }
    if (!st && m.report.left_out > 0)
        st = left_out(&m, err);
    merge_free(&m);
    MPI_Comm_free(&m.comm);
    H5Eset_auto2(H5E_DEFAULT, print, print_data);
    free(layer);
    return st;
}

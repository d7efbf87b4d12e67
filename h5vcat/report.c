/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the command tells: results on stdout, everything else on stderr.
 */
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli_options.h"
#include "command.h"

/* What a signal handler has to remove. */
static char temporary[PATH_MAX];

static void remove_and_die(int number)
{
    if (*temporary)
        unlink(temporary);
    signal(number, SIG_DFL);
    raise(number);
}

/* A job that is cancelled or runs out of time leaves nothing behind either. */
static void guard(const char *path)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    if (strlen(path) >= sizeof temporary)
        return;
    strcpy(temporary, path);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], *path ? remove_and_die : SIG_DFL);
}

/* End a line of progress that stands on the terminal. */
static void end_progress(struct command *c)
{
    if (c->progress_line)
        fputc('\n', stderr);
    c->progress_line = false;
}

void command_error(struct command *c, const struct h5vec_error *err)
{
    end_progress(c);
    fprintf(stderr, "h5vcat: %s\n", err->msg);
}

static void keep(struct command_lines *lines, const char *line)
{
    char **p = realloc(lines->line, (lines->count + 1) * sizeof *p);
    if (!p)
        return;
    lines->line = p;
    p[lines->count] = strdup(line);
    lines->count += p[lines->count] != NULL;
}

static json_t *array_of(const struct command_lines *lines)
{
    json_t *array = json_array();
    for (size_t i = 0; i < lines->count; i++)
        json_array_append_new(array, json_string(lines->line[i]));
    return array;
}

void command_say(void *context, enum h5vcat_message kind, const char *line)
{
    struct command *c = context;
    if (kind == H5VCAT_TEMPORARY) {
        guard(line);
    } else if (kind == H5VCAT_LOST) {
        fprintf(stderr, "h5vcat: %s\n", line);
    } else if (kind == H5VCAT_PLAN) {
        if (c->json)
            keep(&c->plan, line);
        else
            puts(line);
    } else if (kind == H5VCAT_PROGRESS) {
        bool terminal = isatty(STDERR_FILENO);
        fprintf(stderr, terminal ? "\rh5vcat: %s   " : "h5vcat: %s\n", line);
        c->progress_line = terminal;
    } else if (kind == H5VCAT_LEFT_OUT && c->json) {
        keep(&c->left_out, line);
    } else if (c->verbose && !c->quiet) {
        end_progress(c);
        fprintf(stderr, "h5vcat: %s\n", line);
    }
}

static json_t *splice_json(const struct h5vcat_report *r)
{
    return json_pack("{s:I, s:I, s:I, s:{s:I, s:I, s:I, s:I, s:I}, s:I}", "copied",
                     (json_int_t)r->splice.copied, "spliced", (json_int_t)r->splice.spliced, "encoded",
                     (json_int_t)r->splice.encoded, "encoded_why", "rims", (json_int_t)r->splice.rims, "off",
                     (json_int_t)r->splice.off, "filters", (json_int_t)r->splice.filters, "values",
                     (json_int_t)r->splice.values, "shapes", (json_int_t)r->splice.shapes, "surplus",
                     (json_int_t)r->splice.surplus);
}

/* What became of the bytes of filtered chunks, and why. */
static void tell_splice(const struct h5vcat_report *r)
{
    const struct {
        uint64_t bytes;
        const char *why;
    } whys[] = {{r->splice.rims, "where streams were cut"},
                {r->splice.off, "as options ask"},
                {r->splice.filters, "because of other filters than deflate"},
                {r->splice.values, "because their values change"},
                {r->splice.shapes, "where no stored stream fits the chunk"}};
    char copied[H5VEC_CLI_BYTES], spliced[H5VEC_CLI_BYTES], bytes[H5VEC_CLI_BYTES];
    fprintf(stderr, "h5vcat: streams of %s copied, %s spliced, %s encoded",
            h5vec_cli_bytes(r->splice.copied, copied), h5vec_cli_bytes(r->splice.spliced, spliced),
            h5vec_cli_bytes(r->splice.encoded, bytes));
    const char *between = ": ";
    for (size_t i = 0; i < sizeof whys / sizeof *whys; i++)
        if (whys[i].bytes) {
            fprintf(stderr, "%s%s %s", between, h5vec_cli_bytes(whys[i].bytes, bytes), whys[i].why);
            between = ", ";
        }
    if (r->splice.surplus)
        fprintf(stderr, "; %llu bytes behind streams dropped", (unsigned long long)r->splice.surplus);
    fputc('\n', stderr);
}

static void report_json(const struct command *c, const struct h5vcat_report *r)
{
    json_t *o = json_pack(
        "{s:s, s:i, s:s, s:b, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, "
        "s:{s:f, s:f, s:f, "
        "s:f, s:f, s:f}, s:o, s:o, s:I, s:o}",
        "schema", "h5vcat-report", "version", 1, "output", c->merge.output, "dry_run", c->merge.dry_run,
        "verified", r->verified, "inputs", (json_int_t)r->inputs, "datasets", (json_int_t)r->datasets,
        "layers", (json_int_t)r->layers, "rows", (json_int_t)r->rows, "input_bytes",
        (json_int_t)r->input_bytes, "raw_bytes", (json_int_t)r->raw_bytes, "stored_bytes",
        (json_int_t)r->stored_bytes, "output_bytes", (json_int_t)r->output_bytes, "chunks",
        (json_int_t)r->chunks, "rounds", (json_int_t)r->rounds, "invalid_geometries",
        (json_int_t)r->invalid_geometries, "seconds", r->seconds, "stages", "scan", r->seconds_scan, "read",
        r->seconds_read, "exchange", r->seconds_exchange, "encode", r->seconds_encode, "write",
        r->seconds_write, "verify", r->seconds_verify, "splice", splice_json(r), "plan", array_of(&c->plan),
        "left_out", (json_int_t)r->left_out, "left_out_records", array_of(&c->left_out));
    if (!o)
        return;
    json_dumpf(o, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(o);
}

void command_report(struct command *c, const struct h5vcat_report *r)
{
    char in[H5VEC_CLI_BYTES], out[H5VEC_CLI_BYTES];
    end_progress(c);
    if (c->json)
        report_json(c, r);
    if (!c->verbose || c->quiet)
        return;
    fprintf(stderr, "h5vcat: %s: %llu inputs (%s), %llu datasets, %llu layers, %llu chunks, %s%s, %.2f s\n",
            c->merge.output, (unsigned long long)r->inputs, h5vec_cli_bytes(r->input_bytes, in),
            (unsigned long long)r->datasets, (unsigned long long)r->layers, (unsigned long long)r->chunks,
            h5vec_cli_bytes(r->output_bytes, out), r->verified ? ", verified" : "", r->seconds);
    fprintf(stderr,
            "h5vcat: longest of any rank: scan %.2f s, read %.2f s, exchange %.2f s, encode %.2f s, write "
            "%.2f s, "
            "verify %.2f s; %llu rounds\n",
            r->seconds_scan, r->seconds_read, r->seconds_exchange, r->seconds_encode, r->seconds_write,
            r->seconds_verify, (unsigned long long)r->rounds);
    if (r->splice.copied + r->splice.encoded > 0)
        tell_splice(r);
    if (r->invalid_geometries)
        fprintf(stderr, "h5vcat: %llu structurally invalid geometries were kept as they are\n",
                (unsigned long long)r->invalid_geometries);
}

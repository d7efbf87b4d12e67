/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command h5vcat: its options, its list of inputs, its report.
 */
#ifndef H5VCAT_COMMAND_H
#define H5VCAT_COMMAND_H

#include <stdio.h>
#include "h5vcat.h"

struct command {
    struct h5vcat_options merge;
    const char *list;    /* -i */
    char *list_text;     /* the list's bytes, cut into names; owned */
    const char **inputs; /* owned */
    bool json, quiet, verbose, help, help_brief, version;
    bool progress_given, encoder_given;
    int rank;
    /* Rank 0: lines for --json; owned. */
    struct command_lines {
        char **line;
        size_t count;
    } plan, left_out;
    bool progress_line; /* an unfinished line of progress stands on stderr */
};

/* Parse the options, alike on every rank; operands and the list (read by rank 0 and sent to all) become the
 * inputs. Collective if -i is given. */
enum h5vec_status command_parse(int argc, char **argv, struct command *c, struct h5vec_error *err);
void command_free(struct command *c);
void command_help(FILE *out, bool brief);

/* The say function: notes with -v, the plan to stdout, progress. */
void command_say(void *context, enum h5vcat_message kind, const char *line);

/* What was done, as -v or --json wants it. Rank 0 only. */
void command_report(struct command *c, const struct h5vcat_report *report);

/* One line on stderr. Rank 0 only. */
void command_error(struct command *c, const struct h5vec_error *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The commands' options: one table is parsed, printed by --help and compared with the man page by a test.
 * Values are parsed strictly. Prefix h5vec_cli_; no HDF5, no MPI. Only h5vec_cli_help prints.
 */
#ifndef H5VEC_CLI_OPTIONS_H
#define H5VEC_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "h5vec_status.h"

struct h5vec_cli_option {
    int id;                /* handed to the handler: an enum of the command's, not 0 */
    char short_name;       /* 'o' for -o; 0: none */
    const char *long_name; /* without "--"; NULL: none */
    const char *value;     /* the value's name in --help ("FILE"); NULL: takes none */
    bool value_optional;   /* only --long=VALUE gives one, else the handler gets NULL */
    const char *group;     /* heading in --help; options of a group stand together in the table */
    const char *help;      /* what it does, in a line or several (broken by '\n') */
    const char *def;       /* the default, in words; NULL: none to tell */
};

struct h5vec_cli {
    const char *program; /* "h5vcat" */
    const char *usage;   /* what follows "Usage: " */
    const char *summary; /* a sentence or several lines; what follows the usage */
    const struct h5vec_cli_option *options;
    size_t count;
    const char *footer; /* printed at the end of --help (exit codes, examples); NULL: nothing */
};

/* Told each option in the order of the command line; value is NULL where there is none and else lives as long
 * as argv. Anything but H5VEC_OK ends the parse. */
typedef enum h5vec_status (*h5vec_cli_handler)(void *context, int id, const char *value,
                                               struct h5vec_error *err);

/* Parse argv with getopt_long's rules (operands may stand between options; "--" ends the options; a long
 * option may be shortened as far as it stays unique). argv is reordered: the operands are argv[*first_operand
 * .. argc). An unknown option, a missing or a superfluous value is H5VEC_E_USAGE, with a message that ends in
 * "; try --help", and so does a handler's H5VEC_E_USAGE. Not reentrant (getopt_long has globals). */
enum h5vec_status h5vec_cli_parse(const struct h5vec_cli *cli, int argc, char **argv,
                                  h5vec_cli_handler handler, void *context, int *first_operand,
                                  struct h5vec_error *err);

/* Print the help: all of it, or (brief, for -h) usage and those options that have a short name. */
void h5vec_cli_help(const struct h5vec_cli *cli, FILE *out, bool brief);

/* "64MiB": digits, then nothing, KiB, MiB, GiB, TiB or K, M, G, T (powers of 1024) or kB, MB, GB, TB (of
 * 1000). name is the option for the message ("--buffer-size"). H5VEC_E_USAGE for anything else, and for what
 * does not fit in 63 bits. */
enum h5vec_status h5vec_cli_size(const char *name, const char *text, uint64_t *bytes,
                                 struct h5vec_error *err);

/* A whole decimal number from min to max. */
enum h5vec_status h5vec_cli_number(const char *name, const char *text, uint64_t min, uint64_t max,
                                   uint64_t *number, struct h5vec_error *err);

/* The index of text in choices[0 .. n). The message lists them. */
enum h5vec_status h5vec_cli_choice(const char *name, const char *text, const char *const *choices, size_t n,
                                   size_t *index, struct h5vec_error *err);

/* Write bytes for people: "0 B", "999 B", "1.5 KiB", "64.0 MiB"; returns text. */
#define H5VEC_CLI_BYTES 24
const char *h5vec_cli_bytes(uint64_t bytes, char text[H5VEC_CLI_BYTES]);

#endif

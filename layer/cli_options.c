/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Options of the commands. getopt_long is fed from the command's table, so that what is parsed and what
 * --help prints cannot differ. An option's place in the table, not its id, travels through getopt_long as val
 * (VAL_BASE + place), which keeps ids free for the command's own enum.
 */
#include "cli_options.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { VAL_BASE = 1000 };

/* What getopt_long takes; both in one allocation each. */
struct getopt_tables {
    struct option *longs;
    char *shorts;
};

static bool tables_make(const struct h5vec_cli *cli, struct getopt_tables *tables)
{
    tables->longs = calloc(cli->count + 1, sizeof *tables->longs);
    tables->shorts = calloc(2 * cli->count + 2, 1);
    if (!tables->longs || !tables->shorts)
        return false;
    struct option *next = tables->longs;
    char *shorts = tables->shorts;
    *shorts++ = ':'; /* tells a missing value from an unknown option */
    for (size_t i = 0; i < cli->count; i++) {
        const struct h5vec_cli_option *option = &cli->options[i];
        if (option->short_name) {
            *shorts++ = option->short_name;
            if (option->value && !option->value_optional)
                *shorts++ = ':';
        }
        if (option->long_name)
            *next++ = (struct option){.name = option->long_name,
                                      .has_arg = !option->value           ? no_argument
                                                 : option->value_optional ? optional_argument
                                                                          : required_argument,
                                      .val = VAL_BASE + (int)i};
    }
    return true;
}

static void tables_free(struct getopt_tables *tables)
{
    free(tables->longs);
    free(tables->shorts);
}

static const struct h5vec_cli_option *find(const struct h5vec_cli *cli, int val)
{
    if (val >= VAL_BASE)
        return &cli->options[val - VAL_BASE];
    for (size_t i = 0; i < cli->count; i++)
        if (val > 0 && cli->options[i].short_name == val)
            return &cli->options[i];
    return NULL;
}

/* The message for getopt_long's '?' and ':'. word is the argument it stopped at. */
static enum h5vec_status refuse(const struct h5vec_cli *cli, int result, const char *word,
                                struct h5vec_error *err)
{
    const struct h5vec_cli_option *option = find(cli, optopt);
    if (strncmp(word, "--", 2) == 0) {
        const char *what = result == ':' ? "needs a value"
                           : option      ? "takes no value"
                                         : "is not an option, or could be several";
        return h5vec_error_set(err, H5VEC_E_USAGE, 0, "%.*s %s; try --help", (int)strcspn(word, "="), word,
                               what);
    }
    return h5vec_error_set(err, H5VEC_E_USAGE, 0, "-%c %s; try --help", optopt,
                           result == ':' ? "needs a value" : "is not an option");
}

/* What a handler found wrong with a value, with the hint that every usage error ends in. */
static enum h5vec_status with_hint(enum h5vec_status status, struct h5vec_error *err)
{
    if (status != H5VEC_E_USAGE || !err || strstr(err->msg, "try --help"))
        return status;
    char why[sizeof err->msg];
    memcpy(why, err->msg, sizeof why);
    return h5vec_error_set(err, status, err->offset, "%s; try --help", why);
}

enum h5vec_status h5vec_cli_parse(const struct h5vec_cli *cli, int argc, char **argv,
                                  h5vec_cli_handler handler, void *context, int *first_operand,
                                  struct h5vec_error *err)
{
    struct getopt_tables tables;
    enum h5vec_status status = H5VEC_OK;
    if (!tables_make(cli, &tables))
        status = h5vec_error_set(err, H5VEC_E_NOMEM, 0, "out of memory");
    optind = 0; /* glibc: start afresh */
    opterr = 0;
    while (status == H5VEC_OK) {
        int at = optind ? optind : 1;
        int result = getopt_long(argc, argv, tables.shorts, tables.longs, NULL);
        if (result == -1)
            break;
        if (result == '?' || result == ':') {
            /* A long option is the word before optind; a short one may be in the middle of its word. */
            const char *word = argv[optind > at ? optind - 1 : at];
            status = refuse(cli, result, word, err);
        } else {
            status = with_hint(handler(context, find(cli, result)->id, optarg, err), err);
        }
    }
    tables_free(&tables);
    if (status == H5VEC_OK)
        *first_operand = optind;
    return status;
}

/* "  -o, --output=FILE", padded by the caller. */
static int flags_text(const struct h5vec_cli_option *option, char *text, size_t size)
{
    char shorts[8] = "    ";
    if (option->short_name)
        snprintf(shorts, sizeof shorts, "-%c%s", option->short_name, option->long_name ? ", " : "  ");
    const char *open = "", *close = "", *value = option->value ? option->value : "";
    if (option->value) {
        open = option->value_optional ? "[=" : option->long_name ? "=" : " ";
        close = option->value_optional ? "]" : "";
    }
    return snprintf(text, size, "  %s%s%s%s%s%s", shorts, option->long_name ? "--" : "",
                    option->long_name ? option->long_name : "", open, value, close);
}

static void print_option(const struct h5vec_cli_option *option, FILE *out)
{
    enum { HELP_COLUMN = 30 };
    char flags[128];
    int width = flags_text(option, flags, sizeof flags);
    fprintf(out, "%s", flags);
    const char *line = option->help;
    for (;;) {
        int length = (int)strcspn(line, "\n");
        if (width > HELP_COLUMN - 2) {
            fputc('\n', out);
            width = 0;
        }
        fprintf(out, "%*s%.*s", HELP_COLUMN - width, "", length, line);
        line += length;
        if (*line == '\0')
            break;
        line++;
        fputc('\n', out);
        width = 0;
    }
    if (option->def)
        fprintf(out, " [%s]", option->def);
    fputc('\n', out);
}

void h5vec_cli_help(const struct h5vec_cli *cli, FILE *out, bool brief)
{
    fprintf(out, "Usage: %s\n%s\n", cli->usage, cli->summary);
    const char *group = "";
    for (size_t i = 0; i < cli->count; i++) {
        const struct h5vec_cli_option *option = &cli->options[i];
        if (brief && !option->short_name)
            continue;
        if (!brief && strcmp(group, option->group) != 0)
            fprintf(out, "\n%s:\n", option->group);
        else if (brief && group[0] == '\0')
            fputc('\n', out);
        group = option->group;
        print_option(option, out);
    }
    if (!brief && cli->footer)
        fprintf(out, "\n%s\n", cli->footer);
}

/* Digits at *text, which is moved past them. False if there are none or the number leaves 64 bits. */
static bool digits(const char **text, uint64_t *number)
{
    const char *p = *text;
    uint64_t value = 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    bool any = p != *text;
    *text = p;
    *number = value;
    return any;
}

enum h5vec_status h5vec_cli_size(const char *name, const char *text, uint64_t *bytes, struct h5vec_error *err)
{
    static const struct {
        const char *name;
        uint64_t factor;
    } units[] = {
        {"", 1},
        {"KiB", UINT64_C(1) << 10},
        {"MiB", UINT64_C(1) << 20},
        {"GiB", UINT64_C(1) << 30},
        {"TiB", UINT64_C(1) << 40},
        {"K", UINT64_C(1) << 10},
        {"M", UINT64_C(1) << 20},
        {"G", UINT64_C(1) << 30},
        {"T", UINT64_C(1) << 40},
        {"kB", 1000},
        {"MB", 1000000},
        {"GB", 1000000000},
        {"TB", UINT64_C(1000000000000)},
    };
    const char *p = text;
    uint64_t number;
    if (digits(&p, &number)) {
        for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
            if (strcmp(p, units[i].name) != 0)
                continue;
            if (number > INT64_MAX / units[i].factor)
                return h5vec_error_set(err, H5VEC_E_USAGE, 0, "%s: '%s' is too large", name, text);
            *bytes = number * units[i].factor;
            return H5VEC_OK;
        }
    }
    return h5vec_error_set(
        err, H5VEC_E_USAGE, 0,
        "%s: '%s' is not a size: write a whole number with nothing (bytes), KiB, MiB, GiB, TiB, "
        "kB, MB, GB or TB after it",
        name, text);
}

enum h5vec_status h5vec_cli_number(const char *name, const char *text, uint64_t min, uint64_t max,
                                   uint64_t *number, struct h5vec_error *err)
{
    const char *p = text;
    uint64_t value;
    if (!digits(&p, &value) || *p != '\0' || value < min || value > max)
        return h5vec_error_set(err, H5VEC_E_USAGE, 0,
                               "%s: '%s' is not a whole number from %" PRIu64 " to %" PRIu64, name, text, min,
                               max);
    *number = value;
    return H5VEC_OK;
}

enum h5vec_status h5vec_cli_choice(const char *name, const char *text, const char *const *choices, size_t n,
                                   size_t *index, struct h5vec_error *err)
{
    char list[256] = "";
    size_t length = 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(text, choices[i]) == 0) {
            *index = i;
            return H5VEC_OK;
        }
        const char *between = i == 0 ? "" : i + 1 < n ? ", " : " or ";
        if (length < sizeof list)
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", between, choices[i]);
    }
    return h5vec_error_set(err, H5VEC_E_USAGE, 0, "%s: '%s' is not one of %s", name, text, list);
}

const char *h5vec_cli_bytes(uint64_t bytes, char text[H5VEC_CLI_BYTES])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    double value = (double)bytes;
    /* 1023.95 would print as 1024.0 */
    while (value >= (unit ? 1023.95 : 1024.0)) {
        value /= 1024;
        unit++;
    }
    snprintf(text, H5VEC_CLI_BYTES, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return text;
}

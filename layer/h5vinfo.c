/* SPDX-License-Identifier: BSD-3-Clause
 *
 * h5vinfo: what is in an HDF5 file, its layers first. A serial program: it never calls MPI.
 */
#include "h5vinfo.h"

#include <stdio.h>
#include <stdlib.h>
#include "H5Zh5vec.h"
#include "cli_options.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

enum option_id { OPT_CHECK = 1, OPT_JSON, OPT_BRIEF, OPT_HELP, OPT_VERSION };

static const struct h5vec_cli_option options[] = {
    {.id = OPT_CHECK,
     .long_name = "check",
     .group = "Input",
     .help =
         "check every layer against the format's rules and print\nwhat breaks one; exit 1 if anything does"},
    {.id = OPT_JSON, .long_name = "json", .group = "Output", .help = "print one JSON object", .def = "text"},
    {.id = OPT_BRIEF, .short_name = 'h', .group = "Reporting", .help = "print a short help and exit"},
    {.id = OPT_HELP, .long_name = "help", .group = "Reporting", .help = "print this help and exit"},
    {.id = OPT_VERSION,
     .short_name = 'V',
     .long_name = "version",
     .group = "Reporting",
     .help = "print the version and exit"},
};

static const struct h5vec_cli cli = {
    .program = "h5vinfo",
    .usage = "h5vinfo [OPTIONS] FILE[:/GROUP]...",
    .summary = "List the layers of geometries and the datasets in HDF5 files.",
    .options = options,
    .count = sizeof options / sizeof options[0],
    .footer = "Exit codes: 0 done; 1 a file could not be read, or --check found something;\n2 wrong usage.",
};

struct choices {
    bool check, json;
    enum option_id print; /* OPT_BRIEF, OPT_HELP, OPT_VERSION, or 0 */
};

static enum h5vec_status choose(void *context, int id, const char *value, struct h5vec_error *err)
{
    struct choices *choices = context;
    (void)value;
    (void)err;
    if (id == OPT_CHECK)
        choices->check = true;
    else if (id == OPT_JSON)
        choices->json = true;
    else if (!choices->print)
        choices->print = (enum option_id)id;
    return H5VEC_OK;
}

/* One file. Appends to files if JSON is wanted, else prints. Returns the exit code. */
static int show(char *argument, const struct choices *choices, json_t *files)
{
    struct h5vinfo_report report = {0};
    struct h5vec_error err = {0};
    hid_t file = H5I_INVALID_HID;
    int code = EXIT_OK;
    if (h5vinfo_scan(argument, choices->check, &file, &report, &err) != H5VEC_OK) {
        fprintf(stderr, "h5vinfo: %s: %s\n", argument, err.msg);
        code = EXIT_FAILED;
    } else if (choices->json) {
        if (json_array_append_new(files, h5vinfo_json(&report)) != 0) {
            fprintf(stderr, "h5vinfo: %s: no memory for JSON\n", argument);
            code = EXIT_FAILED;
        }
    } else if (choices->check) {
        h5vinfo_print_check(&report);
    } else {
        h5vinfo_print(&report);
    }
    for (size_t i = 0; i < report.layers; i++)
        if (report.layer[i].findings > 0 || report.layer[i].why)
            code = EXIT_FAILED;
    if (code == EXIT_OK && choices->check && report.layers == 0) {
        fprintf(stderr, "h5vinfo: %s: no layer to check\n", argument);
        code = EXIT_FAILED;
    }
    h5vinfo_report_free(&report);
    if (file >= 0)
        H5Fclose(file);
    return code;
}

static int show_all(int count, char **arguments, const struct choices *choices)
{
    json_t *files = json_array();
    int code = EXIT_OK;
    for (int i = 0; i < count; i++) {
        int one = show(arguments[i], choices, files);
        code = one > code ? one : code;
    }
    if (choices->json) {
        json_t *root = json_pack("{s:s, s:i, s:O}", "schema", "h5vinfo", "version", 1, "files", files);
        if (!root || json_dumpf(root, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER) != 0)
            code = EXIT_FAILED;
        putchar('\n');
        json_decref(root);
    }
    json_decref(files);
    return code;
}

static int usage_error(const char *what)
{
    fprintf(stderr, "h5vinfo: %s\n", what);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    struct choices choices = {0};
    struct h5vec_error err = {0};
    int first = 0;
    if (h5vec_cli_parse(&cli, argc, argv, choose, &choices, &first, &err) != H5VEC_OK)
        return usage_error(err.msg);
    int code = EXIT_OK;
    if (choices.print == OPT_VERSION)
        printf("h5vinfo %s\n", H5VEC_VERSION);
    else if (choices.print)
        h5vec_cli_help(&cli, stdout, choices.print == OPT_BRIEF);
    else if (first == argc)
        return usage_error("no FILE was given; try --help");
    else {
        H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* errors are told in our own words */
        H5Z_h5vec_register();                  /* no plugin is needed here */
        code = show_all(argc - first, argv + first, &choices);
    }
    if (fflush(stdout) != 0) {
        fprintf(stderr, "h5vinfo: standard output cannot be written\n");
        code = EXIT_FAILED;
    }
    return code;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * h5vinfo: what is in an HDF5 file, its layers first. A serial program: it never calls MPI.
 */
#include "h5vinfo.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "H5Zh5vec.h"
#include "cli_options.h"
#include "h5vinfo_export.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

enum option_id { OPT_CHECK = 1, OPT_ROWS, OPT_BBOX, OPT_JSON, OPT_EXPORT, OPT_BRIEF, OPT_HELP, OPT_VERSION };

static const struct h5vec_cli_option options[] = {
    {.id = OPT_CHECK,
     .long_name = "check",
     .group = "Input",
     .help =
         "check every layer against the format's rules and print\nwhat breaks one; exit 1 if anything does"},
    {.id = OPT_ROWS,
     .long_name = "rows",
     .value = "A:B",
     .group = "Input",
     .help = "export rows A to B - 1, numbered from 0",
     .def = "all"},
    {.id = OPT_BBOX,
     .long_name = "bbox",
     .value = "X0,Y0,X1,Y1",
     .group = "Input",
     .help = "export rows whose box touches this one"},
    {.id = OPT_JSON, .long_name = "json", .group = "Output", .help = "print one JSON object", .def = "text"},
    {.id = OPT_EXPORT,
     .long_name = "export",
     .value = "FORMAT",
     .group = "Output",
     .help = "write the rows of the one layer in FILE: wkt (a line each,\nwithout columns), wkb (one after "
             "the other), csv\n"
             "or geojsonseq"},
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
    bool check, json, selects;
    struct h5vinfo_wanted wanted; /* format is H5VINFO_NONE without --export */
    enum option_id print;         /* OPT_BRIEF, OPT_HELP, OPT_VERSION, or 0 */
};

static enum h5vec_status choose_format(const char *value, struct h5vinfo_wanted *wanted,
                                       struct h5vec_error *err)
{
    static const char *const formats[] = {[H5VINFO_WKT - 1] = "wkt",
                                          [H5VINFO_WKB - 1] = "wkb",
                                          [H5VINFO_GEOJSONSEQ - 1] = "geojsonseq",
                                          [H5VINFO_CSV - 1] = "csv"};
    size_t index = 0;
    enum h5vec_status status =
        h5vec_cli_choice("--export", value, formats, sizeof formats / sizeof formats[0], &index, err);
    if (status == H5VEC_OK)
        wanted->format = (enum h5vinfo_format)(index + 1);
    return status;
}

/* "A:B", "A:" or ":B". */
static enum h5vec_status choose_rows(const char *value, struct h5vinfo_wanted *wanted,
                                     struct h5vec_error *err)
{
    char text[64];
    const char *colon = strchr(value, ':');
    size_t length = strlen(value);
    if (!colon || length >= sizeof text)
        return h5vec_error_set(err, H5VEC_E_USAGE, 0,
                               "--rows=%s: two row numbers with a colon between are needed", value);
    memcpy(text, value, length + 1);
    text[colon - value] = '\0';
    enum h5vec_status status = H5VEC_OK;
    wanted->first = 0;
    wanted->end = UINT64_MAX;
    if (text[0])
        status = h5vec_cli_number("--rows", text, 0, INT64_MAX, &wanted->first, err);
    if (status == H5VEC_OK && colon[1])
        status = h5vec_cli_number("--rows", colon + 1, 0, INT64_MAX, &wanted->end, err);
    if (status == H5VEC_OK && wanted->end < wanted->first)
        status = h5vec_error_set(err, H5VEC_E_USAGE, 0, "--rows=%s: ends before it begins", value);
    return status;
}

static enum h5vec_status choose_box(const char *value, struct h5vinfo_wanted *wanted, struct h5vec_error *err)
{
    double side[4];
    const char *p = value, *end = value + strlen(value);
    for (size_t i = 0; i < 4; i++) {
        size_t length = 0;
        if (vcodec_number_read(p, (size_t)(end - p), &side[i], &length) != H5VEC_OK ||
            p[length] != (i < 3 ? ',' : '\0'))
            return h5vec_error_set(err, H5VEC_E_USAGE, 0,
                                   "--bbox=%s: four numbers with commas between are needed", value);
        p += length + 1;
    }
    if (side[0] > side[2] || side[1] > side[3])
        return h5vec_error_set(err, H5VEC_E_USAGE, 0, "--bbox=%s: a lower side is above the upper one",
                               value);
    wanted->box = (struct vcodec_box){side[0], side[1], side[2], side[3]};
    wanted->has_box = true;
    return H5VEC_OK;
}

static enum h5vec_status choose(void *context, int id, const char *value, struct h5vec_error *err)
{
    struct choices *choices = context;
    choices->selects = choices->selects || id == OPT_ROWS || id == OPT_BBOX;
    if (id == OPT_EXPORT)
        return choose_format(value, &choices->wanted, err);
    if (id == OPT_ROWS)
        return choose_rows(value, &choices->wanted, err);
    if (id == OPT_BBOX)
        return choose_box(value, &choices->wanted, err);
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

/* Returns the exit code. Whoever closes the pipe behind us has seen enough: nothing is said then. */
static int export_rows(char *argument, const struct choices *choices)
{
    struct h5vec_error err = {0};
    enum h5vec_status status = h5vinfo_export(argument, &choices->wanted, &err);
    if (status == H5VEC_OK)
        return EXIT_OK;
    if (status != H5VEC_E_IO || err.offset != EPIPE)
        fprintf(stderr, "h5vinfo: %s: %s\n", argument, err.msg);
    return status == H5VEC_E_USAGE ? EXIT_USAGE : EXIT_FAILED;
}

/* What does not go together, or NULL. */
static const char *contradiction(const struct choices *choices, int files)
{
    if (!choices->wanted.format)
        return choices->selects ? "--rows and --bbox go with --export; try --help" : NULL;
    if (choices->check || choices->json)
        return "--export does not go with --check or --json; try --help";
    return files == 1 ? NULL : "--export takes one FILE; try --help";
}

static int usage_error(const char *what)
{
    fprintf(stderr, "h5vinfo: %s\n", what);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    struct choices choices = {.wanted.end = UINT64_MAX};
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
    else if (contradiction(&choices, argc - first))
        return usage_error(contradiction(&choices, argc - first));
    else {
        H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* errors are told in our own words */
        H5Z_h5vec_register();                  /* no plugin is needed here */
        code = choices.wanted.format ? export_rows(argv[first], &choices)
                                     : show_all(argc - first, argv + first, &choices);
    }
    if (!choices.wanted.format && fflush(stdout) != 0) {
        fprintf(stderr, "h5vinfo: standard output cannot be written\n");
        code = EXIT_FAILED;
    }
    return code;
}

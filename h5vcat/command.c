/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Options and inputs of the command.
 */
#include "error.h"
#include "command.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "agree.h"
#include "cli_options.h"
#include "h5vec_format.h"

enum {
    OPT_OUTPUT = 1,
    OPT_LIST,
    OPT_LAYER,
    OPT_ON_BAD,
    OPT_WKT_COLUMN,
    OPT_X,
    OPT_Y,
    OPT_TYPES,
    OPT_NONFINITE,
    OPT_SPLIT,
    OPT_READ,
    OPT_BLOCK,
    OPT_FORCE,
    OPT_BUFFER,
    OPT_CHUNK,
    OPT_WRITE,
    OPT_COMPRESS,
    OPT_ENCODER,
    OPT_SHUFFLE,
    OPT_SPLICE,
    OPT_CODEC,
    OPT_DRY_RUN,
    OPT_VERIFY,
    OPT_JSON,
    OPT_PROGRESS,
    OPT_QUIET,
    OPT_VERBOSE,
    OPT_HELP,
    OPT_HELP_BRIEF,
    OPT_VERSION,
};

static const struct h5vec_cli_option table[] = {
    {OPT_LIST, 'i', "input-list", "LIST", false, "Input",
     "read names of inputs from LIST, one a line, after those\n"
     "given as arguments; - is standard input",
     NULL},
    {OPT_LAYER, 0, "layer", "NAME", false, "Input", "the layer that texts and shapefiles become", "layer"},
    {OPT_ON_BAD, 0, "on-bad", "HOW", false, "Input",
     "a malformed record of a text: stop; skip it; null: what\nis wrong in it. Listed with -v and "
     "--json; exit status 4",
     "stop"},
    {OPT_WKT_COLUMN, 0, "wkt-column", "NAME", false, "Input",
     "the column of WKT in a CSV or tab-separated text: its name,\nor #N for the Nth",
     "WKT, geometry, geom or the_geom, else the first that is WKT"},
    {OPT_X, 0, "x", "NAME", false, "Input", "with --y: the columns of points in a CSV text",
     "lon and lat, longitude and latitude, or x and y"},
    {OPT_Y, 0, "y", "NAME", false, "Input", "see --x", NULL},
    {OPT_TYPES, 0, "types", "NAME=TYPE,...", false, "Input",
     "types of columns: text, integer, float, boolean or time;\n* is every other column",
     "as the first MiB of the text shows"},
    {OPT_NONFINITE, 0, "allow-nonfinite", NULL, false, "Input", "nan and inf are numbers in texts", NULL},
    {OPT_OUTPUT, 'o', "output", "FILE", false, "Output", "the file to make", NULL},
    {OPT_FORCE, 'f', "force", NULL, false, "Output", "replace FILE if it exists", NULL},
    {OPT_CHUNK, 0, "chunk-size", "BYTES", false, "Output", "size of chunks",
     "the inputs' if they agree on 256KiB or more, else 1MiB, or 4MiB where rows are arrays"},
    {OPT_COMPRESS, 0, "compress", "HOW", false, "Output",
     "keep: the inputs' filters; none; deflate:N, N from 1 to 12", "keep"},
    {OPT_ENCODER, 0, "encoder", "NAME", false, "Output", "what deflates: libdeflate or zlib (--write=direct)",
     "libdeflate"},
    {OPT_SPLICE, 0, "splice", "WHEN", false, "Output",
     "join the inputs' deflate streams, not compress again, where\nfilters are deflate alone: auto: with "
     "--compress=keep;\nalways: with deflate:N, too; never",
     "auto"},
    {OPT_SHUFFLE, 0, "shuffle", "HOW", false, "Output", "keep, on or off", "keep"},
    {OPT_CODEC, 0, "codec", "NAME", false, "Output",
     "none, or vector: transform geometries before they are\ncompressed; reading then needs the plugin "
     "libh5vec_filter",
     "none"},
    {OPT_VERIFY, 0, "verify", NULL, false, "Output",
     "read the output back and compare it with what was read\nbefore it gets its name", NULL},
    {OPT_BUFFER, 0, "buffer-size", "BYTES", false, "Parallel I/O",
     "memory of each rank for data; HDF5, MPI and code take\nup to 64MiB more", "256MiB"},
    {OPT_SPLIT, 0, "split", "HOW", false, "Parallel I/O",
     "the rest of a record that ranks' shares of a text tear:\nmessage: from the rank behind; overlap: by "
     "reading on",
     "message"},
    {OPT_READ, 0, "read", "HOW", false, "Parallel I/O",
     "texts by posix calls, or by MPI-IO: independent, or\ncollective where ranks share a text", "posix"},
    {OPT_BLOCK, 0, "block-size", "BYTES", false, "Parallel I/O",
     "of a text, to be read at once; at most a sixteenth of\n--buffer-size; shares begin at multiples of it",
     "a rank's share, if it is not too large"},
    {OPT_WRITE, 0, "write", "HOW", false, "Parallel I/O",
     "direct: one rank writes metadata, every rank its own\nchunks; collective: parallel HDF5 through MPI-IO",
     "direct"},
    {OPT_DRY_RUN, 'n', "dry-run", NULL, false, "Reporting", "print the plan and write nothing", NULL},
    {OPT_JSON, 0, "json", NULL, false, "Reporting", "print a report as one JSON object on standard output",
     NULL},
    {OPT_PROGRESS, 0, "progress", "SECS", true, "Reporting",
     "tell progress on standard error every SECS seconds", "1 on a terminal, else none; 10 without SECS"},
    {OPT_QUIET, 'q', "quiet", NULL, false, "Reporting", "nothing but errors", NULL},
    {OPT_VERBOSE, 'v', "verbose", NULL, false, "Reporting", "tell what was done", NULL},
    {OPT_HELP_BRIEF, 'h', NULL, NULL, false, "Reporting", "short help", NULL},
    {OPT_HELP, 0, "help", NULL, false, "Reporting", "this help", NULL},
    {OPT_VERSION, 'V', "version", NULL, false, "Reporting", "print the version", NULL},
};

static const struct h5vec_cli cli = {
    .program = "h5vcat",
    .usage = "mpiexec -n RANKS h5vcat -o FILE [options] INPUT...",
    .summary = "Merge HDF5 files, layers, texts with geometries (WKT, CSV, GeoJSON, hexadecimal WKB)\nand "
               "shapefiles into one plain HDF5 file, in parallel.\n"
               "Datasets are concatenated along their first dimension in the order of the inputs.\n"
               "The input - is text from standard input.",
    .options = table,
    .count = sizeof table / sizeof *table,
    .footer = "Exit status: 0 done; 1 failed; 2 wrong usage, existing output, or a plan that does not\n"
              "fit; 3 inputs that do not fit together; 4 done, but something was left out.\n"
              "Example: mpiexec -n 4 h5vcat -o run.h5 run-*.h5",
};

void command_help(FILE *out, bool brief)
{
    h5vec_cli_help(&cli, out, brief);
}

/* ---- Options ------------------------------------------------------------------------------------------ */

static enum h5vec_status choose(const char *name, const char *text, const char *const *choices, size_t n,
                                int *out, struct h5vec_error *err)
{
    size_t index = 0;
    enum h5vec_status st = h5vec_cli_choice(name, text, choices, n, &index, err);
    if (!st)
        *out = (int)index;
    return st;
}

static enum h5vec_status set_compress(struct command *c, const char *value, struct h5vec_error *err)
{
    static const char *const hows[] = {"keep", "none"};
    int how = 0;
    uint64_t level;
    if (strncmp(value, "deflate:", 8) != 0) {
        if (strcmp(value, "keep") != 0 && strcmp(value, "none") != 0)
            return h5vec_error_set(err, H5VEC_E_USAGE, 0, "--compress: %s is not keep, none or deflate:N",
                                   value);
        enum h5vec_status st = choose("--compress", value, hows, 2, &how, err);
        c->merge.compress = how ? H5VCAT_COMPRESS_NONE : H5VCAT_COMPRESS_KEEP;
        return st;
    }
    enum h5vec_status st = h5vec_cli_number("--compress=deflate:N", value + 8, 1, 12, &level, err);
    if (!st) {
        c->merge.compress = H5VCAT_COMPRESS_DEFLATE;
        c->merge.compress_level = (int)level;
    }
    return st;
}

static enum h5vec_status set_progress(struct command *c, const char *value, struct h5vec_error *err)
{
    uint64_t seconds = 10;
    enum h5vec_status st = value ? h5vec_cli_number("--progress", value, 0, 86400, &seconds, err) : H5VEC_OK;
    c->progress_given = true;
    c->merge.progress = (double)seconds;
    return st;
}

static enum h5vec_status set_size(const char *name, const char *value, uint64_t *size,
                                  struct h5vec_error *err)
{
    enum h5vec_status st = h5vec_cli_size(name, value, size, err);
    return !st && *size == 0 ? h5vec_error_set(err, H5VEC_E_USAGE, 0, "%s: 0 is too small", name) : st;
}

/* Options that choose how something is done. */
static enum h5vec_status handle_choice(struct command *c, int id, const char *value, struct h5vec_error *err)
{
    static const char *const writes[] = {"direct", "collective"}, *const encoders[] = {"libdeflate", "zlib"},
                             *const shuffles[] = {"keep", "on", "off"}, *const codecs[] = {"none", "vector"},
                             *const splices[] = {"auto", "always", "never"},
                             *const on_bads[] = {"stop", "skip", "null"},
                             *const splits[] = {"message", "overlap"},
                             *const reads[] = {"posix", "independent", "collective"};
    enum h5vec_status st = H5VEC_OK;
    int choice = 0;
    switch (id) {
    case OPT_WRITE:
        st = choose("--write", value, writes, 2, &choice, err);
        c->merge.write = (enum h5vcat_write)choice;
        break;
    case OPT_ENCODER:
        st = choose("--encoder", value, encoders, 2, &choice, err);
        c->merge.encoder = (enum h5vcat_encoder)choice;
        c->encoder_given = true;
        break;
    case OPT_ON_BAD:
        st = choose("--on-bad", value, on_bads, 3, &choice, err);
        c->merge.on_bad = (enum h5vcat_on_bad)choice;
        break;
    case OPT_SHUFFLE:
        st = choose("--shuffle", value, shuffles, 3, &choice, err);
        c->merge.shuffle = (enum h5vcat_shuffle)choice;
        break;
    case OPT_SPLICE:
        st = choose("--splice", value, splices, 3, &choice, err);
        c->merge.splice = (enum h5vcat_splice_use)choice;
        break;
    case OPT_CODEC:
        st = choose("--codec", value, codecs, 2, &choice, err);
        c->merge.codec = (enum h5vcat_codec)choice;
        break;
    case OPT_SPLIT:
        st = choose("--split", value, splits, 2, &choice, err);
        c->merge.split = (enum h5vcat_split)choice;
        break;
    case OPT_READ:
        st = choose("--read", value, reads, 3, &choice, err);
        c->merge.read = (enum h5vcat_read)choice;
        break;
    case OPT_BLOCK:
        return set_size("--block-size", value, &c->merge.block_size, err);
    case OPT_COMPRESS:
        return set_compress(c, value, err);
    case OPT_BUFFER:
        return set_size("--buffer-size", value, &c->merge.buffer_size, err);
    case OPT_CHUNK:
        return set_size("--chunk-size", value, &c->merge.chunk_size, err);
    default:
        return set_progress(c, value, err);
    }
    return st;
}

/* Options about texts. */
static enum h5vec_status handle_text(struct command *c, int id, const char *value, struct h5vec_error *err)
{
    switch (id) {
    case OPT_LAYER:
        c->merge.layer = value;
        break;
    case OPT_WKT_COLUMN:
        c->merge.wkt_column = value;
        break;
    case OPT_X:
        c->merge.x_column = value;
        break;
    case OPT_Y:
        c->merge.y_column = value;
        break;
    case OPT_NONFINITE:
        c->merge.allow_nonfinite = true;
        break;
    case OPT_TYPES:
        c->merge.types = value;
        return h5vec_format_types_check(value, err);
    default:
        return handle_choice(c, id, value, err);
    }
    return H5VEC_OK;
}

static enum h5vec_status handle(void *context, int id, const char *value, struct h5vec_error *err)
{
    struct command *c = context;
    switch (id) {
    case OPT_OUTPUT:
        c->merge.output = value;
        break;
    case OPT_LIST:
        c->list = value;
        break;
    case OPT_FORCE:
        c->merge.force = true;
        break;
    case OPT_DRY_RUN:
        c->merge.dry_run = true;
        break;
    case OPT_VERIFY:
        c->merge.verify = true;
        break;
    case OPT_JSON:
        c->json = true;
        break;
    case OPT_QUIET:
        c->quiet = true;
        break;
    case OPT_VERBOSE:
        c->verbose = true;
        break;
    case OPT_HELP:
    case OPT_HELP_BRIEF:
        c->help = true;
        c->help_brief = id == OPT_HELP_BRIEF;
        break;
    case OPT_VERSION:
        c->version = true;
        break;
    default:
        return handle_text(c, id, value, err);
    }
    return H5VEC_OK;
}

/* ---- Inputs ------------------------------------------------------------------------------------------- */

static enum h5vec_status read_list(struct command *c, size_t *size, struct h5vec_error *err)
{
    bool standard = strcmp(c->list, "-") == 0;
    FILE *f = standard ? stdin : fopen(c->list, "r");
    if (!f)
        return h5vec_error_set(err, H5VEC_E_IO, 0, "%s: cannot open: %s", c->list, strerror(errno));
    size_t room = 0, n;
    enum h5vec_status st = H5VEC_OK;
    do {
        if (*size + 65536 > room) {
            room = 2 * room + 65536;
            char *p = realloc(c->list_text, room + 1);
            if (!p) {
                st = h5vcat_no_memory(err);
                break;
            }
            c->list_text = p;
        }
        n = fread(c->list_text + *size, 1, 65536, f);
        *size += n;
    } while (n > 0);
    if (!st && ferror(f))
        st = h5vec_error_set(err, H5VEC_E_IO, 0, "%s: cannot read: %s", c->list, strerror(errno));
    if (!standard)
        fclose(f);
    return st;
}

/* Rank 0 reads the list, every rank gets it. */
static enum h5vec_status share_list(struct command *c, size_t *size, struct h5vec_error *err)
{
    enum h5vec_status st = c->rank == 0 ? read_list(c, size, err) : H5VEC_OK;
    if (!st && *size > INT32_MAX)
        st = h5vec_error_set(err, H5VEC_E_USAGE, 0, "%s: is larger than 2 GiB", c->list);
    st = h5vcat_agree(MPI_COMM_WORLD, st, err);
    if (st)
        return st;
    uint64_t n = *size;
    MPI_Bcast(&n, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    *size = (size_t)n;
    if (c->rank != 0)
        c->list_text = malloc(*size + 1);
    st = c->list_text ? H5VEC_OK : h5vcat_no_memory(err);
    st = h5vcat_agree(MPI_COMM_WORLD, st, err);
    if (!st) {
        MPI_Bcast(c->list_text, (int)*size, MPI_CHAR, 0, MPI_COMM_WORLD);
        c->list_text[*size] = '\0';
    }
    return st;
}

/* Arguments, then the list's lines: without line ends, empty ones skipped. */
static enum h5vec_status collect_inputs(struct command *c, char **argv, int count, struct h5vec_error *err)
{
    size_t size = 0, lines = 0;
    enum h5vec_status st = c->list ? share_list(c, &size, err) : H5VEC_OK;
    if (st)
        return st;
    for (size_t i = 0; i < size; i++)
        lines += c->list_text[i] == '\n';
    c->inputs = malloc(((size_t)count + lines + 1) * sizeof *c->inputs);
    if (!c->inputs)
        return h5vcat_no_memory(err);
    size_t n = 0;
    for (int i = 0; i < count; i++)
        c->inputs[n++] = argv[i];
    for (char *line = c->list_text; line && *line;) {
        char *end = strchr(line, '\n'), *next = end ? end + 1 : line + strlen(line);
        if (end)
            *end = '\0';
        size_t length = strlen(line);
        if (length && line[length - 1] == '\r')
            line[--length] = '\0';
        if (length)
            c->inputs[n++] = line;
        line = next;
    }
    for (size_t i = 0; i < n && c->list && strcmp(c->list, "-") == 0; i++)
        if (strcmp(c->inputs[i], "-") == 0)
            return h5vec_error_set(
                err, H5VEC_E_USAGE, 0,
                "standard input is the list (-i -), and cannot be an input (-) as well; try --help");
    c->merge.inputs = c->inputs;
    c->merge.input_count = n;
    return H5VEC_OK;
}

static enum h5vec_status check_options(const struct command *c, struct h5vec_error *err)
{
    if (!c->merge.output)
        return h5vec_error_set(err, H5VEC_E_USAGE, 0, "no output: -o FILE is missing; try --help");
    if (c->merge.write == H5VCAT_WRITE_COLLECTIVE && c->encoder_given)
        return h5vec_error_set(err, H5VEC_E_USAGE, 0,
                               "--encoder: with --write=collective HDF5 encodes by itself; try --help");
    bool zlib = c->merge.write == H5VCAT_WRITE_COLLECTIVE || c->merge.encoder == H5VCAT_ENCODER_ZLIB;
    if (zlib && c->merge.compress_level > 9)
        return h5vec_error_set(err, H5VEC_E_USAGE, 0,
                               "--compress: zlib's levels end at 9, not %d; try --help",
                               c->merge.compress_level);
    if (!c->merge.x_column != !c->merge.y_column || (c->merge.x_column && c->merge.wkt_column))
        return h5vec_error_set(err, H5VEC_E_USAGE, 0,
                               "a text's geometry is --wkt-column, or --x and --y together; try --help");
    if (c->merge.layer &&
        (!*c->merge.layer || strchr(c->merge.layer, '/') || strcmp(c->merge.layer, ".") == 0))
        return h5vec_error_set(err, H5VEC_E_USAGE, 0, "--layer: %s cannot be a group's name; try --help",
                               c->merge.layer);
    return H5VEC_OK;
}

enum h5vec_status command_parse(int argc, char **argv, struct command *c, struct h5vec_error *err)
{
    int first = argc;
    c->merge.sizeof_options = sizeof c->merge;
    c->merge.say = command_say;
    c->merge.say_context = c;
    enum h5vec_status st = h5vec_cli_parse(&cli, argc, argv, handle, c, &first, err);
    if (st || c->help || c->version)
        return st;
    st = check_options(c, err);
    if (!st)
        st = collect_inputs(c, argv + first, argc - first, err);
    if (!st && c->merge.input_count == 0)
        st = h5vec_error_set(err, H5VEC_E_USAGE, 0, "no inputs; try --help");
    if (!c->progress_given && isatty(STDERR_FILENO))
        c->merge.progress = 1;
    if (c->quiet)
        c->merge.progress = 0;
    return st;
}

static void free_lines(struct command_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        free(lines->line[i]);
    free(lines->line);
}

void command_free(struct command *c)
{
    free_lines(&c->plan);
    free_lines(&c->left_out);
    free(c->inputs);
    free(c->list_text);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * h5vcat: merge any number of files into one plain HDF5 file, in parallel. docs/design.md has the idea.
 */
#ifndef H5VCAT_H
#define H5VCAT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "h5vec_status.h"

/* How the output is written; the content is the same. */
enum h5vcat_write {
    H5VCAT_WRITE_DIRECT, /* metadata by rank 0, raw data by every rank at addresses of its own (default) */
    H5VCAT_WRITE_COLLECTIVE, /* parallel HDF5: MPI-IO driver, collective creation and H5Dwrite */
};

enum h5vcat_compress {
    H5VCAT_COMPRESS_KEEP,    /* the filters of the inputs (default) */
    H5VCAT_COMPRESS_NONE,    /* no compression filter */
    H5VCAT_COMPRESS_DEFLATE, /* deflate at compress_level */
};

enum h5vcat_encoder {
    H5VCAT_ENCODER_LIBDEFLATE, /* default */
    H5VCAT_ENCODER_ZLIB,
};

/* What geometry/wkb of the output's layers is transformed by, before it is compressed. */
enum h5vcat_codec {
    H5VCAT_CODEC_NONE,   /* default: needs no plugin to be read */
    H5VCAT_CODEC_VECTOR, /* the coordinate transform (docs/codec.md) */
};

/* Whether chunks are joined from the inputs' deflate streams where that can be. */
enum h5vcat_splice_use {
    H5VCAT_SPLICE_AUTO,   /* with H5VCAT_COMPRESS_KEEP (default) */
    H5VCAT_SPLICE_ALWAYS, /* with H5VCAT_COMPRESS_DEFLATE, too, whatever level the inputs have */
    H5VCAT_SPLICE_NEVER,
};

enum h5vcat_shuffle { H5VCAT_SHUFFLE_KEEP, H5VCAT_SHUFFLE_ON, H5VCAT_SHUFFLE_OFF };

/* What becomes of a malformed record of a text or shapefile. */
enum h5vcat_on_bad {
    H5VCAT_BAD_STOP, /* it is an error (default) */
    H5VCAT_BAD_SKIP, /* it is left out */
    H5VCAT_BAD_NULL, /* what is wrong in its row is null: the geometry, a value, or all of it */
};

/* How ranks that share a text get the rest of their last record; the content is the same. */
enum h5vcat_split {
    H5VCAT_SPLIT_MESSAGE, /* from the rank behind, which has read it (default) */
    H5VCAT_SPLIT_OVERLAP, /* by reading on */
};

/* How blocks of a text are read; the content is the same. */
enum h5vcat_read {
    H5VCAT_READ_POSIX,       /* pread (default) */
    H5VCAT_READ_INDEPENDENT, /* MPI_File_read_at */
    H5VCAT_READ_COLLECTIVE,  /* MPI_File_read_at_all, where ranks share a text */
};

#define H5VCAT_BUFFER_DEFAULT ((uint64_t)256 << 20)         /* bytes */
#define H5VCAT_BLOCK_MOST(buffer_size) ((buffer_size) / 16) /* bytes of the largest block of a text */

/* Kinds of messages for h5vcat_say. */
enum h5vcat_message {
    H5VCAT_NOTE,      /* what -v shows */
    H5VCAT_PLAN,      /* a line of the plan (dry_run) */
    H5VCAT_PROGRESS,  /* how far the merge is */
    H5VCAT_LOST,      /* an error after which MPI_Abort follows, on the rank that has it */
    H5VCAT_LEFT_OUT,  /* a record that on_bad left out or made null: "FILE: line 7, column 12: why" */
    H5VCAT_TEMPORARY, /* the name of the file that becomes the output, before it is made; empty: it is gone */
};

/* Gets one line without a newline, on rank 0 only (H5VCAT_LOST: on any; H5VCAT_TEMPORARY: on all). */
typedef void (*h5vcat_say)(void *context, enum h5vcat_message kind, const char *line);

struct h5vcat_options {
    size_t sizeof_options; /* sizeof(struct h5vcat_options) */
    const char *output;
    const char *const *inputs; /* in the order of their rows in the output; "-": rank 0's standard input */
    size_t input_count;
    const char *layer; /* name of the layer made of text inputs; NULL: "layer" */
    enum h5vcat_on_bad on_bad;
    const char *wkt_column, *x_column, *y_column, *types; /* of texts, as in h5vec_format.h; NULL: found */
    bool allow_nonfinite;                                 /* nan and inf are numbers in texts */
    enum h5vcat_split split;
    enum h5vcat_read read;
    uint64_t block_size;  /* bytes of a text that are read at once; shares begin at multiples of it; 0: a
                             rank's share, at most H5VCAT_BLOCK_MOST */
    uint64_t buffer_size; /* bytes of memory per rank; 0: H5VCAT_BUFFER_DEFAULT */
    uint64_t chunk_size;  /* bytes of an output chunk; 0: chosen (docs/design.md) */
    enum h5vcat_write write;
    enum h5vcat_compress compress;
    int compress_level; /* libdeflate's 1 to 12 (zlib and collective: up to 9) */
    enum h5vcat_encoder encoder;
    enum h5vcat_splice_use splice;
    enum h5vcat_shuffle shuffle;
    enum h5vcat_codec codec;
    bool force;      /* replace an existing output */
    bool dry_run;    /* plan only: nothing is written */
    bool verify;     /* read the closed output and compare it with what was read */
    double progress; /* seconds between progress messages; 0: none */
    h5vcat_say say;  /* NULL: no messages */
    void *say_context;
};

/* What was done; the same on every rank. Sizes in bytes. */
struct h5vcat_report {
    uint64_t inputs, datasets, layers, rows; /* rows: summed over all concatenated datasets */
    uint64_t input_bytes;                    /* of the files */
    uint64_t raw_bytes;                      /* of the datasets' values */
    uint64_t stored_bytes;                   /* of the output's chunks and contiguous data */
    uint64_t output_bytes;                   /* of the output file */
    uint64_t chunks;
    uint64_t invalid_geometries; /* structurally invalid ones in text inputs, kept as they are */
    uint64_t left_out;           /* records that on_bad left out or made null */
    struct {
        uint64_t copied;  /* of values in streams that were taken whole */
        uint64_t spliced; /* in parts of streams that were cut */
        uint64_t encoded; /* deflated (or otherwise filtered) anew, sum of the following */
        uint64_t rims;    /* in chunks that were spliced: rims of cuts, rows without a stream */
        uint64_t off;     /* because options ask for it: splice, compress, shuffle, codec */
        uint64_t filters; /* because of filters other than deflate, or fletcher32 in front of it */
        uint64_t values;  /* because the values change: offsets and index of layers */
        uint64_t shapes;  /* chunks in which nothing could be spliced: other chunk shapes, missing or
                             unfiltered chunks,  text inputs, pieces that are too small */
        uint64_t surplus; /* stored bytes behind the ends of streams, dropped */
    } splice; /* bytes of chunks, padding included; what was stored without a filter is not in it */
    uint64_t rounds;
    bool verified;
    double seconds, seconds_scan, seconds_read, seconds_exchange, seconds_encode, seconds_write,
        seconds_verify; /* the longest of any rank */
};

/* Collective over comm: every rank passes the same options (strings may live anywhere) and gets the same
 * status, error and report. The output appears under its name only if all went well; on failure nothing of it
 * is left. H5VEC_E_LEFT_OUT means that it is there, and *report is filled in, but report->left_out is not 0.
 * err must not be NULL; its message is "FILE: DATASET: what and why". HDF5's automatic error printing is off
 * during the call. * One failure ends the program: with H5VCAT_WRITE_COLLECTIVE, where HDF5 returns an error
 * of the file system on one rank and leaves the others waiting inside it, that rank says so (H5VCAT_LOST),
 * removes the file and calls MPI_Abort.
 */
enum h5vec_status h5vcat_merge(MPI_Comm comm, const struct h5vcat_options *options,
                               struct h5vcat_report *report, struct h5vec_error *err);

/* The exit code of a command for a status: 0, 1, 2, 3 or 4. */
int h5vcat_exit_code(enum h5vec_status status);

#endif

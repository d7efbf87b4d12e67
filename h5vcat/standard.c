/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Standard input as an input. Rank 0 has it, and every rank is to read its part of it, as often as it needs
 * to: rank 0 copies it to a file beside the output, every rank opens that, and it loses its name.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "agree.h"
#include "error.h"
#include "file.h"
#include "merge.h"

enum { PORTION = 1 << 20 };

static enum h5vec_status copy_input(int fd, const char *name, struct h5vec_error *err)
{
    enum h5vec_status st = H5VEC_OK;
    uint64_t at = 0;
    char *portion = malloc(PORTION);
    if (!portion)
        return h5vcat_no_memory(err);
    while (!st) {
        ssize_t n = read(STDIN_FILENO, portion, PORTION);
        if (n == 0)
            break;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            st = h5vec_error_set(err, H5VEC_E_IO, 0, "standard input: cannot read: %s", strerror(errno));
        else
            st = h5vcat_file_write(fd, name, at, portion, (size_t)n, err);
        at += n > 0 ? (uint64_t)n : 0;
    }
    free(portion);
    return st;
}

static enum h5vec_status open_copy(struct merge *m, const char *name, int flags, struct h5vec_error *err)
{
    m->standard = open(name, flags | O_CLOEXEC, S_IRUSR | S_IWUSR);
    return m->standard >= 0
               ? H5VEC_OK
               : h5vec_error_set(err, H5VEC_E_IO, 0, "%s: cannot open: %s", name, strerror(errno));
}

enum h5vec_status h5vcat_standard_open(struct merge *m, struct h5vec_error *err)
{
    size_t times = 0;
    for (size_t i = 0; i < m->options->input_count; i++)
        times += h5vcat_is_standard(m->options->inputs[i]);
    if (times > 1)
        return h5vec_error_set(err, H5VEC_E_USAGE, 0, "standard input (-) can be an input once only");
    if (times == 0)
        return H5VEC_OK;
    char *name = malloc(strlen(m->temporary) + sizeof "-input");
    enum h5vec_status st = h5vcat_agree(m->comm, name ? H5VEC_OK : h5vcat_no_memory(err), err);
    if (st) {
        free(name);
        return st;
    }
    strcat(strcpy(name, m->temporary), "-input");
    if (m->rank == 0)
        st = open_copy(m, name, O_RDWR | O_CREAT | O_EXCL, err);
    bool made = m->rank == 0 && !st;
    if (made)
        st = copy_input(m->standard, name, err);
    st = h5vcat_agree(m->comm, st, err);
    if (!st && m->rank != 0)
        st = open_copy(m, name, O_RDONLY, err);
    st = h5vcat_agree(m->comm, st, err);
    if (made)
        unlink(name);
    free(name);
    return st;
}

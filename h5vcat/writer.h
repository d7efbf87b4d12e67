/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Write strategies: the same content, written in different ways. Every function is collective; on failure
 * every rank returns the same error.
 */
#ifndef H5VCAT_WRITER_H
#define H5VCAT_WRITER_H

#include "page.h"

struct writer {
    const char *name;
    /* Create m->temporary. *state belongs to the writer until close. */
    enum h5vec_status (*open)(struct merge *m, void **state, struct h5vec_error *err);
    /* Create the page's objects and write its rows (h5vcat_page_read_ahead has run). */
    enum h5vec_status (*page)(struct merge *m, void *state, struct page *page, struct h5vec_error *err);
    /* Finish the file: afterwards it is complete, on disk and closed. Frees state. status is what went
     * before: if it is an error, only resources are freed. */
    enum h5vec_status (*close)(struct merge *m, void *state, enum h5vec_status status,
                               struct h5vec_error *err);
};

extern const struct writer h5vcat_writer_direct, h5vcat_writer_collective;

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The differential test's parts: random operations on a file, whose results are folded into one number, and a
 * file's whole content as text. Both see a file only through HDF5, and depend on nothing but the seed and the
 * file's content: two files with which the same was done give the same numbers and the same text.
 */
#ifndef VFD_RANDOM_H
#define VFD_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hdf5.h>

/* A seeded sequence (splitmix64). */
struct rnd {
    uint64_t state;
};

uint64_t rnd_next(struct rnd *r);
/* 0 .. n-1; n > 0. */
unsigned rnd_below(struct rnd *r, unsigned n);
/* True once in n times. */
bool rnd_once_in(struct rnd *r, unsigned n);

/* Fold a number, or bytes, into a digest (FNV-1a). */
uint64_t fold(uint64_t digest, uint64_t number);
uint64_t fold_bytes(uint64_t digest, const void *bytes, size_t size);

/* Values (vfd_values.c): n values of the native type at p, one every stride bytes. Filled values are freed
 * with values_free, where some have variable length; file: what references are made in. */
/* Perhaps the file's committed type, if a file is given. */
hid_t random_type(struct rnd *r, hid_t file);
void values_fill(struct rnd *r, hid_t file, hid_t type, char *p, size_t stride, size_t n);
uint64_t values_fold(uint64_t digest, hid_t file, hid_t type, const char *p, size_t stride, size_t n);
void values_free(hid_t type, hsize_t n, void *values);
/* Class, size, order and members, as text; cut off where it does not fit. */
void type_text(hid_t type, char *text, size_t size);

/* Operations (vfd_operations.c). Every file has a group of this name, which nothing deletes. */
#define KEEP_GROUP "/keep"
enum { READ_SOME = 3, FLUSH = 14, OPERATIONS = 17 };
extern const char *const operation_names[OPERATIONS];
/* Do one, with a seed of its own; returns the digest of everything HDF5 answered. */
uint64_t operation(unsigned which, uint64_t seed, hid_t file);

/* A file's whole content (vfd_content.c): links, objects, types, shapes, properties, attributes, values.
 * Freed by the caller. */
char *content_text(hid_t file);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which columns of a CSV file are its geometry, by their names.
 */
#include "format_internal.h"

#include <string.h>

/* Whether a column has this name (in lower case), in any case, with blanks around it or not. */
static bool is_called(const char *name, const char *what)
{
    size_t length = strlen(name);
    h5vec_format_trim(&name, &length);
    return h5vec_format_is_word(name, length, what);
}

/* The first column called so; *more: there are others. */
static size_t find(const struct h5vec_format_rows *rows, const char *what, bool *more)
{
    size_t first = H5VEC_FORMAT_NO_FIELD;
    *more = false;
    for (size_t i = 0; i < rows->columns; i++) {
        if (!is_called(rows->column[i].name, what))
            continue;
        *more = first != H5VEC_FORMAT_NO_FIELD;
        if (!*more)
            first = i;
    }
    return first;
}

enum h5vec_status h5vec_format_csv_named(const struct h5vec_format_rows *rows, const char *name,
                                         size_t *field, struct h5vec_error *err)
{
    *field = H5VEC_FORMAT_NO_FIELD;
    for (size_t i = 0; i < rows->columns; i++) {
        if (!h5vec_format_is_named(name, strlen(name), rows->column[i].name, i + 1))
            continue;
        if (*field != H5VEC_FORMAT_NO_FIELD)
            return h5vec_error_set(err, H5VEC_E_FORMAT_UNKNOWN, 0,
                                   "several columns are called %s: say #%zu for the first of them", name,
                                   *field + 1);
        *field = i;
    }
    if (*field == H5VEC_FORMAT_NO_FIELD)
        return h5vec_error_set(err, H5VEC_E_FORMAT_UNKNOWN, 0, "there is no column %s", name);
    return H5VEC_OK;
}

size_t h5vec_format_csv_wkt(const struct h5vec_format_rows *rows)
{
    static const char *const names[] = {"wkt", "geometry", "geom", "the_geom"};
    size_t found = H5VEC_FORMAT_NO_FIELD;
    bool more;
    for (size_t n = 0; n < sizeof names / sizeof names[0] && found == H5VEC_FORMAT_NO_FIELD; n++)
        found = find(rows, names[n], &more);
    return found;
}

enum h5vec_status h5vec_format_csv_pair(const struct h5vec_format_rows *rows, size_t *x, size_t *y,
                                        struct h5vec_error *err)
{
    static const char *const names[][2] = {{"lon", "lat"}, {"longitude", "latitude"}, {"x", "y"}};
    static const char advice[] =
        "leave those names to the geometry's columns, or call a column of WKT \"WKT\"";
    const char *const *found = NULL;
    size_t field[2] = {H5VEC_FORMAT_NO_FIELD, H5VEC_FORMAT_NO_FIELD};
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        bool more[2];
        size_t first = find(rows, names[n][0], &more[0]), second = find(rows, names[n][1], &more[1]);
        if (first == H5VEC_FORMAT_NO_FIELD || second == H5VEC_FORMAT_NO_FIELD)
            continue;
        if (more[0] || more[1])
            return h5vec_error_set(err, H5VEC_E_FORMAT_UNKNOWN, 0, "several columns are called %s: %s",
                                   names[n][more[0] ? 0 : 1], advice);
        if (found)
            return h5vec_error_set(err, H5VEC_E_FORMAT_UNKNOWN, 0,
                                   "the columns %s and %s could be the geometry, and so could %s and %s: %s",
                                   found[0], found[1], names[n][0], names[n][1], advice);
        found = names[n];
        field[0] = first;
        field[1] = second;
    }
    *x = field[0];
    *y = field[1];
    return H5VEC_OK;
}

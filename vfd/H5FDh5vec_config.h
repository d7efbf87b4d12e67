/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The driver's settings, from wherever they come: a struct H5FD_h5vec_config, or a configuration string
 *
 *     key=value;key=value
 *
 * with the keys of docs/vfd.md. Both are checked against one table. Functions return a negative value on
 * failure, with an entry on HDF5's error stack that names key and value and says what is possible.
 */
#ifndef H5FDH5VEC_CONFIG_H
#define H5FDH5VEC_CONFIG_H

#include "H5FDh5vec.h"

/* Check config (NULL: the defaults) and fill in the defaults: in *out only an adaptive meta_block is 0, and
 * first_zone and zone, whose defaults placement decides; and only what may be H5FD_H5VEC_NONE is that. out
 * may be config. */
herr_t H5FD_h5vec_config_complete(struct H5FD_h5vec_config *out, const struct H5FD_h5vec_config *config);

/* The same from a configuration string. Space around keys, values and pairs is ignored, and so are empty
 * pairs. */
herr_t H5FD_h5vec_config_parse(struct H5FD_h5vec_config *out, const char *text);

/* The same from a file access list whose driver this is: its configuration string, else its settings, else
 * the defaults. */
herr_t H5FD_h5vec_config_of(struct H5FD_h5vec_config *out, hid_t fapl);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One table says what keys there are, where they are in the struct and what their values can be. A string is
 * put into the struct pair by pair; the struct is completed from the table.
 */
#include "H5FDh5vec_config.h"

#include "H5FDh5vec_err.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIB ((hsize_t)1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define TIB (1024 * GIB)

struct key {
    const char *name;
    size_t offset;       /* in the settings: of a hsize_t, or of an unsigned where there are choices */
    const char *choices; /* "first|second": values 0, 1, ...; the default is the first. NULL: a size */
    hsize_t min, max, otherwise; /* of a size: its range and its default */
    bool none;                   /* it can be H5FD_H5VEC_NONE */
    bool power_of_two;
};

#define AT(member) offsetof(struct H5FD_h5vec_config, member)

/* HDF5 reads ahead up to 512 bytes behind an object header into its metadata accumulator. Zones and
 * reservations aligned to at least that keep it from ever joining two zones over what is between them. */
static const struct key keys[] = {
    {"first_zone", AT(first_zone), NULL, 1, TIB, 0, false, false},
    {"zone", AT(zone), NULL, 1, TIB, 0, false, false},
    {"align", AT(alignment), NULL, 512, TIB, 4 * KIB, false, true},
    {"meta_block", AT(meta_block), NULL, 512, GIB, 0, true, false},
    {"meta_gap", AT(meta_gap), NULL, 1, GIB, 32 * KIB, true, false},
    {"meta_cache", AT(meta_cache), NULL, 4 * KIB, TIB, 64 * MIB, true, false},
    {"image_max", AT(image_max), NULL, 1, TIB, 16 * MIB, false, false},
    {"image", AT(image), "auto|always|never", 0, 0, 0, false, false},
    {"write_block", AT(write_block), NULL, 512, GIB, 4 * MIB, true, false},
    {"write_buffer", AT(write_buffer), NULL, 512, TIB, 64 * MIB, false, false},
    {"async", AT(async), "0|1", 0, 0, 0, false, false},
    {"flush", AT(flush), "os|disk", 0, 0, 0, false, false},
    {"foreign_max", AT(foreign_max), NULL, 1, TIB, GIB, false, false},
    {"bad", AT(bad), "error|skip", 0, 0, 0, false, false},
    {"types", AT(types), "infer|text", 0, 0, 0, false, false},
};
enum { KEYS = sizeof keys / sizeof keys[0] };

_Static_assert(sizeof(enum H5FD_h5vec_image) == sizeof(unsigned) &&
                   sizeof(enum H5FD_h5vec_flush) == sizeof(unsigned) &&
                   sizeof(enum H5FD_h5vec_bad) == sizeof(unsigned) &&
                   sizeof(enum H5FD_h5vec_types) == sizeof(unsigned),
               "choices are read and written as unsigned");

struct span {
    const char *at;
    size_t size;
};
/* For "%.*s": as much of a span as a message has room for. */
#define SHOWN(span) (int)((span).size < 100 ? (span).size : 100), (span).at

static struct span trimmed(const char *from, const char *to)
{
    while (from < to && isspace((unsigned char)*from))
        from++;
    while (to > from && isspace((unsigned char)to[-1]))
        to--;
    return (struct span){from, (size_t)(to - from)};
}

static bool is(struct span span, const char *text)
{
    return span.size == strlen(text) && memcmp(span.at, text, span.size) == 0;
}

/* The place of value among "a|b|c", or their number. */
static unsigned choice(const char *choices, struct span value)
{
    unsigned n = 0;
    for (const char *at = choices;; n++) {
        size_t size = strcspn(at, "|");
        if (value.size == size && memcmp(value.at, at, size) == 0)
            return n;
        if (!at[size])
            return n + 1;
        at += size + 1;
    }
}

static unsigned count_choices(const char *choices)
{
    return choice(choices, (struct span){"", 0});
}

static hsize_t get(const struct key *key, const struct H5FD_h5vec_config *config)
{
    const char *at = (const char *)config + key->offset;
    hsize_t size = 0;
    unsigned number = 0;
    if (key->choices)
        memcpy(&number, at, sizeof number);
    else
        memcpy(&size, at, sizeof size);
    return key->choices ? number : size;
}

static void set(const struct key *key, struct H5FD_h5vec_config *config, hsize_t value)
{
    char *at = (char *)config + key->offset;
    unsigned number = (unsigned)value;
    if (key->choices)
        memcpy(at, &number, sizeof number);
    else
        memcpy(at, &value, sizeof value);
}

/* bytes in the largest unit that holds it in whole numbers; returns text. */
static const char *in_units(hsize_t bytes, char text[32])
{
    static const char *const units[] = {"", "KiB", "MiB", "GiB", "TiB"};
    unsigned unit = 0;
    for (; unit < 4 && bytes >= 1024 && bytes % 1024 == 0; unit++)
        bytes /= 1024;
    snprintf(text, 32, "%llu%s", (unsigned long long)bytes, units[unit]);
    return text;
}

static herr_t refuse(const struct key *key, struct span value)
{
    char min[32], max[32];
    if (key->choices)
        return H5FD_H5VEC_FAIL(H5FD_H5VEC_ARGUMENT, "h5vec: %s=%.*s is not possible: it can be %s", key->name,
                               SHOWN(value), key->choices);
    return H5FD_H5VEC_FAIL(
        H5FD_H5VEC_ARGUMENT,
        "h5vec: %s=%.*s is not possible: it can be a size (as 4096, 64KiB, 1GiB) from %s to %s%s%s or auto",
        key->name, SHOWN(value), in_units(key->min, min), in_units(key->max, max),
        key->power_of_two ? " that is a power of two" : "", key->none ? ", none" : "");
}

/* 0 stands for the default, whatever the key. */
static bool possible(const struct key *key, hsize_t value)
{
    if (key->choices)
        return value < count_choices(key->choices);
    if (value == 0 || (key->none && value == H5FD_H5VEC_NONE))
        return true;
    return value >= key->min && value <= key->max && !(key->power_of_two && (value & (value - 1)));
}

herr_t H5FD_h5vec_config_complete(struct H5FD_h5vec_config *out, const struct H5FD_h5vec_config *config)
{
    struct H5FD_h5vec_config c = {.sizeof_config = sizeof c};
    if (config && (config->sizeof_config < sizeof config->sizeof_config || config->sizeof_config > sizeof c))
        return H5FD_H5VEC_FAIL(H5FD_H5VEC_ARGUMENT,
                               "h5vec: sizeof_config is %zu, must be at most %zu: set it to sizeof(struct "
                               "H5FD_h5vec_config); a larger one belongs to a later version of the driver",
                               config->sizeof_config, sizeof c);
    if (config)
        memcpy(&c, config, config->sizeof_config);
    c.sizeof_config = sizeof c;
    for (const struct key *key = keys; key < keys + KEYS; key++) {
        char text[32];
        hsize_t value = get(key, &c);
        if (!possible(key, value)) {
            snprintf(text, sizeof text, "%llu", (unsigned long long)value);
            return refuse(key, (struct span){text, strlen(text)});
        }
        if (value == 0)
            set(key, &c, key->otherwise);
    }
    *out = c;
    return 0;
}

/* Digits, then nothing or a unit: as the commands take sizes. 0, or -1 if it is none or fits no 63 bits. */
static int parse_size(struct span text, hsize_t *bytes)
{
    static const struct {
        const char *unit;
        hsize_t bytes;
    } units[] = {{"", 1},         {"KiB", KIB},       {"MiB", MIB},         {"GiB", GIB}, {"TiB", TIB},
                 {"K", KIB},      {"M", MIB},         {"G", GIB},           {"T", TIB},   {"kB", 1000},
                 {"MB", 1000000}, {"GB", 1000000000}, {"TB", 1000000000000}};
    size_t digits = 0;
    hsize_t value = 0;
    for (; digits < text.size && isdigit((unsigned char)text.at[digits]); digits++) {
        value = value * 10 + (hsize_t)(text.at[digits] - '0');
        if (value > INT64_MAX / 16)
            return -1;
    }
    if (digits == 0)
        return -1;
    struct span unit = {text.at + digits, text.size - digits};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (is(unit, units[i].unit)) {
            if (value > INT64_MAX / units[i].bytes)
                return -1;
            *bytes = value * units[i].bytes;
            return 0;
        }
    return -1;
}

static herr_t take_value(const struct key *key, struct span value, struct H5FD_h5vec_config *config)
{
    hsize_t number = 0;
    if (key->choices && choice(key->choices, value) < count_choices(key->choices))
        number = choice(key->choices, value);
    else if (is(value, "auto"))
        number = 0;
    else if (is(value, "none") && key->none)
        number = H5FD_H5VEC_NONE;
    else if (key->choices || parse_size(value, &number) < 0 || number == 0 || !possible(key, number))
        return refuse(key, value);
    set(key, config, number);
    return 0;
}

static const struct key *find_key(struct span name)
{
    char all[256] = "";
    size_t used = 0;
    for (const struct key *key = keys; key < keys + KEYS; key++) {
        if (is(name, key->name))
            return key;
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", used ? ", " : "", key->name);
    }
    (void)H5FD_H5VEC_FAIL(H5FD_H5VEC_ARGUMENT, "h5vec: there is no key '%.*s': the keys are %s", SHOWN(name),
                          all);
    return NULL;
}

static herr_t take_pair(struct span pair, struct H5FD_h5vec_config *config, unsigned *seen)
{
    const char *end = pair.at + pair.size, *equals = memchr(pair.at, '=', pair.size);
    if (!equals)
        return H5FD_H5VEC_FAIL(
            H5FD_H5VEC_ARGUMENT,
            "h5vec: '%.*s' is not key=value: a configuration string is key=value;key=value", SHOWN(pair));
    const struct key *key = find_key(trimmed(pair.at, equals));
    if (!key)
        return -1;
    if (*seen & 1U << (key - keys))
        return H5FD_H5VEC_FAIL(H5FD_H5VEC_ARGUMENT, "h5vec: '%.*s': the key %s is given twice", SHOWN(pair),
                               key->name);
    *seen |= 1U << (key - keys);
    return take_value(key, trimmed(equals + 1, end), config);
}

herr_t H5FD_h5vec_config_parse(struct H5FD_h5vec_config *out, const char *text)
{
    struct H5FD_h5vec_config config = {.sizeof_config = sizeof config};
    unsigned seen = 0;
    for (const char *end; *text; text = *end ? end + 1 : end) {
        end = text + strcspn(text, ";");
        struct span pair = trimmed(text, end);
        if (pair.size > 0 && take_pair(pair, &config, &seen) < 0)
            return -1;
    }
    return H5FD_h5vec_config_complete(out, &config);
}

static herr_t parse_string_of(struct H5FD_h5vec_config *out, hid_t fapl, size_t size)
{
    char *text = calloc(size + 1, 1);
    if (!text)
        return H5FD_H5VEC_FAIL(H5FD_H5VEC_ARGUMENT, "out of memory for the configuration string");
    herr_t result = H5Pget_driver_config_str(fapl, text, size + 1) < 0 ? -1 : 0;
    if (result == 0)
        result = H5FD_h5vec_config_parse(out, text);
    free(text);
    return result;
}

herr_t H5FD_h5vec_config_of(struct H5FD_h5vec_config *out, hid_t fapl)
{
    const struct H5FD_h5vec_config *config = NULL;
    ssize_t size = H5Pget_driver_config_str(fapl, NULL, 0);
    if (size < 0)
        return -1;
    if (size > 0)
        return parse_string_of(out, fapl, (size_t)size);
    H5E_BEGIN_TRY
    {
        config = H5Pget_driver_info(fapl); /* an error when there is none */
    }
    H5E_END_TRY
    H5Eclear2(H5E_DEFAULT); /* else it looks like the cause of what fails next */
    return H5FD_h5vec_config_complete(out, config);
}

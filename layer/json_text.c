/* SPDX-License-Identifier: BSD-3-Clause
 *
 * JSON as canonical text. jansson writes 298.257223563 as 298.25722356300002; here numbers get the shortest
 * digits that read back, and 6378137.0 and 6378137 are spelled alike, so that equal values are equal texts.
 */
#include "layer_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool put(FILE *out, const json_t *value);

bool h5vec_layer_json_number(FILE *out, double number)
{
    char digits[VCODEC_NUMBER_MAX];
    size_t length = vcodec_number_write(number, digits);
    bool ok = fwrite(digits, 1, length, out) == length;
    /* Without a mark of a real, jansson would read it back as an integer, which may not fit. */
    if (fabs(number) >= 1e15 && !memchr(digits, '.', length) && !memchr(digits, 'e', length))
        ok = ok && fputs("e0", out) != EOF;
    return ok;
}

static int compare_keys(const void *a, const void *b)
{
    const char *const *left = a, *const *right = b;
    return strcmp(*left, *right);
}

static bool put_object(FILE *out, const json_t *object)
{
    size_t count = json_object_size(object), i = 0;
    const char **keys = malloc((count + 1) * sizeof *keys);
    if (!keys)
        return false;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) keys[i++] = key;
    qsort(keys, count, sizeof *keys, compare_keys);
    bool ok = fputc('{', out) != EOF;
    for (i = 0; ok && i < count; i++) {
        json_t *name = json_string(keys[i]);
        ok = (i == 0 || fputc(',', out) != EOF) && json_dumpf(name, out, JSON_ENCODE_ANY) == 0 &&
             fputc(':', out) != EOF && put(out, json_object_get(object, keys[i]));
        json_decref(name);
    }
    free(keys);
    return ok && fputc('}', out) != EOF;
}

static bool put_array(FILE *out, const json_t *array)
{
    bool ok = fputc('[', out) != EOF;
    for (size_t i = 0; ok && i < json_array_size(array); i++)
        ok = (i == 0 || fputc(',', out) != EOF) && put(out, json_array_get(array, i));
    return ok && fputc(']', out) != EOF;
}

/* Recursion is as deep as jansson's parser allows (2048). */
static bool put(FILE *out, const json_t *value)
{
    if (json_is_object(value))
        return put_object(out, value);
    if (json_is_array(value))
        return put_array(out, value);
    return json_is_real(value) ? h5vec_layer_json_number(out, json_real_value(value))
                               : json_dumpf(value, out, JSON_ENCODE_ANY) == 0;
}

char *h5vec_layer_json_text(const json_t *value)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    bool ok = put(out, value);
    if (fclose(out) != 0 || !ok) {
        free(text);
        return NULL;
    }
    return text;
}

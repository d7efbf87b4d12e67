/* SPDX-License-Identifier: BSD-3-Clause
 *
 * WKT in: a recursive descent over the text that feeds the sink in one pass. All parts of a geometry have one
 * dimension. It is the first tag's (Z, M, ZM), else it shows at the first point; if it turns out to be other
 * than XY when something was already written as XY, the text is read once more from its beginning.
 *
 * Nearly all bytes of real WKT are in points(), which is kept tight: whatever is not plain is left to
 * functions that take their time and say what is wrong.
 */
#include "vcodec_number.h"

#include <inttypes.h>
#include <math.h>

struct reader {
    const char *begin, *at, *end;
    bool nonfinite_allowed;
    bool dim_known;
    bool again; /* the dimension has become known too late: read again with it */
    enum vcodec_dim dim;
    struct vcodec_sink sink;
    struct h5vec_error *err;
};

static enum h5vec_status geometry(struct reader *r, unsigned depth);
static enum h5vec_status body(struct reader *r, enum vcodec_type type, unsigned depth);

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && (unsigned char)*p <= ' ' && is_space(*p))
        p++;
    return p;
}

/* The next character that is not white space, without taking it; NUL at the end of the text. */
static char peek(struct reader *r)
{
    r->at = skip_space(r->at, r->end);
    if (r->at == r->end)
        return '\0';
    return *r->at;
}

static bool take(struct reader *r, char c)
{
    bool there = peek(r) == c && r->at < r->end;
    r->at += there;
    return there;
}

static uint64_t offset(const struct reader *r, const char *at)
{
    return (uint64_t)(at - r->begin);
}

static enum h5vec_status expected(struct reader *r, const char *what)
{
    char c = peek(r);
    uint64_t at = offset(r, r->at);
    if (r->at == r->end)
        return h5vec_error_set(r->err, H5VEC_E_TRUNCATED, at, "end of text, %s expected", what);
    if (c > ' ' && c < 0x7f)
        return h5vec_error_set(r->err, H5VEC_E_WKT_SYNTAX, at, "'%c', %s expected", c, what);
    return h5vec_error_set(r->err, H5VEC_E_WKT_SYNTAX, at, "byte 0x%02x, %s expected", (unsigned char)c,
                           what);
}

/* Words: letters of either case. */

struct word {
    char text[24]; /* lower case, NUL-terminated; cut if longer, which no word of WKT is */
    const char *end;
};

static struct word next_word(struct reader *r)
{
    struct word word;
    size_t n = 0;
    peek(r);
    const char *p = r->at;
    for (; p < r->end; p++) {
        char lower = (char)(*p | 0x20);
        if (lower < 'a' || lower > 'z')
            break;
        if (n < sizeof word.text - 1)
            word.text[n++] = lower;
    }
    word.text[n] = '\0';
    word.end = p;
    return word;
}

static bool take_word(struct reader *r, const char *text)
{
    struct word word = next_word(r);
    bool same = strcmp(word.text, text) == 0;
    if (same)
        r->at = word.end;
    return same;
}

static bool take_empty(struct reader *r)
{
    return (peek(r) | 0x20) == 'e' && take_word(r, "empty");
}

/* What follows name (in any case) at the start of text, or NULL. */
static const char *behind_name(const char *text, const char *name)
{
    for (; *name; name++, text++)
        if ((*name | 0x20) != *text)
            return NULL;
    return text;
}

/* "", "z", "m" or "zm" */
static bool is_tag(const char *text, enum vcodec_dim *dim)
{
    unsigned z = text[0] == 'z', m = text[z] == 'm';
    *dim = (enum vcodec_dim)(z | m << 1);
    return text[z + m] == '\0';
}

/* WKB's code of a geometry's name with an optional tag, 0 if it is none. */
static uint32_t word_code(const char *text, enum vcodec_dim *tag)
{
    const char *name;
    for (uint32_t code = 1; (name = vcodec_code_name(code)); code++) {
        const char *rest = behind_name(text, name);
        if (rest && is_tag(rest, tag))
            return code;
    }
    return 0;
}

/* A tag says the dimension of the whole geometry. */
static enum h5vec_status apply_tag(struct reader *r, const char *at, enum vcodec_dim tag, bool outermost)
{
    if (r->dim_known) {
        if (tag == r->dim)
            return H5VEC_OK;
        return h5vec_error_set(r->err, H5VEC_E_MEMBER, offset(r, at),
                               "a geometry of dimension %s among others of dimension %s",
                               vcodec_dim_name(tag), vcodec_dim_name(r->dim));
    }
    r->dim = tag;
    r->dim_known = true;
    r->again = !outermost;
    return r->again ? H5VEC_E_WKT_SYNTAX : H5VEC_OK;
}

static enum h5vec_status take_type(struct reader *r, bool outermost, enum vcodec_type *type)
{
    struct word word = next_word(r);
    const char *at = r->at;
    enum vcodec_dim tag = VCODEC_XY;
    uint32_t code = word_code(word.text, &tag);
    if (code == 0)
        return expected(r, "a geometry type");
    if (code > VCODEC_GEOMETRYCOLLECTION)
        return h5vec_error_set(r->err, H5VEC_E_UNSUPPORTED, offset(r, at), "geometry type not supported: %s",
                               vcodec_code_name(code));
    *type = (enum vcodec_type)code;
    r->at = word.end;
    if (tag == VCODEC_XY) {
        word = next_word(r);
        if (is_tag(word.text, &tag))
            r->at = word.end;
    }
    return tag == VCODEC_XY ? H5VEC_OK : apply_tag(r, at, tag, outermost);
}

/* Coordinates. */

/* "nan", "inf" or "infinity", perhaps with a sign. Returns their end or NULL. */
static const char *nonfinite(struct reader *r, const char *p, double *value)
{
    bool negative = p < r->end && *p == '-';
    const char *before = r->at;
    r->at = p + (p < r->end && (*p == '-' || *p == '+'));
    struct word word = next_word(r);
    r->at = before;
    bool nan = strcmp(word.text, "nan") == 0;
    if (!nan && strcmp(word.text, "inf") != 0 && strcmp(word.text, "infinity") != 0)
        return NULL;
    uint64_t bits = (nan ? UINT64_C(0x7ff8) : negative ? UINT64_C(0xfff0) : UINT64_C(0x7ff0)) << 48;
    memcpy(value, &bits, sizeof *value);
    return word.end;
}

/* A number at p that vcodec_number_parse() has not taken, or that is not finite. */
static enum h5vec_status odd_number(struct reader *r, const char *p, uint8_t *out, const char **end)
{
    double value = 0;
    *end = nonfinite(r, p, &value);
    r->at = p;
    if (*end && r->nonfinite_allowed) {
        vcodec_store_double(out, value);
        return H5VEC_OK;
    }
    if (*end)
        return h5vec_error_set(r->err, H5VEC_E_NONFINITE, offset(r, p), "coordinate not finite: '%.*s'",
                               (int)(*end - p), p);
    if (vcodec_number_general(p, r->end, &value))
        return h5vec_error_set(r->err, H5VEC_E_WKT_NUMBER, offset(r, p), "number out of a double's range");
    return expected(r, "a number");
}

static bool begins_number(char c)
{
    return (c >= '0' && c <= '9') || strchr("+-.nNiI", c);
}

static enum h5vec_status wrong_ordinates(struct reader *r, const char *p, unsigned n)
{
    return h5vec_error_set(r->err, H5VEC_E_WKT_SYNTAX, offset(r, p),
                           "%u ordinate%s where points have %u (%s)", n, n == 1 ? "" : "s",
                           vcodec_ordinates(r->dim), vcodec_dim_name(r->dim));
}

/* Ordinate n of a point is followed by neither white space nor, if it may be the last, by ',' or ')'. */
static enum h5vec_status odd_separator(struct reader *r, const char *p, unsigned n)
{
    r->at = p;
    if (p == r->end)
        return expected(r, n < vcodec_ordinates(r->dim) ? "another ordinate" : "')'");
    if (*p == ',' && p + 1 < r->end && begins_number(p[1]) && n == 1)
        return h5vec_error_set(r->err, H5VEC_E_WKT_SYNTAX, offset(r, p),
                               "a comma where a number's digits or a space was expected (decimal comma?)");
    if (*p == ',' || *p == ')')
        return wrong_ordinates(r, p, n);
    return h5vec_error_set(r->err, H5VEC_E_WKT_NUMBER, offset(r, p), "not a decimal number");
}

/* How many words there are from p to the next ',' or ')'. */
static unsigned count_words(const char *p, const char *end)
{
    unsigned n = 0;
    for (bool inside = false; p < end && *p != ',' && *p != ')'; p++) {
        bool letter = !is_space(*p);
        n += letter && !inside;
        inside = letter;
    }
    return n;
}

/* After a point's ordinates comes neither ',' nor ')', but p. */
static enum h5vec_status odd_end(struct reader *r, const char *p, bool first_point)
{
    unsigned n = vcodec_ordinates(r->dim);
    if (p == r->end || !is_space(p[-1]))
        return odd_separator(r, p, n);
    r->at = p;
    if (!begins_number(*p))
        return expected(r, "',' or ')'");
    n += count_words(p, r->end);
    if (r->dim_known || !first_point || n > 4)
        return wrong_ordinates(r, p, n);
    r->dim = n == 3 ? VCODEC_XYZ : VCODEC_XYZM;
    r->dim_known = true;
    r->again = true;
    return H5VEC_E_WKT_SYNTAX;
}

/* One point at *at to out, and what comes behind it, ',' or ')', which is not taken, to *at. */
static inline enum h5vec_status one_point(struct reader *r, const char **at, unsigned ordinates, uint8_t *out,
                                          bool first_point)
{
    const struct vcodec_text text = {r->begin, r->end};
    const char *p = *at;
    for (unsigned i = 0; i < ordinates; i++) {
        double value;
        p = skip_space(p, text.end);
        const char *behind = vcodec_number_parse(&text, p, &value);
        vcodec_store_double(out + i * sizeof value, value);
        if (!behind || value - value != 0) {
            enum h5vec_status status = odd_number(r, p, out + i * sizeof value, &behind);
            if (status)
                return status;
        }
        p = behind;
        if (i + 1 < ordinates && (p == text.end || (unsigned char)*p > ' '))
            return odd_separator(r, p, i + 1);
    }
    p = skip_space(p, text.end);
    if (p == text.end || (*p != ',' && *p != ')'))
        return odd_end(r, p, first_point);
    *at = p;
    return H5VEC_OK;
}

/* All points up to ')', which is taken. */
static inline enum h5vec_status points_of(struct reader *r, unsigned ordinates, uint64_t *count)
{
    uint8_t scratch[VCODEC_BLOCK_BYTES];
    const char *p = r->at;
    uint64_t total = 0;
    bool more = true;
    while (more) {
        uint8_t *block = vcodec_sink_block(&r->sink, scratch);
        size_t n = 0;
        while (more && n < VCODEC_BLOCK_POINTS) {
            uint8_t *out = block + n * ordinates * sizeof(double);
            enum h5vec_status status = one_point(r, &p, ordinates, out, total + n == 0);
            if (status)
                return status;
            n++;
            more = *p++ == ',';
        }
        vcodec_sink_points(&r->sink, block, n);
        total += n;
    }
    r->at = p;
    r->dim_known = true;
    *count = total;
    return H5VEC_OK;
}

static enum h5vec_status points(struct reader *r, uint64_t *count)
{
    switch (vcodec_ordinates(r->dim)) {
    case 2:
        return points_of(r, 2, count);
    case 3:
        return points_of(r, 3, count);
    default:
        return points_of(r, 4, count);
    }
}

/* Geometries. In each, the count is written as 0 and set when it is known. */

static enum h5vec_status set_count(struct reader *r, size_t end, uint64_t count)
{
    if (count > UINT32_MAX)
        return h5vec_error_set(r->err, H5VEC_E_COUNT, offset(r, r->at),
                               "%" PRIu64 " parts: WKB counts to 2^32 - 1", count);
    vcodec_sink_set_count(&r->sink, end, (uint32_t)count);
    return H5VEC_OK;
}

/* A point's coordinates; the ',' or ')' behind them is not taken. */
static enum h5vec_status point(struct reader *r)
{
    uint8_t block[4 * sizeof(double)];
    unsigned ordinates = vcodec_ordinates(r->dim);
    r->at = skip_space(r->at, r->end);
    const char *start = r->at;
    enum h5vec_status status = one_point(r, &r->at, ordinates, block, true);
    if (status)
        return status;
    r->dim_known = true;
    bool some = false;
    for (unsigned i = 0; i < ordinates; i++)
        some = some || !isnan(vcodec_load_double(block + i * sizeof(double)));
    if (!some)
        return h5vec_error_set(r->err, H5VEC_E_NONFINITE, offset(r, start),
                               "a point of NaNs only: write POINT EMPTY");
    vcodec_sink_geometry(&r->sink, VCODEC_POINT, r->dim, 1);
    vcodec_sink_points(&r->sink, block, 1);
    vcodec_sink_end_geometry(&r->sink, VCODEC_POINT);
    return H5VEC_OK;
}

/* Points behind '(' for the sequence whose count ends where the sink is. */
static enum h5vec_status sequence(struct reader *r)
{
    size_t end = r->sink.size;
    uint64_t count = 0;
    enum h5vec_status status = points(r, &count);
    return status ? status : set_count(r, end, count);
}

static enum h5vec_status ring(struct reader *r)
{
    enum h5vec_status status = H5VEC_OK;
    bool empty = take_empty(r);
    if (!empty && !take(r, '('))
        return expected(r, "'(' or EMPTY");
    vcodec_sink_ring(&r->sink, 0);
    if (!empty)
        status = sequence(r);
    if (!status)
        vcodec_sink_end_ring(&r->sink);
    return status;
}

/* A part of a geometry that is a list; depth counts the collections around the part. */
static enum h5vec_status part(struct reader *r, enum vcodec_type type, unsigned depth)
{
    char next = peek(r);
    switch (type) {
    case VCODEC_POLYGON:
        return ring(r);
    case VCODEC_GEOMETRYCOLLECTION:
        return geometry(r, depth);
    case VCODEC_MULTIPOINT:
        if (next != '(' && (next | 0x20) != 'e')
            return point(r);
        return body(r, VCODEC_POINT, depth);
    default:
        return body(r, (enum vcodec_type)(type - 3), depth);
    }
}

static enum h5vec_status list(struct reader *r, enum vcodec_type type, unsigned depth)
{
    size_t end = r->sink.size;
    uint64_t count = 0;
    do {
        enum h5vec_status status = part(r, type, depth + 1);
        if (status)
            return status;
        count++;
    } while (take(r, ','));
    if (!take(r, ')'))
        return expected(r, "',' or ')'");
    return set_count(r, end, count);
}

/* What follows a geometry's name and tag. */
static enum h5vec_status body(struct reader *r, enum vcodec_type type, unsigned depth)
{
    bool empty = take_empty(r);
    if (!empty && !take(r, '('))
        return expected(r, "'(' or EMPTY");
    if (depth == VCODEC_MAX_DEPTH && type >= VCODEC_MULTIPOINT)
        return h5vec_error_set(r->err, H5VEC_E_DEPTH, offset(r, r->at), "collections nested deeper than %d",
                               VCODEC_MAX_DEPTH);
    enum h5vec_status status = H5VEC_OK;
    if (type == VCODEC_POINT && !empty) {
        status = point(r);
        return !status && !take(r, ')') ? expected(r, "')'") : status;
    }
    vcodec_sink_geometry(&r->sink, type, r->dim, 0);
    if (!empty)
        status = type == VCODEC_LINESTRING ? sequence(r) : list(r, type, depth);
    if (!status)
        vcodec_sink_end_geometry(&r->sink, type);
    return status;
}

static enum h5vec_status geometry(struct reader *r, unsigned depth)
{
    enum vcodec_type type = VCODEC_POINT;
    enum h5vec_status status = take_type(r, depth == 0, &type);
    return status ? status : body(r, type, depth);
}

/* "SRID=n;" if it is there. */
static enum h5vec_status take_srid(struct reader *r)
{
    if (!take_word(r, "srid"))
        return H5VEC_OK;
    if (!take(r, '='))
        return expected(r, "'='");
    bool negative = take(r, '-');
    peek(r);
    const char *start = r->at;
    int64_t value = 0;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9' && value <= INT32_MAX; r->at++)
        value = value * 10 + (*r->at - '0');
    if (r->at == start)
        return expected(r, "an integer");
    if (value > INT32_MAX)
        return h5vec_error_set(r->err, H5VEC_E_WKT_NUMBER, offset(r, start), "SRID out of range");
    if (!take(r, ';'))
        return expected(r, "';'");
    r->sink.info.has_srid = true;
    r->sink.info.srid = (int32_t)(negative ? -value : value);
    return H5VEC_OK;
}

static enum h5vec_status whole_text(struct reader *r)
{
    enum h5vec_status status = take_srid(r);
    if (!status)
        status = geometry(r, 0);
    if (!status && (peek(r), r->at < r->end))
        status =
            h5vec_error_set(r->err, H5VEC_E_TRAILING, offset(r, r->at), "text after the end of the geometry");
    return status;
}

/* Most texts of points are "POINT (x y)" to the letter: these are read without the machinery above, which is
 * most of the time of such a text. Anything else is left to it (false). */
static bool plain_point(const char *begin, size_t size, uint8_t *out, size_t capacity,
                        struct vcodec_info *info)
{
    static const char name[] = "POINT";
    const struct vcodec_text text = {begin, begin + size};
    const char *p = begin + sizeof name - 1;
    double x, y;
    if (size < sizeof "POINT(0 0)" - 1 || capacity < VCODEC_WKB_HEADER + 2 * sizeof x ||
        memcmp(begin, name, sizeof name - 1) != 0)
        return false;
    p += *p == ' ';
    if (*p++ != '(' || !(p = vcodec_number_parse(&text, p, &x)) || p == text.end || *p++ != ' ' ||
        !(p = vcodec_number_parse(&text, p, &y)) || p == text.end || *p++ != ')' || p != text.end ||
        (x - x) + (y - y) != 0)
        return false;
    out[0] = 1;
    vcodec_store32(out + 1, VCODEC_POINT);
    vcodec_store_double(out + VCODEC_WKB_HEADER, x);
    vcodec_store_double(out + VCODEC_WKB_HEADER + sizeof x, y);
    *info = (struct vcodec_info){.type = VCODEC_POINT,
                                 .dim = VCODEC_XY,
                                 .vertices = 1,
                                 .wkb_size = VCODEC_WKB_HEADER + 2 * sizeof x,
                                 .box = {x, y, x, y}};
    return true;
}

enum h5vec_status vcodec_wkt_read(const char *text, size_t size, unsigned flags, uint8_t *out,
                                  size_t capacity, struct vcodec_info *info, struct h5vec_error *err)
{
    static const char bom[3] = "\xef\xbb\xbf";
    if (flags & ~VCODEC_ALLOW_NONFINITE)
        return h5vec_error_set(err, H5VEC_E_ARG, 0, "vcodec_wkt_read: unknown flags 0x%x", flags);
    if (plain_point(text, size, out, capacity, info))
        return H5VEC_OK;
    struct reader r; /* its sink is set by vcodec_sink_init() */
    r.begin = text;
    r.end = size ? text + size : text;
    r.nonfinite_allowed = flags & VCODEC_ALLOW_NONFINITE;
    r.dim_known = false;
    r.dim = VCODEC_XY;
    r.err = err;
    enum h5vec_status status;
    do {
        r.again = false;
        r.at = size >= sizeof bom && memcmp(text, bom, sizeof bom) == 0 ? text + sizeof bom : text;
        vcodec_sink_init(&r.sink, out, capacity);
        status = whole_text(&r);
    } while (r.again);
    if (!status)
        vcodec_sink_finish(&r.sink, info);
    return status;
}

/* The most bytes for a character make MULTIPOINT ZM's members "EMPTY,", 37 for 6; a first "POINTZMEMPTY"
 * needs less. */
size_t vcodec_wkt_bound(size_t size)
{
    const size_t member = VCODEC_WKB_HEADER + 4 * sizeof(double);
    return size / 6 < SIZE_MAX / member - 2 ? (size / 6 + 1) * member : SIZE_MAX;
}

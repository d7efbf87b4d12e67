/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The encoding of a .dbf's text: as its .cpg says, else its language byte. Where neither says anything the
 * text must be UTF-8: guessing would put wrong letters into names.
 */
#include "shapefile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Language bytes of dBase and their code pages. */
static const struct {
    uint8_t language;
    uint16_t page;
} languages[] = {
    {0x01, 437},  {0x02, 850},  {0x03, 1252}, {0x08, 865},  {0x09, 437}, {0x0A, 850},  {0x0B, 437},
    {0x0D, 437},  {0x0E, 850},  {0x0F, 437},  {0x10, 850},  {0x11, 437}, {0x12, 850},  {0x13, 932},
    {0x14, 850},  {0x15, 437},  {0x16, 850},  {0x17, 865},  {0x18, 437}, {0x19, 437},  {0x1A, 850},
    {0x1B, 437},  {0x1C, 863},  {0x1D, 850},  {0x1F, 852},  {0x22, 852}, {0x23, 852},  {0x24, 860},
    {0x25, 850},  {0x26, 866},  {0x37, 850},  {0x40, 852},  {0x4D, 936}, {0x4E, 949},  {0x4F, 950},
    {0x50, 874},  {0x57, 1252}, {0x58, 1252}, {0x59, 1252}, {0x64, 852}, {0x65, 866},  {0x66, 865},
    {0x67, 861},  {0x6A, 737},  {0x6B, 857},  {0x6C, 863},  {0x78, 950}, {0x79, 949},  {0x7A, 936},
    {0x7B, 932},  {0x7C, 874},  {0x86, 737},  {0x87, 852},  {0x88, 857}, {0xC8, 1250}, {0xC9, 1251},
    {0xCA, 1254}, {0xCB, 1253}, {0xCC, 1257},
};

static unsigned page_of_language(const char *digits)
{
    unsigned long language = strtoul(digits, NULL, 10);
    for (size_t i = 0; i < sizeof languages / sizeof languages[0]; i++)
        if (languages[i].language == language)
            return languages[i].page;
    return 0;
}

enum { NAME = 48 };

/* iconv's name of the encoding: of a number alone ("1252", "88591" for ISO 8859-1), of the words that
 * programs write before one ("ANSI 1252"), or the text itself. */
static void name_of(const char *text, char name[NAME])
{
    static const char *const before[] = {"ANSI ", "OEM ", "LDID/"};
    unsigned page = 0;
    size_t length = strcspn(text, "\r\n");
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++)
        if (strncasecmp(text, before[i], strlen(before[i])) == 0) {
            text += strlen(before[i]);
            length -= strlen(before[i]);
            page = i == 2 ? page_of_language(text) : 0;
        }
    bool number = length > 0 && length < 6 && strspn(text, "0123456789") >= length;
    if (number && page == 0)
        page = (unsigned)strtoul(text, NULL, 10);
    if (number && page == 65001)
        snprintf(name, NAME, "UTF-8");
    else if (number && page > 88590 && page < 88600)
        snprintf(name, NAME, "ISO-8859-%u", page - 88590);
    else if (number && page > 885900 && page < 885920)
        snprintf(name, NAME, "ISO-8859-%u", page - 885900);
    else if (number)
        snprintf(name, NAME, "CP%u", page);
    else
        snprintf(name, NAME, "%.*s", length < NAME ? (int)length : NAME - 1, text);
}

enum h5vec_status h5vec_format_encoding_open(const char *code_page, iconv_t *converter,
                                             struct h5vec_error *err)
{
    char name[NAME];
    *converter = (iconv_t)-1;
    if (!code_page)
        return H5VEC_OK;
    name_of(code_page, name);
    for (char *end = name + strlen(name); end > name && end[-1] == ' '; end--)
        end[-1] = '\0';
    if (name[0] == '\0' || strcasecmp(name, "UTF-8") == 0 || strcasecmp(name, "UTF8") == 0)
        return H5VEC_OK;
    /* A slash would be an instruction to iconv. */
    *converter = strchr(name, '/') ? (iconv_t)-1 : iconv_open("UTF-8", name);
    if (*converter == (iconv_t)-1)
        return h5vec_error_set(err, H5VEC_E_FORMAT_RECORD, 0,
                               "the text of the .dbf is in an encoding that is not known here, '%s'", name);
    return H5VEC_OK;
}

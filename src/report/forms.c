/* SPDX-License-Identifier: MIT */
#include "report/forms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

void form_add_padded(struct text *text, const char *cell, size_t width, bool left)
{
    size_t used = utf8_width(cell);
    if (left)
        text_add(text, cell);
    text_add_blanks(text, used < width ? width - used : 0);
    if (!left)
        text_add(text, cell);
}

void form_add_field(struct text *text, const char *name)
{
    size_t start = text->length;
    text_add_printable(text, name);
    char *bar = strchr(name, '|') ? text->bytes + start : NULL;
    if (!bar)
        return;
    char *printable = memory_text(bar);
    text->length = start;
    for (const char *at = printable; *at; at++)
        text_add_bytes(text, *at == '|' ? "\\x7C" : at, *at == '|' ? 4 : 1);
    free(printable);
}

/* A real has a point or an exponent, and this no plus and no 0s before it. */
void form_add_json_real(struct text *text, double number)
{
    size_t start = text->length;
    if (isnan(number) || isinf(number)) {
        text_add(text, "null");
        return;
    }
    text_add_exact(text, number);
    char *exponent = strchr(text->bytes + start, 'e');
    if (!exponent) {
        text_add(text, strchr(text->bytes + start, '.') ? "" : ".0");
        return;
    }
    char *to = exponent + 1 + (exponent[1] == '-'), *from = exponent + 2;
    from += strspn(from, "0");
    memmove(to, from, strlen(from) + 1);
    text->length -= (size_t)(from - to);
}

json_t *form_json_real(double number)
{
    return isnan(number) || isinf(number) ? json_null() : json_real(number);
}

/* Of the control characters jansson leaves one as it is, DEL. */
static int add_chunk(const char *bytes, size_t length, void *text)
{
    for (const char *found; length && (found = memchr(bytes, '\x7f', length));) {
        size_t before = (size_t)(found - bytes);
        text_add_bytes(text, bytes, before);
        text_add(text, "\\u007f");
        bytes += before + 1;
        length -= before + 1;
    }
    text_add_bytes(text, bytes, length);
    return 0;
}

void form_add_json(struct text *text, json_t *json)
{
    size_t flags = JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17);
    struct text line = { 0 };
    json_dump_callback(json, add_chunk, &line, flags);
    /* What a terminal should not get goes as \uXXXX, with all else beyond ASCII. */
    if (!utf8_is_printable(line.bytes)) {
        line.length = 0;
        json_dump_callback(json, add_chunk, &line, flags | JSON_ENSURE_ASCII);
    }
    text_add_bytes(text, line.bytes, line.length);
    text_free(&line);
    json_decref(json);
}

/* SPDX-License-Identifier: MIT */
#include "source/pbs/fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "db/db.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

#define SHOWN 40 /* bytes of a rejected text in messages */
#define WORD_BYTES 8

bool part_is(const struct part *part, const char *word)
{
    return part->length == strlen(word) && !memcmp(part->bytes, word, part->length);
}

struct part part_of_column(const struct db_value *value)
{
    return value->type == DB_TEXT ? (struct part){ value->text.bytes, value->text.length }
                                  : (struct part){ "", 0 };
}

int part_refuse(struct part text, const char *why, struct error *err)
{
    int length = text.length > SHOWN ? SHOWN : (int)text.length;
    return fail(err, ERROR_DATA, "%s at '%.*s'", why, length, text.bytes);
}

static bool pbs_field_is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool is_of_key(char byte)
{
    return pbs_field_is_letter(byte) || (byte >= '0' && byte <= '9') || byte == '_' ||
           byte == '.' || byte == '-';
}

static void pbs_field_add_field(struct fields *fields, struct field field)
{
    if (fields->count == fields->room) {
        fields->room = fields->room ? 2 * fields->room : 64;
        fields->fields = memory_resized(fields->fields, fields->room, sizeof *fields->fields);
    }
    fields->fields[fields->count++] = field;
}

/*
 * Returns the key of the next field at or after `at`, which follows a space or is the beginning of
 * the text.  Returns `end` if there is no further field.
 */
static const char *next_key(const char *at, const char *end)
{
    for (; at < end; at++) {
        const char *key = at;
        while (at < end && is_of_key(*at))
            at++;
        if (at > key && at < end && *at == '=' && pbs_field_is_letter(*key))
            return key;
        at = memchr(at, ' ', (size_t)(end - at));
        if (!at)
            return end;
    }
    return end;
}

static struct part without_blanks(const char *from, const char *to)
{
    while (to > from && to[-1] == ' ')
        to--;
    return (struct part){ from, (size_t)(to - from) };
}

/*
 * Reads the value at `at`.  A quote is the server's if the next quote of its kind closes it right
 * before another field or the end.  Any other quote may be part of a user's value.  Returns the
 * beginning of the next field.
 */
static const char *pbs_field_read_value(const char *at, const char *end, struct part *value)
{
    bool quoted = at < end && (*at == '"' || *at == '\'');
    const char *close = quoted ? memchr(at + 1, *at, (size_t)(end - at - 1)) : NULL;
    if (close) {
        const char *next = close + 1;
        while (next < end && *next == ' ')
            next++;
        *value = (struct part){ at + 1, (size_t)(close - at - 1) };
        if (next == end || (next > close + 1 && next_key(next, end) == next))
            return next;
    }
    const char *blank = memchr(at, ' ', (size_t)(end - at));
    const char *next = blank ? next_key(blank + 1, end) : end;
    *value = without_blanks(at, next);
    if (quoted && value->length > 1 && *at == at[value->length - 1])
        *value = (struct part){ at + 1, value->length - 2 };
    return next;
}

int fields_read(struct fields *fields, struct part text, struct error *err)
{
    const char *at = text.bytes, *end = at + text.length;
    fields->count = 0;
    while (at < end && *at == ' ')
        at++;
    if (next_key(at, end) != at)
        return part_refuse((struct part){ at, (size_t)(end - at) }, "missing key=value", err);
    while (at < end) {
        const char *sign = memchr(at, '=', (size_t)(end - at));
        struct field field = { .key = { at, (size_t)(sign - at) } };
        at = pbs_field_read_value(sign + 1, end, &field.value);
        pbs_field_add_field(fields, field);
    }
    return 0;
}

void fields_free(struct fields *fields)
{
    free(fields->fields);
    *fields = (struct fields){ 0 };
}

struct part fields_value(const struct fields *fields, const char *key)
{
    for (size_t i = 0; i < fields->count; i++) {
        if (part_is(&fields->fields[i].key, key))
            return fields->fields[i].value;
    }
    return (struct part){ "", 0 };
}

/* Appends bytes without the quotes of one kind. */
static void add_without(struct text *text, struct part value, char quote)
{
    const char *at = value.bytes, *end = at + value.length;
    for (const char *stop; (stop = memchr(at, quote, (size_t)(end - at))); at = stop + 1)
        text_add_bytes(text, at, (size_t)(stop - at));
    text_add_bytes(text, at, (size_t)(end - at));
}

void text_add_field(struct text *text, struct part key, struct part value)
{
    bool quoted = memchr(value.bytes, ' ', value.length) ||
                  (value.length && (*value.bytes == '"' || *value.bytes == '\''));
    const char *quote = !quoted ? "" : memchr(value.bytes, '"', value.length) ? "'" : "\"";
    if (text->length)
        text_add(text, " ");
    text_add_bytes(text, key.bytes, key.length);
    text_add(text, "=");
    text_add(text, quote);
    if (quoted)
        add_without(text, value, *quote);
    else
        text_add_bytes(text, value.bytes, value.length);
    text_add(text, quote);
}

/* ---- values ---- */

static bool is_word(struct part text, const char *word)
{
    return text.length == strlen(word) && !strncasecmp(text.bytes, word, text.length);
}

/*
 * Returns the number of kilobytes in a unit, such as 1024 for `mb`.  Returns 0 if the suffix is not
 * a unit.
 */
static double unit_of(const char *suffix)
{
    static const char prefixes[] = "kmgtp";
    double unit = 1.0 / 1024;
    const char *prefix = *suffix ? strchr(prefixes, *suffix | 0x20) : NULL;
    if (prefix) {
        unit = ldexp(1, 10 * (int)(prefix - prefixes));
        suffix++;
    }
    if (!strcasecmp(suffix, "w"))
        return unit * WORD_BYTES;
    return !strcasecmp(suffix, "b") || (prefix && !*suffix) ? unit : 0;
}

static double pbs_field_number_of(struct part text)
{
    char copy[64];
    uint64_t seconds;
    double number;
    if (is_word(text, "true"))
        return 1;
    if (clock_span_parse(text.bytes, text.length, &seconds))
        return (double)seconds;
    if (text.length >= sizeof copy)
        return 0;
    memcpy(copy, text.bytes, text.length);
    copy[text.length] = '\0';
    if (number_real(copy, &number))
        return isfinite(number) ? number : 0;
    size_t digits = strspn(copy, "0123456789.");
    double unit = unit_of(copy + digits);
    copy[digits] = '\0';
    /* OpenPBS rounds a size up to whole kilobytes. */
    return unit > 0 && number_real(copy, &number) ? ceil(number * unit) : 0;
}

struct formula_value resource_value(struct part text)
{
    double number = pbs_field_number_of(text);
    return (struct formula_value){ number, number == floor(number) };
}

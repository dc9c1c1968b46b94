/* SPDX-License-Identifier: MIT */
#include "source/pbs/fields.h"

#include <stdlib.h>
#include <string.h>

#include "db/db.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

#define SHOWN 40 /* bytes of what is refused */

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

static bool is_of_key(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z') || byte == '_' || byte == '.' || byte == '-';
}

static void add_field(struct fields *fields, struct field field)
{
    if (fields->count == fields->room) {
        fields->room = fields->room ? 2 * fields->room : 64;
        fields->fields = memory_resized(fields->fields, fields->room, sizeof *fields->fields);
    }
    fields->fields[fields->count++] = field;
}

/* Behind the value, and its quote; NULL where the quote is not closed. */
static const char *read_value(const char *at, const char *end, struct part *value)
{
    char quote = at < end && (*at == '"' || *at == '\'') ? *at : '\0';
    const char *close = at;
    if (!quote) {
        const char *blank = memchr(at, ' ', (size_t)(end - at));
        close = blank ? blank : end;
        *value = (struct part){ at, (size_t)(close - at) };
        return close;
    }
    do {
        close = memchr(close + 1, quote, (size_t)(end - close - 1));
        if (!close)
            return NULL;
    } while (close + 1 < end && close[1] != ' ');
    *value = (struct part){ at + 1, (size_t)(close - at - 1) };
    return close + 1;
}

int fields_read(struct fields *fields, struct part text, struct error *err)
{
    const char *at = text.bytes, *end = at + text.length;
    fields->count = 0;
    for (;;) {
        while (at < end && *at == ' ')
            at++;
        if (at == end)
            return 0;
        struct field field = { .key.bytes = at };
        while (at < end && is_of_key(*at))
            at++;
        field.key.length = (size_t)(at - field.key.bytes);
        const struct part rest = { field.key.bytes, (size_t)(end - field.key.bytes) };
        if (!field.key.length || at == end || *at != '=')
            return part_refuse(rest, "there is no key=value", err);
        at = read_value(at + 1, end, &field.value);
        if (!at)
            return part_refuse(rest, "a quote is not closed", err);
        add_field(fields, field);
    }
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
    text_add_bytes(text, value.bytes, value.length);
    text_add(text, quote);
}

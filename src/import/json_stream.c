/* SPDX-License-Identifier: MIT */
#include "import/json_stream.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

#define LONGEST_VALUE 65536

static int peek(struct json_stream *stream)
{
    if (stream->at == stream->length) {
        stream->at = 0;
        stream->length = fread(stream->bytes, 1, sizeof stream->bytes, stream->file);
    }
    return stream->at < stream->length ? (unsigned char)stream->bytes[stream->at] : EOF;
}

static void step(struct json_stream *stream, struct text *raw)
{
    char byte = stream->bytes[stream->at++];
    stream->line += byte == '\n';
    if (raw && raw->length < LONGEST_VALUE)
        text_add_bytes(raw, &byte, 1);
}

int json_stream_peek(struct json_stream *stream)
{
    int byte;
    while ((byte = peek(stream)) != EOF && strchr(" \t\r\n", byte))
        step(stream, NULL);
    return byte;
}

static int refuse(const struct json_stream *stream, const char *what, struct error *err)
{
    if (ferror(stream->file))
        return fail(err, ERROR_DATA, "cannot read it: %s", strerror(errno));
    return fail(err, ERROR_DATA, "no JSON: %s, in line %zu", what, stream->line);
}

/* A string, with its quotes. */
static void read_string(struct json_stream *stream, struct text *raw)
{
    step(stream, raw);
    for (int byte; (byte = peek(stream)) != EOF && byte != '\n';) {
        step(stream, raw);
        if (byte == '"')
            return;
        if (byte == '\\' && (byte = peek(stream)) != EOF && byte != '\n')
            step(stream, raw);
    }
}

/* An object or an array. */
static int read_nested(struct json_stream *stream, struct text *raw, struct error *err)
{
    size_t depth = 0;
    do {
        int byte = peek(stream);
        if (byte == EOF)
            return refuse(stream, "it ends within a value", err);
        if (byte == '"') {
            read_string(stream, raw);
            continue;
        }
        depth += byte == '{' || byte == '[';
        depth -= byte == '}' || byte == ']';
        step(stream, raw);
    } while (depth);
    return 0;
}

static int read_raw(struct json_stream *stream, struct text *raw, struct error *err)
{
    int byte = json_stream_peek(stream);
    if (byte == '"') {
        read_string(stream, raw);
        return 0;
    }
    if (byte == '{' || byte == '[')
        return read_nested(stream, raw, err);
    while ((byte = peek(stream)) != EOF && byte && !strchr(" \t\r\n,}]", byte))
        step(stream, raw);
    return byte == EOF ? refuse(stream, "it ends within a value", err)
           : byte      ? 0
                       : refuse(stream, "a byte of value 0", err);
}

/* Decode a value.  Invalid JSON stays as it is, without its quotes. */
static void add_decoded(struct text *text, const struct text *raw)
{
    json_t *value = NULL;
    char *dumped = NULL;
    if (raw->length && strchr("\"{[", *raw->bytes))
        value = json_loadb(raw->bytes, raw->length, JSON_DECODE_ANY, NULL);
    if (json_is_string(value)) {
        text_add(text, json_string_value(value));
    } else if (value && (dumped = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(15)))) {
        text_add(text, dumped);
    } else if (raw->length) {
        size_t quoted = *raw->bytes == '"', length = raw->length - quoted;
        length -= quoted && length && raw->bytes[length] == '"';
        text_add_bytes(text, raw->bytes + quoted, length);
    }
    free(dumped);
    json_decref(value);
}

int json_stream_value(struct json_stream *stream, struct text *value, struct error *err)
{
    if (!value)
        return read_raw(stream, NULL, err);
    struct text raw = { 0 }, utf8 = { 0 };
    int result = read_raw(stream, &raw, err);
    text_add(&utf8, "");
    if (raw.length)
        text_add_as_utf8(&utf8, raw.bytes, raw.length);
    value->length = 0;
    text_add(value, "");
    if (!result)
        add_decoded(value, &utf8);
    text_free(&raw);
    text_free(&utf8);
    return result;
}

int json_stream_enter(struct json_stream *stream, struct error *err)
{
    if (json_stream_peek(stream) != '{')
        return refuse(stream, "an object is missing", err);
    step(stream, NULL);
    return 0;
}

int json_stream_key(struct json_stream *stream, struct text *key, struct error *err)
{
    int byte;
    while ((byte = json_stream_peek(stream)) == ',')
        step(stream, NULL);
    if (byte == '}') {
        step(stream, NULL);
        return 0;
    }
    if (byte != '"')
        return refuse(stream, byte == EOF ? "it ends within an object" : "a key is missing", err);
    if (json_stream_value(stream, key, err))
        return -1;
    if (json_stream_peek(stream) != ':')
        return refuse(stream, "a colon is missing", err);
    step(stream, NULL);
    return 1;
}

/* SPDX-License-Identifier: MIT */
#include "import/qstat.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"
#include "util/times.h"

/*
 * Reads JSON from a pipe, in one pass.  Skipped values need no memory.
 *
 * Some releases of qstat copy users' values into their output without a check that they are valid
 * JSON (`"FOO":005`).  Therefore the check of skipped values is not strict.  Brackets and quotes
 * must be in pairs, a string ends with its line, and a number can be any word.
 */

struct json_stream {
    FILE *file;
    size_t line; /* from 1 */
    size_t at, length;
    char bytes[65536];
};

#define LONGEST_VALUE 65536

static int qstat_peek(struct json_stream *stream)
{
    if (stream->at == stream->length) {
        stream->at = 0;
        stream->length = fread(stream->bytes, 1, sizeof stream->bytes, stream->file);
    }
    return stream->at < stream->length ? (unsigned char)stream->bytes[stream->at] : EOF;
}

static void qstat_step(struct json_stream *stream, struct text *raw)
{
    char byte = stream->bytes[stream->at++];
    stream->line += byte == '\n';
    if (raw && raw->length < LONGEST_VALUE)
        text_add_bytes(raw, &byte, 1);
}

/* Skips white space.  Returns the next byte without reading it, or EOF. */
static int json_stream_peek(struct json_stream *stream)
{
    int byte;
    while ((byte = qstat_peek(stream)) != EOF && strchr(" \t\r\n", byte))
        qstat_step(stream, NULL);
    return byte;
}

static int qstat_refuse(const struct json_stream *stream, const char *what, struct error *err)
{
    if (ferror(stream->file))
        return fail(err, ERROR_DATA, "read error: %s", strerror(errno));
    return fail(err, ERROR_DATA, "invalid JSON in line %zu: %s", stream->line, what);
}

/* Reads a string with its quotes. */
static void read_string(struct json_stream *stream, struct text *raw)
{
    qstat_step(stream, raw);
    for (int byte; (byte = qstat_peek(stream)) != EOF && byte != '\n';) {
        qstat_step(stream, raw);
        if (byte == '"')
            return;
        if (byte == '\\' && (byte = qstat_peek(stream)) != EOF && byte != '\n')
            qstat_step(stream, raw);
    }
}

/* Reads an object or an array. */
static int read_nested(struct json_stream *stream, struct text *raw, struct error *err)
{
    size_t depth = 0;
    do {
        int byte = qstat_peek(stream);
        if (byte == EOF)
            return qstat_refuse(stream, "end of file within a value", err);
        if (byte == '"') {
            read_string(stream, raw);
            continue;
        }
        depth += byte == '{' || byte == '[';
        depth -= byte == '}' || byte == ']';
        qstat_step(stream, raw);
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
    while ((byte = qstat_peek(stream)) != EOF && byte && !strchr(" \t\r\n,}]", byte))
        qstat_step(stream, raw);
    return byte == EOF ? qstat_refuse(stream, "end of file within a value", err)
           : byte      ? 0
                       : qstat_refuse(stream, "a NUL byte", err);
}

/* Decodes a value.  Adds invalid JSON unchanged, but without its quotes. */
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

/*
 * Reads a value into the text `value`, at most 64 kB.  A string is stored without quotes and
 * escapes, and a value of another type is stored as JSON.  If `value` is NULL, skips the value.
 */
static int json_stream_value(struct json_stream *stream, struct text *value, struct error *err)
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

/* Enters an object.  Fails with ERROR_DATA if the next value is not an object. */
static int json_stream_enter(struct json_stream *stream, struct error *err)
{
    if (json_stream_peek(stream) != '{')
        return qstat_refuse(stream, "an object is missing", err);
    qstat_step(stream, NULL);
    return 0;
}

/*
 * Reads the next key of the object.  Returns 1 if it read a key, 0 at the end of the object, or -1
 * on error (ERROR_DATA).
 */
static int json_stream_key(struct json_stream *stream, struct text *key, struct error *err)
{
    int byte;
    while ((byte = json_stream_peek(stream)) == ',')
        qstat_step(stream, NULL);
    if (byte == '}') {
        qstat_step(stream, NULL);
        return 0;
    }
    if (byte != '"')
        return qstat_refuse(stream,
                            byte == EOF ? "end of file within an object" : "a key is missing", err);
    if (json_stream_value(stream, key, err))
        return -1;
    if (json_stream_peek(stream) != ':')
        return qstat_refuse(stream, "a colon is missing", err);
    qstat_step(stream, NULL);
    return 1;
}

struct print_reader {
    struct waiting *waiting;
    struct json_stream stream;
    struct text key, value; /* the current key and value */
    struct names *ids;      /* IDs of all jobs */
    /* State of the current job. */
    struct waiting_job *job;
    bool refused;
    struct error reason;
    /* State of the current output. */
    uint64_t timestamp;
    bool has_server_name;
    size_t servers;
};

/* Reads an object and calls `take` for the value of each key. */
typedef int value_taker(struct print_reader *reader, const char *name, struct error *err);

static int read_object(struct print_reader *reader, const char *name, value_taker *take,
                       struct error *err)
{
    int found;
    if (json_stream_enter(&reader->stream, err))
        return -1;
    while ((found = json_stream_key(&reader->stream, &reader->key, err)) > 0) {
        if (take(reader, name, err))
            return -1;
    }
    return found;
}

static int qstat_take_value(struct print_reader *reader, const char *name, const char *resource,
                            struct error *err)
{
    struct error reason;
    if (json_stream_value(&reader->stream, &reader->value, err))
        return -1;
    if (waiting_tell(reader->job, name, resource, reader->value.bytes, &reason) &&
        !reader->refused) {
        reader->refused = true;
        reader->reason = reason;
    }
    return 0;
}

static int qstat_take_resource(struct print_reader *reader, const char *name, struct error *err)
{
    return qstat_take_value(reader, name, reader->key.bytes, err);
}

/* Skips values that no formula needs, such as a user's environment. */
static int qstat_take_attribute(struct print_reader *reader, const char *job_id, struct error *err)
{
    (void)job_id;
    if (!waiting_wants(reader->key.bytes))
        return json_stream_value(&reader->stream, NULL, err);
    bool is_list =
        !strcmp(reader->key.bytes, WAITING_RESOURCES) && json_stream_peek(&reader->stream) == '{';
    return is_list ? read_object(reader, WAITING_RESOURCES, qstat_take_resource, err)
                   : qstat_take_value(reader, reader->key.bytes, NULL, err);
}

static int qstat_take_job(struct print_reader *reader, const char *name, struct error *err)
{
    (void)name;
    char *job_id = memory_bytes(reader->key.bytes, reader->key.length);
    uint32_t count = names_count(reader->ids);
    if (names_add(reader->ids, job_id, strlen(job_id)) != count) {
        free(job_id);
        return json_stream_value(&reader->stream, NULL, err);
    }
    reader->job = waiting_add_job(reader->waiting, job_id);
    reader->refused = false;
    int result = json_stream_peek(&reader->stream) == '{'
                     ? read_object(reader, job_id, qstat_take_attribute, err)
                     : json_stream_value(&reader->stream, NULL, err);
    if (result)
        fail_in(err, "job '%s'", job_id);
    else if (reader->refused || waiting_end_job(reader->waiting, &reader->reason))
        waiting_skip_job(reader->waiting, &reader->reason);
    free(job_id);
    return result;
}

/*
 * Returns true if the job is part of an array that is also in the list: `7[3].s` is part of
 * `7[].s`.  The array's entry already represents all of its waiting jobs.
 */
static bool is_of_array(const void *context, const struct waiting_job *job)
{
    const char *open = strchr(job->job_id, '['), *close = open ? strchr(open, ']') : NULL;
    if (!close || close == open + 1)
        return false;
    struct text array = { 0 };
    text_add_bytes(&array, job->job_id, (size_t)(open - job->job_id) + 1);
    text_add(&array, close);
    bool found = names_find(context, array.bytes, array.length) != INDEX_NONE;
    text_free(&array);
    return found;
}

static int take_queue_attribute(struct print_reader *reader, const char *name, struct error *err)
{
    bool wanted = !strcmp(reader->key.bytes, "Priority");
    if (json_stream_value(&reader->stream, wanted ? &reader->value : NULL, err))
        return -1;
    return wanted && waiting_set_priority(reader->waiting, reader->value.bytes, err)
               ? fail_in(err, "queue '%s'", name)
               : 0;
}

static int take_queue(struct print_reader *reader, const char *name, struct error *err)
{
    (void)name;
    char *queue = memory_text(reader->key.bytes);
    int result = waiting_add_queue(reader->waiting, queue, err)
                     ? fail_in(err, "queue '%s'", queue)
                     : read_object(reader, queue, take_queue_attribute, err);
    free(queue);
    return result;
}

static int take_server_attribute(struct print_reader *reader, const char *name, struct error *err)
{
    (void)name;
    if (json_stream_value(&reader->stream, &reader->value, err))
        return -1;
    waiting_tell_server(reader->waiting, reader->key.bytes, reader->value.bytes);
    return 0;
}

static int take_server(struct print_reader *reader, const char *name, struct error *err)
{
    reader->servers++;
    return read_object(reader, name, take_server_attribute, err);
}

static int qstat_read_server(struct print_reader *reader, struct error *err)
{
    reader->servers = 0;
    waiting_tell_server(reader->waiting, "", "");
    if (read_object(reader, NULL, take_server, err))
        return -1;
    return reader->servers == 1
               ? 0
               : fail(err, ERROR_DATA, "expected one server, found %zu", reader->servers);
}

static int read_again(bool *has, struct error *err)
{
    if (*has)
        return fail(err, ERROR_DATA, "the file has two outputs of this kind");
    *has = true;
    return 0;
}

static int qstat_take_part(struct print_reader *reader, const char *name, struct error *err)
{
    struct waiting *waiting = reader->waiting;
    const char *key = reader->key.bytes;
    (void)name;
    if (!strcmp(key, "Jobs"))
        return read_again(&waiting->has_jobs, err) ? -1
                                                   : read_object(reader, NULL, qstat_take_job, err);
    if (!strcmp(key, "Queue"))
        return read_again(&waiting->has_queues, err) ? -1
                                                     : read_object(reader, NULL, take_queue, err);
    if (!strcmp(key, "Server"))
        return read_again(&waiting->has_server, err) ? -1 : qstat_read_server(reader, err);
    reader->has_server_name |= !strcmp(key, "pbs_server");
    bool is_time = !strcmp(key, "timestamp");
    if (json_stream_value(&reader->stream, is_time ? &reader->value : NULL, err))
        return -1;
    if (is_time && !number_unsigned(reader->value.bytes, reader->value.length, &reader->timestamp))
        reader->timestamp = 0;
    return 0;
}

static int read_print(struct print_reader *reader, struct error *err)
{
    struct waiting *waiting = reader->waiting;
    bool said = waiting->has_queues || waiting->has_server;
    reader->timestamp = 0;
    reader->has_server_name = false;
    if (json_stream_peek(&reader->stream) == '{' && read_object(reader, NULL, qstat_take_part, err))
        return -1;
    if (!reader->timestamp || reader->timestamp > LATEST_TIME || !reader->has_server_name)
        return fail(err, ERROR_DATA,
                    "timestamp or pbs_server is missing; expected output of `qstat -F json`");
    waiting->as_of = (int64_t)reader->timestamp;
    waiting->has_jobs |= said == (waiting->has_queues || waiting->has_server);
    return 0;
}

static int read_prints(struct print_reader *reader, struct error *err)
{
    while (json_stream_peek(&reader->stream) != EOF) {
        size_t line = reader->stream.line;
        if (read_print(reader, err))
            return fail_in(err, "output from line %zu", line);
    }
    if (ferror(reader->stream.file))
        return fail(err, ERROR_DATA, "read error: %s", strerror(errno));
    waiting_remove_jobs(reader->waiting, is_of_array, reader->ids);
    return waiting_end(reader->waiting, err);
}

int qstat_read(struct waiting *waiting, const char *path, struct error *err)
{
    struct print_reader reader = { .waiting = waiting, .stream.line = 1 };
    reader.stream.file = strcmp(path, "-") ? fopen(path, "r") : stdin;
    if (!reader.stream.file)
        return fail(err, ERROR_DATA, "cannot open '%s': %s", path, strerror(errno));
    reader.ids = names_create();
    int result = read_prints(&reader, err) ? fail_in(err, "'%s'", path) : 0;
    if (!result && !waiting->as_of)
        result = fail(err, ERROR_DATA, "'%s' is empty", path);
    if (reader.stream.file != stdin)
        fclose(reader.stream.file);
    names_destroy(reader.ids);
    text_free(&reader.key);
    text_free(&reader.value);
    if (result)
        waiting_free(waiting);
    return result;
}

/* SPDX-License-Identifier: MIT */
#include "import/qstat.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/instant.h"
#include "util/memory.h"
#include "util/text.h"

/* A value as OpenPBS had it before qstat took what looks like JSON for that. */
static char *text_of(const json_t *value)
{
    if (json_is_string(value))
        return memory_text(json_string_value(value));
    char *dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
    char *text = memory_text(dumped ? dumped : "");
    free(dumped);
    return text;
}

static int tell(struct waiting_job *job, const char *name, const char *resource, json_t *value,
                struct error *err)
{
    char *text = text_of(value);
    int result = waiting_tell(job, name, resource, text, err);
    free(text);
    return result;
}

static int tell_attributes(struct waiting_job *job, json_t *attributes, struct error *err)
{
    const char *name, *resource;
    json_t *value, *part;
    json_object_foreach(attributes, name, value)
    {
        if (!json_is_object(value)) {
            if (tell(job, name, NULL, value, err))
                return -1;
            continue;
        }
        json_object_foreach(value, resource, part)
        {
            if (tell(job, name, resource, part, err))
                return -1;
        }
    }
    return 0;
}

/* Whether it is of an array that is there, too, which waits for all of its jobs: `7[3].s` of
 * `7[].s`. */
static bool is_of_array(json_t *jobs, const char *job_id)
{
    const char *open = strchr(job_id, '['), *close = open ? strchr(open, ']') : NULL;
    if (!close || close == open + 1)
        return false;
    struct text array = { 0 };
    text_add_bytes(&array, job_id, (size_t)(open - job_id) + 1);
    text_add(&array, close);
    bool found = json_object_get(jobs, array.bytes) != NULL;
    text_free(&array);
    return found;
}

static int read_jobs(struct waiting *waiting, json_t *jobs, struct error *err)
{
    const char *job_id;
    json_t *attributes;
    waiting->has_jobs = true;
    json_object_foreach(jobs, job_id, attributes)
    {
        if (is_of_array(jobs, job_id))
            continue;
        struct waiting_job *job = waiting_add_job(waiting, job_id);
        if (tell_attributes(job, attributes, err) || waiting_end_job(waiting, err))
            return fail_in(err, "job '%s'", job_id);
    }
    return 0;
}

static int read_queues(struct waiting *waiting, json_t *queues, struct error *err)
{
    const char *name;
    json_t *attributes;
    waiting->has_queues = true;
    json_object_foreach(queues, name, attributes)
    {
        json_t *value = json_object_get(attributes, "Priority");
        char *priority = value ? text_of(value) : memory_text("");
        int result = waiting_add_queue(waiting, name, priority, err);
        free(priority);
        if (result)
            return fail_in(err, "queue '%s'", name);
    }
    return 0;
}

static int read_server(struct waiting *waiting, json_t *servers, struct error *err)
{
    const char *server, *name;
    json_t *attributes, *value;
    if (json_object_size(servers) != 1)
        return fail(err, ERROR_DATA, "it tells of %zu servers, not of one",
                    json_object_size(servers));
    waiting_tell_server(waiting, "", "");
    json_object_foreach(servers, server, attributes)
    {
        json_object_foreach(attributes, name, value)
        {
            char *text = text_of(value);
            waiting_tell_server(waiting, name, text);
            free(text);
        }
    }
    return 0;
}

static int read_print(struct waiting *waiting, json_t *print, struct error *err)
{
    json_t *jobs = json_object_get(print, "Jobs"), *queues = json_object_get(print, "Queue"),
           *server = json_object_get(print, "Server"), *time = json_object_get(print, "timestamp");
    json_int_t as_of = json_integer_value(time);
    if (as_of <= 0 || as_of > LATEST_INSTANT || !json_object_get(print, "pbs_server"))
        return fail(err, ERROR_DATA, "it has no timestamp and pbs_server: qstat did not print it");
    if ((jobs && waiting->has_jobs) || (queues && waiting->has_queues) ||
        (server && waiting->has_server))
        return fail(err, ERROR_DATA, "another print tells of the same");
    waiting->as_of = as_of;
    if (queues)
        return read_queues(waiting, queues, err);
    if (server)
        return read_server(waiting, server, err);
    return read_jobs(waiting, jobs, err);
}

static int read_prints(struct waiting *waiting, const char *bytes, size_t length, struct error *err)
{
    size_t line = 1;
    for (const char *at = bytes, *end = bytes + length;;) {
        for (; at < end && memchr(" \t\r\n", *at, 4); at++)
            line += *at == '\n';
        if (at == end)
            return 0;
        json_error_t reason;
        json_t *print = json_loadb(at, (size_t)(end - at), JSON_DISABLE_EOF_CHECK, &reason);
        if (!print)
            return fail(err, ERROR_DATA, "no JSON: %s, in line %zu", reason.text,
                        line + (size_t)(reason.line > 0 ? reason.line - 1 : 0));
        int result = read_print(waiting, print, err);
        json_decref(print);
        if (result)
            return fail_in(err, "the print from line %zu on", line);
        for (const char *stop = at + reason.position; at < stop; at++)
            line += *at == '\n';
    }
}

static int read_file(FILE *file, const char *path, struct text *text, struct error *err)
{
    char part[65536];
    struct text bytes = { 0 };
    text_add(&bytes, "");
    for (size_t got; (got = fread(part, 1, sizeof part, file)) > 0;)
        text_add_bytes(&bytes, part, got);
    int result =
        ferror(file) ? fail(err, ERROR_DATA, "cannot read '%s': %s", path, strerror(errno)) : 0;
    text_add(text, "");
    text_add_as_utf8(text, bytes.bytes, bytes.length);
    text_free(&bytes);
    return result;
}

int qstat_read(struct waiting *waiting, const char *path, struct error *err)
{
    *waiting = (struct waiting){ 0 };
    struct text text = { 0 };
    FILE *file = strcmp(path, "-") ? fopen(path, "r") : stdin;
    if (!file)
        return fail(err, ERROR_DATA, "cannot open '%s': %s", path, strerror(errno));
    int result = read_file(file, path, &text, err);
    if (file != stdin)
        fclose(file);
    if (!result && read_prints(waiting, text.bytes, text.length, err))
        result = fail_in(err, "'%s'", path);
    if (!result && !waiting->as_of)
        result = fail(err, ERROR_DATA, "'%s' is empty", path);
    text_free(&text);
    if (result)
        waiting_free(waiting);
    return result;
}

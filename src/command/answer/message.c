/* SPDX-License-Identifier: MIT */
#include "command/answer/message.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"

/* ---- JSON ---- */

static void message_add_json(struct text *text, json_t *object)
{
    char *line = json_dumps(object, JSON_COMPACT);
    text_add(text, line ? line : "{}");
    text_add(text, "\n");
    free(line);
    json_decref(object);
}

/* Returns the object, to be released with json_decref().  Returns NULL if the bytes are not an
 * object of version MESSAGE_VERSION. */
static json_t *parse(const char *bytes, size_t length, enum error_class class, const char *what,
                     struct error *err)
{
    json_error_t reason;
    json_t *object = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &reason);
    if (!object)
        fail(err, class, "the %s is not valid JSON: %s", what, reason.text);
    else if (!json_is_object(object))
        fail(err, class, "the %s is not a JSON object", what);
    else if (json_integer_value(json_object_get(object, "fairmill")) != MESSAGE_VERSION)
        fail(err, class, "the %s does not have version %d: it must contain \"fairmill\": %d", what,
             MESSAGE_VERSION, MESSAGE_VERSION);
    else
        return object;
    json_decref(object);
    return NULL;
}

static bool flag_of(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

void request_add(struct text *text, const struct request *request)
{
    json_t *arguments = json_array();
    const struct terminal *terminal = &request->terminal;
    for (int i = 0; i < request->count; i++) {
        char *utf8 = utf8_copy(request->arguments[i], strlen(request->arguments[i]));
        json_array_append_new(arguments, json_string(utf8));
        free(utf8);
    }
    json_t *object = json_pack("{s:i, s:o, s:b}", "fairmill", MESSAGE_VERSION, "arguments",
                               arguments, "utf8", terminal->utf8);
    if (terminal->is_one)
        json_object_set_new(object, "terminal",
                            json_pack("{s:I, s:b}", "columns", (json_int_t)terminal->columns,
                                      "colours", terminal->colours));
    message_add_json(text, object);
}

static int read_arguments(struct request *request, const json_t *arguments, struct error *err)
{
    size_t count = json_array_size(arguments);
    if (!count || count > MESSAGE_ARGUMENTS)
        return fail(err, ERROR_USAGE,
                    "the request must contain \"arguments\": an array of 1 to %u strings that "
                    "begins with a command",
                    MESSAGE_ARGUMENTS);
    request->arguments = memory_zeroed(count + 1, sizeof *request->arguments);
    for (size_t i = 0; i < count; i++) {
        const json_t *argument = json_array_get(arguments, i);
        if (!json_is_string(argument))
            return fail(err, ERROR_USAGE, "the request's \"arguments\" must all be strings");
        request->arguments[request->count++] = memory_text(json_string_value(argument));
    }
    return 0;
}

int request_read(struct request *request, const char *bytes, size_t length, struct error *err)
{
    *request = (struct request){ .count = 0 };
    json_t *object = parse(bytes, length, ERROR_USAGE, "request", err);
    if (!object)
        return -1;
    const json_t *terminal = json_object_get(object, "terminal");
    json_int_t columns = json_integer_value(json_object_get(terminal, "columns"));
    request->terminal = (struct terminal){
        .is_one = json_is_object(terminal),
        .columns = columns > 0 && columns < 10000 ? (size_t)columns : 0,
        .colours = flag_of(terminal, "colours"),
        .utf8 = flag_of(object, "utf8"),
    };
    int result = read_arguments(request, json_object_get(object, "arguments"), err);
    json_decref(object);
    return result;
}

void request_free(struct request *request)
{
    for (int i = 0; i < request->count; i++)
        free(request->arguments[i]);
    free(request->arguments);
    *request = (struct request){ .count = 0 };
}

static void set_text(json_t *object, const char *key, const struct text *text)
{
    char *utf8 = utf8_copy(text->length ? text->bytes : "", text->length);
    json_object_set_new(object, key, json_stringn_nocheck(utf8, strlen(utf8)));
    free(utf8);
}

void response_add(struct text *text, const struct response *response)
{
    json_t *object =
        json_pack("{s:i, s:i}", "fairmill", MESSAGE_VERSION, "status", response->status);
    if (response->busy)
        json_object_set_new(object, "busy", json_true());
    set_text(object, "output", &response->output);
    set_text(object, "errors", &response->errors);
    message_add_json(text, object);
}

static void message_read_text(struct text *text, const json_t *string)
{
    if (json_is_string(string))
        text_add_bytes(text, json_string_value(string), json_string_length(string));
}

int response_read(struct response *response, const char *bytes, size_t length, struct error *err)
{
    *response = (struct response){ .status = 0 };
    json_t *object = parse(bytes, length, ERROR_GONE, "response", err);
    if (!object)
        return -1;
    json_int_t status = json_integer_value(json_object_get(object, "status"));
    response->status = status >= 0 && status < 256 ? (int)status : 1;
    response->busy = flag_of(object, "busy");
    message_read_text(&response->output, json_object_get(object, "output"));
    message_read_text(&response->errors, json_object_get(object, "errors"));
    json_decref(object);
    return 0;
}

void response_free(struct response *response)
{
    text_free(&response->output);
    text_free(&response->errors);
}

/* ---- Bytes ---- */

/* Waits until the file can be read or written.  Returns -1 with errno set if that fails or the
 * deadline passes. */
static int wait_for(int file, short events, int64_t deadline)
{
    for (;;) {
        struct pollfd polled = { .fd = file, .events = events };
        int64_t left = deadline - clock_milliseconds();
        int ready = left > 0 ? poll(&polled, 1, left < 60000 ? (int)left : 60000) : 0;
        if (ready > 0)
            return 0;
        if (ready < 0 && errno != EINTR)
            return -1;
        if (clock_milliseconds() >= deadline) {
            errno = ETIMEDOUT;
            return -1;
        }
    }
}

int message_receive(int file, bool line, size_t most, int64_t deadline, struct text *text,
                    struct error *err)
{
    char bytes[65536];
    for (;;) {
        if (wait_for(file, POLLIN, deadline))
            return fail(err, ERROR_GONE, "cannot read: %s", strerror(errno));
        ssize_t got = read(file, bytes, sizeof bytes);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got < 0)
            return fail(err, ERROR_GONE, "cannot read: %s", strerror(errno));
        if (!got)
            return 0;
        const char *end = line ? memchr(bytes, '\n', (size_t)got) : NULL;
        text_add_bytes(text, bytes, end ? (size_t)(end - bytes) : (size_t)got);
        if (text->length > most) {
            errno = EMSGSIZE;
            return fail(err, ERROR_GONE, "the message is longer than %zu bytes", most);
        }
        if (end)
            return 0;
    }
}

int message_send(int file, const struct text *text, int64_t deadline, struct error *err)
{
    /* A blocking write would not end at the deadline. */
    int flags = fcntl(file, F_GETFL);
    if (flags >= 0)
        fcntl(file, F_SETFL, flags | O_NONBLOCK);
    for (size_t done = 0; done < text->length;) {
        if (wait_for(file, POLLOUT, deadline))
            return fail(err, ERROR_GONE, "cannot write: %s", strerror(errno));
        ssize_t put = write(file, text->bytes + done, text->length - done);
        if (put < 0 && errno != EINTR && errno != EAGAIN)
            return fail(err, ERROR_GONE, "cannot write: %s", strerror(errno));
        done += put > 0 ? (size_t)put : 0;
    }
    return 0;
}

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_ANSWER_MESSAGE_H
#define FAIRMILL_COMMAND_ANSWER_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/terminal.h"
#include "util/text.h"

struct error;

/* The protocol of the socket of `fairmill answer`.  A client sends one request and receives one
 * response; each is a JSON object.  doc/socket.md describes them for authors of other clients. */

/* Version of requests and responses.  Within a version, keys are only added; clients and the server
 * must ignore unknown keys. */
#define MESSAGE_VERSION 1

#define MESSAGE_REQUEST_BYTES 65536u /* maximum size of a request in bytes */
#define MESSAGE_RESPONSE_BYTES \
    (64ul << 20) /* maximum number of bytes in the output of a response, and in its errors */
#define MESSAGE_ARGUMENTS 256u /* maximum number of arguments */

/* A command line and the properties of the client's terminal. */
struct request {
    char **arguments; /* the command's name first; NULL after the last one */
    int count;
    struct terminal terminal;
};

/* Appends the request as one line of JSON. */
void request_add(struct text *text, const struct request *request);
/* Parses a request.  Returns -1 with ERROR_USAGE if the bytes are not a valid request.  The caller
 * calls request_free() even on error. */
int request_read(struct request *request, const char *bytes, size_t length, struct error *err);
void request_free(struct request *request);

/* The output of a command and its exit status. */
struct response {
    int status;
    bool busy; /* nothing was executed: this user, or all users together, have too many requests */
    struct text output, errors;
};

/* Appends the response as one line of JSON. */
void response_add(struct text *text, const struct response *response);
/* Parses a response.  Returns -1 with ERROR_GONE if the bytes are not a valid response. */
int response_read(struct response *response, const char *bytes, size_t length, struct error *err);
void response_free(struct response *response);

/* Reads `file`, a socket or a pipe, up to its end and appends the bytes to `text`.  If `line` is
 * set, stops at the end of a line and omits the newline.  Returns -1 with ERROR_GONE and errno set
 * if reading fails, if there are more than `most` bytes, or after `deadline`, a time of
 * clock_milliseconds(). */
int message_receive(int file, bool line, size_t most, int64_t deadline, struct text *text,
                    struct error *err);
/* Writes the whole text before `deadline`.  Returns -1 with ERROR_GONE on error. */
int message_send(int file, const struct text *text, int64_t deadline, struct error *err);

#endif

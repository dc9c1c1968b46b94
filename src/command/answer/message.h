/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_ANSWER_MESSAGE_H
#define FAIRMILL_COMMAND_ANSWER_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/terminal.h"
#include "util/text.h"

struct error;

/* What goes over the socket of `fairmill answer`: one request and one response, a JSON object each.
 * doc/socket.md describes them for others who ask. */

/* The version of both.  Keys only grow within one; who does not know a key leaves it alone. */
#define MESSAGE_VERSION 1

#define MESSAGE_REQUEST_BYTES 65536u /* the longest request */
#define MESSAGE_RESPONSE_BYTES \
    (64ul << 20)               /* the longest output of a response, and the longest errors */
#define MESSAGE_ARGUMENTS 256u /* the most that a request has */

/* A command line and where its output goes. */
struct request {
    char **arguments; /* the command's name first; NULL behind the last */
    int count;
    struct terminal terminal;
};

void request_add(struct text *text, const struct request *request);
/* ERROR_USAGE says what is wrong with the bytes; request_free() is due in any case. */
int request_read(struct request *request, const char *bytes, size_t length, struct error *err);
void request_free(struct request *request);

/* What a command printed, and how it ended. */
struct response {
    int status;
    bool busy; /* nothing was done: this user, or all together, ask too much at once */
    struct text output, errors;
};

void response_add(struct text *text, const struct response *response);
/* ERROR_GONE: the bytes are no answer. */
int response_read(struct response *response, const char *bytes, size_t length, struct error *err);
void response_free(struct response *response);

/* Read from a socket or a pipe up to its end or, where `line` says so, to the end of a line.
 * ERROR_GONE where it fails, is longer than `most`, or has not ended by `deadline`, an instant of
 * clock_milliseconds(); errno says why. */
int message_receive(int file, bool line, size_t most, int64_t deadline, struct text *text,
                    struct error *err);
/* Write all of the text by the deadline; ERROR_GONE where that fails. */
int message_send(int file, const struct text *text, int64_t deadline, struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#include "command/answer/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "command/answer/message.h"
#include "command/command.h"
#include "util/error.h"
#include "util/log.h"

#define USUAL_SOCKET "/run/fairmill/socket"

/* Time limit for one response, and the time during which a request is repeated if the server is
 * busy. */
#define RESPONSE_MS 60000
#define BUSY_MS 10000
#define PAUSE_MS 50

static const char *socket_path(void)
{
    const char *named = getenv("FAIRMILL_SOCKET");
    return named && *named ? named : USUAL_SOCKET;
}

bool client_has_socket(void)
{
    return !access(socket_path(), F_OK);
}

static int connect_to(const char *path, int *connected, struct error *err)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof address.sun_path)
        return fail(err, ERROR_SETTINGS, "the path of the socket is too long: '%s'", path);
    memcpy(address.sun_path, path, strlen(path));
    *connected = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*connected >= 0 && !connect(*connected, (const struct sockaddr *)&address, sizeof address))
        return 0;
    fail(err, ERROR_GONE, "cannot connect to '%s': %s%s", path, strerror(errno),
         errno == ECONNREFUSED ? "; the service is stopped, try again later" : "");
    if (*connected >= 0)
        close(*connected);
    return -1;
}

/* Sends the request once.  Sets `*busy` to true if the server was too busy, so that another attempt
 * may succeed. */
static int client_send_once(const struct text *request, struct response *response, bool *busy,
                            struct error *err)
{
    struct text bytes = { 0 };
    const char *path = socket_path();
    int socket = -1;
    int64_t deadline = clock_milliseconds() + RESPONSE_MS;
    *busy = false;
    if (connect_to(path, &socket, err))
        return -1;
    /* Ignore errors: a server that rejects the request may close its end before reading it, but its
     * response can still be read. */
    message_send(socket, request, deadline, err);
    int result = message_receive(socket, false, SIZE_MAX, deadline, &bytes, err);
    int reason = result ? errno : 0;
    close(socket);
    if (bytes.length) { /* after a response, a connection reset does not matter */
        result = response_read(response, bytes.bytes, bytes.length, err);
        *busy = !result && response->busy;
    } else {
        *busy = !reason || reason == ECONNRESET;
        result = fail(err, ERROR_GONE, "no response from '%s': %s", path,
                      *busy ? "the server is busy; try again later" : strerror(reason));
    }
    text_free(&bytes);
    return result;
}

/* Waits before another attempt.  The pause grows with each attempt, and part of it is random, so
 * that rejected clients do not all return at once. */
static void pause_before(int try)
{
    int64_t most = (int64_t)PAUSE_MS << (try < 5 ? try : 5);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t pause = most / 2 + (now.tv_nsec / 1000 + getpid()) % (most / 2);
    const struct timespec span = { pause / 1000, pause % 1000 * 1000000 };
    nanosleep(&span, NULL);
}

static int client_print(const struct response *response, struct error *err)
{
    if (response->errors.length)
        fwrite(response->errors.bytes, 1, response->errors.length, stderr);
    return command_print(&response->output, err) ? -1 : response->status;
}

int client_request(int count, char **arguments, struct error *err)
{
    const struct request request = { arguments, count, terminal_of_output() };
    struct text text = { 0 };
    struct response response = { .status = 0 };
    bool busy;
    int64_t give_up = clock_milliseconds() + BUSY_MS;
    request_add(&text, &request);
    int result = client_send_once(&text, &response, &busy, err);
    for (int try = 0; busy && clock_milliseconds() < give_up; try++) {
        response_free(&response);
        pause_before(try);
        result = client_send_once(&text, &response, &busy, err);
    }
    if (!result)
        result = client_print(&response, err);
    text_free(&text);
    response_free(&response);
    return result;
}

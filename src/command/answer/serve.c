/* SPDX-License-Identifier: MIT */
#include "command/answer/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/answer/message.h"
#include "command/answer/peer.h"
#include "command/options.h"
#include "util/error.h"
#include "util/log.h"

#define LISTENER 3 /* sd_listen_fds(3) */

/* A connection waits for its request, which costs no process, and is then answered by one.  One
 * that is to be refused waits too, since the refusal is lost if the request comes after it. */
#define REQUEST_MS 5000
#define REFUSAL_MS 100
#define RESPONSE_MS 60000
#define REFUSALS_OF_ONE 8 /* further connections of that user are closed without a word */
#define CONNECTIONS 512
#define TICK_MS 1000

/* Memory of a request.  Sanitizers map more than any limit. */
#define REQUEST_BYTES (1ul << 30)
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || \
    __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* A connection: it waits (`pid` 0) or is being answered (`socket` -1). */
struct connection {
    int socket;
    pid_t pid;
    uid_t uid;
    bool refused;
    int64_t deadline;
};

struct server {
    const struct serve_limits *limits;
    const struct invocation *invocation;
    struct connection connections[CONNECTIONS];
    size_t count;
};

static bool listens(int socket)
{
    int accepts = 0;
    socklen_t length = sizeof accepts;
    return !getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &length) && accepts;
}

int serve_listener(void)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    if (pid && count && strtol(pid, NULL, 10) == getpid() && strtol(count, NULL, 10) > 0 &&
        listens(LISTENER))
        return LISTENER;
    return listens(STDIN_FILENO) ? STDIN_FILENO : -1;
}

static void leave(struct server *server, size_t which)
{
    if (server->connections[which].socket >= 0)
        close(server->connections[which].socket);
    server->connections[which] = server->connections[--server->count];
}

/* Remove requests that have ended, and kill those that take too long. */
static void reap(struct server *server, int64_t now)
{
    for (size_t i = server->count; i-- > 0;) {
        const struct connection *connection = &server->connections[i];
        if (connection->pid && waitpid(connection->pid, NULL, WNOHANG))
            leave(server, i);
        else if (connection->pid && connection->deadline <= now)
            kill(connection->pid, SIGKILL);
    }
}

/* Sends the refusal without waiting; bytes that do not fit into the socket are lost. */
static void refuse(const struct connection *connection)
{
    char unread[4096];
    struct text text = { 0 };
    struct response response = { .status = error_exit_status(ERROR_LOCKED), .busy = true };
    text_format(
        &response.errors,
        "fairmill: too many requests have no response yet, or %d of yours; try again later\n",
        SERVE_OF_ONE);
    response_add(&text, &response);
    while (recv(connection->socket, unread, sizeof unread, MSG_DONTWAIT) > 0)
        ;
    send(connection->socket, text.bytes, text.length, MSG_DONTWAIT | MSG_NOSIGNAL);
    text_free(&text);
    response_free(&response);
}

/* In a process of its own, which ends with this one. */
static void serve_execute(const struct invocation *invocation, int socket)
{
    const struct rlimit limit = { REQUEST_BYTES, REQUEST_BYTES };
    char *path = (char *)invocation->settings_path, *program = program_invocation_name;
    char *const with_path[] = { program, "-c", path, "answer", NULL };
    char *const without[] = { program, "answer", NULL };
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    if (!SANITIZED)
        setrlimit(RLIMIT_DATA, &limit);
    if (dup2(socket, STDIN_FILENO) >= 0 && dup2(socket, STDOUT_FILENO) >= 0)
        execvp(program, path ? with_path : without);
    fprintf(stderr, "fairmill: answer: cannot start '%s': %s\n", program, strerror(errno));
    _exit(1);
}

static void start(struct server *server, size_t which, int64_t now)
{
    struct connection *connection = &server->connections[which];
    pid_t pid = fork();
    if (!pid)
        serve_execute(server->invocation, connection->socket);
    if (pid < 0) {
        refuse(connection);
        leave(server, which);
        return;
    }
    close(connection->socket);
    *connection = (struct connection){ -1, pid, connection->uid, false, now + RESPONSE_MS };
}

static size_t count_of(const struct server *server, uid_t uid, bool refused)
{
    size_t count = 0;
    for (size_t i = 0; i < server->count; i++)
        count += server->connections[i].uid == uid && server->connections[i].refused == refused;
    return count;
}

static size_t count_admitted(const struct server *server)
{
    size_t count = 0;
    for (size_t i = 0; i < server->count; i++)
        count += !server->connections[i].refused;
    return count;
}

static void admit(struct server *server, int listener, int64_t now)
{
    struct connection connection = { .socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC) };
    struct error ignored;
    if (connection.socket < 0)
        return;
    if (server->count < CONNECTIONS && !peer_uid(connection.socket, &connection.uid, &ignored)) {
        connection.refused = count_of(server, connection.uid, false) >= SERVE_OF_ONE ||
                             count_admitted(server) >= server->limits->most;
        connection.deadline = now + (connection.refused ? REFUSAL_MS : REQUEST_MS);
        if (!connection.refused || count_of(server, connection.uid, true) < REFUSALS_OF_ONE) {
            server->connections[server->count++] = connection;
            return;
        }
    }
    close(connection.socket);
}

/* Start, refuse or drop a connection that waits, if its request has arrived, its client is gone or
 * its time is over. */
static void attend(struct server *server, size_t which, short events, int64_t now)
{
    const struct connection *connection = &server->connections[which];
    bool is_gone = events & (POLLHUP | POLLERR | POLLNVAL), is_late = connection->deadline <= now;
    if (!is_gone && (events & POLLIN) && !connection->refused) {
        start(server, which, now);
        return;
    }
    if (!is_gone && !is_late && !(events & POLLIN))
        return;
    if (!is_gone && connection->refused)
        refuse(connection);
    leave(server, which);
}

/* Milliseconds until the next deadline. */
static int wait_ms(const struct server *server, int64_t now)
{
    int64_t wait = server->count ? TICK_MS : (int64_t)server->limits->idle_s * 1000;
    for (size_t i = 0; i < server->count; i++)
        if (server->connections[i].deadline - now < wait)
            wait =
                server->connections[i].deadline > now ? server->connections[i].deadline - now : 0;
    return wait < INT_MAX ? (int)wait : INT_MAX;
}

/* Returns how many files were ready; -1 if they cannot be polled. */
static int serve_once(struct server *server, int listener)
{
    struct pollfd files[CONNECTIONS + 1] = { { .fd = listener, .events = POLLIN } };
    size_t count = server->count;
    for (size_t i = 0; i < count; i++) /* poll() skips -1 */
        files[i + 1] = (struct pollfd){ .fd = server->connections[i].socket, .events = POLLIN };
    int ready = poll(files, count + 1, wait_ms(server, clock_milliseconds()));
    int64_t now = clock_milliseconds();
    if (ready < 0)
        return errno == EINTR ? 1 : -1;
    for (size_t i = count; i-- > 0;) /* backwards, since leave() moves the last one */
        if (server->connections[i].socket >= 0)
            attend(server, i, files[i + 1].revents, now);
    reap(server, now);
    if (files[0].revents)
        admit(server, listener, now);
    return ready;
}

int serve(int listener, const struct serve_limits *limits, const struct invocation *invocation,
          struct error *err)
{
    static struct server server;
    server = (struct server){ .limits = limits, .invocation = invocation };
    fcntl(listener, F_SETFD, FD_CLOEXEC);
    for (;;) {
        size_t before = server.count;
        int ready = serve_once(&server, listener);
        if (ready < 0)
            return fail(err, ERROR_OTHER, "answer: cannot poll: %s", strerror(errno));
        if (!ready && !before)
            return 0;
    }
}

/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/answer/message.h"
#include "command/command.h"
#include "command/options.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"

/* The kernel reports this ID for a user who has no ID in this user namespace. */
#define OVERFLOW_UID 65534u

/* Sets `*uid` to the ID of the connected user (SO_PEERCRED).  Returns -1 with ERROR_USAGE if
 * `socket` is not a Unix socket. */
static int peer_uid(int socket, uid_t *uid, struct error *err)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) || length != sizeof peer)
        return fail(err, ERROR_USAGE,
                    "answer: standard input is not a Unix socket; start this command with the "
                    "systemd unit fairmill.socket");
    *uid = peer.uid;
    return 0;
}

/* Returns the user's name; the caller frees it.  Returns NULL with ERROR_DENIED if this host has no
 * name for `uid`, or if `uid` is OVERFLOW_UID, a user of another user namespace. */
static char *peer_login(uid_t uid, struct error *err)
{
    errno = 0;
    const struct passwd *entry = uid == OVERFLOW_UID ? NULL : getpwuid(uid);
    if (entry)
        return memory_text(entry->pw_name);
    fail(err, ERROR_DENIED, "cannot answer: uid %lu has no user name on this host%s%s",
         (unsigned long)uid, errno ? ": " : "", errno ? strerror(errno) : "");
    return NULL;
}

/* Time limits in milliseconds.  A client must send its request within REQUEST_MS and read the
 * response within RESPONSE_MS.  A client that will be rejected must send its request within
 * REFUSAL_MS. */
#define REQUEST_MS 5000
#define RESPONSE_MS 10000
#define REFUSAL_MS 100

/* By default, the listening process admits at most MOST requests at once, and exits after IDLE_S
 * seconds without a connection. */
#define MOST 64
#define IDLE_S 60

/* File descriptors.  `response` is a copy of standard output, which is the client's connection.
 * `output` and `errors` are anonymous files in memory that collect the command's standard output
 * and standard error, so that no output is written to a directory. */
struct answer_printing {
    int response, output, errors;
};

static int fail_system(const char *what, struct error *err)
{
    return fail(err, ERROR_OTHER, "answer: cannot %s: %s", what, strerror(errno));
}

/* Redirects standard output and standard error to files in memory.  RLIMIT_FSIZE turns output
 * beyond the limit into a write error, which the command reports. */
static int begin_printing(struct answer_printing *printing, struct client *client,
                          struct error *err)
{
    const struct rlimit limit = { MESSAGE_RESPONSE_BYTES, MESSAGE_RESPONSE_BYTES };
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    fflush(stdout);
    client->journal = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    printing->response = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    printing->output = memfd_create("output", MFD_CLOEXEC);
    printing->errors = memfd_create("errors", MFD_CLOEXEC);
    if (nothing < 0 || printing->response < 0 || printing->output < 0 || printing->errors < 0 ||
        dup2(nothing, STDIN_FILENO) < 0 || dup2(printing->output, STDOUT_FILENO) < 0 ||
        dup2(printing->errors, STDERR_FILENO) < 0 || setrlimit(RLIMIT_FSIZE, &limit))
        return fail_system("create files for the output", err);
    return 0;
}

static int read_back(int file, struct text *text, struct error *err)
{
    if (lseek(file, 0, SEEK_SET))
        return fail_system("read the output", err);
    return message_receive(file, false, MESSAGE_RESPONSE_BYTES, clock_milliseconds() + RESPONSE_MS,
                           text, err);
}

/* Executes the requested command and reads its output. */
static int serve_run_command(const struct request *request, const struct invocation *invocation,
                             const struct client *client, struct response *response,
                             const struct answer_printing *printing, struct error *err)
{
    struct invocation asked = { .settings_path = invocation->settings_path, .client = client };
    terminal_set(&request->terminal);
    response->status = invocation->dispatch(request->count, request->arguments, &asked);
    fflush(stdout);
    fflush(stderr);
    return read_back(printing->output, &response->output, err) ||
                   read_back(printing->errors, &response->errors, err)
               ? -1
               : 0;
}

/* Fills the response with the message of `err`, for a request that is rejected before a command
 * runs.  Reads the request first, although it is ignored: if the socket is closed with unread data,
 * the connection is reset and the client may lose the response. */
static void answer_refuse(struct response *response, const struct error *err)
{
    struct text unread = { 0 };
    struct error ignored;
    message_receive(STDIN_FILENO, true, MESSAGE_REQUEST_BYTES, clock_milliseconds() + REFUSAL_MS,
                    &unread, &ignored);
    text_free(&unread);
    response->status = error_exit_status(err->class);
    text_add(&response->errors, "fairmill: ");
    text_add_printable(&response->errors, err->message);
    text_add(&response->errors, "\n");
}

static int serve_read_request(struct request *request, struct error *err)
{
    struct text text = { 0 };
    int result = message_receive(STDIN_FILENO, true, MESSAGE_REQUEST_BYTES,
                                 clock_milliseconds() + REQUEST_MS, &text, err);
    if (!result)
        result = request_read(request, text.length ? text.bytes : "", text.length, err);
    text_free(&text);
    return result;
}

/* Returns -1 if the settings cannot be loaded.  The caller writes the reason to the log of the
 * service and hides it from the client. */
static int check_settings(const struct invocation *invocation, struct error *err)
{
    struct settings *settings = NULL;
    int result = settings_load(&settings, invocation->settings_path, SETTINGS_FOR_CLIENTS, err);
    settings_destroy(settings);
    return result;
}

/* Answers the client that is connected to standard input.  If `wrong` is not NULL, responds with
 * that error. */
static void serve_client(const struct invocation *invocation, struct client *client,
                         const struct error *wrong)
{
    struct request request = { .count = 0 };
    struct response response = { .status = 0 };
    struct answer_printing printing = { .response = STDOUT_FILENO };
    struct text text = { 0 };
    struct error reason;
    if (wrong)
        answer_refuse(&response, wrong);
    else if (!(client->login = peer_login(client->uid, &reason)) ||
             serve_read_request(&request, &reason) || begin_printing(&printing, client, &reason) ||
             serve_run_command(&request, invocation, client, &response, &printing, &reason))
        answer_refuse(&response, &reason);
    response_add(&text, &response);
    /* Ignore errors: only this client could see a message, but it cannot be reached. */
    message_send(printing.response, &text, clock_milliseconds() + RESPONSE_MS, &reason);
    text_free(&text);
    response_free(&response);
    request_free(&request);
}

/* Answers the user who is connected to standard input. */
static int serve_connected(const struct invocation *invocation, struct error *err)
{
    struct client client = { .journal = -1 };
    struct error wrong, no_socket;
    bool no_settings = check_settings(invocation, &wrong);
    if (peer_uid(STDIN_FILENO, &client.uid, &no_socket)) {
        *err = no_settings ? wrong : no_socket;
        return -1;
    }
    if (no_settings) {
        complain(&wrong);
        command_hide_reason(&(const struct invocation){ .client = &client }, &wrong);
    }
    serve_client(invocation, &client, no_settings ? &wrong : NULL);
    free((char *)client.login);
    if (!no_settings)
        forget_failures();
    return 0;
}

/* ---- The listening process ---- */

/* The listening process holds no settings and no database session.  It decides whether to admit a
 * connection before it starts a process for that connection.  Each admitted request is answered by
 * its own `fairmill answer`. */

#define SERVE_OF_ONE 4 /* maximum number of admitted requests of one user */

struct serve_limits {
    uint64_t most;   /* maximum number of admitted requests of all users */
    uint64_t idle_s; /* idle time after which the process exits, in seconds */
};

#define LISTENER 3 /* first file descriptor that systemd passes; see sd_listen_fds(3) */

/* The listening process itself waits for the request of a connection, and starts a process when the
 * request has arrived.  The process is killed after COMMAND_MS milliseconds.  A connection that
 * will be rejected waits, too: a client would lose a rejection that is sent before its request
 * arrives. */
#define COMMAND_MS 60000
/* maximum number of one user's connections that wait to be rejected; further ones are closed */
#define REFUSALS_OF_ONE 8
#define CONNECTIONS 512
#define TICK_MS 1000

/* Memory limit in bytes of the process that answers a request.  The limit is not set if the program
 * is built with sanitizers, because they reserve more memory. */
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

/* A connection.  `pid` is 0 while it waits for its request.  `socket` is -1 while a process answers
 * the request. */
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

/* Returns the listening socket: file 3 if systemd's $LISTEN_PID and $LISTEN_FDS announce it, else
 * standard input.  Returns -1 if neither is a listening socket. */
static int serve_listener(void)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    if (pid && count && strtol(pid, NULL, 10) == getpid() && strtol(count, NULL, 10) > 0 &&
        listens(LISTENER))
        return LISTENER;
    return listens(STDIN_FILENO) ? STDIN_FILENO : -1;
}

static void answer_leave(struct server *server, size_t which)
{
    if (server->connections[which].socket >= 0)
        close(server->connections[which].socket);
    server->connections[which] = server->connections[--server->count];
}

/* Removes requests whose process has ended, and kills processes whose deadline has passed. */
static void reap(struct server *server, int64_t now)
{
    for (size_t i = server->count; i-- > 0;) {
        const struct connection *connection = &server->connections[i];
        if (connection->pid && waitpid(connection->pid, NULL, WNOHANG))
            answer_leave(server, i);
        else if (connection->pid && connection->deadline <= now)
            kill(connection->pid, SIGKILL);
    }
}

/* Sends the rejection without waiting; bytes that do not fit into the socket's buffer are lost. */
static void serve_refuse(const struct connection *connection)
{
    char unread[4096];
    struct text text = { 0 };
    struct response response = { .status = error_exit_status(ERROR_LOCKED), .busy = true };
    text_format(
        &response.errors,
        "fairmill: too many requests are pending in total, or %d of yours; try again later\n",
        SERVE_OF_ONE);
    response_add(&text, &response);
    while (recv(connection->socket, unread, sizeof unread, MSG_DONTWAIT) > 0)
        ;
    send(connection->socket, text.bytes, text.length, MSG_DONTWAIT | MSG_NOSIGNAL);
    text_free(&text);
    response_free(&response);
}

/* Replaces a child process by `fairmill answer`.  The kernel kills this process if the listening
 * process ends. */
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

static void serve_start(struct server *server, size_t which, int64_t now)
{
    struct connection *connection = &server->connections[which];
    pid_t pid = fork();
    if (!pid)
        serve_execute(server->invocation, connection->socket);
    if (pid < 0) {
        serve_refuse(connection);
        answer_leave(server, which);
        return;
    }
    close(connection->socket);
    *connection = (struct connection){ -1, pid, connection->uid, false, now + COMMAND_MS };
}

static size_t answer_count_of(const struct server *server, uid_t uid, bool refused)
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
        connection.refused = answer_count_of(server, connection.uid, false) >= SERVE_OF_ONE ||
                             count_admitted(server) >= server->limits->most;
        connection.deadline = now + (connection.refused ? REFUSAL_MS : REQUEST_MS);
        if (!connection.refused ||
            answer_count_of(server, connection.uid, true) < REFUSALS_OF_ONE) {
            server->connections[server->count++] = connection;
            return;
        }
    }
    close(connection.socket);
}

/* Handles a waiting connection.  If its request has arrived, starts a process for it or rejects it.
 * If the client closed it or its deadline has passed, removes it; a connection to be rejected gets
 * its rejection at the deadline. */
static void attend(struct server *server, size_t which, short events, int64_t now)
{
    const struct connection *connection = &server->connections[which];
    bool is_gone = events & (POLLHUP | POLLERR | POLLNVAL), is_late = connection->deadline <= now;
    if (!is_gone && (events & POLLIN) && !connection->refused) {
        serve_start(server, which, now);
        return;
    }
    if (!is_gone && !is_late && !(events & POLLIN))
        return;
    if (!is_gone && connection->refused)
        serve_refuse(connection);
    answer_leave(server, which);
}

/* Returns how long poll() must wait, in milliseconds: until the next deadline, but at most TICK_MS.
 * Without connections, returns the idle time. */
static int wait_ms(const struct server *server, int64_t now)
{
    int64_t wait = server->count ? TICK_MS : (int64_t)server->limits->idle_s * 1000;
    for (size_t i = 0; i < server->count; i++)
        if (server->connections[i].deadline - now < wait)
            wait =
                server->connections[i].deadline > now ? server->connections[i].deadline - now : 0;
    return wait < INT_MAX ? (int)wait : INT_MAX;
}

/* Waits for events once and handles them.  Returns the number of file descriptors that were ready,
 * or -1 if poll() fails. */
static int serve_once(struct server *server, int listener)
{
    struct pollfd files[CONNECTIONS + 1] = { { .fd = listener, .events = POLLIN } };
    size_t count = server->count;
    for (size_t i = 0; i < count; i++) /* poll() ignores negative file descriptors */
        files[i + 1] = (struct pollfd){ .fd = server->connections[i].socket, .events = POLLIN };
    int ready = poll(files, count + 1, wait_ms(server, clock_milliseconds()));
    int64_t now = clock_milliseconds();
    if (ready < 0)
        return errno == EINTR ? 1 : -1;
    /* Go backward, because answer_leave() moves the last connection to the free index. */
    for (size_t i = count; i-- > 0;)
        if (server->connections[i].socket >= 0)
            attend(server, i, files[i + 1].revents, now);
    reap(server, now);
    if (files[0].revents)
        admit(server, listener, now);
    return ready;
}

/* Serves the socket until it is idle.  Returns -1 with ERROR_OTHER if poll() fails. */
static int serve(int listener, const struct serve_limits *limits,
                 const struct invocation *invocation, struct error *err)
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

struct answer_options {
    struct shared_options shared;
    const char *most, *idle;
};

static int answer_read_limits(const struct answer_options *options, struct serve_limits *limits,
                              struct error *err)
{
    if (option_count("most", options->most, &limits->most, err))
        return -1;
    if (options->idle && !duration_parse(options->idle, &limits->idle_s))
        return fail(
            err, ERROR_USAGE,
            "answer: --idle '%s': must be a number and a unit (s, m, h, d or w), such as 60s",
            options->idle);
    return 0;
}

static int serve_answer(struct command_context *context, struct error *err)
{
    const struct invocation *invocation = context->invocation;
    struct serve_limits limits = { .most = MOST, .idle_s = IDLE_S };
    if (answer_read_limits(context->options, &limits, err))
        return -1;
    int listener = serve_listener();
    return listener < 0 ? serve_connected(invocation, err)
                        : serve(listener, &limits, invocation, err);
}

static const struct command_option own_options[] = {
    { "most", NULL, 0, OPTION_VALUE, AT(answer_options, most), "NUMBER",
      .help = "Answer at most NUMBER requests at once (default: 64)" },
    { "idle", NULL, 0, OPTION_VALUE, AT(answer_options, idle), "DURATION",
      .help = "Exit after DURATION without a connection (default: 60s)" },
    { .name = NULL },
};

const struct command command_answer = {
    .name = "answer",
    .group = GROUP_MONITOR,
    .summary = "Answer queries over a socket (started by systemd)",
    .usage = "[OPTION...]",
    .description =
        "Answer requests on the socket that systemd passes for fairmill.socket, at most\n"
        "four at once for each user.  If standard input is a connected socket, answer\n"
        "one request on it.\n",
    .shared = 0,
    .options = own_options,
    .options_size = sizeof(struct answer_options),
    .use = SETTINGS_NONE,
    .answer = serve_answer,
};

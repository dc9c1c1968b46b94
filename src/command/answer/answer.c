/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "command/answer/message.h"
#include "command/answer/peer.h"
#include "command/answer/serve.h"
#include "command/command.h"
#include "settings/client.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/log.h"

/* How long a client may take to send a request and to read the response, and the wait for a request
 * that is refused unread. */
#define REQUEST_MS 5000
#define RESPONSE_MS 10000
#define REFUSAL_MS 100

/* Of the process that listens: requests of all users at once, and when it ends. */
#define MOST 64
#define IDLE_S 60

/* Where the response goes, and what is printed meanwhile: in memory, no byte of it in a folder. */
struct printing {
    int response, output, errors;
};

static int fail_system(const char *what, struct error *err)
{
    return fail(err, ERROR_OTHER, "answer: cannot %s: %s", what, strerror(errno));
}

/* A file that grows beyond the limit is an error of the write, which the command tells. */
static int begin_printing(struct printing *printing, struct client *client, struct error *err)
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
        return fail_system("keep what is printed", err);
    return 0;
}

static int read_back(int file, struct text *text, struct error *err)
{
    if (lseek(file, 0, SEEK_SET))
        return fail_system("read what was printed", err);
    return message_receive(file, false, MESSAGE_RESPONSE_BYTES, clock_milliseconds() + RESPONSE_MS,
                           text, err);
}

/* Do what the request asks for. */
static int serve_run_command(const struct request *request, const struct invocation *invocation,
                             const struct client *client, struct response *response,
                             const struct printing *printing, struct error *err)
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

/* What is refused before any command is asked goes back as its message.  The request is taken from
 * the socket even so, as far as it is there: what is left unread would break the connection. */
static void refuse(struct response *response, const struct error *err)
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

/* Whether there are settings to respond by; whoever started this is told where there are none. */
static int check_settings(const struct invocation *invocation, struct error *err)
{
    struct settings *settings = NULL;
    int result = settings_load(&settings, invocation->settings_path, SETTINGS_FOR_CLIENTS, err);
    settings_destroy(settings);
    return result;
}

/* Answer whoever is at the other end, also with what was wrong before (NULL: nothing was). */
static void serve_client(const struct invocation *invocation, struct client *client,
                         const struct error *wrong)
{
    struct request request = { .count = 0 };
    struct response response = { .status = 0 };
    struct printing printing = { .response = STDOUT_FILENO };
    struct text text = { 0 };
    struct error reason;
    if (wrong)
        refuse(&response, wrong);
    else if (!(client->login = peer_login(client->uid, &reason)) ||
             serve_read_request(&request, &reason) || begin_printing(&printing, client, &reason) ||
             serve_run_command(&request, invocation, client, &response, &printing, &reason))
        refuse(&response, &reason);
    response_add(&text, &response);
    /* Nobody is left to be told that this failed. */
    message_send(printing.response, &text, clock_milliseconds() + RESPONSE_MS, &reason);
    text_free(&text);
    response_free(&response);
    request_free(&request);
}

/* Answer the user who is connected to standard input. */
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

struct options {
    struct shared_options shared;
    const char *most, *idle;
};

static int read_limits(const struct options *options, struct serve_limits *limits,
                       struct error *err)
{
    if (option_count("most", options->most, &limits->most, err))
        return -1;
    if (options->idle && !duration_parse(options->idle, &limits->idle_s))
        return fail(err, ERROR_USAGE,
                    "answer: --idle '%s': must be a number with s, m, h, d or w after it",
                    options->idle);
    return 0;
}

static int serve_command(const struct invocation *invocation, struct error *err)
{
    struct options options = { 0 };
    struct serve_limits limits = { .most = MOST, .idle_s = IDLE_S };
    int result = -1;
    if (!options_read(invocation, &options, err) && !read_limits(&options, &limits, err)) {
        int listener = serve_listener();
        result = listener < 0 ? serve_connected(invocation, err)
                              : serve(listener, &limits, invocation, err);
    }
    options_free(&options.shared);
    return result;
}

static const struct command_option own_options[] = {
    { "most", NULL, 0, OPTION_VALUE, AT(most), "NUMBER",
      .help = "answer at most NUMBER requests at once; default: 64" },
    { "idle", NULL, 0, OPTION_VALUE, AT(idle), "TIME",
      .help = "end after TIME without a connection; default: 60s" },
    { .name = NULL },
};

const struct command command_answer = {
    .name = "answer",
    .operands = "",
    .summary = "requests of users over a socket, for systemd",
    .notes = "Accepts connections on the socket that fairmill.socket hands over, and starts a\n"
             "process for each request, at most four at once for each user.  If standard\n"
             "input is a connected socket, answers one request on standard output.\n",
    .shared = 0,
    .options = own_options,
    .run = serve_command,
};

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
#include "settings/asker.h"
#include "settings/settings.h"
#include "util/complain.h"
#include "util/error.h"
#include "util/log.h"

/* How long a client may take to ask, and to read its answer; and what is waited for a question that
 * is refused unread. */
#define QUESTION_MS 5000
#define ANSWER_MS 10000
#define REFUSAL_MS 100

/* Of the process that listens: requests of all users at once, and when it ends. */
#define MOST 64
#define IDLE_S 60

/* Where the answer goes, and what is printed meanwhile: in memory, no byte of it in a folder. */
struct printing {
    int answer, output, errors;
};

static int fail_system(const char *what, struct error *err)
{
    return fail(err, ERROR_OTHER, "answer: cannot %s: %s", what, strerror(errno));
}

/* A file that grows beyond the limit is an error of the write, which the command tells. */
static int begin_printing(struct printing *printing, struct asker *asker, struct error *err)
{
    const struct rlimit limit = { MESSAGE_ANSWER_BYTES, MESSAGE_ANSWER_BYTES };
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    fflush(stdout);
    asker->journal = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    printing->answer = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    printing->output = memfd_create("output", MFD_CLOEXEC);
    printing->errors = memfd_create("errors", MFD_CLOEXEC);
    if (nothing < 0 || printing->answer < 0 || printing->output < 0 || printing->errors < 0 ||
        dup2(nothing, STDIN_FILENO) < 0 || dup2(printing->output, STDOUT_FILENO) < 0 ||
        dup2(printing->errors, STDERR_FILENO) < 0 || setrlimit(RLIMIT_FSIZE, &limit))
        return fail_system("keep what is printed", err);
    return 0;
}

static int read_back(int file, struct text *text, struct error *err)
{
    if (lseek(file, 0, SEEK_SET))
        return fail_system("read what was printed", err);
    return message_receive(file, false, MESSAGE_ANSWER_BYTES, clock_milliseconds() + ANSWER_MS,
                           text, err);
}

/* Do what the question asks for. */
static int print_answer(const struct question *question, const struct invocation *invocation,
                        const struct asker *asker, struct answer *answer,
                        const struct printing *printing, struct error *err)
{
    struct invocation asked = { .settings_path = invocation->settings_path, .asker = asker };
    terminal_set(&question->terminal);
    answer->status = invocation->dispatch(question->count, question->arguments, &asked);
    fflush(stdout);
    fflush(stderr);
    return read_back(printing->output, &answer->output, err) ||
                   read_back(printing->errors, &answer->errors, err)
               ? -1
               : 0;
}

/* What is refused before any command is asked goes back as its message.  The question is taken from
 * the socket even so, as far as it is there: what is left unread would break the connection. */
static void refuse(struct answer *answer, const struct error *err)
{
    struct text unread = { 0 };
    struct error ignored;
    message_receive(STDIN_FILENO, true, MESSAGE_QUESTION_BYTES, clock_milliseconds() + REFUSAL_MS,
                    &unread, &ignored);
    text_free(&unread);
    answer->status = error_exit_status(err->class);
    text_add(&answer->errors, "fairmill: ");
    text_add_printable(&answer->errors, err->message);
    text_add(&answer->errors, "\n");
}

static int read_question(struct question *question, struct error *err)
{
    struct text text = { 0 };
    int result = message_receive(STDIN_FILENO, true, MESSAGE_QUESTION_BYTES,
                                 clock_milliseconds() + QUESTION_MS, &text, err);
    if (!result)
        result = question_read(question, text.length ? text.bytes : "", text.length, err);
    text_free(&text);
    return result;
}

/* Whether there are settings to answer by; whoever started this is told where there are none. */
static int check_settings(const struct invocation *invocation, struct error *err)
{
    struct settings *settings = NULL;
    int result = settings_load(&settings, invocation->settings_path, SETTINGS_FOR_ANSWERS, err);
    settings_destroy(settings);
    return result;
}

/* Answer whoever is at the other end, also with what was wrong before (NULL: nothing was). */
static void answer_one(const struct invocation *invocation, struct asker *asker,
                       const struct error *wrong)
{
    struct question question = { .count = 0 };
    struct answer answer = { .status = 0 };
    struct printing printing = { .answer = STDOUT_FILENO };
    struct text text = { 0 };
    struct error reason;
    if (wrong)
        refuse(&answer, wrong);
    else if (!(asker->login = peer_login(asker->uid, &reason)) ||
             read_question(&question, &reason) || begin_printing(&printing, asker, &reason) ||
             print_answer(&question, invocation, asker, &answer, &printing, &reason))
        refuse(&answer, &reason);
    answer_add(&text, &answer);
    /* Nobody is left to be told that this failed. */
    message_send(printing.answer, &text, clock_milliseconds() + ANSWER_MS, &reason);
    text_free(&text);
    answer_free(&answer);
    question_free(&question);
}

/* Answer the user who is connected to standard input. */
static int answer_connected(const struct invocation *invocation, struct error *err)
{
    struct asker asker = { .journal = -1 };
    struct error wrong, no_socket;
    bool no_settings = check_settings(invocation, &wrong);
    if (peer_uid(STDIN_FILENO, &asker.uid, &no_socket)) {
        *err = no_settings ? wrong : no_socket;
        return -1;
    }
    if (no_settings) {
        complain(&wrong);
        command_hide_reason(&(const struct invocation){ .asker = &asker }, &wrong);
    }
    answer_one(invocation, &asker, no_settings ? &wrong : NULL);
    free((char *)asker.login);
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

static int answer_command(const struct invocation *invocation, struct error *err)
{
    struct options options = { 0 };
    struct serve_limits limits = { .most = MOST, .idle_s = IDLE_S };
    int result = -1;
    if (!options_read(invocation, &options, err) && !read_limits(&options, &limits, err)) {
        int listener = serve_listener();
        result = listener < 0 ? answer_connected(invocation, err)
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
    .run = answer_command,
};

/* SPDX-License-Identifier: MIT */
#include "util/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/error.h"
#include "util/log.h"
#include "util/text.h"

/* Exit status of a child process that cannot execute the program, as in shells. */
#define CANNOT_START 127

/* This process's ends of the pipes, indexed by the child's file descriptor; -1: closed. */
struct program_pipes {
    int ends[3];
    size_t written;
    struct text messages; /* an incomplete line of standard error */
    bool stopped;         /* take_message() returned false */
};

static void program_close(int *end)
{
    if (*end >= 0)
        close(*end);
    *end = -1;
}

static void program_execute(const struct program *program, int in, int out, int err)
{
    signal(SIGPIPE, SIG_DFL);
    if (program->has_children)
        setpgid(0, 0);
    if (*program->conf)
        setenv("SLURM_CONF", program->conf, 0);
    /* This variable would make sprio and scontrol talk to other clusters. */
    unsetenv("SLURM_CLUSTERS");
    if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        dup2(err, STDERR_FILENO) >= 0)
        execvp(program->arguments[0], (char *const *)program->arguments);
    const char *reason = strerror(errno);
    if (write(err, reason, strlen(reason)) < 0)
        _exit(CANNOT_START);
    _exit(CANNOT_START);
}

/* Starts the program.  Returns its process, or -1 on error. */
static pid_t program_start(const struct program *program, struct program_pipes *pipes,
                           struct error *err)
{
    int in[2] = { -1, -1 }, out[2] = { -1, -1 }, messages[2] = { -1, -1 };
    pid_t process = -1;
    if (!pipe2(in, O_CLOEXEC) && !pipe2(out, O_CLOEXEC) && !pipe2(messages, O_CLOEXEC))
        process = fork();
    if (!process)
        program_execute(program, in[0], out[1], messages[1]);
    if (process < 0)
        fail(err, ERROR_OTHER, "cannot start '%s': %s", program->arguments[0], strerror(errno));
    program_close(&in[0]);
    program_close(&out[1]);
    program_close(&messages[1]);
    pipes->ends[STDIN_FILENO] = in[1];
    pipes->ends[STDOUT_FILENO] = out[0];
    pipes->ends[STDERR_FILENO] = messages[0];
    for (int i = 0; i < 3 && process > 0; i++)
        fcntl(pipes->ends[i], F_SETFL, O_NONBLOCK);
    return process;
}

static void program_feed(const struct program *program, struct program_pipes *pipes)
{
    size_t length = program->input ? program->input->length : 0;
    if (pipes->written < length) {
        ssize_t count = write(pipes->ends[STDIN_FILENO], program->input->bytes + pipes->written,
                              length - pipes->written);
        if (count > 0)
            pipes->written += (size_t)count;
        else if (errno != EAGAIN && errno != EINTR)
            pipes->written = length; /* the program no longer reads; its messages say why */
    }
    if (pipes->written == length)
        program_close(&pipes->ends[STDIN_FILENO]);
}

/* Passes the complete lines on, and at the end an incomplete one. */
static void program_take_lines(const struct program *program, struct program_pipes *pipes,
                               bool at_end)
{
    struct text *text = &pipes->messages;
    size_t from = 0;
    while (from < text->length && !pipes->stopped) {
        char *line = text->bytes + from, *end = memchr(line, '\n', text->length - from);
        if (!end && !at_end)
            break;
        if (end)
            *end = '\0';
        from = end ? (size_t)(end - text->bytes) + 1 : text->length;
        if (*line && !program->take_message(program->context, line))
            pipes->stopped = true;
    }
    struct text rest = { 0 };
    if (from < text->length)
        text_add_bytes(&rest, text->bytes + from, text->length - from);
    text_free(text);
    *text = rest;
}

/* Reads the output that is available; closes the pipe at its end. */
static void program_read(int *end, struct text *text)
{
    char bytes[65536];
    ssize_t count = read(*end, bytes, sizeof bytes);
    if (count > 0 && text)
        text_add_bytes(text, bytes, (size_t)count);
    if (!count || (count < 0 && errno != EAGAIN && errno != EINTR))
        program_close(end);
}

/* Exchanges data until the program has closed its output, until take_message() stops it, or until
 * the deadline.  Returns false at the deadline. */
static bool program_exchange(const struct program *program, struct program_pipes *pipes)
{
    int *ends = pipes->ends;
    while ((ends[STDOUT_FILENO] >= 0 || ends[STDERR_FILENO] >= 0) && !pipes->stopped) {
        int64_t left = program->deadline_ms - clock_milliseconds();
        struct pollfd polled[3];
        for (int i = 0; i < 3; i++)
            polled[i] = (struct pollfd){ ends[i], i == STDIN_FILENO ? POLLOUT : POLLIN, 0 };
        if (left <= 0)
            return false;
        if (poll(polled, 3, left < INT_MAX ? (int)left : INT_MAX) <= 0)
            continue;
        if (polled[STDIN_FILENO].revents)
            program_feed(program, pipes);
        if (polled[STDOUT_FILENO].revents)
            program_read(&ends[STDOUT_FILENO], program->output);
        if (polled[STDERR_FILENO].revents)
            program_read(&ends[STDERR_FILENO], &pipes->messages);
        program_take_lines(program, pipes, ends[STDERR_FILENO] < 0);
    }
    return true;
}

static void program_kill(const struct program *program, pid_t process)
{
    if (program->has_children)
        kill(-process, SIGKILL);
    kill(process, SIGKILL);
}

/* Waits for the end of the program and returns its status.  At the deadline, kills the program and
 * sets `*in_time` to false. */
static int program_status(const struct program *program, pid_t process, bool *in_time)
{
    int status = 0;
    pid_t ended;
    while (!(ended = waitpid(process, &status, *in_time ? WNOHANG : 0)) ||
           (ended < 0 && errno == EINTR)) {
        if (*in_time && clock_milliseconds() >= program->deadline_ms) {
            program_kill(program, process);
            *in_time = false;
        } else if (*in_time) {
            poll(NULL, 0, 10);
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int program_run(const struct program *program, int *status, struct error *err)
{
    struct program_pipes pipes = { .ends = { -1, -1, -1 } };
    pid_t process = program_start(program, &pipes, err);
    bool in_time = process > 0 && program_exchange(program, &pipes);
    /* A program that closed its output can still be running. */
    if (process > 0 && (!in_time || pipes.stopped))
        program_kill(program, process);
    for (int i = 0; i < 3; i++)
        program_close(&pipes.ends[i]);
    text_free(&pipes.messages);
    if (process < 0)
        return -1;
    *status = program_status(program, process, &in_time);
    if (!in_time)
        return fail(err, ERROR_GONE, "'%s' did not finish within the deadline",
                    program->arguments[0]);
    if (*status == CANNOT_START && !pipes.stopped)
        return fail(err, ERROR_SETTINGS, "cannot start '%s'; is it in PATH?",
                    program->arguments[0]);
    if (pipes.stopped)
        *status = -1;
    return 0;
}

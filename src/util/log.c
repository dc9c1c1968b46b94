/* SPDX-License-Identifier: MIT */
#include "util/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "util/error.h"
#include "util/text.h"

#define SHOW_AFTER_MS 1000
#define SHOW_EVERY_MS 250

static bool verbose;
static int64_t progress_began, progress_shown;
static bool progress_on_screen;

void log_set_verbose(bool wanted)
{
    verbose = wanted;
}

bool log_is_verbose(void)
{
    return verbose;
}

int64_t clock_milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void log_print(const char *format, va_list arguments)
{
    log_progress_done();
    char line[2048];
    vsnprintf(line, sizeof line, format, arguments);
    struct text printable = { 0 };
    text_add_printable(&printable, line);
    fprintf(stderr, "fairmill: %s\n", printable.bytes);
    text_free(&printable);
}

void log_note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (verbose)
        log_print(format, arguments);
    va_end(arguments);
}

void log_warning(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    log_print(format, arguments);
    va_end(arguments);
}

void log_progress(const char *subject, uint64_t count, const char *what)
{
    int64_t now = clock_milliseconds();
    if (!progress_began)
        progress_began = now;
    if (now - progress_began < SHOW_AFTER_MS || now - progress_shown < SHOW_EVERY_MS ||
        !isatty(STDERR_FILENO))
        return;
    struct text printable = { 0 };
    text_add_printable(&printable, subject);
    fprintf(stderr, "\r%s: %" PRIu64 " %s\x1b[K", printable.bytes, count, what);
    fflush(stderr);
    text_free(&printable);
    progress_shown = now;
    progress_on_screen = true;
}

void log_progress_done(void)
{
    if (progress_on_screen)
        fputs("\r\x1b[K", stderr);
    progress_on_screen = false;
    progress_began = progress_shown = 0;
}

static int first_status;

void keep_quiet_about(const struct error *err)
{
    if (!first_status)
        first_status = error_exit_status(err->class);
}

void complain(const struct error *err)
{
    struct text message = { 0 };
    text_add_printable(&message, err->message);
    log_progress_done();
    fprintf(stderr, "fairmill: %s\n", message.bytes);
    text_free(&message);
    keep_quiet_about(err);
}

int first_failure(void)
{
    return first_status;
}

void forget_failures(void)
{
    first_status = 0;
}

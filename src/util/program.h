/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_PROGRAM_H
#define FAIRMILL_UTIL_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct text;

/* Runs another program, of Slurm or a mailer, and exchanges data with it until a deadline. */

struct program {
    const char *const
        *arguments;           /* the program, found in PATH, and its arguments; ends with NULL */
    const char *conf;         /* value of SLURM_CONF if that is not set; "": none */
    const struct text *input; /* standard input; NULL: empty */
    int64_t deadline_ms;      /* clock_milliseconds() */
    bool has_children;        /* at the deadline, also kill the processes that it started */
    struct text *output;      /* standard output is appended; NULL: discarded */
    /* Called for each line on standard error, without its newline.  If it returns false, the
     * program is killed. */
    bool (*take_message)(void *context, char *line);
    void *context;
};

/*
 * Runs the program and waits for its end.  Sets `*status` to its exit status; to -1 if
 * take_message() ended it, and to 128 + the signal if another signal did.  Fails with ERROR_GONE if
 * the program was killed at the deadline, and with ERROR_SETTINGS if it cannot be started.
 */
int program_run(const struct program *program, int *status, struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_COMMAND_H
#define FAIRMILL_COMMAND_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

struct error;
struct text;

/* What the command line gave, beside the command's own options. */
struct invocation {
    const char *settings_path; /* of -c; NULL: looked for */
    int count;                 /* arguments[0] is the command's name */
    char **arguments;
};

/* A subcommand: one file, one line in the table of main.c.  Returns 0, a status to exit with, or -1
 * with the reason; what failed for a part only was complained of meanwhile. */
struct command {
    const char *name, *synopsis, *summary;
    const char *options; /* a line each, for --help */
    int (*run)(const struct invocation *invocation, struct error *err);
};

extern const struct command command_init, command_check, command_run, command_status, command_show,
    command_prio, command_explain, command_whatif, command_forecast, command_compare, command_diff,
    command_history, command_ledger, command_metrics, command_report, command_forget;

/* Options of one command: long name, short letter (0: none), and where the value goes.  Exactly one
 * of `flag` and `value`, or `list` for an option that may be given again. */
struct option_list {
    char **values;
    size_t count;
};
struct command_option {
    const char *name;
    char letter;
    bool *flag;
    const char **value;
    struct option_list *list;
};

/* Read the options; there are no other arguments.  ERROR_USAGE names what is wrong.  `options` ends
 * with a NULL name. */
int command_options(const struct invocation *invocation, const struct command_option *options,
                    struct error *err);
/* Likewise, of a command that takes up to `most` other arguments, anywhere among the options; those
 * that are not given stay as they are. */
int command_operands(const struct invocation *invocation, const struct command_option *options,
                     const char **operands, int most, struct error *err);
void option_list_free(struct option_list *list);

/* Write a text to stdout, whole, or say why not. */
int command_print(const struct text *text, struct error *err);

#endif

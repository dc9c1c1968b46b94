/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_COMMAND_H
#define FAIRMILL_COMMAND_COMMAND_H

#include "command/options.h"
#include "report/answer.h"
#include "results/published.h"
#include "settings/load.h"

/* The functions that all commands share.  `struct command` is in options.h. */

/* The state of a running command. */
struct command_context {
    const struct invocation *invocation;
    void *options;                       /* the command's own struct of options */
    const struct shared_options *shared; /* the shared part of `options` */
    /* Initialized from the command; the command's check() may change them. */
    enum settings_use use;
    enum command_results results;
    const struct table_layout *layout;
    struct published_filter filter; /* clusters and names that the shared options select */
    /* Set before the command's answer() is called. */
    struct settings *settings;
    struct settings *source_settings; /* NULL until command_source_settings() loads them */
    struct published published;
    struct answer *answer; /* NULL if the command has no layout */
};

/*
 * Executes the command of `invocation`: calls its check(), loads the settings, opens the results,
 * calls its answer() and prints the answer.  `options` is the command's struct after
 * options_read().  Returns the exit status, or -1 with the error to report.
 */
int command_execute(const struct invocation *invocation, void *options, struct error *err);

extern const struct command command_setup, command_init, command_check, command_run, command_status,
    command_show, command_prio, command_explain, command_whatif, command_forecast, command_compare,
    command_diff, command_history, command_statement, command_ledger, command_shares,
    command_metrics, command_report, command_forget, command_verify, command_import, command_answer,
    command_backfill, command_backtest, command_budget, command_waits, command_apply,
    command_notify;

/*
 * Returns settings with the section [source], for a command that needs the accounting database only
 * with some options.  The context owns them.  Returns NULL on error; over the socket the error is
 * ERROR_USAGE, because clients cannot query the accounting database.
 */
const struct settings *command_source_settings(struct command_context *context, struct error *err);

/* Replaces context->answer by an empty answer with another layout; with NULL, nothing is printed.
 * Returns -1 with ERROR_USAGE if --columns names a column that the layout lacks. */
int command_answer_as(struct command_context *context, const struct table_layout *layout,
                      struct error *err);

/* True if the command can read results only: it answers a client of the socket, or the process can
 * read reader.conf but not fairmill.conf. */
bool command_reads_results_only(const struct invocation *invocation);

/*
 * Hides an internal error from a client of the socket, because its text can name logins, hosts,
 * files and settings.  Writes it to the service's journal and replaces the message.  Does nothing
 * if the error is about the request, if the client is root or the service's own user, or if there
 * is no client.
 */
void command_hide_reason(const struct invocation *invocation, struct error *err);

/* Writes a text to standard output and flushes it.  Returns -1 on a write error, but 0 if the
 * program at the other end of a pipe closed it. */
int command_print(const struct text *text, struct error *err);
/* Writes a text to the file of --output, or to standard output if `path` is NULL or `-`. */
int command_output(const char *path, const struct text *text, struct error *err);
/*
 * Returns the login of `client`, or if it is NULL, of the user who runs the process, even after
 * sudo and su.  If the user has no passwd entry, returns `uid NUMBER`.  The caller frees the
 * string.
 */
char *command_login(const struct client *client);
/* Prints a question and reads the answer from standard input.  Returns -1 with the error `refusal`
 * unless the answer begins with y or Y. */
int command_confirm(const char *question, const char *refusal, struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_COMMAND_H
#define FAIRMILL_COMMAND_COMMAND_H

#include "command/options.h"
#include "report/answer.h"
#include "results/published.h"
#include "settings/load.h"

/* What every subcommand needs.  `struct command` is in options.h. */

/* A command that is running: what is read and opened for it. */
struct command_context {
    const struct invocation *invocation;
    void *options; /* its own struct */
    const struct shared_options *shared;
    /* check() may choose others than the command declares. */
    enum settings_use use;
    enum command_results results;
    const struct table_layout *layout;
    struct published_filter filter; /* by the shared options */
    /* answer() has these. */
    struct settings *settings;
    struct settings *source_settings; /* of command_source_settings() */
    struct published published;
    struct answer *answer;
};

/* Run a command that declares what it needs: check its options, load the settings, open the
 * results, let it answer and print that. */
int command_execute(const struct invocation *invocation, void *options, struct error *err);

extern const struct command command_init, command_check, command_run, command_status, command_show,
    command_prio, command_explain, command_whatif, command_forecast, command_compare, command_diff,
    command_history, command_statement, command_ledger, command_shares, command_metrics,
    command_report, command_forget, command_verify, command_import, command_answer,
    command_backfill, command_backtest;

/* The settings with those of the accounting database, for a command that only sometimes needs it.
 * The context owns them.  NULL on error: over a socket ERROR_USAGE. */
const struct settings *command_source_settings(struct command_context *context, struct error *err);

/* Answer with another layout than the command's; NULL: print nothing. */
int command_answer_as(struct command_context *context, const struct table_layout *layout,
                      struct error *err);

/* Whether this invocation reads results only: somebody asks over a socket, or this process may read
 * reader.conf alone. */
bool command_reads_results_only(const struct invocation *invocation);

/* For a user at the other end of the socket, replace an error that is not about the request: its
 * text names logins, hosts, files and settings.  It goes to the service's journal instead.  Root
 * and the service's own user get it as it is. */
void command_hide_reason(const struct invocation *invocation, struct error *err);

/* Write a text to stdout, whole, or say why not. */
int command_print(const struct text *text, struct error *err);
/* Write it to where --output says: NULL and `-` are stdout. */
int command_output(const char *path, const struct text *text, struct error *err);
/* The login of the client, or of who runs this, also behind sudo and su.  The caller frees it. */
char *command_login(const struct client *client);
/* Ask on the terminal; -1 with `refusal` unless the answer is yes. */
int command_confirm(const char *question, const char *refusal, struct error *err);

#endif

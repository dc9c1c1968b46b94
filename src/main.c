/* SPDX-License-Identifier: MIT */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/answer/client.h"
#include "command/command.h"
#include "command/help.h"
#include "db/db.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/text.h"

/* Not a file of its own, because its function, help(), needs the table of commands. */
static const struct command command_help = {
    .name = "help",
    .group = GROUP_MONITOR,
    .summary = "Show this list, or the options of COMMAND",
    .usage = "[COMMAND]",
    .description = "Show the list of commands, or the usage and the options of COMMAND.\n"
                   "`fairmill COMMAND --help` shows the same.\n",
};

/* The commands, in the order of the help within each group. */
static const struct command *const commands[] = {
    &command_setup,   &command_init,     &command_check,    &command_import,    &command_forget,
    &command_run,     &command_backfill, &command_verify,   &command_show,      &command_prio,
    &command_explain, &command_forecast, &command_history,  &command_statement, &command_budget,
    &command_waits,   &command_whatif,   &command_backtest, &command_compare,   &command_ledger,
    &command_shares,  &command_diff,     &command_apply,    &command_status,    &command_metrics,
    &command_report,  &command_notify,   &command_answer,   &command_help,      NULL,
};

/* Prints a text and returns the exit status. */
static int print_text(const struct text *text)
{
    struct error err;
    if (command_print(text, &err))
        complain(&err);
    return first_failure();
}

static int print_overview(void)
{
    struct text text = { 0 };
    text_add(&text, "usage: fairmill COMMAND [OPTION...] [ARGUMENT...]\n"
                    "       fairmill help [COMMAND]\n"
                    "\n"
                    "Compute fairshare values from Slurm or OpenPBS accounting data and publish\n"
                    "them in SQL tables.\n"
                    "\n");
    help_add_commands(&text, commands);
    text_add(&text,
             "\n"
             "Options:\n"
             "  -c, --config FILE  Read the settings from FILE (default: $FAIRMILL_CONF, then\n"
             "                     " SYSCONFDIR "/fairmill/fairmill.conf)\n"
             "  -h, --help         Show this list, or the options of COMMAND\n"
             "  -V, --version      Print the version and the supported databases\n"
             "\n"
             "`fairmill help COMMAND` lists the options of a command.  See fairmill(1) if you\n"
             "want to query results, and fairmill(8) if you administer fairmill.\n"
             "fairmill-cli(7) describes names, times, output formats and exit statuses.\n");
    int status = print_text(&text);
    text_free(&text);
    return status;
}

static int print_version(void)
{
    struct text text = { 0 };
    text_add(&text, "fairmill " PACKAGE_VERSION " (drivers:");
    for (const struct db_driver *const *driver = db_drivers; *driver; driver++)
        text_format(&text, " %s", (*driver)->name);
    text_add(&text, ")\n");
    int status = print_text(&text);
    text_free(&text);
    return status;
}

/* Reports a wrong command line: `problem`, and the word that it is about unless that is NULL. */
static int usage_error(const char *problem, const char *word)
{
    struct error err;
    fail(&err, ERROR_USAGE, "%s%s%s%s; see `fairmill help`", problem, word ? " '" : "",
         word ? word : "", word ? "'" : "");
    complain(&err);
    return first_failure();
}

static const struct command *command_named(const char *name)
{
    for (const struct command *const *each = commands; *each; each++)
        if (!strcmp((*each)->name, name))
            return *each;
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *names[sizeof commands / sizeof *commands] = { NULL };
    for (size_t i = 0; commands[i]; i++)
        names[i] = commands[i]->name;
    const char *nearest = nearest_word(name, names);
    struct error err;
    fail(&err, ERROR_USAGE, "unknown command '%s'%s%s%s; see `fairmill help`", name,
         nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    complain(&err);
    return first_failure();
}

static int print_help(const struct command *command, bool all_options)
{
    struct text text = { 0 };
    help_add(&text, command, all_options);
    int status = print_text(&text);
    text_free(&text);
    return status;
}

/* `fairmill help [COMMAND]`, and for shell completion `fairmill help --all-options COMMAND`. */
static int help(int count, char **arguments)
{
    bool all_options = count && !strcmp(arguments[0], "--all-options");
    count -= all_options;
    arguments += all_options;
    if (count > 1)
        return usage_error("help: unexpected argument", arguments[1]);
    if (!count || !strcmp(arguments[0], "-h") || !strcmp(arguments[0], "--help"))
        return print_overview();
    const struct command *command = command_named(arguments[0]);
    if (!command)
        return unknown_command(arguments[0]);
    /* Completion offers the commands after `help`. */
    return all_options && command == &command_help ? print_overview()
                                                   : print_help(command, all_options);
}

/* True if the user cannot read the default settings but can use the socket. */
static bool is_user(const struct invocation *invocation)
{
    return !invocation->client && !invocation->settings_path && client_has_socket() &&
           !settings_are_readable(NULL);
}

/* Rejects the commands that are not available over the socket. */
static int check_answers(const struct invocation *invocation, struct error *err)
{
    if (!invocation->client || invocation->command->for_users)
        return 0;
    return fail(err, ERROR_USAGE, "'%s' is for administrators and not available over the socket",
                invocation->command->name);
}

/*
 * Returns true if the command is not for users and was called by one: over the socket, or by a user
 * who cannot read the settings, but who can use the socket or read reader.conf.
 */
static bool is_denied(const struct invocation *invocation)
{
    bool needs_settings = invocation->command->use == SETTINGS_FOR_ALL;
    if (invocation->command->for_users || invocation->client)
        return !invocation->command->for_users;
    return geteuid() && (is_user(invocation) ||
                         (needs_settings && settings_are_for_reading(invocation->settings_path)));
}

/* Returns true if a user calls a command for users, but can neither read settings nor use the
 * socket. */
static bool lacks_socket(const struct invocation *invocation)
{
    return geteuid() && invocation->command->for_users && !invocation->client &&
           !invocation->settings_path && !client_has_socket() && !settings_are_readable(NULL);
}

/* Prints the commands that are for users, after the error about a command that is not. */
static void print_commands_for_users(void)
{
    struct text names = { 0 };
    for (const struct command *const *each = commands; *each; each++)
        if ((*each)->for_users)
            text_format(&names, "%s%s", names.length ? ", " : "", (*each)->name);
    log_warning("you can use %s", names.bytes);
    text_free(&names);
}

/* Executes a command whose options are valid, here or over the socket. */
static int start(struct invocation *invocation, void *options, struct error *err)
{
    const struct command *command = invocation->command;
    if (!command->for_users || !is_user(invocation)) {
        int result = command_execute(invocation, options, err);
        if (result < 0 && err->class == ERROR_SETTINGS && is_denied(invocation))
            fail_in(err, "'%s' is for administrators", command->name);
        return result;
    }
    /* The request begins with the command's name, which precedes its arguments. */
    int status = client_request(invocation->count + 1, invocation->arguments - 1, err);
    return status < 0 && command->failed ? command->failed(options, err) : status;
}

static int main_run_with(struct invocation *invocation, void *options, struct error *err)
{
    const struct command *command = invocation->command;
    const struct shared_options *shared = options;
    if (check_answers(invocation, err) || options_read(invocation, options, err))
        return -1;
    if (shared->help)
        return print_help(command, false);
    if (shared->version)
        return print_version();
    if (shared->settings_path)
        invocation->settings_path = shared->settings_path;
    return start(invocation, options, err);
}

static int run_named(struct invocation *invocation)
{
    const struct command *command = invocation->command;
    void *options = memory_zeroed(1, command->options_size);
    struct error err;
    int status = main_run_with(invocation, options, &err);
    if (status < 0) {
        command_hide_reason(invocation, &err);
        complain(&err);
        if ((err.class == ERROR_SETTINGS || invocation->client) && is_denied(invocation))
            print_commands_for_users();
        else if (err.class == ERROR_SETTINGS && lacks_socket(invocation))
            log_warning("this host has no socket for users; an administrator can enable "
                        "fairmill.socket");
    }
    if (command->release)
        command->release(options);
    options_free_own(command, options);
    options_free(options);
    free(options);
    return first_failure() ? first_failure() : status;
}

/*
 * Reads the options before the command.  Sets `*at` to the index of the command, or to `count` if
 * the command is missing.  Returns false if the program must exit with `*status`.
 */
static bool read_before_command(int count, char **arguments, int *at, const char **settings_path,
                                int *status)
{
    for (*at = 1; *at < count && arguments[*at][0] == '-'; ++*at) {
        const char *option = arguments[*at];
        if (!strcmp(option, "-h") || !strcmp(option, "--help")) {
            *status = print_overview();
            return false;
        }
        if (!strcmp(option, "-V") || !strcmp(option, "--version")) {
            *status = print_version();
            return false;
        }
        if (!strncmp(option, "--config=", 9)) {
            *settings_path = option + 9;
        } else if (strcmp(option, "-c") != 0 && strcmp(option, "--config") != 0) {
            *status = usage_error("unknown option", option);
            return false;
        } else if (++*at == count) {
            *status = usage_error("missing file name after option", option);
            return false;
        } else {
            *settings_path = arguments[*at];
        }
    }
    return true;
}

/* Executes a command line whose first argument is the command.  The settings file, the client and
 * the dispatch function come from `with`. */
static int dispatch(int count, char **arguments, const struct invocation *with)
{
    struct invocation invocation = *with;
    invocation.command = command_named(arguments[0]);
    if (!invocation.command)
        return unknown_command(arguments[0]);
    if (invocation.command == &command_help)
        return help(count - 1, arguments + 1);
    invocation.count = count - 1;
    invocation.arguments = arguments + 1;
    return run_named(&invocation);
}

int main(int count, char **arguments)
{
    struct invocation invocation = { .dispatch = dispatch };
    struct error err;
    int at, status;
    memory_give_back();
    /* Input and output are UTF-8, whatever the locale of the terminal is.  With another locale,
     * bytes of a character could be classified as white space, and ideographs would not be two
     * columns wide. */
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        setlocale(LC_CTYPE, "");
    /* A closed pipe or a file size limit must fail the write, not end the process. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (!read_before_command(count, arguments, &at, &invocation.settings_path, &status))
        return status;
    if (at == count)
        return usage_error("missing command", NULL);
    if (clock_begin(&err)) {
        complain(&err);
        return first_failure();
    }
    return dispatch(count - at, arguments + at, &invocation);
}

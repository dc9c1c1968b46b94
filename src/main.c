/* SPDX-License-Identifier: MIT */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/answer/client.h"
#include "command/command.h"
#include "command/help.h"
#include "db/db.h"
#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/text.h"

/* The subcommands; a new one is its file in src/command and a line here. */
static const struct command *const commands[] = {
    &command_init,    &command_check,     &command_verify,   &command_run,
    &command_status,  &command_show,      &command_prio,     &command_explain,
    &command_whatif,  &command_forecast,  &command_compare,  &command_diff,
    &command_history, &command_statement, &command_backfill, &command_backtest,
    &command_ledger,  &command_shares,    &command_metrics,
#ifdef HAVE_REPORT
    &command_report,
#endif
    &command_forget,  &command_import,    &command_answer,   NULL,
};

static void print_usage(void)
{
    puts("usage: fairmill COMMAND [OPTION...]\n"
         "       fairmill help [COMMAND]\n"
         "\n"
         "Computes decayed usage and every fairshare value from an accounting database,\n"
         "and publishes them in tables.\n");
    for (const struct command *const *each = commands; *each; each++)
        printf("  %-9s %s\n", (*each)->name, (*each)->summary);
    puts("  help      this, or the options of a COMMAND\n"
         "\n"
         "  -c, --config FILE  the settings; else $FAIRMILL_CONF, else\n"
         "                     " SYSCONFDIR "/fairmill/fairmill.conf\n"
         "  -h, --help         this, or the options of a COMMAND\n"
         "  -V, --version      the version, and the databases that this build can talk to\n"
         "\n"
         "Options may stand before and behind a command's arguments.  NAMES have commas\n"
         "between them, and may be given again; --cluster and --clusters are one.\n"
         "fairmill(1) is for users; fairmill(8) describes everything.");
}

static void print_version(void)
{
    fputs("fairmill " PACKAGE_VERSION " (drivers:", stdout);
    for (const struct db_driver *const *driver = db_drivers; *driver; driver++)
        printf(" %s", (*driver)->name);
    puts(")");
}

/* What was printed is out, or the status says that it is not. */
static int end_printing(void)
{
    struct error err;
    if (command_print(&(const struct text){ 0 }, &err))
        complain(&err);
    return first_failure();
}

static int usage_error(const char *what, const char *word)
{
    struct error err;
    fail(&err, ERROR_USAGE, "%s%s%s%s; see `fairmill help`", what, word ? " '" : "",
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
    const char *names[sizeof commands / sizeof *commands + 1] = { NULL };
    for (size_t i = 0; commands[i]; i++)
        names[i] = commands[i]->name;
    names[sizeof commands / sizeof *commands - 1] = "help";
    const char *nearest = nearest_word(name, names);
    struct error err;
    fail(&err, ERROR_USAGE, "unknown command '%s'%s%s%s; see `fairmill help`", name,
         nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    complain(&err);
    return first_failure();
}

/* It is no line of the table, as it needs the table. */
static const struct command help_itself = {
    .name = "help",
    .operands = "[COMMAND]",
    .summary = "this program's commands, or the options of a COMMAND",
    .notes = "`fairmill COMMAND --help' prints the same.\n",
};

static int print_help(const struct command *command)
{
    struct text text = { 0 };
    struct error err;
    help_add(&text, command);
    if (command_print(&text, &err))
        complain(&err);
    text_free(&text);
    return first_failure();
}

/* `fairmill help [COMMAND]`. */
static int help(int count, char **arguments)
{
    if (count > 1)
        return usage_error("help: unexpected argument", arguments[1]);
    if (count == 1 && strcmp(arguments[0], "-h") != 0 && strcmp(arguments[0], "--help") != 0) {
        const struct command *command =
            !strcmp(arguments[0], help_itself.name) ? &help_itself : command_named(arguments[0]);
        return command ? print_help(command) : unknown_command(arguments[0]);
    }
    print_usage();
    return end_printing();
}

/* Whether this is a user who may not read the settings, where the socket exists. */
static bool is_user(const struct invocation *invocation)
{
    return !invocation->client && !invocation->settings_path && client_has_socket() &&
           !settings_are_readable(NULL);
}

static int check_answers(const struct invocation *invocation, struct error *err)
{
    if (!invocation->client || invocation->command->for_users)
        return 0;
    return fail(err, ERROR_USAGE, "%s: this is not done for who asks over a socket",
                invocation->command->name);
}

/* Users may not read the settings, and the socket answers some commands only: add which. */
static void add_commands_of_users(const struct invocation *invocation, struct error *err)
{
    struct text text = { 0 };
    for (const struct command *const *each = commands; *each; each++)
        if ((*each)->for_users)
            text_format(&text, "%s%s", text.length ? ", " : "", (*each)->name);
    size_t length = strlen(err->message);
    snprintf(err->message + length, sizeof err->message - length,
             "; '%s' is for administrators, the socket answers users of %s",
             invocation->command->name, text.bytes);
    text_free(&text);
}

/* The command, once its options are known to be right. */
static int start(struct invocation *invocation, void *options, struct error *err)
{
    const struct command *command = invocation->command;
    if (!command->for_users || !is_user(invocation)) {
        int result = command_execute(invocation, options, err);
        if (result < 0 && err->class == ERROR_SETTINGS && is_user(invocation))
            add_commands_of_users(invocation, err);
        return result;
    }
    /* The request begins with the command's name, which is in front of its arguments. */
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
        return print_help(command);
    if (shared->version) {
        print_version();
        return end_printing();
    }
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
    }
    if (command->release)
        command->release(options);
    options_free_own(command, options);
    options_free(options);
    free(options);
    return first_failure() ? first_failure() : status;
}

/* Read what stands before the command; `*at` gets its place.  False: `*status` is what to exit
 * with. */
static bool read_before_command(int count, char **arguments, int *at, const char **settings_path,
                                int *status)
{
    for (*at = 1; *at < count && arguments[*at][0] == '-'; ++*at) {
        const char *option = arguments[*at];
        if (!strcmp(option, "-h") || !strcmp(option, "--help")) {
            *status = help(0, NULL);
            return false;
        }
        if (!strcmp(option, "-V") || !strcmp(option, "--version")) {
            print_version();
            *status = end_printing();
            return false;
        }
        if (!strncmp(option, "--config=", 9)) {
            *settings_path = option + 9;
        } else if (strcmp(option, "-c") != 0 && strcmp(option, "--config") != 0) {
            *status = usage_error("unknown option", option);
            return false;
        } else if (++*at == count) {
            *status = usage_error("no file behind", option);
            return false;
        } else {
            *settings_path = arguments[*at];
        }
    }
    return true;
}

/* A command line, its command first. */
static int dispatch(int count, char **arguments, const struct invocation *with)
{
    struct invocation invocation = *with;
    if (!strcmp(arguments[0], "help"))
        return help(count - 1, arguments + 1);
    invocation.command = command_named(arguments[0]);
    if (!invocation.command)
        return unknown_command(arguments[0]);
    invocation.count = count - 1;
    invocation.arguments = arguments + 1;
    return run_named(&invocation);
}

int main(int count, char **arguments)
{
    struct invocation invocation = { .dispatch = dispatch };
    int at, status;
    memory_give_back();
    /* What we read and print is UTF-8 whatever the terminal is set to: no byte of it is taken for
     * a blank, and ideographs are two columns wide. */
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        setlocale(LC_CTYPE, "");
    /* A reader that went away and a file that may not grow are errors of a write, not our end. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (!read_before_command(count, arguments, &at, &invocation.settings_path, &status))
        return status;
    if (at == count)
        return usage_error("no command", NULL);
    return dispatch(count - at, arguments + at, &invocation);
}

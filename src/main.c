/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "command/command.h"
#include "db/db.h"
#include "util/complain.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

/* The subcommands; a new one is its file in src/command and a line here. */
static const struct command *const commands[] = {
    &command_init,     &command_check,
    &command_run,      &command_status,
    &command_show,     &command_prio,
    &command_explain,  &command_whatif,
    &command_forecast, &command_compare,
    &command_diff,     &command_history,
    &command_ledger,   &command_metrics,
#ifdef HAVE_REPORT
    &command_report,
#endif
    &command_forget,   NULL,
};

static void print_usage(void)
{
    puts("usage: fairmill [-c FILE] COMMAND [OPTION...]\n"
         "\n"
         "Computes decayed usage and every fairshare value from an accounting database,\n"
         "and publishes them in tables.\n");
    for (const struct command *const *each = commands; *each; each++)
        printf("  %-8s %s\n", (*each)->name, (*each)->summary);
    puts("\n"
         "  -c, --config FILE  the settings; else $FAIRMILL_CONF, else\n"
         "                     " SYSCONFDIR "/fairmill/fairmill.conf\n"
         "  -h, --help         this, or `fairmill COMMAND --help`\n"
         "  -V, --version      the version, and the databases that this build can talk to\n"
         "\n"
         "fairmill(8) tells the rest.");
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
    fail(&err, ERROR_USAGE, "%s%s%s%s; see `fairmill --help`", what, word ? " '" : "",
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
    fail(&err, ERROR_USAGE, "unknown command '%s'%s%s%s; see `fairmill --help`", name,
         nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    complain(&err);
    return first_failure();
}

static int run_named(const struct invocation *invocation)
{
    const struct command *command = command_named(invocation->arguments[0]);
    if (!command)
        return unknown_command(invocation->arguments[0]);
    for (int i = 1; i < invocation->count; i++)
        if (!strcmp(invocation->arguments[i], "--help") ||
            !strcmp(invocation->arguments[i], "-h")) {
            printf("usage: fairmill [-c FILE] %s\n\n%s\n%s%s", command->synopsis, command->summary,
                   *command->options ? "\n" : "", command->options);
            return end_printing();
        }
    struct error err;
    int status = command->run(invocation, &err);
    if (status < 0)
        complain(&err);
    return first_failure() ? first_failure() : status;
}

int main(int count, char **arguments)
{
    struct invocation invocation = { 0 };
    int at = 1;
    memory_give_back();
    /* What we read and print is UTF-8 whatever the terminal is set to: no byte of it is taken for
     * a blank, and ideographs are two columns wide. */
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        setlocale(LC_CTYPE, "");
    /* A reader that went away and a file that may not grow are errors of a write, not our end. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    for (; at < count && arguments[at][0] == '-'; at++) {
        const char *option = arguments[at];
        if (!strcmp(option, "-h") || !strcmp(option, "--help")) {
            print_usage();
            return end_printing();
        }
        if (!strcmp(option, "-V") || !strcmp(option, "--version")) {
            print_version();
            return end_printing();
        }
        if (!strncmp(option, "--config=", 9)) {
            invocation.settings_path = option + 9;
        } else if (!strcmp(option, "-c") || !strcmp(option, "--config")) {
            if (++at == count)
                return usage_error("no file behind", option);
            invocation.settings_path = arguments[at];
        } else {
            return usage_error("unknown option", option);
        }
    }
    if (at == count)
        return usage_error("no command", NULL);
    invocation.count = count - at;
    invocation.arguments = arguments + at;
    return run_named(&invocation);
}

/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "command/command.h"
#include "command/ledger/ledger_entry.h"
#include "command/ledger/ledger_file.h"
#include "command/ledger/ledger_list.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/text.h"

enum {
    CREDIT = 1 << 0,
    DEBIT = 1 << 1,
    REFUND = 1 << 2,
    RESET = 1 << 3,
    SET = 1 << 4,
    UNDO = 1 << 5,
    LIST = 1 << 6,
    EXPORT = 1 << 7,
    IMPORT = 1 << 8,
    ADJUST = CREDIT | DEBIT | SET,
    ENTER = ADJUST | REFUND | RESET | UNDO,
};

static const struct {
    unsigned action;
    const char *name, *subject;
    bool optional;
} actions[] = {
    { CREDIT, "credit", "an amount", false },
    { DEBIT, "debit", "an amount", false },
    { REFUND, "refund", "the number of a job, or --node", true },
    { RESET, "reset", NULL, false },
    { SET, "set", "an amount", false },
    { UNDO, "undo", "the number of an entry", false },
    { LIST, "list", NULL, false },
    { EXPORT, "export", "a file", true },
    { IMPORT, "import", "a file", true },
};
enum { ACTIONS = sizeof actions / sizeof *actions };

/* As in `credit, debit and set`. */
static void add_actions(struct text *text, unsigned left)
{
    for (size_t i = 0; i < ACTIONS; i++) {
        if (!(left & actions[i].action))
            continue;
        left &= ~actions[i].action;
        bool is_last_but_one = left && !(left & (left - 1));
        text_format(text, "%s%s", actions[i].name, is_last_but_one ? " and " : left ? ", " : "");
    }
}

/* Refuse an option that the action does not take.  Export takes no filter: the file must be whole,
 * since its entries are numbered. */
static int check_actions(const struct ledger_entry_options *options, unsigned action,
                         struct error *err)
{
    const struct shared_options *shared = &options->shared;
    const struct table_options *table = &shared->table;
    const struct {
        bool given;
        const char *option;
        unsigned actions;
    } rules[] = {
        { shared->clusters.count > 0, "--cluster", ENTER | LIST },
        { shared->users.count > 0, "--user", ADJUST | RESET | LIST },
        { shared->accounts.count > 0, "--account", ADJUST | RESET | LIST },
        { options->partition, "--partition", ADJUST | RESET | LIST },
        { options->all, "--all", RESET },
        { options->refund.node, "--node", REFUND },
        { options->from, "--since", REFUND | LIST },
        { options->to, "--until", REFUND | LIST },
        { options->jobs.count > 0, "--jobs", LIST },
        { options->kinds.count > 0, "--kinds", LIST },
        { options->at, "--at", ENTER & ~UNDO },
        { options->why, "--why", ENTER },
        { shared->now, "--now", ENTER },
        { shared->yes, "--yes", ENTER },
        { shared->dry_run, "--dry-run", ENTER | IMPORT },
        { table->form != TABLE_FOR_PEOPLE, "--parsable, --csv or --json", LIST },
        { table->columns, "--columns", LIST },
        { table->no_header, "--noheader", LIST },
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (!rules[i].given || rules[i].actions & action)
            continue;
        struct text text = { 0 };
        add_actions(&text, rules[i].actions);
        fail(err, ERROR_USAGE, "ledger %s: takes no %s, which is for %s%s%s", options->action,
             rules[i].option, text.bytes, shared->former ? "; write --" : "",
             shared->former ? shared->former : "");
        text_free(&text);
        return -1;
    }
    return 0;
}

static int with_file(const struct invocation *invocation,
                     const struct ledger_entry_options *options, struct error *err)
{
    struct settings *settings;
    if (settings_load(&settings, invocation->settings_path, SETTINGS_FOR_READING, err))
        return -1;
    int result = action_is(options, "export")
                     ? ledger_export(settings, options->subject, err)
                     : ledger_import_file(settings, options->subject, options->shared.dry_run, err);
    settings_destroy(settings);
    return result;
}

static int list(const struct invocation *invocation, const struct ledger_entry_options *options,
                struct error *err)
{
    const struct shared_options *shared = &options->shared;
    struct ledger_filter filter = {
        .names = { .clusters = shared->clusters,
                   .accounts = shared->accounts,
                   .users = shared->users },
        .partition = options->partition,
        .jobs = options->jobs,
        .kinds = options->kinds,
    };
    struct settings *settings;
    if (command_settings(&settings, invocation, SETTINGS_FOR_READING, err))
        return -1;
    int result = take_span(options, &filter.from, &filter.to, err);
    if (!result)
        result = ledger_print(settings, &filter, &shared->table, err);
    settings_destroy(settings);
    return result;
}

/* What to do, and with which amount, job or entry. */
static int take_operands(struct ledger_entry_options *options, struct error *err)
{
    const char *names[ACTIONS + 1] = { NULL };
    const char *const *operands = options->shared.operands;
    size_t chosen = 0;
    if (!operands[0])
        return fail(err, ERROR_USAGE,
                    "ledger: credit, debit, refund, reset, set, undo, list, export or import? See "
                    "`fairmill help ledger`");
    for (size_t i = 0; i < ACTIONS; i++)
        names[i] = actions[i].name;
    while (names[chosen] && strcmp(names[chosen], operands[0]) != 0)
        chosen++;
    if (!names[chosen]) {
        const char *nearest = nearest_word(operands[0], names);
        return fail(err, ERROR_USAGE, "ledger: unknown '%s'%s%s%s; see `fairmill help ledger`",
                    operands[0], nearest ? ", did you mean '" : "", nearest ? nearest : "",
                    nearest ? "'?" : "");
    }
    options->action = names[chosen];
    options->subject = operands[1];
    if (actions[chosen].subject && !actions[chosen].optional && !options->subject)
        return fail(err, ERROR_USAGE, "ledger %s: %s must follow", options->action,
                    actions[chosen].subject);
    if (action_is(options, "refund") && !options->subject == !options->refund.node)
        return fail(err, ERROR_USAGE, "ledger refund: the number of a job must follow, or --node");
    options->refund.jobs = options->subject;
    if (!actions[chosen].subject && options->subject)
        return fail(err, ERROR_USAGE,
                    "ledger %s: unexpected argument '%s'; see `fairmill help ledger`",
                    options->action, options->subject);
    return check_actions(options, actions[chosen].action, err);
}

/* An entry is of one user and one account. */
static int ledger_command_take_names(struct ledger_entry_options *options, struct error *err)
{
    return option_list_one(&options->shared.users, "user", &options->user, err) ||
                   option_list_one(&options->shared.accounts, "account", &options->account, err)
               ? -1
               : 0;
}

static const struct command_option own_options[] = {
    { "user", "users", 'u', OPTION_LIST, AT(ledger_entry_options, shared.users), "NAME",
      .help = "whose" },
    { "account", "accounts", 'A', OPTION_LIST, AT(ledger_entry_options, shared.accounts), "NAME",
      .help =
          "in which account; with reset and no --user, all below it; credit, debit and set find "
          "the only one that a user is in" },
    { "partition", "partitions", 0, OPTION_ONE, AT(ledger_entry_options, partition), "NAME",
      .help = "the user's association with this partition; with list: entries of it",
      .former = 'p' },
    { "all", NULL, 0, OPTION_FLAG, AT(ledger_entry_options, all), NULL,
      .help = "reset everything" },
    { "node", NULL, 0, OPTION_ONE, AT(ledger_entry_options, refund.node), "NAME",
      .help =
          "with refund: all jobs of which a part ran on this node between --since and --until, and "
          "that have ended" },
    { "since", "from", 0, OPTION_VALUE, AT(ledger_entry_options, from), "TIME",
      .help = "with refund and --node; with list: entries dated then or later" },
    { "until", "to", 0, OPTION_VALUE, AT(ledger_entry_options, to), "TIME",
      .help = "likewise, up to this instant; else now" },
    { "jobs", "job", 'j', OPTION_LIST, AT(ledger_entry_options, jobs), "IDS",
      .help = "with list: refunds of these jobs" },
    { "kinds", "kind", 0, OPTION_LIST, AT(ledger_entry_options, kinds), "KINDS",
      .help = "with list: entries of these kinds, such as refund,undo" },
    { "at", NULL, 0, OPTION_VALUE, AT(ledger_entry_options, at), "TIME",
      .help = "the instant, such as 2026-11-01T10:00 or now-3days; else now" },
    { "why", NULL, 'w', OPTION_VALUE, AT(ledger_entry_options, why), "TEXT",
      .help = "the reason, which every entry needs" },
    { .name = NULL },
};

static int ledger_command(const struct invocation *invocation, void *of, struct error *err)
{
    struct ledger_entry_options *options = of;
    struct settings *settings = NULL;
    int result = -1;
    if (take_operands(options, err))
        return -1;
    if (action_is(options, "list"))
        return list(invocation, options, err);
    if (action_is(options, "export") || action_is(options, "import"))
        return with_file(invocation, options, err);
    if (!ledger_command_take_names(options, err) &&
        !settings_load(&settings, invocation->settings_path, SETTINGS_FOR_ALL, err))
        result = entry_make(settings, options, err);
    settings_destroy(settings);
    return result;
}

const struct command command_ledger = {
    .name = "ledger",
    .operands = "ACTION",
    .operand_count = 2,
    .summary = "correct usage: credits, debits, refunds, resets; all can be undone",
    .notes = "  credit AMOUNT    take usage off a user's association: TRES-seconds, or\n"
             "                   TRES-hours as in 12.5h\n"
             "  debit AMOUNT     put usage on it\n"
             "  refund JOB,...   take off what jobs charged, as if they had not run; or of\n"
             "                   all that ran on a node then (--node, --since)\n"
             "  reset            usage before the instant does not count: of a user, an\n"
             "                   account with all below it now, or (--all) the whole cluster\n"
             "  set AMOUNT       a user's association has used so much at the instant,\n"
             "                   whatever it was charged before\n"
             "  undo ENTRY       an entry does not count, and never did\n"
             "  list             the entries\n"
             "  export [FILE]    write all entries to a file, a line of JSON each\n"
             "  import [FILE]    add those of such a file that are not there\n"
             "\n"
             "With reset and no --user, --account is all below it; credit, debit and set find\n"
             "the only account that a user is in.  Where an entry is said to be lost,\n"
             "import it from an export, or undo it: then its loss is accepted.\n"
             "\n"
             "Entries change fairmill's values.  The scheduler, Slurm or OpenPBS, does not\n"
             "read them: its own usage and the order of its queue stay as they are.\n",
    .shared = TAKES_CLUSTERS | TAKES_NOW | TAKES_DRY_RUN | TAKES_YES | TAKES_TABLE,
    .options = own_options,
    .options_size = sizeof(struct ledger_entry_options),
    .run = ledger_command,
};

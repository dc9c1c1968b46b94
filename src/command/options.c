/* SPDX-License-Identifier: MIT */
#include "command/options.h"

#include <stdlib.h>
#include <string.h>

#include "command/foreign_options.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/times.h"

#define SHARED(member) offsetof(struct shared_options, member)

/*
 * The shared options, in the order of the help.  Short options follow sshare, or sprio if the
 * command has TAKES_SPRIO_HEADER.
 */
static const struct shared_option {
    unsigned taken_by; /* the TAKES_... that selects it */
    struct command_option option;
} shared_options[] = {
    { TAKES_ACCOUNTS,
      { "accounts", "account", 'A', OPTION_LIST, SHARED(accounts), "NAMES",
        .help = "Select only these accounts and those below them" } },
    { TAKES_USERS,
      { "users", "user", 'u', OPTION_LIST, SHARED(users), "NAMES",
        .help = "Select only these users (comma-separated)" } },
    { TAKES_NAME,
      { "accounts", "account", 'A', OPTION_LIST, SHARED(accounts), "NAMES",
        .help = "Use these accounts, or --users in them, as NAMEs" } },
    { TAKES_NAME,
      { "users", "user", 'u', OPTION_LIST, SHARED(users), "NAMES",
        .help = "Use these users as NAMEs (comma-separated)" } },
    { TAKES_CLUSTERS,
      { "clusters", "cluster", 'M', OPTION_LIST, SHARED(clusters), "NAMES",
        .help = "Select only these clusters (comma-separated)" } },
    { TAKES_NOW,
      { "now", NULL, 0, OPTION_TIME, SHARED(now), "TIME",
        .help = "Compute as of TIME, such as 2026-11-01T10:00", .source = true } },
    { TAKES_DRY_RUN,
      { "dry-run", NULL, 0, OPTION_FLAG, SHARED(dry_run), NULL,
        .help = "Print the expected result and write nothing", .former = 'n' } },
    { TAKES_YES,
      { "yes", NULL, 'y', OPTION_FLAG, SHARED(yes), NULL, .help = "Do not ask for confirmation" } },
    { TAKES_VERBOSE,
      { "verbose", NULL, 'v', OPTION_FLAG, SHARED(verbose), NULL,
        .help = "Print more messages on standard error" } },
    { TAKES_PARSABLE,
      { "parsable", "parsable2", 'P', OPTION_FLAG, SHARED(parsable), NULL,
        .help = "Separate fields with '|'; print all digits", .form = true } },
    { TAKES_COLUMNS,
      { "parsable-with-bar", NULL, 'p', OPTION_FLAG, SHARED(parsable_bar), NULL,
        .help = "As --parsable, with a '|' at the end of each line", .form = true } },
    { TAKES_SPRIO_COLUMNS,
      { "parsable-with-bar", NULL, 0, OPTION_FLAG, SHARED(parsable_bar), NULL,
        .help = "As --parsable, with a '|' at the end of each line", .form = true } },
    { TAKES_CSV,
      { "csv", NULL, 0, OPTION_FLAG, SHARED(csv), NULL,
        .help = "Print comma-separated values with all digits", .form = true } },
    { TAKES_CSV,
      { "iso", NULL, 0, OPTION_FLAG, SHARED(table.iso), NULL,
        .help = "Print dates in --csv and --parsable, not epoch seconds" } },
    { TAKES_JSON,
      { "json", NULL, 0, OPTION_FLAG, SHARED(json), NULL, .help = "Print one JSON object",
        .form = true } },
    { TAKES_COLUMNS,
      { "columns", "format", 'o', OPTION_VALUE, SHARED(table.columns), "COLUMNS",
        .help = "Print only these columns, such as account,user%10" } },
    { TAKES_SPRIO_COLUMNS,
      { "columns", NULL, 0, OPTION_VALUE, SHARED(table.columns), "COLUMNS",
        .help = "Print only these columns, such as jobid,user%10" } },
    { TAKES_COLUMNS,
      { "noheader", NULL, 'n', OPTION_FLAG, SHARED(table.no_header), NULL,
        .help = "Omit the headings" } },
    { TAKES_SPRIO_HEADER,
      { "noheader", NULL, 'h', OPTION_FLAG, SHARED(table.no_header), NULL,
        .help = "Omit the headings" } },
};

#define TAKES_OUTPUT (TAKES_TABLE | TAKES_SPRIO_TABLE)

/* The options that all commands accept. */
static const struct command_option common_options[] = {
    { "config", NULL, 'c', OPTION_VALUE, SHARED(settings_path), "FILE",
      .help = "Read the settings from FILE", .path = true },
    { "help", NULL, 'h', OPTION_FLAG, SHARED(help), NULL, .help = "Show this help" },
    { "version", NULL, 'V', OPTION_FLAG, SHARED(version), NULL, .help = "Print the version" },
    { .name = NULL },
};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

const struct command_option *command_option_at(const struct command *command, size_t index)
{
    for (const struct command_option *own = command->options; own && own->name; own++)
        if (!index--)
            return own;
    for (size_t i = 0; i < COUNT_OF(shared_options); i++)
        if ((shared_options[i].taken_by & command->shared) && !index--)
            return &shared_options[i].option;
    return index < COUNT_OF(common_options) - 1 ? &common_options[index] : NULL;
}

enum option_section option_section(const struct command_option *option)
{
    for (const struct command_option *common = common_options; common->name; common++)
        if (common == option)
            return SECTION_COMMON;
    for (size_t i = 0; i < COUNT_OF(shared_options); i++)
        if (&shared_options[i].option == option && shared_options[i].taken_by & TAKES_OUTPUT)
            return SECTION_OUTPUT;
    return SECTION_OPTIONS;
}

/* The state of options_read(). */
struct option_line {
    const struct invocation *invocation;
    const struct command *command;
    char *options;                     /* the struct that receives the values */
    const struct command_option *form; /* the output format so far, or NULL */
    int operands;                      /* number of operands so far */
    int next;                          /* index of the next argument */
};

static int option_add_names(struct option_line *line, const struct command_option *option,
                            const char *names, struct name_list *list, struct error *err)
{
    for (const char *at = names;; at++) {
        size_t length = strcspn(at, ",");
        if (!length)
            return fail(err, ERROR_USAGE, "%s: --%s '%s': must be a comma-separated list of names",
                        line->command->name, option->name, names);
        name_list_add(list, at, length);
        at += length;
        if (!*at)
            return 0;
    }
}

static int set_one(struct option_line *line, const struct command_option *option, const char *name,
                   const char **value, struct error *err)
{
    if (!*name || strchr(name, ','))
        return fail(err, ERROR_USAGE, "%s: --%s '%s': must be one name", line->command->name,
                    option->name, name);
    if (*value && strcmp(*value, name) != 0)
        return fail(err, ERROR_USAGE, "%s: --%s accepts one name, not '%s' and '%s'",
                    line->command->name, option->name, *value, name);
    *value = name;
    return 0;
}

static int set_form(struct option_line *line, const struct command_option *option,
                    struct error *err)
{
    if (line->form && line->form != option)
        return fail(err, ERROR_USAGE, "%s: --%s and --%s are mutually exclusive",
                    line->command->name, line->form->name, option->name);
    line->form = option;
    return 0;
}

/* Fails because the option is invalid over the socket.  Names the command's own options that are
 * valid, unless all commands accept the option. */
static int option_deny(const struct command *command, const struct command_option *option,
                       struct error *err)
{
    struct text valid = { 0 };
    text_add(&valid, "");
    for (const struct command_option *own = command->options; own && own->name; own++)
        if (!own->path && !own->source && option_section(option) != SECTION_COMMON)
            text_format(&valid, "%s--%s", valid.length ? ", " : "; you can use ", own->name);
    fail(err, ERROR_USAGE, "%s: --%s is not available over the socket, which %s%s", command->name,
         option->name, option->path ? "reads no files" : "does not read the accounting database",
         valid.bytes);
    text_free(&valid);
    return -1;
}

/* Stores a value; `value` is NULL for an OPTION_FLAG. */
static int option_set(struct option_line *line, const struct command_option *option,
                      const char *value, struct error *err)
{
    void *place = line->options + option->at;
    if (option->form && set_form(line, option, err))
        return -1;
    if ((option->path || option->source) && line->invocation->client)
        return option_deny(line->command, option, err);
    switch (option->takes) {
    case OPTION_FLAG:
        *(bool *)place = true;
        return 0;
    case OPTION_VALUE:
    case OPTION_TIME: /* `text` is the first member of struct option_time */
        *(const char **)place = value;
        return 0;
    case OPTION_ONE:
        return set_one(line, option, value, place, err);
    case OPTION_LIST:
        return option_add_names(line, option, value, place, err);
    case OPTION_AGAIN:
        name_list_add(place, value, strlen(value));
        return 0;
    }
    return 0;
}

static bool option_begins(const char *name, const char *given, size_t length)
{
    return name && !strncmp(name, given, length);
}

/*
 * Returns the option with this long name, or the only option whose name begins with it.  Otherwise
 * returns NULL and appends the names of the candidates to `candidates`, if there are any.  `length`
 * is that of the name without `=VALUE`.
 */
static const struct command_option *option_named(const struct command *command, const char *given,
                                                 size_t length, struct text *candidates)
{
    const struct command_option *option, *found = NULL;
    size_t count = 0;
    for (size_t i = 0; (option = command_option_at(command, i)); i++) {
        const char *const names[] = { option->name, option->also };
        const char *begun = NULL;
        for (size_t name = 0; name < 2; name++) {
            if (!option_begins(names[name], given, length))
                continue;
            bool has_value = strchr(names[name], '=') != NULL;
            if (has_value && strcmp(names[name], given) != 0)
                continue;
            if (has_value || !names[name][length])
                return option;
            begun = begun ? begun : names[name];
        }
        if (!begun)
            continue;
        text_format(candidates, "%s--%s", count++ ? ", " : "", begun);
        found = option;
    }
    return count == 1 ? found : NULL;
}

static const struct command_option *option_lettered(const struct command *command, char letter)
{
    const struct command_option *option;
    for (size_t i = 0; (option = command_option_at(command, i)); i++)
        if (option->letter == letter)
            return option;
    return NULL;
}

/* Takes the next argument as the value of an option. */
static int next_value(struct option_line *line, const char *option, const char **value,
                      struct error *err)
{
    if (line->next == line->invocation->count)
        return fail(err, ERROR_USAGE, "%s: option '%s' requires a value", line->command->name,
                    option);
    *value = line->invocation->arguments[line->next++];
    return 0;
}

/*
 * Fails for an unknown option.  `name` is its long name; if `name` is NULL, `letter` is its short
 * name.  Adds the option's meaning in Slurm's or OpenPBS's command, and the option that replaces
 * it.
 */
static int option_refuse(const struct option_line *line, const char *given, const char *name,
                         char letter, struct error *err)
{
    const char *command = line->command->name;
    const struct command_option *option;
    struct text hint = { 0 };
    text_add(&hint, "");
    for (size_t i = 0; letter && (option = command_option_at(line->command, i)); i++)
        if (option->former == letter)
            text_format(&hint, "; write --%s", option->name);
    const struct foreign_option *foreign = foreign_option_find(
        command, (line->command->shared & TAKES_SPRIO_HEADER) != 0, name, letter);
    if (foreign) {
        if (foreign->instead)
            text_format(&hint, "; use %s", foreign->instead);
        bool has_name = letter && foreign->name;
        fail(err, ERROR_USAGE, "%s: unknown option '%s' (in %s%s%s: %s)%s", command, given,
             foreign->tool, has_name ? " --" : "", has_name ? foreign->name : "", foreign->meaning,
             hint.bytes);
    } else {
        fail(err, ERROR_USAGE, "%s: unknown option '%s'%s; see `fairmill help %s`", command, given,
             hint.bytes, command);
    }
    text_free(&hint);
    return -1;
}

/* Fails for a value after a flag.  Names the values of which the command makes flags of their own.
 */
static int option_refuse_value(const struct option_line *line, const struct command_option *option,
                               const char *value, struct error *err)
{
    const struct command_option *other;
    size_t length = strlen(option->name);
    for (size_t i = 0; (other = command_option_at(line->command, i)); i++)
        if (option_begins(other->name, option->name, length) && other->name[length] == '=')
            return fail(err, ERROR_USAGE, "%s: --%s accepts only the value '%s', not '%s'",
                        line->command->name, option->name, other->name + length + 1, value);
    return fail(err, ERROR_USAGE, "%s: option '--%s' does not take a value", line->command->name,
                option->name);
}

static int read_long(struct option_line *line, const char *argument, struct error *err)
{
    const char *name = argument + 2, *value = NULL;
    size_t length = strcspn(name, "=");
    struct text candidates = { 0 };
    const struct command_option *option = option_named(line->command, name, length, &candidates);
    if (!option && candidates.length)
        fail(err, ERROR_USAGE, "%s: option '%s' is ambiguous: %s", line->command->name, argument,
             candidates.bytes);
    else if (!option)
        option_refuse(line, argument, name, 0, err);
    text_free(&candidates);
    if (!option)
        return -1;
    if (option->takes == OPTION_FLAG && name[length] && !strchr(option->name, '='))
        return option_refuse_value(line, option, name + length + 1, err);
    if (name[length])
        value = name + length + 1;
    else if (option->takes != OPTION_FLAG && next_value(line, argument, &value, err))
        return -1;
    return option_set(line, option, value, err);
}

/* If the letter meant a different option in 0.1.0, records that option.  An error about an
 * unexpected operand then names it. */
static void note_former(struct option_line *line, char letter)
{
    const struct command_option *option;
    for (size_t i = 0; (option = command_option_at(line->command, i)); i++)
        if (option->former == letter)
            ((struct shared_options *)line->options)->former = option->name;
}

/* Reads one argument with short options, such as `-nP` or `-uNAME`. */
static int read_letters(struct option_line *line, const char *argument, struct error *err)
{
    for (const char *at = argument + 1; *at; at++) {
        const struct command_option *option = option_lettered(line->command, *at);
        const char shown[] = { '-', *at, '\0' };
        const char *value = NULL;
        if (!option)
            return option_refuse(line, shown, NULL, *at, err);
        note_former(line, *at);
        if (option->takes == OPTION_FLAG) {
            if (option_set(line, option, NULL, err))
                return -1;
            continue;
        }
        if (at[1])
            value = at + 1;
        else if (next_value(line, shown, &value, err))
            return -1;
        return option_set(line, option, value, err);
    }
    return 0;
}

static int read_operand(struct option_line *line, const char *argument, struct error *err)
{
    struct shared_options *shared = (struct shared_options *)line->options;
    const char *former = shared->former;
    if (line->command->operand_count == OPERANDS_ANY) {
        name_list_add(&shared->names, argument, strlen(argument));
        return 0;
    }
    if (line->operands == line->command->operand_count)
        return fail(err, ERROR_USAGE, "%s: unexpected argument '%s'%s%s; see `fairmill help %s`",
                    line->command->name, argument, former ? "; write --" : "", former ? former : "",
                    line->command->name);
    shared->operands[line->operands++] = argument;
    return 0;
}

static int option_read_line(struct option_line *line, struct error *err)
{
    bool only_operands = false;
    int result = 0;
    while (!result && line->next < line->invocation->count) {
        const char *argument = line->invocation->arguments[line->next++];
        if (only_operands || argument[0] != '-' || !argument[1])
            result = read_operand(line, argument, err);
        else if (!strcmp(argument, "--"))
            only_operands = true;
        else if (argument[1] == '-')
            result = read_long(line, argument, err);
        else
            result = read_letters(line, argument, err);
    }
    return result;
}

/* Adds the NAME of a user, an account or account/user, unless the list already contains it. */
static void options_add_name(struct name_list *names, const char *account, const char *user)
{
    struct text name = { 0 };
    text_format(&name, "%s%s%s", account, *account ? "/" : "", user);
    if (!names->count || !name_list_wants(names, name.bytes))
        name_list_add(names, name.bytes, name.length);
    text_free(&name);
}

/* Converts --users and --accounts to NAMEs: each user in each account.  Empties both lists, so that
 * they select nothing else. */
static int options_take_names(struct option_line *line, struct shared_options *shared,
                              struct error *err)
{
    const struct name_list *users = &shared->users, *accounts = &shared->accounts;
    const char *operand = shared->names.count ? shared->names.values[0] : shared->operands[0];
    if (!users->count && !accounts->count)
        return 0;
    if (operand)
        return fail(err, ERROR_USAGE, "%s: NAME '%s' cannot be combined with --users or --accounts",
                    line->command->name, operand);
    for (size_t i = 0; i < accounts->count || !i; i++)
        for (size_t j = 0; j < users->count || !j; j++)
            options_add_name(&shared->names, accounts->count ? accounts->values[i] : "",
                             users->count ? users->values[j] : "");
    name_list_free(&shared->users);
    name_list_free(&shared->accounts);
    return 0;
}

int options_read(const struct invocation *invocation, void *options, struct error *err)
{
    struct option_line line = { .invocation = invocation,
                                .command = invocation->command,
                                .options = options };
    struct shared_options *shared = options;
    int result = option_read_line(&line, err);
    shared->table.ends_with_bar = shared->parsable_bar;
    shared->table.form = shared->parsable || shared->parsable_bar ? TABLE_BARS
                         : shared->csv                            ? TABLE_CSV
                         : shared->json                           ? TABLE_JSON
                                                                  : TABLE_FOR_PEOPLE;
    if (!result && shared->table.iso && line.form && !strncmp(line.form->name, "json", 4))
        return fail(err, ERROR_USAGE, "%s: --iso and --%s are mutually exclusive",
                    line.command->name, line.form->name);
    if (!result && line.command->shared & TAKES_NAME)
        result = options_take_names(&line, shared, err);
    return result;
}

void options_free(struct shared_options *shared)
{
    name_list_free(&shared->clusters);
    name_list_free(&shared->accounts);
    name_list_free(&shared->users);
    name_list_free(&shared->names);
}

void options_free_own(const struct command *command, void *options)
{
    for (const struct command_option *own = command->options; own && own->name; own++)
        if (own->takes == OPTION_LIST || own->takes == OPTION_AGAIN)
            name_list_free((struct name_list *)((char *)options + own->at));
}

int options_read_times(const struct command *command, void *options, struct error *err)
{
    const struct command_option *option;
    for (size_t i = 0; (option = command_option_at(command, i)); i++) {
        struct option_time *time = (struct option_time *)((char *)options + option->at);
        if (option->takes == OPTION_TIME && time->text &&
            !time_read(time->text, clock_now(), &time->at))
            return fail(err, ERROR_USAGE,
                        "--%s '%s': must be a time from 1970 to 9999, such as 2026-11-01T10:00, "
                        "2026-11, 2026, yesterday, this-week, last-month, 11/01/26, now-3days or "
                        "epoch seconds",
                        option->name, time->text);
    }
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "command/options.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/error.h"
#include "util/number.h"
#include "util/times.h"

#define SHARED(member) offsetof(struct shared_options, member)

/* The shared options, in the order of the help.  Letters are sshare's, in the commands with
 * TAKES_SPRIO_HEADER sprio's. */
static const struct shared_option {
    unsigned taken_by; /* the TAKES_... that it belongs to */
    struct command_option option;
} shared_options[] = {
    { TAKES_ACCOUNTS,
      { "accounts", "account", 'A', OPTION_LIST, SHARED(accounts), "NAMES",
        .help = "only these accounts, and what is below them" } },
    { TAKES_USERS,
      { "users", "user", 'u', OPTION_LIST, SHARED(users), "NAMES", .help = "only these users" } },
    { TAKES_CLUSTERS,
      { "clusters", "cluster", 'M', OPTION_LIST, SHARED(clusters), "NAMES",
        .help = "only these clusters" } },
    { TAKES_NOW,
      { "now", NULL, 0, OPTION_VALUE, SHARED(now), "TIME",
        .help = "as of this instant, such as 2026-11-01T10:00 or now-3days" } },
    { TAKES_DRY_RUN,
      { "dry-run", NULL, 0, OPTION_FLAG, SHARED(dry_run), NULL,
        .help = "write nothing; print what would be", .former = 'n' } },
    { TAKES_YES, { "yes", NULL, 'y', OPTION_FLAG, SHARED(yes), NULL, .help = "do not ask" } },
    { TAKES_VERBOSE,
      { "verbose", NULL, 'v', OPTION_FLAG, SHARED(verbose), NULL, .help = "say what is done" } },
    { TAKES_PARSABLE,
      { "parsable", "parsable2", 'P', OPTION_FLAG, SHARED(parsable), NULL,
        .help = "`|` between fields, every digit", .form = true } },
    { TAKES_COLUMNS,
      { "parsable-with-bar", NULL, 'p', OPTION_FLAG, SHARED(parsable_bar), NULL,
        .help = "the same with `|` at the end too", .form = true } },
    { TAKES_SPRIO_COLUMNS,
      { "parsable-with-bar", NULL, 0, OPTION_FLAG, SHARED(parsable_bar), NULL,
        .help = "the same with `|` at the end too", .form = true } },
    { TAKES_CSV,
      { "csv", NULL, 0, OPTION_FLAG, SHARED(csv), NULL,
        .help = "comma-separated values, every digit", .form = true } },
    { TAKES_JSON,
      { "json", NULL, 0, OPTION_FLAG, SHARED(json), NULL, .help = "one JSON object",
        .form = true } },
    { TAKES_COLUMNS,
      { "columns", "format", 'o', OPTION_VALUE, SHARED(table.columns), "COLUMNS",
        .help = "these columns, such as account,user%10" } },
    { TAKES_SPRIO_COLUMNS,
      { "columns", NULL, 0, OPTION_VALUE, SHARED(table.columns), "COLUMNS",
        .help = "these columns, such as jobid,user%10" } },
    { TAKES_COLUMNS,
      { "noheader", NULL, 'n', OPTION_FLAG, SHARED(table.no_header), NULL,
        .help = "no line of headings" } },
    { TAKES_SPRIO_HEADER,
      { "noheader", NULL, 'h', OPTION_FLAG, SHARED(table.no_header), NULL,
        .help = "no line of headings" } },
};

/* Those that all commands take. */
static const struct command_option common_options[] = {
    { "config", NULL, 'c', OPTION_VALUE, SHARED(settings_path), "FILE", .help = "the settings",
      .path = true },
    { "help", NULL, 'h', OPTION_FLAG, SHARED(help), NULL, .help = "print this" },
    { "version", NULL, 'V', OPTION_FLAG, SHARED(version), NULL, .help = "print the version" },
    { .name = NULL },
};

/* What means something to Slurm's and PBS's commands that ours does not know.  `name` or `letter`
 * as it is theirs; `commands` are ours that follow that tool. */
static const struct {
    const char *tool, *commands;
    const char *name;
    char letter;
    const char *meaning, *instead;
} foreign[] = {
    { "sprio", "prio", "federation", 0, "jobs of a federation", "--clusters" },
    { "sprio", "prio", "local", 0, "no jobs of a federation", "--clusters" },
    { "sprio", "prio", "sibling", 0, "the siblings of jobs in a federation", "--clusters" },
    { "sshare", NULL, "all", 'a', "associations of all users", NULL },
    { "sshare", NULL, "accounts", 'A', "only these accounts", NULL },
    { "sshare", NULL, "long", 'l', "more columns", NULL },
    { "sshare", NULL, "partition", 'm', "partitions of associations", NULL },
    { "sshare", NULL, "clusters", 'M', "only these clusters", NULL },
    { "sshare", NULL, "noheader", 'n', "no line of headings", NULL },
    { "sshare", NULL, "format", 'o', "the columns", NULL },
    { "sshare", NULL, "parsable", 'p', "a bar behind every field", NULL },
    { "sshare", NULL, "parsable2", 'P', "a bar between fields", NULL },
    { "sshare", NULL, "users", 'u', "only these users", NULL },
    { "sshare", NULL, "Users", 'U', "no accounts, only users", NULL },
    { "sshare", NULL, "verbose", 'v', "more about what is done", NULL },
    { "sshare", "show", "helpformat", 0, "the names of the columns", "`fairmill show --csv`" },
    { "pbsfs", "show", NULL, 'd', "decay of all usage", "`fairmill run`" },
    { "pbsfs", "show", NULL, 'e', "removal of unknown entities", "`fairmill forget`" },
    { "pbsfs", "show", NULL, 'g', "one entity", "--pbs --entity NAME" },
    { "pbsfs", "show", NULL, 's', "an entity's new usage", "`fairmill ledger`" },
    { "pbsfs", "show", NULL, 't', "the tree", "--pbs" },
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

bool option_is_common(const struct command_option *option)
{
    for (const struct command_option *common = common_options; common->name; common++)
        if (common == option)
            return true;
    return false;
}

/* A command line that is being read. */
struct option_line {
    const struct invocation *invocation;
    const struct command *command;
    char *options;                     /* the struct that is filled in */
    const struct command_option *form; /* the one that was given */
    int operands;
    int next; /* of the arguments */
};

static int option_add_names(struct option_line *line, const struct command_option *option,
                            const char *names, struct name_list *list, struct error *err)
{
    for (const char *at = names;; at++) {
        size_t length = strcspn(at, ",");
        if (!length)
            return fail(err, ERROR_USAGE, "%s: --%s '%s': must be names with commas between them",
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
    if (!*name || strchr(name, ',') || (*value && strcmp(*value, name) != 0))
        return fail(err, ERROR_USAGE, "%s: --%s '%s': must be one name, and given once",
                    line->command->name, option->name, name);
    *value = name;
    return 0;
}

static int set_form(struct option_line *line, const struct command_option *option,
                    struct error *err)
{
    if (line->form && line->form != option)
        return fail(err, ERROR_USAGE, "%s: --%s and --%s exclude each other", line->command->name,
                    line->form->name, option->name);
    line->form = option;
    return 0;
}

/* `value` is NULL for a flag only. */
static int option_set(struct option_line *line, const struct command_option *option,
                      const char *value, struct error *err)
{
    void *place = line->options + option->at;
    if (option->form && set_form(line, option, err))
        return -1;
    if (option->path && line->invocation->client)
        return fail(err, ERROR_USAGE, "%s: --%s: no file is read for who asks over a socket",
                    line->command->name, option->name);
    switch (option->takes) {
    case OPTION_FLAG:
        *(bool *)place = true;
        return 0;
    case OPTION_VALUE:
    case OPTION_TIME: /* whose text comes first */
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

/* The option that is spelled so, or the only one that begins so; `count` gets how many do. */
static const struct command_option *option_named(const struct command *command, const char *given,
                                                 size_t length, size_t *count)
{
    const struct command_option *option, *found = NULL;
    *count = 0;
    for (size_t i = 0; (option = command_option_at(command, i)); i++) {
        const char *const names[] = { option->name, option->also };
        bool prefix = false;
        for (size_t name = 0; name < 2; name++) {
            if (!option_begins(names[name], given, length))
                continue;
            if (!names[name][length]) {
                *count = 1;
                return option;
            }
            prefix = true;
        }
        *count += prefix;
        found = prefix ? option : found;
    }
    return *count == 1 ? found : NULL;
}

static const struct command_option *option_lettered(const struct command *command, char letter)
{
    const struct command_option *option;
    for (size_t i = 0; (option = command_option_at(command, i)); i++)
        if (option->letter == letter)
            return option;
    return NULL;
}

/* What follows an option's name or letter, or the next argument. */
static int next_value(struct option_line *line, const char *option, const char **value,
                      struct error *err)
{
    if (line->next == line->invocation->count)
        return fail(err, ERROR_USAGE, "%s: option '%s' needs a value", line->command->name, option);
    *value = line->invocation->arguments[line->next++];
    return 0;
}

/* Say what the option is to Slurm or PBS, or what it was. */
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
    for (size_t i = 0; i < COUNT_OF(foreign); i++) {
        if (letter ? foreign[i].letter != letter
                   : !foreign[i].name || strcmp(foreign[i].name, name) != 0)
            continue;
        if (foreign[i].commands ? strcmp(foreign[i].commands, command) != 0
                                : (line->command->shared & TAKES_SPRIO_HEADER) != 0)
            continue;
        if (foreign[i].instead)
            text_format(&hint, "; use %s", foreign[i].instead);
        int result = fail(err, ERROR_USAGE,
                          "%s: unknown option '%s', which is%s%s of %s (%s) and means nothing "
                          "here%s",
                          command, given, letter && foreign[i].name ? " --" : "",
                          letter && foreign[i].name ? foreign[i].name : "", foreign[i].tool,
                          foreign[i].meaning, hint.bytes);
        text_free(&hint);
        return result;
    }
    int result = fail(err, ERROR_USAGE, "%s: unknown option '%s'%s; see `fairmill help %s`",
                      command, given, hint.bytes, command);
    text_free(&hint);
    return result;
}

static int read_long(struct option_line *line, const char *argument, struct error *err)
{
    const char *name = argument + 2, *value = NULL;
    size_t length = strcspn(name, "="), count;
    const struct command_option *option = option_named(line->command, name, length, &count);
    if (!option && count)
        return fail(err, ERROR_USAGE, "%s: '%s' may be %zu options; see `fairmill help %s`",
                    line->command->name, argument, count, line->command->name);
    if (!option)
        return option_refuse(line, argument, name, 0, err);
    if (option->takes == OPTION_FLAG && name[length])
        return fail(err, ERROR_USAGE, "%s: option '--%s' takes no value", line->command->name,
                    option->name);
    if (name[length])
        value = name + length + 1;
    else if (option->takes != OPTION_FLAG && next_value(line, argument, &value, err))
        return -1;
    return option_set(line, option, value, err);
}

/* Remember the option that had this letter in 0.1.0, in case the rest makes no sense. */
static void note_former(struct option_line *line, char letter)
{
    const struct command_option *option;
    for (size_t i = 0; (option = command_option_at(line->command, i)); i++)
        if (option->former == letter)
            ((struct shared_options *)line->options)->former = option->name;
}

/* `-nP`, `-uNAME`. */
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

/* Add the NAME of a user, of an account, or of a user in an account, unless it was given. */
static void options_add_name(struct name_list *names, const char *account, const char *user)
{
    struct text name = { 0 };
    text_format(&name, "%s%s%s", account, *account ? "/" : "", user);
    if (!names->count || !name_list_wants(names, name.bytes))
        name_list_add(names, name.bytes, name.length);
    text_free(&name);
}

/* Make NAMEs of --users and --accounts, which choose nothing else then: each user in each of the
 * accounts. */
static int options_take_names(struct option_line *line, struct shared_options *shared,
                              struct error *err)
{
    const struct name_list *users = &shared->users, *accounts = &shared->accounts;
    const char *operand = shared->names.count ? shared->names.values[0] : shared->operands[0];
    if (!users->count && !accounts->count)
        return 0;
    if (operand)
        return fail(err, ERROR_USAGE, "%s: '%s' and --users or --accounts exclude each other",
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
    for (const struct command_option *own = command->options; own && own->name; own++) {
        struct option_time *time = (struct option_time *)((char *)options + own->at);
        if (own->takes == OPTION_TIME && time->text &&
            option_bound(own->name, time->text, &time->at, err))
            return -1;
    }
    return 0;
}

int option_list_one(const struct name_list *list, const char *what, const char **one,
                    struct error *err)
{
    *one = list->count ? list->values[0] : NULL;
    for (size_t i = 1; i < list->count; i++)
        if (strcmp(list->values[i], *one) != 0)
            return fail(err, ERROR_USAGE, "only one --%s can be meant here, not '%s' and '%s'",
                        what, *one, list->values[i]);
    return 0;
}

static int option_read_time(const char *option, const char *text,
                            bool (*read)(const char *text, int64_t now, int64_t *instant),
                            int64_t *instant, struct error *err)
{
    int64_t now = time(NULL);
    *instant = now;
    if (text && !read(text, now, instant))
        return fail(err, ERROR_USAGE,
                    "--%s '%s': must be a time, such as 2026-11-01T10:00, 11/01/26, now-3days or "
                    "epoch seconds, up to year 9999",
                    option, text);
    return 0;
}

int option_time(const char *option, const char *text, int64_t *time, struct error *err)
{
    return option_read_time(option, text, time_read, time, err);
}

int option_bound(const char *option, const char *text, int64_t *time, struct error *err)
{
    return option_read_time(option, text, time_read_bound, time, err);
}

int option_count(const char *option, const char *text, uint64_t *count, struct error *err)
{
    if (!text || (number_unsigned(text, strlen(text), count) && *count))
        return 0;
    return fail(err, ERROR_USAGE, "--%s '%s': must be a whole number above 0", option, text);
}

int option_duration(const char *option, const char *text, const char *fallback, uint64_t *seconds,
                    struct error *err)
{
    if (duration_parse(text ? text : fallback, seconds) && *seconds && *seconds <= INT32_MAX)
        return 0;
    return fail(err, ERROR_USAGE, "--%s '%s': must be a number with s, m, h, d or w behind it",
                option, text);
}

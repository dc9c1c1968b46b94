/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/command_line.h"
#include "command/shares/shares_difference.h"
#include "db/db.h"
#include "report/share_file.h"
#include "run/clusters.h"
#include "run/run.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/index.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/text.h"

struct printer {
    struct text *text;
    const struct share_differences *differences;
    struct names *done; /* accounts and users already removed, and users who already got a new
                         * default account */
};

static struct command_line shares_command_begin(const char *words)
{
    struct command_line line = { 0 };
    command_line_add_words(&line, "sacctmgr -i");
    command_line_add_words(&line, words);
    return line;
}

static const char *cluster_of(const struct printer *printer)
{
    return printer->differences->database->cluster;
}

static void shares_command_end(struct printer *printer, struct command_line *line)
{
    if (line->obstacle)
        text_format_printable(printer->text, "# %s: %s\n", line->obstacle, line->text.bytes);
    else
        text_format(printer->text, "%s\n", line->text.bytes);
    text_free(&line->text);
}

static void command_add_shares(struct command_line *line, const struct share_entry *entry)
{
    struct text shares = { 0 };
    text_add(&shares, "fairshare=");
    share_add(&shares, entry->shares);
    command_line_add(line, shares.bytes);
    text_free(&shares);
}

/* Adds a description, unless sacctmgr would not accept it unchanged. */
static void shares_command_add_words(struct command_line *line, const char *key, const char *words)
{
    struct text word = { 0 };
    if (!words || !*words || strpbrk(words, "'\"") || !utf8_is_printable(words))
        return;
    text_format(&word, "%s=%s", key, words);
    command_line_add(line, word.bytes);
    text_free(&word);
}

/* Without a partition, sacctmgr also selects associations with a partition.  An empty partition
 * selects only associations without one. */
static void shares_command_add_where(const struct printer *printer, struct command_line *line,
                                     const struct share_entry *entry, bool whole_account)
{
    const struct share_differences *differences = printer->differences;
    bool user = *entry->user;
    command_line_add_name(line, "name", user ? entry->user : entry->account);
    if (user)
        command_line_add_name(line, "account", entry->account);
    command_line_add_name(line, "cluster", cluster_of(printer));
    if (user && !whole_account &&
        (share_set_has_partitions(differences->database, entry->account, entry->user) ||
         share_set_has_partitions(differences->file, entry->account, entry->user)))
        command_line_add_name(line, "partition", entry->partition);
}

static void shares_command_add_account(struct printer *printer, const struct share_entry *entry)
{
    struct command_line line = shares_command_begin("add account");
    command_line_add_name(&line, "name", entry->account);
    command_line_add_name(&line, "cluster", cluster_of(printer));
    command_line_add_name(&line, "parent", entry->parent);
    command_add_shares(&line, entry);
    shares_command_add_words(&line, "description", entry->description);
    shares_command_add_words(&line, "organization", entry->organization);
    shares_command_end(printer, &line);
}

static void move_account(struct printer *printer, const struct share_entry *entry)
{
    struct command_line line = shares_command_begin("modify account where");
    shares_command_add_where(printer, &line, entry, false);
    command_line_add_words(&line, "set");
    command_line_add_name(&line, "parent", entry->parent);
    shares_command_end(printer, &line);
}

static void set_shares(struct printer *printer, const struct share_entry *entry)
{
    struct command_line line =
        shares_command_begin(*entry->user ? "modify user where" : "modify account where");
    shares_command_add_where(printer, &line, entry, false);
    command_line_add_words(&line, "set");
    command_add_shares(&line, entry);
    shares_command_end(printer, &line);
}

static void shares_command_add_user(struct printer *printer, const struct share_entry *entry)
{
    struct command_line line = shares_command_begin("add user");
    command_line_add_name(&line, "name", entry->user);
    command_line_add_name(&line, "account", entry->account);
    command_line_add_name(&line, "cluster", cluster_of(printer));
    if (*entry->partition)
        command_line_add_name(&line, "partition", entry->partition);
    command_add_shares(&line, entry);
    shares_command_end(printer, &line);
}

/* Returns true if the account is the user's default account, in the file or in the database. */
static bool is_default(const struct share_entry *entry)
{
    return entry->default_account && !strcmp(entry->default_account, entry->account);
}

/* Returns true only for the first call with these names. */
static bool shares_command_is_new(struct printer *printer, const char *what, const char *name)
{
    struct text key = { 0 };
    text_add_bytes(&key, what, strlen(what) + 1);
    text_add(&key, name);
    uint32_t known = names_count(printer->done);
    bool first = names_add(printer->done, key.bytes, key.length) == known;
    text_free(&key);
    return first;
}

/* slurmdbd does not remove a user's default account while the user has other accounts, so this sets
 * another default account first. */
static void shares_command_choose_default(struct printer *printer, const struct share_entry *gone)
{
    const struct share_set *file = printer->differences->file;
    const struct share_entry *next = share_set_user(file, gone->user);
    if (!next || !shares_command_is_new(printer, "", gone->user))
        return;
    bool said =
        next->default_account && share_set_has_pair(file, next->default_account, gone->user);
    struct command_line line = shares_command_begin("modify user where");
    command_line_add_name(&line, "name", gone->user);
    command_line_add_name(&line, "cluster", cluster_of(printer));
    command_line_add_words(&line, "set");
    command_line_add_name(&line, "defaultaccount", said ? next->default_account : next->account);
    shares_command_end(printer, &line);
}

/* Removes all associations of a user in an account at once.  If the file has one of them, removes
 * only the association of `entry`. */
static void shares_command_delete_user(struct printer *printer, const struct share_entry *entry)
{
    bool whole_account =
        !share_set_has_pair(printer->differences->file, entry->account, entry->user);
    if (whole_account && !shares_command_is_new(printer, entry->account, entry->user))
        return;
    if (whole_account && is_default(entry))
        shares_command_choose_default(printer, entry);
    else if (is_default(entry))
        text_add(printer->text, "# Slurm 24.11 and later keep all partitions of a default account: "
                                "remove the user from it, then add the partitions that stay\n");
    struct command_line line = shares_command_begin("delete user where");
    shares_command_add_where(printer, &line, entry, whole_account);
    shares_command_end(printer, &line);
}

static void delete_account(struct printer *printer, const struct share_entry *entry)
{
    struct command_line line = shares_command_begin("delete account where");
    shares_command_add_where(printer, &line, entry, false);
    shares_command_end(printer, &line);
}

/* Prints the commands for accounts, from the root down.  So an account's parent already exists, and
 * has already been moved itself. */
static void print_accounts(struct printer *printer, const struct share_difference **sorted,
                           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (sorted[i]->kind == DIFFERS_ONLY_IN_FILE && !*sorted[i]->file->user)
            shares_command_add_account(printer, sorted[i]->file);
        if (sorted[i]->kind == DIFFERS_IN_PARENT)
            move_account(printer, sorted[i]->file);
    }
    for (size_t i = 0; i < count; i++)
        if (sorted[i]->kind == DIFFERS_IN_SHARES)
            set_shares(printer, sorted[i]->file);
}

/* slurmdbd makes a user's first account the default account.  So the default account is added first
 * and removed last. */
static void print_users(struct printer *printer, const struct share_difference **sorted,
                        size_t count)
{
    for (int others = 0; others < 2; others++)
        for (size_t i = 0; i < count; i++)
            if (sorted[i]->kind == DIFFERS_ONLY_IN_FILE && *sorted[i]->file->user &&
                is_default(sorted[i]->file) == !others)
                shares_command_add_user(printer, sorted[i]->file);
    for (int defaults = 0; defaults < 2; defaults++)
        for (size_t i = 0; i < count; i++)
            if (sorted[i]->kind == DIFFERS_ONLY_IN_DATABASE && *sorted[i]->database->user &&
                is_default(sorted[i]->database) == defaults)
                shares_command_delete_user(printer, sorted[i]->database);
}

static uint32_t depth_of(const struct share_difference *row)
{
    return row->file ? row->file->depth : row->database->depth;
}

static int from_root(const void *a, const void *b)
{
    const struct share_difference *one = *(const struct share_difference *const *)a;
    const struct share_difference *other = *(const struct share_difference *const *)b;
    if (depth_of(one) != depth_of(other))
        return depth_of(one) < depth_of(other) ? -1 : 1;
    return one < other ? -1 : one > other; /* in one array */
}

/* Adds a shell script of sacctmgr commands, one per line, that change the database to match the
 * file.  slurmdbd accepts the commands in this order: accounts are added and moved from the root
 * down, shares are set, and users are added.  Then users are removed, and accounts last.  Changes
 * that no command can make become comments. */
static void shares_add_commands(struct text *text, const struct share_differences *differences)
{
    struct printer printer = { text, differences, names_create() };
    size_t count = differences->count;
    const struct share_difference **sorted = memory_zeroed(count, sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &differences->rows[i];
    if (count)
        qsort(sorted, count, sizeof *sorted, from_root);
    print_accounts(&printer, sorted, count);
    print_users(&printer, sorted, count);
    for (size_t i = count; i-- > 0;)
        if (sorted[i]->kind == DIFFERS_ONLY_IN_DATABASE && !*sorted[i]->database->user)
            delete_account(&printer, sorted[i]->database);
    names_destroy(printer.done);
    free(sorted);
}

struct shares_options {
    struct shared_options shared;
    bool commands;
};

static const struct command_option own_options[] = {
    { "commands", NULL, 0, OPTION_FLAG, AT(shares_options, commands), .form = true,
      .help = "With diff, print sacctmgr commands that apply FILE" },
    { .name = NULL },
};

/* Reads the associations of one cluster: the cluster of --cluster or, without it, the cluster of
 * the file. `of_file` is NULL if there is no file. */
static int read_database(struct share_set *list, const struct settings *settings,
                         const struct shares_options *options, const char *of_file,
                         struct error *err)
{
    const struct name_list *asked = &options->shared.clusters;
    char *name = (char *)of_file, *cluster = NULL;
    const struct cluster_names names = asked->count
                                           ? (struct cluster_names){ asked->values, asked->count }
                                           : (struct cluster_names){ &name, of_file != NULL };
    struct db *source = NULL;
    if (!source_type_of(settings)->is_slurmdbd)
        return fail(err, ERROR_USAGE, "shares: requires [source] layout = slurmdbd, not %s",
                    settings->layout);
    int result = run_open_source(&source, settings, err);
    if (!result)
        result = clusters_wanted_one(settings, source, &names, complain, &cluster, err);
    if (!result)
        result = shares_read(list, settings, source, cluster, err);
    free(cluster);
    db_close(source);
    return result;
}

static int export(const struct settings *settings, const struct shares_options *options,
                  struct error *err)
{
    struct share_set list = { 0 };
    struct text text = { 0 };
    int result = read_database(&list, settings, options, NULL, err);
    if (!result)
        result = share_file_add(&text, &list, err);
    if (!result)
        result = command_print(&text, err);
    share_set_free(&list);
    text_free(&text);
    return result;
}

/* Returns 0 if there are no differences, 1 if there are differences, or -1 on error. */
static int shares_print_differences(const struct share_differences *differences,
                                    struct command_context *context, struct error *err)
{
    const struct shares_options *options = context->options;
    struct text text = { 0 };
    int result = 0;
    if (options->commands) {
        shares_add_commands(&text, differences);
        result = command_print(&text, err);
        text_free(&text);
    } else if (differences->count || !table_is_page(&options->shared.table)) {
        answer_cluster(context->answer,
                       &(struct table_cluster){ .name = differences->database->cluster });
        for (size_t i = 0; i < differences->count; i++)
            answer_row(context->answer, &differences->rows[i]);
    }
    return result ? -1 : differences->count != 0;
}

static int diff(struct command_context *context, struct error *err)
{
    struct share_set file = { 0 }, database = { 0 };
    int result = share_file_load(&file, context->shared->operands[1], err);
    if (!result)
        result = read_database(&database, context->settings, context->options, file.cluster, err);
    if (!result) {
        share_set_take_case(&file, &database);
        struct share_differences differences = share_differences_find(&file, &database);
        result = shares_print_differences(&differences, context, err);
        share_differences_free(&differences);
    }
    share_set_free(&file);
    share_set_free(&database);
    return result;
}

static int shares_check(struct command_context *context, struct error *err)
{
    const struct shares_options *options = context->options;
    const struct table_options *table = &options->shared.table;
    const char *action = options->shared.operands[0], *file = options->shared.operands[1];
    const char *cluster;
    bool exports = action && !strcmp(action, "export");
    if (!action || (!exports && strcmp(action, "diff") != 0))
        return fail(err, ERROR_USAGE,
                    "shares: missing or unknown action; use `shares export` or `shares diff FILE`");
    if (exports && file)
        return fail(err, ERROR_USAGE, "shares export: unexpected argument '%s'", file);
    if (exports && (options->commands || table->form != TABLE_FOR_PEOPLE || table->columns ||
                    table->no_header))
        return fail(err, ERROR_USAGE, "shares export: accepts only --cluster");
    if (!exports && !file)
        return fail(err, ERROR_USAGE, "shares diff: missing FILE");
    if (option_list_one(&options->shared.clusters, "cluster", &cluster, err))
        return -1;
    if (exports || options->commands)
        context->layout = NULL;
    return 0;
}

static int shares_answer(struct command_context *context, struct error *err)
{
    return context->shared->operands[1] ? diff(context, err)
                                        : export(context->settings, context->options, err);
}

const struct command command_shares = {
    .name = "shares",
    .operand_count = 2,
    .group = GROUP_CORRECT,
    .summary = "Export shares, or compare a file with the database",
    .usage = "export [OPTION...]\ndiff [OPTION...] FILE",
    .description =
        "Export the associations and shares of a cluster, or compare a file with them.\n"
        "\n"
        "Actions:\n"
        "  export       Write a file for `sacctmgr load`\n"
        "  diff FILE    Show differences between FILE and the accounting database.  FILE\n"
        "               is written by `export`, by `sacctmgr dump` or by hand; `-` is\n"
        "               standard input\n",
    .shared = TAKES_CLUSTERS | TAKES_TABLE,
    .options = own_options,
    .options_size = sizeof(struct shares_options),
    .use = SETTINGS_FOR_ALL,
    .layout = &share_differences_layout,
    .check = shares_check,
    .answer = shares_answer,
};

/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "command/command.h"
#include "command/show/show_pbs.h"
#include "report/pbs_forms.h"
#include "report/shares.h"
#include "results/published.h"
#include "settings/load.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/log.h"
#include "util/number.h"

struct options {
    struct shared_options shared;
    bool pbs, tree, list, only_users;
    bool all;
    bool all_columns, partitions;
    const char *entity, *decay;
    double decay_factor;
    struct name_list pair; /* to compare */
};

struct row_reading {
    struct share_list *list;
    bool last_first; /* as pbsfs goes through a group's members */
};

static void add_row(void *context, const struct published_row *row)
{
    const struct row_reading *reading = context;
    struct share_association association = {
        .id = row->id,
        .parent_id = row->parent_id,
        .names = { row->account, row->user, row->partition },
        .lengths = { strlen(row->account), strlen(row->user), strlen(row->partition) },
        .parent_shares = row->parent_shares,
        .shares = row->shares,
        .values = &row->values,
        .grp_tres_mins = row->grp_tres_mins,
        .tres_run_mins = row->tres_run_mins,
        .place = reading->last_first ? UINT32_MAX - row->tie_order : 0,
    };
    share_list_add(reading->list, &association);
}

static struct share_list *read_shares(struct published *published,
                                      const struct published_cluster *cluster, bool as_pbs,
                                      struct error *err)
{
    struct share_list *list = share_list_create(cluster->name, cluster->algorithm, cluster->as_of);
    list->words = words_of(cluster->settings);
    struct row_reading reading = { list, as_pbs && scheduler_of(cluster->settings)->has_pbsfs };
    if (published_read_rows(published, cluster, add_row, &reading, err)) {
        share_list_destroy(list);
        return NULL;
    }
    share_list_sort(list);
    return list;
}

static bool shows_any(const struct share_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->rows[i].shown)
            return true;
    return false;
}

/* Add what is wanted of the clusters; 1 where something was. */
static int add_all(struct published *published, const struct options *options, struct table *table,
                   struct text *text, struct error *err)
{
    int any = 0, result = 0;
    for (size_t i = 0; !result && i < published->count; i++) {
        struct share_list *shares =
            read_shares(published, &published->clusters[i], options->pbs, err);
        if (!shares)
            return -1;
        share_list_filter(shares, &published->viewer, &published->filter.users,
                          &published->filter.accounts);
        if (options->only_users)
            share_list_hide_accounts(shares);
        if (shows_any(shares)) {
            any = 1;
            if (options->pbs)
                result = show_pbs_cluster(
                    text, published, &published->clusters[i], shares,
                    options->list || options->decay ? &options->decay_factor : NULL, err);
            else
                share_list_print(shares, table);
        }
        share_list_destroy(shares);
    }
    return result ? result : any;
}

static int show_all(struct published *published, const struct options *options, struct error *err)
{
    struct text text = { 0 };
    struct column columns[SHARE_COLUMNS];
    const struct table_layout layout = { columns, share_layout.rows, .by_cluster = true };
    share_columns(columns, options->all_columns, options->partitions);
    struct table *table = table_create(&text, &layout, &options->shared.table, err);
    int result = -1;
    /* Names that are not there are refused before anything is printed. */
    if (table && !published_look_for_names(published, err)) {
        table_print_with(table, command_print);
        result = add_all(published, options, table, &text, err);
        if (!result)
            result = fail(err, ERROR_USAGE,
                          "no user that was asked for is in an account that was asked for");
    }
    if (result > 0)
        result = options->pbs ? 0 : table_end(table, err);
    if (!result)
        result = command_print(&text, err);
    table_destroy(table);
    text_free(&text);
    return result;
}

static int show_published(const struct settings *settings, const struct options *options,
                          struct error *err)
{
    const struct shared_options *shared = &options->shared;
    struct published published;
    struct published_filter filter = { .clusters = shared->clusters, .accounts = shared->accounts };
    if (!options->all)
        filter.users = shared->users;
    int result = published_open(&published, settings, &filter, err);
    if (!result)
        result = show_all(&published, options, err);
    published_free(&published);
    return result;
}

static const struct command_option own_options[] = {
    { "all", NULL, 'a', OPTION_FLAG, AT(all), NULL, .help = "all users, whatever --users says" },
    { "long", NULL, 'l', OPTION_FLAG, AT(all_columns), NULL,
      .help = "also what associations may use of each TRES, and what running jobs still may" },
    { "partition", NULL, 'm', OPTION_FLAG, AT(partitions), NULL,
      .help = "the partitions of associations, also where none has one" },
    { "Users", NULL, 'U', OPTION_FLAG, AT(only_users), NULL, .help = "users without accounts" },
    { "pbs", NULL, 0, OPTION_FLAG, AT(pbs), NULL,
      .help =
          "what pbsfs prints: the tree as its -t, with a NAME as --entity, with two as --compare",
      .form = true },
    { "tree", NULL, 0, OPTION_FLAG, AT(tree), NULL, .help = "with --pbs: the tree, as pbsfs -t" },
    { "list", NULL, 0, OPTION_FLAG, AT(list), NULL, .help = "with --pbs: everybody, as pbsfs -p" },
    { "decay", NULL, 0, OPTION_VALUE, AT(decay), "FACTOR",
      .help = "with --pbs: everybody, as pbsfs -p after pbsfs -d with this factor" },
    { "entity", NULL, 0, OPTION_VALUE, AT(entity), "NAME",
      .help = "with --pbs: this entity, as pbsfs -g" },
    { "compare", NULL, 0, OPTION_LIST, AT(pair), "NAME,NAME",
      .help = "with --pbs: who is more deserving, as pbsfs -c" },
    { .name = NULL },
};

/* Whom pbsfs would be asked about; none: the tree. */
static int take_entities(struct options *options, const char *names[2], struct error *err)
{
    const struct shared_options *shared = &options->shared;
    bool asked = shared->operands[0] || options->entity || options->pair.count || options->tree ||
                 options->list || options->decay;
    names[0] = shared->operands[0];
    names[1] = shared->operands[1];
    if (names[0] && (!options->pbs || shared->users.count || shared->accounts.count))
        return fail(err, ERROR_USAGE, "show: unexpected argument '%s'; see `fairmill help show`",
                    names[0]);
    if (options->pbs && (shared->table.columns || shared->table.no_header || options->all_columns ||
                         options->partitions))
        return fail(err, ERROR_USAGE,
                    "show: --columns, --noheader, --long and --partition are not for --pbs");
    if (asked && !options->pbs)
        return fail(err, ERROR_USAGE,
                    "show: --tree, --list, --decay, --entity and --compare need --pbs");
    if ((names[0] != NULL) + (options->entity != NULL) + (options->pair.count > 0) + options->tree +
            options->list + (options->decay != NULL) >
        1)
        return fail(err, ERROR_USAGE,
                    "show: --tree, --list, --decay, --entity and --compare exclude each other");
    options->decay_factor = 1;
    if (options->decay && (!number_real(options->decay, &options->decay_factor) ||
                           !(options->decay_factor > 0 && options->decay_factor < 1)))
        return fail(err, ERROR_USAGE, "show: --decay: '%s' is not between 0 and 1", options->decay);
    if (options->pair.count && options->pair.count != 2)
        return fail(err, ERROR_USAGE, "show: --compare: must be two names");
    if (options->entity)
        names[0] = options->entity;
    if (options->pair.count) {
        names[0] = options->pair.values[0];
        names[1] = options->pair.values[1];
    }
    if (names[0] && (shared->users.count || shared->accounts.count))
        return fail(err, ERROR_USAGE,
                    "show: --users and --accounts are not for --entity and --compare");
    return 0;
}

static int show_command(const struct invocation *invocation, struct error *err)
{
    struct options options = { 0 };
    const struct shared_options *shared = &options.shared;
    const char *names[2];
    struct settings *settings = NULL;
    int result = -1;
    if (options_read(invocation, &options, err) || take_entities(&options, names, err))
        goto done;
    log_set_verbose(shared->verbose);
    if (command_settings(&settings, invocation, SETTINGS_FOR_READING, err))
        goto done;
    result = names[0] ? show_pbs(settings, &shared->clusters, names, err)
                      : show_published(settings, &options, err);
done:
    options_free(&options.shared);
    name_list_free(&options.pair);
    settings_destroy(settings);
    return result;
}

const struct command command_show = {
    .name = "show",
    .operands = "[NAME [NAME]]",
    .operand_count = 2,
    .for_users = true,
    .summary = "the published tree in sshare's columns",
    .notes = "",
    .shared = TAKES_CLUSTERS | TAKES_ACCOUNTS | TAKES_USERS | TAKES_VERBOSE | TAKES_TABLE,
    .options = own_options,
    .run = show_command,
};

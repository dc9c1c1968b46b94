/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "command/command.h"
#include "command/show/show_pbs.h"
#include "report/pbs_forms.h"
#include "report/shares.h"
#include "results/published.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "util/error.h"

struct options {
    struct shared_options shared;
    bool pbs, all;
};

static void add_row(void *list, const struct published_row *row)
{
    struct share_association association = {
        .id = row->id,
        .parent_id = row->parent_id,
        .names = { row->account, row->user, row->partition },
        .lengths = { strlen(row->account), strlen(row->user), strlen(row->partition) },
        .parent_shares = row->parent_shares,
        .shares = row->shares,
        .values = &row->values,
    };
    share_list_add(list, &association);
}

static struct share_list *read_shares(struct published *published,
                                      const struct published_cluster *cluster, struct error *err)
{
    struct share_list *list = share_list_create(cluster->name, cluster->algorithm, cluster->as_of);
    if (published_read_rows(published, cluster, add_row, list, err)) {
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
    int any = 0;
    for (size_t i = 0; i < published->count; i++) {
        struct share_list *shares = read_shares(published, &published->clusters[i], err);
        if (!shares)
            return -1;
        share_list_filter(shares, &options->shared.users, &options->shared.accounts);
        share_list_hide_others(shares, published->login);
        if (shows_any(shares)) {
            any = 1;
            if (options->pbs)
                pbs_add_tree(text, shares);
            else
                share_list_print(shares, table);
        }
        share_list_destroy(shares);
    }
    return any;
}

static int show_all(struct published *published, const struct options *options, struct error *err)
{
    struct text text = { 0 };
    struct table *table = table_create(&text, &share_layout, &options->shared.table, err);
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
    struct published_filter filter = { shared->clusters, shared->accounts, shared->users };
    int result = published_open(&published, settings, &filter, err);
    if (!result)
        result = show_all(&published, options, err);
    published_free(&published);
    return result;
}

static const struct command_option own_options[] = {
    { "all", NULL, 'a', OPTION_FLAG, AT(all), NULL, .help = "all users, as it is without --users" },
    { "pbs", NULL, 0, OPTION_FLAG, AT(pbs), NULL,
      .help = "the tree as `pbsfs -t` prints it; with a NAME this entity as -g does, with two of "
              "them who is more deserving, as -c",
      .form = true },
    { .name = NULL },
};

static int show_command(const struct invocation *invocation, struct error *err)
{
    struct options options = { 0 };
    const struct shared_options *shared = &options.shared;
    struct settings *settings = NULL;
    int result = -1;
    if (options_read(invocation, &options, err))
        goto done;
    if (shared->operands[0] && (!options.pbs || shared->users.count || shared->accounts.count)) {
        fail(err, ERROR_USAGE, "show: unexpected argument '%s'; see `fairmill help show`",
             shared->operands[0]);
        goto done;
    }
    if (settings_load(&settings, invocation->settings_path, SETTINGS_FOR_READING, err))
        goto done;
    result = shared->operands[0] ? show_pbs(settings, &shared->clusters, shared->operands, err)
                                 : show_published(settings, &options, err);
done:
    options_free(&options.shared);
    settings_destroy(settings);
    return result;
}

const struct command command_show = {
    .name = "show",
    .operands = "[NAME [NAME]]",
    .operand_count = 2,
    .summary = "the published tree in sshare's columns",
    .notes = "",
    .shared = TAKES_CLUSTERS | TAKES_ACCOUNTS | TAKES_USERS | TAKES_TABLE,
    .options = own_options,
    .run = show_command,
};

/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/private.h"
#include "command/show/show_pbs.h"
#include "core/fairshare/fairshare.h"
#include "db/db.h"
#include "report/pbs_forms.h"
#include "report/shares.h"
#include "report/table.h"
#include "results/schema.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "sql.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

struct options {
    struct shared_options shared;
    bool pbs, all;
    const char *user, *account;
    char *login; /* who alone may be told of; NULL: everybody */
};

/* A cluster that is published. */
struct published {
    char *cluster;
    const struct algorithm *algorithm;
    int64_t as_of;
};

struct published_list {
    struct published *clusters;
    size_t count;
};

static int read_published(struct db *db, struct published_list *list, struct error *err)
{
    const struct db_value *row;
    struct db_rows *rows = db_query(db, sql_query_shown_clusters, NULL, 0, "tti", err);
    if (!rows)
        return -1;
    int got;
    while ((got = db_fetch(rows, &row, err)) > 0) {
        char *name = db_value_text(&row[1]);
        const struct algorithm *algorithm = algorithm_named(name);
        free(name);
        if (!algorithm) {
            got = fail(err, ERROR_DATA, "fairmill_run holds an algorithm that is not known");
            break;
        }
        list->clusters = memory_resized(list->clusters, list->count + 1, sizeof *list->clusters);
        list->clusters[list->count++] =
            (struct published){ db_value_text(&row[0]), algorithm, row[2].integer };
    }
    db_finish(rows);
    return got;
}

/* The columns of sql_query_shown_rows. */
enum { ID, PARENT_ID, ACCOUNT, USER, PARTITION, SHARES, FIRST_VALUE };

static void add_row(struct share_list *list, const struct db_value *row)
{
    const struct db_value *value = &row[FIRST_VALUE];
    struct values values = {
        .shares_norm = db_value_real(&value[0]),
        .level_shares_norm = db_value_real(&value[1]),
        .usage_raw = db_value_real(&value[2]),
        .usage_norm = db_value_real(&value[3]),
        .capacity_usage = db_value_real(&value[4]),
        .level_usage = db_value_real(&value[5]),
        .classic_usage = db_value_real(&value[6]),
        .classic_factor = db_value_real(&value[7]),
        .linear_usage = db_value_real(&value[8]),
        .linear_factor = db_value_real(&value[9]),
        .depth_oblivious_ratio = db_value_real(&value[10]),
        .depth_oblivious_factor = db_value_real(&value[11]),
        .level_fs = db_value_real(&value[12]),
        .fair_tree_factor = db_value_real(&value[13]),
        .pbs_tree_usage = db_value_real(&value[14]),
        .pbs_factor = db_value_real(&value[15]),
    };
    if (row[FIRST_VALUE + 16].type == DB_INTEGER && row[FIRST_VALUE + 16].integer == 1)
        values.level_fs = INFINITY;
    struct share_association association = {
        .id = row[ID].integer,
        .parent_id = db_value_integer(&row[PARENT_ID], 0),
        .parent_shares = row[SHARES].type == DB_NULL,
        .shares = row[SHARES].type == DB_NULL ? 0 : row[SHARES].integer,
        .values = &values,
    };
    for (size_t name = 0; name < 3; name++) {
        association.names[name] = row[ACCOUNT + name].text.bytes;
        association.lengths[name] = row[ACCOUNT + name].text.length;
    }
    share_list_add(list, &association);
}

static struct share_list *read_shares(struct db *db, const struct published *published,
                                      struct error *err)
{
    const struct db_value *row;
    struct db_value cluster = db_text(published->cluster);
    struct db_rows *rows = db_query(db, sql_query_shown_rows, &cluster, 1,
                                    "iittti"
                                    "rrrrrrrrrrrrrrrr"
                                    "i",
                                    err);
    if (!rows)
        return NULL;
    struct share_list *list =
        share_list_create(published->cluster, published->algorithm, published->as_of);
    int got;
    while ((got = db_fetch(rows, &row, err)) > 0)
        add_row(list, row);
    db_finish(rows);
    if (!got) {
        share_list_sort(list);
        return list;
    }
    share_list_destroy(list);
    return NULL;
}

static bool is_wanted(const struct options *options, const char *cluster)
{
    for (size_t i = 0; i < options->shared.clusters.count; i++)
        if (reads_as(options->shared.clusters.values[i], strlen(options->shared.clusters.values[i]),
                     cluster))
            return true;
    return options->shared.clusters.count == 0;
}

/* Something must answer to each name that was asked for. */
static int check_options(const struct options *options, const struct published_list *list,
                         struct error *err)
{
    if (!list->count)
        return fail(err, ERROR_OTHER, "no results yet");
    for (size_t i = 0; i < options->shared.clusters.count; i++) {
        bool there = false;
        for (size_t j = 0; j < list->count; j++)
            there |=
                reads_as(options->shared.clusters.values[i],
                         strlen(options->shared.clusters.values[i]), list->clusters[j].cluster);
        if (!there)
            return fail(err, ERROR_USAGE, "there are no results of a cluster '%s'",
                        options->shared.clusters.values[i]);
    }
    return 0;
}

static bool shows_any(const struct share_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->rows[i].shown)
            return true;
    return false;
}

static int refuse_nobody(const struct options *options, struct error *err)
{
    const char *user = options->user, *account = options->account;
    return fail(err, ERROR_USAGE, "there is no association of %s%s%s%s%s%s%s", user ? "user '" : "",
                user ? user : "", user ? "'" : "", user && account ? " below " : "",
                account ? "account '" : "", account ? account : "", account ? "'" : "");
}

/* Add what is wanted of the clusters; 1 where something was. */
static int add_all(struct db *db, const struct options *options, const struct published_list *list,
                   struct table *table, struct text *text, struct error *err)
{
    int any = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (!is_wanted(options, list->clusters[i].cluster))
            continue;
        struct share_list *shares = read_shares(db, &list->clusters[i], err);
        if (!shares)
            return -1;
        share_list_filter(shares, options->user, options->account);
        share_list_hide_others(shares, options->login);
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

static int show_all(struct db *db, const struct options *options, const struct published_list *list,
                    struct error *err)
{
    struct text text = { 0 };
    struct table *table = table_create(&text, &share_layout, &options->shared.table, err);
    int result = -1;
    if (table && !check_options(options, list, err)) {
        table_print_with(table, command_print);
        result = add_all(db, options, list, table, &text, err);
        result = result ? result : refuse_nobody(options, err);
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
    struct db *db;
    struct published_list list = { 0 };
    if (results_open(&db, settings, DB_READER, err))
        return -1;
    int result = -1;
    if (!db_begin(db, err)) {
        if (!read_published(db, &list, err))
            result = show_all(db, options, &list, err);
        db_rollback(db);
    }
    for (size_t i = 0; i < list.count; i++)
        free(list.clusters[i].cluster);
    free(list.clusters);
    db_close(db);
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
    if (options_read(invocation, &options, err) ||
        option_list_one(&shared->users, "user", &options.user, err) ||
        option_list_one(&shared->accounts, "account", &options.account, err))
        goto done;
    if (shared->operands[0] && (!options.pbs || options.user || options.account)) {
        fail(err, ERROR_USAGE, "show: unexpected argument '%s'; see `fairmill help show`",
             shared->operands[0]);
        goto done;
    }
    if (settings_load(&settings, invocation->settings_path, SETTINGS_FOR_READING, err))
        goto done;
    options.login = private_login(settings);
    if (private_check(options.login, options.user, err))
        goto done;
    result = shared->operands[0] ? show_pbs(settings, &shared->clusters, shared->operands, err)
                                 : show_published(settings, &options, err);
done:
    options_free(&options.shared);
    free(options.login);
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

/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/show/show_slurm.h"
#include "core/fairshare/pbs.h"
#include "core/usage/decay_table.h"
#include "report/pbs_forms.h"
#include "report/shares.h"
#include "results/published.h"
#include "results/published_find.h"
#include "results/published_part.h"
#include "results/published_tres.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/number.h"
#include "util/text.h"

struct show_options {
    struct shared_options shared;
    bool pbs, tree, list, only_users;
    bool slurm_json;
    bool all;
    bool all_columns, partitions;
    const char *entity, *decay;
    double decay_factor;
    struct name_list pair; /* the two names of --compare */
    const char *names[2];  /* the names of --entity or --compare, or the operands */
    struct column columns[SHARE_COLUMNS];
    struct table_layout layout;
};

struct row_reading {
    struct share_list *list;
    size_t next;     /* the next row that gets its usage by TRES */
    bool last_first; /* the order in which pbsfs visits a group's members */
};

static void show_add_row(void *context, const struct published_row *row)
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

/* Both queries return the rows in the order of the ids. */
static void show_add_tres(void *context, int64_t id, const char *minutes)
{
    struct row_reading *reading = context;
    struct share_list *list = reading->list;
    while (reading->next < list->count && list->rows[reading->next].id < id)
        reading->next++;
    if (minutes && reading->next < list->count && list->rows[reading->next].id == id)
        share_list_set_usage(list, reading->next, minutes);
}

/* Returns true if the output may have the column GrpTRESRaw, which takes as long as all others. */
static bool shows_tres(const struct command_context *context)
{
    const struct show_options *options = context->options;
    const struct table_options *table = &context->shared->table;
    return !options->pbs && !options->slurm_json &&
           (options->all_columns || table->columns || table->form == TABLE_JSON);
}

/* Finds the rows that are needed to show the selection: the rows of the users, or the rows of the
 * other names and below, and all rows above them. */
static int show_find_part(const struct command_context *context,
                          const struct published_cluster *cluster, struct published_part *part,
                          struct error *err)
{
    const struct show_options *options = context->options;
    const struct published *published = &context->published;
    const struct name_list *selected = published->selection.lists;
    const enum selection_kind kind = selected[SELECTION_USERS].count   ? SELECTION_USERS
                                     : selected[SELECTION_NAMES].count ? SELECTION_NAMES
                                                                       : SELECTION_ACCOUNTS;
    struct name_list lists[SELECTION_KINDS] = { [SELECTION_NAMES] = { 0 } };
    lists[kind] = selected[kind];
    *part = (struct published_part){ .all = true };
    if (options->pbs || !lists[kind].count)
        return 0;
    return published_part_find(part, published, cluster->name, lists,
                               kind == SELECTION_USERS ? PART_ABOVE : PART_BELOW, err);
}

static struct share_list *show_read_shares(struct command_context *context,
                                           const struct published_cluster *cluster,
                                           const struct row_ids *ids, struct error *err)
{
    const struct show_options *options = context->options;
    struct published *published = &context->published;
    struct share_list *list = share_list_create(cluster->name, cluster->algorithm, cluster->as_of);
    list->terms = terminology_of(cluster->settings);
    struct row_reading reading = { .list = list,
                                   .last_first =
                                       options->pbs && scheduler_of(cluster->settings)->has_pbsfs };
    if (published_read_rows_of(published, cluster, ids, show_add_row, &reading, err) ||
        (options->slurm_json && show_slurm_read_tres(published, cluster, ids, list, err)) ||
        (shows_tres(context) &&
         published_tres_read(published, cluster, ids, show_add_tres, &reading, err))) {
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

/* Returns the tree in pbsfs's terms; cluster->tree must have been read.  The caller frees it. */
static struct pbs_tree show_tree_of(const struct published_cluster *cluster)
{
    struct pbs_tree tree = { .fairshare = { .tree = cluster->tree,
                                            .options = &cluster->options,
                                            .values = cluster->values },
                             .names = cluster->names,
                             .unit = cluster->usage_unit,
                             .root_is_zero = scheduler_of(cluster->settings)->has_pbsfs };
    pbs_tree_count(&tree);
    return tree;
}

/* Computes the usage that pbsfs reads after it has decayed usage and written its file.  The usage
 * of an entity, including the minimum usage, is multiplied by `factor`.  If the product does not
 * exceed the minimum usage, it becomes 0.  Groups are summed again. */
static void decay_tree(const struct published_cluster *cluster, double factor)
{
    struct node *nodes = cluster->tree->nodes;
    struct wide *counted =
        pbs_usage(&(struct fairshare){ .tree = cluster->tree, .options = &cluster->options });
    for (uint32_t i = cluster->tree->count; i-- > 0;) {
        double usage = decay_table_usage(cluster->decay, &counted[i]) * factor;
        nodes[i].usage = (struct wide){ 0 };
        nodes[i].usage_is_set = true;
        if (nodes[i].is_user && usage > cluster->options.pbs_minimum_usage)
            decay_table_sum_of(cluster->decay, usage, &nodes[i].usage);
    }
    free(counted);
    for (uint32_t i = cluster->tree->count; i-- > 1;)
        wide_add(&nodes[nodes[i].parent].usage, &nodes[i].usage);
}

/* Adds pbsfs's output for the shown nodes of a cluster: the tree or, if `decay` is not NULL, the
 * list, with usage multiplied by `*decay`. */
static int show_pbs_cluster(struct text *text, struct published *published,
                            struct published_cluster *cluster, const struct share_list *shares,
                            const double *decay, struct error *err)
{
    if (!cluster->tree && published_read_tree(published, cluster, err))
        return -1;
    if (decay && *decay < 1)
        decay_tree(cluster, *decay);
    struct pbs_tree tree = show_tree_of(cluster);
    if (decay)
        pbs_add_list(text, &tree, shares);
    else
        pbs_add_tree(text, &tree, shares);
    pbs_tree_free(&tree);
    return 0;
}

/* Adds pbsfs's output for one entity or, if there are two names, the more deserving of the two. */
static int show_pbs(const struct published *published, const char *const names[2],
                    struct text *text, struct error *err)
{
    struct published_node one = { .node = NO_NODE }, other = one;
    if (published_find(published, NULL, names[0], &one, err) ||
        (names[1] && published_find(published, one.cluster, names[1], &other, err)))
        return -1;
    struct pbs_tree tree = show_tree_of(one.cluster);
    if (other.node == NO_NODE)
        pbs_add_entity(text, &tree, one.node);
    else
        pbs_add_winner(text, &tree, one.node, other.node);
    pbs_tree_free(&tree);
    return 0;
}

/* Adds the selected associations of a cluster.  Sets `*any` to true if there are any. */
static int show_add_cluster(struct command_context *context, struct published_cluster *cluster,
                            bool *any, struct error *err)
{
    const struct show_options *options = context->options;
    struct published *published = &context->published;
    struct published_part part;
    struct share_list *shares =
        show_find_part(context, cluster, &part, err)
            ? NULL
            : show_read_shares(context, cluster, published_part_ids(&part), err);
    int result = 0;
    published_part_free(&part);
    if (!shares)
        return -1;
    share_list_filter(shares, &published->permissions, &published->selection);
    if (options->only_users)
        share_list_hide_accounts(shares);
    bool shown = shows_any(shares);
    *any |= shown;
    if (shown && options->pbs)
        result =
            show_pbs_cluster(answer_text(context->answer), published, cluster, shares,
                             options->list || options->decay ? &options->decay_factor : NULL, err);
    else if (shown && options->slurm_json)
        result = show_slurm_answer(context, cluster, shares, err);
    else if (shown)
        share_list_answer(shares, context->answer);
    share_list_destroy(shares);
    return result;
}

static int show_answer(struct command_context *context, struct error *err)
{
    const struct show_options *options = context->options;
    struct published *published = &context->published;
    bool any = false;
    if (options->names[0])
        return show_pbs(published, options->names, answer_text(context->answer), err);
    if (options->slurm_json && !published_only(published, err))
        return -1;
    /* Reject unknown names before anything is printed. */
    if (published_look_for_names(published, err))
        return -1;
    for (size_t i = 0; i < published->count; i++)
        if (show_add_cluster(context, &published->clusters[i], &any, err))
            return -1;
    return any ? 0 : fail(err, ERROR_USAGE, "none of the selected users is in a selected account");
}

static const struct command_option own_options[] = {
    { "all", NULL, 'a', OPTION_FLAG, AT(show_options, all), NULL,
      .help = "Show all users, even with --users" },
    { "long", NULL, 'l', OPTION_FLAG, AT(show_options, all_columns), NULL,
      .help = "Add GrpTRESMins, TRESRunMins and GrpTRESRaw" },
    { "partition", NULL, 'm', OPTION_FLAG, AT(show_options, partitions), NULL,
      .help = "Show the column Partition even if it is empty" },
    { "Users", NULL, 'U', OPTION_FLAG, AT(show_options, only_users), NULL,
      .help = "Show users without the accounts above them" },
    { "json=slurm", NULL, 0, OPTION_FLAG, AT(show_options, slurm_json), NULL,
      .help = "Print one cluster in the form of `sshare --json`", .form = true },
    { "pbs", NULL, 0, OPTION_FLAG, AT(show_options, pbs), NULL,
      .help = "Print in pbsfs's format: the tree, or one or two NAMEs", .form = true },
    { "tree", NULL, 0, OPTION_FLAG, AT(show_options, tree), NULL,
      .help = "With --pbs, print the tree, as pbsfs -t (default)" },
    { "list", NULL, 0, OPTION_FLAG, AT(show_options, list), NULL,
      .help = "With --pbs, print all entities, as pbsfs -p" },
    { "decay", NULL, 0, OPTION_VALUE, AT(show_options, decay), "FACTOR",
      .help = "With --pbs, print all entities with usage times FACTOR" },
    { "entity", NULL, 0, OPTION_VALUE, AT(show_options, entity), "NAME",
      .help = "With --pbs, print one entity, as pbsfs -g" },
    { "compare", NULL, 0, OPTION_LIST, AT(show_options, pair), "NAME,NAME",
      .help = "With --pbs, print the more deserving one, as pbsfs -c" },
    { .name = NULL },
};

/* Sets options->names to the entities that --pbs prints; without names, it prints a tree or list.
 */
static int show_check(struct command_context *context, struct error *err)
{
    struct show_options *options = context->options;
    const struct shared_options *shared = context->shared;
    const char **names = options->names;
    bool asked =
        options->entity || options->pair.count || options->tree || options->list || options->decay;
    if (options->pbs && shared->names.count > 2)
        return fail(err, ERROR_USAGE, "show: unexpected argument '%s'; --pbs takes two names",
                    shared->names.values[2]);
    for (size_t i = 0; options->pbs && i < shared->names.count; i++)
        names[i] = shared->names.values[i];
    if (options->pbs && (shared->table.columns || shared->table.no_header || options->all_columns ||
                         options->partitions))
        return fail(
            err, ERROR_USAGE,
            "show: --columns, --noheader, --long and --partition cannot be used with --pbs");
    if (options->slurm_json && shared->table.columns)
        return fail(err, ERROR_USAGE, "show: --columns cannot be used with --json=slurm");
    /* The document contains the warning, because programs may read both outputs together. */
    context->filter.of_any_age = options->slurm_json;
    if (asked && !options->pbs)
        return fail(err, ERROR_USAGE,
                    "show: --tree, --list, --decay, --entity and --compare require --pbs");
    if ((names[0] != NULL) + (options->entity != NULL) + (options->pair.count > 0) + options->tree +
            options->list + (options->decay != NULL) >
        1)
        return fail(err, ERROR_USAGE,
                    "show: --tree, --list, --decay, --entity and --compare are mutually exclusive");
    options->decay_factor = 1;
    if (options->decay && (!number_real(options->decay, &options->decay_factor) ||
                           !(options->decay_factor > 0 && options->decay_factor < 1)))
        return fail(err, ERROR_USAGE, "show: --decay '%s': must be a number between 0 and 1",
                    options->decay);
    if (options->pair.count && options->pair.count != 2)
        return fail(err, ERROR_USAGE, "show: --compare: must be two names, separated by a comma");
    if (options->entity)
        names[0] = options->entity;
    if (options->pair.count) {
        names[0] = options->pair.values[0];
        names[1] = options->pair.values[1];
    }
    if (names[0] && (shared->users.count || shared->accounts.count))
        return fail(
            err, ERROR_USAGE,
            "show: --users and --accounts cannot be used with a NAME, --entity or --compare");
    if (names[0])
        context->results = RESULTS_TREES;
    if (options->all)
        context->filter.users = (struct name_list){ 0 };
    if (options->pbs)
        context->filter.names = (struct name_list){ 0 };
    options->layout =
        (struct table_layout){ options->columns, share_layout.rows, .by_cluster = true };
    share_columns(options->columns, options->all_columns, options->partitions);
    context->layout = &options->layout;
    return 0;
}

const struct command command_show = {
    .name = "show",
    .operand_count = OPERANDS_ANY,
    .for_users = true,
    .group = GROUP_QUERY,
    .summary = "Show the fairshare tree in sshare's format",
    .usage = "[OPTION...] [NAME...]",
    .description =
        "Show the published fairshare tree in sshare's format, or with --pbs in pbsfs's.\n"
        "\n" HELP_OF_NAMES,
    .shared = TAKES_CLUSTERS | TAKES_ACCOUNTS | TAKES_USERS | TAKES_VERBOSE | TAKES_TABLE,
    .options = own_options,
    .options_size = sizeof(struct show_options),
    .use = SETTINGS_FOR_READING,
    .results = RESULTS_OPEN,
    .check = show_check,
    .answer = show_answer,
};

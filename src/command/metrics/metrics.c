/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "command/command.h"
#include "command/metrics/samples.h"
#include "command/metrics/wait_samples.h"
#include "results/health.h"
#include "results/published_find.h"
#include "results/tres_days.h"
#include "results/tres_names.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "source/source.h"
#include "sql.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

/* Prints published values as metrics for the textfile collector of Prometheus's node_exporter. */

/* Default of --top: number of accounts, and of users, that have series in each cluster. */
#define USUAL_TOP 1000

/* The label for a user in the metrics of the scheduler itself, if it differs from the scheduler's
 * term: slurmctld's endpoint /metrics/jobs-users-accts has `username`. */
static const char *const metrics_user_labels[SCHEDULERS] = { [SCHEDULER_SLURM] = "username" };

struct metrics_options {
    struct shared_options shared;
    const char *output, *top_text, *tres;
    bool accounts_only, slurm_labels;
    uint64_t top; /* maximum number of accounts, and of users; UINT64_MAX: no limit */
};

/* A cluster whose samples are added. */
struct metrics_cluster {
    struct metrics *metrics;
    const struct published_cluster *published;
    const char *tres;       /* only this TRES; NULL: all */
    const char *user_label; /* name of the label for users; NULL: the term of the scheduler */
    bool *shown;            /* indexed by node: accounts and users that are not omitted */
    struct tres_numbers numbers;
};

/* Returns NAN if the column is NULL. */
static double metrics_command_number_of(const struct db_value *value)
{
    return value->type == DB_REAL      ? value->real
           : value->type == DB_INTEGER ? (double)value->integer
                                       : NAN;
}

static struct metric_labels metrics_command_labels(const struct metrics_cluster *of, uint32_t i)
{
    const struct published_cluster *cluster = of->published;
    struct association_name name = published_name(cluster, i);
    return (struct metric_labels){
        .cluster = cluster->name,
        .account = name.account,
        .user = cluster->tree->nodes[i].is_user ? name.user : NULL,
        .partition = *name.partition ? name.partition : NULL,
        .terms = terminology_of(cluster->settings),
        .user_label = of->user_label,
    };
}

static void add_association(const struct metrics_cluster *of, uint32_t i)
{
    struct metrics *metrics = of->metrics;
    const struct published_cluster *cluster = of->published;
    const struct node *node = &cluster->tree->nodes[i];
    const struct values *values = &cluster->values[i];
    const struct algorithm *algorithm = cluster->algorithm;
    struct metric_labels labels = metrics_command_labels(of, i);
    int scope = 2 * (int)scheduler_of(cluster->settings)->kind + node->is_user;
    int first = scope * METRICS_OF_SCOPE;
    metrics_add(metrics, first + METRIC_FAIRSHARE, &labels, algorithm->factor(values));
    metrics_add(metrics, first + METRIC_NORM_SHARES, &labels, algorithm->norm_shares(values));
    metrics_add(metrics, first + METRIC_NORM_USAGE, &labels, values->usage_norm);
    /* Like `fairmill show`, omit the root's RawShares. */
    if (i && !node_has_parent_shares(node))
        metrics_add(metrics, first + METRIC_RAW_SHARES, &labels, node->shares);
    metrics_add(metrics, first + METRIC_RAW_USAGE, &labels, values->usage_raw);
    metrics_add(metrics, METRIC_EFFECTIVE_USAGE, &labels, algorithm->effective_usage(values));
    metrics_add(metrics, METRIC_LEVEL_FS, &labels, values->level_fs);
    if (values->fair_tree_rank)
        metrics_add(metrics, METRIC_RANK, &labels, values->fair_tree_rank);
    if (!node->is_user && i) {
        labels.parent = published_name(cluster, node->parent).account;
        metrics_add(metrics, METRIC_PARENT, &labels, 1);
    }
}

struct used {
    double usage;
    uint32_t node, place;
};

/* Sorts in descending order of usage, and tied associations in ascending order of id. */
static int compare_use(const void *left, const void *right)
{
    const struct used *a = left, *b = right;
    if (a->usage != b->usage)
        return (a->usage < b->usage) - (a->usage > b->usage);
    return (a->place > b->place) - (a->place < b->place);
}

static int compare_place(const void *left, const void *right)
{
    const struct used *a = left, *b = right;
    return (a->place > b->place) - (a->place < b->place);
}

/* Adds the `top` users of a cluster with the most usage or, if `users` is false, the `top`
 * accounts.  Adds them in ascending order of id.  Returns the number of users or accounts that were
 * omitted. */
static size_t metrics_command_add_top(struct metrics_cluster *of, bool users, uint64_t top)
{
    const struct published_cluster *cluster = of->published;
    const struct tree *tree = cluster->tree;
    struct used *all = memory_zeroed(tree->count, sizeof *all);
    size_t count = 0;
    for (uint32_t place = 0; place < tree->count; place++) {
        uint32_t node = tree->by_id[place];
        if (tree->nodes[node].is_user == users)
            all[count++] = (struct used){ cluster->values[node].usage_raw, node, place };
    }
    size_t kept = count < top ? count : (size_t)top;
    qsort(all, count, sizeof *all, compare_use);
    qsort(all, kept, sizeof *all, compare_place);
    for (size_t i = 0; i < kept; i++) {
        add_association(of, all[i].node);
        of->shown[all[i].node] = true;
    }
    free(all);
    return count - kept;
}

/* Returns the shown association of an id, or NO_NODE. */
static uint32_t metrics_command_shown(const struct metrics_cluster *of, int64_t id)
{
    uint32_t node = tree_place(of->published->tree, (uint64_t)id);
    return node != NO_NODE && of->shown[node] ? node : NO_NODE;
}

static bool metrics_command_wants(const struct metrics_cluster *of, const char *tres)
{
    return !of->tres || !strcasecmp(of->tres, tres);
}

static void metrics_command_add_tres(struct metrics_cluster *of, const struct db_value *row)
{
    uint32_t node = metrics_command_shown(of, row[0].integer);
    if (node == NO_NODE)
        return;
    struct metric_labels labels = metrics_command_labels(of, node);
    for (size_t i = 0; i < KEPT_TRES_LIMIT; i++) {
        const struct db_value *usage = &row[1 + i], *running = usage + KEPT_TRES_LIMIT;
        labels.tres = of->numbers.names[i];
        if (!labels.tres || !metrics_command_wants(of, labels.tres) ||
            (usage->type == DB_NULL && running->type == DB_NULL))
            continue;
        metrics_add(of->metrics, METRIC_TRES_USAGE, &labels,
                    usage->type == DB_NULL ? 0 : usage->real);
        metrics_add(of->metrics, METRIC_TRES_RUNNING, &labels,
                    (double)db_value_integer(running, 0));
    }
}

/* Adds the samples of a row of fairmill_budget, in seconds, as Prometheus recommends.  The columns
 * of minutes are in the order of the metrics. */
static void metrics_command_add_budget(struct metrics_cluster *of, const struct db_value *row)
{
    char *kind = db_value_text(&row[0]), *qos = db_value_text(&row[2]);
    char *tres = db_value_text(&row[3]);
    struct metric_labels labels = { .cluster = of->published->name };
    bool of_qos = !strcmp(kind, "qos");
    uint32_t node = of_qos ? NO_NODE : metrics_command_shown(of, row[1].integer);
    if (node != NO_NODE)
        labels = metrics_command_labels(of, node);
    labels.kind = kind;
    labels.qos = of_qos ? qos : NULL;
    labels.tres = tres;
    if ((of_qos || node != NO_NODE) && metrics_command_wants(of, tres)) {
        for (int i = 0; i < 4; i++)
            metrics_add(of->metrics, METRIC_BUDGET_LIMIT + i, &labels,
                        60 * metrics_command_number_of(&row[4 + i]));
        metrics_add(of->metrics, METRIC_BUDGET_EXHAUSTED, &labels,
                    metrics_command_number_of(&row[8]));
    }
    free(kind);
    free(qos);
    free(tres);
}

static int metrics_command_add_rows(struct metrics_cluster *of, struct db *db, const char *sql,
                                    const char *types,
                                    void (*add)(struct metrics_cluster *, const struct db_value *),
                                    struct error *err)
{
    const struct db_value *row, name = db_text(of->published->name);
    struct db_rows *rows = db_query(db, sql, &name, 1, types, err);
    while (db_fetch(rows, &row, err) > 0)
        add(of, row);
    return db_finish(rows);
}

static int metrics_command_add_published(struct metrics_cluster *of, struct db *db,
                                         const struct metrics_options *options, bool accounts_only,
                                         struct error *err)
{
    struct metric_labels labels = { .cluster = of->published->name };
    size_t left_out = metrics_command_add_top(of, false, options->top);
    left_out += metrics_command_add_top(of, true, accounts_only ? 0 : options->top);
    metrics_add(of->metrics, METRIC_LEFT_OUT, &labels, (double)left_out);
    return tres_names_read(db, of->published->name, &of->numbers, err) ||
                   metrics_command_add_rows(of, db, sql_query_metrics_tres,
                                            "i"
                                            "rrrrrrrrrrrrrrrr"
                                            "iiiiiiiiiiiiiiii",
                                            metrics_command_add_tres, err) ||
                   metrics_command_add_rows(of, db, sql_query_metrics_budget, "tittnnnni",
                                            metrics_command_add_budget, err)
               ? -1
               : 0;
}

/* All users can read metrics, so [report] private removes users from them. */
static int add_associations(struct metrics *metrics, struct published *published,
                            const struct metrics_options *options, struct error *err)
{
    bool accounts_only = options->accounts_only || published_private(published);
    int result = 0;
    if (options->tres && published->count &&
        tres_days_find(published->db, &options->shared.clusters, options->tres, NULL, err))
        return -1;
    for (size_t i = 0; !result && i < published->count; i++) {
        const struct scheduler *scheduler = scheduler_of(published->clusters[i].settings);
        struct metrics_cluster of = { .metrics = metrics,
                                      .published = &published->clusters[i],
                                      .tres = options->tres };
        if (options->slurm_labels)
            of.user_label = metrics_user_labels[scheduler->kind];
        if (published_read_tree(published, &published->clusters[i], err))
            return -1;
        of.shown = memory_zeroed(of.published->tree->count, sizeof *of.shown);
        result = metrics_command_add_published(&of, published->db, options, accounts_only, err) ||
                         metrics_waits_add(metrics, published, of.published, err)
                     ? -1
                     : 0;
        free(of.shown);
        tres_numbers_free(&of.numbers);
    }
    return result;
}

static void metrics_command_add_cluster(struct metrics *metrics,
                                        const struct cluster_health *health)
{
    struct metric_labels labels = { .cluster = health->cluster };
    if (health->published) {
        metrics_add(metrics, METRIC_COMPUTED, &labels, (double)health->as_of);
        metrics_add(metrics, METRIC_DURATION, &labels, (double)health->duration_ms / 1000);
        metrics_add(metrics, METRIC_LAG, &labels, health->lag < 0 ? NAN : (double)health->lag);
        metrics_add(metrics, METRIC_FINDINGS, &labels, (double)health->findings);
    }
    metrics_add(metrics, METRIC_DRIFT, &labels, health->drift);
    metrics_add(metrics, METRIC_FAILED, &labels, health->failed);
    if (*health->status)
        metrics_add(metrics, METRIC_STARTED, &labels, (double)health->started_at);
    for (size_t i = 0; i < health->kind_count; i++) {
        labels.kind = health->kinds[i].kind;
        metrics_add(metrics, METRIC_FINDINGS_OF_KIND, &labels, (double)health->kinds[i].count);
    }
    labels.kind = NULL;
    for (enum health_problem i = 0; i < HEALTH_PROBLEMS; i++) {
        labels.problem = health_problem_name(i);
        metrics_add(metrics, METRIC_PROBLEM, &labels, health->problems[i]);
    }
}

/* If nothing is published, one sample shows this. */
static int add_health(struct metrics *metrics, const struct settings *settings, struct db *db,
                      struct error *err)
{
    struct health health;
    size_t published = 0;
    int result = health_read(db, settings, clock_now(), &health, err);
    if (!result)
        health_read_views(db, &health);
    for (size_t i = 0; !result && i < health.count; i++) {
        metrics_command_add_cluster(metrics, &health.clusters[i]);
        published += health.clusters[i].published;
    }
    metrics_add(metrics, METRIC_PUBLISHED, &(const struct metric_labels){ 0 }, (double)published);
    health_free(&health);
    return result;
}

static void metrics_command_add_queue(struct metrics *metrics, const struct db_value *row)
{
    char *cluster = db_value_text(&row[0]);
    struct metric_labels labels = { .cluster = cluster };
    metrics_add(metrics, METRIC_WAITING, &labels, metrics_command_number_of(&row[1]));
    free(cluster);
}

static void metrics_command_add_fairness(struct metrics *metrics, const struct db_value *row)
{
    char *cluster = db_value_text(&row[0]), *scope = db_value_text(&row[1]);
    struct metric_labels labels = { .cluster = cluster, .scope = scope };
    metrics_add(metrics, METRIC_JAIN, &labels, metrics_command_number_of(&row[2]));
    metrics_add(metrics, METRIC_USE_OVER, &labels, metrics_command_number_of(&row[3]));
    metrics_add(metrics, METRIC_USE_UNDER, &labels, metrics_command_number_of(&row[4]));
    free(cluster);
    free(scope);
}

static int metrics_command_add_all(struct metrics *metrics, struct db *db, const char *sql,
                                   const char *types,
                                   void (*add)(struct metrics *, const struct db_value *),
                                   struct error *err)
{
    const struct db_value *row;
    struct db_rows *rows = db_query(db, sql, NULL, 0, types, err);
    while (db_fetch(rows, &row, err) > 0)
        add(metrics, row);
    return db_finish(rows);
}

/* Reads everything from one snapshot. */
static int metrics_command_read_all(struct metrics *metrics, struct command_context *context,
                                    struct error *err)
{
    const struct settings *settings = context->settings;
    struct published *published = &context->published;
    int result = 0;
    if ((add_associations(metrics, published, context->options, err) ||
         metrics_command_add_all(metrics, published->db, sql_query_metrics_fairness, "ttnnn",
                                 metrics_command_add_fairness, err) ||
         (layout_of(settings)->queue &&
          metrics_command_add_all(metrics, published->db, sql_query_metrics_queue, "ti",
                                  metrics_command_add_queue, err)) ||
         add_health(metrics, settings, published->db, err)))
        result = -1;
    return result;
}

static const struct command_option own_options[] = {
    { "output", NULL, 'o', OPTION_VALUE, AT(metrics_options, output), "FILE",
      .help = "Replace FILE atomically (default: standard output)" },
    { "top", NULL, 0, OPTION_VALUE, AT(metrics_options, top_text), "NUMBER",
      .help = "Limit accounts and users, or `all` (default: 1000)" },
    { "accounts-only", NULL, 0, OPTION_FLAG, AT(metrics_options, accounts_only), NULL,
      .help = "Omit users" },
    { "slurm-labels", NULL, 0, OPTION_FLAG, AT(metrics_options, slurm_labels), NULL,
      .help = "Name the labels as slurmctld does: username, not user" },
    { "tres", NULL, 0, OPTION_VALUE, AT(metrics_options, tres), "NAME",
      .help = "Limit usage and limits by TRES to this TRES" },
    { .name = NULL },
};

static int metrics_check(struct command_context *context, struct error *err)
{
    struct metrics_options *options = context->options;
    options->top = USUAL_TOP;
    if (options->top_text && !strcmp(options->top_text, "all"))
        options->top = UINT64_MAX;
    else if (options->top_text &&
             !number_unsigned(options->top_text, strlen(options->top_text), &options->top))
        return fail(err, ERROR_USAGE, "metrics: --top '%s': must be a number or 'all'",
                    options->top_text);
    return 0;
}

static int metrics_answer(struct command_context *context, struct error *err)
{
    const struct metrics_options *options = context->options;
    struct metrics metrics = { 0 };
    struct text text = { 0 };
    int result = metrics_command_read_all(&metrics, context, err);
    if (!result) {
        text_add(&text, "");
        metrics_print(&metrics, &text);
        /* Collectors skip names that do not end with .prom, such as the name of the temporary file.
         */
        result = command_output(options->output, &text, err);
    }
    text_free(&text);
    metrics_free(&metrics);
    return result;
}

const struct command command_metrics = {
    .name = "metrics",
    .group = GROUP_MONITOR,
    .summary = "Print metrics for Prometheus",
    .usage = "[OPTION...]",
    .description =
        "Print the published values as metrics for the textfile collector of Prometheus.\n",
    .options = own_options,
    .options_size = sizeof(struct metrics_options),
    .use = SETTINGS_FOR_READING,
    .results = RESULTS_BEGUN,
    .check = metrics_check,
    .answer = metrics_answer,
};

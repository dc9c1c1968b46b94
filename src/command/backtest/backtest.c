/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "command/command.h"
#include "compute/batch.h"
#include "compute/computation.h"
#include "core/fairshare/algorithm.h"
#include "core/insight/backtest.h"
#include "core/tree/tree.h"
#include "db/db.h"
#include "report/backtest_table.h"
#include "report/permissions.h"
#include "report/selection.h"
#include "results/history_rows.h"
#include "results/permissions_rows.h"
#include "results/schema.h"
#include "run/batches.h"
#include "run/run.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "settings/table.h"
#include "source/source.h"
#include "util/error.h"
#include "util/index.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/text.h"
#include "util/times.h"

/* A backtest computes history with several choices of settings.  Each choice is a variant. */

struct backtest_settings {
    /* the values that were chosen, such as `14-0, classic`; for variant 0, the current settings,
     * `now` */
    char *label;
    struct settings settings; /* its texts and lists are owned by the current settings */
};
struct backtest_variants {
    struct backtest_settings *list;
    size_t count;
};

/* The computation of each variant takes as long as a backfill. */
#define VARIANTS_AT_MOST 16

static int add_variant(struct backtest_variants *variants, const struct settings *settings,
                       const struct name_list values[TRIED_SETTINGS], size_t number,
                       struct error *err)
{
    struct backtest_settings *variant = &variants->list[variants->count];
    struct text label = { 0 };
    struct error reason;
    variant->settings = *settings;
    for (size_t key = 0; key < TRIED_SETTINGS; key++) {
        if (!values[key].count)
            continue;
        const char *value = values[key].values[number % values[key].count];
        number /= values[key].count;
        const struct tried_setting *tried = &tried_settings[key];
        const struct setting *setting = setting_named(tried->section, tried->key);
        if (setting_assign(setting, &variant->settings, value, &reason)) {
            text_free(&label);
            return fail(err, ERROR_USAGE, "backtest: %s", reason.message);
        }
        text_format(&label, "%s%s%s", label.length ? ", " : "", tried->before, value);
    }
    variant->label = label.bytes;
    variants->count++;
    return 0;
}

static void backtest_variants_free(struct backtest_variants *variants)
{
    for (size_t i = 0; i < variants->count; i++)
        free(variants->list[i].label);
    free(variants->list);
    *variants = (struct backtest_variants){ 0 };
}

/* Makes a variant of the current settings, and one for each combination of the values.  Returns -1
 * with ERROR_USAGE if a value is invalid or if there are too many combinations. */
static int backtest_variants_make(struct backtest_variants *variants,
                                  const struct settings *settings,
                                  const struct name_list values[TRIED_SETTINGS], struct error *err)
{
    size_t count = 1;
    bool any = false;
    for (size_t key = 0; key < TRIED_SETTINGS; key++)
        if (values[key].count) {
            any = true;
            count *= values[key].count;
            if (count > VARIANTS_AT_MOST)
                return fail(err, ERROR_USAGE,
                            "backtest: too many combinations of settings; at most %d are allowed",
                            VARIANTS_AT_MOST);
        }
    *variants = (struct backtest_variants){ memory_zeroed(count + 1, sizeof *variants->list), 1 };
    variants->list[0] = (struct backtest_settings){ memory_text("now"), *settings };
    int result = 0;
    for (size_t i = 0; any && !result && i < count; i++)
        result = add_variant(variants, settings, values, i, err);
    if (result)
        backtest_variants_free(variants);
    return result;
}

struct backtest_options {
    struct shared_options shared;
    struct name_list values[TRIED_SETTINGS];
    struct option_time since, until;
    const char *every, *top_text;
    uint64_t every_s, top;
    bool points;
};

/* The request for one cluster, its results so far, and the answer to fill. */
struct backtest_command_candidate {
    const struct backtest_options *options;
    struct association_selection *selection;
    bool *any; /* set if at least one point was computed */
    const struct backtest_variants *variants;
    const char *cluster;
    struct times times;
    struct answer *answer;
    struct backtest *backtest;
    size_t variant; /* index of the current variant */
    /* indexed by node of the current point: not 0 if the association is selected */
    uint32_t *chosen;
    uint64_t done;
};

/* ---- Points ---- */

static bool wants(const void *context, const struct backtest_point *point, uint32_t node)
{
    const struct backtest_command_candidate *candidate = context;
    (void)point;
    return candidate->chosen[node] != 0;
}

static void backtest_command_add_values(const struct backtest_command_candidate *candidate,
                                        const struct backtest_point *point)
{
    const struct backtest_settings *variant = &candidate->variants->list[point->variant];
    for (uint32_t i = 0; i < point->tree->count; i++) {
        const struct node *node = &point->tree->nodes[i];
        if (!candidate->chosen[i])
            continue;
        answer_row(candidate->answer,
                   &(struct backtest_value){
                       .variant = variant->label,
                       .as_of = point->time,
                       .id = node->id,
                       .account = names_text(point->names, node->account),
                       .user = names_text(point->names, node->user),
                       .partition = names_text(point->names, node->partition),
                       .fairshare = variant->settings.algorithm->factor(&point->values[i]),
                       .usage_raw = point->values[i].usage_raw,
                       .level_fs = point->values[i].level_fs,
                   });
    }
}

static int backtest_command_take(void *context, const struct computation *computation,
                                 struct error *err)
{
    struct backtest_command_candidate *candidate = context;
    (void)err;
    const struct backtest_point point = {
        .variant = candidate->variant,
        .time = computation->record.as_of,
        .tree = computation->tree,
        .values = computation->values,
        .order = computation->order,
        .names = computation->accounting->names,
        .wants = wants,
        .context = candidate,
    };
    *candidate->any = true;
    for (uint32_t i = 0; i < point.tree->count; i++)
        selection_note(candidate->selection,
                       &(const struct association_name){
                           names_text(point.names, point.tree->nodes[i].account),
                           names_text(point.names, point.tree->nodes[i].user),
                           names_text(point.names, point.tree->nodes[i].partition) });
    candidate->chosen = selection_of_tree(candidate->selection, point.tree, point.names);
    if (candidate->options->points)
        backtest_command_add_values(candidate, &point);
    else
        backtest_add(candidate->backtest, &point);
    free(candidate->chosen);
    log_progress(candidate->cluster, ++candidate->done, "points computed");
    return 0;
}

static void backtest_command_skip(void *context, int64_t time, const struct error *reason)
{
    const struct backtest_command_candidate *candidate = context;
    log_note("%s: no point at %s: %s", candidate->cluster, time_text(time).bytes, reason->message);
}

/* ---- A cluster ---- */

static int try_variants(struct backtest_command_candidate *candidate,
                        const struct settings *settings, struct db **source, struct error *err)
{
    struct batch_records records;
    int result = batch_records_find(settings, candidate->cluster, &records, err);
    for (candidate->variant = 0; !result && candidate->variant < candidate->variants->count;
         candidate->variant++) {
        const struct settings *of_variant = &candidate->variants->list[candidate->variant].settings;
        struct batch batch = {
            .source = source_of(of_variant, *source, candidate->cluster),
            .records = records,
            .times = candidate->times.list,
            .count = candidate->times.count,
            .take = backtest_command_take,
            .skip = backtest_command_skip,
            .context = candidate,
        };
        size_t readings;
        result = batch_run(&batch, of_variant, source, &readings, err);
        if (!result)
            log_note("%s: %s: %zu points from %zu scans", candidate->cluster,
                     candidate->variants->list[candidate->variant].label, candidate->times.count,
                     readings);
    }
    batch_records_free(&records);
    log_progress_done();
    return result;
}

static void print_candidate(const struct backtest_command_candidate *candidate)
{
    const struct backtest_options *options = candidate->options;
    size_t count = candidate->variants->count;
    const char **labels = memory_zeroed(count, sizeof *labels);
    for (size_t i = 0; i < count; i++)
        labels[i] = candidate->variants->list[i].label;
    backtest_finish(candidate->backtest);
    const struct backtest_print print = { .cluster = candidate->cluster,
                                          .backtest = candidate->backtest,
                                          .labels = labels,
                                          .variants = count,
                                          .times = candidate->times.list,
                                          .time_count = candidate->times.count,
                                          .top = options->top,
                                          .has_sentences = table_is_page(&options->shared.table) };
    backtest_answer(&print, candidate->answer);
    free(labels);
}

static int try_cluster(struct backtest_command_candidate *candidate,
                       const struct settings *settings, struct db **source, struct error *err)
{
    const struct backtest_options *options = candidate->options;
    /* Nothing is stored, so history_days limits only the default. */
    const struct past_times_request asked = {
        .since = options->since.text ? &options->since.at : NULL,
        .until = options->until.text ? &options->until.at : NULL,
        .every_s = options->every_s,
        .any_age = true,
    };
    if (past_times_find(&asked, settings, *source, candidate->cluster, &candidate->times, err))
        return -1;
    candidate->backtest =
        backtest_create(candidate->variants->count, candidate->times.list, candidate->times.count);
    if (options->points)
        answer_cluster(candidate->answer, &(struct table_cluster){ .name = candidate->cluster });
    int result = try_variants(candidate, settings, source, err);
    if (!options->points && !result)
        print_candidate(candidate);
    backtest_destroy(candidate->backtest);
    times_free(&candidate->times);
    return result;
}

/* Rejects a cluster if any of its data is hidden from the user. */
static int backtest_command_refuse_private(const struct settings *settings,
                                           const struct cluster_names *clusters, struct error *err)
{
    struct permissions permissions = permissions_of_user(settings);
    struct db *results = NULL;
    int result = 0;
    if (permissions.login && results_open(&results, settings, DB_READER, err))
        result = err->class == ERROR_MISSING ? 0 : -1;
    else if (permissions.login)
        result = permissions_read_scopes(&permissions, settings, results, err);
    for (size_t i = 0; !result && i < clusters->count; i++)
        result = permissions_check_all(&permissions, clusters->names[i], err);
    db_close(results);
    permissions_free(&permissions);
    return result;
}

static int backtest_check_names(const struct association_selection *selection,
                                const struct terminology *terms, struct error *err)
{
    enum selection_kind kind;
    const char *missing = selection_missing(selection, &kind);
    const char *const kinds[] = { [SELECTION_NAMES] = terms->either,
                                  [SELECTION_ACCOUNTS] = terms->account,
                                  [SELECTION_USERS] = terms->user };
    return missing ? name_unknown(kinds[kind], missing, err) : 0;
}

static int backtest_command(struct command_context *context, struct error *err)
{
    const struct backtest_options *options = context->options;
    const struct settings *settings = context->settings;
    const struct shared_options *shared = context->shared;
    const struct cluster_names asked = { shared->clusters.values, shared->clusters.count };
    struct backtest_variants variants = { 0 };
    struct cluster_names clusters = { 0 };
    struct association_selection selection;
    bool any = false;
    struct db *source = NULL;
    selection_begin(&selection,
                    (const struct name_list[]){ shared->names, shared->accounts, shared->users });
    int result = backtest_variants_make(&variants, settings, options->values, err) ||
                         run_open_source(&source, settings, err) ||
                         clusters_wanted(settings, source, &asked, complain, &clusters, err) ||
                         backtest_command_refuse_private(settings, &clusters, err)
                     ? -1
                     : 0;
    for (size_t i = 0; !result && i < clusters.count; i++) {
        struct backtest_command_candidate candidate = { .options = options,
                                                        .selection = &selection,
                                                        .any = &any,
                                                        .variants = &variants,
                                                        .cluster = clusters.names[i],
                                                        .answer = context->answer };
        result = try_cluster(&candidate, settings, &source, err);
        if (result)
            fail_in(err, "cluster '%s'", clusters.names[i]);
    }
    if (!result && any)
        result = backtest_check_names(&selection, terminology_of(settings), err);
    selection_free(&selection);
    cluster_names_free(&clusters);
    backtest_variants_free(&variants);
    db_close(source);
    return result;
}

/* ---- The command line ---- */

static const struct command_option own_options[] = {
    { "half-life", NULL, 0, OPTION_AGAIN, AT(backtest_options, values[TRY_HALF_LIFE]), "DURATION",
      .help = "Try this half-life, such as 14-0" },
    { "algorithm", NULL, 0, OPTION_AGAIN, AT(backtest_options, values[TRY_ALGORITHM]), "NAME",
      .help = "Try this algorithm, such as classic" },
    { "conformance", NULL, 0, OPTION_AGAIN, AT(backtest_options, values[TRY_CONFORMANCE]), "NAME",
      .help = "Try this conformance: documents or slurmctld" },
    { "dampening", NULL, 0, OPTION_AGAIN, AT(backtest_options, values[TRY_DAMPENING]), "NUMBER",
      .help = "Try this FairShareDampeningFactor" },
    { "reset-period", NULL, 0, OPTION_AGAIN, AT(backtest_options, values[TRY_RESET]), "PERIOD",
      .help = "Try this reset period, such as monthly" },
    { "since", NULL, 0, OPTION_TIME, AT(backtest_options, since), "TIME",
      .help = "Start at TIME (default: oldest job or history_days)" },
    { "until", NULL, 0, OPTION_TIME, AT(backtest_options, until), "TIME",
      .help = "End at TIME (default: five minutes ago)" },
    { "every", NULL, 0, OPTION_VALUE, AT(backtest_options, every), "DURATION",
      .help = "Set the time between points, such as 6h (default: 1d)" },
    { "top", NULL, 0, OPTION_VALUE, AT(backtest_options, top_text), "NUMBER",
      .help = "Show only the NUMBER users whose order changes most" },
    { "points", NULL, 0, OPTION_FLAG, AT(backtest_options, points), NULL,
      .help = "Show the values at each time instead of a summary" },
    { .name = NULL },
};

static int backtest_check(struct command_context *context, struct error *err)
{
    struct backtest_options *options = context->options;
    if (option_count("top", options->top_text, &options->top, err) ||
        option_duration("every", options->every, "1d", &options->every_s, err))
        return -1;
    if (options->points)
        context->layout = &backtest_points_layout;
    /* The users whose order changes most are known only after all points have been computed. */
    return options->points && options->top_text
               ? fail(err, ERROR_USAGE, "backtest: --points and --top are mutually exclusive")
               : 0;
}

const struct command command_backtest = {
    .name = "backtest",
    .operand_count = OPERANDS_ANY,
    .group = GROUP_TRY,
    .summary = "Recompute history with other settings",
    .usage = "[OPTION...] [NAME...]",
    .description =
        "Recompute history with other settings and compare it with the current settings.\n"
        "The options of settings are repeatable; each combination of values is computed.\n"
        "\n" HELP_OF_NAMES,
    .shared = TAKES_CLUSTERS | TAKES_ACCOUNTS | TAKES_USERS | TAKES_VERBOSE | TAKES_TABLE,
    .options = own_options,
    .options_size = sizeof(struct backtest_options),
    .use = SETTINGS_FOR_ALL,
    .layout = &backtest_layout,
    .check = backtest_check,
    .answer = backtest_command,
};

/* SPDX-License-Identifier: MIT */
#include "command/command.h"
#include "command/explain/explain_days.h"
#include "command/explain/explain_jobs.h"
#include "command/explain/explain_waiting.h"
#include "core/insight/explain.h"
#include "core/tree/tree.h"
#include "report/explained.h"
#include "report/explanation.h"
#include "report/explanation_rows.h"
#include "report/explanation_weights.h"
#include "report/table.h"
#include "results/published.h"
#include "results/published_find.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "settings/words.h"
#include "util/error.h"

struct options {
    struct shared_options shared;
    bool jobs;
    bool published_only; /* the accounting database is not read */
};

static const struct table_layout *layout_of(const struct options *options)
{
    return options->jobs ? &weights_layout : &explanation_layout;
}

/* Whom it is about. */
struct pair {
    struct published_node one, other; /* of `other` the node may be NO_NODE */
};

static int find_pair(struct pair *pair, const struct published *published,
                     const struct options *options, struct error *err)
{
    const char *const *names = options->shared.operands;
    pair->one.node = pair->other.node = NO_NODE;
    if (published_find(published, NULL, names[0], &pair->one, err))
        return -1;
    return names[1] ? published_find(published, pair->one.cluster, names[1], &pair->other, err) : 0;
}

static int refuse_pair(const struct pair *pair, const char *const *names, struct error *err)
{
    uint32_t one = pair->one.node, other = pair->other.node;
    return fail(err, ERROR_USAGE, "'%s' is %s '%s'", names[0],
                one == other  ? "the same as"
                : one < other ? "above"
                              : "below",
                names[1]);
}

/* Print with the heaviest jobs, which are read now, or without. */
static int print_explained(const struct options *options, const struct settings *settings,
                           const struct published *published,
                           const struct published_cluster *cluster,
                           const struct explained *explained, struct error *err)
{
    struct text text = { 0 };
    struct weights weights = { 0 }, *jobs = options->jobs ? &weights : NULL;
    struct table *table = table_create(&text, layout_of(options), &options->shared.table, err);
    int result = table ? 0 : -1;
    if (!result && jobs)
        result = options->published_only ? weights_of_days(jobs, published, cluster, explained, err)
                                         : weights_read(jobs, settings, explained, err);
    if (!result && table_is_page(&options->shared.table))
        explanation_add_page(&text, explained, jobs);
    else if (!result)
        explanation_print(explained, jobs, table);
    if (!result)
        result = table_end(table, err) || command_print(&text, err) ? -1 : 0;
    weights_free(&weights);
    table_destroy(table);
    text_free(&text);
    return result;
}

/* A name that nobody has may be the id of a job of OpenPBS that waits; where it is none, `err`
 * stays as it is. */
static int explain_job(const struct settings *settings, const struct options *options,
                       struct error *err)
{
    struct text text = { 0 };
    struct error reason;
    bool found = false;
    int result = explain_waiting(&text, settings, &options->shared.clusters,
                                 options->shared.operands[0], &found, &reason);
    if (result)
        *err = reason;
    else
        result = found ? command_print(&text, err) : -1;
    text_free(&text);
    return result;
}

/* Whether it may be about a job: words about it are for people only. */
static bool may_be_job(const struct options *options, const struct error *err)
{
    const char *const *names = options->shared.operands;
    return err->class == ERROR_USAGE && names[0][0] >= '0' && names[0][0] <= '9' && !names[1] &&
           !options->jobs && table_is_page(&options->shared.table);
}

static int explain_published(const struct settings *settings, const struct options *options,
                             struct error *err)
{
    struct published published = { 0 };
    struct pair pair;
    struct explanation explanation;
    const struct published_filter filter = { .clusters = options->shared.clusters };
    int result = published_open_trees(&published, settings, &filter, err);
    if (!options->jobs || !options->published_only) /* jobs are read for long */
        published_close(&published);
    if (!result) {
        result = find_pair(&pair, &published, options, err);
        if (result && may_be_job(options, err)) {
            published_free(&published);
            return explain_job(settings, options, err);
        }
    }
    if (!result) {
        const struct published_cluster *cluster = pair.one.cluster;
        struct explain_input input = {
            cluster->tree,   &cluster->options, cluster->algorithm,
            cluster->values, cluster->order,    cluster->half_life != 0
        };
        struct explained explained = { cluster->name,     cluster->as_of,
                                       cluster->names,    &input,
                                       &explanation,      words_of(cluster->settings),
                                       &published.viewer, published_unit(cluster) };
        result = explain(&input, pair.one.node, pair.other.node, &explanation)
                     ? print_explained(options, settings, &published, cluster, &explained, err)
                     : refuse_pair(&pair, options->shared.operands, err);
    }
    published_free(&published);
    return result;
}

static const struct command_option own_options[] = {
    { "jobs", NULL, 'j', OPTION_FLAG, AT(jobs), NULL,
      .help = "the jobs and siblings that weigh most, from the accounting database" },
    { .name = NULL },
};

static int explain_command(const struct invocation *invocation, struct error *err)
{
    struct options options = { 0 };
    struct settings *settings = NULL;
    int result = -1;
    if (options_read(invocation, &options, err))
        goto done;
    if (!options.shared.operands[0]) {
        fail(err, ERROR_USAGE, "explain: whom? see `fairmill explain --help`");
        goto done;
    }
    options.published_only = command_reads_results_only(invocation);
    if (!table_check(layout_of(&options), &options.shared.table, err) &&
        !command_settings(
            &settings, invocation,
            options.jobs && !options.published_only ? SETTINGS_FOR_ALL : SETTINGS_FOR_READING, err))
        result = explain_published(settings, &options, err);
done:
    options_free(&options.shared);
    settings_destroy(settings);
    return result;
}

const struct command command_explain = {
    .name = "explain",
    .operands = "NAME [NAME]",
    .operand_count = 2,
    .answers = true,
    .summary = "why a user or account has its fairshare, or ranks behind another",
    .notes = "A NAME is a user, an account, or account/user[/partition]; account/ is no user.\n"
             "It may also be the id of a job of OpenPBS that waits, such as 123.server.\n",
    .shared = TAKES_CLUSTERS | TAKES_TABLE,
    .options = own_options,
    .run = explain_command,
};

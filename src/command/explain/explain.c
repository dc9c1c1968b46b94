/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

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
#include "report/job_explanation.h"
#include "report/table.h"
#include "results/published.h"
#include "results/published_find.h"
#include "settings/load.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

struct options {
    struct shared_options shared;
    bool jobs;
    bool published_only; /* the accounting database is not read */
};

static const struct table_layout *layout_of(const struct options *options)
{
    return options->jobs ? &weights_layout : &explanation_layout;
}

/* Whom it is about: a user, in each of the accounts, or two associations. */
struct subjects {
    struct published_node *all;
    size_t count;
    struct published_node other; /* the node may be NO_NODE */
};

static int find_subjects(struct subjects *subjects, const struct published *published,
                         const struct options *options, struct error *err)
{
    const char *const *names = options->shared.operands;
    struct published_node one;
    subjects->other.node = NO_NODE;
    if (!names[1])
        return published_find_all(published, names[0], &subjects->all, &subjects->count, err);
    if (published_find(published, NULL, names[0], &one, err) ||
        published_find(published, one.cluster, names[1], &subjects->other, err))
        return -1;
    subjects->all = memory_grown(NULL, 0, sizeof one);
    subjects->all[subjects->count++] = one;
    return 0;
}

static int refuse_pair(uint32_t one, uint32_t other, const char *const *names, struct error *err)
{
    return fail(err, ERROR_USAGE, "'%s' is %s '%s'", names[0],
                one == other  ? "the same as"
                : one < other ? "above"
                              : "below",
                names[1]);
}

/* What is printed, and where. */
struct printing {
    const struct options *options;
    const struct settings *settings;
    const struct published *published;
    struct text *text; /* for people */
    struct table *table;
};

/* Add it with the heaviest jobs, which are read now, or without. */
static int add_explained(const struct printing *printing, const struct published_cluster *cluster,
                         const struct explained *explained, struct error *err)
{
    const struct options *options = printing->options;
    struct weights weights = { 0 }, *jobs = options->jobs ? &weights : NULL;
    int result = 0;
    if (jobs)
        result = options->published_only
                     ? weights_of_days(jobs, printing->published, cluster, explained, err)
                     : weights_read(jobs, printing->settings, explained, err);
    if (!result && table_is_page(&options->shared.table)) {
        text_add(printing->text, printing->text->length ? "\n" : "");
        explanation_add_page(printing->text, explained, jobs);
    } else if (!result)
        explanation_print(explained, jobs, printing->table);
    weights_free(&weights);
    return result;
}

static int add_subject(const struct printing *printing, const struct published_node *one,
                       uint32_t other, struct error *err)
{
    const struct published_cluster *cluster = one->cluster;
    struct explanation explanation;
    struct explain_input input = { cluster->tree,   &cluster->options, cluster->algorithm,
                                   cluster->values, cluster->order,    cluster->half_life != 0 };
    struct explained explained = { cluster->name,
                                   cluster->as_of,
                                   cluster->names,
                                   &input,
                                   &explanation,
                                   words_of(cluster->settings),
                                   &printing->published->viewer,
                                   published_unit(cluster) };
    return explain(&input, one->node, other, &explanation)
               ? add_explained(printing, cluster, &explained, err)
               : refuse_pair(one->node, other, printing->options->shared.operands, err);
}

static int print_subjects(const struct options *options, const struct settings *settings,
                          const struct published *published, const struct subjects *subjects,
                          struct error *err)
{
    struct text text = { 0 };
    struct table *table = table_create(&text, layout_of(options), &options->shared.table, err);
    const struct printing printing = { options, settings, published, &text, table };
    int result = table ? 0 : -1;
    for (size_t i = 0; !result && i < subjects->count; i++)
        result = add_subject(&printing, &subjects->all[i], subjects->other.node, err);
    return command_print_table(table, &text, result, err);
}

/* Jobs that wait, by these ids: 1, 0 where they are not there. */
static int explain_jobs(const struct settings *settings, const struct options *options,
                        const char *const *ids, int count, struct error *err)
{
    struct text text = { 0 };
    bool found = false, as_page = table_is_page(&options->shared.table);
    struct table *table = table_create(&text, &job_explanation_layout, &options->shared.table, err);
    const struct waiting_question question = { settings, &options->shared.clusters, ids,
                                               count,    as_page ? &text : NULL,    table };
    int result = table ? explain_waiting(&question, &found, err) : -1;
    if (!result && found)
        result = table_end(table, err) || command_print(&text, err) ? -1 : 0;
    table_destroy(table);
    text_free(&text);
    return result ? -1 : found;
}

/* `explain job ID [ID]`. */
static int explain_named_jobs(const struct settings *settings, const struct options *options,
                              struct error *err)
{
    const char *const *ids = options->shared.operands + 1;
    if (ids[1] && !strcmp(ids[0], ids[1]))
        return fail(err, ERROR_USAGE, "explain: job '%s' is the same as '%s'", ids[0], ids[1]);
    int found = explain_jobs(settings, options, ids, ids[1] ? 2 : 1, err);
    if (found)
        return found < 0 ? -1 : 0;
    return fail(err, ERROR_USAGE,
                ids[1] ? "no cluster has both jobs '%s' and '%s' waiting, or they may not be shown"
                       : "no job '%s' waits, or it may not be shown",
                ids[0], ids[1]);
}

/* Whether the arguments are about jobs; who is called `job` is not asked about with an id. */
static bool asks_for_jobs(const struct options *options)
{
    const char *const *names = options->shared.operands;
    return names[1] && !strcmp(names[0], "job") && names[1][0] >= '0' && names[1][0] <= '9';
}

/* No user and no account has the name; true where it looks like the id of a job. */
static bool may_be_job(const struct options *options, const struct error *err)
{
    const char *const *names = options->shared.operands;
    return err->class == ERROR_USAGE && names[0][0] >= '0' && names[0][0] <= '9' && !names[1] &&
           !options->jobs;
}

static int explain_published(const struct settings *settings, const struct options *options,
                             struct error *err)
{
    struct published published = { 0 };
    struct subjects subjects = { .count = 0 };
    const struct published_filter filter = { .clusters = options->shared.clusters };
    bool as_job = false;
    int result = published_open_trees(&published, settings, &filter, err);
    if (!options->jobs || !options->published_only) /* jobs are read for long */
        published_close(&published);
    if (!result) {
        result = find_subjects(&subjects, &published, options, err);
        as_job = result && may_be_job(options, err);
    }
    if (!result)
        result = print_subjects(options, settings, &published, &subjects, err);
    free(subjects.all);
    published_free(&published);
    if (as_job) {
        struct error reason;
        int found = explain_jobs(settings, options, options->shared.operands, 1, &reason);
        if (found < 0)
            *err = reason;
        result = found > 0 ? 0 : -1;
    }
    return result;
}

static int explain_asked_jobs(const struct invocation *invocation, const struct options *options,
                              struct error *err)
{
    struct settings *settings = NULL;
    if (options->jobs)
        return fail(err, ERROR_USAGE,
                    "explain: --jobs is about users and accounts, not about jobs");
    int result = table_check(&job_explanation_layout, &options->shared.table, err);
    if (!result)
        result = command_settings(&settings, invocation, SETTINGS_FOR_READING, err);
    if (!result)
        result = explain_named_jobs(settings, options, err);
    settings_destroy(settings);
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
    if (asks_for_jobs(&options)) {
        result = explain_asked_jobs(invocation, &options, err);
        goto done;
    }
    if (options.shared.operands[2]) {
        fail(err, ERROR_USAGE, "explain: unexpected argument '%s'", options.shared.operands[2]);
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
    .operands = "NAME [NAME] | job ID [ID]",
    .operand_count = 3,
    .for_users = true,
    .summary = "why a user, account or waiting job is where it is, or behind another",
    .notes = "A NAME is a user, an account, or account/user[/partition]; account/ is no user.\n"
             "An ID is that of a job that waits.\n",
    .shared = TAKES_CLUSTERS | TAKES_TABLE,
    .options = own_options,
    .run = explain_command,
};

/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/explain/explain_jobs.h"
#include "command/explain/explain_limits.h"
#include "command/explain/explain_standing.h"
#include "core/insight/explain.h"
#include "core/tree/tree.h"
#include "report/answer.h"
#include "report/explained.h"
#include "report/job_explanation.h"
#include "report/priorities.h"
#include "report/terminal.h"
#include "report/usage_unit.h"
#include "results/published_find.h"
#include "results/published_jobs.h"
#include "results/published_part.h"
#include "results/slurm_difference.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

struct explain_options {
    struct shared_options shared;
    bool jobs;
    bool of_jobs;        /* the names are ids of pending jobs */
    bool of_self;        /* no name was given */
    bool published_only; /* the accounting database is not read */
    bool of_one;         /* one name, of which only the levels are needed */
};

/* ---- Users and accounts ---- */

/* Returns true if reading the whole tree takes long and is not needed.  PBS counts a minimum usage
 * for each user below an account. */
static bool explain_needs_part(const struct published_cluster *cluster)
{
    return cluster->associations > EXPLAIN_OUTLOOK_ASSOCIATIONS &&
           !(cluster->algorithm->counted_usage && cluster->options.pbs_minimum_usage > 0);
}

static int explain_read(struct command_context *context, struct error *err)
{
    const struct explain_options *options = context->options;
    struct published *published = &context->published;
    for (size_t i = 0; i < published->count; i++) {
        struct published_cluster *cluster = &published->clusters[i];
        bool enough = false;
        if (options->of_one && explain_needs_part(cluster) &&
            published_read_levels(published, cluster, &context->shared->names, &enough, err))
            return -1;
        if (!enough && published_read_tree(published, cluster, err))
            return -1;
    }
    return 0;
}

static int explain_find(const struct command_context *context, const char *name,
                        struct published_node **found, size_t *count, struct error *err)
{
    const struct explain_options *options = context->options;
    return (options->of_self ? published_find_user : published_find_all)(&context->published, name,
                                                                         found, count, err);
}

/* Finds an account, or a user in each of its accounts.  Reads the whole trees and searches again if
 * a part of a tree does not have the facts about one of them. */
static int explain_find_name(struct command_context *context, const char *name,
                             struct published_node **found, size_t *count, struct error *err)
{
    bool has = true;
    if (explain_find(context, name, found, count, err))
        return -1;
    for (size_t i = 0; i < *count; i++) {
        const struct published_cluster *cluster = (*found)[i].cluster;
        has &= !cluster->is_part || standings_part_has(cluster->tree, cluster->algorithm,
                                                       cluster->places, (*found)[i].node);
    }
    if (has)
        return 0;
    free(*found);
    *found = NULL;
    *count = 0;
    for (size_t i = 0; i < context->published.count; i++) {
        struct published_cluster *cluster = &context->published.clusters[i];
        if (cluster->is_part && published_read_tree(&context->published, cluster, err))
            return -1;
    }
    return explain_find(context, name, found, count, err);
}

static int refuse_pair(uint32_t one, uint32_t other, const char *const *names, struct error *err)
{
    return fail(err, ERROR_USAGE, "'%s' is %s '%s'", names[0],
                one == other  ? "the same as"
                : one < other ? "above"
                              : "below",
                names[1]);
}

/* Adds the explanation, with the jobs that contribute most if --jobs was given. */
static int add_explained(const struct command_context *context,
                         const struct published_cluster *cluster, const struct explained *explained,
                         struct error *err)
{
    const struct explain_options *options = context->options;
    struct weights weights = { 0 }, *jobs = options->jobs ? &weights : NULL;
    int result = 0;
    if (jobs)
        result = options->published_only
                     ? weights_of_days(jobs, &context->published, cluster, explained, err)
                     : weights_read(jobs, context->settings, explained, err);
    if (!result)
        explanation_answer(explained, jobs, context->answer);
    weights_free(&weights);
    return result;
}

/* Adds the explanation.  The facts for sentences are read only for the text output about one
 * association, because they take longer than the rows. */
static int explain_add_found(const struct command_context *context,
                             const struct published_cluster *cluster,
                             const struct explained *explained, struct error *err)
{
    const struct explanation *explanation = explained->explanation;
    struct explain_standing standing = { 0 };
    struct explained complete = *explained;
    int result = 0;
    if (explanation->other == NO_NODE && answer_wants_page(context->answer)) {
        result =
            explain_standing_read(&standing, &context->published, cluster, explanation->one, err);
        complete.standing = &standing.facts;
    }
    if (!result)
        result = add_explained(context, cluster, &complete, err);
    explain_standing_free(&standing);
    return result;
}

static int explain_command_add_subject(const struct command_context *context,
                                       const struct published_node *one, uint32_t other,
                                       struct error *err)
{
    const struct published_cluster *cluster = one->cluster;
    struct explanation explanation;
    struct explain_input input = { cluster->tree,   &cluster->options, cluster->algorithm,
                                   cluster->values, cluster->order,    cluster->half_life != 0 };
    struct explained explained = {
        .cluster = cluster->name,
        .as_of = cluster->as_of,
        .names = cluster->names,
        .input = &input,
        .explanation = &explanation,
        .terms = terminology_of(cluster->settings),
        .permissions = &context->published.permissions,
        .unit = published_unit(cluster),
        .usage = usage_unit_of(cluster->settings),
    };
    return explain(&input, one->node, other, &explanation)
               ? explain_add_found(context, cluster, &explained, err)
               : refuse_pair(one->node, other, context->shared->operands, err);
}

/* Says that Slurm schedules by other values, if that is so. */
static int explain_add_difference(const struct command_context *context,
                                  const struct published_cluster *cluster, struct error *err)
{
    bool differs;
    if (!answer_wants_page(context->answer) || !context->published.db)
        return 0;
    if (slurm_difference_read(&context->published, cluster, &differs, err))
        return -1;
    if (differs) {
        text_add(answer_text(context->answer), "\n");
        terminal_say(answer_text(context->answer), 0, "%s",
                     slurm_difference_note(
                         permissions_take_advice(&context->published.permissions, cluster->name)));
    }
    return 0;
}

/* Explains two associations of one cluster. */
static int explain_add_pair(const struct command_context *context, const char *const *names,
                            struct error *err)
{
    const struct published *published = &context->published;
    struct published_node one, other;
    return published_find(published, NULL, names[0], &one, err) ||
                   published_find(published, one.cluster, names[1], &other, err) ||
                   explain_command_add_subject(context, &one, other.node, err) ||
                   explain_add_difference(context, one.cluster, err)
               ? -1
               : 0;
}

/* Explains an account, or a user in each of its accounts. */
static int explain_add_name(struct command_context *context, const char *name, struct error *err)
{
    struct published_node *found;
    size_t count;
    int result = explain_find_name(context, name, &found, &count, err);
    for (size_t i = 0; !result && i < count; i++)
        result = explain_command_add_subject(context, &found[i], NO_NODE, err);
    if (!result && count)
        result = explain_add_difference(context, found[count - 1].cluster, err);
    free(found);
    return result;
}

/* ---- Pending jobs ---- */

/* Returns the job's best row, or any row if none is marked as the best.  A job whose own id was
 * given is preferred to an array that may have this task.  Returns NULL if the job is not pending
 * or if the user may not see it. */
static const struct prio_row *find_job(const struct prio_list *list,
                                       const struct permissions *permissions, const char *id)
{
    const struct prio_row *found = NULL;
    int most = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct prio_row *row = &list->rows[i];
        int fits = 1 + row->best + 2 * name_is(id, row->job_id);
        if (fits > most && prio_is_job(id, row) &&
            permissions_show_job(permissions, list->cluster, row->account, row->user)) {
            found = row;
            most = fits;
        }
    }
    return found;
}

/* Explains one or two jobs.  Sets `*found` to true if all these jobs are pending on this cluster
 * and the user may see them. */
static int explain_command_look_in(struct command_context *context,
                                   const struct published_cluster *cluster,
                                   const char *const ids[2], bool *found, struct error *err)
{
    const struct permissions *permissions = &context->published.permissions;
    struct prio_list *list = published_job_list(cluster);
    int result = published_jobs_read(context->published.db, list, NULL, err);
    struct job_explanation explanation = { .list = list,
                                           .max_age = cluster->settings->max_age_s,
                                           .terms = terminology_of(cluster->settings) };
    if (!result) {
        explanation.one = find_job(list, permissions, ids[0]);
        explanation.other = ids[1] ? find_job(list, permissions, ids[1]) : NULL;
        *found = explanation.one && (!ids[1] || explanation.other);
        if (*found && explanation.other)
            jobs_find_shared_pool(list, &explanation.one, &explanation.other);
    }
    struct text note = { 0 };
    text_add(&note, "");
    if (*found && answer_wants_page(context->answer))
        result = explain_limits_add(&note, &context->published, cluster, explanation.one, err);
    if (*found && !result) {
        explanation.note = note.bytes;
        job_explanation_answer(&explanation, context->answer);
        result = explain_add_difference(context, cluster, err);
    }
    text_free(&note);
    prio_list_destroy(list);
    return result;
}

static int explain_jobs(struct command_context *context, const char *const ids[2], bool *found,
                        struct error *err)
{
    const struct published *published = &context->published;
    int result = 0;
    *found = false;
    for (size_t i = 0; !result && !*found && i < published->count; i++)
        result = explain_command_look_in(context, &published->clusters[i], ids, found, err);
    return result;
}

/* Executes `explain job ID [ID]`. */
static int explain_named_jobs(struct command_context *context, struct error *err)
{
    const char *const *ids = context->shared->operands + 1;
    bool found;
    if (explain_jobs(context, ids, &found, err))
        return -1;
    return found
               ? 0
               : fail(
                     err, ERROR_USAGE,
                     ids[1]
                         ? "no cluster has both pending jobs '%s' and '%s', or you may not see them"
                         : "there is no pending job '%s', or you may not see it",
                     ids[0], ids[1]);
}

/* Explains the job whose id was given as NAME.  Called if no user or account has this name. */
static int explain_as_job(struct command_context *context, struct error *err)
{
    const char *const ids[] = { context->shared->names.values[0], NULL };
    struct error reason;
    bool found;
    if (command_answer_as(context, &job_explanation_layout, &reason) ||
        explain_jobs(context, ids, &found, &reason)) {
        *err = reason;
        return -1;
    }
    return found ? 0 : -1;
}

static int explain_answer(struct command_context *context, struct error *err)
{
    const struct explain_options *options = context->options;
    const char *const *operands = context->shared->operands;
    const struct name_list *names = &context->shared->names;
    int result = 0;
    if (options->of_jobs)
        return explain_named_jobs(context, err);
    if (explain_read(context, err))
        return -1;
    if (options->jobs && !options->published_only) /* reading jobs takes long */
        published_close(&context->published);
    if (operands[1])
        return explain_add_pair(context, operands, err);
    for (size_t i = 0; !result && i < names->count; i++)
        result = explain_add_name(context, names->values[i], err);
    return result && err->class == ERROR_USAGE && !options->jobs && !options->of_self &&
                   names->count == 1 && names->values[0][0] >= '0' && names->values[0][0] <= '9'
               ? explain_as_job(context, err)
               : result;
}

/* Returns true if the arguments are `job` and an id.  A user named `job` is not compared with an
 * id. */
static bool asks_for_jobs(const char *const *names)
{
    return names[1] && !strcmp(names[0], "job") && names[1][0] >= '0' && names[1][0] <= '9';
}

static int explain_check(struct command_context *context, struct error *err)
{
    struct explain_options *options = context->options;
    const char **names = options->shared.operands;
    options->of_self = !names[0] && !options->shared.names.count;
    if (options->of_self)
        *memory_append(&options->shared.names.values, &options->shared.names.count) =
            command_login(context->invocation->client);
    else if (names[0] && !names[1])
        name_list_add(&options->shared.names, names[0], strlen(names[0]));
    options->of_jobs = asks_for_jobs(names);
    if (options->of_jobs && options->jobs)
        return fail(err, ERROR_USAGE, "explain: --jobs applies to users and accounts, not to jobs");
    if (options->of_jobs && names[2] && !strcmp(names[1], names[2]))
        return fail(err, ERROR_USAGE, "explain: job '%s' is the same as '%s'", names[1], names[2]);
    if (!options->of_jobs && names[2])
        return fail(err, ERROR_USAGE, "explain: unexpected argument '%s'", names[2]);
    options->published_only = command_reads_results_only(context->invocation);
    options->of_one = !options->jobs && !names[1] && options->shared.names.count == 1;
    if (options->of_jobs) {
        context->layout = &job_explanation_layout;
    } else if (options->jobs) {
        context->layout = &weights_layout;
        if (!options->published_only)
            context->use = SETTINGS_FOR_ALL;
    }
    return 0;
}

static const struct command_option own_options[] = {
    { "jobs", NULL, 'j', OPTION_FLAG, AT(explain_options, jobs), NULL,
      .help = "Add the jobs, days and siblings with the most usage" },
    { .name = NULL },
};

const struct command command_explain = {
    .name = "explain",
    .operand_count = 3,
    .for_users = true,
    .group = GROUP_QUERY,
    .summary = "Explain a fairshare value or a job's priority",
    .usage = "[OPTION...] [NAME [NAME]]\njob [OPTION...] ID [ID]",
    .description =
        "Explain a fairshare value or a pending job's priority.  With two names or IDs,\n"
        "show which one ranks higher and which changes would reverse their order.\n"
        "Without NAME, explain your own fairshare value.\n"
        "\n" HELP_OF_NAMES,
    .shared = TAKES_NAME | TAKES_CLUSTERS | TAKES_TABLE,
    .options = own_options,
    .options_size = sizeof(struct explain_options),
    .use = SETTINGS_FOR_READING,
    .results = RESULTS_OPEN,
    .layout = &explanation_layout,
    .check = explain_check,
    .answer = explain_answer,
};

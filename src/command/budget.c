/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "command/command.h"
#include "report/budget.h"
#include "results/published_budgets.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/memory.h"

struct budget_options {
    struct shared_options shared;
};

/* Does not reveal whether a hidden user exists. */
static int budget_check_names(const struct published *published, const bool *met, struct error *err)
{
    const struct name_list *names = &published->filter.names;
    const char *either = published_words(published, NULL)->either;
    for (size_t i = 0; i < names->count; i++)
        if (!met[i])
            return permissions_are_limited(&published->permissions, PRIVATE_USAGE)
                       ? permissions_deny(names->values[i], err)
                       : fail(err, ERROR_USAGE,
                              "there is no %s '%s', and no QOS of that name with "
                              "a limit",
                              either, names->values[i]);
    return 0;
}

static int budget_read_all(struct published *published, struct budget_rows *lists,
                           struct error *err)
{
    bool *met = memory_zeroed(published->filter.names.count + 1, sizeof *met);
    int result = 0;
    for (size_t i = 0; !result && i < published->count; i++)
        result = published_budgets_read(published, &published->clusters[i], met, &lists[i], err);
    if (!result)
        result = budget_check_names(published, met, err);
    free(met);
    return result;
}

static int budget_print_cluster(const struct command_context *context,
                                const struct published_cluster *cluster, struct budget_rows *list,
                                struct error *err)
{
    const struct name_list *names = &context->shared->names;
    struct budget_view view = {
        .cluster = cluster->name,
        .as_of = cluster->as_of,
        .name = names->count == 1 ? names->values[0] : NULL,
        .all = list,
        .is_slurm = source_type_of(cluster->settings)->is_slurmdbd,
        .advice = permissions_take_advice(&context->published.permissions, cluster->name),
    };
    if (published_enforcement_read(&context->published, cluster, &view.enforced, err))
        return -1;
    budget_rows_sort(list);
    budget_add_answer(&view, context->answer);
    return 0;
}

static int budget_answer(struct command_context *context, struct error *err)
{
    struct published *published = &context->published;
    struct budget_rows *lists = memory_zeroed(published->count + 1, sizeof *lists);
    int result = budget_read_all(published, lists, err);
    for (size_t i = 0; !result && i < published->count; i++)
        result = budget_print_cluster(context, &published->clusters[i], &lists[i], err);
    for (size_t i = 0; i < published->count; i++)
        budget_rows_free(&lists[i]);
    free(lists);
    return result;
}

const struct command command_budget = {
    .name = "budget",
    .operand_count = OPERANDS_ANY,
    .for_users = true,
    .group = GROUP_QUERY,
    .summary = "Show limits of TRES-minutes and when they are reached",
    .usage = "[OPTION...] [NAME...]",
    .description = "Show each GrpTRESMins limit, its usage, and when the usage reaches the limit.\n"
                   "The limit that is reached first comes first.\n"
                   "\n"
                   "NAME is a QOS, a user, an account, account/user or account/user/partition.\n",
    .shared = TAKES_NAME | TAKES_CLUSTERS | TAKES_TABLE,
    .options_size = sizeof(struct budget_options),
    .use = SETTINGS_FOR_READING,
    .results = RESULTS_OPEN,
    .layout = &budget_layout,
    .answer = budget_answer,
};

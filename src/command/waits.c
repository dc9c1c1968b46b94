/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "report/waits.h"
#include "results/published_waits.h"
#include "settings/scheduler.h"
#include "util/calendar.h"
#include "util/error.h"
#include "util/memory.h"

/* The period without --since, in days. */
#define USUAL_DAYS 30

static const struct waits_grouping {
    const char *name;
    unsigned by;
} waits_groupings[] = {
    { "account", WAITS_BY_ACCOUNT }, { "user", WAITS_BY_USER }, { "partition", WAITS_BY_PARTITION },
    { "qos", WAITS_BY_QOS },         { "cluster", 0 },          { NULL, 0 }
};

struct waits_options {
    struct shared_options shared;
    struct name_list by_names, partitions, qos;
    const char *per_text;
    struct option_time since, until; /* INT64_MIN: USUAL_DAYS before; INT64_MAX: the last run */
    unsigned by;
    struct text by_text;             /* the names of `by` */
    const struct option_period *per; /* NULL: one period */
};

/* ---- Reading ---- */

static struct waits_request waits_request_of(const struct waits_options *options,
                                             const struct published_cluster *cluster)
{
    int64_t last = calendar_end_of_day(cluster->as_of);
    struct waits_request request = {
        .to = options->until.at < last ? calendar_start(CALENDAR_DAY, options->until.at, 0) : last,
        .by = options->by,
        .end_of = options->per ? options->per->end_of : NULL,
        .partitions = &options->partitions,
        .qos = &options->qos,
    };
    request.from = options->since.at == INT64_MIN
                       ? calendar_start(CALENDAR_DAY, request.to - 1, -USUAL_DAYS)
                       : options->since.at;
    return request;
}

static int waits_read_all(struct command_context *context, struct waits_list *lists,
                          struct error *err)
{
    struct published *published = &context->published;
    bool any = false;
    for (size_t i = 0; i < published->count; i++) {
        const struct waits_request request =
            waits_request_of(context->options, &published->clusters[i]);
        if (published_waits_read(published, &published->clusters[i], &request, &lists[i], err))
            return -1;
        any |= lists[i].count > 0;
    }
    if (published_check_names(published, err))
        return -1;
    return any ? 0
               : fail(err, ERROR_OTHER, "there are no recorded waits of such jobs in that period");
}

static int waits_answer(struct command_context *context, struct error *err)
{
    const struct waits_options *options = context->options;
    const struct published *published = &context->published;
    struct waits_list *lists = memory_zeroed(published->count + 1, sizeof *lists);
    int result = waits_read_all(context, lists, err);
    for (size_t i = 0; i < published->count; i++) {
        if (!result && lists[i].count)
            waits_add_answer(
                &(const struct waits_view){
                    .cluster = published->clusters[i].name,
                    .by = options->by_text.bytes,
                    .per = options->per ? options->per->name : NULL,
                    .list = &lists[i],
                    .terms = terminology_of(published->clusters[i].settings),
                },
                context->answer);
        waits_list_free(&lists[i]);
    }
    free(lists);
    return result;
}

/* ---- The command line ---- */

static int waits_check_by(struct waits_options *options, struct error *err)
{
    if (!options->by_names.count)
        name_list_add(&options->by_names, "account", strlen("account"));
    for (size_t i = 0; i < options->by_names.count; i++) {
        const char *name = options->by_names.values[i];
        const struct waits_grouping *grouping = waits_groupings;
        while (grouping->name && strcmp(grouping->name, name) != 0)
            grouping++;
        if (!grouping->name)
            return fail(err, ERROR_USAGE,
                        "waits: --by '%s': must be account, user, partition, qos or cluster", name);
        options->by |= grouping->by;
        text_format(&options->by_text, "%s%s", i ? "," : "", name);
    }
    return 0;
}

static int waits_check(struct command_context *context, struct error *err)
{
    struct waits_options *options = context->options;
    context->filter.of_jobs = true;
    options->since.at = INT64_MIN;
    options->until.at = INT64_MAX;
    if (options->per_text && !(options->per = option_period("per", options->per_text, err)))
        return -1;
    return waits_check_by(options, err);
}

static void waits_release(void *of)
{
    struct waits_options *options = of;
    text_free(&options->by_text);
}

static const struct command_option own_options[] = {
    { "since", NULL, 0, OPTION_TIME, AT(waits_options, since), "TIME",
      .help = "Start on this day (default: 30 days before the end)" },
    { "until", NULL, 0, OPTION_TIME, AT(waits_options, until), "TIME",
      .help = "End before this day (default: the day after the last run)" },
    { "by", NULL, 0, OPTION_LIST, AT(waits_options, by_names), "NAMES",
      .help = "Group by account, user, partition, qos or cluster" },
    { "per", NULL, 0, OPTION_VALUE, AT(waits_options, per_text), "PERIOD",
      .help = "Divide by month, week or day (default: undivided)" },
    { "partitions", "partition", 0, OPTION_LIST, AT(waits_options, partitions), "NAMES",
      .help = "Select only jobs in these partitions" },
    { "qos", NULL, 0, OPTION_LIST, AT(waits_options, qos), "NAMES",
      .help = "Select only jobs with these QOS" },
    { .name = NULL },
};

const struct command command_waits = {
    .name = "waits",
    .for_users = true,
    .group = GROUP_QUERY,
    .summary = "Show how long jobs waited, and whether fairshare helped",
    .usage = "[OPTION...]",
    .description =
        "Show the number of jobs that started, the median of the times for which they\n"
        "waited, and the 90th percentile (P90), for each account.\n"
        "\n"
        "Correlation is the rank correlation between fairshare factor and waiting time.\n"
        "Below 0, jobs with a higher factor waited less.\n",
    .shared = TAKES_CLUSTERS | TAKES_ACCOUNTS | TAKES_USERS | TAKES_TABLE,
    .options = own_options,
    .options_size = sizeof(struct waits_options),
    .use = SETTINGS_FOR_READING,
    .results = RESULTS_OPEN,
    .layout = &waits_layout,
    .check = waits_check,
    .answer = waits_answer,
    .release = waits_release,
};

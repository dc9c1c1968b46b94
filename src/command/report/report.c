/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <time.h>

#include "command/command.h"
#include "command/report/report_data.h"
#include "results/health.h"
#include "results/published.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "util/error.h"

#define USUAL_DAYS 30

struct options {
    struct shared_options shared;
    const char *output, *days_text;
    uint64_t days;
};

/* What is wrong with a cluster, in words. */
static void add_problems(struct text *text, const struct health *health, const char *cluster)
{
    const struct cluster_health *found = health_of(health, cluster);
    text_add(text, "");
    if (found)
        health_add_words(text, found);
}

static int add_clusters(struct published *published, const struct health *health,
                        const struct options *options, struct text *text, struct error *err)
{
    bool private = published_private(published); /* no user is named */
    page_begin(text, options->days, private);
    for (size_t i = 0; i < published->count; i++) {
        struct report_data data;
        struct text problems = { 0 };
        add_problems(&problems, health, published->clusters[i].name);
        int result = report_data_read(&data, published, &published->clusters[i], options->days,
                                      private, err);
        data.page.problems = problems.bytes;
        if (!result)
            page_add_cluster(text, &data.page, i == 0);
        report_data_free(&data);
        text_free(&problems);
        if (result)
            return -1;
    }
    return 0;
}

/* All from one snapshot. */
static int make_page(const struct settings *settings, const struct options *options,
                     struct text *text, struct error *err)
{
    struct published published;
    struct published_filter filter = { .clusters = options->shared.clusters };
    struct health health = { 0 };
    int result = published_open(&published, settings, &filter, err) ||
                         health_read(published.db, time(NULL), &health, err)
                     ? -1
                     : 0;
    text_add(text, page_before);
    if (!result)
        result = add_clusters(&published, &health, options, text, err);
    page_end(text);
    text_add(text, page_after);
    health_free(&health);
    published_free(&published);
    return result;
}

static int take_days(struct options *options, struct error *err)
{
    const char *days = options->days_text;
    options->days = USUAL_DAYS;
    if (days && (!number_unsigned(days, strlen(days), &options->days) || !options->days ||
                 options->days > 3660))
        return fail(err, ERROR_USAGE, "report: --days '%s': must be from 1 to 3660", days);
    return 0;
}

static const struct command_option own_options[] = {
    { "output", NULL, 'o', OPTION_VALUE, AT(output), "FILE",
      .help = "replace this file in one step, or write to this device or pipe; -: stdout" },
    { "days", NULL, 'd', OPTION_VALUE, AT(days_text), "NUMBER",
      .help = "so many days of history; usually 30" },
    { .name = NULL },
};

static int report_command(const struct invocation *invocation, struct error *err)
{
    struct options options = { 0 };
    struct settings *settings = NULL;
    struct text text = { 0 };
    int result = -1;
    if (options_read(invocation, &options, err) || take_days(&options, err) ||
        settings_load(&settings, invocation->settings_path, SETTINGS_FOR_READING, err))
        goto done;
    if (!make_page(settings, &options, &text, err))
        result = command_output(options.output, &text, err);
done:
    text_free(&text);
    options_free(&options.shared);
    settings_destroy(settings);
    return result;
}

const struct command command_report = {
    .name = "report",
    .operands = "",
    .summary = "one HTML page: the tree, use over time, the queue",
    .notes = "",
    .shared = TAKES_CLUSTERS,
    .options = own_options,
    .run = report_command,
};

/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/report/report_data.h"
#include "command/report/report_pages.h"
#include "command/report/report_use.h"
#include "results/health.h"
#include "results/tres_days.h"
#include "run/run.h"
#include "settings/settings.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/memory.h"

#define USUAL_DAYS 30

struct report_options {
    struct shared_options shared;
    const char *output, *directory, *days_text, *backtest;
    struct option_time since, until;
    bool jobs;
    struct report_request request;
};

/* Sets the page's text about the problems of a cluster, and the age of stale values. */
static void add_problems(struct report_cluster *read, const struct health *health)
{
    const struct cluster_health *found = health_of(health, read->data.page.name);
    text_add(&read->problems, "");
    if (found) {
        health_add_words(&read->problems, found);
        read->data.page.interval = found->interval;
        read->data.page.stale_after = found->stale_after;
    }
    read->data.page.problems = read->problems.bytes;
}

/* Removes the reasons why views cannot be read, because they name logins, and all users may see a
 * page.  Ignores the age of the results, because the browser's clock shows it when the page is
 * read. */
static void report_hide_reasons(struct health *health)
{
    for (size_t i = 0; i < health->count; i++) {
        health_ignore(&health->clusters[i], HEALTH_STALE);
        free(health->clusters[i].unreadable);
        health->clusters[i].unreadable = NULL;
    }
}

/* Reads all clusters.  A cluster without any selected account is omitted later, when pages are
 * written. */
static int report_read_clusters(struct report_cluster *read, struct published *published,
                                const struct settings *settings,
                                const struct report_options *options, struct error *err)
{
    struct health health = { 0 };
    const struct report_request *request = &options->request;
    int result = 0;
    if (request->tres)
        result = tres_days_find(published->db, &options->shared.clusters, request->tres, NULL, err);
    if (!result)
        result = health_read(published->db, settings, clock_now(), &health, err);
    for (size_t i = 0; !result && i < published->count; i++)
        result = report_data_read(&read[i].data, published, &published->clusters[i], request, err);
    if (!result)
        result = published_check_names(published, err);
    if (!result) {
        health_read_views(published->db, &health);
        report_hide_reasons(&health);
        for (size_t i = 0; i < published->count; i++)
            add_problems(&read[i], &health);
    }
    health_free(&health);
    return result;
}

/* Reads the usage by partition and QOS from the accounting database, for the time of the
 * results. */
static int read_use(struct report_cluster *read, const struct published *published,
                    const struct settings *settings, struct error *err)
{
    struct db *source = NULL;
    int result = run_open_source(&source, settings, err);
    for (size_t i = 0; !result && i < published->count; i++) {
        struct page_cluster *page = &read[i].data.page;
        double whole = published->clusters[i].values[0].usage_raw;
        result = report_use_read(page, settings, source, whole, err);
        if (result)
            fail_in(err, "cluster '%s'", page->name);
    }
    db_close(source);
    return result;
}

/* Finds each cluster in the file.  The file may lack some of the clusters, but not all. */
static int read_backtests(struct report_cluster *read, size_t count,
                          const struct backtest_file *file, struct error *err)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        struct page_cluster *page = &read[i].data.page;
        int there = backtest_file_find(file, page->name, &read[i].backtest, err);
        if (there < 0)
            return -1;
        if (there)
            page->backtest = &read[i].backtest;
        found += (size_t)there;
    }
    return found || !count
               ? 0
               : fail(err, ERROR_DATA,
                      "'%s' contains no values for the clusters of this report, such as '%s'",
                      file->path, read[0].data.page.name);
}

/* Reads everything from one snapshot of the results. */
static int report_answer(struct command_context *context, struct error *err)
{
    const struct settings *settings = context->settings;
    struct report_options *options = context->options;
    struct published *published = &context->published;
    options->request.since = options->since.at;
    options->request.until = options->until.at;
    struct report_cluster *read = memory_zeroed(published->count + 1, sizeof *read);
    int result = report_read_clusters(read, published, settings, options, err);
    struct text page = { 0 };
    if (!result && options->jobs)
        result = read_use(read, published, settings, err);
    struct backtest_file file = { 0 };
    if (!result && options->backtest)
        result = backtest_file_read(&file, options->backtest, err) ||
                         read_backtests(read, published->count, &file, err)
                     ? -1
                     : 0;
    if (!result && options->directory) {
        result = report_pages_write(options->directory, read, published->count, err);
    } else if (!result) {
        report_page_make(&page, read, published->count, NULL);
        result = command_output(options->output, &page, err);
    }
    text_free(&page);
    for (size_t i = 0; i < published->count; i++) {
        report_use_free(&read[i].data.page);
        report_data_free(&read[i].data);
        text_free(&read[i].problems);
        page_backtest_free(&read[i].backtest);
    }
    free(read);
    backtest_file_free(&file);
    return result;
}

static int report_check(struct command_context *context, struct error *err)
{
    struct report_options *options = context->options;
    struct report_request *request = &options->request;
    const char *days = options->days_text;
    options->request.days = USUAL_DAYS;
    if (days && (!number_unsigned(days, strlen(days), &options->request.days) ||
                 !options->request.days || options->request.days > 3660))
        return fail(err, ERROR_USAGE, "report: --days '%s': must be a number from 1 to 3660", days);
    if (days && options->since.text)
        return fail(err, ERROR_USAGE, "report: --since and --days are mutually exclusive");
    if (options->directory && options->output)
        return fail(err, ERROR_USAGE, "report: --each and --output are mutually exclusive");
    request->accounts = &options->shared.accounts;
    request->each = options->directory != NULL;
    options->since.at = INT64_MIN;
    options->until.at = INT64_MAX;
    context->filter.of_any_age = true;
    if (options->jobs)
        context->use = SETTINGS_FOR_ALL;
    return 0;
}

static const struct command_option own_options[] = {
    { "output", NULL, 'o', OPTION_VALUE, AT(report_options, output), "FILE",
      .help = "Replace FILE atomically (default: standard output)" },
    { "each", NULL, 0, OPTION_VALUE, AT(report_options, directory), "DIRECTORY",
      .help = "Write an index and a page for each account to DIRECTORY" },
    { "days", NULL, 'd', OPTION_VALUE, AT(report_options, days_text), "NUMBER",
      .help = "Show the usage of NUMBER days (default: 30)" },
    { "since", "from", 0, OPTION_TIME, AT(report_options, since), "TIME",
      .help = "Show the usage from TIME on (default: see --days)" },
    { "tres", NULL, 0, OPTION_VALUE, AT(report_options, request.tres), "NAME",
      .help = "Show usage of this TRES first (default: billed usage)" },
    { "jobs", NULL, 'j', OPTION_FLAG, AT(report_options, jobs), NULL,
      .help = "Add usage by partition and QOS; read the jobs for it" },
    { "backtest", NULL, 0, OPTION_VALUE, AT(report_options, backtest), "FILE",
      .help = "Add output of `backtest --json`; `-` is standard input" },
    { "until", "to", 0, OPTION_TIME, AT(report_options, until), "TIME",
      .help = "Show the usage up to TIME (default: the newest run)" },
    { .name = NULL },
};

const struct command command_report = {
    .name = "report",
    .group = GROUP_MONITOR,
    .summary = "Write an HTML report",
    .usage = "[OPTION...]",
    .description = "Write an HTML page with the shares, usage and places of groups and users.\n",
    .shared = TAKES_CLUSTERS | TAKES_ACCOUNTS,
    .options = own_options,
    .options_size = sizeof(struct report_options),
    .use = SETTINGS_FOR_READING,
    .results = RESULTS_OPEN,
    .check = report_check,
    .answer = report_answer,
};

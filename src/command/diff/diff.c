/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <sys/stat.h>

#include "command/command.h"
#include "command/diff/diff_causes.h"
#include "command/diff/diff_finder.h"
#include "command/diff/diff_values.h"
#include "report/differences.h"
#include "report/pbsfs_print.h"
#include "report/sprio_print.h"
#include "report/sshare_print.h"
#include "report/value_differences.h"
#include "results/published.h"
#include "results/published_jobs.h"
#include "settings/load.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "settings/slurm/slurm_settings.h"
#include "util/error.h"
#include "util/file.h"
#include "util/log.h"

/* Default of slurmctld's PriorityCalcPeriod. */
#define PERIOD_S 300
/* Default of OpenPBS's scheduler_iteration. */
#define CYCLE_S 600
#define PERIOD_AT_MOST_S 86400
#define TIME_UNKNOWN (-1)

struct diff_options {
    struct shared_options shared;
    const char *period_text;
    struct option_time at;   /* time of the output: --at, or the file's time */
    struct option_time step; /* 0 if not given */
    uint64_t period;         /* 0 if not given */
    struct text bytes;       /* the contents of the file */
    enum print_kind kind;
};

static struct span diff_text_of(const struct diff_options *options)
{
    return (struct span){ options->bytes.bytes, options->bytes.length };
}

static int diff_read_file(struct diff_options *options, struct error *err)
{
    struct stat status;
    if (file_read(options->shared.operands[0], &options->bytes, &status, err))
        return -1;
    options->at.at = S_ISREG(status.st_mode) ? (int64_t)status.st_mtime : TIME_UNKNOWN;
    options->kind = print_kind_of(diff_text_of(options));
    return 0;
}

static uint64_t period_of(const struct diff_options *options, const struct settings *settings)
{
    uint64_t period = settings->slurm ? slurm_calc_period(settings->slurm) : 0;
    if (options->period)
        return options->period;
    return period && period <= PERIOD_AT_MOST_S ? period : PERIOD_S;
}

/* Returns NULL if the user cannot read the settings for the accounting database, or if that
 * database cannot be opened.  The comparison then uses the published results alone. */
static struct db *diff_open_source(struct command_context *context)
{
    struct error why;
    struct db *source;
    const struct settings *settings = command_source_settings(context, &why);
    if (settings && !db_open(&source, &settings->source, DB_SOURCE, &why))
        return source;
    log_note("%s", why.message);
    return NULL;
}

static const struct settings *diff_settings(struct command_context *context)
{
    struct error ignored;
    const struct settings *settings = command_source_settings(context, &ignored);
    return settings ? settings : context->settings;
}

/* Removes the users that the requesting user may not see. */
static void drop_others(struct differences *differences, const char *login)
{
    size_t kept = 0;
    for (size_t i = 0; i < differences->count; i++)
        if (!login || !differences->rows[i].is_user || !strcmp(differences->rows[i].user, login))
            differences->rows[kept++] = differences->rows[i];
    differences->count = kept;
}

static int diff_read_associations(struct sshare_print *print, const struct diff_options *options,
                                  const char *cluster, struct error *err)
{
    const struct span text = diff_text_of(options);
    switch (options->kind) {
    case PRINT_OF_ASSOC_MGR:
        return assoc_mgr_print_read(print, text, cluster, err);
    case PRINT_OF_JSON:
        return sshare_json_read(print, text, cluster, err);
    default:
        return sshare_print_read(print, text, cluster, err);
    }
}

/* Compares associations.  Returns 0 if all differences are explained, 1 if a difference is
 * unexplained, or -1 on error. */
static int diff_associations(struct command_context *context,
                             const struct published_cluster *cluster, struct error *err)
{
    const struct diff_options *options = context->options;
    struct differences differences = { 0 };
    struct sshare_print print;
    published_close(&context->published);
    if (diff_read_associations(&print, options, cluster->name, err))
        return fail_in(err, "'%s'", options->shared.operands[0]);
    struct db *source = diff_open_source(context);
    const struct settings *settings = diff_settings(context);
    const struct diff_case asked = {
        .settings = settings,
        .cluster = cluster,
        .login = permissions_only_login(&context->published.permissions),
        .print = &print,
        .source = source,
        .printed_at = options->at.at,
        .period = period_of(options, settings),
        .newest_step = (uint64_t)options->step.at,
        .ends_free = settings->slurm && !slurm_enforces_limits(settings->slurm),
    };
    int result = diff_causes_find(&asked, &differences, err);
    db_close(source);
    sshare_print_free(&print);
    if (!result) {
        drop_others(&differences, asked.login);
        differences_answer(&differences, context->answer);
        result = !differences_are_explained(&differences);
    }
    diff_causes_free(&differences);
    return result;
}

static int find_value_differences(struct command_context *context,
                                  const struct published_cluster *cluster, struct prio_list *jobs,
                                  struct value_differences *differences, struct error *err)
{
    const struct diff_options *options = context->options;
    struct sprio_print sprio = { 0 };
    struct pbsfs_print pbsfs = { 0 };
    struct db *source = NULL;
    int result = jobs ? published_jobs_read(context->published.db, jobs, NULL, err) : 0;
    published_close(&context->published);
    if (!result && !jobs && !scheduler_of(cluster->settings)->has_pbsfs)
        result = fail(err, ERROR_USAGE,
                      "diff: '%s' is pbsfs output, but cluster '%s' does not have layout = pbs",
                      options->shared.operands[0], cluster->name);
    else if (!result && (jobs ? sprio_print_read(&sprio, diff_text_of(options), cluster->name, err)
                              : pbsfs_print_read(&pbsfs, diff_text_of(options), err)))
        result = fail_in(err, "'%s'", options->shared.operands[0]);
    if (!result) {
        source = diff_open_source(context);
        uint64_t cycle = options->period ? options->period : CYCLE_S;
        const struct settings *settings = diff_settings(context);
        const struct diff_values_case asked = {
            settings,
            permissions_only_login(&context->published.permissions),
            source,
            options->at.at,
            jobs ? period_of(options, settings) : cycle,
        };
        result = jobs ? diff_jobs_find(&asked, &sprio, jobs, differences, err)
                      : diff_pbs_find(&asked, &pbsfs, cluster, differences, err);
    }
    db_close(source);
    sprio_print_free(&sprio);
    pbsfs_print_free(&pbsfs);
    return result;
}

/* Compares the values of jobs, or of OpenPBS's entities.  The return value is that of
 * diff_associations(). */
static int diff_values(struct command_context *context, const struct published_cluster *cluster,
                       struct error *err)
{
    const struct diff_options *options = context->options;
    struct prio_list *jobs = options->kind == PRINT_OF_SPRIO ? published_job_list(cluster) : NULL;
    struct value_differences differences = { 0 };
    int result = find_value_differences(context, cluster, jobs, &differences, err);
    if (!result) {
        value_differences_answer(&differences, context->answer);
        result = !value_differences_are_explained(&differences);
    }
    value_differences_free(&differences);
    prio_list_destroy(jobs);
    return result;
}

/* Fails if the time of the output is unknown.  Sets options->step to the newest decay step at or
 * before the output.  slurmctld's decay steps are one period apart, so the time of one step
 * determines the times of all other steps. */
static int diff_check_times(struct diff_options *options, const struct settings *settings,
                            struct error *err)
{
    int64_t period = (int64_t)period_of(options, settings), at = options->at.at;
    if (at == TIME_UNKNOWN)
        return fail(err, ERROR_USAGE,
                    "diff: '%s' is not a regular file, so its time is unknown; use --at TIME",
                    options->shared.operands[0]);
    int64_t *step = &options->step.at;
    if (!*step)
        return 0;
    if (*step > at)
        return fail(err, ERROR_USAGE, "diff: --step is later than the output (see --at)");
    *step = at - (at - *step) % period;
    return 0;
}

static int diff_answer(struct command_context *context, struct error *err)
{
    struct diff_options *options = context->options;
    const struct published_cluster *cluster = published_only(&context->published, err);
    if (!cluster || diff_check_times(options, diff_settings(context), err))
        return -1;
    return context->layout == &differences_layout ? diff_associations(context, cluster, err)
                                                  : diff_values(context, cluster, err);
}

/* The type of the output decides which results are read.  Results of any age are accepted: the
 * output may be old, and the answer shows the times of the output and of the results. */
static int diff_check(struct command_context *context, struct error *err)
{
    struct diff_options *options = context->options;
    const char *period = options->period_text, *cluster;
    if (!options->shared.operands[0])
        return fail(err, ERROR_USAGE, "diff: missing FILE; see `fairmill help diff`");
    if (option_list_one(&options->shared.clusters, "cluster", &cluster, err))
        return -1;
    if (period && (!duration_parse(period, &options->period) || !options->period ||
                   options->period > PERIOD_AT_MOST_S))
        return fail(err, ERROR_USAGE,
                    "diff: --period '%s': must be 1 to 86400 seconds, or a number and a unit (m, "
                    "h, d or w)",
                    period);
    if (diff_read_file(options, err))
        return -1;
    context->filter.of_any_age = true;
    if (options->kind == PRINT_OF_SPRIO) {
        context->results = RESULTS_OPEN;
        context->layout = &value_differences_layouts[VALUES_OF_JOBS];
    } else if (options->kind == PRINT_OF_PBSFS) {
        context->layout = &value_differences_layouts[VALUES_OF_ENTITIES];
    }
    return 0;
}

static void diff_release(void *options)
{
    text_free(&((struct diff_options *)options)->bytes);
}

static const struct command_option own_options[] = {
    { "at", NULL, 0, OPTION_TIME, AT(diff_options, at), "TIME",
      .help = "Set the time of the output (default: FILE's mtime)" },
    { "period", NULL, 0, OPTION_VALUE, AT(diff_options, period_text), "DURATION",
      .help = "Set the cycle (default: slurm.conf's; pbsfs: 600s)" },
    { "step", NULL, 0, OPTION_TIME, AT(diff_options, step), "TIME",
      .help = "Set the time of one decay (default: found by search)" },
    { .name = NULL },
};

const struct command command_diff = {
    .name = "diff",
    .operand_count = 1,
    .group = GROUP_CORRECT,
    .summary = "Compare results with sshare, sprio or pbsfs output",
    .usage = "[OPTION...] FILE",
    .description =
        "Compare fairmill's values with the output of Slurm or OpenPBS, and explain the\n"
        "differences.\n"
        "\n"
        "FILE has the output of `sshare -a -l -P -m`, `sshare -a --json`, `sprio -l`,\n"
        "`scontrol show assoc_mgr`, `pbsfs -p` or `pbsfs -g NAME`.  `-` stands for\n"
        "standard input.\n",
    .shared = TAKES_CLUSTERS | TAKES_VERBOSE | TAKES_TABLE,
    .options = own_options,
    .options_size = sizeof(struct diff_options),
    .use = SETTINGS_FOR_READING,
    .results = RESULTS_TREES,
    .layout = &differences_layout,
    .check = diff_check,
    .answer = diff_answer,
    .release = diff_release,
};

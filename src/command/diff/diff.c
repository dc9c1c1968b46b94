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
#include "report/sshare_json.h"
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

/* slurmctld's PriorityCalcPeriod where nobody says another. */
#define PERIOD_S 300
/* OpenPBS's scheduler_iteration likewise. */
#define CYCLE_S 600
#define PERIOD_AT_MOST_S 86400

struct diff_options {
    struct shared_options shared;
    const char *at_text, *period_text, *step_text;
    int64_t at;
    bool has_at;
    bool has_source;       /* the settings name an accounting database */
    uint64_t period, step; /* 0: not said */
};

/* The print; without --at its file's time is taken for that of the print. */
static int diff_read_file(struct diff_options *options, struct text *bytes, struct error *err)
{
    struct stat status;
    if (file_read(options->shared.operands[0], bytes, &status, err))
        return -1;
    if (!options->has_at && !S_ISREG(status.st_mode))
        return fail(err, ERROR_USAGE, "diff: '%s' is no file with a time of its own: use --at",
                    options->shared.operands[0]);
    if (!options->has_at)
        options->at = (int64_t)status.st_mtime;
    return 0;
}

static uint64_t period_of(const struct diff_options *options, const struct settings *settings)
{
    uint64_t period = settings->slurm ? slurm_calc_period(settings->slurm) : 0;
    if (options->period)
        return options->period;
    return period && period <= PERIOD_AT_MOST_S ? period : PERIOD_S;
}

/* NULL where it cannot be read. */
static struct db *diff_open_source(const struct diff_options *options,
                                   const struct settings *settings)
{
    struct error why;
    struct db *source;
    if (!options->has_source)
        return NULL;
    if (!db_open(&source, &settings->source, DB_SOURCE, &why))
        return source;
    log_note("%s", why.message);
    return NULL;
}

/* Leave only what may be shown. */
static void drop_others(struct differences *differences, const char *login)
{
    size_t kept = 0;
    for (size_t i = 0; i < differences->count; i++)
        if (!login || !differences->rows[i].is_user || !strcmp(differences->rows[i].user, login))
            differences->rows[kept++] = differences->rows[i];
    differences->count = kept;
}

/* The clusters, and what was printed of one of them. */
struct input {
    struct published published;
    const struct published_cluster *cluster;
    struct text bytes;
};

static struct span diff_text_of(const struct input *input)
{
    return (struct span){ input->bytes.bytes, input->bytes.length };
}

static int diff_read_associations(struct sshare_print *print, const struct input *input,
                                  struct error *err)
{
    const struct span text = diff_text_of(input);
    const char *cluster = input->cluster->name;
    switch (print_kind_of(text)) {
    case PRINT_OF_ASSOC_MGR:
        return assoc_mgr_print_read(print, text, cluster, err);
    case PRINT_OF_JSON:
        return sshare_json_read(print, text, cluster, err);
    default:
        return sshare_print_read(print, text, cluster, err);
    }
}

static int find_differences(const struct diff_options *options, const struct settings *settings,
                            const struct input *input, struct differences *differences,
                            struct error *err)
{
    struct sshare_print print;
    if (diff_read_associations(&print, input, err))
        return fail_in(err, "'%s'", options->shared.operands[0]);
    struct db *source = diff_open_source(options, settings);
    struct diff_case asked = {
        .settings = settings,
        .cluster = input->cluster,
        .login = permissions_only_login(&input->published.permissions),
        .print = &print,
        .source = source,
        .printed_at = options->at,
        .period = period_of(options, settings),
        .newest_step = options->step,
        .ends_free = settings->slurm && !slurm_enforces_limits(settings->slurm),
    };
    int result = diff_causes_find(&asked, differences, err);
    db_close(source);
    sshare_print_free(&print);
    if (!result)
        drop_others(differences, permissions_only_login(&input->published.permissions));
    return result;
}

/* Any known step of slurmctld will do, since steps are a period apart. */
static int align_step(struct diff_options *options, const struct settings *settings,
                      struct error *err)
{
    uint64_t period = period_of(options, settings), at = (uint64_t)options->at;
    if (!options->step)
        return 0;
    if (options->step > at)
        return fail(err, ERROR_USAGE, "diff: --step is later than the print");
    options->step = at - (at - options->step) % period;
    return 0;
}

/* Of any age: an output may be old, and diff says of when both are.  Of the cluster its tree is
 * read, or its jobs (NULL: the tree). */
static int read_published(struct input *input, const struct settings *settings,
                          const struct diff_options *options, struct prio_list **jobs,
                          struct error *err)
{
    struct published *published = &input->published;
    const struct published_filter filter = { .clusters = options->shared.clusters,
                                             .of_any_age = true };
    if ((jobs ? published_open(published, settings, &filter, err)
              : published_open_trees(published, settings, &filter, err)) ||
        !(input->cluster = published_only(published, err)))
        return -1;
    if (jobs)
        *jobs = published_job_list(input->cluster);
    if (jobs && published_jobs_read(published->db, *jobs, err))
        return -1;
    published_close(published);
    return 0;
}

/* 0, 1 where something is left unexplained, or -1: of associations. */
static int diff_associations(struct diff_options *options, const struct settings *settings,
                             struct input *input, struct text *text, struct error *err)
{
    struct differences differences = { 0 };
    int result = -1;
    struct table *table = table_create(text, &differences_layout, &options->shared.table, err);
    if (!table || read_published(input, settings, options, NULL, err) ||
        find_differences(options, settings, input, &differences, err))
        goto done;
    if (table_is_page(&options->shared.table))
        differences_add_page(text, &differences);
    else
        differences_print(&differences, table);
    if (!table_end(table, err))
        result = !differences_are_explained(&differences);
done:
    diff_causes_free(&differences);
    table_destroy(table);
    return result;
}

static int find_value_differences(const struct diff_options *options,
                                  const struct settings *settings, const struct input *input,
                                  struct prio_list *jobs, struct value_differences *differences,
                                  struct error *err)
{
    struct sprio_print sprio = { 0 };
    struct pbsfs_print pbsfs = { 0 };
    if (!jobs && !scheduler_of(input->cluster->settings)->has_pbsfs)
        return fail(err, ERROR_USAGE,
                    "diff: '%s' is of pbsfs, and cluster '%s' is not of layout = pbs",
                    options->shared.operands[0], input->cluster->name);
    if (jobs ? sprio_print_read(&sprio, diff_text_of(input), input->cluster->name, err)
             : pbsfs_print_read(&pbsfs, diff_text_of(input), err))
        return fail_in(err, "'%s'", options->shared.operands[0]);
    struct db *source = diff_open_source(options, settings);
    uint64_t cycle = options->period ? options->period : CYCLE_S;
    const struct diff_values_case asked = {
        settings,    permissions_only_login(&input->published.permissions), source,
        options->at, jobs ? period_of(options, settings) : cycle,
    };
    int result = jobs ? diff_jobs_find(&asked, &sprio, jobs, differences, err)
                      : diff_pbs_find(&asked, &pbsfs, input->cluster, differences, err);
    db_close(source);
    sprio_print_free(&sprio);
    pbsfs_print_free(&pbsfs);
    return result;
}

/* Likewise, of jobs or of entities. */
static int diff_values(struct diff_options *options, const struct settings *settings,
                       struct input *input, struct text *text, struct error *err)
{
    bool of_jobs = print_kind_of(diff_text_of(input)) == PRINT_OF_SPRIO;
    const struct table_layout *layout =
        &value_differences_layouts[of_jobs ? VALUES_OF_JOBS : VALUES_OF_ENTITIES];
    struct value_differences differences = { 0 };
    struct prio_list *list = NULL;
    int result = -1;
    struct table *table = table_create(text, layout, &options->shared.table, err);
    if (!table || read_published(input, settings, options, of_jobs ? &list : NULL, err) ||
        find_value_differences(options, settings, input, list, &differences, err))
        goto done;
    if (table_is_page(&options->shared.table))
        value_differences_add_page(text, &differences);
    else
        value_differences_print(&differences, table);
    if (!table_end(table, err))
        result = !value_differences_are_explained(&differences);
done:
    value_differences_free(&differences);
    prio_list_destroy(list);
    table_destroy(table);
    return result;
}

static int diff_print(struct diff_options *options, const struct settings *settings,
                      struct input *input, struct text *text, struct error *err)
{
    switch (print_kind_of(diff_text_of(input))) {
    case PRINT_OF_SPRIO:
    case PRINT_OF_PBSFS:
        return diff_values(options, settings, input, text, err);
    default:
        return diff_associations(options, settings, input, text, err);
    }
}

static int diff_published(struct diff_options *options, const struct settings *settings,
                          struct error *err)
{
    struct input input = { 0 };
    struct text text = { 0 };
    int result = -1;
    if (!diff_read_file(options, &input.bytes, err) && !align_step(options, settings, err))
        result = diff_print(options, settings, &input, &text, err);
    if (result >= 0 && command_print(&text, err))
        result = -1;
    text_free(&text);
    published_free(&input.published);
    text_free(&input.bytes);
    return result;
}

static int diff_check_options(struct diff_options *options, struct error *err)
{
    const char *period = options->period_text, *cluster;
    int64_t time;
    if (!options->shared.operands[0])
        return fail(err, ERROR_USAGE, "diff: which file? see `fairmill help diff`");
    if (option_list_one(&options->shared.clusters, "cluster", &cluster, err) ||
        option_time("at", options->at_text, &options->at, err) ||
        option_time("step", options->step_text, &time, err))
        return -1;
    options->has_at = options->at_text != NULL;
    if (period && (!duration_parse(period, &options->period) || !options->period ||
                   options->period > PERIOD_AT_MOST_S))
        return fail(err, ERROR_USAGE,
                    "diff: --period '%s' must be a number from 1 to 86400, or "
                    "with m, h, d or w behind it",
                    period);
    options->step = options->step_text ? (uint64_t)time : 0;
    return 0;
}

/* With the accounting database where this user may read its settings, else without. */
static int load_settings(struct settings **settings, const char *path, struct diff_options *options,
                         struct error *err)
{
    struct error why;
    options->has_source = !settings_load(settings, path, SETTINGS_FOR_ALL, &why);
    if (options->has_source)
        return 0;
    if (settings_load(settings, path, SETTINGS_FOR_READING, err))
        return -1;
    log_note("%s", why.message);
    return 0;
}

static const struct command_option own_options[] = {
    { "at", NULL, 0, OPTION_VALUE, AT(diff_options, at_text), "TIME",
      .help = "when it was printed; else the file's time" },
    { "period", NULL, 0, OPTION_VALUE, AT(diff_options, period_text), "TIME",
      .help = "slurmctld's PriorityCalcPeriod; else slurm.conf's, else 300 s; "
              "or OpenPBS's scheduler_iteration, else 600 s" },
    { "step", NULL, 0, OPTION_VALUE, AT(diff_options, step_text), "TIME",
      .help = "when slurmctld decayed usage, if known; else it is found" },
    { .name = NULL },
};

static int diff_command(const struct invocation *invocation, void *of, struct error *err)
{
    struct diff_options *options = of;
    struct settings *settings = NULL;
    int result = -1;
    log_set_verbose(options->shared.verbose);
    /* Times of the command line are of the settings' time zone. */
    if (!load_settings(&settings, invocation->settings_path, options, err) &&
        !diff_check_options(options, err))
        result = diff_published(options, settings, err);
    settings_destroy(settings);
    return result;
}

const struct command command_diff = {
    .name = "diff",
    .operands = "FILE",
    .operand_count = 1,
    .summary = "our values against what Slurm or pbsfs printed, and why they differ",
    .notes = "FILE is the output of `sshare -a -l -P -m`, `sshare -a --json`, `sprio -l`,\n"
             "`scontrol show assoc_mgr`, `pbsfs -p` or `pbsfs -g NAME`; - is standard input.\n",
    .shared = TAKES_CLUSTERS | TAKES_VERBOSE | TAKES_TABLE,
    .options = own_options,
    .options_size = sizeof(struct diff_options),
    .run = diff_command,
};

/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/apply/apply_plan.h"
#include "command/apply/apply_slurm.h"
#include "command/apply/apply_values.h"
#include "command/command.h"
#include "report/permissions.h"
#include "report/priorities.h"
#include "results/health.h"
#include "results/published.h"
#include "results/published_jobs.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/file.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/text.h"

struct apply_options {
    struct shared_options shared;
    bool yes, add, clear, lua;
    const char *min_change_text, *most_text, *deadline_text, *values;
    uint64_t min_change; /* in units of the site factor; 0: a thousandth of the weight */
    uint64_t most;       /* updates per pass */
    uint64_t deadline_s;
};

/* One pass. */
struct apply_pass {
    struct command_context *context;
    const struct apply_options *options;
    struct slurm_access access;
    struct slurm_config config;
    struct present_job *present;
    size_t present_count;
    struct published_cluster *cluster;
    uint64_t weight; /* of fairshare in the published run */
    struct wanted_job *wanted;
    size_t wanted_count;
    struct apply_plan plan;
};

/* ---- conditions ---- */

static int apply_check_config(const struct apply_pass *pass, struct error *err)
{
    const struct slurm_config *config = &pass->config;
    const char *plugin = config->site_factor_plugin ? config->site_factor_plugin : "";
    if (strcmp(config->priority_type, "priority/multifactor") != 0)
        return fail(err, ERROR_SETTINGS,
                    "apply: site factors have no effect with PriorityType=%s; they need "
                    "priority/multifactor",
                    config->priority_type);
    if (*plugin && strcmp(plugin, "site_factor/none") != 0)
        return fail(err, ERROR_SETTINGS,
                    "apply: slurmctld sets site factors itself: PrioritySiteFactorPlugin=%s",
                    plugin);
    if (config->weight_fairshare && !pass->options->add && !pass->options->clear)
        return fail(err, ERROR_SETTINGS,
                    "apply: PriorityWeightFairshare of slurmctld is %llu, so Slurm's own fairshare "
                    "would be added; set it to 0, or use --add",
                    (unsigned long long)config->weight_fairshare);
    /* slurmctld does not limit root. */
    if (config->limits_rate && pass->options->yes && geteuid() != 0)
        log_warning("SlurmctldParameters has rl_enable, which can delay the updates beyond the "
                    "deadline; slurmctld does not limit root");
    return 0;
}

static int apply_find_cluster(struct apply_pass *pass, struct error *err)
{
    struct published *published = &pass->context->published;
    const char *name = pass->config.cluster;
    for (size_t i = 0; i < published->count; i++)
        if (name_is(name, published->clusters[i].name))
            pass->cluster = &published->clusters[i];
    if (!pass->cluster)
        return fail(err, ERROR_SETTINGS,
                    "apply: the cluster of slurmctld is '%s', which is not published; check "
                    "SLURM_CONF",
                    name);
    if (scheduler_of(pass->cluster->settings)->orders_by_formula)
        return fail(err, ERROR_SETTINGS, "apply: '%s' is published as a cluster of OpenPBS", name);
    return 0;
}

/* Old values could be older than values that another pass has set. */
static int apply_check_age(const struct apply_pass *pass, struct error *err)
{
    int64_t limit, age = clock_now() - pass->cluster->as_of;
    if (health_stale_after(pass->context->published.db, pass->cluster->name, &limit, err))
        return -1;
    if (age <= limit)
        return 0;
    struct text words = { 0 };
    text_add_duration(&words, age);
    fail(err, ERROR_OTHER,
         "apply: the results of cluster '%s' are stale: %s old; see `fairmill "
         "status`",
         pass->cluster->name, words.bytes);
    text_free(&words);
    return -1;
}

static int apply_check_weight(struct apply_pass *pass, struct error *err)
{
    pass->weight = pass->cluster->settings->weight_fairshare;
    /* 0 is slurm.conf's value, and 1 the default; rounded to integers, both give no order. */
    if (pass->weight < 2)
        return fail(err, ERROR_SETTINGS,
                    "apply: weight_fairshare was %llu in the published run; set it in [priority], "
                    "because slurm.conf has 0",
                    (unsigned long long)pass->weight);
    if (pass->weight > SITE_FACTOR_MAXIMUM)
        return fail(err, ERROR_SETTINGS,
                    "apply: weight_fairshare is %llu, and a site factor is at most %lld",
                    (unsigned long long)pass->weight, (long long)SITE_FACTOR_MAXIMUM);
    return 0;
}

/* ---- the published jobs ---- */

static int apply_read_jobs(struct apply_pass *pass, struct error *err)
{
    struct published *published = &pass->context->published;
    struct prio_list *list = published_job_list(pass->cluster);
    const struct prio_filter filter = { .permissions = &published->permissions };
    int result = published_jobs_read(published->db, list, NULL, err);
    prio_list_filter(list, &filter);
    for (size_t i = 0; !result && i < list->count; i++) {
        const struct prio_row *row = &list->rows[i];
        if (row->best)
            *memory_append(&pass->wanted, &pass->wanted_count) = (struct wanted_job){
                .id = row->id_job,
                .array_job = row->array_job,
                .het_job = row->het_job,
                .het_offset = row->het_job ? row->het_offset : -1,
                .factor = site_factor_of(pass->weight, row->factor[PRIO_FAIRSHARE]),
            };
    }
    prio_list_destroy(list);
    return result;
}

static int apply_plan(struct apply_pass *pass, struct error *err)
{
    uint64_t min_change = pass->options->min_change;
    if (apply_check_age(pass, err) || apply_check_weight(pass, err) || apply_read_jobs(pass, err))
        return -1;
    if (!min_change)
        min_change = pass->weight < 1000 ? 1 : pass->weight / 1000;
    apply_plan_find(&pass->plan, pass->present, pass->present_count, pass->wanted,
                    pass->wanted_count,
                    min_change < SITE_FACTOR_MAXIMUM ? (int64_t)min_change : SITE_FACTOR_MAXIMUM);
    return 0;
}

/* ---- output and updates ---- */

static int apply_print(const struct apply_pass *pass, size_t count, struct error *err)
{
    struct text text = { 0 };
    for (size_t i = 0; i < count; i++) {
        text_add(&text, "scontrol ");
        apply_plan_add_command(&text, &pass->plan.updates[i]);
        text_add(&text, "\n");
    }
    int result = command_print(&text, err);
    text_free(&text);
    return result;
}

/* Writes the file for new jobs; with --clear, an empty one. */
static int apply_write_values(const struct apply_pass *pass, struct error *err)
{
    struct text text = { 0 };
    const struct apply_options *options = pass->options;
    if (!options->values)
        return 0;
    text_add(&text, "");
    int result = options->clear ? 0
                                : apply_values_add(&text, &pass->context->published, pass->cluster,
                                                   pass->weight, err);
    if (!result)
        result = file_write(options->values, &text, err);
    text_free(&text);
    return result;
}

static int apply_execute(struct apply_pass *pass, size_t count, struct error *err)
{
    struct slurm_updated updated;
    int64_t start = clock_milliseconds();
    if (slurm_update(pass->plan.updates, count, &pass->access, &updated, err))
        return fail_in(err, "apply");
    log_note("apply: %zu updates in %.1f s; %zu jobs had ended", count,
             (double)(clock_milliseconds() - start) / 1000, updated.ended);
    return 0;
}

static int apply_finish(struct apply_pass *pass, struct error *err)
{
    const struct apply_plan *plan = &pass->plan;
    size_t count = plan->count < pass->options->most ? plan->count : (size_t)pass->options->most;
    log_note("apply: %zu pending jobs: %zu need an update, %zu have a priority set by hand, %zu "
             "are not published yet",
             plan->jobs, plan->count, plan->by_hand, plan->unknown);
    if (count < plan->count)
        log_note("apply: %zu updates remain for the next pass", plan->count - count);
    if (!pass->options->yes)
        return apply_print(pass, count, err);
    if (apply_write_values(pass, err))
        return -1;
    /* Updates can take long; do not keep the results' transaction open. */
    published_close(&pass->context->published);
    return apply_execute(pass, count, err);
}

static int apply_pass(struct apply_pass *pass, struct error *err)
{
    if (slurm_config_read(&pass->config, &pass->access, err))
        return fail_in(err, "apply");
    if (apply_check_config(pass, err) || apply_find_cluster(pass, err))
        return -1;
    if (slurm_jobs_read(&pass->present, &pass->present_count, &pass->access, err))
        return fail_in(err, "apply");
    if (pass->options->clear)
        apply_plan_clear(&pass->plan, pass->present, pass->present_count);
    else if (apply_plan(pass, err))
        return -1;
    return apply_finish(pass, err);
}

static int apply_print_lua(const struct apply_options *options, struct error *err)
{
    struct text text = { 0 };
    int result = apply_values_add_lua(&text, options->values, err);
    if (!result)
        result = command_print(&text, err);
    text_free(&text);
    return result;
}

static int apply_answer(struct command_context *context, struct error *err)
{
    const struct apply_options *options = context->options;
    if (options->lua)
        return apply_print_lua(options, err);
    struct apply_pass pass = {
        .context = context,
        .options = options,
        .access = { context->settings->slurm_path,
                    clock_milliseconds() + (int64_t)options->deadline_s * 1000 },
    };
    int result = apply_pass(&pass, err);
    apply_plan_free(&pass.plan);
    slurm_config_free(&pass.config);
    free(pass.present);
    free(pass.wanted);
    return result;
}

/* ---- the command line ---- */

static int apply_check(struct command_context *context, struct error *err)
{
    struct apply_options *options = context->options;
    options->most = 5000;
    if (option_count("min-change", options->min_change_text, &options->min_change, err) ||
        option_count("max", options->most_text, &options->most, err) ||
        option_duration("deadline", options->deadline_text, "120s", &options->deadline_s, err))
        return -1;
    if (options->lua && (options->yes || options->clear || options->add))
        return fail(err, ERROR_USAGE, "apply: --lua and --%s are mutually exclusive",
                    options->yes     ? "yes"
                    : options->clear ? "clear"
                                     : "add");
    if (options->lua && !options->values)
        return fail(err, ERROR_USAGE, "apply: --lua needs --values FILE");
    if (options->values && !options->lua && !options->yes)
        return fail(err, ERROR_USAGE, "apply: --values needs --yes or --lua");
    if (options->lua) {
        context->use = SETTINGS_NONE;
        context->results = RESULTS_NONE;
    }
    context->filter.of_any_age = true;
    return 0;
}

static const struct command_option own_options[] = {
    { "yes", NULL, 'y', OPTION_FLAG, AT(apply_options, yes), NULL,
      .help = "Run the commands instead of printing them" },
    { "min-change", NULL, 0, OPTION_VALUE, AT(apply_options, min_change_text), "NUMBER",
      .help = "Omit smaller changes (default: weight_fairshare / 1000)" },
    { "max", NULL, 0, OPTION_VALUE, AT(apply_options, most_text), "NUMBER",
      .help = "Do at most NUMBER updates, largest first (default: 5000)" },
    { "deadline", NULL, 0, OPTION_VALUE, AT(apply_options, deadline_text), "DURATION",
      .help = "Stop after this time (default: 120s)" },
    { "add", NULL, 0, OPTION_FLAG, AT(apply_options, add), NULL,
      .help = "Accept that Slurm adds its own fairshare" },
    { "clear", NULL, 0, OPTION_FLAG, AT(apply_options, clear), NULL,
      .help = "Set the site factors of pending jobs to 0" },
    { "values", NULL, 0, OPTION_VALUE, AT(apply_options, values), "FILE",
      .help = "With --yes, also write the values of new jobs to FILE" },
    { "lua", NULL, 0, OPTION_FLAG, AT(apply_options, lua), NULL,
      .help = "Print a job_submit.lua that reads --values FILE" },
    { .name = NULL },
};

const struct command command_apply = {
    .name = "apply",
    .group = GROUP_CORRECT,
    .summary = "Give Slurm fairmill's values as site factors of jobs",
    .usage = "[OPTION...]",
    .description = "Print the scontrol commands that set the site factors of pending jobs to\n"
                   "fairmill's fairshare values, or run them with --yes.\n",
    .shared = TAKES_VERBOSE,
    .options = own_options,
    .options_size = sizeof(struct apply_options),
    .use = SETTINGS_FOR_READING,
    .results = RESULTS_OPEN,
    .check = apply_check,
    .answer = apply_answer,
};

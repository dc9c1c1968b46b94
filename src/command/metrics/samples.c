/* SPDX-License-Identifier: MIT */
#include "command/metrics/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "util/number.h"

static const struct {
    const char *name, *help;
} metric_kinds[METRICS] = {
    { "slurm_account_fairshare", "FairShare of an account" },
    { "slurm_account_fairshare_norm_shares", "NormShares of an account" },
    { "slurm_account_fairshare_norm_usage", "NormUsage of an account" },
    { "slurm_account_fairshare_raw_shares",
      "RawShares of an account, unless its shares are `parent`" },
    { "slurm_account_fairshare_raw_usage_cpu_seconds",
      "RawUsage of an account: decayed seconds of the charged TRES" },
    { "slurm_user_fairshare", "FairShare of a user in an account" },
    { "slurm_user_fairshare_norm_shares", "NormShares of a user in an account" },
    { "slurm_user_fairshare_norm_usage", "NormUsage of a user in an account" },
    { "slurm_user_fairshare_raw_shares", "RawShares of a user, unless its shares are `parent`" },
    { "slurm_user_fairshare_raw_usage_cpu_seconds",
      "RawUsage of a user: decayed seconds of the charged TRES" },
    { "pbs_group_fairshare_factor", "fairshare_factor of a group" },
    { "pbs_group_fairshare_perc", "fairshare_perc of a group" },
    { "pbs_group_usage_norm", "Usage of a group as a fraction of all usage" },
    { "pbs_group_shares", "Shares of a group in its parent group" },
    { "pbs_group_usage", "Decayed usage of a group in units of fairshare_usage_res" },
    { "pbs_entity_fairshare_factor", "fairshare_factor of an entity in a group" },
    { "pbs_entity_fairshare_perc", "fairshare_perc of an entity in a group" },
    { "pbs_entity_usage_norm", "Usage of an entity in a group as a fraction of all usage" },
    { "pbs_entity_shares", "Shares of an entity in its group" },
    { "pbs_entity_usage", "Decayed usage of an entity in units of fairshare_usage_res" },
    [METRIC_EFFECTIVE_USAGE] = { "fairmill_effective_usage", "EffectvUsage: the usage that the "
                                                             "algorithm compares with shares" },
    [METRIC_LEVEL_FS] = { "fairmill_level_fs", "Fair Tree's LevelFS; absent if infinite" },
    [METRIC_RANK] = { "fairmill_fair_tree_rank",
                      "Rank under Fair Tree; the highest is next to run" },
    [METRIC_PARENT] = { "fairmill_account_parent",
                        "Always 1; the label parent is the parent account" },
    [METRIC_TRES_USAGE] = { "fairmill_tres_usage_seconds",
                            "Decayed usage of an account by TRES, in TRES-seconds" },
    [METRIC_TRES_RUNNING] = { "fairmill_tres_running_seconds",
                              "TRES-seconds that running jobs of an account may still use" },
    [METRIC_BUDGET_LIMIT] = { "fairmill_budget_limit_seconds",
                              "GrpTRESMins limit of an account, user or QOS, in TRES-seconds" },
    [METRIC_BUDGET_USED] = { "fairmill_budget_used_seconds",
                             "Usage that counts for the limit, in TRES-seconds" },
    [METRIC_BUDGET_RUNNING] = { "fairmill_budget_running_seconds",
                                "TRES-seconds that running jobs may still use" },
    [METRIC_BUDGET_LEFT] = { "fairmill_budget_left_seconds",
                             "The limit minus usage and running jobs, in TRES-seconds" },
    [METRIC_BUDGET_EXHAUSTED] = { "fairmill_budget_exhausted_timestamp_seconds",
                                  "Time at which usage reaches the limit if usage continues as in "
                                  "the last seven days" },
    [METRIC_COMPUTED] = { "fairmill_computed_timestamp_seconds",
                          "Time for which the published values were computed" },
    [METRIC_DURATION] = { "fairmill_run_duration_seconds",
                          "Duration of the run that published the values" },
    [METRIC_LAG] = { "fairmill_source_lag_seconds",
                     "Time between the newest job end and the computed time" },
    [METRIC_FINDINGS] = { "fairmill_findings", "Findings of the run that published the values" },
    [METRIC_FINDINGS_OF_KIND] = { "fairmill_findings_of_kind",
                                  "Findings of the run that published the values, by kind" },
    [METRIC_DRIFT] = { "fairmill_drift_tres_seconds", "Largest error of the stored sums when a run "
                                                      "last compared them with all jobs" },
    [METRIC_FAILED] = { "fairmill_last_run_failed", "1 if the last run published nothing" },
    [METRIC_STARTED] = { "fairmill_last_run_timestamp_seconds",
                         "Start of the last run, even if it published nothing" },
    [METRIC_PROBLEM] = { "fairmill_problem", "1 if a cluster has this problem" },
    [METRIC_WAITING] = { "fairmill_waiting_jobs", "Pending jobs at the computed time" },
    [METRIC_STARTED_JOBS] = { "fairmill_started_jobs", "Jobs that started in the last seven days" },
    [METRIC_WAIT_MEDIAN] = { "fairmill_job_wait_median_seconds",
                             "Median of the times for which these jobs waited" },
    [METRIC_WAIT_P90] = { "fairmill_job_wait_p90_seconds",
                          "90th percentile of the times for which these jobs waited" },
    [METRIC_JAIN] = { "fairmill_fairness_jain",
                      "Jain's index of usage relative to shares; 1 if all have used the same part "
                      "of their entitlement" },
    [METRIC_USE_OVER] = { "fairmill_fairness_use_over",
                          "Fraction of all usage by accounts or users above their entitlement" },
    [METRIC_USE_UNDER] = { "fairmill_fairness_use_under",
                           "Fraction of all usage by accounts or users below their entitlement" },
    [METRIC_LEFT_OUT] = { "fairmill_associations_left_out",
                          "Accounts and users omitted from these metrics" },
    [METRIC_PUBLISHED] = { "fairmill_published_clusters", "Number of published clusters" },
};

static void metrics_quote(struct text *text, size_t start)
{
    char *name = memory_text(text->bytes + start);
    text->length = start;
    for (const char *at = name; *at; at++) {
        text_add(text, *at == '\\' || *at == '"' ? "\\" : "");
        text_add_bytes(text, at, 1);
    }
    free(name);
}

/* Adds a label.  Replaces unprintable characters of its value, and escapes quotes and
 * backslashes. */
static void metrics_add_label(struct text *text, const char **between, const char *label,
                              const char *name)
{
    if (!name)
        return;
    text_add(text, *between);
    text_add(text, label);
    text_add(text, "=\"");
    size_t start = text->length;
    text_add_printable(text, name);
    if (strpbrk(text->bytes + start, "\\\""))
        metrics_quote(text, start);
    text_add(text, "\"");
    *between = ",";
}

void metrics_add(struct metrics *metrics, int metric, const struct metric_labels *labels,
                 double value)
{
    struct text *text = &metrics->samples[metric];
    const char *between = "{";
    if (!isfinite(value))
        return;
    text_add(text, metric_kinds[metric].name);
    metrics_add_label(text, &between, "cluster", labels->cluster);
    const struct terminology *terms = labels->terms;
    metrics_add_label(text, &between, terms ? terms->account : "account", labels->account);
    const char *user_label = labels->user_label ? labels->user_label : terms ? terms->user : "user";
    metrics_add_label(text, &between, user_label, labels->user);
    metrics_add_label(text, &between, "partition", labels->partition);
    metrics_add_label(text, &between, "parent", labels->parent);
    metrics_add_label(text, &between, "kind", labels->kind);
    metrics_add_label(text, &between, "problem", labels->problem);
    metrics_add_label(text, &between, "scope", labels->scope);
    metrics_add_label(text, &between, "qos", labels->qos);
    metrics_add_label(text, &between, "tres", labels->tres);
    text_add(text, *between == ',' ? "} " : " ");
    text_add_exact(text, value);
    text_add(text, "\n");
}

void metrics_print(const struct metrics *metrics, struct text *text)
{
    for (int i = 0; i < METRICS; i++) {
        const struct text *samples = &metrics->samples[i];
        if (!samples->length)
            continue;
        text_format(text, "# HELP %s %s.\n# TYPE %s gauge\n", metric_kinds[i].name,
                    metric_kinds[i].help, metric_kinds[i].name);
        text_add_bytes(text, samples->bytes, samples->length);
    }
}

void metrics_free(struct metrics *metrics)
{
    for (int i = 0; i < METRICS; i++)
        text_free(&metrics->samples[i]);
}

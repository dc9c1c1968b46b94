/* SPDX-License-Identifier: MIT */
#include "report/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "settings/scheduler.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

static const struct {
    const char *name, *help;
} kinds[METRICS] = {
    [METRIC_ACCOUNT_FAIRSHARE] = { "slurm_account_fairshare", "FairShare of an account" },
    [METRIC_ACCOUNT_NORM_SHARES] = { "slurm_account_fairshare_norm_shares",
                                     "NormShares of an account" },
    [METRIC_ACCOUNT_NORM_USAGE] = { "slurm_account_fairshare_norm_usage",
                                    "NormUsage of an account" },
    [METRIC_ACCOUNT_RAW_SHARES] = { "slurm_account_fairshare_raw_shares",
                                    "RawShares of an account that has its own" },
    [METRIC_ACCOUNT_RAW_USAGE] = { "slurm_account_fairshare_raw_usage_cpu_seconds",
                                   "RawUsage of an account: decayed seconds of the charged TRES" },
    [METRIC_USER_FAIRSHARE] = { "slurm_user_fairshare", "FairShare of a user in an account" },
    [METRIC_USER_NORM_SHARES] = { "slurm_user_fairshare_norm_shares",
                                  "NormShares of a user in an account" },
    [METRIC_USER_NORM_USAGE] = { "slurm_user_fairshare_norm_usage",
                                 "NormUsage of a user in an account" },
    [METRIC_USER_RAW_SHARES] = { "slurm_user_fairshare_raw_shares",
                                 "RawShares of a user that has its own" },
    [METRIC_USER_RAW_USAGE] = { "slurm_user_fairshare_raw_usage_cpu_seconds",
                                "RawUsage of a user: decayed seconds of the charged TRES" },
    [METRIC_GROUP_FAIRSHARE] = { "pbs_group_fairshare_factor", "fairshare_factor of a group" },
    [METRIC_GROUP_NORM_SHARES] = { "pbs_group_fairshare_perc", "fairshare_perc of a group" },
    [METRIC_GROUP_NORM_USAGE] = { "pbs_group_usage_norm", "Usage of a group, as a part of all" },
    [METRIC_GROUP_RAW_SHARES] = { "pbs_group_shares", "Shares of a group in its own group" },
    [METRIC_GROUP_RAW_USAGE] = { "pbs_group_usage",
                                 "Decayed usage of a group, in what fairshare_usage_res counts" },
    [METRIC_ENTITY_FAIRSHARE] = { "pbs_entity_fairshare_factor",
                                  "fairshare_factor of an entity in a group" },
    [METRIC_ENTITY_NORM_SHARES] = { "pbs_entity_fairshare_perc",
                                    "fairshare_perc of an entity in a group" },
    [METRIC_ENTITY_NORM_USAGE] = { "pbs_entity_usage_norm",
                                   "Usage of an entity in a group, as a part of all" },
    [METRIC_ENTITY_RAW_SHARES] = { "pbs_entity_shares", "Shares of an entity in its group" },
    [METRIC_ENTITY_RAW_USAGE] = { "pbs_entity_usage", "Decayed usage of an entity, in what "
                                                      "fairshare_usage_res counts" },
    [METRIC_EFFECTIVE_USAGE] = { "fairmill_effective_usage",
                                 "EffectvUsage: usage as the algorithm compares it with shares" },
    [METRIC_LEVEL_FS] = { "fairmill_level_fs",
                          "Fair Tree's level_fs; there is none while it is infinite" },
    [METRIC_RANK] = { "fairmill_fair_tree_rank",
                      "Rank under Fair Tree: the highest is next to run" },
    [METRIC_PARENT] = { "fairmill_account_parent", "1; the label parent is the account above" },
    [METRIC_COMPUTED] = { "fairmill_computed_timestamp_seconds",
                          "The instant that the published values hold for" },
    [METRIC_DURATION] = { "fairmill_run_duration_seconds",
                          "How long the run took that published them" },
    [METRIC_LAG] = { "fairmill_source_lag_seconds",
                     "How far the newest end of a job lay behind that instant" },
    [METRIC_FINDINGS] = { "fairmill_findings", "What was odd in the data of that run" },
    [METRIC_FINDINGS_OF_KIND] = { "fairmill_findings_of_kind", "These by kind" },
    [METRIC_DRIFT] = { "fairmill_drift_tres_seconds",
                       "How far the kept sums were off where a run last compared them with all "
                       "jobs" },
    [METRIC_FAILED] = { "fairmill_last_run_failed", "1 where the last run published nothing" },
    [METRIC_STARTED] = { "fairmill_last_run_timestamp_seconds",
                         "When the last run began, whether it published or not" },
    [METRIC_PROBLEM] = { "fairmill_problem", "1 where a cluster has this problem" },
    [METRIC_WAITING] = { "fairmill_waiting_jobs", "Jobs that waited at that instant" },
    [METRIC_JAIN] = { "fairmill_fairness_jain",
                      "Jain's index of use / share: 1 where all have used the same part of what is "
                      "due to them" },
    [METRIC_USE_OVER] = { "fairmill_fairness_use_over",
                          "The part of all use by those who have used more than is due to them" },
    [METRIC_USE_UNDER] = { "fairmill_fairness_use_under",
                           "The part of all use by those who have used less than is due to them" },
    [METRIC_LEFT_OUT] = { "fairmill_associations_left_out",
                          "Accounts and users that have no series here" },
    [METRIC_PUBLISHED] = { "fairmill_published_clusters", "Clusters that are published" },
};

struct metrics {
    struct text samples[METRICS];
};

struct metrics *metrics_create(void)
{
    return memory_zeroed(1, sizeof(struct metrics));
}

void metrics_destroy(struct metrics *metrics)
{
    if (!metrics)
        return;
    for (int i = 0; i < METRICS; i++)
        text_free(&metrics->samples[i]);
    free(metrics);
}

static void quote(struct text *text, size_t start)
{
    char *name = memory_text(text->bytes + start);
    text->length = start;
    for (const char *at = name; *at; at++) {
        text_add(text, *at == '\\' || *at == '"' ? "\\" : "");
        text_add_bytes(text, at, 1);
    }
    free(name);
}

/* A name as it can be printed, in which quotes and backslashes stand behind one more of these. */
static void add_label(struct text *text, const char **between, const char *label, const char *name)
{
    if (!name)
        return;
    text_add(text, *between);
    text_add(text, label);
    text_add(text, "=\"");
    size_t start = text->length;
    text_add_printable(text, name);
    if (strpbrk(text->bytes + start, "\\\""))
        quote(text, start);
    text_add(text, "\"");
    *between = ",";
}

void metrics_add(struct metrics *metrics, enum metric metric, const struct metric_labels *labels,
                 double value)
{
    struct text *text = &metrics->samples[metric];
    const char *between = "{";
    if (!isfinite(value))
        return;
    text_add(text, kinds[metric].name);
    add_label(text, &between, "cluster", labels->cluster);
    const struct words *words = labels->words;
    add_label(text, &between, words ? words->account : "account", labels->account);
    add_label(text, &between, words ? words->user : "user", labels->user);
    add_label(text, &between, "partition", labels->partition);
    add_label(text, &between, "parent", labels->parent);
    add_label(text, &between, "kind", labels->kind);
    add_label(text, &between, "problem", labels->problem);
    add_label(text, &between, "scope", labels->scope);
    text_add(text, *between == ',' ? "} " : " ");
    text_add_exact(text, value);
    text_add(text, "\n");
}

void metrics_print(struct metrics *metrics, struct text *text)
{
    for (int i = 0; i < METRICS; i++) {
        struct text *samples = &metrics->samples[i];
        if (!samples->length)
            continue;
        text_format(text, "# HELP %s %s.\n# TYPE %s gauge\n", kinds[i].name, kinds[i].help,
                    kinds[i].name);
        text_add_bytes(text, samples->bytes, samples->length);
        text_free(samples);
    }
}

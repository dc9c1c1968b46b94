/* SPDX-License-Identifier: MIT */
#include "settings/scheduler.h"

#include <string.h>

#include "core/usage/entity.h"
#include "settings/settings.h"

/* Headings in the terms of pbsfs and of job_sort_formula. */
static const char *const openpbs_headings[][2] = {
    { "Account", "Group" },          { "User", "Entity" },
    { "Partition", "Queue" },        { "RawShares", "Shares" },
    { "NormShares", "Perc" },        { "RawUsage", "Usage" },
    { "EffectvUsage", "TreeUsage" }, { "FairShare", "Factor" },
    { "TRESSeconds", "Usage" },      { NULL, NULL },
};

static const struct scheduler_default openpbs_defaults[] = {
    { "fairshare", "algorithm", "pbs" },
    { "fairshare", "pbs_minimum_usage", "1" },
    { NULL, NULL, NULL },
};

static const struct scheduler schedulers[SCHEDULERS] = {
    [SCHEDULER_SLURM] = {
        .terms = {
            .user = "user",
            .one_user = "User",
            .users = "users",
            .account = "account",
            .one_account = "Account",
            .accounts = "accounts",
            .partition = "partition",
            .association = "association",
            .associations = "associations",
            .unit = "TRES-seconds",
            .either = "user or account",
            .number = "association",
            .effective_usage = "Effective use",
        },
        .has_conformances = true,
        .registers_capacity = true,
    },
    [SCHEDULER_OPENPBS] = {
        .kind = SCHEDULER_OPENPBS,
        .terms = {
            .user = "entity",
            .one_user = "Entity",
            .users = "entities",
            .account = "group",
            .one_account = "Group",
            .accounts = "groups",
            .partition = "queue",
            .association = "entity",
            .associations = "entities and groups",
            .unit = "(fairshare_usage_res)",
            .either = "entity or group",
            .number = "cresgroup",
            .share = "Percentage",
            .effective_usage = "Tree usage",
            .headings = openpbs_headings,
        },
        .has_pbsfs = true,
        .orders_by_formula = true,
        .decays_in_steps = true,
        .has_unit = true,
        .zero_shares = ENTITY_UNKNOWN,
        .no_removal = "an entity without a line in resource_group belongs to the group unknown; "
                      "to give it no shares, use --shares NAME=0",
        .no_parent_shares = "shares in resource_group are always numbers",
        .no_weights = "OpenPBS has no priority weights; to try another job_sort_formula, use "
                      "`fairmill prio --formula`",
        .defaults = openpbs_defaults,
    },
};

const struct source_type source_types[] = {
    { "slurmdbd", SCHEDULER_SLURM, true,
      "use sacctmgr to fix the association that the message names; until then, set "
      "`on_bad_rows = skip` in [source] to leave it out" },
    { "plain", SCHEDULER_SLURM, false,
      "fix the association that the message names; until then, set `on_bad_rows = skip` in "
      "[source] to leave it out" },
    { "pbs", SCHEDULER_OPENPBS, false,
      "correct the data that the message names, then run `fairmill import pbs` again" },
    { .name = NULL },
};

const struct source_type *source_type_of(const struct settings *settings)
{
    for (const struct source_type *type = source_types; type->name; type++)
        if (settings && settings->layout && !strcmp(type->name, settings->layout))
            return type;
    return source_types;
}

const struct scheduler *scheduler_of(const struct settings *settings)
{
    return &schedulers[source_type_of(settings)->scheduler];
}

const char *terminology_heading(const struct terminology *terms, const char *heading)
{
    const char *const(*pair)[2] = terms ? terms->headings : NULL;
    while (pair && (*pair)[0] && strcmp((*pair)[0], heading) != 0)
        pair++;
    return pair && (*pair)[0] ? (*pair)[1] : heading;
}

const struct terminology *terminology_of(const struct settings *settings)
{
    return &scheduler_of(settings)->terms;
}

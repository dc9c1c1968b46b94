/* SPDX-License-Identifier: MIT */
#include "settings/words.h"

#include <string.h>

#include "settings/settings.h"

static const struct words slurm = {
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
};
/* pbsfs has these words, or job_sort_formula. */
static const char *const headings_of_pbs[][2] = {
    { "Account", "Group" },          { "User", "Entity" },
    { "Partition", "Queue" },        { "RawShares", "Shares" },
    { "NormShares", "Perc" },        { "RawUsage", "Usage" },
    { "EffectvUsage", "TreeUsage" }, { "FairShare", "Factor" },
    { "TRESSeconds", "Usage" },      { NULL, NULL },
};
static const struct words pbs = {
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
    .headings = headings_of_pbs,
};

const char *words_heading(const struct words *words, const char *heading)
{
    const char *const(*pair)[2] = words ? words->headings : NULL;
    while (pair && (*pair)[0] && strcmp((*pair)[0], heading) != 0)
        pair++;
    return pair && (*pair)[0] ? (*pair)[1] : heading;
}

const struct words *words_for(bool of_pbs)
{
    return of_pbs ? &pbs : &slurm;
}

const struct words *words_of(const struct settings *settings)
{
    return words_for(settings && settings_of_pbs(settings));
}

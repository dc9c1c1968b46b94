/* SPDX-License-Identifier: MIT */
#include "settings/words.h"

#include "settings/settings.h"

static const struct words slurm = {
    .user = "user",
    .one_user = "User",
    .users = "users",
    .account = "account",
    .one_account = "Account",
    .accounts = "accounts",
    .partition = "partition",
    .associations = "associations",
    .number = "association",
};
static const struct words pbs = {
    .user = "entity",
    .one_user = "Entity",
    .users = "entities",
    .account = "group",
    .one_account = "Group",
    .accounts = "groups",
    .partition = "queue",
    .associations = "entities and groups",
    .number = "cresgroup",
};

const struct words *words_of(const struct settings *settings)
{
    return settings && settings_of_pbs(settings) ? &pbs : &slurm;
}

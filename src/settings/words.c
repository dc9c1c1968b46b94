/* SPDX-License-Identifier: MIT */
#include "settings/words.h"

#include "settings/settings.h"

static const struct words slurm = { "user",    "User",         "users",      "account",
                                    "Account", "associations", "association" };
static const struct words pbs = { "entity",   "Entity", "entities",
                                  "group",    "Group",  "entities and groups",
                                  "cresgroup" };

const struct words *words_of(const struct settings *settings)
{
    return settings && settings_of_pbs(settings) ? &pbs : &slurm;
}

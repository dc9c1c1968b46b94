/* SPDX-License-Identifier: MIT */
#include "source/source.h"

#include <string.h>

#include "settings/settings.h"

static const struct layout *const layouts[] = { &layout_slurmdbd, &layout_plain, &layout_pbs,
                                                NULL };

const struct layout *layout_of(const struct settings *settings)
{
    const struct layout *const *layout = layouts;
    while (strcmp((*layout)->name, settings->layout) != 0)
        layout++;
    return *layout;
}

struct source source_of(const struct settings *settings, struct db *db, const char *cluster)
{
    return (struct source){
        .settings = settings,
        .layout = layout_of(settings),
        .db = db,
        .cluster = cluster,
        .ordered = settings->conformance == CONFORMANCE_SLURMCTLD,
    };
}

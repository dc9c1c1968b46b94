/* SPDX-License-Identifier: MIT */
#include "settings/settings.h"

#include <stdlib.h>
#include <string.h>

#include "settings/slurm/slurm_conf.h"
#include "util/text.h"

bool settings_want_cluster(const struct settings *settings, const char *cluster)
{
    if (!strcmp(settings->clusters, "all"))
        return true;
    const char *at = settings->clusters;
    bool wanted = false;
    for (char *name; !wanted && (name = list_next(&at)); free(name))
        wanted = reads_as(name, strlen(name), cluster);
    return wanted;
}

const char *const conformance_names[] = { "documents", "slurmctld", NULL };

const char *conformance_name(enum conformance conformance)
{
    return conformance_names[conformance];
}

void settings_destroy(struct settings *settings)
{
    if (!settings)
        return;
    charge_weights_free(&settings->weights);
    slurm_conf_destroy(settings->slurm);
    for (size_t i = 0; i < settings->origin_count; i++)
        free(settings->origins[i].value);
    free(settings->origins);
    free(settings->path);
    free(settings->text);
    free(settings->charges);
    free(settings);
}

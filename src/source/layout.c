/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "source/layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "settings/settings.h"
#include "util/index.h"
#include "util/memory.h"

static const struct layout *const layouts[] = { &layout_slurmdbd, &layout_plain, NULL };

const struct layout *layout_of(const struct settings *settings)
{
    const struct layout *const *layout = layouts;
    while (strcmp((*layout)->name, settings->layout) != 0)
        layout++;
    return *layout;
}

void clusters_free(struct cluster *clusters, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(clusters[i].name);
    free(clusters);
}

struct accounting *accounting_create(const struct settings *settings)
{
    struct accounting *accounting = memory_zeroed(1, sizeof *accounting);
    accounting->names = names_create();
    accounting->empty_name = names_add(accounting->names, "", 0);
    if (settings)
        accounting->tariffs = tariffs_create(settings->charge, &settings->pricing);
    accounting->cpus = accounting->billing = accounting->weighted = NAN;
    return accounting;
}

void accounting_destroy(struct accounting *accounting)
{
    if (!accounting)
        return;
    names_destroy(accounting->names);
    free(accounting->rows);
    tariffs_destroy(accounting->tariffs);
    free(accounting->priorities);
    free(accounting);
}

void cluster_facts_free(struct cluster_facts *facts)
{
    arena_destroy(facts->arena);
    free(facts->tres);
    free(facts->qos);
    *facts = (struct cluster_facts){ 0 };
}

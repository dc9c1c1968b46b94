/* SPDX-License-Identifier: MIT */
#include "source/layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "settings/settings.h"
#include "source/pbs/charging.h"
#include "util/index.h"
#include "util/memory.h"

void cluster_list_free(struct cluster_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->clusters[i].name);
    free(list->clusters);
    *list = (struct cluster_list){ 0 };
}

struct accounting *accounting_create(const struct settings *settings)
{
    struct accounting *accounting = memory_zeroed(1, sizeof *accounting);
    accounting->names = names_create();
    accounting->empty_name = names_add(accounting->names, "", 0);
    if (settings)
        accounting->rates = charge_rates_create(settings->charge, &settings->weights);
    accounting->cpus = accounting->billing = accounting->weighted = NAN;
    return accounting;
}

void accounting_destroy(struct accounting *accounting)
{
    if (!accounting)
        return;
    names_destroy(accounting->names);
    free(accounting->rows);
    id_index_destroy(accounting->modified);
    charge_rates_destroy(accounting->rates);
    free(accounting->qos);
    free(accounting->priorities);
    free(accounting->passes.registered);
    free(accounting->limits);
    for (size_t i = 0; i < accounting->tres_count; i++)
        free(accounting->tres[i].name);
    free(accounting->tres);
    free(accounting->privileges);
    pbs_charging_destroy(accounting->pbs);
    free(accounting);
}

struct accounting *accounting_lend(const struct accounting *own)
{
    struct accounting *lent = memory_zeroed(1, sizeof *lent);
    *lent = *own;
    lent->rows = memory_zeroed(own->count + 1, sizeof *lent->rows);
    if (own->count)
        memcpy(lent->rows, own->rows, own->count * sizeof *lent->rows);
    return lent;
}

void accounting_give_back(struct accounting *lent)
{
    if (!lent)
        return;
    free(lent->rows);
    free(lent);
}

void cluster_facts_free(struct cluster_facts *facts)
{
    arena_destroy(facts->arena);
    free(facts->tres);
    free(facts->qos);
    free(facts->jobs);
    *facts = (struct cluster_facts){ 0 };
}

void array_list_free(struct array_list *list)
{
    free(list->arrays);
    *list = (struct array_list){ 0 };
}

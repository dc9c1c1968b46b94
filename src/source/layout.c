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

struct accounting *accounting_create(void)
{
    struct accounting *accounting = memory_zeroed(1, sizeof *accounting);
    accounting->names = names_create();
    accounting->empty_name = names_add(accounting->names, "", 0);
    accounting->qos_place = id_index_create();
    accounting->cpus = accounting->billing = NAN;
    return accounting;
}

void accounting_destroy(struct accounting *accounting)
{
    if (!accounting)
        return;
    names_destroy(accounting->names);
    free(accounting->rows);
    id_index_destroy(accounting->qos_place);
    free(accounting->qos_id);
    free(accounting->qos_price);
    free(accounting);
}

uint128 accounting_price(const struct accounting *accounting, uint64_t qos)
{
    uint32_t place = id_index_find(accounting->qos_place, qos);
    return place == INDEX_NONE ? UNITS_PER_TRES : accounting->qos_price[place];
}

uint64_t accounting_price_hash(const struct accounting *accounting)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < accounting->qos_count; i++) {
        const uint64_t priced[] = { accounting->qos_id[i],
                                    (uint64_t)(accounting->qos_price[i] >> 64),
                                    (uint64_t)accounting->qos_price[i] };
        if (accounting->qos_price[i] != UNITS_PER_TRES)
            hash += XXH3_64bits(priced, sizeof priced);
    }
    return hash;
}

/* SPDX-License-Identifier: MIT */
#include "results/page_units.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "report/page/cluster.h"
#include "report/usage_unit.h"
#include "results/published.h"
#include "results/tres_names.h"
#include "util/memory.h"
#include "util/text.h"

#define SECONDS_PER_HOUR 3600
#define SECONDS_PER_DAY 86400

static void page_units_add_charged(struct page_cluster *page,
                                   const struct published_cluster *cluster)
{
    const char *pbs = published_unit(cluster);
    const char *hours = pbs ? pbs : usage_unit_page_hours(cluster->settings);
    struct text definition = { 0 };
    *memory_append(&page->units, &page->unit_count) =
        (struct page_unit){ .name = memory_text(""),
                            .hours = memory_text(hours),
                            .scale = pbs ? 1 : 1.0 / SECONDS_PER_HOUR };
    if (!pbs)
        usage_unit_add_definition(&definition, cluster->settings);
    page->unit_definition = definition.bytes;
}

static bool page_units_wants(const struct page_cluster *page, const char *tres)
{
    static const char *const kinds[] = { "gres/", "license/", "ngpus" };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strncmp(tres, kinds[i], strlen(kinds[i])))
            return true;
    for (size_t i = 0; i < page->budget_count; i++)
        if (!strcmp(tres, page->budgets[i].tres))
            return true;
    return false;
}

int page_units_read(struct page_cluster *page, struct db *db,
                    const struct published_cluster *cluster, const char *chosen, struct error *err)
{
    struct tres_numbers numbers = { 0 };
    page_units_add_charged(page, cluster);
    page->capacity = published_capacity(cluster) * SECONDS_PER_DAY * page->units[0].scale;
    int result = tres_names_read(db, page->name, &numbers, err);
    for (unsigned i = 0; !result && i < KEPT_TRES_LIMIT; i++) {
        const char *name = numbers.names[i];
        struct text hours = { 0 };
        bool is_chosen = name && chosen && !strcasecmp(name, chosen);
        if (!name || (!is_chosen && !page_units_wants(page, name)))
            continue;
        if (is_chosen)
            page->chosen_unit = page->unit_count;
        usage_unit_add_tres(&hours, name, "-hours");
        *memory_append(&page->units, &page->unit_count) =
            (struct page_unit){ .name = memory_text(name),
                                .hours = hours.bytes,
                                .number = i + 1,
                                .scale = 1.0 / SECONDS_PER_HOUR };
    }
    tres_numbers_free(&numbers);
    return result;
}

void page_units_free(struct page_cluster *page)
{
    for (size_t i = 0; i < page->unit_count; i++) {
        free(page->units[i].name);
        free(page->units[i].hours);
    }
    free(page->units);
    free(page->unit_definition);
}

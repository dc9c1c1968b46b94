/* SPDX-License-Identifier: MIT */
#include "command/report/report_use.h"

#include <stdlib.h>
#include <string.h>

#include "compute/accumulators.h"
#include "compute/compute.h"
#include "compute/recorded_state.h"
#include "core/usage/decay_table.h"
#include "settings/settings.h"
#include "source/source.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* Sums of usage, indexed by number of the name in `names`. */
struct class_sums {
    struct names *names;
    struct wide *list;
    size_t count;
};
enum { CLASS_PARTITION, CLASS_QOS, CLASSES };
struct class_sums_accumulator {
    struct charge_accumulator accumulator;
    struct computation computation;
    struct class_sums sums[CLASSES];
};

static bool class_sums_add(struct class_sums *sums, const char *name, size_t length,
                           const struct charge *charge)
{
    uint32_t number = names_add(sums->names, name, length);
    while (sums->count <= number)
        *memory_append(&sums->list, &sums->count) = (struct wide){ { 0 } };
    return wide_add_product(&sums->list[number], charge->counted.units, charge->counted.weight,
                            charge->negative);
}

/* A linear search is sufficient, because there are few QOS. */
static const char *qos_name(const struct accounting *accounting, uint64_t id)
{
    for (size_t i = 0; i < accounting->qos_count; i++)
        if (accounting->qos[i].id == id)
            return accounting->qos[i].name;
    return "";
}

static int class_sums_take(struct charge_accumulator *accumulator, const struct charge *charge,
                           struct error *err)
{
    struct class_sums_accumulator *gathering = (struct class_sums_accumulator *)accumulator;
    const struct job_row *row = charge->row;
    const char *qos = qos_name(gathering->computation.accounting, row->qos);
    if (class_sums_add(&gathering->sums[CLASS_PARTITION], row->partition, row->partition_length,
                       charge) &&
        class_sums_add(&gathering->sums[CLASS_QOS], qos, strlen(qos), charge))
        return 0;
    return fail(err, ERROR_DATA,
                "the usage of a partition or QOS exceeds the range of fairmill's integers");
}

static int largest_first(const void *a, const void *b)
{
    const struct page_use *one = a, *other = b;
    if (one->usage < other->usage || one->usage > other->usage)
        return one->usage > other->usage ? -1 : 1;
    return strcmp(one->name, other->name);
}

/* Omits sums of 0 or less.  Suspended time is charged as a negative amount, so a sum need not be
 * positive. */
static struct page_uses page_uses_of(const struct class_sums *sums, const struct decay_table *decay,
                                     double whole)
{
    struct page_uses usages = { memory_zeroed(sums->count + 1, sizeof *usages.list), 0 };
    for (uint32_t i = 0; i < sums->count; i++) {
        if (wide_is_zero(&sums->list[i]) || wide_is_negative(&sums->list[i]))
            continue;
        struct text name = { 0 };
        text_add_as_utf8(&name, names_text(sums->names, i), names_length(sums->names, i));
        usages.list[usages.count++] =
            (struct page_use){ name.bytes, decay_table_usage(decay, &sums->list[i]) / whole };
    }
    qsort(usages.list, usages.count, sizeof *usages.list, largest_first);
    return usages;
}

static int report_use_gather(struct class_sums_accumulator *gathering,
                             const struct settings *settings, const char *cluster,
                             struct error *err)
{
    struct recorded_state recorded;
    int result = recorded_state_read(&recorded, settings, cluster, NULL, err);
    if (!result)
        result = compute_read(&gathering->computation, &recorded, NULL, err);
    recorded_state_free(&recorded);
    return result;
}

int report_use_read(struct page_cluster *page, const struct settings *settings, struct db *db,
                    double whole, struct error *err)
{
    struct class_sums_accumulator gathering = { .accumulator = { class_sums_take } };
    struct page_uses *const uses[CLASSES] = { &page->by_partition, &page->by_qos };
    struct source source = source_of(settings, db, page->name);
    if (!layout_of(settings)->has_classes || !(whole > 0))
        return 0;
    source.time = &page->as_of;
    source.classes = true;
    gathering.computation = computation_of(&source);
    gathering.computation.watcher = &gathering.accumulator;
    for (size_t i = 0; i < CLASSES; i++)
        gathering.sums[i].names = names_create();
    int result = report_use_gather(&gathering, settings, page->name, err);
    for (size_t i = 0; i < CLASSES; i++) {
        if (!result)
            *uses[i] = page_uses_of(&gathering.sums[i], gathering.computation.decay, whole);
        names_destroy(gathering.sums[i].names);
        free(gathering.sums[i].list);
    }
    computation_free(&gathering.computation);
    return result;
}

void report_use_free(struct page_cluster *page)
{
    struct page_uses *const uses[CLASSES] = { &page->by_partition, &page->by_qos };
    for (size_t k = 0; k < CLASSES; k++) {
        for (size_t i = 0; i < uses[k]->count; i++)
            free(uses[k]->list[i].name);
        free(uses[k]->list);
    }
}

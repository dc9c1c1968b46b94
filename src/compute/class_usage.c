/* SPDX-License-Identifier: MIT */
#include "compute/class_usage.h"

#include <stdlib.h>
#include <string.h>

#include "compute/compute.h"
#include "compute/prior.h"
#include "compute/sinks.h"
#include "core/usage/clock.h"
#include "settings/settings.h"
#include "source/source.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* Sums by the number of a name. */
struct sums {
    struct names *names;
    struct wide *list;
    size_t count;
};
struct gathering {
    struct charge_sink sink;
    struct computation computation;
    struct sums partitions, qos;
};

static bool add(struct sums *sums, const char *name, size_t length, const struct charge *charge)
{
    uint32_t number = names_add(sums->names, name, length);
    while (sums->count <= number) {
        sums->list = memory_grown(sums->list, sums->count, sizeof *sums->list);
        sums->list[sums->count++] = (struct wide){ { 0 } };
    }
    return wide_add_product(&sums->list[number], charge->counted.units, charge->counted.weight,
                            charge->negative);
}

/* There are few. */
static const char *qos_name(const struct accounting *accounting, uint64_t id)
{
    for (size_t i = 0; i < accounting->qos_count; i++)
        if (accounting->qos[i].id == id)
            return accounting->qos[i].name;
    return "";
}

static int take(struct charge_sink *sink, const struct charge *charge, struct error *err)
{
    struct gathering *gathering = (struct gathering *)sink;
    const struct job_row *row = charge->row;
    const char *qos = qos_name(gathering->computation.accounting, row->qos);
    if (add(&gathering->partitions, row->partition, row->partition_length, charge) &&
        add(&gathering->qos, qos, strlen(qos), charge))
        return 0;
    return fail(err, ERROR_DATA,
                "the usage of a partition or QOS is beyond the range of our integers");
}

static int largest_first(const void *a, const void *b)
{
    const struct class_usage *one = a, *other = b;
    if (one->usage < other->usage || one->usage > other->usage)
        return one->usage > other->usage ? -1 : 1;
    return strcmp(one->name, other->name);
}

/* Suspensions are taken off after their jobs, so that a sum may be below 0 until then. */
static struct class_usages usages_of(const struct sums *sums, const struct clock *clock)
{
    struct class_usages usages = { memory_zeroed(sums->count + 1, sizeof *usages.list), 0 };
    for (uint32_t i = 0; i < sums->count; i++) {
        if (wide_is_zero(&sums->list[i]) || wide_is_negative(&sums->list[i]))
            continue;
        struct text name = { 0 };
        text_add(&name, "");
        text_add_as_utf8(&name, names_text(sums->names, i), names_length(sums->names, i));
        usages.list[usages.count++] =
            (struct class_usage){ name.bytes, clock_usage(clock, &sums->list[i]) };
    }
    qsort(usages.list, usages.count, sizeof *usages.list, largest_first);
    return usages;
}

bool class_usage_is_there(const struct settings *settings)
{
    return layout_of(settings)->has_classes;
}

int class_usage_read(struct usage_by_class *usage, const struct settings *settings, struct db *db,
                     const char *cluster, int64_t as_of, struct error *err)
{
    struct gathering gathering = { .sink = { take },
                                   .partitions = { .names = names_create() },
                                   .qos = { .names = names_create() } };
    struct source source = source_of(settings, db, cluster);
    struct prior prior;
    source.instant = &as_of;
    source.classes = true;
    gathering.computation = computation_of(&source);
    gathering.computation.watcher = &gathering.sink;
    *usage = (struct usage_by_class){ 0 };
    int result = prior_read(&prior, settings, cluster, NULL, err);
    if (!result)
        result = compute_read(&gathering.computation, &prior, NULL, err);
    if (!result) {
        usage->partitions = usages_of(&gathering.partitions, gathering.computation.clock);
        usage->qos = usages_of(&gathering.qos, gathering.computation.clock);
    }
    computation_free(&gathering.computation);
    prior_free(&prior);
    names_destroy(gathering.partitions.names);
    names_destroy(gathering.qos.names);
    free(gathering.partitions.list);
    free(gathering.qos.list);
    return result;
}

static void free_usages(struct class_usages *usages)
{
    for (size_t i = 0; i < usages->count; i++)
        free(usages->list[i].name);
    free(usages->list);
}

void class_usage_free(struct usage_by_class *usage)
{
    free_usages(&usage->partitions);
    free_usages(&usage->qos);
    *usage = (struct usage_by_class){ 0 };
}

/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "core/tariff.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <xxhash.h>

#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* The TRES that every slurmdbd has, by id from 1 on. */
static const struct {
    const char *type, *name;
} fixed_tres[] = {
    { "cpu", "" },     { "mem", "" },    { "energy", "" }, { "node", "" },
    { "billing", "" }, { "fs", "disk" }, { "vmem", "" },   { "pages", "" },
};

static const struct decimal one = { 1, 0 }, none = { 0, 0 };

static bool is_one(const struct decimal *factor)
{
    return factor->digits == 1 && factor->power == 0;
}

struct qos {
    uint64_t id;
    struct decimal usage_factor, setting;
};

struct tariffs {
    enum charge charge;
    const struct pricing *pricing;
    uint64_t *tres_ids; /* of each weight; 0: no such TRES */

    struct id_index *qos_place;
    struct qos *qos;
    uint32_t qos_count;
    bool *qos_met; /* by the settings' order */

    struct names *partitions; /* those that the settings name, in that order */
    bool *partition_met;

    /* By partition, the last for all that the settings do not name, and by QOS, the last for all
     * that are not known; NULL until it is looked for. */
    const struct tariff **tariffs;
    const struct tariff *plain;
    struct arena *arena;
};

void pricing_free(struct pricing *pricing)
{
    for (size_t i = 0; i < pricing->weight_count; i++) {
        free(pricing->weights[i].type);
        free(pricing->weights[i].name);
    }
    free(pricing->weights);
    struct factor_list *const lists[] = { &pricing->qos_factors, &pricing->partition_factors };
    for (size_t list = 0; list < 2; list++) {
        for (size_t i = 0; i < lists[list]->count; i++)
            free(lists[list]->factors[i].name);
        free(lists[list]->factors);
    }
    *pricing = (struct pricing){ 0 };
}

struct tariffs *tariffs_create(enum charge charge, const struct pricing *pricing)
{
    const struct factor_list *partitions = &pricing->partition_factors;
    struct tariffs *tariffs = memory_zeroed(1, sizeof *tariffs);
    *tariffs = (struct tariffs){
        .charge = charge,
        .pricing = pricing,
        .tres_ids = memory_zeroed(pricing->weight_count, sizeof *tariffs->tres_ids),
        .qos_place = id_index_create(),
        .qos_met = memory_zeroed(pricing->qos_factors.count, sizeof *tariffs->qos_met),
        .partitions = names_create(),
        .partition_met = memory_zeroed(partitions->count, sizeof *tariffs->partition_met),
        .arena = arena_create(),
    };
    for (uint64_t i = 0; i < sizeof fixed_tres / sizeof *fixed_tres; i++)
        tariffs_add_tres(tariffs, i + 1, fixed_tres[i].type, fixed_tres[i].name);
    for (size_t i = 0; i < partitions->count; i++)
        names_add(tariffs->partitions, partitions->factors[i].name,
                  strlen(partitions->factors[i].name));
    return tariffs;
}

void tariffs_destroy(struct tariffs *tariffs)
{
    if (!tariffs)
        return;
    free(tariffs->tres_ids);
    id_index_destroy(tariffs->qos_place);
    free(tariffs->qos);
    free(tariffs->qos_met);
    names_destroy(tariffs->partitions);
    free(tariffs->partition_met);
    free(tariffs->tariffs);
    arena_destroy(tariffs->arena);
    free(tariffs);
}

/* Billing is what weights make: Slurm passes over a weight of its own, and so do we.  Of names that
 * differ in case only, which slurmdbd cannot have, the lowest id counts. */
void tariffs_add_tres(struct tariffs *tariffs, uint64_t id, const char *type, const char *name)
{
    const struct tres_weight *weights = tariffs->pricing->weights;
    uint64_t *ids = tariffs->tres_ids;
    for (size_t i = 0; id != TRES_BILLING && i < tariffs->pricing->weight_count; i++)
        if (!strcasecmp(weights[i].type, type) && !strcasecmp(weights[i].name, name) &&
            (!ids[i] || id < ids[i]))
            ids[i] = id;
}

void tariffs_add_qos(struct tariffs *tariffs, uint64_t id, const char *name, size_t length,
                     double usage_factor)
{
    if (id_index_add(tariffs->qos_place, id, tariffs->qos_count) != INDEX_NONE)
        return;
    struct decimal setting = one;
    const struct factor_list *list = &tariffs->pricing->qos_factors;
    for (size_t i = 0; i < list->count; i++)
        if (reads_as(name, length, list->factors[i].name)) {
            setting = list->factors[i].factor;
            tariffs->qos_met[i] = true;
        }
    tariffs->qos = memory_resized(tariffs->qos, tariffs->qos_count + 1, sizeof *tariffs->qos);
    tariffs->qos[tariffs->qos_count++] =
        (struct qos){ id, decimal_of_factor(usage_factor), setting };
}

static bool in_maximum(enum weight_rule rule, const char *type)
{
    if (rule == WEIGHTS_SUM)
        return false;
    if (!strcasecmp(type, "gres"))
        return rule == WEIGHTS_MAX_TRES;
    return !strcasecmp(type, "cpu") || !strcasecmp(type, "mem") || !strcasecmp(type, "node");
}

/* What has no weight is not charged, and so not judged either. */
static bool is_charged(const struct tariffs *tariffs, size_t i)
{
    return tariffs->tres_ids[i] && tariffs->pricing->weights[i].weight.digits;
}

static const struct tariff *make_tariff(const struct tariffs *tariffs, const struct qos *qos,
                                        const struct decimal *partition)
{
    const struct pricing *pricing = tariffs->pricing;
    struct decimal factors[PRICE_FACTORS] = { one, qos->usage_factor, qos->setting, *partition };
    struct tariff *tariff = arena_take(tariffs->arena, sizeof *tariff);
    *tariff = (struct tariff){ .price = price_of_product(factors, PRICE_FACTORS, 0) };
    if (tariffs->charge != CHARGE_TRES)
        return tariff;
    struct tres_price *tres =
        arena_take(tariffs->arena, (pricing->weight_count + 1) * sizeof *tres);
    tariff->tres = tres;
    for (size_t i = 0; i < pricing->weight_count; i++) {
        const struct tres_weight *weight = &pricing->weights[i];
        if (!is_charged(tariffs, i))
            continue;
        factors[0] = weight->weight;
        tres[tariff->tres_count++] = (struct tres_price){
            tariffs->tres_ids[i],
            in_maximum(pricing->weight_rule, weight->type),
            price_of_product(factors, PRICE_FACTORS, weight->halvings),
        };
    }
    return tariff;
}

static const struct tariff *first_tariff(struct tariffs *tariffs, size_t partition, size_t qos)
{
    static const struct qos unknown = { 0, { 1, 0 }, { 1, 0 } };
    const struct factor_list *partitions = &tariffs->pricing->partition_factors;
    return make_tariff(tariffs, qos < tariffs->qos_count ? &tariffs->qos[qos] : &unknown,
                       partition < partitions->count ? &partitions->factors[partition].factor
                                                     : &one);
}

static uint32_t find_partition(const struct tariffs *tariffs, const char *name, size_t length)
{
    uint32_t place = names_find(tariffs->partitions, name, length);
    if (place != INDEX_NONE || utf8_valid(name, length))
        return place;
    struct text converted = { 0 };
    text_add_as_utf8(&converted, name, length);
    place = names_find(tariffs->partitions, converted.bytes, converted.length);
    text_free(&converted);
    return place;
}

static size_t partition_place(struct tariffs *tariffs, const char *partition, size_t length)
{
    size_t count = tariffs->pricing->partition_factors.count;
    if (!count || !partition)
        return count;
    const char *comma = memchr(partition, ',', length);
    uint32_t place =
        find_partition(tariffs, partition, comma ? (size_t)(comma - partition) : length);
    if (place == INDEX_NONE)
        return count;
    tariffs->partition_met[place] = true;
    return place;
}

const struct tariff *tariffs_find(struct tariffs *tariffs, uint64_t qos, const char *partition,
                                  size_t length)
{
    size_t width = (size_t)tariffs->qos_count + 1;
    if (!tariffs->tariffs)
        tariffs->tariffs = memory_zeroed((tariffs->pricing->partition_factors.count + 1) * width,
                                         sizeof *tariffs->tariffs);
    uint32_t found = id_index_find(tariffs->qos_place, qos);
    size_t place = found == INDEX_NONE ? tariffs->qos_count : found;
    size_t row = partition_place(tariffs, partition, length);
    const struct tariff **tariff = &tariffs->tariffs[row * width + place];
    if (!*tariff)
        *tariff = first_tariff(tariffs, row, place);
    return *tariff;
}

const struct tariff *tariffs_plain(struct tariffs *tariffs)
{
    if (!tariffs->plain)
        tariffs->plain = first_tariff(tariffs, SIZE_MAX, SIZE_MAX);
    return tariffs->plain;
}

static const char *unmet(const struct factor_list *list, const bool *met, size_t *at)
{
    while (*at < list->count)
        if (!met[(*at)++])
            return list->factors[*at - 1].name;
    return NULL;
}

const char *tariffs_unmet_qos(const struct tariffs *tariffs, size_t *at)
{
    return unmet(&tariffs->pricing->qos_factors, tariffs->qos_met, at);
}

const char *tariffs_unmet_partition(const struct tariffs *tariffs, size_t *at)
{
    return unmet(&tariffs->pricing->partition_factors, tariffs->partition_met, at);
}

const struct tres_weight *tariffs_unmet_tres(const struct tariffs *tariffs, size_t *at)
{
    const struct pricing *pricing = tariffs->pricing;
    while (tariffs->charge == CHARGE_TRES && *at < pricing->weight_count) {
        const struct tres_weight *weight = &pricing->weights[(*at)++];
        if (!tariffs->tres_ids[*at - 1] && weight->weight.digits)
            return weight;
    }
    return NULL;
}

static uint64_t hash_of(uint64_t number, const struct decimal *one_factor,
                        const struct decimal *other)
{
    const uint64_t words[] = { number, one_factor->digits, (uint64_t)one_factor->power,
                               other->digits, (uint64_t)other->power };
    return XXH3_64bits(words, sizeof words);
}

uint64_t tariffs_hash(const struct tariffs *tariffs)
{
    uint64_t hash = 0;
    for (size_t i = 0; tariffs->charge == CHARGE_TRES && i < tariffs->pricing->weight_count; i++) {
        struct decimal place = { i + 1, 0 };
        hash += hash_of(tariffs->tres_ids[i], &place, &none);
    }
    for (uint32_t i = 0; i < tariffs->qos_count; i++) {
        const struct qos *qos = &tariffs->qos[i];
        if (!is_one(&qos->usage_factor) || !is_one(&qos->setting))
            hash += hash_of(qos->id, &qos->usage_factor, &qos->setting);
    }
    return hash;
}

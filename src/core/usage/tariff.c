/* SPDX-License-Identifier: MIT */
#include "core/usage/tariff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

/* A QOS, and its factors by time: the first holds before its instant, too. */
struct qos_factor {
    uint64_t from;
    struct decimal factor;
};
struct qos {
    uint64_t id;
    struct decimal setting;
    size_t count;
    const struct qos_factor *factors;
};

/* Weights, and the ids of their TRES; 0: no such TRES. */
struct weighing {
    const struct weight_list *list;
    uint64_t *ids;
};

/* What holds in a partition. */
struct terms {
    const struct decimal *factor;
    const struct weighing *weighing;
    bool met;
};

struct tariffs {
    enum charge_basis charge;
    const struct pricing *pricing;
    struct weighing *weighings; /* for all, then those of partitions */
    size_t weighing_count;

    struct id_index *qos_place;
    struct qos *qos;
    uint32_t qos_count;
    bool *qos_met; /* by the settings' order */

    struct names *partitions; /* those that the settings name: first those with a factor */
    struct terms *terms;      /* of each, and behind them those of all others */
    size_t partition_count;

    /* By terms, and by QOS, the last for all that are not known; NULL until it is looked for. */
    const struct tariff **tariffs;
    const struct tariff *plain;
    struct arena *arena;
};

static void weight_list_free(struct weight_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->weights[i].type);
        free(list->weights[i].name);
    }
    free(list->weights);
}

void pricing_free(struct pricing *pricing)
{
    weight_list_free(&pricing->weights);
    for (size_t i = 0; i < pricing->partition_weight_count; i++) {
        free(pricing->partition_weights[i].name);
        weight_list_free(&pricing->partition_weights[i].list);
    }
    free(pricing->partition_weights);
    struct factor_list *const lists[] = { &pricing->qos_factors, &pricing->partition_factors };
    for (size_t list = 0; list < 2; list++) {
        for (size_t i = 0; i < lists[list]->count; i++)
            free(lists[list]->factors[i].name);
        free(lists[list]->factors);
    }
    *pricing = (struct pricing){ 0 };
}

/* Whether a list of weights counts. */
static bool charge_weighs(enum charge_basis charge, const struct weight_list *list)
{
    return charge == CHARGE_TRES || (charge == CHARGE_AUTO && list->count);
}

bool pricing_weighs(const struct pricing *pricing, enum charge_basis charge)
{
    return charge_weighs(charge, &pricing->weights) ||
           (charge == CHARGE_AUTO && pricing->partition_weight_count);
}

bool pricing_knows_partitions(const struct pricing *pricing)
{
    return pricing->partition_factors.count || pricing->partition_weight_count;
}

static void weigh(struct tariffs *tariffs, size_t place, const struct weight_list *list)
{
    tariffs->weighings[place] =
        (struct weighing){ list, memory_zeroed(list->count + 1, sizeof(uint64_t)) };
}

const struct tariff *tariff_at(const struct tariff *tariff, uint64_t instant)
{
    while (tariff->later && tariff->later_from <= instant)
        tariff = tariff->later;
    return tariff;
}

uint128 tariff_price_of(const struct tariff *tariff, enum charge_basis charge, uint64_t tres)
{
    if (charge != CHARGE_TRES)
        return tariff->price;
    for (size_t i = 0; i < tariff->tres_count; i++)
        if (tariff->tres[i].id == tres)
            return tariff->tres[i].price;
    return 0;
}

static struct terms *terms_of(struct tariffs *tariffs, const char *partition)
{
    uint32_t place = names_add(tariffs->partitions, partition, strlen(partition));
    if (place >= tariffs->partition_count)
        tariffs->partition_count = place + (size_t)1;
    return &tariffs->terms[place];
}

static void set_terms(struct tariffs *tariffs)
{
    const struct pricing *pricing = tariffs->pricing;
    size_t factors = pricing->partition_factors.count, lists = pricing->partition_weight_count;
    tariffs->terms = memory_zeroed(factors + lists + 1, sizeof *tariffs->terms);
    for (size_t i = 0; i <= factors + lists; i++)
        tariffs->terms[i] = (struct terms){ &one, &tariffs->weighings[0], false };
    for (size_t i = 0; i < factors; i++)
        terms_of(tariffs, pricing->partition_factors.factors[i].name)->factor =
            &pricing->partition_factors.factors[i].factor;
    for (size_t i = 0; i < lists; i++)
        terms_of(tariffs, pricing->partition_weights[i].name)->weighing =
            &tariffs->weighings[i + 1];
}

struct tariffs *tariffs_create(enum charge_basis charge, const struct pricing *pricing)
{
    struct tariffs *tariffs = memory_zeroed(1, sizeof *tariffs);
    *tariffs = (struct tariffs){
        .charge = charge,
        .pricing = pricing,
        .weighing_count = pricing->partition_weight_count + 1,
        .qos_place = id_index_create(),
        .qos_met = memory_zeroed(pricing->qos_factors.count, sizeof *tariffs->qos_met),
        .partitions = names_create(),
        .arena = arena_create(),
    };
    tariffs->weighings = memory_zeroed(tariffs->weighing_count, sizeof *tariffs->weighings);
    weigh(tariffs, 0, &pricing->weights);
    for (size_t i = 0; i < pricing->partition_weight_count; i++)
        weigh(tariffs, i + 1, &pricing->partition_weights[i].list);
    set_terms(tariffs);
    for (uint64_t i = 0; i < sizeof fixed_tres / sizeof *fixed_tres; i++)
        tariffs_add_tres(tariffs, i + 1, fixed_tres[i].type, fixed_tres[i].name);
    return tariffs;
}

void tariffs_destroy(struct tariffs *tariffs)
{
    if (!tariffs)
        return;
    for (size_t i = 0; i < tariffs->weighing_count; i++)
        free(tariffs->weighings[i].ids);
    free(tariffs->weighings);
    id_index_destroy(tariffs->qos_place);
    free(tariffs->qos);
    free(tariffs->qos_met);
    names_destroy(tariffs->partitions);
    free(tariffs->terms);
    free(tariffs->tariffs);
    arena_destroy(tariffs->arena);
    free(tariffs);
}

/* Billing is what weights make: Slurm passes over a weight of its own, and so do we.  Of names that
 * differ in case only, which slurmdbd cannot have, the lowest id counts. */
void tariffs_add_tres(struct tariffs *tariffs, uint64_t id, const char *type, const char *name)
{
    if (id == TRES_BILLING)
        return;
    for (size_t list = 0; list < tariffs->weighing_count; list++) {
        const struct tres_weight *weights = tariffs->weighings[list].list->weights;
        uint64_t *ids = tariffs->weighings[list].ids;
        for (size_t i = 0; i < tariffs->weighings[list].list->count; i++)
            if (!strcasecmp(weights[i].type, type) && !strcasecmp(weights[i].name, name) &&
                (!ids[i] || id < ids[i]))
                ids[i] = id;
    }
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
    tariffs->qos = memory_grown(tariffs->qos, tariffs->qos_count, sizeof *tariffs->qos);
    tariffs->qos[tariffs->qos_count++] = (struct qos){ .id = id, .setting = setting };
    tariffs_set_factors(tariffs, id, &(struct factor_span){ 0, usage_factor }, 1);
}

void tariffs_set_factors(struct tariffs *tariffs, uint64_t qos, const struct factor_span *spans,
                         size_t count)
{
    uint32_t place = id_index_find(tariffs->qos_place, qos);
    struct qos_factor *factors = arena_take(tariffs->arena, count * sizeof *factors);
    for (size_t i = 0; i < count; i++)
        factors[i] = (struct qos_factor){ spans[i].from, decimal_of_factor(spans[i].factor) };
    tariffs->qos[place].factors = factors;
    tariffs->qos[place].count = count;
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
static bool is_charged(const struct weighing *weighing, size_t i)
{
    return weighing->ids[i] && weighing->list->weights[i].weight.digits;
}

static struct tariff *make_tariff(const struct tariffs *tariffs, const struct decimal *factor,
                                  const struct decimal *setting, const struct terms *terms)
{
    const struct weighing *weighing = terms->weighing;
    struct decimal factors[PRICE_FACTORS] = { one, *factor, *setting, *terms->factor };
    uint32_t list = (uint32_t)(weighing - tariffs->weighings);
    struct tariff *tariff = arena_take(tariffs->arena, sizeof *tariff);
    *tariff = (struct tariff){
        .price = price_of_product(factors, PRICE_FACTORS, 0),
        .weighs = charge_weighs(tariffs->charge, weighing->list),
        .list = list,
        .partition = list ? tariffs->pricing->partition_weights[list - 1].name : "",
    };
    if (!tariff->weighs)
        return tariff;
    struct tres_price *tres =
        arena_take(tariffs->arena, (weighing->list->count + 1) * sizeof *tres);
    tariff->tres = tres;
    for (size_t i = 0; i < weighing->list->count; i++) {
        const struct tres_weight *weight = &weighing->list->weights[i];
        if (!is_charged(weighing, i))
            continue;
        factors[0] = weight->weight;
        tres[tariff->tres_count++] = (struct tres_price){
            weighing->ids[i],
            in_maximum(tariffs->pricing->weight_rule, weight->type),
            price_of_product(factors, PRICE_FACTORS, weight->halvings),
            ldexp(decimal_nearest(&weight->weight), -(int)weight->halvings),
        };
    }
    return tariff;
}

/* The chain of a QOS, made from its end. */
static const struct tariff *first_tariff(struct tariffs *tariffs, size_t partition, size_t qos)
{
    static const struct qos_factor usual = { 0, { 1, 0 } };
    static const struct qos unknown = { 0, { 1, 0 }, 1, &usual };
    const struct qos *of = qos < tariffs->qos_count ? &tariffs->qos[qos] : &unknown;
    const struct tariff *later = NULL;
    for (size_t i = of->count; i-- > 0;) {
        struct tariff *tariff =
            make_tariff(tariffs, &of->factors[i].factor, &of->setting, &tariffs->terms[partition]);
        tariff->later = later;
        tariff->later_from = later ? of->factors[i + 1].from : 0;
        later = tariff;
    }
    return later;
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
    if (!tariffs->partition_count || !partition)
        return tariffs->partition_count;
    const char *comma = memchr(partition, ',', length);
    uint32_t place = find_partition(tariffs, partition, length); /* a name may have a comma */
    if (place == INDEX_NONE && comma)
        place = find_partition(tariffs, partition, (size_t)(comma - partition));
    if (place == INDEX_NONE)
        return tariffs->partition_count;
    tariffs->terms[place].met = true;
    return place;
}

const struct tariff *tariffs_find(struct tariffs *tariffs, uint64_t qos, const char *partition,
                                  size_t length)
{
    size_t width = (size_t)tariffs->qos_count + 1;
    if (!tariffs->tariffs)
        tariffs->tariffs =
            memory_zeroed((tariffs->partition_count + 1) * width, sizeof *tariffs->tariffs);
    uint32_t found = id_index_find(tariffs->qos_place, qos);
    size_t place = found == INDEX_NONE ? tariffs->qos_count : found;
    size_t row = partition_place(tariffs, partition, length);
    const struct tariff **tariff = &tariffs->tariffs[row * width + place];
    if (!*tariff)
        *tariff = first_tariff(tariffs, row, place);
    return *tariff;
}

bool tariffs_has_qos(const struct tariffs *tariffs, uint64_t qos)
{
    return id_index_find(tariffs->qos_place, qos) != INDEX_NONE;
}

const struct tariff *tariffs_plain(struct tariffs *tariffs)
{
    if (!tariffs->plain)
        tariffs->plain = first_tariff(tariffs, tariffs->partition_count, SIZE_MAX);
    return tariffs->plain;
}

const char *tariffs_unused_qos(const struct tariffs *tariffs, size_t *at)
{
    const struct factor_list *list = &tariffs->pricing->qos_factors;
    while (*at < list->count)
        if (!tariffs->qos_met[(*at)++])
            return list->factors[*at - 1].name;
    return NULL;
}

const char *tariffs_unused_partition(const struct tariffs *tariffs, size_t *at)
{
    const struct factor_list *list = &tariffs->pricing->partition_factors;
    while (*at < list->count)
        if (!tariffs->terms[(*at)++].met)
            return list->factors[*at - 1].name;
    return NULL;
}

/* Number a place in all lists that count, one after another: the list it is in, or NULL behind the
 * last. */
static const struct weighing *weighing_at(const struct tariffs *tariffs, size_t *place)
{
    for (size_t i = 0; i < tariffs->weighing_count; i++) {
        if (!charge_weighs(tariffs->charge, tariffs->weighings[i].list))
            continue;
        if (*place < tariffs->weighings[i].list->count)
            return &tariffs->weighings[i];
        *place -= tariffs->weighings[i].list->count;
    }
    return NULL;
}

const struct tres_weight *tariffs_unused_tres(const struct tariffs *tariffs, size_t *at)
{
    const struct weighing *weighing;
    for (size_t place; (place = *at, weighing = weighing_at(tariffs, &place));) {
        const struct tres_weight *weight = &weighing->list->weights[place];
        ++*at;
        if (!weighing->ids[place] && weight->weight.digits)
            return weight;
    }
    return NULL;
}

static uint64_t hash_of(uint64_t number, const struct decimal *one_factor,
                        const struct decimal *other)
{
    const uint64_t words[] = { number, one_factor->digits, (uint64_t)one_factor->power,
                               other->digits, (uint64_t)other->power };
    return hash_words(words, sizeof words / sizeof *words);
}

/* Of a factor that never changed it has no instant, so that it does not matter who tells it. */
static uint64_t hash_of_factor(const struct qos *qos, size_t span)
{
    const struct qos_factor *factor = &qos->factors[span];
    const struct decimal from = { factor->from, 0 };
    uint64_t hash = hash_of(qos->id, &factor->factor, &qos->setting);
    if (!span && is_one(&factor->factor) && is_one(&qos->setting))
        return 0;
    return span ? hash_of(hash, &from, &none) : hash;
}

uint64_t tariffs_hash(const struct tariffs *tariffs, uint64_t reach)
{
    uint64_t hash = 0;
    const struct weighing *weighing;
    size_t at = 0;
    for (size_t place; (place = at, weighing = weighing_at(tariffs, &place));) {
        struct decimal number = { ++at, 0 };
        hash += hash_of(weighing->ids[place], &number, &none);
    }
    for (uint32_t i = 0; i < tariffs->qos_count; i++) {
        const struct qos *qos = &tariffs->qos[i];
        for (size_t span = 0; span < qos->count && qos->factors[span].from < reach; span++)
            hash += hash_of_factor(qos, span);
    }
    return hash;
}

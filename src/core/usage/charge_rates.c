/* SPDX-License-Identifier: MIT */
#include "core/usage/charge_rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* The TRES that every slurmdbd has, in order of their ids from 1 on. */
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

/* A QOS with its factors in order of time.  The first factor also applies before its `from`. */
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

/* Weights and the ids of their TRES.  The id is 0 if the TRES does not exist. */
struct weighing {
    const struct weight_list *list;
    uint64_t *ids;
};

/* The settings that apply to a partition. */
struct charge_rate_terms {
    const struct decimal *factor;
    const struct weighing *weighing;
    bool met;
};

struct charge_rates {
    enum charge_basis charge;
    const struct charge_weights *weights;
    struct weighing *weighings; /* the general weights, then the partitions' weights */
    size_t weighing_count;

    struct id_index *qos_place;
    struct qos *qos;
    uint32_t qos_count;
    bool *qos_met; /* true if the QOS exists; in the order of the settings */

    struct names *partitions; /* partitions in the settings; names with a factor come first */
    struct charge_rate_terms *terms; /* for these partitions, then for all other partitions */
    size_t partition_count;

    /* A table of rates.  It has one row for each element of `terms`, one column for each QOS, and a
     * last column for unknown QOS.  A rate is NULL until it is requested. */
    const struct charge_rate **tariffs;
    const struct charge_rate *plain;
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

void charge_weights_free(struct charge_weights *weights)
{
    weight_list_free(&weights->weights);
    for (size_t i = 0; i < weights->partition_weight_count; i++) {
        free(weights->partition_weights[i].name);
        weight_list_free(&weights->partition_weights[i].list);
    }
    free(weights->partition_weights);
    struct factor_list *const lists[] = { &weights->qos_factors, &weights->partition_factors };
    for (size_t list = 0; list < 2; list++) {
        for (size_t i = 0; i < lists[list]->count; i++)
            free(lists[list]->factors[i].name);
        free(lists[list]->factors);
    }
    *weights = (struct charge_weights){ 0 };
}

/* Returns true if jobs may be charged by this list of weights: always with CHARGE_TRES, and with
 * CHARGE_AUTO if the list is not empty. */
static bool charge_weighs(enum charge_basis charge, const struct weight_list *list)
{
    return charge == CHARGE_TRES || (charge == CHARGE_AUTO && list->count);
}

bool charge_weights_count(const struct charge_weights *weights, enum charge_basis charge)
{
    return charge_weighs(charge, &weights->weights) ||
           (charge == CHARGE_AUTO && weights->partition_weight_count);
}

bool charge_weights_have_partitions(const struct charge_weights *weights)
{
    return weights->partition_factors.count || weights->partition_weight_count;
}

static void weigh(struct charge_rates *rates, size_t place, const struct weight_list *list)
{
    rates->weighings[place] =
        (struct weighing){ list, memory_zeroed(list->count + 1, sizeof(uint64_t)) };
}

const struct charge_rate *charge_rate_at(const struct charge_rate *rate, uint64_t time)
{
    while (rate->later && rate->later_from <= time)
        rate = rate->later;
    return rate;
}

uint128 charge_rate_of_tres(const struct charge_rate *rate, enum charge_basis charge, uint64_t tres)
{
    if (charge != CHARGE_TRES)
        return rate->rate;
    for (size_t i = 0; i < rate->tres_count; i++)
        if (rate->tres[i].id == tres)
            return rate->tres[i].rate;
    return 0;
}

static struct charge_rate_terms *terms_of(struct charge_rates *rates, const char *partition)
{
    uint32_t place = names_add(rates->partitions, partition, strlen(partition));
    if (place >= rates->partition_count)
        rates->partition_count = place + (size_t)1;
    return &rates->terms[place];
}

static void set_terms(struct charge_rates *rates)
{
    const struct charge_weights *weights = rates->weights;
    size_t factors = weights->partition_factors.count, lists = weights->partition_weight_count;
    rates->terms = memory_zeroed(factors + lists + 1, sizeof *rates->terms);
    for (size_t i = 0; i <= factors + lists; i++)
        rates->terms[i] = (struct charge_rate_terms){ &one, &rates->weighings[0], false };
    for (size_t i = 0; i < factors; i++)
        terms_of(rates, weights->partition_factors.factors[i].name)->factor =
            &weights->partition_factors.factors[i].factor;
    for (size_t i = 0; i < lists; i++)
        terms_of(rates, weights->partition_weights[i].name)->weighing = &rates->weighings[i + 1];
}

struct charge_rates *charge_rates_create(enum charge_basis charge,
                                         const struct charge_weights *weights)
{
    struct charge_rates *rates = memory_zeroed(1, sizeof *rates);
    *rates = (struct charge_rates){
        .charge = charge,
        .weights = weights,
        .weighing_count = weights->partition_weight_count + 1,
        .qos_place = id_index_create(),
        .qos_met = memory_zeroed(weights->qos_factors.count, sizeof *rates->qos_met),
        .partitions = names_create(),
        .arena = arena_create(),
    };
    rates->weighings = memory_zeroed(rates->weighing_count, sizeof *rates->weighings);
    weigh(rates, 0, &weights->weights);
    for (size_t i = 0; i < weights->partition_weight_count; i++)
        weigh(rates, i + 1, &weights->partition_weights[i].list);
    set_terms(rates);
    for (uint64_t i = 0; i < sizeof fixed_tres / sizeof *fixed_tres; i++)
        charge_rates_add_tres(rates, i + 1, fixed_tres[i].type, fixed_tres[i].name);
    return rates;
}

void charge_rates_destroy(struct charge_rates *rates)
{
    if (!rates)
        return;
    for (size_t i = 0; i < rates->weighing_count; i++)
        free(rates->weighings[i].ids);
    free(rates->weighings);
    id_index_destroy(rates->qos_place);
    free(rates->qos);
    free(rates->qos_met);
    names_destroy(rates->partitions);
    free(rates->terms);
    free(rates->tariffs);
    arena_destroy(rates->arena);
    free(rates);
}

/*
 * Like Slurm, ignores a weight of billing, which is itself the weighted sum.  If names differ only
 * in case, which slurmdbd does not allow, uses the lowest id.
 */
void charge_rates_add_tres(struct charge_rates *rates, uint64_t id, const char *type,
                           const char *name)
{
    if (id == TRES_BILLING)
        return;
    for (size_t list = 0; list < rates->weighing_count; list++) {
        const struct tres_weight *weights = rates->weighings[list].list->weights;
        uint64_t *ids = rates->weighings[list].ids;
        for (size_t i = 0; i < rates->weighings[list].list->count; i++)
            if (!strcasecmp(weights[i].type, type) && !strcasecmp(weights[i].name, name) &&
                (!ids[i] || id < ids[i]))
                ids[i] = id;
    }
}

void charge_rates_add_qos(struct charge_rates *rates, uint64_t id, const char *name, size_t length,
                          double usage_factor)
{
    if (id_index_add(rates->qos_place, id, rates->qos_count) != INDEX_NONE)
        return;
    struct decimal setting = one;
    const struct factor_list *list = &rates->weights->qos_factors;
    for (size_t i = 0; i < list->count; i++)
        if (reads_as(name, length, list->factors[i].name)) {
            setting = list->factors[i].factor;
            rates->qos_met[i] = true;
        }
    *memory_append(&rates->qos, &rates->qos_count) = (struct qos){ .id = id, .setting = setting };
    charge_rates_set_factors(rates, id, &(struct factor_span){ 0, usage_factor }, 1);
}

void charge_rates_set_factors(struct charge_rates *rates, uint64_t qos,
                              const struct factor_span *spans, size_t count)
{
    uint32_t place = id_index_find(rates->qos_place, qos);
    struct qos_factor *factors = arena_take(rates->arena, count * sizeof *factors);
    for (size_t i = 0; i < count; i++)
        factors[i] = (struct qos_factor){ spans[i].from, decimal_of_factor(spans[i].factor) };
    rates->qos[place].factors = factors;
    rates->qos[place].count = count;
}

static bool in_maximum(enum weight_rule rule, const char *type)
{
    if (rule == WEIGHTS_SUM)
        return false;
    if (!strcasecmp(type, "gres"))
        return rule == WEIGHTS_MAX_TRES;
    return !strcasecmp(type, "cpu") || !strcasecmp(type, "mem") || !strcasecmp(type, "node");
}

/* A TRES with weight 0 is not charged, so its count is not checked either. */
static bool is_charged(const struct weighing *weighing, size_t i)
{
    return weighing->ids[i] && weighing->list->weights[i].weight.digits;
}

static struct charge_rate *make_rate(const struct charge_rates *rates, const struct decimal *factor,
                                     const struct decimal *setting,
                                     const struct charge_rate_terms *terms)
{
    const struct weighing *weighing = terms->weighing;
    struct decimal factors[RATE_FACTORS] = { one, *factor, *setting, *terms->factor };
    uint32_t list = (uint32_t)(weighing - rates->weighings);
    struct charge_rate *rate = arena_take(rates->arena, sizeof *rate);
    *rate = (struct charge_rate){
        .rate = rate_of_product(factors, RATE_FACTORS, 0),
        .weighs = charge_weighs(rates->charge, weighing->list),
        .list = list,
        .partition = list ? rates->weights->partition_weights[list - 1].name : "",
    };
    if (!rate->weighs)
        return rate;
    struct tres_rate *tres = arena_take(rates->arena, (weighing->list->count + 1) * sizeof *tres);
    rate->tres = tres;
    for (size_t i = 0; i < weighing->list->count; i++) {
        const struct tres_weight *weight = &weighing->list->weights[i];
        if (!is_charged(weighing, i))
            continue;
        factors[0] = weight->weight;
        tres[rate->tres_count++] = (struct tres_rate){
            weighing->ids[i],
            in_maximum(rates->weights->weight_rule, weight->type),
            rate_of_product(factors, RATE_FACTORS, weight->halvings),
            ldexp(decimal_nearest(&weight->weight), -(int)weight->halvings),
        };
    }
    return rate;
}

/* Builds the chain of rates of a QOS, starting with the last one. */
static const struct charge_rate *first_rate(struct charge_rates *rates, size_t partition,
                                            size_t qos)
{
    static const struct qos_factor usual = { 0, { 1, 0 } };
    static const struct qos unknown = { 0, { 1, 0 }, 1, &usual };
    const struct qos *of = qos < rates->qos_count ? &rates->qos[qos] : &unknown;
    const struct charge_rate *later = NULL;
    for (size_t i = of->count; i-- > 0;) {
        struct charge_rate *rate =
            make_rate(rates, &of->factors[i].factor, &of->setting, &rates->terms[partition]);
        rate->later = later;
        rate->later_from = later ? of->factors[i + 1].from : 0;
        later = rate;
    }
    return later;
}

static uint32_t charge_rate_find_partition(const struct charge_rates *rates, const char *name,
                                           size_t length)
{
    uint32_t place = names_find(rates->partitions, name, length);
    if (place != INDEX_NONE || utf8_valid(name, length))
        return place;
    struct text converted = { 0 };
    text_add_as_utf8(&converted, name, length);
    place = names_find(rates->partitions, converted.bytes, converted.length);
    text_free(&converted);
    return place;
}

static size_t partition_place(struct charge_rates *rates, const char *partition, size_t length)
{
    if (!rates->partition_count || !partition)
        return rates->partition_count;
    const char *comma = memchr(partition, ',', length);
    uint32_t place =
        charge_rate_find_partition(rates, partition, length); /* names may have commas */
    if (place == INDEX_NONE && comma)
        place = charge_rate_find_partition(rates, partition, (size_t)(comma - partition));
    if (place == INDEX_NONE)
        return rates->partition_count;
    rates->terms[place].met = true;
    return place;
}

const struct charge_rate *charge_rates_find(struct charge_rates *rates, uint64_t qos,
                                            const char *partition, size_t length)
{
    size_t width = (size_t)rates->qos_count + 1;
    if (!rates->tariffs)
        rates->tariffs =
            memory_zeroed((rates->partition_count + 1) * width, sizeof *rates->tariffs);
    uint32_t found = id_index_find(rates->qos_place, qos);
    size_t place = found == INDEX_NONE ? rates->qos_count : found;
    size_t row = partition_place(rates, partition, length);
    const struct charge_rate **rate = &rates->tariffs[row * width + place];
    if (!*rate)
        *rate = first_rate(rates, row, place);
    return *rate;
}

bool charge_rates_has_qos(const struct charge_rates *rates, uint64_t qos)
{
    return id_index_find(rates->qos_place, qos) != INDEX_NONE;
}

const struct charge_rate *charge_rates_plain(struct charge_rates *rates)
{
    if (!rates->plain)
        rates->plain = first_rate(rates, rates->partition_count, SIZE_MAX);
    return rates->plain;
}

const char *charge_rates_unused_qos(const struct charge_rates *rates, size_t *at)
{
    const struct factor_list *list = &rates->weights->qos_factors;
    while (*at < list->count)
        if (!rates->qos_met[(*at)++])
            return list->factors[*at - 1].name;
    return NULL;
}

const char *charge_rates_unused_partition(const struct charge_rates *rates, size_t *at)
{
    const struct factor_list *list = &rates->weights->partition_factors;
    while (*at < list->count)
        if (!rates->terms[(*at)++].met)
            return list->factors[*at - 1].name;
    return NULL;
}

/*
 * Numbers the weights of all lists that apply, one list after another.  Returns the list that
 * contains number `*place` and makes `*place` relative to that list.  Returns NULL after the last.
 */
static const struct weighing *weighing_at(const struct charge_rates *rates, size_t *place)
{
    for (size_t i = 0; i < rates->weighing_count; i++) {
        if (!charge_weighs(rates->charge, rates->weighings[i].list))
            continue;
        if (*place < rates->weighings[i].list->count)
            return &rates->weighings[i];
        *place -= rates->weighings[i].list->count;
    }
    return NULL;
}

const struct tres_weight *charge_rates_unused_tres(const struct charge_rates *rates, size_t *at)
{
    const struct weighing *weighing;
    for (size_t place; (place = *at, weighing = weighing_at(rates, &place));) {
        const struct tres_weight *weight = &weighing->list->weights[place];
        ++*at;
        if (!weighing->ids[place] && weight->weight.digits)
            return weight;
    }
    return NULL;
}

static uint64_t charge_rate_hash_of(uint64_t number, const struct decimal *one_factor,
                                    const struct decimal *other)
{
    const uint64_t words[] = { number, one_factor->digits, (uint64_t)one_factor->power,
                               other->digits, (uint64_t)other->power };
    return hash_words(words, sizeof words / sizeof *words);
}

/*
 * Does not hash the time of the first factor, because that factor also applies to all earlier
 * times.
 */
static uint64_t hash_of_factor(const struct qos *qos, size_t span)
{
    const struct qos_factor *factor = &qos->factors[span];
    const struct decimal from = { factor->from, 0 };
    uint64_t hash = charge_rate_hash_of(qos->id, &factor->factor, &qos->setting);
    if (!span && is_one(&factor->factor) && is_one(&qos->setting))
        return 0;
    return span ? charge_rate_hash_of(hash, &from, &none) : hash;
}

uint64_t charge_rates_hash(const struct charge_rates *rates, uint64_t reach)
{
    uint64_t hash = 0;
    const struct weighing *weighing;
    size_t at = 0;
    for (size_t place; (place = at, weighing = weighing_at(rates, &place));) {
        struct decimal number = { ++at, 0 };
        hash += charge_rate_hash_of(weighing->ids[place], &number, &none);
    }
    for (uint32_t i = 0; i < rates->qos_count; i++) {
        const struct qos *qos = &rates->qos[i];
        for (size_t span = 0; span < qos->count && qos->factors[span].from < reach; span++)
            hash += hash_of_factor(qos, span);
    }
    return hash;
}

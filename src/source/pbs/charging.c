/* SPDX-License-Identifier: MIT */
#include "source/pbs/charging.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/formula/formula.h"
#include "core/usage/charge_rate.h"
#include "core/usage/usage.h"
#include "settings/pbs_values.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

#define OPEN_FOR_LONG_S (UINT64_C(30) * 86400)

enum { TRES_COUNT = 5 };
const char *const pbs_tres_names[TRES_COUNT + 1] = { "ncpus", "ngpus",  "walltime",
                                                     "mem",   "nodect", NULL };

/* A resource to be checked. */
struct watched {
    const char *formula;
    char *resource;
    bool seen;
};

struct pbs_charging {
    enum entity_kind kind;
    struct formula *formula;
    char *unit;
    struct formula_value *values; /* values of the formula's names */
    struct names *names;
    uint64_t *ids; /* ids of entities, indexed by the number in `names` */
    struct fields fields, requested;
    struct watched *watched; /* the formula's names come first */
    size_t watched_count;
    bool had_run, has_requested; /* has_requested: `requested` contains the requests of the current
                                    job execution */
    bool keeps[TRES_COUNT];      /* indexed as pbs_tres_names */
    struct text texts[PBS_ENTITY_TEXTS], room;
};

struct pbs_charging *pbs_charging_create(enum entity_kind kind, const char *usage_res,
                                         struct error *err)
{
    struct formula *formula = formula_create(usage_res, err);
    if (!formula)
        return NULL;
    struct pbs_charging *charging = memory_zeroed(1, sizeof *charging);
    charging->kind = kind;
    charging->formula = formula;
    charging->unit = utf8_copy(usage_res, strlen(usage_res));
    charging->values = memory_zeroed(formula_name_count(formula) + 1, sizeof *charging->values);
    charging->names = names_create();
    for (size_t i = 0; i < formula_name_count(formula); i++)
        pbs_charging_watch(charging, pbs_defaults[PBS_USAGE_RES].name, formula_name(formula, i));
    return charging;
}

const char *pbs_charging_unit(const struct pbs_charging *charging)
{
    return charging->unit;
}

void pbs_charging_destroy(struct pbs_charging *charging)
{
    if (!charging)
        return;
    formula_destroy(charging->formula);
    free(charging->unit);
    free(charging->values);
    names_destroy(charging->names);
    free(charging->ids);
    fields_free(&charging->fields);
    fields_free(&charging->requested);
    for (size_t i = 0; i < charging->watched_count; i++)
        free(charging->watched[i].resource);
    free(charging->watched);
    for (size_t i = 0; i < PBS_ENTITY_TEXTS; i++)
        text_free(&charging->texts[i]);
    text_free(&charging->room);
    free(charging);
}

void pbs_charging_add(struct pbs_charging *charging, struct part name, uint64_t id)
{
    uint32_t count = names_count(charging->names);
    if (names_add(charging->names, name.bytes, name.length) != count)
        return;
    charging->ids = memory_grown(charging->ids, count, sizeof *charging->ids);
    charging->ids[count] = id;
}

uint64_t pbs_charging_entity(struct pbs_charging *charging, const struct part *texts)
{
    struct text *copies = charging->texts;
    for (size_t i = 0; i < PBS_ENTITY_TEXTS; i++) {
        copies[i].length = 0;
        text_add_bytes(&copies[i], texts[i].bytes, texts[i].length);
    }
    const struct entity_job job = { copies[0].bytes, copies[1].bytes, copies[2].bytes,
                                    copies[3].bytes };
    const char *name = entity_of(&job, charging->kind, &charging->room);
    uint32_t number = names_find(charging->names, name, strlen(name));
    return number == INDEX_NONE ? 0 : charging->ids[number];
}

void pbs_charging_watch(struct pbs_charging *charging, const char *formula, const char *resource)
{
    *memory_append(&charging->watched, &charging->watched_count) =
        (struct watched){ .formula = formula, .resource = memory_text(resource) };
}

void pbs_charging_add_unknown(const struct pbs_charging *charging, struct text *text)
{
    const char *formula = NULL;
    for (size_t i = 0; charging->had_run && i < charging->watched_count; i++) {
        const struct watched *watched = &charging->watched[i];
        if (watched->seen)
            continue;
        if (formula != watched->formula)
            text_format(text, "%s%s: '%s'", formula ? "; " : "", watched->formula,
                        watched->resource);
        else
            text_format(text, ", '%s'", watched->resource);
        formula = watched->formula;
    }
}

/* Returns a requested resource of a job execution.  Parses the requests on first use. */
static struct part requested_value(struct pbs_charging *charging, const struct pbs_run *run,
                                   const char *name)
{
    struct error ignored;
    if (!charging->has_requested && fields_read(&charging->requested, run->requested, &ignored))
        charging->requested.count = 0;
    charging->has_requested = true;
    return fields_value(&charging->requested, name);
}

/* Checks the watched resources that are not in fairshare_usage_res. */
static void charging_watch(struct pbs_charging *charging, const struct pbs_run *run)
{
    for (size_t i = formula_name_count(charging->formula); i < charging->watched_count; i++) {
        struct watched *watched = &charging->watched[i];
        if (!watched->seen)
            watched->seen = requested_value(charging, run, watched->resource).length > 0;
    }
}

/* Returns true for resources whose use is recorded when a job execution ends. */
static bool is_measured(const char *name)
{
    return !strcmp(name, "walltime") || !strcmp(name, "cput");
}

static struct formula_value pbs_charging_value_of(struct pbs_charging *charging, size_t number,
                                                  const struct pbs_run *run)
{
    const char *name = formula_name(charging->formula, number);
    struct part text = { "", 0 };
    if (run->used.length)
        text = fields_value(&charging->fields, name);
    bool estimated = !run->used.length && is_measured(name);
    if (!text.length && !is_measured(name))
        text = requested_value(charging, run, name);
    charging->watched[number].seen |= text.length || estimated;
    if (!estimated)
        return resource_value(text);
    if (!strcmp(name, "walltime"))
        return (struct formula_value){ (double)run->length_s, true };
    double cpus = resource_value(requested_value(charging, run, "ncpus")).number;
    return (struct formula_value){ fmax(cpus, 1) * (double)run->length_s, true };
}

/* Returns the requested walltime in seconds; 0 if unlimited. */
static uint64_t walltime_of(struct pbs_charging *charging, struct part requested)
{
    struct error ignored;
    if (fields_read(&charging->fields, requested, &ignored))
        return 0;
    double seconds = resource_value(fields_value(&charging->fields, "walltime")).number;
    return seconds >= 1 && seconds < (double)PBS_LONGEST_WALLTIME_S ? (uint64_t)seconds : 0;
}

uint64_t pbs_charging_limit(struct pbs_charging *charging, struct part requested, struct job *job,
                            uint64_t suspended, uint64_t now, uint64_t open_job_cap)
{
    bool ended = job->time_end && job->time_end <= now + CLOCK_SKEW_S;
    uint64_t until = ended ? job->time_end : now, walltime = walltime_of(charging, requested);
    if (!walltime) {
        job->open_for_long = OPEN_FOR_LONG_S + suspended;
        return until;
    }
    job->time_limit = (walltime + suspended + 59) / 60;
    uint64_t cap = job->time_start + job->time_limit * 60 + open_job_cap;
    if (ended && job->time_end > cap)
        job->time_end = cap;
    return cap < until ? cap : until;
}

uint128 pbs_charging_rate(struct pbs_charging *charging, const struct pbs_run *run)
{
    struct error ignored;
    double answer;
    charging->had_run = true;
    charging->has_requested = false;
    if (run->used.length && fields_read(&charging->fields, run->used, &ignored))
        return 0;
    charging_watch(charging, run);
    for (size_t i = 0; i < formula_name_count(charging->formula); i++)
        charging->values[i] = pbs_charging_value_of(charging, i, run);
    if (formula_evaluate(charging->formula, charging->values, &answer, &ignored) || !(answer > 0))
        return 0;
    return isfinite(answer) ? rate_of_factor(answer / (double)run->length_s) : RATE_TOO_LARGE;
}

/* Returns true for a resource that the setting `wanted` names. */
static bool charging_keeps(const char *wanted, size_t resource)
{
    bool keeps = false;
    if (!strcasecmp(wanted, "auto"))
        return resource < PBS_AUTOMATIC_TRES;
    for (char *name; (name = list_next(&wanted)); free(name))
        keeps |= !strcasecmp(name, pbs_tres_names[resource]);
    return keeps;
}

void pbs_charging_keep(struct pbs_charging *charging, const char *wanted)
{
    for (size_t i = 0; pbs_tres_names[i]; i++)
        charging->keeps[i] = charging_keeps(wanted, i);
}

/* Returns the amount per second of a resource of the current execution. */
static double charging_amount_of(struct pbs_charging *charging, const struct pbs_run *run,
                                 const char *name)
{
    if (!strcmp(name, "walltime"))
        return 1;
    struct part text = { "", 0 };
    if (run->used.length)
        text = fields_value(&charging->fields, name);
    /* Few jobs request gpus; do not parse the requests of all others. */
    if (!text.length && memmem(run->requested.bytes, run->requested.length, name, strlen(name)))
        text = requested_value(charging, run, name);
    double amount = resource_value(text).number;
    return ceil(!strcmp(name, "mem") ? amount / 1024 : amount);
}

/* Appends `,id=amount`.  The id has one digit.  Faster than text_format(). */
static void charging_add_amount(struct text *text, size_t id, uint64_t amount)
{
    char item[24], *at = item + sizeof item;
    do
        *--at = (char)('0' + amount % 10);
    while (amount /= 10);
    *--at = '=';
    *--at = (char)('0' + id);
    *--at = ',';
    at += !text->length;
    text_add_bytes(text, at, (size_t)(item + sizeof item - at));
}

void pbs_charging_tres(struct pbs_charging *charging, const struct pbs_run *run, struct text *text)
{
    text->length = 0;
    for (size_t i = 0; pbs_tres_names[i]; i++) {
        double amount =
            charging->keeps[i] ? charging_amount_of(charging, run, pbs_tres_names[i]) : 0;
        if (amount >= 1 && amount < PBS_TOO_MANY)
            charging_add_amount(text, i + 1, (uint64_t)amount);
    }
}

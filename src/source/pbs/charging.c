/* SPDX-License-Identifier: MIT */
#include "source/pbs/charging.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/formula.h"
#include "core/usage/price.h"
#include "core/usage/usage.h"
#include "source/pbs/resources.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* A longer walltime is no limit; OpenPBS's scheduler takes five years for "none". */
#define LONGEST_WALLTIME_S (UINT64_C(5) * 365 * 86400)

#define OPEN_FOR_LONG_S (UINT64_C(30) * 86400)

struct pbs_charging {
    enum entity_kind kind;
    struct formula *formula;
    char *unit;
    struct formula_value *values; /* of its names */
    struct names *names;
    uint64_t *ids; /* by name */
    struct fields fields;
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

static struct formula_value value_of(const struct pbs_charging *charging, const char *name,
                                     const struct pbs_run *run)
{
    struct formula_value value = resource_value(fields_value(&charging->fields, name));
    if (run->used.length)
        return value;
    if (!strcmp(name, "walltime"))
        return (struct formula_value){ (double)run->length_s, true };
    if (strcmp(name, "cput") != 0)
        return value;
    value = resource_value(fields_value(&charging->fields, "ncpus"));
    return (struct formula_value){ fmax(value.number, 1) * (double)run->length_s, true };
}

/* In seconds; 0: none. */
static uint64_t walltime_of(struct pbs_charging *charging, struct part requested)
{
    struct error ignored;
    if (fields_read(&charging->fields, requested, &ignored))
        return 0;
    double seconds = resource_value(fields_value(&charging->fields, "walltime")).number;
    return seconds >= 1 && seconds < (double)LONGEST_WALLTIME_S ? (uint64_t)seconds : 0;
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

uint128 pbs_charging_price(struct pbs_charging *charging, const struct pbs_run *run)
{
    struct error ignored;
    double answer;
    if (fields_read(&charging->fields, run->used.length ? run->used : run->requested, &ignored))
        return 0;
    for (size_t i = 0; i < formula_name_count(charging->formula); i++)
        charging->values[i] = value_of(charging, formula_name(charging->formula, i), run);
    if (formula_evaluate(charging->formula, charging->values, &answer, &ignored) || !(answer > 0))
        return 0;
    return isfinite(answer) ? price_of_factor(answer / (double)run->length_s) : PRICE_TOO_LARGE;
}

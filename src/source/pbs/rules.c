/* SPDX-License-Identifier: MIT */
#include "source/pbs/rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "settings/settings.h"
#include "settings/table.h"
#include "source/reading.h"
#include "sql.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"

static void pbs_rules_set(struct pbs_rules *rules, size_t key, char *value)
{
    free(rules->values[key]);
    rules->values[key] = value;
}

/* Sets a parameter.  Rows are in ascending order of time, so the last value is used. */
static int pbs_rules_take_value(void *context, const struct db_value *row, struct error *err)
{
    struct pbs_rules *rules = context;
    (void)err;
    for (size_t key = 0; key < PBS_KEYS; key++) {
        if (reads_as(row[0].text.bytes, row[0].text.length, pbs_defaults[key].name))
            pbs_rules_set(rules, key,
                          row[1].type == DB_TEXT ? utf8_copy(row[1].text.bytes, row[1].text.length)
                                                 : memory_text(pbs_defaults[key].value));
    }
    return 0;
}

/*
 * Checks a value, because another program may have written a value that an import would reject.
 * Parameters that only affect priorities must not stop fairshare, so they are not checked.
 */
static int check_value(const struct pbs_rules *rules, size_t key, struct error *err)
{
    const char *name = pbs_defaults[key].name, *value = NULL;
    struct text reason = { 0 };
    int result = 0;
    if (key >= PBS_SCHED_KEYS)
        return 0;
    if (!setting_named("pbs", name)->read(&value, rules->values[key], &reason))
        result = fail(err, ERROR_DATA, "table pbs_setting has an invalid %s = '%s': %s", name,
                      rules->values[key], reason.bytes);
    text_free(&reason);
    return result;
}

int pbs_rules_read(struct pbs_rules *rules, const struct source *source, int64_t time,
                   struct error *err)
{
    const struct db_value arguments[] = { db_text(source->cluster), db_integer(time) };
    const struct query query = { .sql = sql_query_pbs_setting_as_of,
                                 .arguments = arguments,
                                 .argument_count = 2,
                                 .types = "tt" };
    *rules = (struct pbs_rules){ { NULL } };
    for (size_t key = 0; key < PBS_KEYS; key++)
        pbs_rules_set(rules, key, memory_text(pbs_defaults[key].value));
    int result = reading_each(source->db, &query, pbs_rules_take_value, rules, err);
    for (size_t key = 0; key < PBS_KEYS && !result; key++) {
        const char *own = source->settings->pbs[key];
        if (*own)
            pbs_rules_set(rules, key, memory_text(own));
        result = check_value(rules, key, err);
    }
    if (result)
        pbs_rules_free(rules);
    return result;
}

/*
 * Returns the factor in single precision, but leaves it unchanged if that would round it to 0 or 1.
 */
static double step_of(double factor)
{
    float step = (float)factor;
    return step > 0 && step < 1 ? (double)step : factor;
}

struct decay_cycles pbs_rules_steps(const struct pbs_rules *rules)
{
    const char *time = rules->values[PBS_DECAY_TIME];
    uint64_t seconds = 0;
    double factor = 0.5;
    clock_span_parse(time, strlen(time), &seconds);
    number_real(rules->values[PBS_DECAY_FACTOR], &factor);
    double half_life = (double)seconds / -log2(factor);
    return (struct decay_cycles){
        .period = seconds,
        .factor = step_of(factor),
        .half_life = half_life < 1                   ? 1
                     : half_life < (double)INT32_MAX ? (uint64_t)llround(half_life)
                                                     : INT32_MAX,
    };
}

void pbs_rules_free(struct pbs_rules *rules)
{
    for (size_t key = 0; key < PBS_KEYS; key++)
        pbs_rules_set(rules, key, NULL);
}

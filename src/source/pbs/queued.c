/* SPDX-License-Identifier: MIT */
#include "source/pbs/queued.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/priority/formula_jobs.h"
#include "db/db.h"
#include "source/pbs/charging.h"
#include "source/pbs/resources.h"
#include "source/pbs/rules.h"
#include "source/reading.h"
#include "sql.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"

/* The columns of sql_query_pbs_queued_as_of. */
enum {
    KEY,
    ID,
    STATE,
    EUSER,
    EGROUP,
    ACCOUNT,
    QUEUE,
    ELIGIBLE_TIME,
    JOB_PRIORITY,
    QUEUE_PRIORITY,
    REQUESTED
};

struct queued_reader {
    const struct accounting *accounting;
    struct formula_jobs *jobs;
    struct fields fields;
    bool *seen; /* by name of the formula: a job has it */
};

/* OpenPBS's names that are not resources, and their columns; KEY: the run has their values. */
static const struct {
    const char *name;
    int column;
} keywords[] = { { "eligible_time", ELIGIBLE_TIME },   { "job_priority", JOB_PRIORITY },
                 { "queue_priority", QUEUE_PRIORITY }, { "fairshare_perc", KEY },
                 { "fair_share_perc", KEY },           { "fairshare_tree_usage", KEY },
                 { "fairshare_factor", KEY } };

static struct formula_value value_of(struct queued_reader *reader, size_t number,
                                     const struct db_value *row)
{
    const char *name = formula_name(reader->jobs->formula, number);
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (!strcmp(name, keywords[i].name))
            return (struct formula_value){ (double)db_value_integer(&row[keywords[i].column], 0),
                                           true };
    struct part text = fields_value(&reader->fields, name);
    reader->seen[number] |= text.length > 0;
    return resource_value(text);
}

/* accrue_type is imported like a resource; without eligible_time_enable no job has one. */
static bool is_keyword(const char *name)
{
    bool is_one = !strcmp(name, "accrue_type");
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        is_one |= !strcmp(name, keywords[i].name);
    return is_one;
}

/* A resource that no job of the queue has may be one of other jobs. */
static void watch(const struct queued_reader *reader)
{
    for (size_t i = 0; i < formula_jobs_name_count(reader->jobs); i++) {
        const char *name = formula_name(reader->jobs->formula, i);
        if (!reader->seen[i] && !is_keyword(name))
            pbs_charging_watch(reader->accounting->pbs, pbs_defaults[PBS_SORT_FORMULA].name, name);
    }
}

/* H: somebody holds it.  Q, and B of an array, may run. */
static const char *stopped_by(struct part state)
{
    return part_is(&state, "H")   ? FORMULA_JOB_HELD
           : part_is(&state, "W") ? FORMULA_JOB_NOT_YET
           : part_is(&state, "T") ? FORMULA_JOB_NOT_YET
                                  : NULL;
}

static int take_job(void *context, const struct db_value *row, struct error *err)
{
    struct queued_reader *reader = context;
    const struct part texts[PBS_ENTITY_TEXTS] = { part_of_column(&row[EUSER]),
                                                  part_of_column(&row[EGROUP]),
                                                  part_of_column(&row[ACCOUNT]),
                                                  part_of_column(&row[QUEUE]) };
    char *id = db_value_text(&row[ID]), *user = db_value_text(&row[EUSER]),
         *queue = db_value_text(&row[QUEUE]);
    const struct formula_job job = {
        .key = reading_number(&row[KEY]),
        .job_id = id,
        .user = user,
        .queue = queue,
        .association = (uint32_t)pbs_charging_entity(reader->accounting->pbs, texts),
        .stopped = stopped_by(part_of_column(&row[STATE])),
        .factor = NAN,
    };
    struct formula_value *values = formula_jobs_add(reader->jobs, &job);
    /* What cannot be read asks for nothing. */
    struct error ignored;
    (void)err;
    if (fields_read(&reader->fields, part_of_column(&row[REQUESTED]), &ignored))
        reader->fields.count = 0;
    for (size_t i = 0; i < formula_jobs_name_count(reader->jobs); i++)
        values[i] = value_of(reader, i, row);
    free(id);
    free(user);
    free(queue);
    return 0;
}

static struct formula_jobs *make_jobs(const struct pbs_rules *rules)
{
    struct formula_jobs *jobs =
        formula_jobs_create(rules->values[PBS_SORT_FORMULA], rules->values[PBS_SORT_THRESHOLD]);
    jobs->enforces_shares = !strcmp(rules->values[PBS_ENFORCE_NO_SHARES], "true");
    return jobs;
}

int pbs_queued_read(const struct source *source, const struct accounting *accounting,
                    int64_t instant, struct formula_jobs **jobs, struct error *err)
{
    struct pbs_rules rules;
    const struct db_value cluster = db_text(source->cluster), now = db_integer(instant);
    const struct db_value arguments[] = { cluster, now, cluster, cluster, now };
    const struct query query = { .sql = sql_query_pbs_queued_as_of,
                                 .arguments = arguments,
                                 .argument_count = 5,
                                 .types = "ittttttiiit",
                                 .has_many = true };
    if (pbs_rules_read(&rules, source, instant, err))
        return -1;
    struct queued_reader reader = { .accounting = accounting, .jobs = make_jobs(&rules) };
    pbs_rules_free(&rules);
    reader.seen = memory_zeroed(formula_jobs_name_count(reader.jobs) + 1, sizeof *reader.seen);
    int result = reading_each(source->db, &query, take_job, &reader, err);
    watch(&reader);
    fields_free(&reader.fields);
    free(reader.seen);
    *jobs = reader.jobs;
    return result;
}

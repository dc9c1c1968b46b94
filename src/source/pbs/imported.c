/* SPDX-License-Identifier: MIT */
#include "source/pbs/imported.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/finding.h"
#include "core/priority/formula_jobs.h"
#include "db/db.h"
#include "source/pbs/charging.h"
#include "source/pbs/rules.h"
#include "sql.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/memory.h"

int pbs_explain(const struct source *source, struct error *err)
{
    fail_in(err, "cannot read OpenPBS's tables, which `fairmill import pbs` creates");
    struct text grant = { 0 };
    if (err->class == ERROR_DENIED)
        db_add_grant(&grant, source->db->settings, "SELECT", NULL, "pbs_job");
    if (grant.length) {
        struct error reason = *err;
        fail(err, reason.class, "%.1500s; run for each table: %s", reason.message, grant.bytes);
    }
    text_free(&grant);
    return -1;
}

int pbs_read(const struct source *source, const struct query *query, row_taker take, void *context,
             struct error *err)
{
    return reading_each(source->db, query, take, context, err) ? pbs_explain(source, err) : 0;
}

int64_t pbs_time(const struct source *source)
{
    return source->time ? *source->time : clock_now();
}

/* ---- the usage file ---- */

static int take_newest(void *context, const struct db_value *row, struct error *err)
{
    struct usage_starts *starts = context;
    (void)err;
    starts->time = reading_number(&row[0]);
    uint64_t decayed = reading_number(&row[1]);
    /* If the scheduler has never decayed usage, its first decay period begins when it reads the
     * usage file. */
    starts->steps.epoch = decayed && decayed < starts->time ? decayed : starts->time;
    return 0;
}

static int imported_take_start(void *context, const struct db_value *row, struct error *err)
{
    struct usage_starts *starts = context;
    double usage = db_value_real(&row[1]);
    (void)err;
    if (!isfinite(usage))
        return 0;
    *memory_append(&starts->starts, &starts->count) =
        (struct usage_start){ reading_number(&row[0]), usage };
    return 0;
}

static int read_starts(const struct source *source, struct usage_starts *starts, struct error *err)
{
    struct db_value arguments[] = { db_text(source->cluster), db_text(source->cluster),
                                    db_integer(pbs_time(source)) };
    const struct query newest = { .sql = sql_query_pbs_usage_newest,
                                  .arguments = arguments,
                                  .argument_count = 3,
                                  .types = "ii" };
    const struct query usage = { .sql = sql_query_pbs_usage_of,
                                 .arguments = arguments + 1,
                                 .argument_count = 2,
                                 .types = "ir" };
    struct pbs_rules rules;
    if (pbs_rules_read(&rules, source, pbs_time(source), err))
        return -1;
    starts->steps = pbs_rules_steps(&rules);
    pbs_rules_free(&rules);
    if (pbs_read(source, &newest, take_newest, starts, err))
        return -1;
    arguments[2] = db_unsigned(starts->time);
    return starts->time ? pbs_read(source, &usage, imported_take_start, starts, err) : 0;
}

/* ---- rejected lines ---- */

struct refused {
    uint64_t count;
    char first[64];
};

static int take_refused(void *context, const struct db_value *row, struct error *err)
{
    struct refused *refused = context;
    const struct part name = part_of_column(&row[0]);
    (void)err;
    if (!refused->count++)
        snprintf(refused->first, sizeof refused->first, "'%.*s', line %" PRIu64,
                 name.length > 16 ? 16 : (int)name.length, name.bytes, reading_number(&row[1]));
    return 0;
}

static int imported_read_findings(const struct source *source, struct findings *findings,
                                  struct error *err)
{
    struct refused refused = { 0 };
    const struct db_value cluster = db_text(source->cluster);
    const struct query query = { .sql = sql_query_pbs_refused_lines,
                                 .arguments = &cluster,
                                 .argument_count = 1,
                                 .types = "ti" };
    /* The table may be missing, because imports of older releases did not create it. */
    int has = db_has_table(source->db, "pbs_refused", err);
    if (has < 0 || (has && reading_each(source->db, &query, take_refused, &refused, err)))
        return pbs_explain(source, err);
    if (refused.count)
        findings_add(findings, FINDING_RECORD_UNREADABLE, 0, "%" PRIu64 " records, the first: %s",
                     refused.count, refused.first);
    return 0;
}

/* ---- pending jobs ---- */

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
    REQUESTED,
    QUEUED,
    ELIGIBLE
};

struct queued_reader {
    const struct accounting *accounting;
    struct formula_jobs *jobs;
    struct fields fields;
    bool *seen; /* indexed by the formula's names: at least one pending job has this resource */
};

/*
 * OpenPBS's names in formulas that are not resources, with their columns.  KEY marks names whose
 * values fairmill sets later, after it has computed fairshare.
 */
static const struct {
    const char *name;
    int column;
} keywords[] = { { "eligible_time", ELIGIBLE_TIME },   { "job_priority", JOB_PRIORITY },
                 { "queue_priority", QUEUE_PRIORITY }, { "fairshare_perc", KEY },
                 { "fair_share_perc", KEY },           { "fairshare_tree_usage", KEY },
                 { "fairshare_factor", KEY } };

static struct formula_value imported_value_of(struct queued_reader *reader, size_t number,
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

/*
 * Returns true for names that are not checked.  accrue_type is imported like a resource, but jobs
 * have it only if eligible_time_enable is set.
 */
static bool is_keyword(const char *name)
{
    bool is_one = !strcmp(name, "accrue_type");
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        is_one |= !strcmp(name, keywords[i].name);
    return is_one;
}

/*
 * Adds each resource that no pending job has to the resources to be checked, because executions of
 * other jobs may have it.
 */
static void imported_watch(const struct queued_reader *reader)
{
    for (size_t i = 0; i < formula_jobs_name_count(reader->jobs); i++) {
        const char *name = formula_name(reader->jobs->formula, i);
        if (!reader->seen[i] && !is_keyword(name))
            pbs_charging_watch(reader->accounting->pbs, pbs_defaults[PBS_SORT_FORMULA].name, name);
    }
}

/*
 * Returns why a job in this state cannot run, or NULL if it can.  H means held.  W and T mean that
 * the job cannot run yet.  A job in state Q can run, and so can an array in state B.
 */
static const char *stopped_by(struct part state)
{
    return part_is(&state, "H")   ? FORMULA_JOB_HELD
           : part_is(&state, "W") ? FORMULA_JOB_NOT_YET
           : part_is(&state, "T") ? FORMULA_JOB_NOT_YET
                                  : NULL;
}

/* Returns the value of a requested resource if it is at least 1 and below `below`. */
static int64_t imported_fact(const struct fields *requested, const char *resource, double below)
{
    double value = resource_value(fields_value(requested, resource)).number;
    return value >= 1 && value < below ? (int64_t)value : JOB_FACT_UNKNOWN;
}

/* A job whose list of resources does not contain GPUs requests 0 GPUs. */
static struct job_facts imported_facts(const struct fields *requested, const struct db_value *row,
                                       bool may_run)
{
    int64_t queued = db_value_integer(&row[QUEUED], 0),
            eligible = db_value_integer(&row[ELIGIBLE], 0);
    int64_t gpus = imported_fact(requested, "ngpus", PBS_TOO_MANY);
    if (eligible < queued)
        eligible = queued;
    return (struct job_facts){
        .cpus = imported_fact(requested, "ncpus", PBS_TOO_MANY),
        .gpus = gpus == JOB_FACT_UNKNOWN && requested->count ? 0 : gpus,
        .limit_s = imported_fact(requested, "walltime", (double)PBS_LONGEST_WALLTIME_S),
        .eligible_at = may_run && eligible > 0 ? eligible : JOB_FACT_UNKNOWN,
    };
}

static int imported_take_job(void *context, const struct db_value *row, struct error *err)
{
    struct queued_reader *reader = context;
    const struct part texts[PBS_ENTITY_TEXTS] = { part_of_column(&row[EUSER]),
                                                  part_of_column(&row[EGROUP]),
                                                  part_of_column(&row[ACCOUNT]),
                                                  part_of_column(&row[QUEUE]) };
    char *id = db_value_text(&row[ID]), *user = db_value_text(&row[EUSER]),
         *queue = db_value_text(&row[QUEUE]);
    /* Treat an unreadable list as no request. */
    struct error ignored;
    (void)err;
    if (fields_read(&reader->fields, part_of_column(&row[REQUESTED]), &ignored))
        reader->fields.count = 0;
    const char *stopped = stopped_by(part_of_column(&row[STATE]));
    const struct formula_job job = {
        .key = reading_number(&row[KEY]),
        .job_id = id,
        .user = user,
        .queue = queue,
        .association = (uint32_t)pbs_charging_entity(reader->accounting->pbs, texts),
        .stopped = stopped,
        .facts = imported_facts(&reader->fields, row, !stopped),
        .factor = NAN,
    };
    struct formula_value *values = formula_jobs_add(reader->jobs, &job);
    for (size_t i = 0; i < formula_jobs_name_count(reader->jobs); i++)
        values[i] = imported_value_of(reader, i, row);
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

static int read_formula_jobs(const struct source *source, const struct accounting *accounting,
                             struct formula_jobs **jobs, struct error *err)
{
    struct pbs_rules rules;
    int64_t time = pbs_time(source);
    const struct db_value cluster = db_text(source->cluster), now = db_integer(time);
    const struct db_value arguments[] = { cluster, now, cluster, cluster, now };
    const struct query query = { .sql = sql_query_pbs_queued_as_of,
                                 .arguments = arguments,
                                 .argument_count = 5,
                                 .types = "ittttttiiitii",
                                 .has_many = true };
    if (pbs_rules_read(&rules, source, time, err))
        return pbs_explain(source, err);
    struct queued_reader reader = { .accounting = accounting, .jobs = make_jobs(&rules) };
    pbs_rules_free(&rules);
    reader.seen = memory_zeroed(formula_jobs_name_count(reader.jobs) + 1, sizeof *reader.seen);
    int result = pbs_read(source, &query, imported_take_job, &reader, err);
    imported_watch(&reader);
    fields_free(&reader.fields);
    free(reader.seen);
    *jobs = reader.jobs;
    return result;
}

static int imported_take_name(void *context, const struct db_value *row, struct error *err)
{
    (void)err;
    text_add_bytes(context, row[0].text.bytes, row[0].text.length);
    return 0;
}

static int name_job(const struct source *source, uint64_t key, struct text *id, struct error *err)
{
    const struct db_value arguments[] = { db_text(source->cluster), db_unsigned(key) };
    const struct query query = {
        .sql = sql_query_pbs_job_named, .arguments = arguments, .argument_count = 2, .types = "t"
    };
    return pbs_read(source, &query, imported_take_name, id, err);
}

const struct imported_port pbs_imported = {
    .read_findings = imported_read_findings,
    .read_starts = read_starts,
    .read_formula_jobs = read_formula_jobs,
    .name_job = name_job,
};

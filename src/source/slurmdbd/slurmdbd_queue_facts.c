/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "core/priority/accrual.h"
#include "core/priority/priority.h"
#include "db/db.h"
#include "settings/settings.h"
#include "source/slurmdbd/slurmdbd_tables.h"
#include "util/error.h"
#include "util/memory.h"

/* Reads the data for priorities that does not depend on a pending job: TRES, QOS and limits. */

static const char *slurmdbd_queue_copy_of(struct cluster_facts *facts, const struct db_value *value)
{
    return value->type == DB_TEXT ? arena_copy(facts->arena, value->text.bytes, value->text.length)
                                  : "";
}

static int slurmdbd_queue_take_tres(void *context, const struct db_value *row, struct error *err)
{
    struct cluster_facts *facts = context;
    (void)err;
    struct text whole = { 0 };
    slurmdbd_add_tres_name(&whole, row);
    *memory_append(&facts->tres, &facts->tres_count) = (struct tres_fact){
        .id = reading_number(&row[0]),
        .name = arena_copy(facts->arena, whole.bytes, whole.length),
    };
    text_free(&whole);
    return 0;
}

/* The flags of a QOS that lift limits of partitions, from slurmdb.h. */
#define FLAG_QOS_PARTITION_MAX_NODES (INT64_C(1) << 1)
#define FLAG_QOS_PARTITION_TIME_LIMIT (INT64_C(1) << 2)

static int slurmdbd_queue_take_qos(void *context, const struct db_value *row, struct error *err)
{
    struct cluster_facts *facts = context;
    (void)err;
    uint64_t priority = reading_number(&row[2]);
    bool deleted = reading_number(&row[3]) != 0;
    *memory_append(&facts->qos, &facts->qos_count) = (struct qos_fact){
        .id = reading_number(&row[0]),
        .name = slurmdbd_queue_copy_of(facts, &row[1]),
        .priority = deleted || priority >= PRIORITY_NONE ? 0 : (uint32_t)priority,
        .lifts_nodes = db_value_integer(&row[4], 0) & FLAG_QOS_PARTITION_MAX_NODES,
        .lifts_time = db_value_integer(&row[4], 0) & FLAG_QOS_PARTITION_TIME_LIMIT,
    };
    return 0;
}

static int slurmdbd_queue_take_registration(void *context, const struct db_value *row,
                                            struct error *err)
{
    struct cluster_facts *facts = context;
    (void)err;
    facts->registered = slurmdbd_queue_copy_of(facts, &row[0]);
    facts->nodes = slurmdbd_queue_copy_of(facts, &row[1]);
    return 0;
}

static int slurmdbd_queue_read_qos(const struct source *source, struct cluster_facts *facts,
                                   struct error *err)
{
    unsigned has;
    if (slurmdbd_probe(source, &slurmdbd_qos, &has, err))
        return -1;
    const struct query query = {
        .sql =
            has & HAS_QOS_FLAGS
                ? "SELECT \"id\", \"name\", \"priority\", \"deleted\", \"flags\" FROM {} ORDER BY 1"
                : "SELECT \"id\", \"name\", \"priority\", \"deleted\", 0 FROM {} ORDER BY 1",
        .types = "itiii"
    };
    return slurmdbd_read(source, &slurmdbd_qos, &query, slurmdbd_queue_take_qos, facts, err);
}

/* Does not read the names of TRES unless the settings need them: the login may lack the privilege.
 */
int slurmdbd_queue_read_facts(const struct source *source, struct cluster_facts *facts,
                              struct error *err)
{
    *facts = (struct cluster_facts){ .arena = arena_create(), .registered = "", .nodes = "" };
    if (((slurmdbd_reads_tres(source->settings) || source->settings->slurm) &&
         slurmdbd_each_tres(source, slurmdbd_queue_take_tres, facts, err)) ||
        slurmdbd_queue_read_qos(source, facts, err) ||
        slurmdbd_each_registration(source, slurmdbd_queue_take_registration, facts, err)) {
        cluster_facts_free(facts);
        return -1;
    }
    return 0;
}

static int take_running(void *context, const struct db_value *row, struct error *err)
{
    struct cluster_facts *facts = context;
    (void)err;
    *memory_append(&facts->jobs, &facts->job_count) = (struct running_job){
        .association = reading_number(&row[0]),
        .qos = reading_number(&row[1]),
        .start = reading_number(&row[2]),
        .time_limit = reading_number(&row[3]),
        .tres = slurmdbd_queue_copy_of(facts, &row[4]),
    };
    return 0;
}

static int read_running(const struct source *source, uint64_t time, struct cluster_facts *facts,
                        struct error *err)
{
    const struct db_value now = slurmdbd_time(time), arguments[] = { now, now };
    const struct query query = {
        .sql = "SELECT \"id_assoc\", \"id_qos\", \"time_start\", \"timelimit\", \"tres_alloc\""
               " FROM {} WHERE (\"time_end\" = 0 OR \"time_end\" > ?) AND \"time_start\" > 0"
               " AND \"time_start\" <= ?",
        .arguments = arguments,
        .argument_count = 2,
        .types = "iiiit"
    };
    return slurmdbd_read(source, &slurmdbd_jobs, &query, take_running, facts, err);
}

int slurmdbd_queue_read_tres_limits(const struct source *source, uint64_t time, bool running,
                                    struct cluster_facts *facts, struct error *err)
{
    *facts = (struct cluster_facts){ .arena = arena_create(), .registered = "", .nodes = "" };
    if ((running && read_running(source, time, facts, err)) ||
        slurmdbd_each_tres(source, slurmdbd_queue_take_tres, facts, err) ||
        slurmdbd_each_registration(source, slurmdbd_queue_take_registration, facts, err)) {
        cluster_facts_free(facts);
        return -1;
    }
    return 0;
}

/* NULL and INFINITE mean no limit. */
static uint32_t accrue_limit(const struct db_value *value)
{
    if (value->type != DB_INTEGER || value->integer < 0 || value->integer >= ACCRUAL_UNLIMITED)
        return ACCRUAL_UNLIMITED;
    return (uint32_t)value->integer;
}

static int take_qos_limits(void *accrual, const struct db_value *row, struct error *err)
{
    const struct accrual_of_qos limits = { reading_number(&row[0]), accrue_limit(&row[1]),
                                           accrue_limit(&row[2]), accrue_limit(&row[3]) };
    (void)err;
    if ((limits.group & limits.account & limits.user) != ACCRUAL_UNLIMITED)
        accrual_limit_qos(accrual, &limits);
    return 0;
}

static int take_association_limits(void *accrual, const struct db_value *row, struct error *err)
{
    const struct accrual_of_association limits = { (uint32_t)reading_number(&row[0]),
                                                   accrue_limit(&row[1]), accrue_limit(&row[2]) };
    (void)err;
    if ((limits.group & limits.own) != ACCRUAL_UNLIMITED)
        accrual_limit_association(accrual, &limits);
    return 0;
}

/*
 * Reads the accrue limits for which the table has columns.  Slurm has had these limits since 18.08.
 */
static int slurmdbd_queue_read_limits(const struct source *source,
                                      const struct slurmdbd_table *table, row_taker take,
                                      struct accrual *accrual, struct error *err)
{
    unsigned has;
    if (slurmdbd_probe(source, table, &has, err))
        return -1;
    struct text sql = { 0 }, any = { 0 };
    text_format(&sql, "SELECT \"%s\"", table->needed[0]);
    for (unsigned i = 0; i < COLUMNS_WANTED && table->wanted[i]; i++) {
        bool there = has >> i & 1;
        text_format(&sql, there ? ", \"%s\"" : ", NULL", table->wanted[i]);
        if (there)
            text_format(&any, "%s\"%s\" IS NOT NULL", any.length ? " OR " : "", table->wanted[i]);
    }
    text_format(&sql, " FROM {} WHERE \"deleted\" = 0 AND (%s)", any.length ? any.bytes : "");
    const struct query query = { .sql = sql.bytes, .types = table->wanted[2] ? "iiii" : "iii" };
    int result = any.length ? slurmdbd_read(source, table, &query, take, accrual, err) : 0;
    text_free(&sql);
    text_free(&any);
    return result;
}

int slurmdbd_queue_read_accrue_limits(const struct source *source, struct accrual *accrual,
                                      struct error *err)
{
    if (slurmdbd_queue_read_limits(source, &slurmdbd_qos_limits, take_qos_limits, accrual, err))
        return -1;
    return slurmdbd_queue_read_limits(source, &slurmdbd_association_limits, take_association_limits,
                                      accrual, err);
}

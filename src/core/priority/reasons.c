/* SPDX-License-Identifier: MIT */
#include "core/priority/reasons.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "util/number.h"
#include "util/text.h"
#include "util/times.h"

/* Appends `asks for 20 nodes, partition batch has 10`. */
static void reason_add_amounts(struct text *detail, const struct priority_partition *partition,
                               uint64_t asked, const char *unit, const char *verb, uint64_t limit)
{
    if (detail)
        text_format(detail, "asks for %s%s, partition %s %s %s",
                    number_grouped((int64_t)asked).bytes, unit, partition->name, verb,
                    number_grouped((int64_t)limit).bytes);
}

static void reason_add_minutes(struct text *text, uint64_t minutes)
{
    text_format(text, "%" PRIu64 "-%02" PRIu64 ":%02" PRIu64 ":00", minutes / 1440,
                minutes / 60 % 24, minutes % 60);
}

/*
 * Slurm counts the memory of a job without a request as that of the first node of its partition,
 * times its nodes (job_get_tres_mem()).  With several partitions, it is unknown which one was used.
 * A higher number was requested explicitly.
 */
static bool asks_too_much_memory(const struct reason_case *given)
{
    const struct partition_limits *limits = &given->partition->limits;
    uint64_t asked = given->request->memory;
    uint64_t nodes = given->request->nodes ? given->request->nodes : 1;
    return limits->memory && !given->has_partitions && asked > limits->memory &&
           asked / nodes > limits->node_memory;
}

/* Returns true if a TRES is a typed form of another: `gres/gpu:a100` of `gres/gpu`. */
static bool is_type_of(const char *typed, const char *name)
{
    size_t length = strlen(name);
    return !strncasecmp(typed, name, length) && typed[length] == ':';
}

/*
 * Returns the highest number of a generic resource that the partition may have.  A typed resource
 * may also be part of those whose type slurm.conf does not show.
 */
static uint64_t gres_in(const struct partition_limits *limits, const struct gres_count *gres)
{
    uint64_t count = gres->count;
    for (size_t i = 0; i < limits->gres_count; i++) {
        const struct gres_count *all = &limits->gres[i];
        if (!is_type_of(gres->name, all->name))
            continue;
        count += all->count;
        for (size_t k = 0; k < limits->gres_count; k++)
            if (is_type_of(limits->gres[k].name, all->name))
                count -= limits->gres[k].count;
    }
    return count;
}

static void reason_add_gres(struct text *detail, const struct priority_partition *partition,
                            const struct gres_count *limit, uint64_t asked)
{
    struct text unit = { 0 };
    if (!strncasecmp(limit->name, "gres/gpu", 8) && (!limit->name[8] || limit->name[8] == ':'))
        text_format(&unit, " %s%sGPU%s", limit->name[8] ? limit->name + 9 : "",
                    limit->name[8] ? " " : "", asked == 1 ? "" : "s");
    else
        text_format(&unit, " %s", limit->name);
    reason_add_amounts(detail, partition, asked, unit.bytes, "has",
                       gres_in(&partition->limits, limit));
    text_free(&unit);
}

static bool asks_too_many_gres(const struct reason_case *given, struct text *detail)
{
    const struct partition_limits *limits = &given->partition->limits;
    for (size_t i = 0; i < given->request->gres_count; i++) {
        const struct gres_count *asked = &given->request->gres[i];
        for (size_t k = 0; k < limits->gres_count; k++)
            if (limits->gres[k].id == asked->id &&
                asked->count > gres_in(limits, &limits->gres[k])) {
                reason_add_gres(detail, given->partition, &limits->gres[k], asked->count);
                return true;
            }
    }
    return false;
}

static bool asks_too_much_time(const struct reason_case *given, struct text *detail)
{
    uint64_t asked = given->job->time_limit, limit = given->partition->max_minutes;
    if (!asked || asked == TIME_LIMIT_NO_VALUE || asked <= limit || given->qos->lifts_time)
        return false;
    if (detail) {
        text_add(detail, "asks for ");
        if (asked == TIME_LIMIT_INFINITE)
            text_add(detail, "unlimited time");
        else
            reason_add_minutes(detail, asked);
        text_format(detail, ", partition %s allows ", given->partition->name);
        reason_add_minutes(detail, limit);
    }
    return true;
}

static bool is_too_large(const struct reason_case *given, struct text *detail)
{
    const struct priority_partition *partition = given->partition;
    const struct partition_limits *limits = &partition->limits;
    const struct job_request *asked = given->request;
    if (limits->cpus && asked->cpus > limits->cpus)
        reason_add_amounts(detail, partition, asked->cpus, " CPUs", "has", limits->cpus);
    else if (limits->nodes && asked->nodes > limits->nodes)
        reason_add_amounts(detail, partition, asked->nodes, " nodes", "has", limits->nodes);
    else if (asked->nodes > limits->max_nodes && !given->qos->lifts_nodes)
        reason_add_amounts(detail, partition, asked->nodes, asked->nodes == 1 ? " node" : " nodes",
                           "allows", limits->max_nodes);
    else if (asks_too_much_memory(given))
        reason_add_amounts(detail, partition, asked->memory, " MB of memory", "has",
                           limits->memory);
    else
        return asks_too_many_gres(given, detail) || asks_too_much_time(given, detail);
    return true;
}

/* Returns the reason that the job has in each of its partitions, or "". */
static const char *reason_of_job(const struct priority_job *job, struct text *detail)
{
    const char *reason = job->lost      ? PRIORITY_JOB_LOST
                         : job->held    ? PRIORITY_JOB_HELD
                         : job->blocked ? job->blocked
                                        : "";
    if (!detail)
        return reason;
    if (job->lost)
        text_format(detail, "pending since %s", time_text((int64_t)job->ages_since).bytes);
    else if (job->held)
        text_add(detail, "held by its user or an administrator");
    else if (!strcmp(reason, PRIORITY_JOB_DEPENDENCY))
        text_add(detail, "waits for another job");
    else if (!strcmp(reason, PRIORITY_JOB_BEGIN))
        text_format(detail, "waits until %s, its begin time",
                    time_text((int64_t)job->eligible).bytes);
    else if (!strcmp(reason, PRIORITY_JOB_ARRAY_LIMIT))
        text_format(detail, "its array may run %" PRIu32 " task%s at a time", job->array_limit,
                    job->array_limit == 1 ? "" : "s");
    return reason;
}

const char *reason_of(const struct reason_case *given, struct text *detail)
{
    const struct priority_partition *partition = given->partition;
    if (given->job->started)
        return "";
    const char *reason = reason_of_job(given->job, detail);
    if (*reason)
        return reason;
    if (partition->limits.is_missing) {
        if (detail)
            text_format(detail, "slurm.conf has no partition %s", partition->name);
        return PRIORITY_JOB_PARTITION_UNKNOWN;
    }
    if (partition->limits.closed) {
        if (detail)
            text_format(detail, "partition %s has State=%s", partition->name,
                        partition->limits.closed);
        return PRIORITY_JOB_PARTITION_DOWN;
    }
    return is_too_large(given, detail) ? PRIORITY_JOB_TOO_LARGE : "";
}

/* SPDX-License-Identifier: MIT */
#include "core/priority/priority.h"

#include <math.h>

#include "util/text.h"

static double within_0_and_1(double number)
{
    if (!(number > 0))
        return 0;
    return number < 1 ? number : 1;
}

/* Returns the limit in minutes by which slurmctld divides, or 2^32 - 1 if there is no limit. */
static uint32_t time_limit(const struct priority_job *job,
                           const struct priority_partition *partition)
{
    if (job->time_limit && job->time_limit != TIME_LIMIT_NO_VALUE)
        return job->time_limit;
    return partition->max_minutes < TIME_LIMIT_INFINITE ? (uint32_t)partition->max_minutes
                                                        : TIME_LIMIT_INFINITE;
}

/* Seed 002: "the age factor will not change when scheduling is withheld for a job whose node or
 * time limits exceed the cluster's current limits". */
static bool exceeds_limits(const struct priority_options *options, const struct priority_job *job,
                           const struct priority_partition *partition)
{
    if ((options->nodes && job->nodes > options->nodes) || job->nodes > partition->max_nodes)
        return true;
    return partition->max_minutes != PRIORITY_NO_LIMIT &&
           time_limit(job, partition) > partition->max_minutes;
}

/* Returns the time that the job has waited as a fraction of max_age. */
static double age_factor(const struct priority_options *options, const struct priority_job *job,
                         const struct priority_partition *partition)
{
    uint64_t since = options->accrue_always ? job->submitted : job->ages_since;
    if (!since || since > options->now || (job->held && !options->accrue_always))
        return 0;
    if (options->conformance == CONFORMANCE_DOCUMENTS && exceeds_limits(options, job, partition))
        return 0;
    uint64_t waited = options->now - since;
    return waited < options->max_age ? (double)waited / (double)options->max_age : 1;
}

/* PriorityFlags=SMALL_RELATIVE_TO_TIME: CPUs as a fraction of the cluster's CPUs, per minute of the
 * time limit.  Uses the requested CPUs or all CPUs of the requested nodes, whichever number is
 * higher. */
static double size_relative_to_time(const struct priority_options *options,
                                    const struct priority_job *job,
                                    const struct priority_partition *partition, uint32_t nodes)
{
    if (!options->cpus)
        return 0;
    double size = (double)nodes * (double)options->cpus / (double)options->nodes;
    if (job->cpus > size)
        size = job->cpus;
    size /= time_limit(job, partition);
    size /= (double)options->cpus;
    return options->favor_small ? 1 - size : size;
}

/* Returns the mean of two fractions: the requested part of the cluster's nodes, and the requested
 * part of its CPUs.  With favor_small, uses the parts that the job does not request. */
static double size_as_slurmctld(const struct priority_options *options,
                                const struct priority_job *job, uint32_t nodes)
{
    double all_nodes = (double)options->nodes, all_cpus = (double)options->cpus, size;
    if (options->favor_small)
        size = nodes < options->nodes ? (all_nodes - nodes) / all_nodes : 0;
    else
        size = nodes / all_nodes;
    if (!job->cpus || !options->cpus)
        return size;
    /* slurmctld subtracts unsigned numbers: a job that requests more CPUs than the cluster has gets
     * the highest value. */
    uint32_t left = (uint32_t)options->cpus - job->cpus;
    size += options->favor_small ? left / all_cpus : job->cpus / all_cpus;
    return size / 2;
}

/* Seed 002: the factor is 1.0 for all nodes of the machine, or with favor_small for a single node.
 */
static double size_by_document(const struct priority_options *options, uint32_t nodes)
{
    double all_nodes = (double)options->nodes;
    return options->favor_small ? (all_nodes - nodes + 1) / all_nodes : nodes / all_nodes;
}

static double job_size_factor(const struct priority_options *options,
                              const struct priority_job *job,
                              const struct priority_partition *partition)
{
    uint32_t nodes = job->nodes ? job->nodes : 1;
    if (!options->nodes)
        return 0;
    if (options->relative_to_time)
        return within_0_and_1(size_relative_to_time(options, job, partition, nodes));
    return within_0_and_1(options->conformance == CONFORMANCE_SLURMCTLD
                              ? size_as_slurmctld(options, job, nodes)
                              : size_by_document(options, nodes));
}

static double part_of_highest(double number, double highest, bool no_normal)
{
    if (no_normal)
        return number;
    return highest > 0 ? number / highest : 0;
}

static double tres_factor(const struct priority_options *options, size_t i, uint64_t count,
                          const struct priority_partition *partition)
{
    if (options->no_normal_tres)
        return (double)count;
    uint64_t total = partition->tres_totals ? partition->tres_totals[i] : options->tres[i].total;
    return count && total ? (double)count / (double)total : 0;
}

static double weighted_tres(const struct priority_options *options, const uint64_t *counts,
                            const struct priority_partition *partition)
{
    double sum = 0;
    for (size_t i = 0; i < options->tres_count; i++)
        sum += tres_factor(options, i, counts[i], partition) * options->tres[i].weight;
    return sum;
}

static struct priority_parts priority_factors_of(const struct priority_options *options,
                                                 const struct priority_job *job,
                                                 const struct priority_partition *partition,
                                                 const struct priority_qos *qos)
{
    uint32_t association =
        job->association_priority == PRIORITY_NONE ? 0 : job->association_priority;
    return (struct priority_parts){
        .age = age_factor(options, job, partition),
        .association = part_of_highest(association, options->highest_association,
                                       options->no_normal_association),
        .fairshare = isnan(job->fairshare) ? 0 : job->fairshare,
        .job_size = job_size_factor(options, job, partition),
        .partition = part_of_highest(partition->factor, options->highest_partition,
                                     options->no_normal_partition),
        .qos = isnan(qos->factor)
                   ? part_of_highest(qos->priority, options->highest_qos, options->no_normal_qos)
                   : qos->factor,
    };
}

void priority_add_up(struct priority *priority, bool held)
{
    const struct priority_parts *weighted = &priority->weighted;
    double sum = weighted->age + weighted->association + weighted->fairshare + weighted->job_size +
                 weighted->partition + weighted->qos + priority->tres;
    /* 0 is reserved for held jobs. */
    if (!(sum > 1))
        sum = 1;
    if (sum > PRIORITY_MAXIMUM)
        sum = PRIORITY_MAXIMUM;
    if (held)
        sum = 0;
    priority->value = (uint32_t)sum;
    priority->norm = sum / PRIORITY_MAXIMUM;
}

void priority_compute(const struct priority_options *options, const struct priority_job *job,
                      const uint64_t *counts, const struct priority_partition *partition,
                      const struct priority_qos *qos, struct priority *priority)
{
    const struct priority_weights *weights = &options->weights;
    struct priority_parts factor = priority_factors_of(options, job, partition, qos);
    struct priority_parts weighted = {
        .age = factor.age * weights->age,
        .association = factor.association * weights->association,
        .fairshare = factor.fairshare * weights->fairshare,
        .job_size = factor.job_size * weights->job_size,
        .partition = factor.partition * weights->partition,
        .qos = factor.qos * weights->qos,
    };
    *priority = (struct priority){ .factor = factor,
                                   .weighted = weighted,
                                   .tres = weighted_tres(options, counts, partition) };
    priority_add_up(priority, job->held);
}

void priority_add_tres(struct text *text, const struct priority_options *options,
                       const uint64_t *counts, const struct priority_partition *partition,
                       bool weighted)
{
    const char *between = "";
    for (size_t i = 0; i < options->tres_count; i++) {
        double weight = options->tres[i].weight;
        double value = tres_factor(options, i, counts[i], partition) * weight;
        if (value == 0)
            continue;
        if (weighted)
            text_format(text, "%s%s=%.0f", between, options->tres[i].name, value);
        else
            text_format(text, "%s%s=%.2f", between, options->tres[i].name, value / weight);
        between = ",";
    }
}

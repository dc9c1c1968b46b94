/* SPDX-License-Identifier: MIT */
#include "compute/queue_findings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/finding.h"
#include "core/priority/queue.h"
#include "settings/slurm/slurm_conf.h"
#include "util/memory.h"
#include "util/times.h"

void queue_find_lost(const struct queue *queue, struct findings *findings)
{
    for (size_t i = 0; i < queue->count; i++)
        if (queue->jobs[i].lost)
            findings_add(findings, FINDING_JOB_LOST, queue->jobs[i].id_job, "pending since %s",
                         time_text((int64_t)queue->jobs[i].ages_since).bytes);
}

static bool has_partition(const struct slurm_conf *conf, const char *name)
{
    for (size_t i = 0; i < conf->partition_count; i++)
        if (!strcmp(conf->partitions[i].name, name))
            return true;
    return false;
}

void queue_find_unknown_partitions(const struct queue *queue, const struct slurm_conf *conf,
                                   struct findings *findings)
{
    const struct queue_lists *lists = &queue->partition_lists;
    bool *unknown = memory_zeroed(queue->partition_count + 1, sizeof *unknown);
    for (uint32_t i = 0; i < queue->partition_count; i++)
        unknown[i] = *queue->partitions[i].name && !has_partition(conf, queue->partitions[i].name);
    for (size_t i = 0; i < queue->count; i++) {
        const struct priority_job *job = &queue->jobs[i];
        for (uint32_t at = lists->starts[job->partitions]; at < lists->starts[job->partitions + 1];
             at++)
            if (unknown[lists->places[at]])
                findings_add(findings, FINDING_PARTITION_UNKNOWN, job->id_job, "partition '%s'",
                             queue->partitions[lists->places[at]].name);
    }
    free(unknown);
}

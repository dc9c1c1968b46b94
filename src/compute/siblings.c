/* SPDX-License-Identifier: MIT */
#include "compute/siblings.h"

#include "core/priority/arrays.h"

bool siblings_note(struct siblings *siblings, const struct queued_job *job)
{
    if (!job->array ||
        !array_hangs_on_siblings(job->time_submit, job->time_eligible, job->array_limit))
        return false;
    if (!job->started)
        job_keys_add(&siblings->ids, job->array);
    return true;
}

int siblings_read(struct siblings *siblings, const struct source *source, uint64_t time,
                  struct error *err)
{
    if (!siblings->ids.count)
        return 0;
    job_keys_sort(&siblings->ids);
    return source->layout->queue->read_arrays(source, time, &siblings->ids, &siblings->list, err);
}

/* Returns NULL if no task of the job's array has started. */
static const struct array_tasks *tasks_of(const struct siblings *siblings,
                                          const struct queued_job *job)
{
    size_t from = 0, to = siblings->list.count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        const struct array_fact *array = &siblings->list.arrays[middle];
        if (array->id == job->array && array->submitted == job->time_submit)
            return &array->started;
        if (array->id < job->array ||
            (array->id == job->array && array->submitted < job->time_submit))
            from = middle + 1;
        else
            to = middle;
    }
    return NULL;
}

uint64_t siblings_age_since(const struct siblings *siblings, const struct queued_job *job)
{
    if (!job->array)
        return job->time_eligible;
    return array_ages_since(job->time_submit, job->time_eligible, job->array_limit,
                            tasks_of(siblings, job));
}

void siblings_free(struct siblings *siblings)
{
    job_keys_free(&siblings->ids);
    array_list_free(&siblings->list);
}

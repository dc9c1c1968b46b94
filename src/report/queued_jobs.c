/* SPDX-License-Identifier: MIT */
#include "report/queued_jobs.h"

#include <math.h>
#include <string.h>

#include "core/priority/queue.h"
#include "report/priorities.h"
#include "util/error.h"
#include "util/index.h"
#include "util/text.h"

struct adder {
    struct prio_list *list;
    const struct queue *queue;
    bool (*wanted)(const void *context, const struct priority_job *job);
    const void *context;
};

static const char *as_text(struct adder *adder, const char *name)
{
    return prio_list_text(adder->list, name, strlen(name));
}

static const char *tres_text(struct adder *adder, const struct queue_row *row, bool weighted)
{
    struct text text = { 0 };
    text_add(&text, "");
    priority_add_tres(&text, &adder->queue->options, row->counts, row->partition, weighted);
    const char *copy = as_text(adder, text.bytes);
    text_free(&text);
    return copy;
}

static void fill_parts(double parts[PRIO_PARTS], const struct priority_parts *from)
{
    parts[PRIO_AGE] = from->age;
    parts[PRIO_ASSOC] = from->association;
    parts[PRIO_FAIRSHARE] = from->fairshare;
    parts[PRIO_JOB_SIZE] = from->job_size;
    parts[PRIO_PARTITION] = from->partition;
    parts[PRIO_QOS] = from->qos;
}

static int add_row(void *context, const struct queue_row *row, struct error *err)
{
    struct adder *adder = context;
    const struct names *names = adder->queue->names;
    (void)err;
    if (adder->wanted && !adder->wanted(adder->context, row->job))
        return 0;
    struct prio_row added = {
        .key = row->job->key,
        .id_job = row->job->id_job,
        .user = as_text(adder, names_text(names, row->job->user)),
        .account = as_text(adder, names_text(names, row->job->account)),
        .partition = as_text(adder, row->partition->name),
        .qos = as_text(adder, row->qos->name),
        .tres_factors = tres_text(adder, row, false),
        .tres_weighted = tres_text(adder, row, true),
        .priority = row->job->lost ? 0 : row->priority.value,
        .has_priority = !row->job->lost,
        .why = row->job->lost ? PRIORITY_JOB_LOST : NULL,
        .value = NAN,
        .terms = "",
        .norm = row->job->lost ? NAN : row->priority.norm,
        .best = row->best,
    };
    fill_parts(added.factor, &row->priority.factor);
    fill_parts(added.weighted, &row->priority.weighted);
    prio_list_add(adder->list, &added);
    return 0;
}

void prio_list_add_queue(struct prio_list *list, const struct queue *queue,
                         bool (*wanted)(const void *context, const struct priority_job *job),
                         const void *context)
{
    struct error ignored;
    struct adder adder = { list, queue, wanted, context };
    queue_each(queue, add_row, &adder, &ignored);
}

/* SPDX-License-Identifier: MIT */
#include "command/apply/apply_plan.h"

#include <math.h>
#include <stdlib.h>

#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

int64_t site_factor_of(uint64_t weight, double factor)
{
    double product = (double)weight * factor;
    if (!(product > 0))
        return 0;
    return product < (double)SITE_FACTOR_MAXIMUM ? llround(product) : SITE_FACTOR_MAXIMUM;
}

/* A job in both lists.  Jobs with the same `group` are one array or one heterogeneous job. */
struct planned_job {
    int64_t group;
    const struct wanted_job *wanted;
    int64_t present;
};

static int64_t plan_change(const struct site_update *update)
{
    return llabs(update->to - update->from);
}

static int plan_compare_jobs(const void *left, const void *right)
{
    const struct planned_job *a = left, *b = right;
    if (a->group != b->group)
        return a->group > b->group ? 1 : -1;
    return (a->wanted->id > b->wanted->id) - (a->wanted->id < b->wanted->id);
}

static int plan_compare_updates(const void *left, const void *right)
{
    const struct site_update *a = left, *b = right;
    if (plan_change(a) != plan_change(b))
        return plan_change(a) < plan_change(b) ? 1 : -1;
    if (a->id != b->id)
        return a->id > b->id ? 1 : -1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static void plan_sort(struct apply_plan *plan)
{
    if (plan->count)
        qsort(plan->updates, plan->count, sizeof *plan->updates, plan_compare_updates);
}

static void plan_add(struct apply_plan *plan, struct site_update update)
{
    *memory_append(&plan->updates, &plan->count) = update;
}

static bool plan_has_one_factor(const struct planned_job *jobs, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (jobs[i].wanted->factor != jobs->wanted->factor)
            return false;
    return true;
}

/*
 * Adds the update of an array, of a heterogeneous job, or of another job.  All tasks of an array
 * get the factor of the task with the lowest id.  An update of a single task would not survive the
 * next one of the array.
 */
static void plan_add_group(struct apply_plan *plan, const struct planned_job *jobs, size_t count,
                           int64_t min_change)
{
    struct site_update update = { jobs->group, -1, jobs->present, jobs->wanted->factor };
    for (size_t i = 1; i < count; i++)
        if (llabs(update.to - jobs[i].present) > plan_change(&update))
            update.from = jobs[i].present;
    if (plan_change(&update) >= min_change)
        plan_add(plan, update);
}

static void plan_add_components(struct apply_plan *plan, const struct planned_job *jobs,
                                size_t count, int64_t min_change)
{
    for (size_t i = 0; i < count; i++) {
        const struct wanted_job *wanted = jobs[i].wanted;
        struct site_update update = { wanted->het_job, wanted->het_offset, jobs[i].present,
                                      wanted->factor };
        if (plan_change(&update) >= min_change)
            plan_add(plan, update);
    }
}

void apply_plan_find(struct apply_plan *plan, const struct present_job *present, size_t count,
                     const struct wanted_job *wanted, size_t wanted_count, int64_t min_change)
{
    struct id_index *published = id_index_create(), *listed = id_index_create();
    struct planned_job *jobs = NULL;
    size_t job_count = 0;
    *plan = (struct apply_plan){ 0 };
    for (size_t i = 0; i < wanted_count; i++)
        id_index_add(published, (uint64_t)wanted[i].id, (uint32_t)i);
    for (size_t i = 0; i < count; i++) {
        uint32_t at = id_index_find(published, (uint64_t)present[i].id);
        if (id_index_add(listed, (uint64_t)present[i].id, 0) != INDEX_NONE)
            continue; /* the job's next partition */
        plan->jobs++;
        plan->by_hand += present[i].by_hand;
        plan->unknown += at == INDEX_NONE;
        if (at == INDEX_NONE || present[i].by_hand)
            continue;
        const struct wanted_job *found = &wanted[at];
        int64_t group = found->array_job ? found->array_job : found->het_job;
        *memory_append(&jobs, &job_count) =
            (struct planned_job){ group ? group : found->id, found, present[i].factor };
    }
    id_index_destroy(published);
    id_index_destroy(listed);
    if (job_count)
        qsort(jobs, job_count, sizeof *jobs, plan_compare_jobs);
    for (size_t from = 0, to; from < job_count; from = to) {
        for (to = from + 1; to < job_count && jobs[to].group == jobs[from].group; to++)
            ;
        bool apart = jobs[from].wanted->het_job && !plan_has_one_factor(&jobs[from], to - from);
        (apart ? plan_add_components : plan_add_group)(plan, &jobs[from], to - from, min_change);
    }
    free(jobs);
    plan_sort(plan);
}

void apply_plan_clear(struct apply_plan *plan, const struct present_job *present, size_t count)
{
    struct id_index *listed = id_index_create();
    *plan = (struct apply_plan){ 0 };
    for (size_t i = 0; i < count; i++) {
        if (id_index_add(listed, (uint64_t)present[i].id, 0) != INDEX_NONE)
            continue;
        plan->jobs++;
        plan->by_hand += present[i].by_hand;
        if (present[i].factor && !present[i].by_hand)
            plan_add(plan, (struct site_update){ present[i].id, -1, present[i].factor, 0 });
    }
    id_index_destroy(listed);
    plan_sort(plan);
}

void apply_plan_free(struct apply_plan *plan)
{
    free(plan->updates);
    *plan = (struct apply_plan){ 0 };
}

void apply_plan_add_command(struct text *text, const struct site_update *update)
{
    text_format(text, "update JobId=%lld", (long long)update->id);
    if (update->offset >= 0)
        text_format(text, "+%lld", (long long)update->offset);
    text_format(text, " SiteFactor=%lld", (long long)update->to);
}

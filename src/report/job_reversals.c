/* SPDX-License-Identifier: MIT */
#include "report/job_reversals.h"

#include <math.h>

#include "core/priority/priority.h"

/* A job's priority once it has waited so much longer: all else stays. */
static uint32_t job_reversals_priority_after(const struct prio_row *job, double weight,
                                             uint64_t max_age, uint64_t seconds)
{
    double older = fmin(1, job->factor[PRIO_AGE] + (double)seconds / (double)max_age);
    double sum = job->norm * PRIORITY_MAXIMUM + weight * (older - job->factor[PRIO_AGE]);
    return sum < 1 ? 1 : sum >= PRIORITY_MAXIMUM ? PRIORITY_MAXIMUM : (uint32_t)sum;
}

/* Seconds until the job ages no more. */
static uint64_t ages_for(const struct prio_row *job, uint64_t max_age)
{
    double left = ceil((1 - job->factor[PRIO_AGE]) * (double)max_age);
    return left > 0 ? (uint64_t)left : 0;
}

/* Both age alike until the older one has the highest factor; from then on the other one gains. */
static void find_turn_by_age(const struct prio_row *behind, const struct prio_row *ahead,
                             double weight, uint64_t max_age, struct job_reversals *reversals)
{
    uint64_t low = ages_for(ahead, max_age), high = ages_for(behind, max_age);
    if (!(weight > 0) || low >= high ||
        job_reversals_priority_after(behind, weight, max_age, high) <=
            job_reversals_priority_after(ahead, weight, max_age, high))
        return;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (job_reversals_priority_after(behind, weight, max_age, middle) >
            job_reversals_priority_after(ahead, weight, max_age, middle))
            high = middle;
        else
            low = middle + 1;
    }
    reversals->reverses_by_age = true;
    reversals->by_age_s = low;
}

/* The row of the list with the least factor that does, of those that differ in this part. */
static const struct prio_row *find_part(const struct prio_list *list, enum prio_part part,
                                        double factor)
{
    const struct prio_row *found = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const struct prio_row *row = &list->rows[i];
        if (row->factor[part] >= factor && (!found || row->factor[part] < found->factor[part]))
            found = row;
    }
    return found;
}

void job_reversals_find(const struct prio_list *list, const struct prio_row *behind,
                        const struct prio_row *ahead, uint64_t max_age,
                        struct job_reversals *reversals)
{
    *reversals = (struct job_reversals){ .points = ahead->priority - behind->priority + 1 };
    for (enum prio_part part = 0; part < PRIO_PARTS; part++) {
        double weight = (double)list->weights.of[part];
        double factor =
            weight > 0 ? behind->factor[part] + (double)reversals->points / weight : NAN;
        /* A NO_NORMAL flag makes bare numbers of factors, which have no bound. */
        bool bounded = behind->factor[part] <= 1 && ahead->factor[part] <= 1;
        reversals->factor[part] = bounded && factor > 1 ? NAN : factor;
    }
    const struct prio_row *qos = find_part(list, PRIO_QOS, reversals->factor[PRIO_QOS]),
                          *partition =
                              find_part(list, PRIO_PARTITION, reversals->factor[PRIO_PARTITION]);
    reversals->qos = qos ? qos->qos : NULL;
    reversals->partition = partition ? partition->partition : NULL;
    if (!isnan(reversals->factor[PRIO_AGE]))
        reversals->age_s = (uint64_t)ceil((reversals->factor[PRIO_AGE] - behind->factor[PRIO_AGE]) *
                                          (double)max_age);
    find_turn_by_age(behind, ahead, (double)list->weights.of[PRIO_AGE], max_age, reversals);
}

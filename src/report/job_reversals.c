/* SPDX-License-Identifier: MIT */
#include "report/job_reversals.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "core/priority/priority.h"
#include "report/job_place.h"
#include "report/priorities.h"
#include "report/table.h"
#include "report/terminal.h"
#include "settings/scheduler.h"
#include "util/index.h"
#include "util/text.h"
#include "util/times.h"

/* The job that ranks lower and the job that ranks higher.  If the two jobs are tied, `behind` is
 * the first one. */
struct job_pair {
    const struct prio_row *behind, *ahead;
};

/* Fills `pair` and returns true if two jobs are explained that compete for the same nodes. */
static bool job_pair_find(const struct job_explanation *explanation, struct job_pair *pair)
{
    const struct prio_row *one = explanation->one, *other = explanation->other;
    if (!other || explanation->list->of_formula || !jobs_compete(one, other))
        return false;
    bool is_ahead = job_order(one, other) > 0;
    *pair = (struct job_pair){ is_ahead ? other : one, is_ahead ? one : other };
    return true;
}

/*
 * The changes that would reverse the order of two jobs whose priorities are weighted sums, and
 * whose partitions have the same tier.  Each of them is sufficient alone.
 */
struct job_reversals {
    int64_t points; /* additional priority with which the lower job would rank higher */
    /* The factor that the lower job would need in each part; NAN if the weight is 0 or no possible
     * factor is high enough. */
    double factor[PRIO_PARTS];
    const char *qos, *partition; /* from the queue, with a sufficient factor; NULL: none */
    uint64_t age_s;              /* additional waiting time that is needed; 0: none is sufficient */
    bool reverses_by_age;        /* the order will reverse while both jobs grow older, */
    uint64_t by_age_s;           /* in this number of seconds */
};

/* Returns a job's priority after `seconds` more of waiting, other things being equal. */
static uint32_t job_reversals_priority_after(const struct prio_row *job, double weight,
                                             uint64_t max_age, uint64_t seconds)
{
    double older = fmin(1, job->factor[PRIO_AGE] + (double)seconds / (double)max_age);
    double sum = job->norm * PRIORITY_MAXIMUM + weight * (older - job->factor[PRIO_AGE]);
    return sum < 1 ? 1 : sum >= PRIORITY_MAXIMUM ? PRIORITY_MAXIMUM : (uint32_t)sum;
}

/* Returns the seconds until the job's age factor stops growing. */
static uint64_t ages_for(const struct prio_row *job, uint64_t max_age)
{
    double left = ceil((1 - job->factor[PRIO_AGE]) * (double)max_age);
    return left > 0 ? (uint64_t)left : 0;
}

/*
 * Both jobs gain the same priority until the older one has the highest age factor.  From then on,
 * only the younger job gains.  A binary search finds the time at which the younger job ranks
 * higher.
 */
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

/* Returns the row with the smallest factor of its QOS that is at least `factor`, or NULL. */
static const struct prio_row *job_reversals_find_qos(const struct prio_list *list, double factor)
{
    const struct prio_row *found = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const struct prio_row *row = &list->rows[i];
        if (row->factor[PRIO_QOS] >= factor &&
            (!found || row->factor[PRIO_QOS] < found->factor[PRIO_QOS]))
            found = row;
    }
    return found;
}

/* Returns a row of the job's pool whose partition has the lowest tier, and then the smallest
 * factor, that is sufficient: a higher tier, or the same tier and at least `factor`.  Returns NULL
 * if no row is sufficient. */
static const struct prio_row *job_reversals_find_partition(const struct prio_list *list,
                                                           const struct prio_row *ahead,
                                                           double factor)
{
    const struct prio_row *found = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const struct prio_row *row = &list->rows[i];
        bool suffices = row->tier > ahead->tier ||
                        (row->tier == ahead->tier && row->factor[PRIO_PARTITION] >= factor);
        if (!row->place || strcmp(row->pool, ahead->pool) != 0 || !suffices)
            continue;
        if (!found || row->tier < found->tier ||
            (row->tier == found->tier &&
             row->factor[PRIO_PARTITION] < found->factor[PRIO_PARTITION]))
            found = row;
    }
    return found;
}

/* Fills `reversals`.  `max_age` is in seconds, not 0. */
static void job_reversals_find(const struct prio_list *list, const struct job_pair *pair,
                               uint64_t max_age, struct job_reversals *reversals)
{
    const struct prio_row *behind = pair->behind, *ahead = pair->ahead;
    *reversals = (struct job_reversals){ .points = ahead->priority - behind->priority + 1 };
    for (enum prio_part part = 0; part < PRIO_PARTS; part++) {
        double weight = (double)list->weights.of[part];
        double factor =
            weight > 0 ? behind->factor[part] + (double)reversals->points / weight : NAN;
        /* With a NO_NORMAL flag, factors are not normalized and may exceed 1. */
        bool bounded = behind->factor[part] <= 1 && ahead->factor[part] <= 1;
        reversals->factor[part] = bounded && factor > 1 ? NAN : factor;
    }
    const struct prio_row *qos = job_reversals_find_qos(list, reversals->factor[PRIO_QOS]);
    const struct prio_row *partition =
        job_reversals_find_partition(list, ahead, reversals->factor[PRIO_PARTITION]);
    reversals->qos = qos ? qos->qos : NULL;
    reversals->partition = partition ? partition->partition : NULL;
    if (!isnan(reversals->factor[PRIO_AGE]))
        reversals->age_s = (uint64_t)ceil((reversals->factor[PRIO_AGE] - behind->factor[PRIO_AGE]) *
                                          (double)max_age);
    find_turn_by_age(behind, ahead, (double)list->weights.of[PRIO_AGE], max_age, reversals);
}

static json_t *job_reversals_object(const struct job_reversals *reversals)
{
    return json_pack("{s:I, s:o, s:s?, s:s?, s:o, s:o}", "points", (json_int_t)reversals->points,
                     "fairshare_factor", form_json_real(reversals->factor[PRIO_FAIRSHARE]), "qos",
                     reversals->qos, "partition", reversals->partition, "age_seconds",
                     reversals->age_s ? json_integer((json_int_t)reversals->age_s) : json_null(),
                     "turns_by_age_in",
                     reversals->reverses_by_age ? json_integer((json_int_t)reversals->by_age_s)
                                                : json_null());
}

json_t *job_reversals_json(const struct job_explanation *explanation)
{
    struct job_reversals reversals;
    struct job_pair pair;
    if (!job_pair_find(explanation, &pair) || pair.behind->tier != pair.ahead->tier)
        return json_null();
    job_reversals_find(explanation->list, &pair, explanation->max_age, &reversals);
    return job_reversals_object(&reversals);
}

/* Adds the partitions of the pool in which the lower job could rank higher. */
static void job_reversals_add_partitions(struct text *line, const struct prio_list *list,
                                         const struct prio_row *ahead)
{
    struct names *partitions = names_create();
    for (size_t i = 0; i < list->count; i++) {
        const struct prio_row *row = &list->rows[i];
        if (row->place && row->tier >= ahead->tier && !strcmp(row->pool, ahead->pool))
            names_add(partitions, row->partition, strlen(row->partition));
    }
    for (uint32_t i = 0; i < names_count(partitions); i++)
        text_format_printable(line, "%s'%s'", i ? ", " : "", names_text(partitions, i));
    names_destroy(partitions);
}

static void job_reversals_say_tiers(struct text *text, const struct prio_list *list,
                                    const struct job_pair *pair)
{
    struct text line = { 0 };
    text_format_printable(
        &line,
        "Slurm considers '%s' first: partition '%s' has the higher PriorityTier (%" PRId64
        ", '%s' has %" PRId64 "), so no priority changes the order. '%s' can rank higher "
        "only in a partition with at least this tier, such as ",
        pair->ahead->job_id, pair->ahead->partition, pair->ahead->tier, pair->behind->partition,
        pair->behind->tier, pair->behind->job_id);
    job_reversals_add_partitions(&line, list, pair->ahead);
    text_add(&line, ".");
    terminal_add_wrapped(text, line.bytes, 0);
    text_free(&line);
}

/* Adds whether the order will reverse by waiting alone. */
static void job_reversals_say_age(struct text *text, const struct job_reversals *reversals)
{
    struct text seconds = { 0 };
    text_add_duration(&seconds, (int64_t)reversals->by_age_s);
    if (reversals->reverses_by_age)
        terminal_say(
            text, 0,
            "By age alone it will rank higher in %s, if both are still pending and nothing "
            "else changes.",
            seconds.bytes);
    else
        terminal_say(text, 0,
                     "By age alone it will not rank higher: both gain the same until their age "
                     "factors reach the maximum.");
    text_free(&seconds);
}

static void job_reversals_say_changes(struct text *text, const struct job_explanation *explanation,
                                      const struct job_pair *pair)
{
    struct job_reversals reversals;
    const struct prio_row *behind = pair->behind, *ahead = pair->ahead;
    job_reversals_find(explanation->list, pair, explanation->max_age, &reversals);
    bool same_owner =
        !strcmp(behind->user, ahead->user) && !strcmp(behind->account, ahead->account);
    struct text seconds = { 0 };
    terminal_say(text, 0,
                 "Job '%s' would rank higher than '%s' with any one of these changes, other things "
                 "being equal:",
                 behind->job_id, ahead->job_id);
    terminal_say(text, 2,
                 "- a nice value lower by %" PRId64 ", or for '%s' higher by the same amount",
                 reversals.points, ahead->job_id);
    if (!isnan(reversals.factor[PRIO_FAIRSHARE]) && !same_owner)
        terminal_say(text, 2,
                     "- a fairshare factor of %.6f instead of %.6f; to find the shares for it, use "
                     "`fairmill explain` with both users",
                     reversals.factor[PRIO_FAIRSHARE], behind->factor[PRIO_FAIRSHARE]);
    if (reversals.qos)
        terminal_say(text, 2, "- QOS '%s'", reversals.qos);
    if (reversals.partition)
        terminal_say(text, 2, "- %s '%s'", explanation->terms->partition, reversals.partition);
    if (reversals.age_s) {
        text_add_duration(&seconds, (int64_t)reversals.age_s);
        terminal_say(text, 2, "- %s more of waiting, if the other job does not get older",
                     seconds.bytes);
    }
    text_free(&seconds);
    job_reversals_say_age(text, &reversals);
}

void job_reversals_say(struct text *text, const struct job_explanation *explanation)
{
    struct job_pair pair;
    if (!job_pair_find(explanation, &pair))
        return;
    text_add(text, "\n");
    if (pair.behind->tier != pair.ahead->tier)
        job_reversals_say_tiers(text, explanation->list, &pair);
    else
        job_reversals_say_changes(text, explanation, &pair);
}

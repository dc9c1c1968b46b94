/* SPDX-License-Identifier: MIT */
#include "report/job_explanation.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/number/figure.h"
#include "core/priority/priority.h"
#include "report/answer.h"
#include "report/priorities.h"
#include "report/terminal.h"
#include "settings/scheduler.h"
#include "util/memory.h"
#include "util/times.h"

#define DIGITS 9

/* A part of the priority, for both jobs. */
struct job_explanation_row {
    const char *part;
    double weight; /* NAN: none */
    double factor[2], weighted[2], difference;
};
struct job_explanation_rows {
    struct job_explanation_row *list;
    size_t count;
};

static const char *const part_names[PRIO_PARTS] = {
    [PRIO_AGE] = "Age",          [PRIO_ASSOC] = "Assoc",         [PRIO_FAIRSHARE] = "FairShare",
    [PRIO_JOB_SIZE] = "JobSize", [PRIO_PARTITION] = "Partition", [PRIO_QOS] = "QOS",
};

static void job_explanation_add_row(struct job_explanation_rows *rows,
                                    struct job_explanation_row row)
{
    row.difference = row.weighted[0] - row.weighted[1];
    *memory_append(&rows->list, &rows->count) = row;
}

static void job_explanation_add_unweighted(struct job_explanation_rows *rows, const char *part,
                                           double one, double other)
{
    job_explanation_add_row(
        rows, (struct job_explanation_row){ part, NAN, { NAN, NAN }, { one, other }, NAN });
}

static void add_weighted_parts(struct job_explanation_rows *rows,
                               const struct job_explanation *explanation)
{
    const struct prio_row *one = explanation->one, *other = explanation->other;
    const struct prio_row *const jobs[] = { one, other };
    for (enum prio_part part = 0; part < PRIO_PARTS; part++) {
        struct job_explanation_row row = { .part = part_names[part],
                                           .weight = (double)explanation->list->weights.of[part] };
        for (int i = 0; i < 2; i++) {
            row.factor[i] = jobs[i] ? jobs[i]->factor[part] : NAN;
            row.weighted[i] = jobs[i] ? jobs[i]->weighted[part] : NAN;
        }
        job_explanation_add_row(rows, row);
    }
    if (*explanation->list->weights.tres)
        job_explanation_add_unweighted(rows, "TRES", prio_tres_sum(one),
                                       other ? prio_tres_sum(other) : NAN);
    if (one->site_known || (other && other->site_known))
        job_explanation_add_unweighted(rows, "Site", (double)one->site,
                                       other ? (double)other->site : NAN);
    if (one->nice_known || (other && other->nice_known))
        job_explanation_add_unweighted(rows, "Nice", -(double)one->nice,
                                       other ? -(double)other->nice : NAN);
}

static double term_of(const struct prio_row *job, const char *name)
{
    for (size_t i = 0; job && i < job->term_count; i++)
        if (!strcmp(job->first_term[i].name, name))
            return job->first_term[i].value;
    return NAN;
}

/* Both jobs have the same formula and thus the same names.  The list of names is empty if a job
 * cannot run. */
static void job_explanation_add_terms(struct job_explanation_rows *rows,
                                      const struct job_explanation *explanation)
{
    const struct prio_row *one = explanation->one, *other = explanation->other;
    const struct prio_row *named = one->term_count || !other ? one : other;
    for (size_t i = 0; i < named->term_count; i++) {
        const char *name = named->first_term[i].name;
        job_explanation_add_row(
            rows, (struct job_explanation_row){
                      name, NAN, { term_of(one, name), term_of(other, name) }, { NAN, NAN }, NAN });
    }
}

static struct job_explanation_rows
job_explanation_rows_of(const struct job_explanation *explanation)
{
    struct job_explanation_rows rows = { 0 };
    if (explanation->list->of_formula)
        job_explanation_add_terms(&rows, explanation);
    else
        add_weighted_parts(&rows, explanation);
    return rows;
}

#define REAL(member) COLUMN_REAL, MEMBER(struct job_explanation_row, member)

static const struct column columns[] = {
    CLUSTER_COLUMN,
    { "part", "Part", COLUMN_TEXT, MEMBER(struct job_explanation_row, part) },
    { "weight", "Weight", COLUMN_REAL, MEMBER(struct job_explanation_row, weight),
      .decimals = NO_DECIMALS, .optional = true },
    { "factor_a", "FactorA", REAL(factor[0]), .optional = true },
    { "weighted_a", "A", REAL(weighted[0]), .decimals = 1, .optional = true },
    { "factor_b", "FactorB", REAL(factor[1]), .optional = true },
    { "weighted_b", "B", REAL(weighted[1]), .decimals = 1, .optional = true },
    { "difference", "A-B", REAL(difference), .decimals = 1, .plus = true, .optional = true },
    { .name = NULL },
};
const struct table_layout job_explanation_layout = { columns, "parts", .by_cluster = true,
                                                     .has_page = true };

static bool has_place(const struct prio_row *job)
{
    return job->best && job->has_priority && (job->of_formula || job->priority > 0);
}

struct place {
    /* `place` 1 is next; `of`: jobs with a place; `equal`: other jobs with this place */
    size_t place, of, equal;
};

static struct place job_explanation_place_of(const struct prio_list *list,
                                             const struct prio_row *job)
{
    struct place place = { 1, 0, 0 };
    for (size_t i = 0; i < list->count; i++) {
        const struct prio_row *other = &list->rows[i];
        if (!has_place(other))
            continue;
        place.of++;
        if (other == job)
            continue;
        place.place += other->priority > job->priority;
        place.equal += other->priority == job->priority;
    }
    return place;
}

static const char *order_word(const struct job_explanation *explanation)
{
    const struct prio_row *one = explanation->one, *other = explanation->other;
    if (!has_place(one) || !has_place(other))
        return "none";
    return one->priority > other->priority   ? "ahead"
           : one->priority < other->priority ? "behind"
                                             : "tied";
}

/*
 * The changes that would reverse the order of two jobs whose priorities are weighted sums.  Each of
 * them is sufficient alone.
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

/* Returns the row with the smallest factor in this part that is at least `factor`, or NULL. */
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

/*
 * Fills `reversals`.  `behind` must not have a higher priority than `ahead`.  `max_age` is in
 * seconds, not 0.
 */
static void job_reversals_find(const struct prio_list *list, const struct prio_row *behind,
                               const struct prio_row *ahead, uint64_t max_age,
                               struct job_reversals *reversals)
{
    *reversals = (struct job_reversals){ .points = ahead->priority - behind->priority + 1 };
    for (enum prio_part part = 0; part < PRIO_PARTS; part++) {
        double weight = (double)list->weights.of[part];
        double factor =
            weight > 0 ? behind->factor[part] + (double)reversals->points / weight : NAN;
        /* With a NO_NORMAL flag, factors are not normalized and may exceed 1. */
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

static json_t *job_json(const struct prio_list *list, const struct prio_row *job)
{
    struct place place = job_explanation_place_of(list, job);
    bool placed = has_place(job);
    return json_pack("{s:I, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o}", "id_job",
                     (json_int_t)job->id_job, "job_id", job->job_id, "username", job->user,
                     "account", job->account, "partition", job->partition, "qos", job->qos,
                     "priority",
                     job->has_priority ? json_integer((json_int_t)job->priority) : json_null(),
                     "value", form_json_real(job->value), "place",
                     placed ? json_integer((json_int_t)place.place) : json_null());
}

static json_t *job_explanation_reversals_json(const struct job_reversals *reversals)
{
    return json_pack("{s:I, s:o, s:s?, s:s?, s:o, s:o}", "points", (json_int_t)reversals->points,
                     "fairshare_factor", form_json_real(reversals->factor[PRIO_FAIRSHARE]), "qos",
                     reversals->qos, "partition", reversals->partition, "age_seconds",
                     reversals->age_s ? json_integer((json_int_t)reversals->age_s) : json_null(),
                     "turns_by_age_in",
                     reversals->reverses_by_age ? json_integer((json_int_t)reversals->by_age_s)
                                                : json_null());
}

/* Fills `reversals` and returns the job with the lower priority.  Returns NULL if there are not two
 * jobs with a place, or if a formula orders them. */
static const struct prio_row *find_reversals(const struct job_explanation *explanation,
                                             struct job_reversals *reversals)
{
    const struct prio_row *one = explanation->one, *other = explanation->other;
    if (!other || explanation->list->of_formula || !has_place(one) || !has_place(other))
        return NULL;
    const struct prio_row *behind = one->priority > other->priority ? other : one;
    job_reversals_find(explanation->list, behind, behind == one ? other : one, explanation->max_age,
                       reversals);
    return behind;
}

static json_t *job_explanation_facts_of(const struct job_explanation *explanation)
{
    const struct prio_list *list = explanation->list;
    const struct prio_row *other = explanation->other;
    struct job_reversals reversals;
    bool has_reversals = find_reversals(explanation, &reversals) != NULL;
    return json_pack("{s:I, s:I, s:o, s:o, s:s?, s:o}", "as_of", (json_int_t)list->as_of, "jobs",
                     (json_int_t)job_explanation_place_of(list, explanation->one).of, "a",
                     job_json(list, explanation->one), "b",
                     other ? job_json(list, other) : json_null(), "order",
                     other ? order_word(explanation) : NULL, "turns",
                     has_reversals ? job_explanation_reversals_json(&reversals) : json_null());
}

static void job_explanation_add_value(struct text *text, const struct prio_row *job)
{
    if (job->of_formula && !isnan(job->value)) {
        text_format(text, " has the value %s of job_sort_formula",
                    figure_text(job->value, DIGITS).bytes);
    } else if (job->has_priority && job->priority > 0) {
        text_format(text, " has priority %" PRId64, job->priority);
    } else {
        text_add(text, " has no priority");
    }
}

static void job_explanation_add_place(struct text *text, const struct prio_list *list,
                                      const struct prio_row *job)
{
    if (!has_place(job)) {
        text_format(text, ". It has no place in the queue: %s.",
                    job->why ? prio_why(job->why) : "it is held");
        return;
    }
    struct place place = job_explanation_place_of(list, job);
    text_format(text, ", place %zu of %zu", place.place, place.of);
    if (place.equal)
        text_format(text, ", shared with %zu other job%s", place.equal,
                    place.equal == 1 ? "" : "s");
    text_add(text, ".");
    if (job->why)
        text_format(text, " The value is 0 for this reason: %s.", job->why);
}

/* Adds the other partitions and QOS in which the job is pending. */
static void add_others(struct text *text, const struct prio_list *list, const struct prio_row *job)
{
    const char *before = " It is also pending in";
    for (size_t i = 0; i < list->count; i++) {
        const struct prio_row *row = &list->rows[i];
        if (row == job || row->key != job->key)
            continue;
        text_format_printable(text, "%s partition '%s', QOS '%s' (%" PRId64 ")", before,
                              row->partition, row->qos, row->priority);
        before = ",";
    }
    if (*before == ',')
        text_add(text, ".");
}

static void job_explanation_add_job(struct text *text, const struct job_explanation *explanation,
                                    const struct prio_row *job)
{
    const struct prio_list *list = explanation->list;
    struct text line = { 0 };
    text_format_printable(&line, "Job '%s' of '%s' in %s '%s'", job->job_id, job->user,
                          explanation->terms->partition, job->partition);
    if (*job->qos)
        text_format_printable(&line, ", QOS '%s',", job->qos);
    job_explanation_add_value(&line, job);
    job_explanation_add_place(&line, list, job);
    add_others(&line, list, job);
    terminal_add_wrapped(text, line.bytes, 0);
    text_free(&line);
}

/*
 * Returns true if two jobs have the same value in OpenPBS's single precision, but different places.
 */
static bool has_tied_values(const struct prio_row *one, const struct prio_row *other)
{
    return has_place(one) && has_place(other) && one->priority != other->priority &&
           (float)one->value == (float)other->value;
}

/* Adds the largest part of one job's priority, or of the difference between two jobs. */
static void add_largest(struct text *text, const struct job_explanation *explanation,
                        const struct job_explanation_rows *rows)
{
    const struct job_explanation_row *largest = NULL;
    double most = 0;
    bool two = explanation->other != NULL;
    for (size_t i = 0; i < rows->count; i++) {
        const struct job_explanation_row *row = &rows->list[i];
        double weighs = fabs(two ? row->difference : row->weighted[0]);
        if (weighs > most) {
            most = weighs;
            largest = row;
        }
    }
    if (!largest)
        return;
    if (two)
        terminal_say(
            text, 0, "The largest difference is in %s: %.1f in favor of job '%s'.", largest->part,
            most, largest->difference > 0 ? explanation->one->job_id : explanation->other->job_id);
    else
        terminal_say(text, 0, "The largest part is %s: %.1f.", largest->part, most);
}

static void job_explanation_add_reversals(struct text *text,
                                          const struct job_explanation *explanation)
{
    struct job_reversals reversals;
    const struct prio_row *behind = find_reversals(explanation, &reversals);
    if (!behind)
        return;
    const struct prio_row *ahead =
        behind == explanation->one ? explanation->other : explanation->one;
    bool same_owner =
        !strcmp(behind->user, ahead->user) && !strcmp(behind->account, ahead->account);
    struct text seconds = { 0 };
    text_add(text, "\n");
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
                     "`fairmill explain' with both users",
                     reversals.factor[PRIO_FAIRSHARE], behind->factor[PRIO_FAIRSHARE]);
    if (reversals.qos)
        terminal_say(text, 2, "- QOS '%s'", reversals.qos);
    if (reversals.partition)
        terminal_say(text, 2, "- %s '%s'", explanation->terms->partition, reversals.partition);
    if (reversals.age_s) {
        text_add_duration(&seconds, (int64_t)reversals.age_s);
        terminal_say(text, 2, "- %s more of waiting, if the other job does not get older",
                     seconds.bytes);
        seconds.length = 0;
    }
    text_add_duration(&seconds, (int64_t)reversals.by_age_s);
    if (reversals.reverses_by_age)
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

/* Removes parts whose weight is 0 and that add nothing to either priority. */
static void leave_out_nothing(struct job_explanation_rows *rows)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct job_explanation_row *row = &rows->list[i];
        if (row->weight != 0 || row->weighted[0] > 0 || row->weighted[1] > 0)
            rows->list[kept++] = *row;
    }
    rows->count = kept;
}

static void job_explanation_add_page(struct text *text, const struct job_explanation *explanation)
{
    struct job_explanation_rows rows = job_explanation_rows_of(explanation);
    const struct prio_row *other = explanation->other;
    terminal_say(text, 0, "Cluster %s, as of %s%s%s%s%s%s", explanation->list->cluster,
                 time_text(explanation->list->as_of).bytes, other ? "; A is job '" : "",
                 other ? explanation->one->job_id : "", other ? "', B '" : "",
                 other ? other->job_id : "", other ? "'" : "");
    text_add(text, "\n");
    leave_out_nothing(&rows);
    if (rows.count)
        table_add_paragraph(text, columns,
                            &(struct table_rows){ rows.list, rows.count, sizeof *rows.list,
                                                  .cluster = explanation->list->cluster });
    text_add(text, rows.count ? "\n" : "");
    job_explanation_add_job(text, explanation, explanation->one);
    if (other)
        job_explanation_add_job(text, explanation, other);
    if (!explanation->list->of_formula)
        add_largest(text, explanation, &rows);
    else if (other && has_tied_values(explanation->one, other))
        terminal_add_wrapped(text, "Their values tie, so fairshare decides.", 0);
    job_explanation_add_reversals(text, explanation);
    free(rows.list);
}

void job_explanation_answer(const struct job_explanation *explanation, struct answer *answer)
{
    answer_cluster(answer,
                   &(struct table_cluster){ .name = explanation->list->cluster,
                                            .facts = answer_wants_facts(answer)
                                                         ? job_explanation_facts_of(explanation)
                                                         : NULL });
    if (answer_wants_page(answer)) {
        job_explanation_add_page(answer_text(answer), explanation);
        return;
    }
    struct job_explanation_rows rows = job_explanation_rows_of(explanation);
    for (size_t i = 0; i < rows.count; i++)
        answer_row(answer, &rows.list[i]);
    free(rows.list);
}

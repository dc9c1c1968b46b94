/* SPDX-License-Identifier: MIT */
#include "report/job_explanation.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/number/figure.h"
#include "report/answer.h"
#include "report/job_reversals.h"
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

static const char *order_word(const struct prio_row *one, const struct prio_row *other)
{
    if (!jobs_compete(one, other))
        return "none";
    int order = job_order(one, other);
    return order > 0 ? "ahead" : order < 0 ? "behind" : "tied";
}

static json_t *job_json(const struct prio_list *list, const struct prio_row *job)
{
    return json_pack("{s:I, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:I, s:s, s:o, s:s, s:s}",
                     "id_job", (json_int_t)job->id_job, "job_id", job->job_id, "username",
                     job->user, "account", job->account, "partition", job->partition, "qos",
                     job->qos, "priority",
                     job->has_priority ? json_integer((json_int_t)job->priority) : json_null(),
                     "value", form_json_real(job->value), "place",
                     job->place ? json_integer((json_int_t)job->place) : json_null(), "of",
                     (json_int_t)job_pool_of(list, job).jobs, "pool", job->pool, "tier",
                     job->tier == PRIO_UNKNOWN ? json_null() : json_integer((json_int_t)job->tier),
                     "reason", job->reason, "detail", job->detail);
}

static json_t *job_explanation_facts_of(const struct job_explanation *explanation)
{
    const struct prio_list *list = explanation->list;
    const struct prio_row *one = explanation->one, *other = explanation->other;
    return json_pack("{s:I, s:I, s:o, s:o, s:s?, s:o}", "as_of", (json_int_t)list->as_of, "jobs",
                     (json_int_t)job_pool_of(list, one).jobs, "a", job_json(list, one), "b",
                     other ? job_json(list, other) : json_null(), "order",
                     other ? order_word(one, other) : NULL, "turns",
                     job_reversals_json(explanation));
}

static void job_explanation_add_value(struct text *text, const struct prio_row *job)
{
    if (job->of_formula && !isnan(job->value)) {
        text_format(text, " has the value %s of job_sort_formula",
                    figure_text(job->value, DIGITS).bytes);
    } else if (job->has_priority) {
        text_format(text, " has priority %" PRId64, job->priority);
    } else {
        text_add(text, " has no priority");
    }
}

static void job_explanation_add_job(struct text *text, const struct job_explanation *explanation,
                                    const struct prio_row *job)
{
    struct text line = { 0 };
    text_format_printable(&line, "Job '%s' of '%s' in %s '%s'", job->job_id, job->user,
                          explanation->terms->partition, job->partition);
    if (*job->qos)
        text_format_printable(&line, ", QOS '%s',", job->qos);
    job_explanation_add_value(&line, job);
    text_add(&line, ".");
    if (job->place && job->why)
        text_format_printable(&line, " The value is 0 for this reason: %s.", prio_why(job->why));
    terminal_add_wrapped(text, line.bytes, 0);
    text_free(&line);
}

/*
 * Returns true if two jobs have the same value in OpenPBS's single precision, but different places.
 */
static bool has_tied_values(const struct prio_row *one, const struct prio_row *other)
{
    return jobs_compete(one, other) && one->priority != other->priority &&
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

/* Adds the answer: the places of the jobs, or the reasons why they cannot start. */
static void job_explanation_add_places(struct text *text, const struct job_explanation *explanation)
{
    const struct prio_row *one = explanation->one, *other = explanation->other;
    job_place_say(text, explanation, one);
    if (other)
        job_place_say(text, explanation, other);
    if (other && one->place && other->place && strcmp(one->pool, other->pool) != 0)
        terminal_say(text, 0,
                     "The two jobs do not compete: partitions '%s' and '%s' share no nodes.",
                     one->partition, other->partition);
    if (*explanation->note)
        terminal_add_wrapped(text, explanation->note, 0);
    text_add(text, "\n");
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
    job_explanation_add_places(text, explanation);
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
    job_reversals_say(text, explanation);
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

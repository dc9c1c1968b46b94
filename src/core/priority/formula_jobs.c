/* SPDX-License-Identifier: MIT */
#include "core/priority/formula_jobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

static const char *copy(const struct formula_jobs *jobs, const char *text)
{
    return arena_copy(jobs->arena, text, strlen(text));
}

static int read_threshold(const char *text, double *threshold, struct error *err)
{
    return !*text || (number_real(text, threshold) && isfinite(*threshold))
               ? 0
               : fail(err, ERROR_SETTINGS, "job_sort_formula_threshold '%.60s' is not a number",
                      text);
}

struct formula_jobs *formula_jobs_create(const char *formula, const char *threshold)
{
    struct formula_jobs *jobs = memory_zeroed(1, sizeof *jobs);
    struct error flaw;
    jobs->threshold = -INFINITY;
    jobs->arena = arena_create();
    if (*formula && !read_threshold(threshold, &jobs->threshold, &flaw))
        jobs->formula = formula_create(formula, &flaw);
    if (*formula && !jobs->formula) {
        /* The message may quote bytes that are not UTF-8. */
        char *message = utf8_copy(flaw.message, strlen(flaw.message));
        jobs->flaw = copy(jobs, message);
        free(message);
    }
    return jobs;
}

void formula_jobs_destroy(struct formula_jobs *jobs)
{
    if (!jobs)
        return;
    formula_destroy(jobs->formula);
    arena_destroy(jobs->arena);
    free(jobs->jobs);
    free(jobs->values);
    free(jobs);
}

size_t formula_jobs_name_count(const struct formula_jobs *jobs)
{
    return jobs->formula ? formula_name_count(jobs->formula) : 0;
}

struct formula_value *formula_jobs_values(const struct formula_jobs *jobs, size_t job)
{
    return jobs->values + job * formula_jobs_name_count(jobs);
}

struct formula_value *formula_jobs_add(struct formula_jobs *jobs, const struct formula_job *job)
{
    size_t names = formula_jobs_name_count(jobs), at = jobs->count * names;
    jobs->jobs = memory_grown(jobs->jobs, jobs->count, sizeof *jobs->jobs);
    struct formula_job *added = &jobs->jobs[jobs->count];
    *added = *job;
    added->job_id = copy(jobs, job->job_id);
    added->user = copy(jobs, job->user);
    added->queue = copy(jobs, job->queue);
    for (size_t i = 0; i < names; i++) {
        jobs->values = memory_grown(jobs->values, at + i, sizeof *jobs->values);
        jobs->values[at + i] = (struct formula_value){ 0, true };
    }
    return formula_jobs_values(jobs, jobs->count++);
}

int64_t formula_job_number(const char *job_id)
{
    uint64_t number;
    return number_unsigned(job_id, strspn(job_id, "0123456789"), &number) && number <= INT64_MAX
               ? (int64_t)number
               : 0;
}

static const char *error_text(const struct formula_jobs *jobs, const char *message)
{
    struct text text = { 0 };
    text_format(&text, FORMULA_JOB_ERROR ": %.200s", message);
    const char *kept = copy(jobs, text.bytes);
    text_free(&text);
    return kept;
}

/* Sets job->value to the result of the formula, to 0 if it cannot be computed, or to NAN if there
 * is no formula.  Returns NULL, or the reason in the last two cases. */
static const char *formula_job_evaluate(const struct formula_jobs *jobs, size_t number)
{
    struct formula_job *job = &jobs->jobs[number];
    struct error err;
    job->value = NAN;
    if (!jobs->formula)
        return jobs->flaw ? error_text(jobs, jobs->flaw) : FORMULA_JOB_NO_FORMULA;
    if (formula_evaluate(jobs->formula, formula_jobs_values(jobs, number), &job->value, &err)) {
        job->value = 0;
        return error_text(jobs, err.message);
    }
    if (!isnan(job->value))
        return NULL;
    job->value = 0;
    return FORMULA_JOB_ERROR ": the value is not a number";
}

static void formula_job_decide(const struct formula_jobs *jobs, size_t number)
{
    struct formula_job *job = &jobs->jobs[number];
    job->priority = job->place = 0;
    job->why = formula_job_evaluate(jobs, number);
    if (job->stopped)
        job->why = job->stopped;
    else if (job->no_shares)
        job->why = FORMULA_JOB_NO_SHARES;
    else if (jobs->threshold > -INFINITY && job->value <= jobs->threshold)
        job->why = FORMULA_JOB_BELOW_THRESHOLD;
    else
        job->priority = jobs->formula ? 1 : 0;
}

/* Sorts jobs that run later first. */
static int formula_job_by_value(const void *a, const void *b)
{
    const struct formula_job *one = *(struct formula_job *const *)a,
                             *other = *(struct formula_job *const *)b;
    float value = (float)one->value, against = (float)other->value;
    if (value < against || value > against)
        return value > against ? 1 : -1;
    return (one->order < other->order) - (one->order > other->order);
}

/* Sets each priority to 1 + the number of jobs that run later, and each place to 1 + the number of
 * jobs that run earlier. */
static void rank(struct formula_job **sorted, size_t count)
{
    if (count)
        qsort(sorted, count, sizeof *sorted, formula_job_by_value);
    for (size_t i = 1; i < count; i++)
        sorted[i]->priority =
            formula_job_by_value(&sorted[i], &sorted[i - 1]) ? i + 1 : sorted[i - 1]->priority;
    for (size_t i = count; i-- > 0;)
        sorted[i]->place = i + 1 == count || sorted[i]->priority != sorted[i + 1]->priority
                               ? count - i
                               : sorted[i + 1]->place;
}

void formula_jobs_rank(struct formula_jobs *jobs)
{
    struct formula_job **runs = memory_zeroed(jobs->count + 1, sizeof *runs);
    size_t count = 0;
    for (size_t i = 0; i < jobs->count; i++) {
        formula_job_decide(jobs, i);
        if (jobs->jobs[i].priority)
            runs[count++] = &jobs->jobs[i];
    }
    rank(runs, count);
    free(runs);
}

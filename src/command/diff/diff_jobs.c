/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/diff/diff_values.h"
#include "compute/compute.h"
#include "compute/recorded_state.h"
#include "report/priorities.h"
#include "report/sprio.h"
#include "report/sprio_print.h"
#include "report/value_differences.h"
#include "settings/settings.h"
#include "source/source.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"

static const char *const part_names[PRIO_PARTS] = {
    "age", "assoc", "fairshare", "job_size", "partition", "qos",
};

struct diff_jobs_finder {
    const struct diff_values_case *asked;
    const struct sprio_print *print;
    struct value_differences *differences;
    const struct prio_list *ours;
    /* the same list with slurmctld's conformance; NULL if `ours` already uses it */
    const struct prio_list *by_slurmctld;
    bool *taken; /* indexed by row of `ours`: an earlier printed row matched it */
};

/* Computes fairmill's list of pending jobs for the time of the output. */
static int compute_list(const struct diff_values_case *asked, const struct prio_list *published,
                        enum conformance conformance, struct prio_list **list, struct error *err)
{
    struct settings settings = *asked->settings;
    struct recorded_state recorded;
    const char *cluster = published->cluster;
    settings.conformance = conformance;
    struct source source = source_of(&settings, asked->source, cluster);
    source.time = &asked->printed_at;
    struct computation computation = computation_of(&source);
    if (recorded_state_read(&recorded, &settings, cluster, &asked->printed_at, err))
        return -1;
    int result = compute_cluster(&computation, &recorded, err);
    recorded_state_free(&recorded);
    if (result)
        return -1;
    *list = prio_list_create(cluster, asked->printed_at);
    (*list)->weights = published->weights;
    if (computation.queue)
        prio_list_add_queue(*list, computation.queue, NULL, NULL);
    computation_free(&computation);
    return 0;
}

/* ---- Matching rows ---- */

/* Returns the index of the job's first row in a list that is sorted by id. */
static size_t diff_jobs_first_of(const struct prio_list *list, int64_t id_job)
{
    size_t from = 0, to = list->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (list->rows[middle].id_job < id_job)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Returns true if the names match, or if no name was printed.  In sprio's table, a name as wide as
 * its column may be cut. */
static bool diff_jobs_is_name(const struct diff_jobs_finder *finder, const char *ours,
                              const char *printed, size_t width)
{
    if (!printed)
        return true;
    size_t length = strlen(printed);
    return finder->print->is_table && length >= width ? !strncmp(ours, printed, length)
                                                      : !strcmp(ours, printed);
}

static bool diff_jobs_may_be(const struct diff_jobs_finder *finder, size_t place,
                             const struct printed_job *job)
{
    const struct prio_row *row = &finder->ours->rows[place];
    const struct sprio_print *print = finder->print;
    return !finder->taken[place] && diff_jobs_is_name(finder, row->user, job->user, 0) &&
           diff_jobs_is_name(finder, row->account, job->account, 0) &&
           diff_jobs_is_name(finder, row->partition, job->partition, print->partition_width) &&
           diff_jobs_is_name(finder, row->qos, job->qos, print->qos_width);
}

/* Returns the distance of a value from the printed range, ignoring rounding errors of doubles. */
static double diff_jobs_miss_of(const struct printed_number *printed, double value)
{
    double slack = 1e-9 * fabs(value);
    if (!printed_is_there(printed))
        return 0;
    return fmax(0, fmax(printed->low - slack - value, value - printed->high - slack));
}

/* Returns the printed factor or weighted value of a component, and sets `*ours` to fairmill's.  If
 * the output has both the factor and the weighted value, prefers the factor if it differs from
 * fairmill's, otherwise the weighted value. */
static const struct printed_number *diff_jobs_part_of(const struct printed_job *job,
                                                      enum prio_part part,
                                                      const struct prio_row *row, double *ours)
{
    bool is_factor = printed_is_there(&job->factor[part]) &&
                     (!printed_is_there(&job->weighted[part]) ||
                      diff_jobs_miss_of(&job->factor[part], row->factor[part]) > 0);
    *ours = is_factor ? row->factor[part] : row->weighted[part];
    return is_factor ? &job->factor[part] : &job->weighted[part];
}

static bool same_part(const struct printed_job *job, enum prio_part part,
                      const struct prio_row *row)
{
    double ours;
    const struct printed_number *printed = diff_jobs_part_of(job, part, row, &ours);
    return diff_jobs_miss_of(printed, ours) <= 0;
}

/* Returns the index of the row for a printed job, or SIZE_MAX.  A job can be printed several times
 * without its partition; then the row with the fewest differences is used. */
static size_t find_row(const struct diff_jobs_finder *finder, const struct printed_job *job)
{
    const struct prio_list *ours = finder->ours;
    size_t found = SIZE_MAX;
    int fewest = PRIO_PARTS + 1;
    for (size_t i = diff_jobs_first_of(ours, job->id);
         i < ours->count && ours->rows[i].id_job == job->id; i++) {
        int differing = 0;
        if (!diff_jobs_may_be(finder, i, job))
            continue;
        for (enum prio_part part = 0; part < PRIO_PARTS; part++)
            differing += !same_part(job, part, &ours->rows[i]);
        if (differing < fewest) {
            fewest = differing;
            found = i;
        }
    }
    return found;
}

/* ---- Differences ---- */

static void diff_jobs_add_difference(struct diff_jobs_finder *finder, const struct prio_row *row,
                                     const char *factor, double ours, double printed,
                                     enum value_cause cause)
{
    struct value_differences *differences = finder->differences;
    const struct value_difference added = {
        .id_job = row->id_job,
        .user = value_differences_copy(differences, row->user),
        .partition = value_differences_copy(differences, row->partition),
        .qos = value_differences_copy(differences, row->qos),
        .value = value_differences_copy(differences, factor),
        .ours = ours,
        .printed = printed,
        .cause = cause,
    };
    value_differences_add(differences, &added);
}

/* Returns the row of the same job in the list with slurmctld's conformance, or NULL if `ours`
 * already uses that conformance. */
static const struct prio_row *row_by_slurmctld(const struct diff_jobs_finder *finder,
                                               const struct prio_row *row)
{
    const struct prio_list *list = finder->by_slurmctld;
    for (size_t i = list ? diff_jobs_first_of(list, row->id_job) : 0;
         list && i < list->count && list->rows[i].id_job == row->id_job; i++) {
        const struct prio_row *other = &list->rows[i];
        if (other->key == row->key && !strcmp(other->partition, row->partition) &&
            !strcmp(other->qos, row->qos))
            return other;
    }
    return NULL;
}

/* Returns true if the printed age is lower than fairmill's age by at most one period.  slurmctld
 * updates ages only once per period. */
static bool is_of_pass(const struct diff_jobs_finder *finder, const struct printed_job *job,
                       const struct prio_row *row)
{
    double ours,
        period = (double)finder->asked->period / (double)finder->asked->settings->max_age_s;
    const struct printed_number *printed = diff_jobs_part_of(job, PRIO_AGE, row, &ours);
    double weight =
        printed == &job->factor[PRIO_AGE] ? 1 : (double)finder->ours->weights.of[PRIO_AGE];
    return printed->low <= ours && diff_jobs_miss_of(printed, ours) <= period * weight;
}

static enum value_cause diff_jobs_cause_of(const struct diff_jobs_finder *finder,
                                           const struct printed_job *job, enum prio_part part,
                                           const struct prio_row *row)
{
    const struct prio_row *other = row_by_slurmctld(finder, row);
    if (other && same_part(job, part, other))
        return JOB_CAUSE_CONFORMANCE;
    if (part == PRIO_AGE && is_of_pass(finder, job, other ? other : row))
        return JOB_CAUSE_PASS;
    return VALUE_CAUSE_NONE;
}

/* Reads the next `name=number` of a TRES list.  Returns false at the end of the list. */
static bool next_tres(struct span *list, struct span *name, double *value)
{
    char number[64];
    struct span item = span_until(*list, ',', list);
    *name = span_until(item, '=', &item);
    snprintf(number, sizeof number, "%.*s", (int)(item.length < 60 ? item.length : 60), item.bytes);
    if (!number_real(number, value))
        *value = NAN;
    return name->length != 0;
}

/* Returns the value of a name in a TRES list, or 0 if the list lacks it. */
static double tres_in(const char *text, struct span wanted)
{
    struct span list = { text, strlen(text) }, name;
    double value;
    while (next_tres(&list, &name, &value))
        if (name.length == wanted.length && !memcmp(name.bytes, wanted.bytes, name.length))
            return value;
    return 0;
}

/* Records each TRES whose value differs between the lists.  Must be called once for each list.  The
 * call for fairmill's list records all TRES of this list that differ.  The call for the printed
 * list (`of_printed`) records TRES that only the output has.  Returns the number of differences. */
static size_t compare_tres(struct diff_jobs_finder *finder, const struct prio_row *row,
                           const char *lists[2], bool of_printed)
{
    struct span list = { lists[of_printed], strlen(lists[of_printed]) }, name;
    size_t count = 0;
    double value;
    while (next_tres(&list, &name, &value)) {
        double other = tres_in(lists[!of_printed], name);
        char factor[128];
        if (fabs(value - other) <= 0 || (of_printed && fabs(other) > 0))
            continue;
        snprintf(factor, sizeof factor, "tres %.*s", (int)(name.length < 100 ? name.length : 100),
                 name.bytes);
        diff_jobs_add_difference(finder, row, factor, of_printed ? other : value,
                                 of_printed ? value : other, VALUE_CAUSE_NONE);
        count++;
    }
    return count;
}

/* Compares one column of TRES.  Returns the number of differences. */
static size_t diff_jobs_find_tres(struct diff_jobs_finder *finder, const char *printed, bool is_cut,
                                  const char *ours, const struct prio_row *row)
{
    if (!printed || !strcmp(ours, printed) || (is_cut && !strncmp(ours, printed, strlen(printed))))
        return 0;
    const char *lists[2] = { ours, printed };
    return compare_tres(finder, row, lists, false) + compare_tres(finder, row, lists, true);
}

/* Compares the nice value or the site factor, which the accounting database may lack.  Returns the
 * printed value minus fairmill's, or 0 if it was not printed. */
static double find_unrecorded(struct diff_jobs_finder *finder, const struct printed_number *printed,
                              const struct prio_row *row, bool is_nice)
{
    double ours = (double)(is_nice ? row->nice : row->site);
    bool known = is_nice ? row->nice_known : row->site_known;
    enum value_cause cause = known ? VALUE_CAUSE_NONE : is_nice ? JOB_CAUSE_NICE : JOB_CAUSE_SITE;
    if (diff_jobs_miss_of(printed, ours) <= 0)
        return 0;
    diff_jobs_add_difference(finder, row, is_nice ? "nice" : "site", ours, printed_middle(printed),
                             cause);
    return printed_middle(printed) - ours;
}

/* Returns true if the priority was probably set by hand: all components were printed as 0, but the
 * priority was not. */
static bool is_by_hand(const struct printed_job *job)
{
    bool any = false;
    for (enum prio_part part = 0; part < PRIO_PARTS; part++) {
        const struct printed_number *const both[] = { &job->factor[part], &job->weighted[part] };
        for (size_t i = 0; i < 2; i++) {
            any |= printed_is_there(both[i]);
            if (both[i]->low > 0)
                return false;
        }
    }
    return any && !job->tres_factors && job->tres && !*job->tres &&
           (job->priority.low > 1 || job->norm.low > 1e-9);
}

/* Compares a priority whose components do not differ: the normalized priority if `is_norm`,
 * otherwise the integer.  `more` is the known difference in nice value and site factor.  Returns
 * true if the priority differs. */
static bool find_priority(struct diff_jobs_finder *finder, const struct printed_job *job,
                          const struct prio_row *row, double more, bool is_norm)
{
    const struct printed_number *printed = is_norm ? &job->norm : &job->priority;
    double ours = is_norm ? row->norm : (double)row->priority;
    double expected = is_norm ? ours + more / UINT32_MAX : ours + more;
    /* sprio rounds each component, so their sum may be lower by this amount. */
    double rounding = is_norm ? 1.0 / UINT32_MAX : 1;
    if (expected < rounding || diff_jobs_miss_of(printed, expected) <= rounding)
        return false;
    if (!finder->differences->notes[0] && !printed_is_there(&job->nice) && !row->nice_known)
        value_differences_note(finder->differences,
                               "the output has no nice values; use sprio -l or a format with %N");
    diff_jobs_add_difference(finder, row, "priority", ours, printed_middle(printed),
                             VALUE_CAUSE_NONE);
    return true;
}

static void diff_jobs_compare(struct diff_jobs_finder *finder, const struct printed_job *job,
                              const struct prio_row *row)
{
    bool is_norm = printed_is_there(&job->norm);
    if (is_by_hand(job)) {
        diff_jobs_add_difference(
            finder, row, "priority", is_norm ? row->norm : (double)row->priority,
            printed_middle(is_norm ? &job->norm : &job->priority), JOB_CAUSE_BY_HAND);
        return;
    }
    bool norm_only = is_norm && !printed_is_there(&job->priority);
    size_t differing =
        diff_jobs_find_tres(finder, job->tres, job->tres_cut,
                            norm_only ? row->tres_factors : row->tres_weighted, row) +
        diff_jobs_find_tres(finder, job->tres_factors, job->tres_cut, row->tres_factors, row);
    for (enum prio_part part = 0; part < PRIO_PARTS; part++) {
        double ours;
        const struct printed_number *printed = diff_jobs_part_of(job, part, row, &ours);
        if (same_part(job, part, row))
            continue;
        differing++;
        diff_jobs_add_difference(finder, row, part_names[part], ours, printed_middle(printed),
                                 diff_jobs_cause_of(finder, job, part, row));
    }
    double more = find_unrecorded(finder, &job->site, row, false) -
                  find_unrecorded(finder, &job->nice, row, true);
    if (!differing && !find_priority(finder, job, row, more, true))
        find_priority(finder, job, row, more, false);
}

static void diff_jobs_compare_all(struct diff_jobs_finder *finder)
{
    const struct sprio_print *print = finder->print;
    struct value_differences *differences = finder->differences;
    finder->taken = memory_zeroed(finder->ours->count + 1, sizeof *finder->taken);
    for (size_t i = 0; i < print->count; i++) {
        size_t place = find_row(finder, &print->rows[i]);
        if (place != SIZE_MAX) {
            finder->taken[place] = true;
            differences->compared++;
            diff_jobs_compare(finder, &print->rows[i], &finder->ours->rows[place]);
        } else if (!finder->asked->login) {
            if (!differences->only_printed++)
                differences->first_job_printed = print->rows[i].id;
        }
    }
    for (size_t i = 0; i < finder->ours->count; i++)
        differences->only_ours += !finder->taken[i] && finder->ours->rows[i].priority;
    free(finder->taken);
}

/* Sorts the list by job id and removes jobs that the user may not see. */
static void diff_jobs_prepare(struct prio_list *list, const char *login)
{
    struct error ignored;
    if (list && login)
        prio_list_filter(list, &(struct prio_filter){ .users = { (char **)&login, 1 } });
    if (list)
        prio_list_sort(list, "i", &ignored);
}

int diff_jobs_find(const struct diff_values_case *asked, const struct sprio_print *print,
                   struct prio_list *published, struct value_differences *differences,
                   struct error *err)
{
    struct prio_list *computed = NULL, *by_slurmctld = NULL;
    const struct settings *settings = asked->settings;
    bool anew = asked->source && published->as_of != asked->printed_at;
    if (anew && compute_list(asked, published, settings->conformance, &computed, err))
        return -1;
    if (asked->source && settings->conformance != CONFORMANCE_SLURMCTLD &&
        compute_list(asked, published, CONFORMANCE_SLURMCTLD, &by_slurmctld, err)) {
        prio_list_destroy(computed);
        return -1;
    }
    struct prio_list *ours = anew ? computed : published;
    diff_jobs_prepare(ours, asked->login);
    diff_jobs_prepare(by_slurmctld, asked->login);
    *differences = (struct value_differences){ .texts = arena_create(),
                                               .kind = VALUES_OF_JOBS,
                                               .cluster = published->cluster,
                                               .as_of = ours->as_of,
                                               .printed_at = asked->printed_at };
    diff_jobs_compare_all(&(struct diff_jobs_finder){ .asked = asked,
                                                      .print = print,
                                                      .differences = differences,
                                                      .ours = ours,
                                                      .by_slurmctld = by_slurmctld });
    prio_list_destroy(computed);
    prio_list_destroy(by_slurmctld);
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "command/explain/explain_waiting.h"

#include <math.h>
#include <string.h>

#include "core/number/figure.h"
#include "report/priorities.h"
#include "report/terminal.h"
#include "results/published.h"
#include "results/published_jobs.h"
#include "util/instant.h"
#include "util/text.h"

#define DIGITS 9

static void add_place(struct text *line, const struct prio_list *list, const struct prio_row *job)
{
    size_t before = 0, equal = 0, after = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct prio_row *other = &list->rows[i];
        if (other == job || !other->has_priority)
            continue;
        before += other->priority > job->priority;
        equal += other->priority == job->priority;
        after += other->priority < job->priority;
    }
    text_format(line, "Of the others that may run, %zu come before it, %zu after it", before,
                after);
    if (equal)
        text_format(line, ", and %zu %s the same value", equal, equal == 1 ? "has" : "have");
    text_add(line, ".");
    if (job->why)
        text_format(line, " The value is 0 for this reason: %s.", job->why);
}

static void add_named(struct text *text, const char *before, const char *name)
{
    text_add(text, before);
    text_add_printable(text, name);
}

static void add_job(struct text *text, const struct prio_list *list, const struct prio_row *job)
{
    struct text line = { 0 };
    text_add(text, "Cluster ");
    text_add_printable(text, list->cluster);
    text_add(text, ", as of ");
    instant_add(text, list->as_of);
    text_add(text, "\n\n");
    add_named(&line, "Job '", job->job_id);
    add_named(&line, "' of '", job->user);
    add_named(&line, "' in queue '", job->partition);
    text_add(&line, "'");
    if (!isnan(job->value)) {
        text_add(&line, " has the value ");
        text_add_figure(&line, job->value, DIGITS);
        text_add(&line, " by job_sort_formula");
    }
    text_add(&line, ". ");
    if (job->has_priority)
        add_place(&line, list, job);
    else
        text_format(&line, "It has no place among those that run: %s.", prio_why(job->why));
    terminal_add_wrapped(text, line.bytes, 0);
    text_free(&line);
    if (job->term_count)
        text_add(text, "\nWhat the formula's names stand for:\n");
    for (size_t i = 0; i < job->term_count; i++) {
        text_add_printable(text, job->first_term[i].name);
        text_add(text, " = ");
        text_add_figure(text, job->first_term[i].value, DIGITS);
        text_add(text, "\n");
    }
}

/* A job is found by its whole id only: others see no job of somebody else where that is private. */
static int look_in(struct text *text, struct published *published,
                   const struct published_cluster *cluster, const char *job_id, bool *found,
                   struct error *err)
{
    struct prio_list *list = published_job_list(cluster);
    int result = list->of_formula ? published_jobs_read(published->db, list, err) : 0;
    for (size_t i = 0; !result && !*found && i < list->count; i++) {
        const struct prio_row *job = &list->rows[i];
        if (strcmp(job->job_id, job_id) != 0 ||
            !viewer_sees_job(&published->viewer, cluster->name, job->account, job->user))
            continue;
        *found = true;
        add_job(text, list, job);
    }
    prio_list_destroy(list);
    return result;
}

int explain_waiting(struct text *text, const struct settings *settings,
                    const struct name_list *clusters, const char *job_id, bool *found,
                    struct error *err)
{
    struct published published = { 0 };
    const struct published_filter filter = { .clusters = *clusters };
    *found = false;
    int result = published_open(&published, settings, &filter, err);
    for (size_t i = 0; !result && !*found && i < published.count; i++)
        result = look_in(text, &published, &published.clusters[i], job_id, found, err);
    published_close(&published);
    published_free(&published);
    return result;
}

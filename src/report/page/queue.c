/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "report/amounts.h"
#include "report/page/cells.h"
#include "report/page/escape.h"
#include "report/page/picture.h"
#include "report/page/sections.h"
#include "report/priorities.h"
#include "settings/scheduler.h"
#include "util/text.h"

#define JOBS_AT_MOST 500u
#define JOBS_AT_MOST_IF_HUGE 200u
#define DASH "\xe2\x80\x93"

/* ---- Sentences ---- */

/* Counts the jobs that the page lists or, if they are hidden, all jobs of the cluster. */
static void queue_add_counts(struct text *text, const struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    bool all = view->whole || cluster->hides_jobs;
    size_t jobs = all ? cluster->rows[0].jobs : 0;
    size_t stuck = all ? cluster->cannot_start : 0;
    for (size_t i = 0; !all && i < view->job_count; i++) {
        const struct page_job *job = &cluster->jobs[view->jobs[i]];
        jobs += !job->again;
        stuck += page_job_cannot_start(job);
    }
    if (!jobs)
        text_add(text, "No job is waiting");
    if (jobs > stuck)
        page_add_count(text, jobs - stuck, "job waits for its turn", "jobs wait for their turn");
    text_add(text, stuck && jobs > stuck ? ", and " : "");
    if (stuck)
        page_add_count(text, stuck, jobs > stuck ? "more cannot start" : "job cannot start",
                       jobs > stuck ? "more cannot start" : "jobs cannot start");
    text_add(text, all ? "." : ". The first table counts all jobs of the cluster.");
}

/* A place counts in a pool, whose name is that of one of its partitions. */
static void queue_add_pools(struct text *text, const struct page_cluster *cluster)
{
    const char *before = " These partitions share nodes, so their jobs have one order: ";
    for (size_t i = 0; i < cluster->partition_count; i++) {
        const struct page_partition *partition = &cluster->partitions[i];
        if (!*partition->pool || !strcmp(partition->pool, partition->name))
            continue;
        text_add(text, before);
        page_add_markup(text, "%s with %s", partition->name, partition->pool);
        before = ", ";
    }
    if (*before == ',')
        text_add(text, ".");
}

/* ---- Partitions ---- */

/* Returns the number, or NAN if it is unknown. */
static double queue_known(int64_t number)
{
    return number < 0 ? NAN : (double)number;
}

static void queue_add_user(struct text *text, const struct page_view *view,
                           const struct page_job *job)
{
    if (*page_view_row(view, job->row)->user)
        page_add_link(text, view, job->row);
    else
        page_add_html(text, job->user);
}

static bool queue_names_next(const struct page_view *view)
{
    return view->whole && !view->cluster->hides_jobs;
}

static void queue_list_partition(struct text *text, const struct page_view *view,
                                 const struct page_partition *partition)
{
    const struct page_job *next =
        partition->next == SIZE_MAX ? NULL : &view->cluster->jobs[partition->next];
    page_add_markup(text, "<tr><th scope=\"row\" class=\"%s\">%s</th>",
                    page_name_class(partition->name), partition->name);
    page_add_number(text, "r", (double)partition->jobs, page_add_whole);
    page_add_number(text, "r c2", queue_known(partition->cores), page_add_whole);
    if (queue_names_next(view)) {
        page_add_markup(text, "<td class=\"name\">%s", next ? next->job_id : DASH);
        if (next) {
            text_add(text, ", ");
            queue_add_user(text, view, next);
        }
        text_add(text, "</td>");
    }
    page_add_number(text, "r", partition->median_s, page_add_span);
    page_add_number(text, "r c2", partition->most_s, page_add_span);
    text_add(text, "</tr>\n");
}

static void queue_add_partitions(struct text *text, const struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    if (!cluster->partition_count)
        return;
    page_begin_table(text, view, "partitions-table", "Waiting jobs and waits");
    text_add(text, "<th scope=\"col\">");
    page_add_capital(text, cluster->terms->partition);
    text_format(text,
                "</th><th scope=\"col\" class=\"r\">Jobs</th><th scope=\"col\" class=\"r c2\">"
                "Cores asked for</th>%s<th scope=\"col\" class=\"r\">Median wait, 7&nbsp;days</th>"
                "<th scope=\"col\" class=\"r c2\">9 of 10 waited less than</th></tr></thead>\n"
                "<tbody class=\"tight\">",
                queue_names_next(view) ? "<th scope=\"col\">Next job</th>" : "");
    for (size_t i = 0; i < cluster->partition_count; i++)
        queue_list_partition(text, view, &cluster->partitions[i]);
    page_end_table(text, view, "partitions-table", cluster->partition_count);
}

/* ---- Jobs ---- */

enum { FAIRSHARE, SETTINGS, AGE, PARTS };

/* Sums up the parts of a priority that the page shows, and returns the sum of all. */
static double queue_parts(const struct page_job *job, double parts[PARTS])
{
    double sum = fmax(job->tres, 0);
    for (size_t i = 0; i < PAGE_PARTS; i++)
        sum += fmax(job->parts[i], 0);
    parts[FAIRSHARE] = fmax(job->parts[PRIO_FAIRSHARE], 0);
    parts[AGE] = fmax(job->parts[PRIO_AGE], 0);
    parts[SETTINGS] = sum - parts[FAIRSHARE] - parts[AGE];
    return sum;
}

static void queue_add_asked(struct text *text, const struct page_job *job)
{
    const char *between = "";
    if (job->cores >= 0) {
        page_add_count(text, (size_t)job->cores, "core", "cores");
        between = ", ";
    }
    if (job->gpus > 0) {
        text_add(text, between);
        page_add_count(text, (size_t)job->gpus, "GPU", "GPUs");
        between = ", ";
    }
    if (job->limit_s >= 0) {
        text_add(text, between);
        page_add_span(text, (double)job->limit_s);
    } else if (!*between) {
        text_add(text, DASH);
    }
}

/* The id of an array may break before its list of tasks. */
static void queue_add_id(struct text *text, const char *id)
{
    const char *tasks = strchr(id, '[');
    text_add_bytes(text, id, tasks ? (size_t)(tasks - id) : 0);
    page_add_markup(text, tasks ? "<wbr>%s" : "%s", tasks ? tasks : id);
}

static void queue_add_name(struct text *text, const char *class, const char *name)
{
    page_add_markup(text, "<td class=\"%s %s\">%s</td>", page_name_class(name), class, name);
}

static void queue_add_value(struct text *text, double value)
{
    text_format(text, "%.6g", value);
}

static void queue_add_priority(struct text *text, const struct page_view *view,
                               const struct page_job *job, double most)
{
    double parts[PARTS];
    if (view->cluster->by_formula) {
        page_add_number(text, "r c2", job->priority, queue_add_value);
        queue_add_name(text, "c2 cb", job->terms);
        return;
    }
    page_add_number(text, "r c2", job->priority, page_add_whole);
    queue_parts(job, parts);
    text_add(text, "<td class=\"bar c2 cb\">");
    picture_add_parts(text, parts, PARTS, most);
    text_add(text, "</td>");
}

/* If a job cannot start, the reason replaces the last two columns that a screen shows. */
static void queue_list_job(struct text *text, const struct page_view *view,
                           const struct page_job *job, double most)
{
    bool stuck = page_job_cannot_start(job);
    text_add(text, "<tr>");
    page_add_number(text, "r", job->place ? (double)job->place : NAN, page_add_whole);
    page_add_markup(text, "<th scope=\"row\" class=\"%s\">", page_name_class(job->job_id));
    queue_add_id(text, job->job_id);
    text_add(text, "<span class=\"sub\">");
    queue_add_asked(text, job);
    page_add_markup(text, "</span></th><td class=\"%s\">", page_name_class(job->user));
    queue_add_user(text, view, job);
    page_add_markup(text, "<span class=\"sub\">%s</span></td>", job->account);
    queue_add_name(text, "c2", job->account);
    queue_add_name(text, stuck ? "c2" : "", job->partition);
    if (!view->cluster->by_formula)
        queue_add_name(text, "c3", job->qos);
    text_add(text, "<td class=\"c3 nw\">");
    queue_add_asked(text, job);
    text_add(text, "</td>");
    page_add_number(text, stuck ? "r cb" : "r", queue_known(job->waiting_s), page_add_span);
    if (stuck)
        page_add_markup(text, "<td class=\"why\" colspan=\"2\">cannot start: %s</td>",
                        *job->detail ? job->detail : job->reason);
    else
        queue_add_priority(text, view, job, most);
    text_add(text, "</tr>\n");
}

static void queue_add_headings(struct text *text, const struct page_view *view)
{
    bool by_formula = view->cluster->by_formula;
    text_add(text, "<th scope=\"col\" class=\"r\" data-sort=\"p\">Place</th>"
                   "<th scope=\"col\" data-sort=\"a\">Job</th>"
                   "<th scope=\"col\" data-sort=\"a\">User</th>"
                   "<th scope=\"col\" class=\"c2\" data-sort=\"a\">Group</th>"
                   "<th scope=\"col\" data-sort=\"a\">");
    page_add_capital(text, view->cluster->terms->partition);
    text_format(text,
                "</th>%s<th scope=\"col\" class=\"c3\">Asks for</th>"
                "<th scope=\"col\" class=\"r\" data-sort=\"n\">Waiting</th>"
                "<th scope=\"col\" class=\"r c2\" data-sort=\"n\">%s</th>"
                "<th scope=\"col\" class=\"%s</th></tr></thead>\n<tbody>",
                by_formula ? "" : "<th scope=\"col\" class=\"c3\" data-sort=\"a\">QOS</th>",
                by_formula ? "Value" : "Priority",
                by_formula ? "c2 cb\">Values in the formula" : "bar c2 cb\">Parts of the priority");
}

static void queue_add_jobs(struct text *text, const struct page_view *view)
{
    static const char *const classes[PARTS] = { "f1", "f2", "f3" };
    static const char *const names[PARTS] = { "fairshare", "QOS, partition and others", "age" };
    size_t limit = view->huge ? JOBS_AT_MOST_IF_HUGE : JOBS_AT_MOST;
    size_t count = view->job_count < limit ? view->job_count : limit;
    double most = 0, parts[PARTS];
    for (size_t i = 0; i < count; i++)
        most = fmax(most, queue_parts(&view->cluster->jobs[view->jobs[i]], parts));
    text_format(text, "<h3 class=\"gap\">Jobs in order of %s</h3>",
                view->cluster->by_formula ? "the formula's value" : "priority, by partition");
    if (!view->cluster->by_formula) {
        text_add(text, "<div class=\"cb\">");
        picture_add_key(text, classes, names, PARTS);
        text_add(text, "</div>");
    }
    page_begin_table(text, view, "jobs-table", "Waiting jobs in order of priority");
    queue_add_headings(text, view);
    for (size_t i = 0; i < count; i++)
        queue_list_job(text, view, &view->cluster->jobs[view->jobs[i]], most);
    page_end_table(text, view, "jobs-table", count);
    for (size_t i = 0; i < count; i++)
        if (view->cluster->jobs[view->jobs[i]].again) {
            text_add(text, "<p class=\"note\">A job of several partitions that do not share nodes "
                           "has a row for each.</p>");
            break;
        }
    if (count < view->job_count) {
        text_add(text, "<p class=\"note\">");
        page_add_count(text, view->job_count - count, "other job is", "other jobs are");
        text_add(text, " waiting; <code>fairmill prio</code> lists all.</p>");
    }
}

void page_add_queue(struct text *text, const struct page_view *view)
{
    page_add_section(text, view, "queue", "Waiting jobs");
    text_add(text, "<p class=\"soft\">");
    queue_add_counts(text, view);
    queue_add_pools(text, view->cluster);
    text_add(text, "</p>");
    page_add_tools(text, view, view->job_count ? "jobs-table" : NULL);
    queue_add_partitions(text, view);
    if (view->job_count)
        queue_add_jobs(text, view);
    text_add(text, "</section>\n");
}

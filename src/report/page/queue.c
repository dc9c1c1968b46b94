/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "report/amounts.h"
#include "report/page/cells.h"
#include "report/page/escape.h"
#include "report/page/picture.h"
#include "report/page/sections.h"
#include "report/priorities.h"
#include "settings/scheduler.h"
#include "util/memory.h"
#include "util/text.h"

#define JOBS_AT_MOST 500u
/* Number of rows that scripts show at first. */
#define ROOM 15
#define SHORT_NAME 10u

/* ---- Sentences ---- */

/* Returns the number of jobs of the page's groups.  Sets `*stuck` to the number of those that
 * cannot start. */
static size_t queue_count_jobs(const struct page_view *view, size_t *stuck)
{
    const struct page_cluster *cluster = view->cluster;
    size_t jobs = 0;
    *stuck = cluster->cannot_start;
    if (view->whole)
        return cluster->rows[0].jobs;
    *stuck = 0;
    for (size_t i = 0; i < view->job_count; i++)
        *stuck += page_job_cannot_start(&cluster->jobs[view->jobs[i]]);
    for (size_t i = 0; i < view->group_count; i++)
        jobs += view->depths[i] == 1 ? page_view_row(view, view->groups[i])->jobs : 0;
    return jobs;
}

static void queue_add_counts(struct text *text, const struct page_view *view)
{
    size_t stuck, jobs = queue_count_jobs(view, &stuck);
    if (!jobs) {
        text_add(text, "No job is waiting.");
    } else if (stuck && stuck == jobs) {
        page_add_count(text, stuck, "job is waiting and", "jobs are waiting and");
        text_add(text, " cannot start.");
    } else {
        page_add_count(text, jobs - stuck, "job waits for its turn", "jobs wait for their turn");
        if (stuck) {
            text_add(text, ", ");
            amount_add_whole(text, stuck);
            text_add(text, " cannot start");
        }
        text_add(text, ".");
    }
    if (!view->whole)
        text_add(text, " The first table counts all jobs of the cluster.");
}

/* Returns the next partition from index `at` on that has pending jobs in the pool, or the number of
 * partitions. */
static size_t queue_next_in(const struct page_cluster *cluster, const char *pool, size_t at)
{
    while (at < cluster->partition_count &&
           (!cluster->partitions[at].jobs || strcmp(cluster->partitions[at].pool, pool) != 0))
        at++;
    return at;
}

/* A place counts in a pool, so the page names the partitions of a pool. */
static void queue_add_pools(struct text *text, const struct page_cluster *cluster)
{
    for (size_t i = 0; i < cluster->partition_count; i++) {
        const char *pool = cluster->partitions[i].pool;
        size_t next = queue_next_in(cluster, pool, i + 1);
        if (queue_next_in(cluster, pool, 0) != i || next == cluster->partition_count)
            continue;
        if (!*pool) {
            text_add(text, cluster->by_formula
                               ? ""
                               : " Without a slurm.conf, all partitions have one order.");
            continue;
        }
        text_add(text, " ");
        page_add_html(text, cluster->partitions[i].name);
        for (size_t after; next < cluster->partition_count; next = after) {
            after = queue_next_in(cluster, pool, next + 1);
            text_add(text, after < cluster->partition_count ? ", " : " and ");
            page_add_html(text, cluster->partitions[next].name);
        }
        text_add(text, " share nodes, so their jobs have one order.");
    }
}

/* ---- Cells ---- */

static void queue_add_whole(struct text *text, double number)
{
    amount_add_whole(text, (uint64_t)number);
}

static void queue_add_value(struct text *text, double value)
{
    text_format(text, "%.6g", value);
}

/* Adds a number; NAN and negative numbers are unknown. */
static void queue_add_number(struct text *text, const char *class, double number,
                             void (*add)(struct text *, double))
{
    if (isnan(number) || (number < 0 && add != queue_add_value)) {
        text_format(text, "<td class=\"%s\" data-v=\"\">\xe2\x80\x93</td>", class);
        return;
    }
    text_format(text,
                isinf(number) ? "<td class=\"%s\" data-v=\"Infinity\">"
                              : "<td class=\"%s\" data-v=\"%.10g\">",
                class, number);
    add(text, number);
    text_add(text, "</td>");
}

/* Short names do not break, even if the table is narrow. */
static const char *queue_name_class(const char *name)
{
    return strlen(name) > SHORT_NAME ? "name" : "nw";
}

static void queue_add_name(struct text *text, const char *class, const char *name)
{
    text_format(text, "<td class=\"%s %s\">", queue_name_class(name), class);
    page_add_html(text, name);
    text_add(text, "</td>");
}

static void queue_add_user(struct text *text, const struct page_view *view,
                           const struct page_job *job)
{
    if (*page_view_row(view, job->row)->user)
        page_add_link(text, view, job->row);
    else
        page_add_html(text, job->user);
}

static void queue_open_table(struct text *text, const struct page_view *view, const char *id,
                             const char *caption)
{
    text_add(text, "<table id=\"");
    page_add_id(text, view, id);
    text_format(text,
                "\" data-table data-room=\"%d\"><caption class=\"vh\">%s</caption><thead><tr>",
                ROOM, caption);
}

static void queue_end_table(struct text *text, const struct page_view *view, const char *id,
                            size_t rows)
{
    text_add(text, "</tbody></table>\n");
    if (rows > ROOM)
        page_add_more(text, view, id, rows);
}

/* ---- Partitions ---- */

static bool queue_names_next(const struct page_view *view)
{
    return view->whole && !view->cluster->hides_jobs;
}

static void queue_add_partition(struct text *text, const struct page_view *view,
                                const struct page_partition *partition)
{
    text_format(text, "<tr><th scope=\"row\" class=\"%s\">", queue_name_class(partition->name));
    page_add_html(text, partition->name);
    text_add(text, "</th>");
    queue_add_number(text, "r", (double)partition->jobs, queue_add_whole);
    queue_add_number(text, "r c2", (double)partition->cores, queue_add_whole);
    if (queue_names_next(view)) {
        text_add(text, "<td class=\"name\">");
        if (partition->next == SIZE_MAX) {
            text_add(text, "\xe2\x80\x93");
        } else {
            page_add_html(text, view->cluster->jobs[partition->next].job_id);
            text_add(text, ", ");
            queue_add_user(text, view, &view->cluster->jobs[partition->next]);
        }
        text_add(text, "</td>");
    }
    queue_add_number(text, "r", partition->median_s, page_add_span);
    queue_add_number(text, "r c2", partition->most_s, page_add_span);
    text_add(text, "</tr>\n");
}

static void queue_add_partitions(struct text *text, const struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    if (!cluster->partition_count)
        return;
    queue_open_table(text, view, "partitions-table", "Waiting jobs and waits");
    text_add(text, "<th scope=\"col\">");
    page_add_capital(text, cluster->terms->partition);
    text_format(text,
                "</th><th scope=\"col\" class=\"r\">Jobs</th><th scope=\"col\" class=\"r c2\">"
                "Cores asked for</th>%s<th scope=\"col\" class=\"r\">Median wait, 7&nbsp;days</th>"
                "<th scope=\"col\" class=\"r c2\">9 of 10 waited less than</th></tr></thead>\n"
                "<tbody class=\"tight\">",
                queue_names_next(view) ? "<th scope=\"col\">Next job</th>" : "");
    for (size_t i = 0; i < cluster->partition_count; i++)
        queue_add_partition(text, view, &cluster->partitions[i]);
    queue_end_table(text, view, "partitions-table", cluster->partition_count);
}

/* ---- The order of jobs ---- */

/* A job, and the highest priority of the jobs that do not precede it in its pool. */
struct queued {
    const struct page_job *job;
    size_t number;
    double priority;
};

static int queue_compare(const void *a, const void *b)
{
    const struct queued *one = a, *other = b;
    if (one->priority != other->priority)
        return one->priority < other->priority ? 1 : -1;
    return (one->number > other->number) - (one->number < other->number);
}

/*
 * Returns the jobs in order of priority; those that cannot start are last.  The jobs of a pool
 * remain in the order of their places, even if PriorityTier decides it.  The caller frees the list.
 */
static struct queued *queue_order(const struct page_view *view)
{
    struct queued *list = memory_zeroed(view->job_count + 1, sizeof *list);
    for (size_t i = view->job_count; i-- > 0;) {
        const struct page_job *job = &view->cluster->jobs[view->jobs[i]];
        const struct page_job *next = list[i + 1].job;
        double priority = isnan(job->priority) || !job->place ? -INFINITY : job->priority;
        if (next && job->place && next->place && !strcmp(job->pool, next->pool))
            priority = fmax(priority, list[i + 1].priority);
        list[i] = (struct queued){ job, i, priority };
    }
    if (view->job_count)
        qsort(list, view->job_count, sizeof *list, queue_compare);
    return list;
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
        text_add(text, "\xe2\x80\x93");
    }
}

static void queue_add_names(struct text *text, const struct page_view *view,
                            const struct page_job *job)
{
    text_add(text, "<tr>");
    queue_add_number(text, "r", job->place ? (double)job->place : NAN, queue_add_whole);
    text_add(text, "<th scope=\"row\" class=\"name\">");
    page_add_html(text, job->job_id);
    text_add(text, "<span class=\"sub\">");
    queue_add_asked(text, job);
    text_format(text, "</span></th><td class=\"%s\">", queue_name_class(job->user));
    queue_add_user(text, view, job);
    text_add(text, "<span class=\"sub\">");
    page_add_html(text, job->account);
    text_add(text, "</span></td>");
    queue_add_name(text, "c2", job->account);
}

/* If a job cannot start, the reason replaces the last two columns that a screen shows. */
static void queue_add_job(struct text *text, const struct page_view *view,
                          const struct page_job *job, double most)
{
    bool stuck = page_job_cannot_start(job), by_formula = view->cluster->by_formula;
    double parts[PARTS];
    queue_add_names(text, view, job);
    queue_add_name(text, stuck ? "c2" : "", job->partition);
    if (!by_formula)
        queue_add_name(text, "c3", job->qos);
    text_add(text, "<td class=\"c3 nw\">");
    queue_add_asked(text, job);
    text_add(text, "</td>");
    queue_add_number(text, stuck ? "r cb" : "r", (double)job->waiting_s, page_add_span);
    if (stuck) {
        text_add(text, "<td class=\"why\" colspan=\"2\">cannot start: ");
        page_add_html(text, *job->detail ? job->detail : job->reason);
        text_add(text, "</td></tr>\n");
        return;
    }
    queue_add_number(text, "r c2", job->priority, by_formula ? queue_add_value : queue_add_whole);
    if (by_formula) {
        queue_add_name(text, "c2 cb", job->terms);
    } else {
        queue_parts(job, parts);
        text_add(text, "<td class=\"bar c2 cb\">");
        picture_add_parts(text, parts, PARTS, most);
        text_add(text, "</td>");
    }
    text_add(text, "</tr>\n");
}

static void queue_add_headings(struct text *text, const struct page_view *view, bool is_sorted)
{
    const struct page_cluster *cluster = view->cluster;
    text_add(text, "<th scope=\"col\" class=\"r\" data-sort=\"p\">Place</th>"
                   "<th scope=\"col\" data-sort=\"a\">Job</th>"
                   "<th scope=\"col\" data-sort=\"a\">User</th>"
                   "<th scope=\"col\" class=\"c2\" data-sort=\"a\">Group</th>"
                   "<th scope=\"col\" data-sort=\"a\">");
    page_add_capital(text, cluster->terms->partition);
    text_format(
        text,
        "</th>%s<th scope=\"col\" class=\"c3\">Asks for</th>"
        "<th scope=\"col\" class=\"r\" data-sort=\"n\">Waiting</th>"
        "<th scope=\"col\" class=\"r c2\" data-sort=\"n\"%s>%s</th>"
        "<th scope=\"col\" class=\"%s</th></tr></thead>\n<tbody>",
        cluster->by_formula ? "" : "<th scope=\"col\" class=\"c3\" data-sort=\"a\">QOS</th>",
        is_sorted ? " aria-sort=\"descending\"" : "", cluster->by_formula ? "Value" : "Priority",
        cluster->by_formula ? "c2 cb\">Values in the formula"
                            : "bar c2 cb\">Parts of the priority");
}

/* Adds the heading of the jobs, and for Slurm the key of their bars. */
static void queue_add_key(struct text *text, const struct page_view *view, double others)
{
    static const char *const classes[PARTS] = { "f1", "f2", "f3" };
    const char *const names[PARTS] = {
        "fairshare", others > 0 ? "QOS, partition, size and others" : "QOS and partition", "age"
    };
    text_format(text, "<h3 class=\"gap\">Jobs in order of %s</h3>",
                view->cluster->by_formula ? "the formula's value" : "priority");
    if (!view->cluster->by_formula)
        picture_add_key(text, classes, names, PARTS);
}

static void queue_add_jobs(struct text *text, const struct page_view *view)
{
    struct queued *list = queue_order(view);
    size_t count = view->job_count < JOBS_AT_MOST ? view->job_count : JOBS_AT_MOST;
    double most = 0, others = 0, parts[PARTS];
    bool is_sorted = true;
    for (size_t i = 0; i < count; i++) {
        const struct page_job *job = list[i].job;
        most = fmax(most, queue_parts(job, parts));
        others = fmax(others, parts[SETTINGS] - fmax(job->parts[PRIO_QOS], 0) -
                                  fmax(job->parts[PRIO_PARTITION], 0));
        is_sorted &= !job->place || list[i].priority == job->priority;
    }
    queue_add_key(text, view, others - most * 1e-9);
    queue_open_table(text, view, "jobs-table", "Waiting jobs in order of priority");
    queue_add_headings(text, view, is_sorted);
    for (size_t i = 0; i < count; i++)
        queue_add_job(text, view, list[i].job, most);
    queue_end_table(text, view, "jobs-table", count);
    if (count < view->job_count) {
        text_add(text, "<p class=\"note\">");
        page_add_count(text, view->job_count - count, "other job is", "other jobs are");
        text_add(text, " waiting; <code>fairmill prio</code> lists all.</p>");
    }
    free(list);
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

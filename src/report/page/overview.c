/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/amounts.h"
#include "report/page/cells.h"
#include "report/page/escape.h"
#include "report/page/picture.h"
#include "report/page/sections.h"
#include "settings/scheduler.h"
#include "util/memory.h"
#include "util/text.h"

/* Numbers of groups that a sentence names, and of partitions with a bar. */
#define GROUPS_NAMED 3u
#define PARTITIONS_SHOWN 4u
/* A short history does not fill the width. */
#define WEEKS_AT_LEAST 13u

/* ---- The sentence about groups ---- */

/* The largest quotient of usage and share is first. */
struct overview_groups {
    const struct page_row *level; /* the row in whose level they are compared */
    const struct page_row **rows;
    size_t count, over_count, under_count; /* all; that used more, or less, than their shares */
};

static int overview_by_ratio(const void *a, const void *b)
{
    const struct page_row *one = *(const struct page_row *const *)a;
    const struct page_row *other = *(const struct page_row *const *)b;
    if (one->ratio != other->ratio)
        return one->ratio < other->ratio ? 1 : -1;
    return (one > other) - (one < other);
}

static void overview_add_level(struct overview_groups *groups, const struct page_cluster *cluster,
                               uint32_t level)
{
    *groups = (struct overview_groups){ .level = &cluster->rows[level], .rows = groups->rows };
    for (uint32_t i = 1; i < cluster->row_count; i++) {
        const struct page_row *row = &cluster->rows[i];
        if (*row->user || row->level != level || !row->own_share ||
            (row->share <= 0 && row->used <= 0))
            continue;
        groups->rows[groups->count++] = row;
        groups->over_count += page_row_used_more(row);
        groups->under_count += row->ratio < 1;
    }
}

/* Finds the groups of the first level that has several, or the only group. */
static struct overview_groups overview_find_groups(const struct page_cluster *cluster)
{
    struct overview_groups groups = { .rows =
                                          memory_zeroed(cluster->row_count, sizeof *groups.rows) };
    overview_add_level(&groups, cluster, 0);
    while (groups.count == 1)
        overview_add_level(&groups, cluster, (uint32_t)(groups.rows[0] - cluster->rows));
    if (!groups.count)
        overview_add_level(&groups, cluster, groups.level->level);
    qsort(groups.rows, groups.count, sizeof *groups.rows, overview_by_ratio);
    return groups;
}

static void overview_add_names(struct text *text, const struct page_row *const *rows, size_t count,
                               bool ratios)
{
    size_t named = count < GROUPS_NAMED ? count : GROUPS_NAMED;
    for (size_t i = 0; i < named; i++) {
        bool last = i + 1 == count;
        page_add_markup(text, "%s<b>%s</b>", !i ? "" : last ? " and " : ", ", rows[i]->account);
        if (!ratios)
            continue;
        text_add(text, count == 1 ? ", " : "&nbsp;");
        page_add_ratio(text, rows[i]->ratio);
        text_add(text, "&nbsp;times");
    }
    if (count > named)
        text_format(text, " and %zu more", count - named);
}

/* Adds the sentences about groups that have usage to compare. */
static void overview_add_comparison(struct text *text, const struct page_cluster *cluster,
                                    const struct overview_groups *groups)
{
    bool top = groups->level == cluster->rows, one = groups->over_count == 1;
    const struct page_row *const *under = groups->rows + groups->count - groups->under_count;
    if (!groups->over_count)
        text_add(text, "No group ");
    else if (one)
        text_format(text, "One of the %zu groups ", groups->count);
    else
        text_format(text, "%zu of the %zu groups ", groups->over_count, groups->count);
    page_add_markup(text, "%s%s ", top ? "at the top level" : "below ",
                    top ? "" : groups->level->account);
    if (!groups->over_count) {
        text_add(text, "has used more than its share.");
        return;
    }
    text_add(text, one ? "has used more than its share: " : "have used more than their shares: ");
    overview_add_names(text, groups->rows, groups->over_count, true);
    text_add(text, ".");
    if (!groups->under_count || groups->under_count > GROUPS_NAMED)
        return;
    text_add(text, " ");
    overview_add_names(text, under, groups->under_count, false);
    text_add(text, groups->under_count == 1 ? " has used less than its share."
                                            : " have used less than their shares.");
}

static void overview_add_lead(struct text *text, const struct page_cluster *cluster,
                              const struct overview_groups *groups)
{
    text_add(text, "<p class=\"lead\">");
    if (!cluster->any_usage)
        text_add(text, "No usage counts yet. Places follow the shares alone.");
    else if (groups->count < 2)
        text_format(text, "There is %s group, so fairshare %s.", groups->count ? "one" : "no",
                    cluster->users < 2 ? "has nothing to compare" : "compares only users");
    else
        overview_add_comparison(text, cluster, groups);
    text_add(text, "</p>");
}

/* ---- The three numbers ---- */

/* Adds a number large and its unit small: `12.4 %`. */
static void overview_add_number(struct text *text, const char *heading,
                                void (*add)(struct text *, double), double number)
{
    struct text words = { 0 };
    add(&words, number);
    char *unit = strrchr(words.bytes, ' ');
    if (unit)
        *unit++ = '\0';
    page_add_markup(text, "<div><h3>%s</h3><p class=\"big\">%s", heading, words.bytes);
    if (unit)
        page_add_markup(text, "<small>&nbsp;%s</small>", unit);
    text_add(text, "</p><p>");
    text_free(&words);
}

/* Percentages from 10 on have no decimals, because the columns are no more exact. */
static void overview_add_whole_percent(struct text *text, double fraction)
{
    if (100 * fraction >= 10)
        text_format(text, "%.0f %%", 100 * fraction);
    else
        amount_add_percent(text, fraction);
}

/* Adds the columns of the known weeks with an axis.  `sentence` describes them, and `middle` is on
 * the axis. */
static void overview_add_weeks(struct text *text, const char *class, const struct page_weeks *all,
                               double line, const char *sentence, const char *middle)
{
    char month[32] = "";
    struct tm date;
    size_t first = 0;
    while (first < all->count && isnan(all->weeks[first].value))
        first++;
    if (first + 1 >= all->count)
        return;
    first = first + WEEKS_AT_LEAST > all->count ? all->count - WEEKS_AT_LEAST : first;
    size_t count = all->count - first;
    time_t at = (time_t)all->weeks[first].at;
    if (localtime_r(&at, &date))
        strftime(month, sizeof month, count > 26 ? "%b %Y" : "%e %b", &date);
    page_add_markup(text, "<figure role=\"img\" aria-label=\"%s; %s\">", sentence, middle);
    picture_add_weeks(text, class, all->weeks + first, count, line);
    page_add_markup(text,
                    "<div class=\"axis\"><span>%s</span><span>%s</span><span>now</span></div>"
                    "</figure>",
                    month, middle);
}

static void overview_add_fairness(struct text *text, const struct page_cluster *cluster)
{
    double highest = 0;
    struct text words = { 0 };
    if (!cluster->any_usage || isnan(cluster->unfair))
        return;
    overview_add_number(text, "Fairness", amount_add_percent, cluster->unfair);
    text_add(text, "of recent usage went beyond a group's share. 0&nbsp;% is perfectly fair.</p>");
    for (size_t i = 0; i < cluster->unfair_weeks.count; i++)
        highest = fmax(highest, cluster->unfair_weeks.weeks[i].value);
    text_add(&words, "highest ");
    overview_add_whole_percent(&words, highest);
    overview_add_weeks(text, "fo", &cluster->unfair_weeks, NAN, "Usage beyond shares by week",
                       words.bytes);
    text_add(text, "</div>");
    text_free(&words);
}

static void overview_add_use(struct text *text, const struct page_cluster *cluster)
{
    const char *hours = page_unit_hours(cluster);
    bool known = cluster->capacity > 0;
    if (isnan(cluster->used_a_day))
        return;
    if (known) {
        overview_add_number(text, "Use of the machine", overview_add_whole_percent,
                            cluster->used_a_day / cluster->capacity);
        text_add(text, "of its capacity was used in the last 7&nbsp;days: ");
        page_add_amount(text, cluster->used_a_day);
        text_add(text, " of ");
        page_add_amount(text, cluster->capacity);
        page_add_markup(text, " %s a day.</p>", hours);
    } else {
        overview_add_number(text, "Use of the machine", amount_add, cluster->used_a_day);
        page_add_markup(text, "%s a day were used in the last 7&nbsp;days.</p>", hours);
    }
    overview_add_weeks(text, "fu", &cluster->use_weeks, known ? cluster->capacity : NAN,
                       "Usage by week", known ? "dashed: capacity" : "mean of a day");
    text_add(text, "</div>");
}

/* ---- Waiting jobs ---- */

/* Adds the median waits of the partitions with most pending jobs.  The scale is from an hour to a
 * week, which is the longest known wait. */
static void overview_add_partitions(struct text *text, const struct page_cluster *cluster)
{
    double most = 3600, week = 7 * 86400;
    size_t count = 0;
    page_add_markup(text,
                    "<figure><table class=\"tight\"><caption class=\"vh\">Median wait by %s"
                    "</caption><tbody>",
                    cluster->terms->partition);
    for (size_t i = 0; i < cluster->partition_count; i++)
        if (!isnan(cluster->partitions[i].median_s))
            most = fmax(most, fmin(cluster->partitions[i].median_s, week));
    for (size_t i = 0; i < cluster->partition_count && count < PARTITIONS_SHOWN; i++) {
        const struct page_partition *partition = &cluster->partitions[i];
        if (isnan(partition->median_s))
            continue;
        count++;
        page_add_markup(text, "<tr><th scope=\"row\" class=\"%s\">%s</th><td class=\"bar\">",
                        page_name_class(partition->name), partition->name);
        picture_add_bar(text, "f2", fmin(partition->median_s, week) / most);
        text_add(text, "</td><td class=\"r\">");
        page_add_span(text, partition->median_s);
        text_add(text, "</td></tr>");
    }
    text_add(text, "</tbody></table></figure>");
}

static void overview_add_waiting(struct text *text, const struct page_cluster *cluster)
{
    size_t jobs = cluster->rows[0].jobs;
    if (cluster->started) {
        overview_add_number(text, "Waiting", page_add_raw_span, cluster->wait_s);
        text_add(text, "is the median wait of the ");
        page_add_count(text, cluster->started, "job that", "jobs that");
        text_add(text, " started in the last 7&nbsp;days. ");
        page_add_count(text, jobs, "job waits", "jobs wait");
    } else {
        overview_add_number(text, "Waiting", amount_add, (double)jobs);
        text_add(text, jobs == 1 ? "job waits" : "jobs wait");
    }
    text_add(text, " now");
    text_add(text, cluster->cannot_start ? ", of which " : "");
    if (cluster->cannot_start)
        page_add_count(text, cluster->cannot_start, "cannot start", "cannot start");
    text_add(text, cluster->started ? ".</p>" : ". No job started in the last 7&nbsp;days.</p>");
    if (cluster->started)
        overview_add_partitions(text, cluster);
    text_add(text, "</div>");
}

void page_add_overview(struct text *text, const struct page_view *view)
{
    struct page_prefix prefix = page_prefix_of(view);
    struct overview_groups groups = overview_find_groups(view->cluster);
    page_add_markup(
        text,
        "<section id=\"%soverview\" class=\"card\" aria-labelledby=\"%soverview-title\">"
        "<h2 id=\"%soverview-title\" class=\"vh\">Overview</h2>",
        prefix.bytes, prefix.bytes, prefix.bytes);
    overview_add_lead(text, view->cluster, &groups);
    text_add(text, "<div class=\"three\">");
    /* The published fairness is that of the top level. */
    if (groups.count > 1 && groups.level == view->cluster->rows)
        overview_add_fairness(text, view->cluster);
    overview_add_use(text, view->cluster);
    overview_add_waiting(text, view->cluster);
    text_add(text, "</div></section>\n");
    free(groups.rows);
}

/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/amounts.h"
#include "report/page/cells.h"
#include "report/page/escape.h"
#include "report/page/picture.h"
#include "report/page/sections.h"
#include "util/memory.h"
#include "util/text.h"

/* Numbers of groups that the first sentence names, and of partitions with a bar. */
#define OVER_NAMED 3u
#define UNDER_NAMED 3u
#define PARTITIONS_SHOWN 4u
/* A short history does not fill the width. */
#define WEEKS_AT_LEAST 13u

/* ---- The sentence about groups ---- */

struct overview_groups {
    uint32_t *over;  /* that used more than their shares, largest quotient first */
    uint32_t *under; /* that used less */
    size_t over_count, under_count, count;
};

static bool overview_is_group(const struct page_row *row)
{
    return !*row->user && row->own_share;
}

/* Returns the row whose children are compared: the root, or a group that is alone in its level. */
static uint32_t overview_level(const struct page_cluster *cluster)
{
    uint32_t level = 0;
    for (;;) {
        const struct page_row *row = &cluster->rows[level];
        uint32_t only = row->first_child;
        if (row->children != 1 || !overview_is_group(&cluster->rows[only]))
            return level;
        const struct page_row *below = &cluster->rows[cluster->rows[only].first_child];
        if (!cluster->rows[only].children || *below->user)
            return level;
        level = only;
    }
}

static int overview_by_ratio(const void *a, const void *b, void *rows)
{
    const struct page_row *one = (struct page_row *)rows + *(const uint32_t *)a;
    const struct page_row *other = (struct page_row *)rows + *(const uint32_t *)b;
    if (one->ratio != other->ratio)
        return one->ratio < other->ratio ? 1 : -1;
    return (one > other) - (one < other);
}

static struct overview_groups overview_find_groups(const struct page_cluster *cluster)
{
    const struct page_row *level = &cluster->rows[overview_level(cluster)];
    struct overview_groups groups = {
        .over = memory_zeroed(level->children + 1, sizeof *groups.over),
        .under = memory_zeroed(level->children + 1, sizeof *groups.under),
    };
    for (uint32_t i = level->first_child; i < level->first_child + level->children; i++) {
        const struct page_row *row = &cluster->rows[i];
        if (!overview_is_group(row))
            continue;
        groups.count++;
        if (page_row_used_more(row))
            groups.over[groups.over_count++] = i;
        else if (row->ratio < 1)
            groups.under[groups.under_count++] = i;
    }
    if (groups.over_count)
        qsort_r(groups.over, groups.over_count, sizeof *groups.over, overview_by_ratio,
                cluster->rows);
    return groups;
}

static void overview_add_name(struct text *text, const struct page_row *row)
{
    text_add(text, "<b>");
    page_add_html(text, row->account);
    text_add(text, "</b>");
}

/* Adds `, ` or ` and ` between the items of a list. */
static void overview_add_separator(struct text *text, size_t i, size_t count)
{
    if (i)
        text_add(text, i + 1 < count ? ", " : " and ");
}

static void overview_add_over(struct text *text, const struct page_cluster *cluster,
                              const struct overview_groups *groups)
{
    size_t named = groups->over_count < OVER_NAMED ? groups->over_count : OVER_NAMED;
    size_t more = groups->over_count - named;
    if (groups->over_count == 1)
        text_format(text, "One of %zu groups has used more than its share: ", groups->count);
    else
        text_format(text,
                    "%zu of %zu groups have used more than their shares: ", groups->over_count,
                    groups->count);
    for (size_t i = 0; i < named; i++) {
        const struct page_row *row = &cluster->rows[groups->over[i]];
        overview_add_separator(text, i, named + (more > 0));
        overview_add_name(text, row);
        text_add(text, groups->over_count == 1 ? ", " : "\xc2\xa0");
        if (row->share > 0) {
            page_add_ratio(text, row->ratio);
            text_add(text, "\xc2\xa0times");
        } else {
            text_add(text, "without a share");
        }
    }
    if (more)
        text_format(text, " and %zu more", more);
    text_add(text, ".");
}

static void overview_add_under(struct text *text, const struct page_cluster *cluster,
                               const struct overview_groups *groups)
{
    if (!groups->under_count || groups->under_count > UNDER_NAMED ||
        groups->over_count > OVER_NAMED)
        return;
    text_add(text, " ");
    for (size_t i = 0; i < groups->under_count; i++) {
        overview_add_separator(text, i, groups->under_count);
        overview_add_name(text, &cluster->rows[groups->under[i]]);
    }
    text_add(text, groups->under_count == 1 ? " has used less than its share."
                                            : " have used less than their shares.");
}

static void overview_add_lead(struct text *text, const struct page_cluster *cluster,
                              const struct overview_groups *groups)
{
    text_add(text, "<p class=\"lead\">");
    if (!cluster->any_usage) {
        text_add(text, "No usage counts yet. Places follow the shares alone.");
    } else if (groups->count == 1) {
        text_add(text, cluster->users < 2
                           ? "There is one group, so fairshare has nothing to compare."
                           : "There is one group, so fairshare compares only its users.");
    } else if (!groups->count) {
        text_add(text, "No group has a share of its own, so fairshare compares only users.");
    } else if (!groups->over_count) {
        text_add(text, "No group has used more than its share.");
    } else {
        overview_add_over(text, cluster, groups);
        overview_add_under(text, cluster, groups);
    }
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
    if (unit == words.bytes + 1) /* the blank of `< 1` */
        unit = NULL;
    if (unit)
        *unit = '\0';
    text_format(text, "<div><h3>%s</h3><p class=\"big\">", heading);
    page_add_html(text, words.bytes);
    if (unit)
        text_format(text, "<small>&nbsp;%s</small>", unit + 1);
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

static void overview_add_month(struct text *text, int64_t time, const char *format)
{
    char month[32];
    struct tm date;
    time_t at = (time_t)time;
    if (localtime_r(&at, &date) && strftime(month, sizeof month, format, &date))
        text_add(text, *month == '0' ? month + 1 : month);
}

/* Adds the columns of the known weeks with an axis.  `sentence` describes them. */
static void overview_add_weeks(struct text *text, const char *class, const struct page_weeks *all,
                               double line, const char *middle, const char *sentence)
{
    struct page_weeks weeks = { .count = 0 };
    size_t first = 0;
    while (first < all->count && isnan(all->weeks[first].value))
        first++;
    if (first + 1 >= all->count)
        return;
    if (first + WEEKS_AT_LEAST > all->count)
        first = all->count > WEEKS_AT_LEAST ? all->count - WEEKS_AT_LEAST : 0;
    for (size_t i = first; i < all->count; i++)
        weeks.weeks[weeks.count++] = all->weeks[i];
    text_format(text, "<figure role=\"img\" aria-label=\"%s\">", sentence);
    picture_add_weeks(text, class, &weeks, line);
    text_add(text, "<div class=\"axis\"><span>");
    overview_add_month(text, weeks.weeks[0].at, weeks.count > 26 ? "%b %Y" : "%d %b");
    text_format(text, "</span><span>%s</span><span>now</span></div></figure>", middle);
}

static void overview_add_fairness(struct text *text, const struct page_cluster *cluster)
{
    double highest = 0;
    struct text raw = { 0 }, words = { 0 }, sentence = { 0 };
    if (!cluster->any_usage || isnan(cluster->unfair))
        return;
    overview_add_number(text, "Fairness", amount_add_percent, cluster->unfair);
    text_add(text, "of recent usage went beyond a group's share. 0&nbsp;% is perfectly fair.</p>");
    for (size_t i = 0; i < cluster->unfair_weeks.count; i++)
        highest = fmax(highest, cluster->unfair_weeks.weeks[i].value);
    text_add(&raw, "highest ");
    overview_add_whole_percent(&raw, highest);
    page_add_html(&words, raw.bytes);
    text_format(&sentence, "Usage beyond shares in each week, %s", words.bytes);
    overview_add_weeks(text, "fo", &cluster->unfair_weeks, NAN, words.bytes, sentence.bytes);
    text_add(text, "</div>");
    text_free(&raw);
    text_free(&words);
    text_free(&sentence);
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
        text_add(text, " ");
        page_add_html(text, hours);
        text_add(text, " a day.</p>");
    } else {
        overview_add_number(text, "Use of the machine", amount_add, cluster->used_a_day);
        page_add_html(text, hours);
        text_add(text, " a day were used in the last 7&nbsp;days.</p>");
    }
    overview_add_weeks(text, "fu", &cluster->use_weeks, known ? cluster->capacity : NAN,
                       known ? "dashed: capacity" : "", "Mean usage of a day in each week");
    text_add(text, "</div>");
}

/* ---- Waiting jobs ---- */

static int overview_by_wait(const void *a, const void *b)
{
    const struct page_partition *one = *(const struct page_partition *const *)a;
    const struct page_partition *other = *(const struct page_partition *const *)b;
    if (one->median_s != other->median_s)
        return one->median_s < other->median_s ? 1 : -1;
    return (one > other) - (one < other);
}

/* Returns the length of a bar.  The scale is from an hour to a week, the longest known wait. */
static double overview_part(double wait, double most)
{
    double week = 7 * 86400, hour = 3600;
    return fmin(wait, week) / fmax(fmin(most, week), hour);
}

/* Adds the median waits of the partitions with the longest ones. */
static void overview_add_partitions(struct text *text, const struct page_cluster *cluster)
{
    const struct page_partition **list = memory_zeroed(cluster->partition_count + 1, sizeof *list);
    size_t count = 0;
    for (size_t i = 0; i < cluster->partition_count; i++)
        if (cluster->partitions[i].started && !isnan(cluster->partitions[i].median_s))
            list[count++] = &cluster->partitions[i];
    if (count) {
        qsort(list, count, sizeof *list, overview_by_wait);
        text_add(text, "<figure><table class=\"tight\"><caption class=\"vh\">Median wait by "
                       "partition</caption><tbody>");
    }
    for (size_t i = 0; i < count && i < PARTITIONS_SHOWN; i++) {
        text_add(text, "<tr><th scope=\"row\" class=\"name\">");
        page_add_html(text, list[i]->name);
        text_add(text, "</th><td class=\"bar\">");
        picture_add_bar(text, "f2", overview_part(list[i]->median_s, list[0]->median_s));
        text_add(text, "</td><td class=\"r\">");
        page_add_span(text, list[i]->median_s);
        text_add(text, "</td></tr>");
    }
    if (count)
        text_add(text, "</tbody></table></figure>");
    free(list);
}

static void overview_add_jobs_number(struct text *text, double jobs)
{
    amount_add_whole(text, (uint64_t)jobs);
    text_add(text, jobs == 1 ? " job" : " jobs");
}

static void overview_add_waiting(struct text *text, const struct page_cluster *cluster)
{
    size_t jobs = cluster->rows[0].jobs, stuck = cluster->cannot_start;
    bool started = cluster->started && !isnan(cluster->wait_s);
    if (started) {
        overview_add_number(text, "Waiting", page_add_raw_span, cluster->wait_s);
        text_add(text, "is the median wait of the ");
        page_add_count(text, cluster->started, "job that", "jobs that");
        text_add(text, " started in the last 7&nbsp;days. ");
        page_add_count(text, jobs, "job waits", "jobs wait");
        text_add(text, " now");
    } else {
        overview_add_number(text, "Waiting", overview_add_jobs_number, (double)jobs);
        text_add(text, jobs == 1 ? "waits now" : "wait now");
    }
    if (stuck) {
        text_add(text, "; ");
        amount_add_whole(text, stuck);
        text_add(text, " cannot start");
    }
    text_add(text, started ? ".</p>" : ". No job started in the last 7&nbsp;days.</p>");
    overview_add_partitions(text, cluster);
    text_add(text, "</div>");
}

void page_add_overview(struct text *text, const struct page_view *view)
{
    struct overview_groups groups = overview_find_groups(view->cluster);
    text_add(text, "<section id=\"");
    page_add_id(text, view, "overview");
    text_add(text, "\" class=\"card\" aria-labelledby=\"");
    page_add_id(text, view, "overview-title");
    text_add(text, "\"><h2 id=\"");
    page_add_id(text, view, "overview-title");
    text_add(text, "\" class=\"vh\">Overview</h2>");
    overview_add_lead(text, view->cluster, &groups);
    text_add(text, "<div class=\"three\">");
    if (groups.count > 1)
        overview_add_fairness(text, view->cluster);
    overview_add_use(text, view->cluster);
    overview_add_waiting(text, view->cluster);
    text_add(text, "</div></section>\n");
    free(groups.over);
    free(groups.under);
}

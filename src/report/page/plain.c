/* SPDX-License-Identifier: MIT */
#include "report/page/plain.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/page/backtest.h"
#include "report/page/escape.h"
#include "report/page/terms.h"
#include "report/page/view.h"
#include "report/page/waits.h"
#include "settings/scheduler.h"
#include "util/memory.h"
#include "util/text.h"

#define ACCOUNTS_AT_MOST 30u
#define USERS_AT_MOST 20u
#define BARS_AT_MOST 31u
#define JOBS_AT_MOST 12u
#define VARIANTS_AT_MOST 4u

/*
 * Mail programs might not support style sheets or pictures, but they support tables with widths and
 * colors.
 */
#define BAR_WIDTH 120
#define COLOR_USED "#2b7bba"
#define COLOR_SHARE "#8a95a1"
#define COLOR_OVER "#c2561a"

/* ---- Numbers, in the format of the page ---- */

static void add_percent(struct text *text, double part)
{
    double percent = part * 100;
    if (isnan(part))
        text_add(text, "–");
    else if (percent > 0 && percent < 0.01)
        text_add(text, "&lt; 0.01 %");
    else
        text_format(text, percent == 0 ? "%.0f %%" : percent < 10 ? "%.2f %%" : "%.1f %%", percent);
}

/* Adds a number such as 1.23K or 45.6M. */
static void add_compact(struct text *text, double number)
{
    static const char *const units[] = { "", "K", "M", "B", "T" };
    size_t unit = 0;
    if (isnan(number)) {
        text_add(text, "–");
        return;
    }
    while (fabs(number) >= 999.5 && unit + 1 < sizeof units / sizeof *units) {
        number /= 1000;
        unit++;
    }
    text_format(text, "%.3g%s", number, units[unit]);
}

static void add_amount(struct text *text, const struct page_view *view, double amount)
{
    add_compact(text, amount / page_unit_size(view->cluster));
}

static void plain_page_add_ratio(struct text *text, double ratio)
{
    if (isnan(ratio))
        text_add(text, "–");
    else if (isinf(ratio))
        text_add(text, "∞");
    else if (ratio > 0 && ratio < 0.001)
        text_add(text, "&lt; 0.001");
    else
        add_compact(text, ratio);
}

static void plain_page_add_time(struct text *text, int64_t at, const char *format)
{
    char shown[64];
    struct tm date;
    time_t time = (time_t)at;
    if (localtime_r(&time, &date) && strftime(shown, sizeof shown, format, &date))
        text_add(text, shown);
}

/* ---- Tables ---- */

static void plain_page_begin_table(struct text *text, const char *title)
{
    text_add(text, "<h3>");
    page_add_capital(text, title);
    text_add(text, "</h3>\n<table cellpadding=\"4\">\n<tr>");
}

static void plain_page_add_heading(struct text *text, const char *name, bool number)
{
    text_format(text, "<th%s>", number ? " align=\"right\"" : " align=\"left\"");
    page_add_capital(text, name);
    text_add(text, "</th>");
}

static void add_term(struct text *text, const struct page_view *view, enum page_term term)
{
    const char *name = page_term_name(view->cluster, term);
    if (name)
        plain_page_add_heading(text, name, true);
}

static void begin_number(struct text *text)
{
    text_add(text, "<td align=\"right\">");
}

static void plain_page_add_name(struct text *text, const char *name)
{
    text_add(text, "<td>");
    page_add_html(text, name);
    text_add(text, "</td>");
}

/* Adds a bar whose length is `part` of the full width. */
static void plain_page_add_bar(struct text *text, double part, const char *color)
{
    int width = isnan(part) || part <= 0 ? 0 : part >= 1 ? BAR_WIDTH : (int)ceil(part * BAR_WIDTH);
    if (!width)
        return;
    text_format(text,
                "<table width=\"%d\" cellpadding=\"0\" cellspacing=\"0\"><tr><td height=\"7\" "
                "bgcolor=\"%s\"></td></tr></table>",
                width, color);
}

static double used_of_whole(const struct page_view *view, double usage)
{
    double all = view->cluster->rows[0].usage;
    return all > 0 ? usage / all : NAN;
}

/* Adds two bars, one below the other: share and usage. */
static void add_bars(struct text *text, double share, double used, double most)
{
    text_add(text, "<td>");
    if (most > 0) {
        plain_page_add_bar(text, share / most, COLOR_SHARE);
        plain_page_add_bar(text, used / most, used > share ? COLOR_OVER : COLOR_USED);
    }
    text_add(text, "</td>");
}

/* ---- Accounts and users ---- */

struct plain_page_chosen {
    const struct page_row **rows;
    size_t count, left; /* number of shown rows, and of rows that are not shown */
    /* sums over the rows that are not shown: share of the cluster; decayed usage */
    double share, usage;
    double most; /* the largest share of the cluster or of its usage */
};

static int by_share(const void *a, const void *b)
{
    const struct page_row *one = *(const struct page_row *const *)a;
    const struct page_row *other = *(const struct page_row *const *)b;
    if (one->whole != other->whole)
        return one->whole > other->whole ? -1 : 1;
    return strcmp(one->account, other->account);
}

static int by_use(const void *a, const void *b)
{
    const struct page_row *one = *(const struct page_row *const *)a;
    const struct page_row *other = *(const struct page_row *const *)b;
    if (one->usage != other->usage)
        return one->usage > other->usage ? -1 : 1;
    return strcmp(one->user, other->user);
}

/*
 * Chooses the users below the top, or the accounts directly below it, including rows that are not
 * in the data.  The caller frees chosen->rows.
 */
static void plain_page_choose(struct plain_page_chosen *chosen, const struct page_view *view,
                              bool users)
{
    const struct page_cluster *cluster = view->cluster;
    *chosen = (struct plain_page_chosen){ .rows = memory_zeroed(cluster->row_count,
                                                                sizeof *chosen->rows) };
    for (size_t i = 0; i < cluster->row_count; i++) {
        const struct page_row *row = &cluster->rows[i];
        if (view->numbers[i] == PAGE_NOT_BELOW || i == view->top || users != (*row->user != '\0') ||
            (!users && row->parent != view->top))
            continue;
        chosen->rows[chosen->count++] = row;
        chosen->most = fmax(chosen->most, fmax(row->whole, used_of_whole(view, row->usage)));
    }
    size_t most = users ? USERS_AT_MOST : ACCOUNTS_AT_MOST;
    if (chosen->count)
        qsort(chosen->rows, chosen->count, sizeof *chosen->rows, users ? by_use : by_share);
    for (size_t i = most; i < chosen->count; i++) {
        chosen->share += isnan(chosen->rows[i]->whole) ? 0 : chosen->rows[i]->whole;
        chosen->usage += isnan(chosen->rows[i]->usage) ? 0 : chosen->rows[i]->usage;
    }
    chosen->left = chosen->count > most ? chosen->count - most : 0;
    chosen->count -= chosen->left;
}

static void plain_page_add_values(struct text *text, const struct page_view *view,
                                  const struct page_row *row)
{
    const struct page_cluster *cluster = view->cluster;
    begin_number(text);
    add_percent(text, row->level_share);
    text_add(text, "</td>");
    begin_number(text);
    add_percent(text, row->level_used);
    text_add(text, "</td>");
    begin_number(text);
    add_percent(text, page_term_name(cluster, TERM_SHARE) ? row->share : row->whole);
    text_add(text, "</td>");
    begin_number(text);
    add_percent(text, used_of_whole(view, row->usage));
    text_add(text, "</td>");
    if (page_term_name(cluster, TERM_LEVEL_FS)) {
        begin_number(text);
        plain_page_add_ratio(text, row->level_fs);
        text_add(text, "</td>");
    }
    begin_number(text);
    add_amount(text, view, row->spent);
    text_add(text, "</td>");
}

static void add_value_headings(struct text *text, const struct page_view *view)
{
    static const enum page_term shown[] = { TERM_LEVEL_SHARE, TERM_LEVEL_USED, TERM_WHOLE_SHARE,
                                            TERM_SHARE,       TERM_WHOLE_USED, TERM_LEVEL_FS };
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        add_term(text, view, shown[i]);
    struct text spent = { 0 };
    text_format(&spent, "%s, %s", page_term_name(view->cluster, TERM_SPENT),
                page_unit(view->cluster));
    plain_page_add_heading(text, spent.bytes, true);
    text_free(&spent);
}

/* Adds one row that sums up the rows that are not shown. */
static void plain_page_add_rest(struct text *text, const struct page_view *view,
                                const struct plain_page_chosen *chosen, bool users)
{
    if (!chosen->left)
        return;
    text_format(text, "<tr><td>%zu more</td>%s<td></td><td></td>", chosen->left,
                users ? "<td></td>" : "");
    text_add(text, "<td></td>");
    begin_number(text);
    add_percent(text, chosen->share);
    text_add(text, "</td>");
    begin_number(text);
    add_percent(text, used_of_whole(view, chosen->usage));
    text_add(text, "</td></tr>\n");
}

static void plain_page_add_accounts(struct text *text, const struct page_view *view)
{
    const struct terminology *terms = view->cluster->terms;
    struct plain_page_chosen chosen;
    plain_page_choose(&chosen, view, false);
    if (chosen.count) {
        struct text title = { 0 };
        text_format(&title, "%s: share and usage", terms->accounts);
        plain_page_begin_table(text, title.bytes);
        text_free(&title);
        plain_page_add_heading(text, terms->one_account, false);
        plain_page_add_heading(text, "share, usage", false);
        add_value_headings(text, view);
        text_add(text, "</tr>\n");
        for (size_t i = 0; i < chosen.count; i++) {
            const struct page_row *row = chosen.rows[i];
            text_add(text, "<tr>");
            plain_page_add_name(text, row->account);
            add_bars(text, row->whole, used_of_whole(view, row->usage), chosen.most);
            plain_page_add_values(text, view, row);
            text_add(text, "</tr>\n");
        }
        plain_page_add_rest(text, view, &chosen, false);
        text_add(text, "</table>\n");
    }
    free(chosen.rows);
}

static void plain_page_add_user(struct text *text, const struct page_view *view,
                                const struct page_row *row, double most)
{
    text_add(text, "<tr>");
    plain_page_add_name(text, row->user);
    plain_page_add_name(text, row->account);
    add_bars(text, row->whole, used_of_whole(view, row->usage), most);
    plain_page_add_values(text, view, row);
    if (isnan(row->factor))
        text_add(text, "<td align=\"right\">–</td>");
    else
        text_format(text, "<td align=\"right\">%.4f</td>", row->factor);
    if (row->place)
        text_format(text, "<td align=\"right\">%" PRIu32 " of %" PRIu32 "</td></tr>\n", row->place,
                    view->cluster->users);
    else
        text_add(text, "<td align=\"right\">–</td></tr>\n");
}

static void plain_page_add_users(struct text *text, const struct page_view *view)
{
    const struct terminology *terms = view->cluster->terms;
    struct plain_page_chosen chosen;
    if (view->cluster->accounts_only)
        return;
    plain_page_choose(&chosen, view, true);
    if (chosen.count) {
        struct text title = { 0 };
        text_format(&title, "%s with the most usage", terms->users);
        plain_page_begin_table(text, title.bytes);
        text_free(&title);
        plain_page_add_heading(text, terms->one_user, false);
        plain_page_add_heading(text, terms->one_account, false);
        plain_page_add_heading(text, "share, usage", false);
        add_value_headings(text, view);
        add_term(text, view, TERM_FACTOR);
        add_term(text, view, TERM_PLACE);
        text_add(text, "</tr>\n");
        for (size_t i = 0; i < chosen.count; i++)
            plain_page_add_user(text, view, chosen.rows[i], chosen.most);
        plain_page_add_rest(text, view, &chosen, true);
        text_add(text, "</table>\n");
    }
    free(chosen.rows);
}

/* ---- Days, the queue, terms ---- */

/* Returns the usage of the top on a day, in the unit of plain_page_unit(). */
static double plain_page_used(const struct page_view *view, size_t day, size_t series)
{
    const struct page_cluster *cluster = view->cluster;
    if (cluster->chosen_tres)
        return (double)page_tres_hours(cluster, day, series,
                                       (size_t)(cluster->chosen_tres - cluster->tres));
    return cluster->days.points[day].usage[series] / page_unit_size(cluster);
}

static const char *plain_page_unit(const struct page_cluster *cluster)
{
    return cluster->chosen_tres ? cluster->chosen_tres->unit : page_unit(cluster);
}

static void add_days(struct text *text, const struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    const struct page_points *days = &cluster->days;
    const size_t *series = page_view_top_series(view);
    double most = 0;
    if (!series || !days->count)
        return;
    size_t first = days->count > BARS_AT_MOST ? days->count - BARS_AT_MOST : 0;
    for (size_t i = first; i < days->count; i++)
        most = fmax(most, plain_page_used(view, i, *series));
    plain_page_begin_table(text, cluster->days_each == 1 ? "Usage by day" : "Usage by week");
    plain_page_add_heading(text, cluster->days_each == 1 ? "Day" : "Week of", false);
    plain_page_add_heading(text, plain_page_unit(cluster), true);
    bool known = !cluster->chosen_tres && !isnan(cluster->capacity);
    double capacity = cluster->capacity * cluster->days_each / page_unit_size(cluster);
    plain_page_add_heading(text, known ? "Share of capacity" : "", true);
    plain_page_add_heading(text, "", false);
    text_add(text, "</tr>\n");
    for (size_t i = first; i < days->count; i++) {
        double used = plain_page_used(view, i, *series);
        text_add(text, "<tr><td nowrap>");
        plain_page_add_time(text, days->points[i].at, "%Y-%m-%d");
        text_add(text, "</td><td align=\"right\">");
        add_compact(text, used);
        text_add(text, "</td><td align=\"right\">");
        if (known)
            add_percent(text, used / capacity);
        text_add(text, "</td><td>");
        plain_page_add_bar(text, most > 0 ? used / most : 0, COLOR_USED);
        text_add(text, "</td></tr>\n");
    }
    text_add(text, "</table>\n");
}

static void plain_page_add_queues(struct text *text, const char *title,
                                  const struct page_queues *queues)
{
    struct text above = { 0 };
    if (!queues->count)
        return;
    text_format(&above, "Pending jobs by %s", title);
    plain_page_begin_table(text, above.bytes);
    text_free(&above);
    plain_page_add_heading(text, title, false);
    plain_page_add_heading(text, "jobs", true);
    plain_page_add_heading(text, "", false);
    text_add(text, "</tr>\n");
    for (size_t i = 0; i < queues->count; i++) {
        text_add(text, "<tr>");
        plain_page_add_name(text, queues->queues[i].name ? queues->queues[i].name : "all others");
        text_format(text, "<td align=\"right\">%zu</td><td>", queues->queues[i].jobs);
        plain_page_add_bar(text, (double)queues->queues[i].jobs / (double)queues->queues[0].jobs,
                           COLOR_USED);
        text_add(text, "</td></tr>\n");
    }
    text_add(text, "</table>\n");
}

static void plain_page_add_uses(struct text *text, const char *title,
                                const struct page_cluster *cluster, const struct page_uses *uses)
{
    struct text above = { 0 };
    if (!uses->count)
        return;
    text_format(&above, "Decayed usage by %s", title);
    plain_page_begin_table(text, above.bytes);
    text_free(&above);
    plain_page_add_heading(text, title, false);
    plain_page_add_heading(text, page_unit(cluster), true);
    plain_page_add_heading(text, "", false);
    text_add(text, "</tr>\n");
    for (size_t i = 0; i < uses->count; i++) {
        text_add(text, "<tr>");
        plain_page_add_name(text, *uses->list[i].name ? uses->list[i].name : "none");
        text_format(text, "<td align=\"right\">%.4g</td><td>",
                    uses->list[i].usage / page_unit_size(cluster));
        plain_page_add_bar(text, uses->list[i].usage / uses->list[0].usage, COLOR_USED);
        text_add(text, "</td></tr>\n");
    }
    text_add(text, "</table>\n");
}

/* Adds the place with its pool, or the reason why the job cannot start. */
static void plain_page_add_place(struct text *text, const struct page_job *job)
{
    const char *note = job->place ? job->pool : job->detail;
    text_add(text, "<td>");
    if (job->place)
        text_format(text, "%" PRId64, job->place);
    else
        page_add_html(text, job->reason);
    if (*note) {
        text_add(text, job->place ? " in " : *job->reason ? ": " : "");
        page_add_html(text, note);
    }
    text_add(text, "</td>");
}

static void plain_page_add_job(struct text *text, const struct page_job *job, bool by_formula)
{
    text_add(text, "<tr><td>");
    if (job->job_id)
        page_add_html(text, job->job_id);
    else
        text_format(text, "%" PRId64, job->id);
    text_add(text, "</td>");
    plain_page_add_name(text, job->user);
    plain_page_add_name(text, job->account);
    plain_page_add_name(text, job->partition);
    plain_page_add_place(text, job);
    if (!by_formula) {
        plain_page_add_name(text, job->qos);
        text_format(text, "<td align=\"right\">%" PRId64 "</td>", job->priority);
    } else if (job->has_priority && !isnan(job->value)) {
        text_format(text, "<td align=\"right\">%.6g</td>", job->value);
    } else {
        text_add(text, "<td align=\"right\">–</td>");
    }
    text_add(text, "</tr>\n");
}

static void plain_page_add_jobs(struct text *text, const struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    const struct terminology *terms = cluster->terms;
    if (!view->top) {
        plain_page_add_uses(text, terms->partition, cluster, &cluster->by_partition);
        plain_page_add_uses(text, "QOS", cluster, &cluster->by_qos);
    }
    plain_page_add_queues(text, terms->partition, &view->partitions);
    if (!cluster->by_formula)
        plain_page_add_queues(text, "QOS", &view->qos);
    if (!view->job_count)
        return;
    plain_page_begin_table(text, view->job_total > JOBS_AT_MOST ? "The first pending jobs"
                                                                : "Pending jobs");
    plain_page_add_heading(text, "Job", false);
    plain_page_add_heading(text, terms->one_user, false);
    plain_page_add_heading(text, terms->one_account, false);
    plain_page_add_heading(text, terms->partition, false);
    plain_page_add_heading(text, "Place", false);
    if (!cluster->by_formula)
        plain_page_add_heading(text, "QOS", false);
    plain_page_add_heading(text, cluster->by_formula ? "Value" : "Priority", true);
    text_add(text, "</tr>\n");
    for (size_t i = 0; i < view->job_count && i < JOBS_AT_MOST; i++)
        plain_page_add_job(text, &cluster->jobs[view->jobs[i]], cluster->by_formula);
    text_add(text, "</table>\n");
}

static void plain_page_add_fairness(struct text *text, const struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    const struct page_fairness *last =
        cluster->fairness_count ? &cluster->fairness[cluster->fairness_count - 1] : NULL;
    if (view->top || !last || isnan(last->accounts))
        return;
    text_format(
        text,
        "<p>Fairness of usage: Jain's index is %.3g for the %s directly below the top; it is 1 if "
        "all have used the same part of their entitlement. %.3g %% of all usage exceeds the "
        "entitlement.</p>\n",
        last->accounts, cluster->terms->accounts, 100 * last->too_much);
}

/* ---- Other settings ---- */

static void add_variants(struct text *text, const struct page_backtest *backtest)
{
    plain_page_begin_table(text, "Other settings");
    plain_page_add_heading(text, "Settings", false);
    plain_page_add_heading(text, "Distance", true);
    plain_page_add_heading(text, "Discordant pairs", true);
    text_add(text, "</tr>\n");
    for (size_t i = 0; i < backtest->variant_count; i++) {
        text_add(text, "<tr>");
        plain_page_add_name(text, backtest->variants[i].settings);
        text_add(text, "<td align=\"right\">");
        add_percent(text, backtest->variants[i].distance);
        text_add(text, "</td><td align=\"right\">");
        add_percent(text, backtest->variants[i].turned);
        text_add(text, "</td></tr>\n");
    }
    text_add(text, "</table>\n");
    if (!backtest->since) {
        text_add(text, "<p>The backtest has no points.</p>\n");
        return;
    }
    text_add(text, "<p>From ");
    plain_page_add_time(text, backtest->since, "%Y-%m-%d");
    text_add(text, " to ");
    plain_page_add_time(text, backtest->until, "%Y-%m-%d");
    text_add(text,
             ". Distance is the part of usage that would have to change hands to match the shares. "
             "Discordant pairs would have changed places. Jobs are not scheduled again.</p>\n");
}

static void plain_page_add_trial(struct text *text, const struct page_view *view, size_t i,
                                 size_t variants)
{
    text_add(text, "<tr>");
    plain_page_add_name(text, page_view_row(view, view->trials[i].number)->account);
    text_add(text, "<td align=\"right\">");
    add_percent(text, view->trials[i].row->due);
    for (size_t k = 0; k < variants; k++) {
        text_add(text, "</td><td align=\"right\">");
        add_percent(text, view->trials[i].row->tried[k].use);
    }
    text_add(text, "</td></tr>\n");
}

static void plain_page_add_backtest(struct text *text, const struct page_view *view)
{
    const struct page_backtest *backtest = view->cluster->backtest;
    if (!backtest)
        return;
    size_t variants = backtest->variant_count, accounts = 0;
    variants = variants < VARIANTS_AT_MOST ? variants : VARIANTS_AT_MOST;
    add_variants(text, backtest);
    while (accounts < view->trial_count && accounts < ACCOUNTS_AT_MOST &&
           !*page_view_row(view, view->trials[accounts].number)->user)
        accounts++;
    if (!accounts)
        return;
    plain_page_begin_table(text, "Entitlement and decayed usage under these settings");
    plain_page_add_heading(text, view->cluster->terms->one_account, false);
    plain_page_add_heading(text, "Entitlement", true);
    for (size_t k = 0; k < variants; k++)
        plain_page_add_heading(text, backtest->variants[k].settings, true);
    text_add(text, "</tr>\n");
    for (size_t i = 0; i < accounts; i++)
        plain_page_add_trial(text, view, i, variants);
    text_add(text, "</table>\n");
}

static void plain_page_add_changes(struct text *text, const struct page_cluster *cluster)
{
    if (cluster->change_count)
        text_add(text, "<h3>Changes of settings</h3>\n<ul>\n");
    for (size_t i = 0; i < cluster->change_count; i++) {
        text_add(text, "<li>");
        plain_page_add_time(text, cluster->changes[i].at, "%Y-%m-%d %H:%M ");
        page_add_html(text, cluster->changes[i].words);
        text_add(text, "</li>\n");
    }
    if (cluster->change_count)
        text_add(text, "</ul>\n");
}

static void plain_page_add_terms(struct text *text, const struct page_cluster *cluster)
{
    text_add(text, "<h3>Terms</h3>\n<dl>\n");
    for (int term = 0; term < PAGE_TERMS; term++) {
        const char *name = page_term_name(cluster, (enum page_term)term);
        struct text sentence = { 0 };
        if (!name)
            continue;
        page_term_explain(&sentence, cluster, (enum page_term)term);
        text_add(text, "<dt>");
        page_add_html(text, name);
        text_add(text, "</dt><dd>");
        page_add_html(text, sentence.bytes);
        text_add(text, "</dd>\n");
        text_free(&sentence);
    }
    text_add(text, "</dl>\n");
}

/* Adds the time, the problems, the algorithm, and the numbers of users and jobs. */
static void plain_page_add_summary(struct text *text, const struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    const struct terminology *terms = cluster->terms;
    text_add(text, "<h2>Fair shares of ");
    if (view->top) {
        page_add_html(text, cluster->rows[view->top].account);
        text_add(text, " on ");
    }
    page_add_html(text, cluster->name);
    text_add(text, "</h2>\n<p>as of ");
    plain_page_add_time(text, cluster->as_of, "%Y-%m-%d %H:%M %Z");
    if (*cluster->problems) {
        text_add(text, " · ");
        page_add_html(text, cluster->problems);
    }
    text_format(text, " · %s", page_algorithm(cluster));
    if (!cluster->accounts_only)
        text_format(text, " · %" PRIu32 " %s", cluster->users,
                    cluster->users == 1 ? terms->user : terms->users);
    text_format(text, " · %zu pending job%s</p>\n", view->job_total,
                view->job_total == 1 ? "" : "s");
}

void page_plain_add(struct text *text, const struct page_view *view)
{
    plain_page_add_summary(text, view);
    plain_page_add_accounts(text, view);
    plain_page_add_users(text, view);
    add_days(text, view);
    plain_page_add_fairness(text, view);
    plain_page_add_backtest(text, view);
    page_waits_add_plain(text, view);
    plain_page_add_jobs(text, view);
    plain_page_add_changes(text, view->cluster);
    plain_page_add_terms(text, view->cluster);
}

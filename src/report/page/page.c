/* SPDX-License-Identifier: MIT */
#include "report/page/page.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fairshare/algorithm.h"
#include "report/page/backtest.h"
#include "report/page/escape.h"
#include "report/page/terms.h"
#include "report/page/view.h"
#include "report/page/waits.h"
#include "report/priorities.h"
#include "settings/scheduler.h"
#include "util/index.h"
#include "util/text.h"

/*
 * Adds a number with `digits` significant digits, in the shortest form that JSON has: 15e3 for
 * 1.500000e+04.  Infinity is -1, because no value of the page is negative.  NAN is null.
 */
static void page_add_number(struct text *text, double number, int digits)
{
    char scientific[40], plain[40], compact[80];
    if (isnan(number) || isinf(number)) {
        text_add(text, isnan(number) ? "null" : "-1");
        return;
    }
    snprintf(scientific, sizeof scientific, "%.*e", digits - 1, number);
    snprintf(plain, sizeof plain, "%.*g", digits, number);
    char *end = strchr(scientific, 'e');
    int exponent = (int)strtol(end + 1, NULL, 10), decimals = digits - 1;
    while (decimals && end[-1] == '0') {
        end--;
        decimals--;
    }
    *end = '\0';
    char *point = strchr(scientific, '.');
    if (point)
        memmove(point, point + 1, strlen(point));
    snprintf(compact, sizeof compact, "%se%d", scientific, exponent - decimals);
    text_add(text, strlen(compact) < strlen(plain) ? compact : plain);
}

static void page_add_field(struct text *text, const char *name, const char *value)
{
    text_format(text, "%s\"%s\":", text->bytes[text->length - 1] == '{' ? "" : ",", name);
    page_add_string(text, value);
}

static void add_comma(struct text *text, size_t i)
{
    if (i)
        text_add(text, ",");
}

/* ---- Rows: a list for each column ---- */

static double level_share_in(const struct page_row *row)
{
    return row->level_share;
}
static double level_used_in(const struct page_row *row)
{
    return row->level_used;
}
static double share_in(const struct page_row *row)
{
    return row->share;
}
static double used_in(const struct page_row *row)
{
    return row->used;
}
static double usage_in(const struct page_row *row)
{
    return row->usage;
}
static double spent_in(const struct page_row *row)
{
    return row->spent;
}
static double level_fs_in(const struct page_row *row)
{
    return row->level_fs;
}
static double factor_in(const struct page_row *row)
{
    return row->factor;
}
static double page_place_in(const struct page_row *row)
{
    return row->place;
}

/* The columns, with at least as many digits as the page shows. */
static const struct row_column {
    enum page_term term;
    double (*value)(const struct page_row *row);
    int digits;
} columns[] = {
    { TERM_LEVEL_SHARE, level_share_in, 4 },
    { TERM_LEVEL_USED, level_used_in, 4 },
    { TERM_SHARE, share_in, 4 },
    { TERM_USED, used_in, 4 },
    { TERM_USAGE, usage_in, 4 },
    { TERM_SPENT, spent_in, 4 },
    { TERM_LEVEL_FS, level_fs_in, 4 },
    { TERM_FACTOR, factor_in, 4 },
    { TERM_PLACE, page_place_in, 10 },
};

static void page_begin_list(struct text *text, const char *name, const char *bracket)
{
    text_format(text, ",\n\"%s\":%s", name, bracket);
}

static void page_add_columns(struct text *text, const struct page_view *view)
{
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        if (!page_term_name(view->cluster, columns[i].term))
            continue;
        page_begin_list(text, page_term_key(columns[i].term), "[");
        for (size_t row = 0; row < view->count; row++) {
            add_comma(text, row);
            page_add_number(text, columns[i].value(page_view_row(view, row)), columns[i].digits);
        }
        text_add(text, "]");
    }
}

/*
 * Writes each name once.  Later occurrences are the index of the name in the list of distinct
 * names.
 */
static void page_add_names(struct text *text, const struct page_view *view)
{
    struct names *names = names_create();
    page_begin_list(text, "names", "[");
    for (size_t i = 0; i < view->count; i++) {
        const struct page_row *row = page_view_row(view, i);
        const char *name = *row->user ? row->user : row->account;
        uint32_t count = names_count(names), number = names_add(names, name, strlen(name));
        add_comma(text, i);
        if (number < count)
            text_format(text, "%" PRIu32, number);
        else
            page_add_string(text, name);
    }
    text_add(text, "]");
    names_destroy(names);
}

static uint32_t page_parent_of(const struct page_view *view, size_t i)
{
    return i ? view->numbers[page_view_row(view, i)->parent] : 0;
}

/*
 * `kinds` has a letter for each row: `a` for an account, `u` for a user.  `parents` has the
 * difference between the number of a row's parent and that of the previous row's parent.
 */
static void add_tree(struct text *text, const struct page_view *view)
{
    page_begin_list(text, "kinds", "\"");
    for (size_t i = 0; i < view->count; i++)
        text_add(text, *page_view_row(view, i)->user ? "u" : "a");
    text_add(text, "\"");
    page_begin_list(text, "parents", "[");
    for (size_t i = 0; i < view->count; i++) {
        add_comma(text, i);
        text_format(text, "%" PRIu32,
                    i ? page_parent_of(view, i) - page_parent_of(view, i - 1) : 0);
    }
    text_add(text, "]");
    page_begin_list(text, "shares", "[");
    for (size_t i = 0; i < view->count; i++) {
        add_comma(text, i);
        text_format(text, "%" PRId64, page_view_row(view, i)->shares);
    }
    text_add(text, "]");
}

static void begin_exception(struct text *text, size_t row, bool *any)
{
    text_format(text, "%s\"%zu\":", *any ? "," : "", row);
    *any = true;
}

/*
 * Adds values that few rows have.  Adds the partition, if there is one.  Adds a user's account if
 * it is not the parent.  Adds the share of the cluster if it is not the product of the parent's
 * share and the share of level.  The top always has its share of the cluster.
 */
static void add_exceptions(struct text *text, const struct page_view *view)
{
    bool any = false;
    page_begin_list(text, "partitions", "{");
    for (size_t i = 0; i < view->count; i++)
        if (*page_view_row(view, i)->partition) {
            begin_exception(text, i, &any);
            page_add_string(text, page_view_row(view, i)->partition);
        }
    text_add(text, "}");
    page_begin_list(text, "accounts", "{");
    any = false;
    for (size_t i = 1; i < view->count; i++) {
        const struct page_row *row = page_view_row(view, i);
        if (!*row->user || !strcmp(row->account, view->cluster->rows[row->parent].account))
            continue;
        begin_exception(text, i, &any);
        page_add_string(text, row->account);
    }
    text_add(text, "}");
    page_begin_list(text, "wholeShare", "{");
    any = false;
    for (size_t i = 0; i < view->count; i++) {
        const struct page_row *row = page_view_row(view, i);
        double product = view->cluster->rows[row->parent].whole * row->level_share;
        if (i && fabs(product - row->whole) <= 1e-4 * fabs(row->whole))
            continue;
        begin_exception(text, i, &any);
        page_add_number(text, row->whole, 4);
    }
    text_add(text, "}");
}

/*
 * Sums over the children of a row that are not in the page: their number, shares, share of the
 * cluster, and decayed usage.
 */
static void add_rests(struct text *text, const struct page_view *view)
{
    page_begin_list(text, "rests", "{");
    for (size_t i = 0; i < view->rest_count; i++) {
        const struct page_rest *rest = &view->rests[i];
        text_format(text, "%s\"%" PRIu32 "\":[%" PRIu32 ",", i ? "," : "", rest->number,
                    rest->children);
        page_add_number(text, rest->shares, 10);
        text_add(text, ",");
        page_add_number(text, rest->share, 4);
        text_add(text, ",");
        page_add_number(text, rest->usage, 4);
        text_add(text, "]");
    }
    text_add(text, "}");
}

/* ---- History ---- */

static void add_times(struct text *text, const char *name, const struct page_points *points)
{
    page_begin_list(text, name, "{\"at\":[");
    for (size_t i = 0; i < points->count; i++) {
        add_comma(text, i);
        text_format(text, "%" PRId64, points->points[i].at);
    }
    text_add(text, "],\"rows\":{");
}

static const double *usage_at(const struct page_point *point)
{
    return point->usage;
}
static const double *factor_at(const struct page_point *point)
{
    return point->factor;
}
static const double *level_fs_at(const struct page_point *point)
{
    return point->level_fs;
}

static void page_add_line(struct text *text, const struct page_points *points, size_t series,
                          const double *(*values_at)(const struct page_point *), int digits)
{
    text_add(text, "[");
    for (size_t i = 0; i < points->count; i++) {
        add_comma(text, i);
        page_add_number(text, values_at(&points->points[i])[series], digits);
    }
    text_add(text, "]");
}

static void begin_series(struct text *text, const struct page_view *view, size_t i)
{
    text_format(text, "%s\"%" PRIu32 "\":", i ? ",\n" : "",
                view->numbers[view->cluster->series[view->series[i]]]);
}

/* Adds {"at": [times], "rows": {row: [values]}}. */
static void page_add_use(struct text *text, const struct page_view *view)
{
    const struct page_points *days = &view->cluster->days;
    add_times(text, "use", days);
    for (size_t i = 0; days->count && i < view->series_count; i++) {
        begin_series(text, view, i);
        page_add_line(text, days, view->series[i], usage_at, 3);
    }
    text_format(text, "},\"days\":%u,\"since\":%" PRId64 "}", view->cluster->days_each,
                view->cluster->days_since);
}

/* Adds the hours of a TRES on each day, or 0 if they are all 0. */
static void page_add_tres_line(struct text *text, const struct page_cluster *cluster, size_t series,
                               size_t tres)
{
    const struct page_points *days = &cluster->days;
    if (!page_has_tres(cluster, series, tres)) {
        text_add(text, "0");
        return;
    }
    for (size_t i = 0; i < days->count; i++) {
        text_add(text, i ? "," : "[");
        page_add_number(text, (double)page_tres_hours(cluster, i, series, tres), 3);
    }
    text_add(text, "]");
}

/* Adds {row: [hours]} for the accounts of the page.  Limits the number of accounts as
 * page_series_room() does. */
static void add_tres_rows(struct text *text, const struct page_view *view, size_t tres)
{
    size_t room = page_series_room(view->cluster->days.count * view->cluster->tres_count);
    bool any = false;
    text_add(text, "{");
    for (size_t i = 0; room && i < view->series_count; i++) {
        size_t series = view->series[i];
        uint32_t row = view->cluster->series[series];
        if (*view->cluster->rows[row].user)
            continue;
        begin_exception(text, view->numbers[row], &any);
        page_add_tres_line(text, view->cluster, series, tres);
        room--;
    }
    text_add(text, "}");
}

/*
 * Adds the TRES that the top used in the page's days, and the TRES that the page shows first, each
 * as {"name": name, "unit": unit, "rows": {row: [hours]}}.
 */
static void page_add_tres(struct text *text, const struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    const size_t *top = page_view_top_series(view);
    bool any = false;
    page_begin_list(text, "tres", "[");
    for (size_t i = 0; i < cluster->tres_count; i++) {
        const struct page_tres *tres = &cluster->tres[i];
        if (tres != cluster->chosen_tres && !(top && page_has_tres(cluster, *top, i)))
            continue;
        add_comma(text, any);
        any = true;
        text_add(text, "{");
        page_add_field(text, "name", tres->name);
        page_add_field(text, "unit", tres->unit);
        text_add(text, ",\"rows\":");
        add_tres_rows(text, view, i);
        text_add(text, "}");
    }
    text_add(text, "]");
    if (cluster->chosen_tres)
        page_add_field(text, "chosenTres", cluster->chosen_tres->name);
}

/* Like page_add_use(), but with three lists for each row. */
static void add_history(struct text *text, const struct page_view *view)
{
    const struct page_points *times = &view->cluster->times;
    add_times(text, "history", times);
    for (size_t i = 0; times->count && i < view->series_count; i++) {
        begin_series(text, view, i);
        text_add(text, "[");
        page_add_line(text, times, view->series[i], usage_at, 3);
        text_add(text, ",");
        page_add_line(text, times, view->series[i], factor_at, 4);
        text_add(text, ",");
        page_add_line(text, times, view->series[i], level_fs_at, 3);
        text_add(text, "]");
    }
    text_add(text, "}}");
}

static void add_next(struct text *text, double number, bool first)
{
    text_add(text, first ? "" : ",");
    page_add_number(text, number, 4);
}

/* Fairness is a property of the whole cluster, so the pages of accounts do not have it. */
static void page_add_fairness(struct text *text, const struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    size_t count = view->top ? 0 : cluster->fairness_count;
    page_begin_list(text, "fairness", "{\"at\":[");
    for (size_t i = 0; i < count; i++)
        text_format(text, "%s%" PRId64, i ? "," : "", cluster->fairness[i].at);
    text_add(text, "],\"accounts\":[");
    for (size_t i = 0; i < count; i++)
        add_next(text, cluster->fairness[i].accounts, !i);
    text_add(text, "],\"users\":[");
    for (size_t i = 0; i < count; i++)
        add_next(text, cluster->fairness[i].users, !i);
    text_add(text, "],\"tooMuch\":[");
    for (size_t i = 0; i < count; i++)
        add_next(text, cluster->fairness[i].too_much, !i);
    text_add(text, "]}");
}

/*
 * Adds [row, entitlement, and for each variant: usage, place, number of discordant users, partner].
 */
static void page_add_trial(struct text *text, const struct page_trial *trial, size_t variants)
{
    text_format(text, "[%" PRIu32, trial->number);
    add_next(text, trial->row->due, false);
    for (size_t i = 0; i < variants; i++) {
        const struct page_tried *tried = &trial->row->tried[i];
        add_next(text, tried->use, false);
        add_next(text, tried->place, false);
        add_next(text, tried->turned, false);
        if (tried->with_user && tried->with_account) {
            text_add(text, ",[");
            page_add_string(text, tried->with_user);
            text_add(text, ",");
            page_add_string(text, tried->with_account);
            text_add(text, "]");
        } else {
            text_add(text, ",null");
        }
    }
    text_add(text, "]");
}

static void page_add_backtest(struct text *text, const struct page_view *view)
{
    const struct page_backtest *backtest = view->cluster->backtest;
    if (!backtest)
        return;
    page_begin_list(text, "backtest", "");
    text_format(text, "{\"since\":%" PRId64 ",\"until\":%" PRId64 ",\"total\":%zu,\"settings\":[",
                backtest->since, backtest->until, view->trial_total);
    for (size_t i = 0; i < backtest->variant_count; i++) {
        const struct page_variant *variant = &backtest->variants[i];
        text_add(text, i ? ",[" : "[");
        page_add_string(text, variant->settings);
        text_format(text, ",%" PRId64, variant->points);
        add_next(text, variant->distance, false);
        add_next(text, variant->turned, false);
        text_add(text, "]");
    }
    text_add(text, "],\"rows\":[");
    for (size_t i = 0; i < view->trial_count; i++) {
        text_add(text, i ? ",\n" : "");
        page_add_trial(text, &view->trials[i], backtest->variant_count);
    }
    text_add(text, "]}");
}

static void page_add_changes(struct text *text, const struct page_cluster *cluster)
{
    page_begin_list(text, "changes", "[");
    for (size_t i = 0; i < cluster->change_count; i++) {
        text_format(text, "%s[%" PRId64 ",", i ? "," : "", cluster->changes[i].at);
        page_add_string(text, cluster->changes[i].words);
        text_add(text, "]");
    }
    text_add(text, "]");
}

/* ---- The queue ---- */

/* Returns the sum of a list such as cpu=1.50,mem=2.00. */
static double page_sum_of(const char *tres)
{
    double sum = 0;
    for (const char *at = tres; (at = strchr(at, '=')); at++)
        sum += strtod(at + 1, NULL);
    return sum;
}

static void page_add_formula(struct text *text, const struct page_job *job)
{
    const char *const texts[] = { job->why ? prio_why(job->why) : NULL, job->terms };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        text_add(text, ",");
        page_add_string(text, texts[i] ? texts[i] : "");
    }
    text_add(text, ",");
    page_add_number(text, job->value, 9);
    text_add(text, job->has_priority ? ",1" : ",0");
}

/* The id is empty if it is the number of the job. */
static void page_add_place(struct text *text, const struct page_job *job)
{
    const char *const texts[] = { job->pool, job->reason, job->detail, job->job_id };
    char number[24];
    snprintf(number, sizeof number, "%" PRId64, job->id);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        text_add(text, ",");
        page_add_string(text, texts[i] && strcmp(texts[i], number) != 0 ? texts[i] : "");
    }
}

static void page_add_job(struct text *text, const struct page_job *job, bool by_formula, bool first)
{
    const char *const names[] = { job->user, job->account, job->partition, job->qos };
    text_format(text, "%s[%" PRId64, first ? "" : ",\n", job->id);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        text_add(text, ",");
        page_add_string(text, names[i]);
    }
    text_format(text, ",%" PRId64, job->priority);
    for (size_t i = 0; i < PAGE_PARTS; i++) {
        text_add(text, ",");
        page_add_number(text, job->parts[i], 6);
    }
    text_add(text, ",");
    page_add_number(text, page_sum_of(job->tres), 6);
    text_format(text, ",%" PRId64 ",%" PRId64 ",%" PRId64, job->site, job->nice, job->place);
    page_add_place(text, job);
    if (by_formula)
        page_add_formula(text, job);
    text_add(text, "]");
}

static void page_add_queues(struct text *text, const char *name, const struct page_queues *queues)
{
    page_begin_list(text, name, "[");
    for (size_t i = 0; i < queues->count; i++) {
        text_add(text, i ? ",[" : "[");
        page_add_string(text, queues->queues[i].name ? queues->queues[i].name : "all others");
        text_format(text, ",%zu]", queues->queues[i].jobs);
    }
    text_add(text, "]");
}

/* Usage by partition or QOS is known for the whole cluster only, so the pages of accounts do not
 * have it. */
static void page_add_uses(struct text *text, const char *name, const struct page_uses *uses)
{
    if (!uses->count)
        return;
    page_begin_list(text, name, "[");
    for (size_t i = 0; i < uses->count; i++) {
        text_add(text, i ? ",[" : "[");
        page_add_string(text, *uses->list[i].name ? uses->list[i].name : "none");
        text_format(text, ",%.4g]", uses->list[i].usage);
    }
    text_add(text, "]");
}

static void page_add_jobs(struct text *text, const struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    if (!view->top) {
        page_add_uses(text, "useByPartition", &cluster->by_partition);
        page_add_uses(text, "useByQos", &cluster->by_qos);
    }
    page_add_queues(text, "waitingByPartition", &view->partitions);
    if (!cluster->by_formula)
        page_add_queues(text, "waitingByQos", &view->qos);
    text_format(text, ",\n\"waiting\":%zu,\"jobs\":[", view->job_total);
    for (size_t i = 0; i < view->job_count; i++)
        page_add_job(text, &cluster->jobs[view->jobs[i]], cluster->by_formula, !i);
    text_add(text, "]");
}

/* ---- The whole page ---- */

static void page_add_words(struct text *text, const struct page_cluster *cluster)
{
    const struct terminology *terms = cluster->terms;
    const char *const said[][2] = {
        { "user", terms->user },           { "users", terms->users },
        { "account", terms->account },     { "accounts", terms->accounts },
        { "partition", terms->partition }, { "unit", page_unit(cluster) },
    };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        text_format(text, "%s\"%s\":", i ? "," : "{", said[i][0]);
        page_add_string(text, said[i][1]);
    }
    text_format(text, ",\"seconds\":%.0f}", page_unit_size(cluster));
}

/* Adds {key: [name, sentence]}. */
static void page_add_terms(struct text *text, const struct page_cluster *cluster)
{
    bool any = false;
    page_begin_list(text, "terms", "{");
    for (int term = 0; term < PAGE_TERMS; term++) {
        const char *name = page_term_name(cluster, (enum page_term)term);
        struct text sentence = { 0 };
        if (!name)
            continue;
        page_term_explain(&sentence, cluster, (enum page_term)term);
        text_format(text, "%s\"%s\":[", any ? "," : "", page_term_key((enum page_term)term));
        page_add_string(text, name);
        text_add(text, ",");
        page_add_string(text, sentence.bytes);
        text_add(text, "]");
        text_free(&sentence);
        any = true;
    }
    text_add(text, "}");
}

/* Adds the ancestors of the top, the root first. */
static void add_path(struct text *text, const struct page_view *view)
{
    const struct page_row *rows = view->cluster->rows;
    uint32_t above[64];
    size_t count = 0;
    for (uint32_t at = view->top; at && count < sizeof above / sizeof *above;)
        above[count++] = at = rows[at].parent;
    page_begin_list(text, "above", "[");
    for (size_t i = count; i-- > 0;) {
        add_comma(text, i + 1 < count);
        page_add_string(text, rows[above[i]].account);
    }
    text_add(text, "]");
}

static void page_add_summary(struct text *text, const struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    page_add_field(text, "name", cluster->name);
    if (view->top)
        page_add_field(text, "account", cluster->rows[view->top].account);
    page_add_field(text, "algorithm", cluster->algorithm->name);
    page_add_field(text, "algorithmName", page_algorithm(cluster));
    page_add_field(text, "timeZone", cluster->time_zone);
    page_add_field(text, "problems", cluster->problems);
    text_add(text, ",\"words\":");
    page_add_words(text, cluster);
    if (cluster->by_formula)
        text_add(text, ",\"ofPbs\":true");
    text_format(text,
                ",\"asOf\":%" PRId64 ",\"halfLife\":%" PRId64 ",\"from\":%" PRId64
                ",\"to\":%" PRId64 ",\"users\":%" PRIu32 ",\"below\":%zu,\"allUsage\":",
                cluster->as_of, cluster->half_life, cluster->from, cluster->to, cluster->users,
                view->below);
    page_add_number(text, cluster->rows[0].usage, 6);
    text_add(text, ",\"capacity\":");
    page_add_number(text, cluster->capacity, 6);
}

void page_begin(struct text *text, const struct page_head *head)
{
    text_format(text, "{\"version\":\"" PACKAGE_VERSION "\",\"accountsOnly\":%s",
                head->accounts_only ? "true" : "false");
    if (head->home)
        page_add_field(text, "home", head->home);
    text_add(text, ",\"clusters\":[");
}

void page_add_view(struct text *text, const struct page_view *view, bool first)
{
    text_add(text, first ? "\n{" : ",\n{");
    page_add_summary(text, view);
    page_add_terms(text, view->cluster);
    add_path(text, view);
    page_add_names(text, view);
    add_tree(text, view);
    add_exceptions(text, view);
    page_add_columns(text, view);
    add_rests(text, view);
    page_add_use(text, view);
    page_add_tres(text, view);
    add_history(text, view);
    page_add_fairness(text, view);
    page_add_changes(text, view->cluster);
    page_add_backtest(text, view);
    page_waits_add(text, view);
    page_add_jobs(text, view);
    text_add(text, "}");
}

void page_end(struct text *text)
{
    text_add(text, "]}\n");
}

/* SPDX-License-Identifier: MIT */
#include "report/waits.h"

#include <math.h>
#include <stdlib.h>

#include <jansson.h>

#include "report/answer.h"
#include "settings/scheduler.h"
#include "util/index.h"
#include "util/text.h"
#include "util/times.h"

/* A row of the output. */
struct waits_line {
    const struct waits_row *row;
    int64_t jobs;
    bool is_total, has_periods;
    double median_s, p90_s, correlation;
};

/* ---- The columns ---- */

static void waits_get_period(const void *of, struct cell *cell)
{
    const struct waits_line *line = of;
    if (line->is_total)
        cell_text(cell, "total");
    else if (line->has_periods)
        cell_integer(cell, line->row->from);
}

static double waits_time_in(const struct waits_line *line, const struct cell *cell)
{
    return cell->column->index ? line->p90_s : line->median_s;
}

static void waits_get_time(const void *of, struct cell *cell)
{
    waits_add_time(cell_compose(cell), waits_time_in(of, cell));
}

/* For programs, the longest waiting time is the highest bound of a bucket. */
static int64_t waits_whole_seconds(double seconds)
{
    return isinf(seconds) ? WAIT_LONGEST_S : llround(seconds);
}

static void waits_get_seconds(const void *of, struct cell *cell)
{
    cell_integer(cell, waits_whole_seconds(waits_time_in(of, cell)));
}

#define ROW(member) MEMBER_BEHIND(struct waits_line, row, struct waits_row, member)
#define LINE(member) MEMBER(struct waits_line, member)
static const struct column columns[] = {
    CLUSTER_COLUMN,
    { "period", "Period", COLUMN_DAY, .get = waits_get_period, .hidden = ONLY_FOR_PEOPLE,
      .optional = true },
    { "from", "From", COLUMN_DAY, ROW(from), .hidden = NOT_FOR_PEOPLE },
    { "to", "To", COLUMN_DAY, ROW(to), .hidden = NOT_FOR_PEOPLE },
    { "account", "Account", COLUMN_TEXT, ROW(account), .optional = true },
    { "username", "User", COLUMN_TEXT, ROW(user), .optional = true },
    { "partition", "Partition", COLUMN_TEXT, ROW(partition), .optional = true },
    { "qos", "QOS", COLUMN_TEXT, ROW(qos), .optional = true },
    { "jobs", "Jobs", COLUMN_INTEGER, LINE(jobs) },
    { "median", "Median", COLUMN_TEXT, .get = waits_get_time, .hidden = ONLY_FOR_PEOPLE,
      .right = true },
    { "p90", "P90", COLUMN_TEXT, .get = waits_get_time, .index = 1, .hidden = ONLY_FOR_PEOPLE,
      .right = true },
    { "median_s", "MedianSeconds", COLUMN_INTEGER, .get = waits_get_seconds,
      .hidden = NOT_FOR_PEOPLE },
    { "p90_s", "P90Seconds", COLUMN_INTEGER, .get = waits_get_seconds, .index = 1,
      .hidden = NOT_FOR_PEOPLE },
    { "rank_correlation", "Correlation", COLUMN_REAL, LINE(correlation), .decimals = 2 },
    { .name = NULL },
};
const struct table_layout waits_layout = { columns, "waits", .by_cluster = true };

/* ---- Rows ---- */

void waits_list_free(struct waits_list *list)
{
    if (list->names)
        names_destroy(list->names);
    free(list->rows);
    *list = (struct waits_list){ 0 };
}

void waits_add_time(struct text *text, double seconds)
{
    if (isinf(seconds))
        text_add(text, ">7 d");
    else if (seconds < 60)
        text_add(text, "<1 min");
    else if (seconds < 5400)
        text_format(text, "%.0f min", seconds / 60);
    else if (seconds < 36000)
        text_format(text, "%.1f h", seconds / 3600);
    else if (seconds < 129600)
        text_format(text, "%.0f h", seconds / 3600);
    else
        text_format(text, "%.1f d", seconds / 86400);
}

/* Rounds to the two decimals of text output, so that the sentence agrees with the number. */
static double waits_shown_correlation(double correlation)
{
    return round(correlation * 100) / 100 + 0.0; /* the sum is never -0 */
}

void waits_add_relation(struct text *text, double correlation)
{
    static const char *const words[] = {
        [WAIT_RELATION_LESS] = "waited less",
        [WAIT_RELATION_NONE] = "did not wait less",
        [WAIT_RELATION_LONGER] = "waited longer",
    };
    double shown = waits_shown_correlation(correlation);
    enum wait_relation relation = wait_relation_of(shown);
    if (relation != WAIT_RELATION_UNKNOWN)
        text_format(text, "Jobs with a higher fairshare factor %s (rank correlation %.2f).",
                    words[relation], shown);
}

static struct waits_line waits_line_of(const struct waits_row *row, bool for_people)
{
    return (struct waits_line){
        .row = row,
        .correlation = for_people ? waits_shown_correlation(row->correlation) : row->correlation,
        .jobs = (int64_t)wait_counts_sum(&row->counts),
        .median_s = wait_quantile(&row->counts, 0.5),
        .p90_s = wait_quantile(&row->counts, 0.9),
    };
}

static json_t *waits_facts(const struct waits_view *view, const struct waits_line *total)
{
    return json_pack("{s:I, s:I, s:s, s:s?, s:I, s:I, s:I, s:o}", "from",
                     (json_int_t)total->row->from, "to", (json_int_t)total->row->to, "by", view->by,
                     "per", view->per, "jobs", (json_int_t)total->jobs, "median_s",
                     (json_int_t)waits_whole_seconds(total->median_s), "p90_s",
                     (json_int_t)waits_whole_seconds(total->p90_s), "rank_correlation",
                     form_json_real(total->correlation));
}

static void waits_add_lines(const struct waits_view *view, struct answer *answer)
{
    for (size_t i = 0; i < view->list->count; i++) {
        struct waits_line line = waits_line_of(&view->list->rows[i], answer_is_for_people(answer));
        line.has_periods = view->per != NULL;
        answer_row(answer, &line);
    }
}

void waits_add_answer(const struct waits_view *view, struct answer *answer)
{
    struct waits_line total = waits_line_of(&view->list->total, answer_is_for_people(answer));
    struct text relation = { 0 };
    answer_cluster(answer,
                   &(const struct table_cluster){
                       .name = view->cluster,
                       .facts = answer_wants_facts(answer) ? waits_facts(view, &total) : NULL,
                       .terms = view->terms,
                   });
    /* The end is the first second of the next day. */
    answer_say(answer, "Cluster %s, jobs that started from %s to %s\n", view->cluster,
               time_day_text(total.row->from).bytes, time_day_text(total.row->to - 1).bytes);
    waits_add_lines(view, answer);
    total.is_total = true;
    if (answer_is_for_people(answer) && view->list->count > 1)
        answer_row(answer, &total);
    answer_close(answer);
    waits_add_relation(&relation, total.row->correlation);
    if (relation.length)
        answer_say(answer, "\n%s\n", relation.bytes);
    text_free(&relation);
}

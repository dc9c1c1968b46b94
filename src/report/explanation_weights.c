/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "core/number/figure.h"
#include "core/usage/clock.h"
#include "core/insight/top_jobs.h"
#include "core/insight/daily_usage.h"
#include "report/explanation.h"
#include "report/forms.h"
#include "report/terminal.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

#define SIBLINGS_TOLD 10
#define DAYS_TOLD 10
#define USAGE_DIGITS 9
#define PART_DIGITS 6

/* The siblings of one, itself included, by what they used. */
struct siblings {
    uint32_t *nodes;
    uint32_t count;
};

static int by_usage(const void *a, const void *b, void *context)
{
    const struct tree *tree = context;
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    struct natural first = natural_of_wide(&tree->nodes[one].usage);
    struct natural second = natural_of_wide(&tree->nodes[other].usage);
    int order = natural_compare(&second, &first);
    return order ? order : (one > other) - (one < other);
}

/* A record whose association is gone has no user's name, and is not told of either. */
static bool is_told(const struct explained *explained, const char *user)
{
    return !explained->login || !strcmp(explained->login, user);
}

static struct siblings siblings_of(const struct explained *explained)
{
    const struct tree *tree = explained->input->tree;
    uint32_t one = explained->explanation->one;
    struct siblings siblings = { 0 };
    if (!one)
        return siblings;
    const struct node *above = &tree->nodes[tree->nodes[one].fairshare_parent];
    siblings.nodes = memory_zeroed(above->child_count, sizeof *siblings.nodes);
    for (uint32_t i = 0; i < above->child_count; i++) {
        uint32_t child = tree->children[above->first_child + i];
        const struct node *node = &tree->nodes[child];
        /* The children of a `parent` account are members themselves. */
        if ((node->is_user || !node_has_parent_shares(node)) &&
            (!node->is_user || is_told(explained, names_text(explained->names, node->user))))
            siblings.nodes[siblings.count++] = child;
    }
    qsort_r(siblings.nodes, siblings.count, sizeof *siblings.nodes, by_usage, (void *)tree);
    if (siblings.count > SIBLINGS_TOLD)
        siblings.count = SIBLINGS_TOLD;
    return siblings;
}

static const char *name_of(const struct explained *explained, uint32_t i)
{
    const struct node *node = &explained->input->tree->nodes[i];
    return names_text(explained->names, node->is_user ? node->user : node->account);
}

/* A cell to the right, or with a width below 0 to the left. */
static void add_cell(struct text *text, const struct text *cell, int width)
{
    int blanks = abs(width) - (int)utf8_width(cell->bytes);
    text_format(text, "%*s%s%*s ", width > 0 && blanks > 0 ? blanks : 0, "", cell->bytes,
                width < 0 && blanks > 0 ? blanks : 0, "");
}

static void end_line(struct text *text)
{
    while (text->bytes[text->length - 1] == ' ')
        text->length--;
    text_add(text, "\n");
}

static void add_number_cell(struct text *text, double number, int digits, int width)
{
    struct text cell = { 0 };
    text_add(&cell, "");
    text_add_figure(&cell, number, digits);
    add_cell(text, &cell, width);
    text_free(&cell);
}

static void add_text_cell(struct text *text, const char *word, int width)
{
    struct text cell = { 0 };
    text_add(&cell, "");
    text_add_printable(&cell, word);
    add_cell(text, &cell, width);
    text_free(&cell);
}

static void add_end(struct text *text, const struct top_job *record)
{
    char date[32] = "runs";
    time_t end = (time_t)record->end;
    struct tm day;
    if (end) {
        localtime_r(&end, &day);
        strftime(date, sizeof date, "%Y-%m-%d %H:%M", &day);
    }
    add_text_cell(text, date, -16);
}

static void add_jobs(struct text *text, const struct explained *explained,
                     const struct weights *weights)
{
    const struct top_jobs *top_jobs = weights->top_jobs;
    struct text line = { 0 };
    text_format(&line, "%s of %" PRIu64 " job records, as used and as decay has left it:",
                explained->login ? "Yours among the heaviest" : "The heaviest", top_jobs->seen);
    text_add(text, "\n");
    terminal_add_wrapped(text, line.bytes, 0);
    size_t start = text->length;
    text_format(text, "%10s %-16s %16s %16s %9s %s\n", "Job", "Ended", "Used", "Left", "Part",
                "User");
    terminal_paint(text, start, PAINT_HEADING);
    for (size_t i = 0; i < top_jobs->count; i++) {
        const struct top_job *record = &top_jobs->kept[i];
        if (!is_told(explained, weights->users[i]))
            continue;
        text_format(text, "%10" PRIu64 " ", record->id_job);
        add_end(text, record);
        add_number_cell(text, clock_usage(weights->plain, &record->used), USAGE_DIGITS, 16);
        add_number_cell(text, clock_usage(weights->clock, &record->left), USAGE_DIGITS, 16);
        add_number_cell(text, wide_quotient(&record->left, &top_jobs->left), PART_DIGITS, 9);
        add_text_cell(text, weights->users[i], -1);
        end_line(text);
    }
    line.length = 0;
    text_add(&line, "Left are ");
    text_add_figure(&line, clock_usage(weights->clock, &top_jobs->left), USAGE_DIGITS);
    text_add(&line, " TRES-seconds of all of them together; Part is of these.");
    terminal_add_wrapped(text, line.bytes, 0);
    text_free(&line);
    double published = explained->input->values[explained->explanation->one].usage_raw;
    if (clock_usage(weights->clock, &top_jobs->left) != published) {
        text_add(text, "The published usage is ");
        text_add_figure(text, published, USAGE_DIGITS);
        text_add(text, ".\n");
    }
}

static void add_days(struct text *text, const struct weights *weights)
{
    const struct daily_usage *days = weights->days;
    if (!days->count)
        return;
    text_format(text, "\nThe heaviest of %zu days:\n", days->count);
    size_t start = text->length;
    text_format(text, "%-10s %16s %16s %9s\n", "Day", "Used", "Left", "Part");
    terminal_paint(text, start, PAINT_HEADING);
    for (size_t i = 0; i < days->count && i < DAYS_TOLD; i++) {
        char date[32];
        time_t first = (time_t)days->days[i].first;
        struct tm day;
        localtime_r(&first, &day);
        strftime(date, sizeof date, "%Y-%m-%d", &day);
        add_text_cell(text, date, -10);
        add_number_cell(text, clock_usage(weights->plain, &days->days[i].used), USAGE_DIGITS, 16);
        add_number_cell(text, clock_usage(weights->clock, &days->days[i].left), USAGE_DIGITS, 16);
        add_number_cell(text, wide_quotient(&days->days[i].left, &weights->top_jobs->left),
                        PART_DIGITS, 9);
        end_line(text);
    }
}

static void add_siblings(struct text *text, const struct explained *explained)
{
    struct siblings siblings = siblings_of(explained);
    if (siblings.count)
        text_add(text, "\nThe siblings that used most:\n");
    size_t start = text->length;
    if (siblings.count)
        text_format(text, "%16s %9s %s\n", "Usage", "Part", "Name");
    terminal_paint(text, start, PAINT_HEADING);
    for (uint32_t i = 0; i < siblings.count; i++) {
        const struct values *values = &explained->input->values[siblings.nodes[i]];
        add_number_cell(text, values->usage_raw, USAGE_DIGITS, 16);
        add_number_cell(text, values->level_usage, PART_DIGITS, 9);
        add_text_cell(text, name_of(explained, siblings.nodes[i]), -1);
        end_line(text);
    }
    free(siblings.nodes);
}

void explanation_add_weights(struct text *text, const struct explained *explained,
                             const struct weights *weights)
{
    add_jobs(text, explained, weights);
    add_days(text, weights);
    add_siblings(text, explained);
}

void explanation_set_weights(json_t *json, const struct explained *explained,
                             const struct weights *weights)
{
    json_t *jobs = json_array(), *days = json_array(), *list = json_array();
    const struct top_jobs *top_jobs = weights->top_jobs;
    for (size_t i = 0; i < top_jobs->count; i++) {
        const struct top_job *record = &top_jobs->kept[i];
        if (!is_told(explained, weights->users[i]))
            continue;
        json_array_append_new(
            jobs,
            json_pack("{s:I, s:s, s:I, s:o, s:f, s:f}", "id_job", (json_int_t)record->id_job,
                      "user", weights->users[i], "time_start", (json_int_t)record->start,
                      "time_end", record->end ? json_integer((json_int_t)record->end) : json_null(),
                      "used", clock_usage(weights->plain, &record->used), "left",
                      clock_usage(weights->clock, &record->left)));
    }
    json_object_set_new(json, "jobs", jobs);
    for (size_t i = 0; i < weights->days->count && i < DAYS_TOLD; i++) {
        const struct usage_day *day = &weights->days->days[i];
        json_array_append_new(days, json_pack("{s:I, s:f, s:f}", "day", (json_int_t)day->first,
                                              "used", clock_usage(weights->plain, &day->used),
                                              "left", clock_usage(weights->clock, &day->left)));
    }
    json_object_set_new(json, "days", days);
    json_object_set_new(json, "job_records", json_integer((json_int_t)top_jobs->seen));
    json_object_set_new(json, "jobs_left", json_real(clock_usage(weights->clock, &top_jobs->left)));
    struct siblings siblings = siblings_of(explained);
    for (uint32_t i = 0; i < siblings.count; i++) {
        const struct node *node = &explained->input->tree->nodes[siblings.nodes[i]];
        const struct values *values = &explained->input->values[siblings.nodes[i]];
        json_array_append_new(list, json_pack("{s:I, s:s, s:s, s:o, s:o}", "id_assoc",
                                              (json_int_t)node->id, "account",
                                              names_text(explained->names, node->account), "user",
                                              names_text(explained->names, node->user), "usage_raw",
                                              form_json_real(values->usage_raw), "level_usage",
                                              form_json_real(values->level_usage)));
    }
    json_object_set_new(json, "siblings", list);
    free(siblings.nodes);
}

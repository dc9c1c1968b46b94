/* SPDX-License-Identifier: MIT */
#include "report/page/page.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/priorities.h"
#include "settings/words.h"
#include "util/index.h"
#include "util/text.h"

/* A JSON string.  In HTML only `<` can end a script element or begin a comment in it; and what of
 * U+2028 and U+2029 is a line's end to some is not printable. */
static void add_string(struct text *text, const char *name)
{
    struct text printable = { 0 };
    text_add_printable(&printable, name);
    text_add(text, "\"");
    for (const char *at = printable.length ? printable.bytes : ""; *at; at++) {
        if (*at == '"' || *at == '\\')
            text_add(text, "\\");
        if (*at == '<' || *at == '>' || *at == '&' || (unsigned char)*at < ' ')
            text_format(text, "\\u%04x", (unsigned)*at);
        else
            text_add_bytes(text, at, 1);
    }
    text_add(text, "\"");
    text_free(&printable);
}

/* Digits that are seen in a picture, and more of a factor, since places are made of them. */
static void add_real(struct text *text, double number, int digits)
{
    if (isnan(number))
        text_add(text, "null");
    else if (isinf(number))
        text_add(text, "-1"); /* no value of ours is below 0, and JSON has no infinity */
    else
        text_format(text, "%.*g", digits, number);
}

static void add_comma(struct text *text, size_t i)
{
    if (i)
        text_add(text, ",");
}

/* Each name once; rows say its number. */
static void add_names(struct text *text, const struct names *names)
{
    text_add(text, "[");
    for (uint32_t i = 0; i < names_count(names); i++) {
        add_comma(text, i);
        add_string(text, names_text(names, i));
    }
    text_add(text, "]");
}

static uint32_t number_of(struct names *names, const char *name)
{
    return names_add(names, name, strlen(name));
}

static void add_row(struct text *text, struct names *names, const struct page_cluster *cluster,
                    size_t i)
{
    const struct page_row *row = &cluster->rows[i];
    text_format(text, "%s[%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRId64 ",",
                i ? ",\n" : "", row->parent, number_of(names, row->account),
                number_of(names, row->user), number_of(names, row->partition), row->shares);
    add_real(text, row->share, 6);
    text_add(text, ",");
    add_real(text, row->usage, 6);
    text_add(text, ",");
    add_real(text, row->used, 6);
    text_add(text, ",");
    add_real(text, row->factor, 9);
    text_add(text, ",");
    add_real(text, row->level_fs, 6);
    text_format(text, ",%" PRIu32 "]", row->order);
}

static void add_times(struct text *text, const struct page_points *points)
{
    text_add(text, "{\"at\":[");
    for (size_t i = 0; i < points->count; i++) {
        add_comma(text, i);
        text_format(text, "%" PRId64, points->points[i].at);
    }
    text_add(text, "],\"rows\":{");
}

static const double *usage_in(const struct page_point *point)
{
    return point->usage;
}
static const double *factor_in(const struct page_point *point)
{
    return point->factor;
}
static const double *level_fs_in(const struct page_point *point)
{
    return point->level_fs;
}

static void add_line(struct text *text, const struct page_points *points, size_t series,
                     const double *(*values_in)(const struct page_point *), int digits)
{
    text_add(text, "[");
    for (size_t i = 0; i < points->count; i++) {
        add_comma(text, i);
        add_real(text, values_in(&points->points[i])[series], digits);
    }
    text_add(text, "]");
}

/* {"at": [times], "rows": {row: [values]}}, of instants three lists a row. */
static void add_points(struct text *text, const struct page_cluster *cluster,
                       const struct page_points *points, bool days)
{
    add_times(text, points);
    for (size_t i = 0; points->count && i < cluster->series_count; i++) {
        text_format(text, "%s\"%" PRIu32 "\":%s", i ? ",\n" : "", cluster->series[i],
                    days ? "" : "[");
        add_line(text, points, i, usage_in, 4);
        if (days)
            continue;
        text_add(text, ",");
        add_line(text, points, i, factor_in, 4);
        text_add(text, ",");
        add_line(text, points, i, level_fs_in, 4);
        text_add(text, "]");
    }
    text_add(text, "}}");
}

/* What TRES give is one number here: cpu=1.50,mem=2.00. */
static double sum_of(const char *tres)
{
    double sum = 0;
    for (const char *at = tres; (at = strchr(at, '=')); at++)
        sum += strtod(at + 1, NULL);
    return sum;
}

static void add_formula(struct text *text, const struct page_job *job)
{
    const char *const texts[] = { job->job_id, job->why ? prio_why(job->why) : NULL, job->terms };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        text_add(text, ",");
        add_string(text, texts[i] ? texts[i] : "");
    }
    text_add(text, ",");
    add_real(text, job->value, 9);
    text_add(text, job->has_priority ? ",1" : ",0");
}

static void add_job(struct text *text, const struct page_job *job, bool of_pbs, bool first)
{
    const char *const names[] = { job->user, job->account, job->partition, job->qos };
    text_format(text, "%s[%" PRId64, first ? "" : ",\n", job->id);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        text_add(text, ",");
        add_string(text, names[i]);
    }
    text_format(text, ",%" PRId64, job->priority);
    for (size_t i = 0; i < PAGE_PARTS; i++) {
        text_add(text, ",");
        add_real(text, job->parts[i], 6);
    }
    text_add(text, ",");
    add_real(text, sum_of(job->tres), 6);
    text_format(text, ",%" PRId64 ",%" PRId64, job->site, job->nice);
    if (of_pbs)
        add_formula(text, job);
    text_add(text, "]");
}

static void add_words(struct text *text, const struct page_cluster *cluster)
{
    const struct words *words = cluster->words;
    const char *const said[][2] = {
        { "user", words->user },           { "users", words->users },
        { "account", words->account },     { "accounts", words->accounts },
        { "partition", words->partition }, { "unit", cluster->unit ? cluster->unit : "TRES-hours" },
    };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        text_format(text, "%s\"%s\":", i ? "," : "{", said[i][0]);
        add_string(text, said[i][1]);
    }
    text_format(text, ",\"seconds\":%d}", cluster->unit ? 1 : 3600);
}

void page_begin(struct text *text, uint64_t days, bool accounts_only)
{
    text_format(text,
                "{\"version\":\"" PACKAGE_VERSION "\",\"days\":%" PRIu64 ",\"accountsOnly\":%s"
                ",\"clusters\":[",
                days, accounts_only ? "true" : "false");
}

void page_add_cluster(struct text *text, const struct page_cluster *cluster, bool first)
{
    struct names *names = names_create();
    number_of(names, ""); /* 0 is no user, and no partition */
    text_add(text, first ? "\n{\"name\":" : ",\n{\"name\":");
    add_string(text, cluster->name);
    text_add(text, ",\"algorithm\":");
    add_string(text, cluster->algorithm);
    text_add(text, ",\"timeZone\":");
    add_string(text, cluster->time_zone);
    text_add(text, ",\"words\":");
    add_words(text, cluster);
    if (cluster->of_pbs)
        text_add(text, ",\"ofPbs\":true");
    text_add(text, ",\"problems\":");
    add_string(text, cluster->problems);
    text_format(text, ",\"asOf\":%" PRId64 ",\"halfLife\":%" PRId64 ",\"rows\":[\n", cluster->as_of,
                cluster->half_life);
    for (size_t i = 0; i < cluster->row_count; i++)
        add_row(text, names, cluster, i);
    text_add(text, "],\n\"names\":");
    add_names(text, names);
    text_add(text, ",\n\"use\":");
    add_points(text, cluster, &cluster->days, true);
    text_add(text, ",\n\"history\":");
    add_points(text, cluster, &cluster->instants, false);
    text_format(text, ",\n\"waiting\":%zu,\"jobs\":[", cluster->job_total);
    for (size_t i = 0; i < cluster->job_count; i++)
        add_job(text, &cluster->jobs[i], cluster->of_pbs, !i);
    text_add(text, "]}");
    names_destroy(names);
}

void page_end(struct text *text)
{
    text_add(text, "]}\n");
}

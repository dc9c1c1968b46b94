/* SPDX-License-Identifier: MIT */
#include "command/status/limits.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/finding.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"

/* The numeric values of each cluster, in addition to its findings by kind. */
static const struct figure {
    const char *name, *unit; /* name and unit for monitoring systems */
    bool always;             /* also printed if it has no limit */
} figures[] = {
    { "age", "s", true },
    { "findings", "", true },
    { "lag", "s", true },
    { "drift", "", false },
};
enum { AGE, FINDINGS, LAG, DRIFT, FIGURES };

/* Returns NAN if the value is unknown. */
static double status_limits_value_of(const char *name, const struct cluster_health *cluster)
{
    if (!strcmp(name, figures[AGE].name))
        return cluster->published ? (double)cluster->age : NAN;
    if (!strcmp(name, figures[FINDINGS].name))
        return (double)cluster->findings;
    if (!strcmp(name, figures[LAG].name))
        return cluster->lag < 0 ? NAN : (double)cluster->lag;
    if (!strcmp(name, figures[DRIFT].name))
        return cluster->drift;
    return (double)health_count(cluster, name);
}

static bool exceeds(const struct limit *limit, const struct cluster_health *cluster)
{
    double value = status_limits_value_of(limit->name, cluster);
    bool within = value >= limit->start && value <= limit->end;
    return !isnan(value) && within == limit->inside;
}

enum health_level limits_judge(const struct limits *limits, const struct cluster_health *cluster,
                               struct text *words)
{
    enum health_level level = cluster->level;
    health_add_words(words, cluster);
    for (size_t i = 0; i < limits->count; i++) {
        const struct limit *limit = &limits->limits[i];
        if (!exceeds(limit, cluster))
            continue;
        if (limit->level > level)
            level = limit->level;
        const char *between = words->length ? ", " : "";
        bool too_old = isinf(limit->start) && !strcmp(limit->name, figures[AGE].name);
        if (too_old)
            text_format(words, "%solder than %s", between, limit->range);
        else
            text_format(words, "%s%s %s %s", between, limit->name,
                        limit->inside ? "within" : "outside", limit->range + limit->inside);
    }
    return level;
}

/* ---- Options ---- */

static int status_limits_refuse(const char *given, const char *reason, struct error *err)
{
    return fail(err, ERROR_USAGE, "limit '%s': %s", given, reason);
}

static bool is_known(const char *name)
{
    for (int i = 0; i < FIGURES; i++)
        if (!strcmp(name, figures[i].name))
            return true;
    for (enum finding_kind kind = 0; kind < FINDING_KINDS; kind++)
        if (!strcmp(name, finding_name(kind)))
            return true;
    return false;
}

static bool number_in(const char *bytes, size_t length, double *number)
{
    char *text = memory_bytes(bytes, length);
    bool negative = *text == '-';
    uint64_t seconds;
    bool good = duration_parse(text + negative, &seconds);
    *number = good ? (negative ? -1 : 1) * (double)seconds : NAN;
    free(text);
    return good;
}

/* Parses [@][START:][END]. */
static bool range_in(const char *text, struct limit *limit)
{
    limit->inside = *text == '@';
    text += limit->inside;
    const char *colon = strchr(text, ':');
    const char *end = colon ? colon + 1 : text;
    limit->start = 0;
    limit->end = INFINITY;
    if (colon && colon == text + 1 && *text == '~')
        limit->start = -INFINITY;
    else if (colon && colon > text && !number_in(text, (size_t)(colon - text), &limit->start))
        return false;
    if (*end ? !number_in(end, strlen(end), &limit->end) : !colon)
        return false;
    return limit->start <= limit->end;
}

static struct limit *status_limits_add(struct limits *limits, enum health_level level, char *name,
                                       const char *range)
{
    struct limit *limit = memory_append(&limits->limits, &limits->count);
    *limit = (struct limit){ .name = name, .range = range, .level = level };
    return limit;
}

/* Allows a negative age: clocks differ a little, and results from the future are a separate
 * problem. */
static void ignore_future(struct limit *limit)
{
    if (!strcmp(limit->name, figures[AGE].name) && limit->start == 0 && !limit->inside)
        limit->start = -INFINITY;
}

int limits_read(struct limits *limits, const struct name_list *given, enum health_level level,
                struct error *err)
{
    for (size_t i = 0; i < given->count; i++) {
        const char *text = given->values[i], *sign = strchr(text, '=');
        if (!sign)
            return status_limits_refuse(text, "must be NAME=RANGE", err);
        struct limit *limit =
            status_limits_add(limits, level, memory_bytes(text, (size_t)(sign - text)), sign + 1);
        if (!is_known(limit->name))
            return status_limits_refuse(
                text, "NAME must be age, findings, lag, drift or a kind of finding", err);
        if (!range_in(sign + 1, limit))
            return status_limits_refuse(text,
                                        "RANGE must be [@][START:][END] with numbers; for times, "
                                        "each with a unit (s, m, h, d or w)",
                                        err);
        ignore_future(limit);
    }
    return 0;
}

void limits_add_age(struct limits *limits, uint64_t seconds, const char *text)
{
    struct limit *limit =
        status_limits_add(limits, HEALTH_CRITICAL, memory_text(figures[AGE].name), text);
    limit->end = (double)seconds;
    ignore_future(limit);
}

void limits_free(struct limits *limits)
{
    for (size_t i = 0; i < limits->count; i++)
        free(limits->limits[i].name);
    free(limits->limits);
    *limits = (struct limits){ 0 };
}

/* ---- Values ---- */

bool limits_has(const struct limits *limits, const char *name)
{
    for (size_t i = 0; i < limits->count; i++)
        if (!strcmp(limits->limits[i].name, name))
            return true;
    return false;
}

void limits_add_name(struct text *text, const char *ends, const char *name)
{
    struct text printable = { 0 };
    text_add_printable(&printable, name);
    for (const char *at = printable.bytes; at && *at; at++)
        if (strchr(ends, *at))
            text_format(text, "\\x%02X", (unsigned)*at);
        else
            text_add_bytes(text, at, 1);
    text_free(&printable);
}

/* Adds the last limit of this level in the format of monitoring plugins: numbers without units. */
static void add_range(struct text *text, const struct limits *limits, const char *name,
                      enum health_level level)
{
    const struct limit *found = NULL;
    for (size_t i = 0; i < limits->count; i++)
        if (limits->limits[i].level == level && !strcmp(limits->limits[i].name, name))
            found = &limits->limits[i];
    text_add(text, ";");
    if (!found)
        return;
    text_add(text, found->inside ? "@" : "");
    if (isinf(found->start) && strcmp(name, figures[AGE].name) != 0)
        text_add(text, "~:");
    else if (!isinf(found->start) && found->start != 0)
        text_format(text, "%.0f:", found->start);
    if (!isinf(found->end))
        text_format(text, "%.0f", found->end);
}

static void add_figure(struct text *text, const struct limits *limits,
                       const struct cluster_health *cluster, const struct figure *figure)
{
    double value = status_limits_value_of(figure->name, cluster);
    text_add(text, " '");
    limits_add_name(text, "|'=", cluster->cluster);
    text_format(text, " %s'=", figure->name);
    if (isnan(value))
        text_add(text, "U");
    else
        text_format(text, "%.15g%s", value, figure->unit);
    add_range(text, limits, figure->name, HEALTH_WARNING);
    add_range(text, limits, figure->name, HEALTH_CRITICAL);
}

void limits_add_figures(struct text *text, const struct limits *limits,
                        const struct cluster_health *cluster)
{
    for (int i = 0; i < FIGURES; i++)
        if (figures[i].always || limits_has(limits, figures[i].name))
            add_figure(text, limits, cluster, &figures[i]);
    for (enum finding_kind kind = 0; kind < FINDING_KINDS; kind++)
        if (limits_has(limits, finding_name(kind)))
            add_figure(text, limits, cluster, &(struct figure){ finding_name(kind), "", false });
}

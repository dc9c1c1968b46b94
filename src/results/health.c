/* SPDX-License-Identifier: MIT */
#include "results/health.h"

#include <stdlib.h>
#include <string.h>

#include "core/finding.h"
#include "db/db.h"
#include "report/column.h"
#include "report/permissions.h"
#include "results/schema.h"
#include "settings/settings.h"
#include "sql.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

static const struct {
    const char *name, *words;
    enum health_level level;
} problems[HEALTH_PROBLEMS] = {
    [HEALTH_NEVER_PUBLISHED] = { "never_published", "never published", HEALTH_CRITICAL },
    [HEALTH_IN_FUTURE] = { "in_future", "published in the future", HEALTH_CRITICAL },
    [HEALTH_STALE] = { "stale", "stale results", HEALTH_CRITICAL },
    [HEALTH_UNREADABLE] = { "unreadable", "readers do not see all rows", HEALTH_CRITICAL },
    [HEALTH_UNRECORDED] = { "unrecorded", "a run failed and could not be recorded",
                            HEALTH_WARNING },
    [HEALTH_LAST_RUN_FAILED] = { "last_run_failed", "last run failed", HEALTH_WARNING },
    [HEALTH_VANISHED] = { "vanished", "missing from the accounting database", HEALTH_WARNING },
    [HEALTH_CLOCK] = { "clock", "last run began in the future", HEALTH_WARNING },
};

const char *health_problem_name(enum health_problem problem)
{
    return problems[problem].name;
}

const char *health_level_name(enum health_level level)
{
    static const char *const names[] = { "ok", "warning", "critical" };
    return names[level];
}

/* The columns of sql_query_health. */
enum {
    CLUSTER,
    RUN_ID,
    SOURCE,
    AS_OF,
    DURATION,
    LAG,
    ASSOCIATIONS,
    LAST_RUN_ID,
    LAST_STATUS,
    LAST_AS_OF,
    LAST_STARTED,
    LAST_MESSAGE,
    LAST_SETTINGS,
    COMPARED_AT,
    DRIFT,
    DRIFTED,
    USER,
    LAST_USER
};
#define HEALTH_TYPES "titiiiiitiittiritt"

/*
 * Returns true if a cluster was retired (its row of fairmill_lock has an empty source) and no run
 * has been recorded since.
 */
static bool is_retired(const struct db_value *row)
{
    int64_t fence = db_value_integer(&row[RUN_ID], 0);
    return fence > 0 && !row[SOURCE].text.length && db_value_integer(&row[LAST_RUN_ID], 0) <= fence;
}

static void health_take_user(struct health *health, const struct db_value *name)
{
    char *user = db_value_text(name);
    run_users_add(&health->users, user);
    free(user);
}

static void health_take_cluster(struct health *health, const struct db_value *row)
{
    if (is_retired(row))
        return;
    struct cluster_health *added = memory_append(&health->clusters, &health->count);
    *added = (struct cluster_health){
        .cluster = db_value_text(&row[CLUSTER]),
        .published = row[AS_OF].type == DB_INTEGER,
        .as_of = db_value_integer(&row[AS_OF], 0),
        .age = health->now - db_value_integer(&row[AS_OF], health->now),
        .duration_ms = db_value_integer(&row[DURATION], 0),
        .lag = db_value_integer(&row[LAG], -1),
        .associations = db_value_integer(&row[ASSOCIATIONS], 0),
        .status = db_value_text(&row[LAST_STATUS]),
        .message = db_value_text(&row[LAST_MESSAGE]),
        .settings_digest = db_value_text(&row[LAST_SETTINGS]),
        .attempt_as_of = db_value_integer(&row[LAST_AS_OF], 0),
        .started_at = db_value_integer(&row[LAST_STARTED], 0),
        .compared_at = db_value_integer(&row[COMPARED_AT], 0),
        .drift = db_value_real(&row[DRIFT]),
        .drifted = db_value_integer(&row[DRIFTED], 0),
    };
    added->failed = !strcmp(added->status, "failed");
    health_take_user(health, &row[USER]);
    health_take_user(health, &row[LAST_USER]);
}

static void take_findings(struct health *health, const struct db_value *row)
{
    char *name = db_value_text(&row[0]);
    struct cluster_health *cluster = (struct cluster_health *)health_of(health, name);
    free(name);
    if (!cluster)
        return;
    *memory_append(&cluster->kinds, &cluster->kind_count) =
        (struct finding_count){ db_value_text(&row[1]), row[2].integer };
    cluster->findings += row[2].integer;
}

static void take_failure(struct health *health, const struct db_value *row)
{
    free(health->failure);
    health->failure = db_value_text(&row[0]);
}

/* Calls `take` for each row of a query. */
static int health_for_each(struct health *health, struct db_rows *rows,
                           void (*take)(struct health *, const struct db_value *),
                           struct error *err)
{
    const struct db_value *row;
    while (db_fetch(rows, &row, err) > 0)
        take(health, row);
    return db_finish(rows);
}

/* The minimum age of stale results in seconds, and the number of intervals for the median. */
#define STALE_AT_LEAST_S 900
#define INTERVALS 10

static int compare_integers(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Sets `*twice` to twice the median of the last intervals between published runs, or to 0. */
static int health_read_intervals(struct db *db, const char *cluster, int64_t *twice,
                                 struct error *err)
{
    const struct db_value *row, argument = db_text(cluster);
    struct db_rows *rows = db_query(db, sql_query_run_instants, &argument, 1, "i", err);
    int64_t intervals[INTERVALS], later = 0;
    size_t count = 0;
    for (bool first = true; db_fetch(rows, &row, err) > 0; first = false) {
        if (!first && count < INTERVALS)
            intervals[count++] = llabs(later - row[0].integer);
        later = row[0].integer;
    }
    if (db_finish(rows))
        return -1;
    if (count)
        qsort(intervals, count, sizeof *intervals, compare_integers);
    *twice = count ? intervals[(count - 1) / 2] + intervals[count / 2] : 0;
    return 0;
}

static int64_t health_limit_of(int64_t twice)
{
    int64_t limit = 3 * twice / 2;
    return limit > STALE_AT_LEAST_S ? limit : STALE_AT_LEAST_S;
}

int health_stale_after(struct db *db, const char *cluster, int64_t *seconds, struct error *err)
{
    int64_t twice = 0;
    int result = health_read_intervals(db, cluster, &twice, err);
    *seconds = health_limit_of(twice);
    return result;
}

int health_add_age_warning(struct db *db, const char *cluster, int64_t as_of, struct text *text,
                           struct error *err)
{
    int64_t age = clock_now() - as_of, limit;
    if (health_stale_after(db, cluster, &limit, err))
        return -1;
    if (age <= limit)
        return 0;
    text_format(text, "the results of cluster '%s' are stale: ", cluster);
    text_add_duration(text, age);
    text_add(text, " old");
    return 0;
}

static void set_level(struct cluster_health *cluster)
{
    cluster->level = HEALTH_OK;
    for (int i = 0; i < HEALTH_PROBLEMS; i++)
        if (cluster->problems[i] && problems[i].level > cluster->level)
            cluster->level = problems[i].level;
}

void health_ignore(struct cluster_health *cluster, enum health_problem problem)
{
    cluster->problems[problem] = false;
    set_level(cluster);
}

static void health_judge(struct cluster_health *cluster, const struct health *health)
{
    bool *has = cluster->problems;
    int64_t now = health->now, marked = health->mark.at;
    cluster->unrecorded_status = health->mark.status;
    has[HEALTH_STALE] = cluster->published && cluster->age > cluster->stale_after;
    /* Ignore a mark from the future, because a clock was ahead. */
    has[HEALTH_UNRECORDED] =
        marked >= cluster->started_at && marked <= now + HEALTH_CLOCK_SKEW_S && marked > 0;
    has[HEALTH_NEVER_PUBLISHED] = !cluster->published;
    has[HEALTH_IN_FUTURE] = cluster->published && cluster->age < -HEALTH_CLOCK_SKEW_S;
    has[HEALTH_LAST_RUN_FAILED] = cluster->failed;
    has[HEALTH_VANISHED] = health_count(cluster, finding_name(FINDING_CLUSTER_VANISHED)) > 0;
    has[HEALTH_CLOCK] = cluster->started_at > now + HEALTH_CLOCK_SKEW_S;
    set_level(cluster);
}

static int health_read_limits(struct db *db, struct health *health, struct error *err)
{
    for (size_t i = 0; i < health->count; i++) {
        struct cluster_health *cluster = &health->clusters[i];
        int64_t twice = 0;
        if (cluster->published && health_read_intervals(db, cluster->cluster, &twice, err))
            return -1;
        cluster->interval = twice / 2;
        cluster->stale_after = health_limit_of(twice);
    }
    return 0;
}

int health_read(struct db *db, const struct settings *settings, int64_t now, struct health *health,
                struct error *err)
{
    struct db_value vanished = db_text(finding_name(FINDING_CLUSTER_VANISHED));
    *health = (struct health){ .now = now, .failure = memory_text("") };
    if (health_for_each(health, db_query(db, sql_query_health, NULL, 0, HEALTH_TYPES, err),
                        health_take_cluster, err) ||
        health_for_each(health, db_query(db, sql_query_health_findings, &vanished, 1, "tti", err),
                        take_findings, err) ||
        health_for_each(health, db_query(db, sql_query_health_failure, NULL, 0, "t", err),
                        take_failure, err) ||
        health_read_limits(db, health, err))
        return -1;
    health->mark = run_mark_find(settings, &health->users);
    for (size_t i = 0; i < health->count; i++)
        health_judge(&health->clusters[i], health);
    return 0;
}

static void results_health_hide_reasons(struct cluster_health *cluster)
{
    *cluster->message = '\0';
    free(cluster->unreadable);
    cluster->unreadable = NULL;
}

void health_hide_reasons(struct health *health, const struct permissions *permissions)
{
    for (size_t i = 0; i < health->count; i++)
        if (!permissions_administer(permissions, health->clusters[i].cluster))
            results_health_hide_reasons(&health->clusters[i]);
    if (!permissions_administer(permissions, ""))
        *health->failure = '\0';
}

void health_read_views(struct db *db, struct health *health)
{
    struct error err;
    bool opened = !health->count || !views_open(db, &err);
    for (size_t i = 0; i < health->count; i++) {
        struct cluster_health *cluster = &health->clusters[i];
        if (!cluster->published ||
            (opened && !views_count(db, cluster->cluster, cluster->associations, &err)))
            continue;
        cluster->problems[HEALTH_UNREADABLE] = true;
        cluster->unreadable = memory_text(err.message);
        set_level(cluster);
    }
}

void health_free(struct health *health)
{
    for (size_t i = 0; i < health->count; i++) {
        struct cluster_health *cluster = &health->clusters[i];
        free(cluster->cluster);
        free(cluster->status);
        free(cluster->message);
        free(cluster->settings_digest);
        free(cluster->unreadable);
        for (size_t kind = 0; kind < cluster->kind_count; kind++)
            free(cluster->kinds[kind].kind);
        free(cluster->kinds);
    }
    free(health->clusters);
    free(health->failure);
    run_users_free(&health->users);
    *health = (struct health){ 0 };
}

const struct cluster_health *health_of(const struct health *health, const char *cluster)
{
    for (size_t i = 0; i < health->count; i++)
        if (!strcmp(health->clusters[i].cluster, cluster))
            return &health->clusters[i];
    return NULL;
}

void health_add_words(struct text *text, const struct cluster_health *cluster)
{
    for (int i = 0; i < HEALTH_PROBLEMS; i++) {
        if (!cluster->problems[i])
            continue;
        text_format(text, "%s%s", text->length ? ", " : "", problems[i].words);
        if (i == HEALTH_UNREADABLE && cluster->unreadable)
            text_format(text, " (%s)", cluster->unreadable);
        if (i == HEALTH_UNRECORDED && cluster->unrecorded_status)
            text_format(text, " (exit status %d)", cluster->unrecorded_status);
    }
}

int64_t health_count(const struct cluster_health *cluster, const char *kind)
{
    for (size_t i = 0; i < cluster->kind_count; i++)
        if (!strcmp(cluster->kinds[i].kind, kind))
            return cluster->kinds[i].count;
    return 0;
}

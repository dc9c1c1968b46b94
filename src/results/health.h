/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_HEALTH_H
#define FAIRMILL_RESULTS_HEALTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/run_mark.h"

struct db;
struct error;
struct settings;
struct text;
struct permissions;

/*
 * The health of clusters, judged by the results of their runs and by the clock.  All commands that
 * report health (status, check, metrics and report) use this module, so that their results agree.
 * Times are in epoch seconds.
 */

enum health_level { HEALTH_OK, HEALTH_WARNING, HEALTH_CRITICAL };

/*
 * Problems that do not depend on limits set by the caller.  To add a problem, also add its line in
 * health.c.
 */
enum health_problem {
    HEALTH_NEVER_PUBLISHED,
    HEALTH_IN_FUTURE,  /* the published results have a time in the future */
    HEALTH_STALE,      /* older than three times the usual interval between runs */
    HEALTH_UNREADABLE, /* views are missing, cannot be read, or lack rows */
    HEALTH_UNRECORDED, /* a run after the last recorded run could not add its row */
    HEALTH_LAST_RUN_FAILED,
    HEALTH_VANISHED, /* the cluster is missing from the accounting database without being marked as
                        deleted */
    HEALTH_CLOCK,    /* the last run started at a time in the future */
    HEALTH_PROBLEMS,
};
const char *health_problem_name(enum health_problem problem); /* a single word, for programs */
const char *health_level_name(enum health_level level);

/* Tolerated difference between the clocks of two machines, in seconds. */
#define HEALTH_CLOCK_SKEW_S 300

struct finding_count {
    char *kind;
    int64_t count; /* at most FINDINGS_PER_KIND */
};

/* A cluster that has at least one run, published or failed, and that is not retired. */
struct cluster_health {
    char *cluster;
    /* The published results; valid only if `published` is true. */
    bool published;
    int64_t as_of, age; /* `age` in seconds; negative if as_of is in the future */
    int64_t stale_after;
    int64_t interval; /* median seconds between the last runs; 0: unknown */
    int64_t duration_ms, associations;
    char *unreadable; /* why queries of the views do not return all rows, or NULL */
    int64_t lag;      /* seconds; -1 if unknown */
    /* The last run, published or not.  `status` is "" if no run is recorded. */
    char *status, *message, *settings_digest;
    bool failed;
    int64_t attempt_as_of, started_at;
    int unrecorded_status; /* exit status of a later run that could not add its row; 0 if unknown */
    /*
     * The last run that compared the checkpoint's sums with all jobs; `drift` is NAN if no run has
     * compared them.
     */
    int64_t compared_at, drifted;
    double drift; /* TRES-seconds */
    int64_t findings;
    struct finding_count *kinds; /* in ascending order of the kind's name */
    size_t kind_count;
    bool problems[HEALTH_PROBLEMS];
    enum health_level level; /* level of the worst problem */
};

struct health {
    int64_t now;
    struct run_mark mark;
    struct run_users users;          /* users of the last runs */
    struct cluster_health *clusters; /* in ascending order of name */
    size_t count;
    char *failure; /* error of the last run that failed before it reached a cluster; "" if there is
                      no such run */
};

/*
 * Reads the health of all clusters from `db`, which was opened with `settings`.  Should be called
 * in a transaction.  Call health_free() even if this fails.  Returns -1 on error.
 */
int health_read(struct db *db, const struct settings *settings, int64_t now, struct health *health,
                struct error *err);
void health_free(struct health *health);

/*
 * Queries the views as users do, and adds HEALTH_UNREADABLE to clusters with missing rows.  With
 * PostgreSQL, make no other query in the same transaction afterwards.
 */
void health_read_views(struct db *db, struct health *health);

/*
 * Sets `*seconds` to the age from which the cluster's results are stale.  This is three times the
 * median of the last ten intervals between published runs, but at least 15 minutes.  Returns -1 on
 * error.
 */
int health_stale_after(struct db *db, const char *cluster, int64_t *seconds, struct error *err);
/* Adds a warning to `text` if results as of `as_of` of the cluster are stale.  Returns -1 on error.
 */
int health_add_age_warning(struct db *db, const char *cluster, int64_t as_of, struct text *text,
                           struct error *err);

/*
 * Removes error messages of runs, which contain user names and logins, unless the user may
 * administer the cluster.
 */
void health_hide_reasons(struct health *health, const struct permissions *permissions);

/* Returns the health of the cluster with this name, or NULL if no such cluster was read. */
const struct cluster_health *health_of(const struct health *health, const char *cluster);

/* Appends a cluster's problems as words, separated by commas. */
void health_add_words(struct text *text, const struct cluster_health *cluster);

/* Removes a problem, for callers with their own limit, and updates the level. */
void health_ignore(struct cluster_health *cluster, enum health_problem problem);

/* Returns the number of findings of a kind, at most FINDINGS_PER_KIND; 0 if there is no finding. */
int64_t health_count(const struct cluster_health *cluster, const char *kind);

#endif

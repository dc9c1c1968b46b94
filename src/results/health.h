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

/* How clusters are, by what their runs have left in the results and by the clock.  Whatever tells
 * somebody whether all is well (status, metrics, the page) asks here, so that no two of them can
 * contradict each other. */

enum health_level { HEALTH_OK, HEALTH_WARNING, HEALTH_CRITICAL };

/* What is wrong whatever limits somebody sets.  A new one is a line in health.c. */
enum health_problem {
    HEALTH_NEVER_PUBLISHED,
    HEALTH_IN_FUTURE,  /* what is published is of an instant that is still to come */
    HEALTH_STALE,      /* older than three times the usual interval between runs */
    HEALTH_UNREADABLE, /* views are gone, or may not be read, or lack rows */
    HEALTH_UNRECORDED, /* a run since the last one on record could not leave its row */
    HEALTH_LAST_RUN_FAILED,
    HEALTH_VANISHED, /* the accounting database has the cluster no more, and does not say why */
    HEALTH_CLOCK,    /* the last run began at an instant that is still to come */
    HEALTH_PROBLEMS,
};
const char *health_problem_name(enum health_problem problem); /* one word, for programs */
const char *health_level_name(enum health_level level);

/* Clocks of two machines may differ by so much. */
#define HEALTH_CLOCK_SKEW_S 300

struct finding_count {
    char *kind;
    int64_t count; /* at most FINDINGS_PER_KIND */
};

/* A cluster that has been run, published or not, and is not retired. */
struct cluster_health {
    char *cluster;
    /* What is published; only if anything is. */
    bool published;
    int64_t as_of, age; /* age below 0: it is still to come */
    int64_t stale_after;
    int64_t duration_ms, associations;
    char *unreadable; /* why readers do not get all of it; NULL */
    int64_t lag;      /* -1: unknown */
    /* The last run, published or not; status "" where no run is on record. */
    char *status, *message, *settings_digest;
    bool failed;
    int64_t attempt_as_of, started_at;
    int unrecorded_status; /* the exit status of a later one that left no row; 0: unknown */
    /* The last run that compared the kept sums with all jobs; drift NAN: none did. */
    int64_t compared_at, drifted;
    double drift; /* TRES-seconds */
    int64_t findings;
    struct finding_count *kinds; /* by name */
    size_t kind_count;
    bool problems[HEALTH_PROBLEMS];
    enum health_level level; /* of the worst of these */
};

struct health {
    int64_t now;
    struct run_mark mark;
    struct run_users users;          /* who did the last runs */
    struct cluster_health *clusters; /* by name */
    size_t count;
    char *failure; /* why the last run failed that came to no cluster; "" where none did */
};

/* Reads it, best in a transaction; call health_free() also if this fails.  The settings are those
 * by which the results were opened. */
int health_read(struct db *db, const struct settings *settings, int64_t now, struct health *health,
                struct error *err);
void health_free(struct health *health);

/* Looks through the views as a reader does, and adds what is wrong with them.  In PostgreSQL it is
 * the last query of a transaction. */
void health_read_views(struct db *db, struct health *health);

/* Sets *seconds to the age from which the cluster's results are stale: three times the median of
 * the last ten intervals between runs that published, at least 15 minutes. */
int health_stale_after(struct db *db, const char *cluster, int64_t *seconds, struct error *err);

/* Remove the reasons why runs failed, which name users and logins, where `viewer` does not
 * administer the cluster. */
void health_hide_reasons(struct health *health, const struct permissions *permissions);

/* NULL: there is none of this name. */
const struct cluster_health *health_of(const struct health *health, const char *cluster);
/* Add its problems in words, between commas. */
void health_add_words(struct text *text, const struct cluster_health *cluster);
/* Take a problem away, for whom it is none. */
void health_ignore(struct cluster_health *cluster, enum health_problem problem);
/* How many findings of a kind. */
int64_t health_count(const struct cluster_health *cluster, const char *kind);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_HEALTH_H
#define FAIRMILL_RESULTS_HEALTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct error;
struct text;
struct viewer;

/* How clusters are, by what their runs have left in the results and by the clock.  Whatever tells
 * somebody whether all is well (status, metrics, the page) asks here, so that no two of them can
 * contradict each other. */

enum health_level { HEALTH_OK, HEALTH_WARNING, HEALTH_CRITICAL };

/* What is wrong whatever limits somebody sets.  A new one is a line in health.c. */
enum health_problem {
    HEALTH_NEVER_PUBLISHED,
    HEALTH_IN_FUTURE, /* what is published is of an instant that is still to come */
    HEALTH_LAST_RUN_FAILED,
    HEALTH_VANISHED, /* the accounting database has the cluster no more, and does not say why */
    HEALTH_CLOCK,    /* the last run began at an instant that is still to come */
    HEALTH_PROBLEMS,
};
const char *health_problem_name(enum health_problem problem);  /* one word, for programs */
const char *health_problem_words(enum health_problem problem); /* for people */
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
    int64_t duration_ms;
    int64_t lag; /* -1: unknown */
    /* The last run, published or not; status "" where no run is on record. */
    char *status, *message, *settings_digest;
    bool failed;
    int64_t attempt_as_of, started_at;
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
    struct cluster_health *clusters; /* by name */
    size_t count;
    char *failure; /* why the last run failed that came to no cluster; "" where none did */
};

/* Read it, best in a transaction; health_free() is due in any case. */
int health_read(struct db *db, int64_t now, struct health *health, struct error *err);
void health_free(struct health *health);

/* Remove the reasons why runs failed, which name users and logins, where `viewer` does not
 * administer the cluster. */
void health_hide_reasons(struct health *health, const struct viewer *viewer);

/* NULL: there is none of this name. */
const struct cluster_health *health_of(const struct health *health, const char *cluster);
/* Add its problems in words, between commas. */
void health_add_words(struct text *text, const struct cluster_health *cluster);
/* How many findings of a kind. */
int64_t health_count(const struct cluster_health *cluster, const char *kind);

#endif

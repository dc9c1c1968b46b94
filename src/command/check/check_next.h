/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_CHECK_CHECK_NEXT_H
#define FAIRMILL_COMMAND_CHECK_CHECK_NEXT_H

#include <stdbool.h>

struct cluster_names;
struct db;
struct error;
struct settings;
struct text;

/* What `check` says of the way into production: who starts runs, and what to do next. */

/* What it has found on the way. */
struct progress {
    bool source_is_read;     /* so what failed is about the results */
    bool missing_privileges; /* of the accounting database; they have been told */
    bool bad_data;           /* of a cluster, which has failed */
    bool published;          /* every cluster is */
    bool is_ahead;           /* what is published is of a time to come, so that runs are refused */
    bool lacks_history;      /* usage of days reaches back further than points of history */
    bool started_by_clock;   /* fairmill.timer is enabled, or cron has a line */
};

/* Tell of each cluster when its last run began, and what starts runs on this machine; a warning
 * where nothing does that we know of, and the last run is old. */
int check_starts(struct text *text, struct progress *progress, const struct settings *settings,
                 struct db *results, struct error *err);
/* Complain of each cluster for which a run of now would be refused, as what is published is of a
 * time to come. */
void check_times(struct progress *progress, struct db *results,
                 const struct cluster_names *clusters);
/* Add the next step, one command; nothing where all is done.  `failure`: why the check failed;
 * NULL: it did not. */
void check_add_next(struct text *text, const struct settings *settings,
                    const struct progress *progress, const struct error *failure);
/* The same where the settings cannot be read from here. */
void check_add_first(struct text *text, const char *path);

/* Find the clusters to check, and tell all GRANTs on the accounting database that the login lacks:
 * also where nothing can be read without them. */
int check_privileges(const struct settings *settings, struct db *source,
                     struct cluster_names *clusters, struct progress *progress, struct text *text,
                     struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_CHECK_CHECK_NEXT_H
#define FAIRMILL_COMMAND_CHECK_CHECK_NEXT_H

#include <stdbool.h>

struct cluster_names;
struct db;
struct error;
struct settings;
struct text;

/* The part of `check` about production: it shows how runs are started and which step is next. */

/* Facts that decide the next step. */
struct progress {
    /* the accounting database can be read, so a later failure is about the results */
    bool source_is_read;
    /* privileges on the accounting database are missing; the text lists them */
    bool missing_privileges;
    bool bad_data;         /* a cluster failed because of its data */
    bool published;        /* every cluster has results */
    bool is_ahead;         /* published results have a time in the future, so runs fail */
    bool lacks_history;    /* the oldest jobs are days older than the oldest history points */
    bool started_by_clock; /* fairmill.timer is enabled, or cron has a file */
};

/* Shows when the last run of each cluster started, and how runs are started on this host.  Warns if
 * the last run is old and neither fairmill.timer nor /etc/cron.d/fairmill starts runs.  Returns -1
 * on error. */
int check_starts(struct text *text, struct progress *progress, const struct settings *settings,
                 struct db *results, struct error *err);
/* Reports each cluster whose published results have a time in the future: a run would fail. */
void check_times(struct progress *progress, struct db *results,
                 const struct cluster_names *clusters);
/* Adds the next step, which is one command, if there is one.  `failure` is the error of the check,
 * or NULL. */
void check_add_next(struct text *text, const struct settings *settings,
                    const struct progress *progress, const struct error *failure);
/* Adds the first step, for hosts without the settings file `path`. */
void check_add_first(struct text *text, const char *path);

/* Finds the clusters to check and lists all GRANTs on the accounting database that the login lacks,
 * even if nothing can be read without them.  Returns -1 if the clusters cannot be read. */
int check_privileges(const struct settings *settings, struct db *source,
                     struct cluster_names *clusters, struct progress *progress, struct text *text,
                     struct error *err);

#endif

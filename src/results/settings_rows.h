/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_SETTINGS_ROWS_H
#define FAIRMILL_RESULTS_SETTINGS_ROWS_H

#include <stddef.h>

struct db;
struct error;
struct publisher;
struct text;

/* The settings that runs had: fairmill_settings.  Runs of many clusters have the same row, so it is
 * written and removed outside of transactions: none waits for another one to end. */

/* Have the row of this run's settings, as it should be, before the transaction that writes the run.
 */
int settings_rows_write(const struct publisher *publisher, struct error *err);

/* Adds the digests of the settings of each cluster's last run that was done whose text is lost or
 * is not as the run wrote it, between commas. */
int settings_rows_check(struct db *db, struct text *digests, struct error *err);

/* The text of settings that a run had, to be freed; NULL on failure, and where there is none. */
char *settings_rows_text(struct db *db, const char *digest, struct error *err);

/* Of settings that runs of a cluster had. */
struct settings_digests {
    char **digests;
    size_t count;
};

/* Before some of these runs are removed. */
int settings_rows_read(const struct publisher *publisher, struct settings_digests *digests,
                       struct error *err);
/* After that: take away those that no run of any cluster has any more.  Where a run that is just
 * being published comes back to settings as old as that, it is the next run that writes them
 * again. */
int settings_rows_prune(const struct publisher *publisher, const struct settings_digests *digests,
                        struct error *err);
void settings_digests_free(struct settings_digests *digests);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_SETTINGS_ROWS_H
#define FAIRMILL_RESULTS_SETTINGS_ROWS_H

#include <stddef.h>

struct db;
struct error;
struct publisher;
struct text;

/*
 * Reads and writes fairmill_settings, which has the settings of runs.  Runs of many clusters share
 * a row.  Rows are written and removed outside of transactions, so that no run waits for another
 * run to end.
 */

/*
 * Writes the row of this run's settings, unless it is correct already.  Must precede the
 * transaction that writes the run.  Returns -1 on error.
 */
int settings_rows_write(const struct publisher *publisher, struct error *err);

/*
 * Appends the digests of settings with a missing or damaged text, separated by commas.  Checks the
 * settings of each cluster's last successful run.  Returns -1 on error.
 */
int settings_rows_check(struct db *db, struct text *digests, struct error *err);

/*
 * Returns the text of a run's settings, which the caller frees.  Returns NULL on error, or if the
 * text is missing.
 */
char *settings_rows_text(struct db *db, const char *digest, struct error *err);

/* Digests of the settings of a cluster's runs. */
struct settings_digests {
    char **digests;
    size_t count;
};

/*
 * Reads the digests of a cluster's runs, before some of the runs are removed.  Free them with
 * settings_digests_free().  Returns -1 on error.
 */
int settings_rows_read(const struct publisher *publisher, struct settings_digests *digests,
                       struct error *err);

/*
 * Removes the settings that no remaining run of any cluster uses, after runs were removed.  A run
 * that is being published at the same time may use settings that are removed here; in that case,
 * the next run writes them again.  Returns -1 on error.
 */
int settings_rows_prune(const struct publisher *publisher, const struct settings_digests *digests,
                        struct error *err);
void settings_digests_free(struct settings_digests *digests);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RUN_RUN_H
#define FAIRMILL_RUN_RUN_H

#include "run/run_session.h"

/*
 * A run: reads the accounting database and writes values into the result tables, one cluster after
 * another.  The values depend only on the contents of the database, the settings and one time.
 */

/* Opens the source.  Retries for a short time if its server is down.  Returns -1 on error. */
int run_open_source(struct db **source, const struct settings *settings, struct error *err);

/*
 * Returns -1 with ERROR_SETTINGS if the results are in the accounting database, unless
 * share_database allows it.
 */
int run_check_apart(const struct settings *settings, struct db *source, struct db *results,
                    struct error *err);

/*
 * Calls `tell` for each cluster that was published from this source but is missing in the source.
 * Every run fails for such a cluster.  Returns -1 on error.
 */
int run_check_vanished(const struct settings *settings, struct db *source, struct db *results,
                       void (*tell)(const struct error *err), struct error *err);

/*
 * Makes a run for each cluster that `options` select.  If a cluster fails, reports it with
 * options->complain and continues with the next one.  Returns -1 on an error that affects all
 * clusters.
 */
int run(const struct settings *settings, const struct run_options *options, struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RUN_RUN_H
#define FAIRMILL_RUN_RUN_H

#include "run/run_session.h"

/* A run: from the accounting database to values in the result tables, a cluster at a time.  It is
 * a pure function of what the database holds, the settings, and one instant. */

/* Open the source, trying again for a while where it is a server that is down. */
int run_open_source(struct db **source, const struct settings *settings, struct error *err);

/* Refuse (ERROR_SETTINGS) results in the accounting database, unless share_database says so. */
int run_check_apart(const struct settings *settings, struct db *source, struct db *results,
                    struct error *err);

/* Tells of each cluster that is published from this source and is missing there: every run fails
 * for it. */
int run_check_vanished(const struct settings *settings, struct db *source, struct db *results,
                       void (*tell)(const struct error *err), struct error *err);

/* Everything.  A cluster that fails is complained of and leaves the others done; what fails for
 * all of them is returned. */
int run(const struct settings *settings, const struct run_options *options, struct error *err);

#endif

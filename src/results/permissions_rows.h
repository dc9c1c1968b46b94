/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PERMISSIONS_ROWS_H
#define FAIRMILL_RESULTS_PERMISSIONS_ROWS_H

#include "report/permissions.h"

struct db;
struct settings;

/* Returns the viewer: the user at the other end of the socket, else the user of this process. Root,
 * the owner of the settings file and the user of the service see all.  So does a user who does
 * runs: one who may read the settings of the runs, or write a SQLite database of results, if not
 * every user may.  `private` is set from these settings only. */
struct permissions permissions_of_user(const struct settings *settings);

/* Let a limited viewer see all if the login may write the results; asks their server.  Does nothing
 * for users of the socket. */
void permissions_admit_writer(struct permissions *permissions, const struct settings *settings);

/* Add what is private on each cluster that was ever published, by what its last run recorded or
 * these settings, and what the viewer may see there all the same (fairmill_privilege); then admit
 * writers. */
int permissions_read_scopes(struct permissions *permissions, const struct settings *settings,
                            struct db *results, struct error *err);

#endif

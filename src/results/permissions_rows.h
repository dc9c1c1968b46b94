/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PERMISSIONS_ROWS_H
#define FAIRMILL_RESULTS_PERMISSIONS_ROWS_H

#include "report/permissions.h"

struct db;
struct settings;

/*
 * Returns the permissions of the requesting user: the user at the other end of the socket, else the
 * user of this process.  Sets the field `private` from `settings` only.
 *
 * These users see everything: root, the owner of the settings file, the user of the service, and
 * users who can execute `fairmill run`.  A user can do so if they may read the settings of the runs
 * or write the SQLite results database.  A file that gives this access to all users is ignored.
 */
struct permissions permissions_of_user(const struct settings *settings);

/*
 * Lets a limited user see everything if their login may write the results, which the database
 * server decides.  Does nothing for users of the socket.
 */
void permissions_admit_writer(struct permissions *permissions, const struct settings *settings);

/*
 * Adds an item for each cluster that was ever published.  The item has the kinds of information
 * that the last run or `settings` hide, and the user's privileges on the cluster
 * (fairmill_privilege).  Then calls permissions_admit_writer().  Returns -1 on error.
 */
int permissions_read_scopes(struct permissions *permissions, const struct settings *settings,
                            struct db *results, struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_SHARES_DATABASE_H
#define FAIRMILL_COMMAND_SHARES_DATABASE_H

#include "report/share_set.h"

struct db;
struct error;
struct settings;

/* Read a cluster's associations from the accounting database, in a snapshot of their own.
 * ERROR_DATA where two have the same names.  The list is to be freed; -1 leaves nothing. */
int shares_read(struct share_set *list, const struct settings *settings, struct db *source,
                const char *cluster, struct error *err);

#endif

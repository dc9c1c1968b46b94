/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_CHECK_PRIVILEGES_H
#define FAIRMILL_COMMAND_CHECK_PRIVILEGES_H

struct cluster_names;
struct db;
struct error;
struct progress;
struct settings;
struct text;

/* Find the clusters to check, and tell all GRANTs on the accounting database that the login lacks:
 * also where nothing can be read without them. */
int check_privileges(const struct settings *settings, struct db *source,
                     struct cluster_names *clusters, struct progress *progress, struct text *text,
                     struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_CHECK_SHARES_H
#define FAIRMILL_COMMAND_CHECK_SHARES_H

struct computation;
struct db;
struct error;
struct findings;
struct settings;
struct text;

/* Add a finding for each association of the cluster that differs from the file of the settings that
 * is about it.  A file that cannot be read is a warning in the text; -1 where the database cannot
 * be. */
int check_shares(struct text *text, const struct settings *settings, struct db *source,
                 const char *cluster, struct findings *findings, struct error *err);

/* Warn of accounts and users with 0 shares, of which the factor is 0 and the place the last. */
void check_zero_shares(struct text *text, const struct settings *settings,
                       const struct computation *computation);

#endif

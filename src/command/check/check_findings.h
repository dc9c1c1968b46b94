/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_CHECK_CHECK_FINDINGS_H
#define FAIRMILL_COMMAND_CHECK_CHECK_FINDINGS_H

struct computation;
struct db;
struct error;
struct findings;
struct settings;
struct table;
struct table_layout;
struct text;

/* What a computation found wrong in the data of a cluster: in `text` a line for each kind, and
 * where there is a table of this layout all that was kept. */
extern const struct table_layout finding_layout;
void check_findings(struct text *text, const char *cluster, const struct findings *findings,
                    struct table *table);

/* Add a finding for each association of the cluster that differs from the file of the settings that
 * is about it.  A file that cannot be read is a warning in the text; -1 where the database cannot
 * be. */
int check_shares(struct text *text, const struct settings *settings, struct db *source,
                 const char *cluster, struct findings *findings, struct error *err);

/* Warn of accounts and users with 0 shares, of which the factor is 0 and the place the last. */
void check_zero_shares(struct text *text, const struct settings *settings,
                       const struct computation *computation);

#endif

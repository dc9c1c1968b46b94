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

/* Reports the findings of a cluster's computation.  Adds a line for each kind of finding to `text`.
 * If `table`, of layout finding_layout, is not NULL, adds each stored finding to it. */
extern const struct table_layout finding_layout;
void check_findings(struct text *text, const char *cluster, const struct findings *findings,
                    struct table *table);

/* Compares the cluster's associations with each file in shares_file that is for this cluster, and
 * adds a finding for each difference.  A file that cannot be read is a warning in the text. Returns
 * -1 if the database cannot be read. */
int check_shares(struct text *text, const struct settings *settings, struct db *source,
                 const char *cluster, struct findings *findings, struct error *err);

/* Warns of accounts and users with 0 shares: their factor is 0, and they rank last. */
void check_zero_shares(struct text *text, const struct settings *settings,
                       const struct computation *computation);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_CHECK_FINDINGS_H
#define FAIRMILL_COMMAND_CHECK_FINDINGS_H

struct findings;
struct table;
struct table_layout;
struct text;

/* What a computation found wrong in the data of a cluster: in `text` a line for each kind, and
 * where there is a table of this layout all that was kept. */
extern const struct table_layout finding_layout;
void check_findings(struct text *text, const char *cluster, const struct findings *findings,
                    struct table *table);

#endif

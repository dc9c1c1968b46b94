/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_STATEMENT_STATEMENT_USE_H
#define FAIRMILL_COMMAND_STATEMENT_STATEMENT_USE_H

#include <stdbool.h>
#include <stdint.h>

struct association_times;
struct db;
struct error;
struct settings;
struct source;
struct statement;

/* Adds the usage of a cluster to a statement. */

/* Sets `*until` to the end of the complete daily usage, and `*oldest` to its first day (INT64_MAX
 * if there is no daily usage).  Returns -1 on error. */
int statement_days_reach(struct db *results, const char *cluster, int64_t *until, int64_t *oldest,
                         struct error *err);
/* Adds the cluster's daily usage from `from` until `until`, in epoch seconds.  Returns -1 on error.
 */
int statement_add_days(struct statement *statement, struct db *results, const char *cluster,
                       int64_t from, int64_t until, struct error *err);

/* Like statement_days_reach(), but for slurmdbd's rollups.  Unless `needed`, missing and unreadable
 * rollups are not an error and are treated as empty. */
int statement_sums_reach(const struct source *source, bool needed, int64_t *until, int64_t *oldest,
                         struct error *err);
/* Moves all associations in `times`, including removed ones, to their current parents, as sreport
 * does.  Removes associations that the accounting database does not contain, and adds associations
 * that no run recorded.  Returns -1 on error. */
int statement_hang_as_now(const struct settings *settings, struct db *source, const char *cluster,
                          struct association_times *times, struct error *err);
/* Adds the usage of one TRES from slurmdbd's rollups.  Omits usage of associations that are not in
 * `times`.  Returns -1 on error. */
struct statement_sums {
    struct statement *statement;
    const struct association_times *times;
    const char *tres;
    int64_t from, until;
};
int statement_add_sums(const struct statement_sums *sums, const struct settings *settings,
                       struct db *source, const char *cluster, struct error *err);

#endif

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

/* What was used on a cluster, as a statement adds it up. */

/* Of the days that runs keep: until when they are complete, and the oldest (INT64_MAX: there is
 * none). */
int statement_days_reach(struct db *results, const char *cluster, int64_t *until, int64_t *oldest,
                         struct error *err);
/* Add those from one instant to another. */
int statement_add_days(struct statement *statement, struct db *results, const char *cluster,
                       int64_t from, int64_t until, struct error *err);

/* What slurmdbd has summed up: the same; where that is not `needed`, sums that are not there or may
 * not be read are none. */
int statement_sums_reach(const struct source *source, bool needed, int64_t *until, int64_t *oldest,
                         struct error *err);
/* Associations, also those that are gone, hang as sreport has it: as they do now.  Those that the
 * accounting database does not know are taken away. */
int statement_hang_as_now(const struct settings *settings, struct db *source, const char *cluster,
                          struct association_times *times, struct error *err);
/* Add those of a TRES.  Use of associations that the accounting database has not any more is left
 * out. */
struct statement_sums {
    struct statement *statement;
    const struct association_times *times;
    const char *tres;
    int64_t from, until;
};
int statement_add_sums(const struct statement_sums *sums, const struct settings *settings,
                       struct db *source, const char *cluster, struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_TRES_DAYS_H
#define FAIRMILL_RESULTS_TRES_DAYS_H

#include <stdint.h>

struct db;
struct db_rows;
struct error;
struct name_list;

/* The stored daily usage by TRES (fairmill_tres_day), for commands with the option --tres. */

/*
 * Sets `*tres` to the stored name of the TRES `asked`, which may differ in case; the caller frees
 * `*tres`.  `tres` may be NULL.  Fails with ERROR_USAGE if none of the clusters keeps usage of the
 * TRES; an empty list means all clusters.  The message lists the TRES that they keep.
 */
int tres_days_find(struct db *db, const struct name_list *clusters, const char *asked, char **tres,
                   struct error *err);

/*
 * Sets `*number` to the number of `tres` in fairmill_tres_name, or to 0 if no usage of it is kept.
 * Returns -1 on error.
 */
int tres_days_number(struct db *db, const char *cluster, const char *tres, int64_t *number,
                     struct error *err);

/*
 * Sets `*day` to the start of the first day with usage of the TRES with this number, or to
 * INT64_MAX if the cluster has no such day.  Returns -1 on error.
 */
int tres_days_first_day(struct db *db, const char *cluster, int64_t number, int64_t *day,
                        struct error *err);

/*
 * Queries the usage of the TRES from `from` to `to`, the starts of two days.  The columns are day,
 * id_assoc and seconds, and the rows are in ascending order of day.  `seconds` is NULL if the
 * association did not use the TRES.
 */
struct db_rows *tres_days_query(struct db *db, const char *cluster, int64_t number, int64_t from,
                                int64_t to, struct error *err);

#endif

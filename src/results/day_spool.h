/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_DAY_SPOOL_H
#define FAIRMILL_RESULTS_DAY_SPOOL_H

#include "core/usage/day_sums.h"

struct error;

/*
 * Sums of the daily usage of each association.  Callers add sums in any order, and take them one
 * day after another.
 *
 * Neither memory nor time grows with the length of jobs.  Sums that exceed the memory limit go to a
 * temporary file.  A job that lasts for months adds sums only for its first and its last day.  For
 * the days between these, its usage is stored as a rate.
 */

/* `tres` is the number of amounts in each row. */
struct day_spool *day_spool_create(size_t tres);
void day_spool_destroy(struct day_spool *spool);

/*
 * Add to the usage of an association on a day.  The first adds `rate` for a number of seconds, the
 * second adds `more`, and the third adds to the amount with the index `tres`.  Fail if the disk is
 * full, or if `more` is out of range.  If a total becomes too large, only the function that later
 * takes or writes the total fails.
 */
int day_spool_add_product(struct day_spool *spool, uint32_t day, const struct usage_rate *rate,
                          uint64_t seconds, struct error *err);
int day_spool_add(struct day_spool *spool, uint32_t day, uint64_t id, const struct wide *more,
                  struct error *err);
int day_spool_add_tres(struct day_spool *spool, uint32_t day, uint64_t id, size_t tres,
                       uint64_t amount, struct error *err);

/* Adds `rate` for every second of the days from `first` up to but not including `end`. */
int day_spool_add_rate(struct day_spool *spool, uint32_t first, uint32_t end,
                       const struct usage_rate *rate, struct error *err);

/*
 * If a temporary file is in use, writes all sums to it and frees their memory.  Call it after the
 * last addition, if other parts of the run need memory before the days are taken.  Fails if the
 * disk is full.
 */
int day_spool_spill_rest(struct day_spool *spool, struct error *err);

/* Sets the error of a sum that is out of range.  Returns -1. */
int day_beyond_range(uint64_t id, struct error *err);

/*
 * Adds the sums of a day to `into`.  `seconds` is the length of the day.  Days must be taken in
 * ascending order, each at most once.  Fails if a sum is out of range, or if the file cannot be
 * read.
 */
int day_spool_take(struct day_spool *spool, uint32_t day, uint64_t seconds, struct day_sums *into,
                   struct error *err);

/* Restarts day_spool_take() at the first day. */
void day_spool_rewind(struct day_spool *spool);

#endif

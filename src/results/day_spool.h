/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_DAY_SPOOL_H
#define FAIRMILL_RESULTS_DAY_SPOOL_H

#include "core/usage/day_sums.h"

struct error;

/* Sums of usage by day and association, which are added in any order and taken day by day.  Neither
 * memory nor time grows with the length of jobs: what is too much for memory lies in a temporary
 * file, and a job that lasts for months makes sums for its first and its last day only; between
 * them it is a rate. */

struct day_spool *day_spool_create(void);
void day_spool_destroy(struct day_spool *spool);

/* Add to what an association used on a day: so many seconds of a rate, or `more`.  Fails where the
 * file has no room, or `more` is beyond the range of our integers; a sum beyond it is an error
 * where it is taken or written. */
int day_spool_add_product(struct day_spool *spool, uint32_t day, const struct usage_rate *rate,
                          uint64_t seconds, struct error *err);
int day_spool_add(struct day_spool *spool, uint32_t day, uint64_t id, const struct wide *more,
                  struct error *err);
/* Add a rate for every second of the days from `first` to the one before `end`. */
int day_spool_add_rate(struct day_spool *spool, uint32_t first, uint32_t end,
                       const struct usage_rate *rate, struct error *err);

/* Where there is a file, write the sums that memory still holds to it, too.  It is for when all is
 * added, and others need memory before days are taken.  Fails where the file has no room. */
int day_spool_spill_rest(struct day_spool *spool, struct error *err);

/* The error of a sum that is beyond the range; returns -1. */
int day_beyond_range(uint64_t id, struct error *err);

/* Add the sums of a day, which has so many seconds, to `into`.  Days are taken in ascending order,
 * each at most once.  Fails where what was added is beyond the range, or the file cannot be read.
 */
int day_spool_take(struct day_spool *spool, uint32_t day, uint64_t seconds, struct day_sums *into,
                   struct error *err);
/* Let days be taken again from the first one on. */
void day_spool_rewind(struct day_spool *spool);

#endif

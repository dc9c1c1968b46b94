/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_DAY_PILE_H
#define FAIRMILL_RESULTS_DAY_PILE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/usage/day_sums.h"
#include "core/number/wide.h"

struct error;

/* Sums of usage by day and association that come in any order and go out day by day.  Neither
 * memory nor time grows with the length of jobs: what is too much to keep lies in a temporary file,
 * and of a job that goes on for months only the days of its begin and end are sums. */
struct day_spool;

struct day_spool *day_spool_create(void);
void day_spool_destroy(struct day_spool *pile);

/* What an association used on a day: += units x seconds or -= where `negative`, or += more.  units
 * is below 2^127.  -1 where the file has no room or `more` is beyond the range of our integers; a
 * sum that is beyond it is an error where it is taken or written. */
int day_spool_add_product(struct day_spool *pile, uint32_t day, uint64_t id, uint128 units,
                          uint64_t seconds, bool negative, struct error *err);
int day_spool_add(struct day_spool *pile, uint32_t day, uint64_t id, const struct wide *more,
                  struct error *err);
/* As many units each second of the days from `first` to the one before `end`. */
int day_spool_add_rate(struct day_spool *pile, uint32_t first, uint32_t end, uint64_t id,
                       uint128 units, bool negative, struct error *err);

/* What is said where a sum leaves the range; -1. */
int day_beyond_range(uint64_t id, struct error *err);

/* Add the sums of a day, which has so many seconds, to `into`; -1 where what was added is beyond
 * the range, or the file cannot be read.  No day comes twice or after a later one. */
int day_spool_take(struct day_spool *pile, uint32_t day, uint64_t seconds, struct day_sums *into,
                   struct error *err);
/* Begin again with the first day. */
void day_spool_rewind(struct day_spool *pile);

#endif

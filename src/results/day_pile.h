/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_DAY_PILE_H
#define FAIRMILL_RESULTS_DAY_PILE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/day_sums.h"
#include "core/wide.h"

struct error;

/* Sums of usage by day and association that come in any order and go out day by day.  Neither
 * memory nor time grows with the length of jobs: what is too much to keep lies in a temporary file,
 * and of a job that goes on for months only the days of its begin and end are sums. */
struct day_pile;

struct day_pile *day_pile_create(void);
void day_pile_destroy(struct day_pile *pile);

/* What an association used on a day: += units x seconds or -= where `negative`, or += more.  units
 * is below 2^127.  -1 where the file has no room or `more` is beyond the range of our integers; a
 * sum that is beyond it is an error where it is taken or written. */
int day_pile_add_product(struct day_pile *pile, uint32_t day, uint64_t id, uint128 units,
                         uint64_t seconds, bool negative, struct error *err);
int day_pile_add(struct day_pile *pile, uint32_t day, uint64_t id, const struct wide *more,
                 struct error *err);
/* As many units each second of the days from `first` to the one before `end`. */
int day_pile_add_rate(struct day_pile *pile, uint32_t first, uint32_t end, uint64_t id,
                      uint128 units, bool negative, struct error *err);

/* What is said where a sum leaves the range; -1. */
int day_beyond_range(uint64_t id, struct error *err);

/* Add the sums of a day, which has so many seconds, to `into`; -1 where what was added is beyond
 * the range, or the file cannot be read.  No day comes twice or after a later one. */
int day_pile_take(struct day_pile *pile, uint32_t day, uint64_t seconds, struct day_sums *into,
                  struct error *err);
/* Begin again with the first day. */
void day_pile_rewind(struct day_pile *pile);

#endif

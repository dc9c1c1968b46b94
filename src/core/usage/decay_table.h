/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_DECAY_TABLE_H
#define FAIRMILL_CORE_USAGE_DECAY_TABLE_H

#include "core/number/wide.h"

/*
 * Decay as exact integers.
 *
 * A charge of c units per second over [a, b) adds c * (Q(b) - Q(a)) to a sum.  Q(t) is the integral
 * of 2^(t / half-life), rounded to an integer that does not depend on `now`.  The decay up to `now`
 * is a common factor of all charges and cancels in every ratio.  So any cut of an interval, any
 * order of rows and any later `now` result in the same sums, bit for bit.
 *
 *     H = half-life, U = UNITS_PER_TRES
 *     g(t) = t div H, e = max(0, 8 * (g(now) div 8) - 56)
 *     R(f) = 2^s * (H / ln 2) * 2^(f/H), rounded to the nearest integer, 2^61 <= R < 2^63
 *     Q(t) = R(t mod H) * 2^(g(t) - e), below 2^126
 *     usage in TRES-seconds = sum / (U * 2^s * 2^(g(now) - e) * 2^((now mod H) / H))
 *
 * The decay epoch e advances every eight half-lives; only then do sums change.  Without decay
 * (half-life 0), Q(t) = t and usage = sum / U.
 *
 * OpenPBS decays in steps (fifo.cpp, init_scheduling_cycle).  The steps are one period apart.  Just
 * after each step, all usage up to the time of the step is multiplied by a factor f.  With decay in
 * steps, Q is the integral of the weight floor(2^88 * f^n).  At time t, n is the number of steps
 * after t and before now.
 *
 *     usage in TRES-seconds = sum / (U * 2^88)
 */

/*
 * Units per TRES.  The factor 10^6 keeps decimal weights exact.  The factor 2^20 keeps weights with
 * the suffixes K to T exact.
 */
#define UNITS_PER_TRES ((uint64_t)1000000 << 20)

/*
 * Creates a table for a half-life in seconds, at most 2^40.  `start` is the time of the last reset,
 * or 0 if there was none.  Usage before `start` is ignored.
 */
struct decay_table *decay_table_create(uint64_t half_life, uint64_t now, uint64_t start);
/*
 * Creates a table with the same half-life, without steps, for another time.  The new table shares
 * the arrays of `other`, which are slow to compute.  Destroy the new table before `other`.
 */
struct decay_table *decay_table_create_like(const struct decay_table *other, uint64_t now,
                                            uint64_t start);
void decay_table_destroy(struct decay_table *decay);

struct decay_cycles {
    uint64_t period, epoch; /* seconds between steps, above 0; the time of one step */
    double factor;          /* above 0 and below 1 */
    uint64_t half_life;     /* nearest equivalent half-life in seconds, above 0 */
};
/*
 * Returns the number of periods from `start` to `now` that the table includes.  The table excludes
 * periods in which usage has decayed to less than 2^-64 of its value.
 */
uint64_t decay_cycles_count(const struct decay_cycles *steps, uint64_t now, uint64_t start);
#define DECAY_CYCLES_AT_MOST (UINT64_C(1) << 20)
/*
 * Creates a table for decay in steps.  The result of decay_cycles_count() must be at most
 * DECAY_CYCLES_AT_MOST, and `now` below 2^38, about the year 10000.
 */
struct decay_table *decay_table_create_stepped(const struct decay_cycles *steps, uint64_t now,
                                               uint64_t start);

uint64_t decay_table_now(const struct decay_table *decay);
uint64_t decay_table_half_life(const struct decay_table *decay);
bool decay_table_is_stepped(const struct decay_table *decay);
/* Returns the fraction of usage at `time` that remains now; 1 without decay. */
double decay_table_left(const struct decay_table *decay, uint64_t time);
/*
 * Returns the time before which usage is ignored.  This is the last reset or the decay epoch,
 * whichever is later.  The epoch is at most 64 half-lives ago.  With decay in steps, the start of
 * the oldest included period replaces the epoch.  Usage before the epoch has decayed to less than
 * 2^-56 of its value, which is too small to change a double.
 */
uint64_t decay_table_start(const struct decay_table *decay);

/* Return the decay epoch e, in half-lives, of this table or for any half-life and time. */
uint64_t decay_table_epoch(const struct decay_table *decay);
uint64_t decay_table_epoch_at(uint64_t half_life, uint64_t now);

/* Returns Q(b) - Q(a), with a and b limited to [decay_table_start(), now], or 0 if b <= a. */
uint128 decay_table_weight(const struct decay_table *decay, uint64_t a, uint64_t b);
/*
 * Returns the weight of a unit that is added at one time and not spread over time: Q'(t), or 1
 * without decay.  Returns 0 if `time` is earlier than the result of decay_table_start() or later
 * than now.
 */
uint128 decay_table_weight_at(const struct decay_table *decay, uint64_t time);

/*
 * Sums by TRES have 128 bits, so their weights are narrower: the difference of the upper bits of
 * Q(b) and Q(a), below 2^50.  As with decay_table_weight(), any cut of an interval results in the
 * same sums.
 */
uint64_t decay_table_narrow_weight(const struct decay_table *decay, uint64_t a, uint64_t b);
/* Returns decay_table_weight() and sets `*narrow` to the narrow weight. */
uint128 decay_table_weights(const struct decay_table *decay, uint64_t a, uint64_t b,
                            uint64_t *narrow);
/* Returns a sum of units times narrow weights in TRES-seconds, or 0 if the sum is negative. */
double decay_table_narrow_usage(const struct decay_table *decay, int128 sum);

/*
 * Return a sum in TRES-seconds, as the nearest double or with 128 bits.  The sum must not be
 * negative.
 */
double decay_table_usage(const struct decay_table *decay, const struct wide *sum);
struct floating decay_table_usage_floating(const struct decay_table *decay, const struct wide *sum);
/* Converts sums to TRES-seconds: multiply a sum by the result, then divide by `*divisor`. */
struct floating decay_table_unit(const struct decay_table *decay, uint64_t *divisor);
/* Computes the sum for `usage` TRES-seconds.  Returns false if it is out of range. */
bool decay_table_sum_of(const struct decay_table *decay, double usage, struct wide *sum);

/*
 * A rollup: the TRES-seconds of one TRES that an association used within an hour, day or month, as
 * slurmdbd sums it up.  Its usage is treated as spread evenly over [start, end).
 */
struct rollup {
    uint64_t start, end; /* start < end */
    uint64_t alloc_secs;
};

/*
 * Computes the usage of a rollup at a charge rate, rounded down:
 *
 *     floor(alloc_secs * rate * (Q(b) - Q(a)) / (end - start))
 *
 * Here [a, b) is the part of [start, end) from `since` to `until`, limited to [decay_table_start(),
 * now].  Returns false if alloc_secs * rate is 2^128 or above.
 */
bool rollup_usage(const struct decay_table *decay, const struct rollup *rollup, uint64_t since,
                  uint64_t until, uint128 rate, struct wide *usage);

#endif

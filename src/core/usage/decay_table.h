/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_DECAY_TABLE_H
#define FAIRMILL_CORE_USAGE_DECAY_TABLE_H

#include "core/number/wide.h"

/*
 * Decay as exact integers.
 *
 * A charge of c units per second over [a, b) has the weight c x (Q(b) - Q(a)).  Q(t) is the
 * integral of 2^(t / half-life), as an integer that does not depend on `now`.  The age is a common
 * factor of all charges and cancels in every ratio.  So the same sums result, bit for bit, from any
 * cut of an interval, any order of rows and any later `now`.
 *
 *     H = half-life, g(t) = t div H, e = max(0, 8 (g(now) div 8) - 56)
 *     R(f) = 2^s (H / ln 2) 2^(f/H) to the nearest, 2^61 <= R < 2^63
 *     Q(t) = R(t mod H) 2^(g(t) - e), below 2^126
 *     usage in TRES-seconds = sum / (U 2^s 2^(g(now)-e) 2^((now mod H)/H))
 *
 * The decay epoch e advances every eight half-lives; only then do sums change.  Without decay
 * (half-life 0), Q(t) = t and usage = sum / U.
 *
 * OpenPBS decays in steps (fifo.cpp, init_scheduling_cycle): just after each time epoch + jP, all
 * usage up to that time is multiplied by a factor f.  Here Q is the integral of a weight.  The
 * weight is floor(2^88 f^n) up to the last but n of these times before now, and
 *
 *     usage in TRES-seconds = sum / (U 2^88)
 */

/* Units per TRES.  10^6 keeps decimal factors exact, 2^20 the suffixes K to T. */
#define UNITS_PER_TRES ((uint64_t)1000000 << 20)

/*
 * Creates a table for a half-life in seconds, at most 2^40.  Usage before `start`, the last reset,
 * does not count; 0 if there was none.
 */
struct decay_table *decay_table_create(uint64_t half_life, uint64_t now, uint64_t start);
/*
 * Creates a table with the same half-life, without steps, for another time.  It shares the arrays
 * of `other`, which are slow to compute, and must be destroyed before it.
 */
struct decay_table *decay_table_create_like(const struct decay_table *other, uint64_t now,
                                            uint64_t start);
void decay_table_destroy(struct decay_table *decay);

struct decay_cycles {
    uint64_t period, epoch; /* seconds, above 0; epoch seconds */
    double factor;          /* above 0 and below 1 */
    uint64_t half_life;     /* nearest equivalent half-life in seconds, above 0 */
};
/*
 * Returns the number of periods from `start` to `now` that count.  Older usage is worth less than
 * 2^-64 of current usage and is ignored.
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
 * Returns the time before which usage does not count: the later of the last reset and the decay
 * epoch, 56 to 64 half-lives ago.  With decay in steps, the oldest period that counts replaces the
 * epoch.  Older usage is too small to change a double.
 */
uint64_t decay_table_start(const struct decay_table *decay);

/* Return the decay epoch e, in half-lives, of this table or for any half-life and time. */
uint64_t decay_table_epoch(const struct decay_table *decay);
uint64_t decay_table_epoch_at(uint64_t half_life, uint64_t now);

/* Returns Q(b) - Q(a), with both limited to [decay_table_start, now]; 0 if b <= a. */
uint128 decay_table_weight(const struct decay_table *decay, uint64_t a, uint64_t b);
/*
 * Returns the weight of a unit that is added at one time and not spread over time: Q'(t), or 1
 * without decay.  Returns 0 before decay_table_start() and after now.
 */
uint128 decay_table_weight_at(const struct decay_table *decay, uint64_t time);

/*
 * Return a sum in TRES-seconds, as the nearest double or with 128 bits.  It must not be negative.
 */
double decay_table_usage(const struct decay_table *decay, const struct wide *sum);
struct floating decay_table_usage_floating(const struct decay_table *decay, const struct wide *sum);
/* Returns the TRES-seconds of one unit of a sum, to be divided by `*divisor`. */
struct floating decay_table_unit(const struct decay_table *decay, uint64_t *divisor);
/* Computes the sum for `usage` TRES-seconds.  Returns false if it is out of range. */
bool decay_table_sum_of(const struct decay_table *decay, double usage, struct wide *sum);

/*
 * A rollup: the TRES-seconds of one TRES that an association used within an hour, day or month, as
 * slurmdbd sums it up.  The usage counts as spread evenly over [start, end).
 */
struct rollup {
    uint64_t start, end; /* start < end */
    uint64_t alloc_secs;
};

/*
 * Computes the usage of a rollup at a charge rate, rounded down:
 *
 *     floor(alloc_secs x rate x (Q(b) - Q(a)) / (end - start))
 *
 * Here [a, b) is the part of [start, end) from `since` to `until` that the decay table counts.
 * Returns false if alloc_secs x rate is 2^128 or above.
 */
bool rollup_usage(const struct decay_table *decay, const struct rollup *rollup, uint64_t since,
                  uint64_t until, uint128 rate, struct wide *usage);

#endif

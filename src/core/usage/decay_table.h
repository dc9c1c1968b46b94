/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_DECAY_TABLE_H
#define FAIRMILL_CORE_USAGE_DECAY_TABLE_H

#include "core/number/wide.h"

/* Decay as exact integers.
 *
 * A charge of c units per second over [a, b) weighs c x (Q(b) - Q(a)), where Q(t) is the
 * integral of 2^(t / half-life) as an integer on a grid that does not depend on `now`: the age
 * of a charge is a common factor of all of them, and cancels in every ratio.  So any cut of an
 * interval, any order of rows and any later `now` give the same sums, bit for bit.
 *
 *     H = half-life, g(t) = t div H, e = max(0, 8 (g(now) div 8) - 56)
 *     R(f) = 2^s (H / ln 2) 2^(f/H) to the nearest, 2^61 <= R < 2^63
 *     Q(t) = R(t mod H) 2^(g(t) - e), below 2^126
 *     usage in TRES-seconds = sum / (U 2^s 2^(g(now)-e) 2^((now mod H)/H))
 *
 * Without decay (half-life 0) Q(t) = t and usage = sum / U.
 *
 * OpenPBS decays in steps instead (fifo.cpp, init_scheduling_cycle): all that was used until an
 * instant epoch + jP is multiplied by a factor f right behind it.  Then Q is the integral of a
 * weight that is floor(2^88 f^n) until the last but n of these instants before now, and
 *
 *     usage in TRES-seconds = sum / (U 2^88) */

/* The units that one TRES is made of: 10^6 so that decimal factors stay exact, 2^20 for the
 * suffixes K to T. */
#define UNITS_PER_TRES ((uint64_t)1000000 << 20)

/* Half-life in seconds, at most 2^40.  `start` is the instant before which nothing counts (the
 * last reset), 0 for none. */
struct decay_table *decay_table_create(uint64_t half_life, uint64_t now, uint64_t start);
/* A clock of the same half-life, without steps, at another instant: it has the other's tables,
 * which take long to make, and must be destroyed first. */
struct decay_table *decay_table_create_like(const struct decay_table *other, uint64_t now,
                                            uint64_t start);
void decay_table_destroy(struct decay_table *decay);

struct decay_cycles {
    uint64_t period, epoch; /* seconds above 0; epoch seconds */
    double factor;          /* above 0, below 1 */
    uint64_t half_life;     /* what comes nearest to it, above 0 */
};
/* How many periods count of those from `start` until `now`: what was used before is worth less than
 * 2^-64 of what is used now. */
uint64_t decay_cycles_count(const struct decay_cycles *steps, uint64_t now, uint64_t start);
#define DECAY_CYCLES_AT_MOST (UINT64_C(1) << 20)
/* A clock of steps, DECAY_CYCLES_AT_MOST at most; `now` is before 2^38, the year 10000. */
struct decay_table *decay_table_create_stepped(const struct decay_cycles *steps, uint64_t now,
                                               uint64_t start);

uint64_t decay_table_now(const struct decay_table *decay);
uint64_t decay_table_half_life(const struct decay_table *decay);
bool decay_table_is_stepped(const struct decay_table *decay);
/* What is left now of what was used at an instant, 1 without decay. */
double decay_table_left(const struct decay_table *decay, uint64_t time);
/* The instant before which nothing counts: the last reset, or 56 to 64 half-lives ago, where the
 * grid begins and what is older can no longer show in a double. */
uint64_t decay_table_start(const struct decay_table *decay);

/* e, which the grid depends on besides the half-life; and what it is at another instant. */
uint64_t decay_table_epoch(const struct decay_table *decay);
uint64_t decay_table_epoch_at(uint64_t half_life, uint64_t now);

/* Q(b) - Q(a) with both kept within [decay_table_start, now]; 0 where b <= a. */
uint128 decay_table_weight(const struct decay_table *decay, uint64_t a, uint64_t b);
/* What a unit weighs that is not spread over time but is there at an instant, so that it is all
 * there then: Q'(t), or 1 without decay; 0 before decay_table_start and after now. */
uint128 decay_table_weight_at(const struct decay_table *decay, uint64_t time);

/* A sum that is not negative, in TRES-seconds: the nearest double, and with 128 bits. */
double decay_table_usage(const struct decay_table *decay, const struct wide *sum);
struct floating decay_table_usage_floating(const struct decay_table *decay, const struct wide *sum);
/* What a unit of a sum is worth in TRES-seconds: a number, and what to divide it by. */
struct floating decay_table_unit(const struct decay_table *decay, uint64_t *divisor);
/* The sum that is worth so many TRES-seconds; false where it is beyond the integers' range. */
bool decay_table_sum_of(const struct decay_table *decay, double usage, struct wide *sum);

/* What an association used of a TRES within an hour, a day or a month, as slurmdbd sums it up: so
 * many TRES-seconds, taken as spread evenly over [start, end). */
struct rollup {
    uint64_t start, end; /* start < end */
    uint64_t alloc_secs;
};

/* Its usage at a price, cut: floor(alloc_secs x price x (Q(b) - Q(a)) / (end - start)), with [a, b)
 * the part of [start, end) that is from `since` on, before `until`, and that the clock counts.
 * False where alloc_secs x price is 2^128 or above. */
bool rollup_usage(const struct decay_table *decay, const struct rollup *rollup, uint64_t since,
                  uint64_t until, uint128 rate, struct wide *usage);

#endif

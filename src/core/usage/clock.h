/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_CLOCK_H
#define FAIRMILL_CORE_CLOCK_H

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
 * Without decay (half-life 0) Q(t) = t and usage = sum / U. */

/* The units that one TRES is made of: 10^6 so that decimal factors stay exact, 2^20 for the
 * suffixes K to T. */
#define UNITS_PER_TRES ((uint64_t)1000000 << 20)

/* Half-life in seconds, at most 2^40.  `start` is the instant before which nothing counts (the
 * last reset), 0 for none. */
struct clock *clock_create(uint64_t half_life, uint64_t now, uint64_t start);
void clock_destroy(struct clock *clock);

uint64_t clock_now(const struct clock *clock);
uint64_t clock_half_life(const struct clock *clock);
/* The instant before which nothing counts: the last reset, or 56 to 64 half-lives ago, where the
 * grid begins and what is older can no longer show in a double. */
uint64_t clock_start(const struct clock *clock);

/* e, which the grid depends on besides the half-life; and what it is at another instant. */
uint64_t clock_grid(const struct clock *clock);
uint64_t clock_grid_at(uint64_t half_life, uint64_t now);

/* Q(b) - Q(a) with both kept within [clock_start, now]; 0 where b <= a. */
uint128 clock_weight(const struct clock *clock, uint64_t a, uint64_t b);

/* A sum that is not negative, in TRES-seconds: the nearest double, and with 128 bits. */
double clock_usage(const struct clock *clock, const struct wide *sum);
struct floating clock_usage_floating(const struct clock *clock, const struct wide *sum);
/* What a unit of a sum is worth in TRES-seconds: a number, and what to divide it by. */
struct floating clock_unit(const struct clock *clock, uint64_t *divisor);
/* The sum that is worth so many TRES-seconds; false where it is beyond the integers' range. */
bool clock_sum_of(const struct clock *clock, double usage, struct wide *sum);

#endif

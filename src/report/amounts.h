/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_AMOUNTS_H
#define FAIRMILL_REPORT_AMOUNTS_H

#include <stdint.h>

struct text;

/* Numbers as sentences and the page show them.  NAN is shown as a dash. */

/* Adds a fraction as percent: `27.4 %`, below 1 % `0.57 %`, `< 0.01 %`, or `0 %`. */
void amount_add_percent(struct text *text, double fraction);
/*
 * Adds a quotient, such as usage divided by share: `1.43`, from 10 on `12`, `> 100`, `< 0.01`, or
 * `0`.
 */
void amount_add_ratio(struct text *text, double ratio);
/* Adds an amount without decimals: `184,469`, from a million on `6.99 million`, `< 1`, or `0`. */
void amount_add(struct text *text, double amount);
/* Adds a whole number with commas. */
void amount_add_whole(struct text *text, uint64_t number);
/*
 * Adds a time span: `24 min` below 90 minutes, `2.5 h` below 36 hours, or `3 days`.  `seconds` must
 * be finite and not negative.
 */
void amount_add_span(struct text *text, double seconds);

/*
 * Return the value that amount_add_percent() and amount_add_ratio() show, as a number with their
 * decimals: 27.4 for 0.27412, and 1.43 for 1.4312.  A value that is shown as `<` or `>` is half or
 * twice the bound.
 */
double amount_percent(double fraction);
double amount_ratio(double ratio);

/* Adds a date in the process's time zone: `27 November 2026`, or `27 November` without `year`. */
void amount_add_date(struct text *text, int64_t time, int year);
/* Adds the month of a time in the same zone: `November 2026`. */
void amount_add_month(struct text *text, int64_t time);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_COMPLAIN_H
#define FAIRMILL_UTIL_COMPLAIN_H

struct error;

/* The one place that prints errors, and keeps the status that the process exits with. */

/* Print an error on standard error, and keep its exit status if it is the first. */
void complain(const struct error *err);
/* Keep its exit status, without printing it. */
void keep_quiet_about(const struct error *err);
/* The exit status of the first error; 0: there was none. */
int first_failure(void);
/* Whoever was to know of the errors was told. */
void forget_failures(void);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_COMPLAIN_H
#define FAIRMILL_UTIL_COMPLAIN_H

struct error;

/* Errors on their way to people: the one place that prints them, and the status that the process
 * exits with because of them. */

/* Print an error on standard error, and remember its exit status if it is the first. */
void complain(const struct error *err);
/* Remember its exit status only. */
void keep_quiet_about(const struct error *err);
/* The exit status of the first error; 0: there was none. */
int first_failure(void);

#endif

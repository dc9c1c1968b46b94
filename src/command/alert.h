/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_ALERT_H
#define FAIRMILL_COMMAND_ALERT_H

#include <stddef.h>

struct error;
struct settings;

/* Cron mails what a run prints, every five minutes.  Failures that tend to pass by themselves (a
 * database that is not available, 69; another run at work, 75) are therefore printed only once
 * they have lasted [report] alert_after; the exit status is theirs from the first.
 *
 * A spell of them begins with a run that had one, and ends with the first run that had none,
 * whether it went well or failed for another reason, which is printed at once.  Since when it
 * lasts is kept in a small file for each settings file and choice of clusters, in a folder that
 * nobody else can write.  Where there is none everything is printed, as it is with -v and on a
 * terminal. */
struct alert *alert_create(const struct settings *settings, char *const *clusters, size_t count);
/* complain(), or remember the exit status only. */
void alert_complain(struct alert *alert, const struct error *err);
/* The run is over; NULL is none. */
void alert_end(struct alert *alert);

#endif

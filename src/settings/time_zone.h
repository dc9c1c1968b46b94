/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_TIME_ZONE_H
#define FAIRMILL_SETTINGS_TIME_ZONE_H

struct error;

/* Set the process's time zone to this name; `system` leaves the one that it has.  ERROR_SETTINGS
 * where this machine does not know the zone, for which the C library would use UTC without a word.
 */
int time_zone_set(const char *name, struct error *err);

#endif

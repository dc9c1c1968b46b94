/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_RECORDED_H
#define FAIRMILL_SETTINGS_RECORDED_H

#include <stdint.h>

/* The settings that a run had, read back from the text that it left in fairmill_settings: a line
 * `section.key = value` each.
 *
 * The run may be of another release or another machine, so nothing here fails: a line that is
 * missing or that this program cannot read leaves the default, and a line that it does not know is
 * passed over.  Fields that follow from several settings (time zone, anchor of the reset, digest,
 * slurm.conf) are not filled in.  Free it with settings_destroy(). */
struct settings *settings_recorded(const char *text);

/* What the line of that text begins with which has the number of the time zone, in hexadecimal. */
#define ZONE_LINE "calendar.zone = "
/* That number; 0 if there is none, as in texts of 0.2.0 and before. */
uint64_t settings_recorded_zone(const char *text);

#endif

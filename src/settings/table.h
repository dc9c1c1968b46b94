/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_TABLE_H
#define FAIRMILL_SETTINGS_TABLE_H

#include "core/fairshare/fairshare.h"
#include "settings/setting.h"

/* The table of settings, ended by a NULL section.  The reader of the settings file, the sample
 * file, the manual and the tests read it. */
extern const struct setting settings_table[];
/* How many lines it has. */
size_t settings_count(void);

/* The line of a key; NULL where there is none. */
const struct setting *setting_named(const char *section, const char *key);
/* The default, which may depend on the conformance; NULL: must be given. */
const char *setting_fallback(const struct setting *setting, enum conformance conformance);

/* A sentence about a section; NULL where there is no such section. */
const char *section_summary(const char *section);
/* The section that was most likely meant; NULL where none is near. */
const char *section_nearest(const char *section);

#endif

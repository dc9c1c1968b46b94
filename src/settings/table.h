/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_TABLE_H
#define FAIRMILL_SETTINGS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fairshare/fairshare.h"

struct error;
struct settings;
struct text;

/* One line of the table of settings. */
struct setting {
    const char *section, *key;
    const char *fallback; /* the default; NULL: must be given */
    const char *summary;  /* a sentence or two, for people */
    /* How a value is read; NULL where it is one of `choices` or a number. */
    bool (*read)(void *field, const char *value, struct text *reason);
    size_t offset;                     /* of its field in struct settings */
    const char *const *choices;        /* ended by NULL; the field is an int of its place */
    bool charges;                      /* whether the charge of a closed job depends on it */
    const struct number_value *number; /* of settings/values.h */
};

/* The table of settings, ended by a NULL section.  The reader of the settings file, the sample
 * file, the manual and the tests read it. */
extern const struct setting settings_table[];
/* How many lines it has. */
size_t settings_count(void);

/* The line of a key; NULL where there is none. */
const struct setting *setting_named(const char *section, const char *key);
/* Whether the settings file or slurm.conf gives the value; the key must be one of the table. */
bool setting_is_chosen(const struct settings *settings, const char *section, const char *key);
/* The default, which may depend on the conformance and the scheduler; NULL: must be given. */
const char *setting_fallback(const struct setting *setting, const struct settings *settings);

/* Whether a value is a bare number above 0 that stands for minutes. */
bool setting_is_minutes(const struct setting *setting, const char *value);

/* Set its field of `settings` to a value, which must live as long as they do: a field that is a
 * text points to it.  ERROR_SETTINGS names the setting, the value and what it must be. */
int setting_assign(const struct setting *setting, struct settings *settings, const char *value,
                   struct error *err);

/* The settings of which backtest and whatif try other values, by the option that gives these. */
enum { TRY_HALF_LIFE, TRY_ALGORITHM, TRY_CONFORMANCE, TRY_DAMPENING, TRY_RESET, TRIED_SETTINGS };
extern const struct tried_setting {
    const char *option, *section, *key;
    const char *before; /* the value, in a label */
    bool of_whatif;
    bool needs_source; /* the results do not show what it changes */
} tried_settings[TRIED_SETTINGS];

/* A key that was renamed.  The settings file may still have the old key, but not both keys. */
struct renamed_setting {
    const char *section, *old_key, *key;
};
extern const struct renamed_setting renamed_settings[]; /* ended by a NULL section */

/* Returns the former key of a setting, or NULL if it was never renamed. */
const char *setting_old_key(const struct setting *setting);
/* Returns the setting that had this key before, or NULL if there is no such setting. */
const struct setting *setting_named_before(const char *section, const char *old_key);

/* A sentence about a section; NULL where there is no such section. */
const char *section_summary(const char *section);
/* The section that was most likely meant; NULL where none is near. */
const char *section_nearest(const char *section);

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

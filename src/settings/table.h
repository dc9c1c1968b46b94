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

/* A row of the table of settings. */
struct setting {
    const char *section, *key;
    const char *fallback; /* the default; NULL if the setting is required */
    const char *summary;  /* a description for the sample file and the manual */
    /* One of settings/values.h; NULL if `choices` or `number` is set. */
    bool (*read)(void *field, const char *value, struct text *reason);
    size_t offset;                     /* of the field in struct settings */
    const char *const *choices;        /* ends with NULL; the field is an int, the index */
    bool charges;                      /* the charge of a finished job depends on the setting */
    const struct number_value *number; /* see settings/values.h */
};

/*
 * All settings; the last row has a NULL section.  The parser of the settings file, the sample file,
 * the manual and the tests use this table.
 */
extern const struct setting settings_table[];
/* Returns the number of settings, which is the number of rows before the last row. */
size_t settings_count(void);

/* Returns the row of a key, or NULL if there is no such setting. */
const struct setting *setting_named(const char *section, const char *key);
/*
 * Returns true if the value is from the settings file, slurm.conf or the recorded text, and false
 * if it is the default.  The key must be in the table.
 */
bool setting_is_chosen(const struct settings *settings, const char *section, const char *key);
/*
 * Returns the default for the layout and the conformance of `settings`, or NULL if the setting is
 * required.
 */
const char *setting_fallback(const struct setting *setting, const struct settings *settings);

/* Returns true if the setting reads this value as minutes: a number above 0 without a unit. */
bool setting_is_minutes(const struct setting *setting, const char *value);

/*
 * Parses a value and stores it in the setting's field.  A field of type const char * points to
 * `value` afterwards, so `value` must outlive `settings`.  Fails with ERROR_SETTINGS; the message
 * names the setting, the value and the accepted values.
 */
int setting_assign(const struct setting *setting, struct settings *settings, const char *value,
                   struct error *err);

/* The settings that an option of backtest or whatif can change. */
enum { TRY_HALF_LIFE, TRY_ALGORITHM, TRY_CONFORMANCE, TRY_DAMPENING, TRY_RESET, TRIED_SETTINGS };
extern const struct tried_setting {
    const char *option, *section, *key;
    const char *before; /* precedes the value in a label */
    bool of_whatif;     /* whatif has the option, too */
    bool needs_source;  /* its effect cannot be computed from the results alone */
} tried_settings[TRIED_SETTINGS];

/* A key that was renamed.  The settings file may still have the old key, but not both keys. */
struct renamed_setting {
    const char *section, *old_key, *key;
};
extern const struct renamed_setting renamed_settings[]; /* ended by a NULL section */

/* Returns the former key of a setting, or NULL if it was never renamed. */
const char *setting_old_key(const struct setting *setting);
/* Returns the setting whose former key this is, or NULL if there is no such setting. */
const struct setting *setting_named_before(const char *section, const char *old_key);

/* Returns a one-sentence description of a section, or NULL if there is no such section. */
const char *section_summary(const char *section);
/* Returns the section with the most similar name, or NULL if none is similar. */
const char *section_nearest(const char *section);

/*
 * Returns the settings that a run recorded in fairmill_settings.  `text` has a line `section.key =
 * value` for each.  The caller frees the result with settings_destroy().
 *
 * Never fails, because the run may have used another release or another host.  Uses the default for
 * a missing or invalid line, and ignores unknown lines.  Does not set the fields that depend on
 * several settings, which are zone, reset_period.anchor, digest and slurm.
 */
struct settings *settings_recorded(const char *text);

/* The start of the recorded line that holds the hash of the time zone, in hexadecimal. */
#define ZONE_LINE "calendar.zone = "
/*
 * Returns this hash, or 0 if the text has no such line.  Releases before 0.3.0 did not record the
 * hash.
 */
uint64_t settings_recorded_zone(const char *text);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_SETTING_H
#define FAIRMILL_SETTINGS_SETTING_H

#include <stdbool.h>
#include <stddef.h>

struct error;
struct settings;
struct text;

/* One line of the table of settings. */
struct setting {
    const char *section, *key;
    const char *fallback; /* the default; NULL: must be given */
    const char *summary;  /* a sentence or two, for people */
    /* How a value is read; NULL where it is one of `choices`. */
    bool (*read)(void *field, const char *value, struct text *reason);
    size_t offset;              /* of its field in struct settings */
    const char *const *choices; /* ended by NULL; the field is an int of its place */
    bool charges;               /* whether the charge of a closed job depends on it */
};

/* Set its field of `settings` to a value, which must live as long as they do: a field that is a
 * text points to it.  ERROR_SETTINGS names the setting, the value and what it must be. */
int setting_assign(const struct setting *setting, struct settings *settings, const char *value,
                   struct error *err);

#endif

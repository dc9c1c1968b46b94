/* SPDX-License-Identifier: MIT */
#include "settings/recorded.h"

#include <stdlib.h>
#include <string.h>

#include "settings/settings.h"
#include "settings/table.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

/* The value that the text has for a setting; NULL: none. */
static char *value_in(const char *text, const struct setting *setting)
{
    struct text start = { 0 };
    char *value = NULL;
    text_format(&start, "%s.%s = ", setting->section, setting->key);
    for (const char *line = text; !value && *line; line += strcspn(line, "\n"), line += !!*line)
        if (!strncmp(line, start.bytes, start.length))
            value = memory_bytes(line + start.length, strcspn(line + start.length, "\n"));
    text_free(&start);
    return value;
}

uint64_t settings_recorded_zone(const char *text)
{
    const char *line = strstr(text, "\n" ZONE_LINE);
    return line ? strtoull(line + strlen("\n" ZONE_LINE), NULL, 16) : 0;
}

struct settings *settings_recorded(const char *text)
{
    struct settings *settings = memory_zeroed(1, sizeof *settings);
    settings->origins = memory_zeroed(settings_count(), sizeof *settings->origins);
    for (const struct setting *each = settings_table; each->section; each++) {
        struct error ignored;
        struct setting_origin *origin = &settings->origins[settings->origin_count++];
        const char *fallback = setting_fallback(each, settings);
        *origin = (struct setting_origin){ .from = FROM_SETTINGS, .value = value_in(text, each) };
        if (origin->value && !setting_assign(each, settings, origin->value, &ignored))
            continue;
        origin->from = FROM_DEFAULT;
        if (fallback)
            setting_assign(each, settings, fallback, &ignored);
    }
    return settings;
}

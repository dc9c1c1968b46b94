/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include "settings/load.h"
#include "settings/settings.h"
#include "util/error.h"

/* A settings file. */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = text_of(bytes, size);
    write_file("settings", bytes, size);
    for (int use = SETTINGS_FOR_ALL; use <= SETTINGS_FOR_READING; use++) {
        struct settings *settings;
        struct error err;
        if (!settings_load(&settings, "settings", (enum settings_use)use, &err)) {
            must(settings->text && settings->algorithm && settings->results.driver &&
                     strlen(settings->digest) == 32,
                 "settings that were taken are whole");
            settings_destroy(settings);
        } else {
            must(err.class == ERROR_SETTINGS && *err.message, "a refusal says why");
            /* Of its own words, which the file may have too: the names of keys come in small
             * letters. */
            must(!strstr(err.message, "this iniparser") || strcasestr(text, "this iniparser"),
                 "no line is left to iniparser");
        }
    }
    free(text);
    return 0;
}

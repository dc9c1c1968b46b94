/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include "settings/load.h"
#include "settings/settings.h"
#include "util/error.h"

/* Loads a settings file. */

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
                 "accepted settings are complete");
            settings_destroy(settings);
        } else {
            must(err.class == ERROR_SETTINGS && *err.message, "the error has a reason");
            /* Only an error about a difference from iniparser contains these words, unless the file
             * contains them.  Names of keys in messages are in lower case. */
            must(!strstr(err.message, "the installed iniparser") ||
                     strcasestr(text, "the installed iniparser"),
                 "the result does not depend on iniparser");
        }
    }
    free(text);
    return 0;
}

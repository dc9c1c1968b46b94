/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include "settings/load.h"
#include "settings/settings.h"
#include "settings/slurm/slurm_conf.h"
#include "util/error.h"

/* Loads a slurm.conf.  Bytes 0xff separate it from the files a, b and c, which it may include. */

static const char settings_text[] = "[source]\ndriver = sqlite\ndatabase = s\n"
                                    "[results]\ndriver = sqlite\ndatabase = r\n"
                                    "[slurm]\nconf = slurm.conf\n";

/* Checks that no sum over a partition's nodes exceeds the cluster's. */
static void look_at(const struct slurm_conf *conf)
{
    for (size_t i = 0; i < conf->partition_count; i++) {
        const struct slurm_totals *part = &conf->partitions[i].totals;
        must(part->nodes <= conf->totals.nodes && part->cpus <= conf->totals.cpus &&
                 part->memory <= conf->totals.memory && part->gres_count <= conf->totals.gres_count,
             "a partition has no more than the cluster");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *const names[] = { "slurm.conf", "a", "b", "c" };
    static int begun;
    if (!begun++)
        write_file("settings", settings_text, strlen(settings_text));
    char *text = text_of(bytes, size), *at = text;
    /* Slashes are replaced, so that no Include can reach other directories. */
    for (char *slash; (slash = memchr(text, '/', size));)
        *slash = '_';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t left = size - (size_t)(at - text);
        char *end = memchr(at, 0xff, left);
        size_t length = end ? (size_t)(end - at) : left;
        write_file(names[i], at, length);
        at += length + (end != NULL);
    }
    struct settings *settings;
    struct error err;
    if (!settings_load(&settings, "settings", SETTINGS_FOR_ALL, &err)) {
        look_at(settings->slurm);
        settings_destroy(settings);
    } else {
        must(err.class == ERROR_SETTINGS && *err.message, "the error has a reason");
    }
    free(text);
    return 0;
}

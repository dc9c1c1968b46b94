/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include "settings/load.h"
#include "settings/settings.h"
#include "settings/slurm/slurm_conf.h"
#include "util/error.h"

/* A slurm.conf, and behind bytes 0xff the files a, b and c that it may include. */

static const char settings_text[] = "[source]\ndriver = sqlite\ndatabase = s\n"
                                    "[results]\ndriver = sqlite\ndatabase = r\n"
                                    "[slurm]\nconf = slurm.conf\n";

/* No sum over nodes is above that of all nodes. */
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
    /* What is beyond our folder is none of our business. */
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
        must(err.class == ERROR_SETTINGS && *err.message, "a refusal says why");
    }
    free(text);
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "run/clusters.h"

#include <stdlib.h>
#include <string.h>

#include "settings/settings.h"
#include "source/layout.h"
#include "util/error.h"
#include "util/list.h"
#include "util/memory.h"
#include "util/text.h"

static bool listed(char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (reads_as(names[i], strlen(names[i]), name))
            return true;
    return false;
}

bool cluster_is_live(const struct cluster *clusters, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!clusters[i].deleted && reads_as(name, strlen(name), clusters[i].name))
            return true;
    return false;
}

static void complain_of_missing(const struct settings *settings, const struct cluster *all,
                                size_t all_count, void (*complain)(const struct error *))
{
    if (!strcmp(settings->clusters, "all"))
        return;
    const char *at = settings->clusters;
    for (char *name; (name = list_next(&at)); free(name))
        if (!cluster_is_live(all, all_count, name)) {
            struct error err;
            fail(&err, ERROR_DATA,
                 "cluster '%s', which [source] clusters names, is not in the accounting database",
                 name);
            complain(&err);
        }
}

static void complain_of_flaw(const struct cluster *cluster, void (*complain)(const struct error *))
{
    struct error err;
    fail(&err, ERROR_DATA, "cluster '%s': its name %s", cluster->name, cluster->flaw);
    complain(&err);
}

int clusters_wanted(const struct settings *settings, struct db *source, char *const *asked,
                    size_t asked_count, void (*complain)(const struct error *err), char ***clusters,
                    size_t *count, struct error *err)
{
    struct cluster *all;
    size_t all_count;
    *clusters = NULL;
    *count = 0;
    if (layout_of(settings)->clusters(source, settings, &all, &all_count, err))
        return -1;
    int result = 0;
    for (size_t i = 0; !result && i < asked_count; i++)
        if (!cluster_is_live(all, all_count, asked[i]) ||
            !settings_want_cluster(settings, asked[i]))
            result = fail(err, ERROR_USAGE, "there is no cluster '%s' %s", asked[i],
                          cluster_is_live(all, all_count, asked[i]) ? "in [source] clusters"
                                                                    : "in the accounting database");
    *clusters = memory_zeroed(all_count, sizeof **clusters);
    for (size_t i = 0; !result && i < all_count; i++) {
        if (all[i].deleted || !settings_want_cluster(settings, all[i].name) ||
            (asked_count && !listed(asked, asked_count, all[i].name)))
            continue;
        if (all[i].flaw)
            complain_of_flaw(&all[i], complain);
        else
            (*clusters)[(*count)++] = memory_text(all[i].name);
    }
    if (!result && !asked_count)
        complain_of_missing(settings, all, all_count, complain);
    clusters_free(all, all_count);
    if (!result && !*count)
        result = fail(err, ERROR_DATA, "the accounting database has no cluster to compute");
    if (result) {
        cluster_names_free(*clusters, *count);
        *clusters = NULL;
        *count = 0;
    }
    return result;
}

void cluster_names_free(char **clusters, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(clusters[i]);
    free(clusters);
}

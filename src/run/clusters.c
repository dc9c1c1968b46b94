/* SPDX-License-Identifier: MIT */
#include "run/clusters.h"

#include <stdlib.h>
#include <string.h>

#include "settings/settings.h"
#include "source/source.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

static bool is_listed(const struct cluster_names *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (reads_as(list->names[i], strlen(list->names[i]), name))
            return true;
    return false;
}

bool cluster_is_live(const struct cluster_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (!list->clusters[i].deleted && reads_as(name, strlen(name), list->clusters[i].name))
            return true;
    return false;
}

static void complain_of_missing(const struct settings *settings, const struct cluster_list *all,
                                void (*complain)(const struct error *))
{
    if (!strcmp(settings->clusters, "all"))
        return;
    const char *at = settings->clusters;
    for (char *name; (name = list_next(&at)); free(name))
        if (!cluster_is_live(all, name)) {
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

static int check_asked(const struct settings *settings, const struct cluster_list *all,
                       const struct cluster_names *asked, struct error *err)
{
    for (size_t i = 0; i < asked->count; i++) {
        bool is_live = cluster_is_live(all, asked->names[i]);
        if (!is_live || !settings_want_cluster(settings, asked->names[i]))
            return fail(err, ERROR_USAGE, "there is no cluster '%s' %s", asked->names[i],
                        is_live ? "in [source] clusters" : "in the accounting database");
    }
    return 0;
}

static int choose(const struct settings *settings, const struct cluster_list *all,
                  const struct cluster_names *asked, void (*complain)(const struct error *err),
                  struct cluster_names *clusters, struct error *err)
{
    if (check_asked(settings, all, asked, err))
        return -1;
    clusters->names = memory_zeroed(all->count, sizeof *clusters->names);
    for (size_t i = 0; i < all->count; i++) {
        const struct cluster *each = &all->clusters[i];
        if (each->deleted || !settings_want_cluster(settings, each->name) ||
            (asked->count && !is_listed(asked, each->name)))
            continue;
        if (each->flaw)
            complain_of_flaw(each, complain);
        else
            clusters->names[clusters->count++] = memory_text(each->name);
    }
    if (!asked->count)
        complain_of_missing(settings, all, complain);
    if (clusters->count)
        return 0;
    return fail(err, ERROR_DATA, "the accounting database has no cluster to compute");
}

int clusters_wanted(const struct settings *settings, struct db *source,
                    const struct cluster_names *asked, void (*complain)(const struct error *err),
                    struct cluster_names *clusters, struct error *err)
{
    static const struct cluster_names nobody;
    struct source of = source_of(settings, source, NULL);
    struct cluster_list all;
    *clusters = (struct cluster_names){ 0 };
    if (of.layout->clusters(&of, &all, err))
        return -1;
    int result = choose(settings, &all, asked ? asked : &nobody, complain, clusters, err);
    cluster_list_free(&all);
    if (result)
        cluster_names_free(clusters);
    return result;
}

void cluster_names_free(struct cluster_names *clusters)
{
    for (size_t i = 0; i < clusters->count; i++)
        free(clusters->names[i]);
    free(clusters->names);
    *clusters = (struct cluster_names){ 0 };
}

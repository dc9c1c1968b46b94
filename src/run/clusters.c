/* SPDX-License-Identifier: MIT */
#include "run/clusters.h"

#include <stdlib.h>
#include <string.h>

#include "settings/settings.h"
#include "source/source.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

bool cluster_is_listed(const struct cluster_names *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (reads_as(list->names[i], strlen(list->names[i]), name))
            return true;
    return false;
}

void cluster_names_add(struct cluster_names *clusters, const char *name)
{
    *memory_append(&clusters->names, &clusters->count) = memory_text(name);
}

const struct cluster *cluster_named(const struct cluster_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (reads_as(name, strlen(name), list->clusters[i].name))
            return &list->clusters[i];
    return NULL;
}

static bool is_live(const struct cluster_list *list, const char *name)
{
    const struct cluster *cluster = cluster_named(list, name);
    return cluster && !cluster->deleted;
}

void clusters_missing(const struct settings *settings, const struct cluster_list *all,
                      struct cluster_names *missing)
{
    const char *at = settings->clusters;
    if (!strcmp(at, "all"))
        return;
    for (char *name; (name = list_next(&at)); free(name))
        if (!is_live(all, name))
            cluster_names_add(missing, name);
}

void cluster_fail_missing(const char *name, struct error *err)
{
    fail(err, ERROR_DATA,
         "cluster '%s' of [source] clusters is not in the accounting database; correct the setting",
         name);
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
        bool live = is_live(all, asked->names[i]);
        if (!live || !settings_want_cluster(settings, asked->names[i]))
            return fail(err, ERROR_USAGE, "there is no cluster '%s' %s", asked->names[i],
                        live ? "in [source] clusters" : "in the accounting database");
    }
    return 0;
}

int clusters_choose(const struct settings *settings, const struct cluster_list *all,
                    const struct cluster_names *asked, void (*complain)(const struct error *err),
                    struct cluster_names *clusters, struct error *err)
{
    if (check_asked(settings, all, asked, err))
        return -1;
    for (size_t i = 0; i < all->count; i++) {
        const struct cluster *each = &all->clusters[i];
        if (each->deleted || !settings_want_cluster(settings, each->name) ||
            (asked->count && !cluster_is_listed(asked, each->name)))
            continue;
        if (each->flaw)
            complain_of_flaw(each, complain);
        else
            cluster_names_add(clusters, each->name);
    }
    if (clusters->count)
        return 0;
    return fail(err, ERROR_DATA, "the accounting database has no cluster to compute");
}

static void complain_of_missing(const struct settings *settings, const struct cluster_list *all,
                                void (*complain)(const struct error *))
{
    struct cluster_names missing = { 0 };
    struct error err;
    clusters_missing(settings, all, &missing);
    for (size_t i = 0; i < missing.count; i++) {
        cluster_fail_missing(missing.names[i], &err);
        complain(&err);
    }
    cluster_names_free(&missing);
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
    if (!asked || !asked->count)
        complain_of_missing(settings, &all, complain);
    int result = clusters_choose(settings, &all, asked ? asked : &nobody, complain, clusters, err);
    cluster_list_free(&all);
    if (result)
        cluster_names_free(clusters);
    return result;
}

int clusters_wanted_one(const struct settings *settings, struct db *source,
                        const struct cluster_names *asked,
                        void (*complain)(const struct error *err), char **name, struct error *err)
{
    struct cluster_names clusters;
    if (clusters_wanted(settings, source, asked, complain, &clusters, err))
        return -1;
    size_t count = clusters.count;
    if (count == 1)
        *name = memory_text(clusters.names[0]);
    cluster_names_free(&clusters);
    return count == 1
               ? 0
               : fail(err, ERROR_USAGE, "there are %zu clusters; name one with --cluster", count);
}

void cluster_names_free(struct cluster_names *clusters)
{
    for (size_t i = 0; i < clusters->count; i++)
        free(clusters->names[i]);
    free(clusters->names);
    *clusters = (struct cluster_names){ 0 };
}

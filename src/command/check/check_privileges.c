/* SPDX-License-Identifier: MIT */
#include "command/check/check_privileges.h"

#include <stdlib.h>
#include <string.h>

#include "command/check/check_next.h"
#include "run/clusters.h"
#include "settings/settings.h"
#include "source/source.h"
#include "util/complain.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

/* The clusters that there are, or are said to be where the list of them may not be read. */
static int find_clusters(const struct settings *settings, struct db *source,
                         struct cluster_names *clusters, struct cluster_names *said,
                         struct error *err)
{
    int result = clusters_wanted(settings, source, NULL, complain, clusters, err);
    const char *at = strcmp(settings->clusters, "all") != 0 ? settings->clusters : NULL;
    for (char *name; result && at && (name = list_next(&at));) {
        said->names = memory_grown(said->names, said->count, sizeof *said->names);
        said->names[said->count++] = name;
    }
    return result;
}

/* All GRANTs that the login lacks, at once. */
static int add_missing(const struct settings *settings, struct db *source,
                       const struct cluster_names *clusters, struct text *missing,
                       struct error *err)
{
    struct source of = source_of(settings, source, NULL);
    int result = of.layout->add_missing(missing, &of, err);
    for (size_t i = 0; !result && i < clusters->count; i++) {
        of.cluster = clusters->names[i];
        result = of.layout->add_missing(missing, &of, err);
    }
    return result;
}

int check_privileges(const struct settings *settings, struct db *source,
                     struct cluster_names *clusters, struct progress *progress, struct text *text,
                     struct error *err)
{
    struct text missing = { 0 };
    struct error ignored;
    struct cluster_names said = { 0 };
    int result = find_clusters(settings, source, clusters, &said, err);
    if (layout_of(settings)->add_missing)
        add_missing(settings, source, result ? &said : clusters, &missing, &ignored);
    if (missing.length) {
        text_add(text,
                 "  warning: the login may not read all that runs read; where it is there:\n");
        text_add(text, missing.bytes);
        progress->missing_privileges = true;
    }
    text_free(&missing);
    cluster_names_free(&said);
    return result;
}

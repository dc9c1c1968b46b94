/* SPDX-License-Identifier: MIT */
#include "command/show/computed_shares.h"

#include <string.h>

#include "compute/compute.h"
#include "report/shares.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "source/tres_minutes.h"
#include "util/index.h"

struct share_list *computed_shares(const struct settings *settings, const char *cluster,
                                   const struct computation *computation)
{
    const struct tree *tree = computation->tree;
    const struct names *names = computation->accounting->names;
    struct share_list *list =
        share_list_create(cluster, settings->algorithm, computation->record.as_of);
    list->terms = terminology_of(settings);
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        const struct tres_minutes_texts tres = tres_minutes_of(computation->tres_minutes, i);
        struct share_association association = {
            .id = node->id,
            .parent_id = i ? tree->nodes[node->parent].id : 0,
            .names = { names_text(names, node->account), names_text(names, node->user),
                       names_text(names, node->partition) },
            .parent_shares = node_has_parent_shares(node),
            .shares = node->shares,
            .values = &computation->values[i],
            .grp_tres_mins = tres.group_limit,
            .tres_run_mins = tres.running,
        };
        for (size_t name = 0; name < 3; name++)
            association.lengths[name] = strlen(association.names[name]);
        share_list_add(list, &association);
    }
    share_list_sort(list);
    return list;
}

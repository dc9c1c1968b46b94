/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_T_LIB_SITE_H
#define FAIRMILL_T_LIB_SITE_H

#include "core/usage/decay_table.h"
#include "core/fairshare/fairshare.h"
#include "core/finding.h"
#include "core/tree/tree.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"

/*
 * Builds a small site from a drawing in a test.  Each association is:
 *
 *     id parent-account account user shares usage
 *
 * `-` is an empty name, and `parent` as shares means SHARES_PARENT.  A `!` before the id marks a
 * deleted row.  An account's own usage is that of deleted users.  Usage is in TRES-seconds, without
 * decay.
 */

struct site {
    struct association rows[64];
    double usage[64];
    size_t count;
    struct names *names;
    uint32_t empty;
    struct findings *findings;
    struct decay_table *decay;
    struct tree *tree;
    struct values *values;
    struct error err;
};

__attribute__((unused)) static uint32_t site_name(struct site *site, const char *name)
{
    return strcmp(name, "-") ? names_add(site->names, name, strlen(name)) : site->empty;
}

__attribute__((unused)) static void site_draw(struct site *site, const char *drawing)
{
    *site = (struct site){ .names = names_create(),
                           .findings = findings_create(),
                           .decay = decay_table_create(0, 1750500000, 0) };
    site->empty = names_add(site->names, "", 0);
    while (*drawing) {
        char id[16], parent[32], account[32], user[32], shares[16];
        double usage = 0;
        int length = 0;
        if (sscanf(drawing, " %15s %31s %31s %31s %15s %lf%n", id, parent, account, user, shares,
                   &usage, &length) != 6)
            break;
        drawing += length;
        bool deleted = id[0] == '!';
        site->usage[site->count] = usage;
        site->rows[site->count++] = (struct association){
            .id = (uint32_t)atoi(id + deleted),
            .account = site_name(site, account),
            .user = site_name(site, user),
            .partition = site->empty,
            .parent_account = site_name(site, parent),
            .shares = strcmp(shares, "parent") ? atoi(shares) : SHARES_PARENT,
            .deleted = deleted,
            .order = (uint32_t)site->count,
        };
    }
}

/* Builds the tree, and adds the usage of each association to its node, or to that of the nearest
 * existing ancestor.  Returns false on error, with the message in site->err. */
__attribute__((unused)) static bool site_build(struct site *site, enum bad_rows bad_rows)
{
    double usage[64];
    uint32_t ids[64];
    for (size_t i = 0; i < site->count; i++) {
        ids[i] = site->rows[i].id;
        usage[i] = site->usage[i];
    }
    if (tree_build(
            &site->tree,
            &(struct associations){ site->rows, site->count, site->names, site->empty, false },
            bad_rows, site->findings, &site->err))
        return false;
    for (size_t i = 0; i < site->count; i++) {
        struct wide sum;
        uint32_t place = tree_place(site->tree, ids[i]);
        if (place != NO_NODE && decay_table_sum_of(site->decay, usage[i], &sum))
            wide_add(&site->tree->nodes[place].usage, &sum);
    }
    return !tree_roll_up_usage(site->tree, &site->err);
}

__attribute__((unused)) static void site_compute(struct site *site, enum conformance conformance,
                                                 double capacity, double pbs_minimum_usage)
{
    struct fairshare_options options = { conformance, 1,           pbs_minimum_usage,
                                         capacity,    site->decay, NULL };
    free(site->values);
    site->values = memory_zeroed(site->tree->count, sizeof *site->values);
    fairshare_compute(site->tree, &options, site->values);
}

__attribute__((unused)) static const struct node *site_node(const struct site *site, uint32_t id)
{
    return &site->tree->nodes[tree_place(site->tree, id)];
}

__attribute__((unused)) static const struct values *site_values(const struct site *site,
                                                                uint32_t id)
{
    return &site->values[tree_place(site->tree, id)];
}

__attribute__((unused)) static void site_erase(struct site *site)
{
    names_destroy(site->names);
    findings_destroy(site->findings);
    decay_table_destroy(site->decay);
    tree_destroy(site->tree);
    free(site->values);
}

#endif

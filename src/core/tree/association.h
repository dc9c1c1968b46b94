/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_TREE_ASSOCIATION_H
#define FAIRMILL_CORE_TREE_ASSOCIATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_NODE UINT32_MAX      /* no such node, or no such row on its way to become one */
#define SHARES_PARENT INT32_MAX /* what sacctmgr stores for fairshare=parent */

/* An association as the source has it.  Names are numbers in a struct names. */
struct association {
    uint32_t id;
    uint32_t parent_id; /* 0 where the source has none: then the names link */
    uint32_t account, user, partition, parent_account;
    int32_t shares;
    bool deleted;
    bool is_default;   /* slurmdbd: its account is the default one of its user */
    bool usage_is_set; /* as in struct node */
    uint32_t order;    /* place among all rows in `lineage` or `lft` order; slurmctld ties only */
};

/* All rows of a cluster, deleted ones included, in any order. */
struct associations {
    struct association *rows;
    size_t count;
    struct names *names;
    uint32_t empty_name; /* the number of "" */
    bool linked_by_id;   /* every row has its parent's id; two may have the same names */
};

/* What to do with a row whose parent is missing, that is in a cycle or there twice. */
enum bad_rows { BAD_ROWS_FAIL, BAD_ROWS_SKIP };

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_TREE_ASSOCIATION_H
#define FAIRMILL_CORE_TREE_ASSOCIATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_NODE UINT32_MAX      /* no such node, or no such row while the tree is built */
#define SHARES_PARENT INT32_MAX /* the value that sacctmgr stores for fairshare=parent */

/* An association in the accounting database.  Names are numbers in a struct names. */
struct association {
    uint32_t id;
    uint32_t parent_id; /* 0 if unknown; then the parent is found by name */
    uint32_t account, user, partition, parent_account;
    int32_t shares;
    bool deleted;
    bool is_default;   /* slurmdbd: `account` is the default account of `user` */
    bool usage_is_set; /* see struct node */
    uint32_t order;    /* position by `lineage` or `lft`; orders ties as slurmctld does */
};

/* All rows of a cluster in any order, including deleted ones. */
struct associations {
    struct association *rows;
    size_t count;
    struct names *names;
    uint32_t empty_name; /* number of the name "" */
    bool linked_by_id;   /* every row has its parent's id, and two rows may have the same names */
};

/* The treatment of a row that repeats another row, is in a cycle, or lacks a parent. */
enum bad_rows { BAD_ROWS_FAIL, BAD_ROWS_SKIP };

#endif

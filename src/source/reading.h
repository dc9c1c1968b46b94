/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SOURCE_READING_H
#define FAIRMILL_SOURCE_READING_H

#include <stddef.h>
#include <stdint.h>

struct accounting;
struct association;
struct cluster;
struct db;
struct db_value;
struct error;

/* What the layouts share. */

/* Run a query and hand each row to `take`; ends early where that fails. */
int reading_each(struct db *db, const char *sql, const struct db_value *arguments,
                 size_t argument_count, const char *types,
                 int (*take)(void *context, const struct db_value *row, struct error *err),
                 void *context, struct error *err);
/* The same where very many rows are expected. */
int reading_many(struct db *db, const char *sql, const struct db_value *arguments,
                 size_t argument_count, const char *types,
                 int (*take)(void *context, const struct db_value *row, struct error *err),
                 void *context, struct error *err);

/* A count or an instant; what is NULL or negative is 0. */
uint64_t reading_number(const struct db_value *value);
/* The number of a name in the accounting's names; NULL is "". */
uint32_t reading_name(struct accounting *accounting, const struct db_value *value);

/* The columns of an association that every layout has, in the order in which they are read:
 * id, parent id, account, user, partition, shares, deleted ("iitttii"), then the layout's own. */
enum {
    READ_ID,
    READ_PARENT_ID,
    READ_ACCOUNT,
    READ_USER,
    READ_PARTITION,
    READ_SHARES,
    READ_DELETED,
    READ_OWN
};
/* Append an association; ERROR_DATA where an id or shares are out of range.  *added is it. */
int reading_association(struct accounting *accounting, const struct db_value *row,
                        struct association **added, struct error *err);

/* Clusters as they are read. */
struct cluster_list {
    struct cluster *clusters;
    size_t count;
};
/* Append one: its name as text, whether it is deleted as integer. */
int reading_cluster(void *cluster_list, const struct db_value *row, struct error *err);
/* Sort them, each name once. */
void reading_sort_clusters(struct cluster_list *list);

#endif

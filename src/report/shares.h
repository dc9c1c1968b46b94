/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_SHARES_H
#define FAIRMILL_REPORT_SHARES_H

#include <stdint.h>

#include "report/column.h"
#include "util/name_list.h"

struct answer;
struct association_selection;
struct permissions;

/*
 * A cluster's tree in sshare's columns, as `fairmill show` prints it.  The values come from the
 * current run or from the result tables.
 */

struct share_row {
    int64_t id, parent_id; /* parent_id is 0 for the root */
    const char *account, *user, *partition;
    bool parent_shares;
    int64_t shares;
    /* NAN if the value is NULL in the results. */
    double norm_shares, raw_usage, norm_usage, effective_usage, fairshare, level_fs;
    const char *grp_tres_mins, *tres_run_mins, *grp_tres_raw; /* NULL: none */
    /* In TRES-seconds, indexed as share_list.tres; NULL: 0 for each TRES. */
    const double *tres_used;
    const int64_t *tres_running;
    uint32_t place; /* sort key among siblings, before the names */
    uint32_t depth; /* 0 for the root */
    bool shown;
};

struct terminology;

struct share_list {
    const char *cluster;
    const struct algorithm *algorithm;
    int64_t as_of;
    /* terminology of headings in text output; NULL: sshare's headings */
    const struct terminology *terms;
    struct arena *arena;
    struct share_row *rows;
    size_t count;
    const char *nothing_runs; /* `cpu=0,mem=0`; NULL if running jobs are unknown */
    const char *const *tres;  /* names of the TRES of tres_used and tres_running; not owned */
    size_t tres_count;
};

struct share_list *share_list_create(const char *cluster, const struct algorithm *algorithm,
                                     int64_t as_of);
void share_list_destroy(struct share_list *list);

/* Input of share_list_add().  The names are bytes, which are copied as UTF-8. */
struct share_association {
    int64_t id, parent_id;
    const char *names[3]; /* account, user, partition */
    size_t lengths[3];
    bool parent_shares;
    int64_t shares;
    const struct values *values;
    const char *grp_tres_mins, *tres_run_mins, *grp_tres_raw; /* NULL: none */
    uint32_t place; /* sort key among siblings; all 0: sort by name */
};
void share_list_add(struct share_list *list, const struct share_association *association);

/* Sets the text of `grp_tres_raw` of a row; copies it.  Call this before share_list_sort(). */
void share_list_set_usage(struct share_list *list, size_t row, const char *grp_tres_raw);

/* Sets tres_used and tres_running of a row; copies list->tres_count numbers of each.  Call this
 * before share_list_sort(). */
void share_list_set_seconds(struct share_list *list, size_t row, const double *used,
                            const int64_t *running);

/*
 * Call after all associations were added.  Sorts depth first.  Siblings are sorted by place, then
 * users before accounts, then by name, bytewise.  Each row gets the TRES of the root's usage.
 */
void share_list_sort(struct share_list *list);
/* Hides the users that the requesting user may not see. */
void share_list_hide_others(struct share_list *list, const struct permissions *permissions);
/*
 * Hides the users that may not be seen and the associations that are not selected.  If names or
 * users are selected, the accounts on the path to them stay visible.
 */
void share_list_filter(struct share_list *list, const struct permissions *permissions,
                       const struct association_selection *selection);
/* Hides all accounts. */
void share_list_hide_accounts(struct share_list *list);

/*
 * A table (report/table.h) with the columns of sshare and of the view fairmill_sshare.
 * share_list_answer() adds the shown rows of a list as one cluster.
 */
extern const struct table_layout share_layout;
/*
 * Fills `columns` with these columns.  If `all`, they also show TRES.  If `partitions`, text output
 * has the partition column even if it is empty.
 */
#define SHARE_COLUMNS 18
void share_columns(struct column columns[SHARE_COLUMNS], bool all, bool partitions);
void share_list_answer(const struct share_list *list, struct answer *answer);

#endif

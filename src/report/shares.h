/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_SHARES_H
#define FAIRMILL_REPORT_SHARES_H

#include <stdint.h>

#include "report/column.h"
#include "util/name_list.h"

struct answer;
struct association_selection;
struct permissions;

/* A cluster's tree in sshare's columns, from a run that was just computed or from the result
 * tables, and as `fairmill show` prints it. */

struct share_row {
    int64_t id, parent_id; /* parent_id 0: the root */
    const char *account, *user, *partition;
    bool parent_shares;
    int64_t shares;
    /* NAN is NULL. */
    double norm_shares, raw_usage, norm_usage, effective_usage, fairshare, level_fs;
    const char *grp_tres_mins, *tres_run_mins; /* NULL: nothing */
    uint32_t place;                            /* among siblings it goes before names */
    uint32_t depth;
    bool shown;
};

struct terminology;

struct share_list {
    const char *cluster;
    const struct algorithm *algorithm;
    int64_t as_of;
    const struct terminology *terms; /* of people's headings; NULL: sshare's */
    struct arena *arena;
    struct share_row *rows;
    size_t count;
    const char *nothing_runs; /* `cpu=0,mem=0`; NULL where nobody knows what runs */
};

struct share_list *share_list_create(const char *cluster, const struct algorithm *algorithm,
                                     int64_t as_of);
void share_list_destroy(struct share_list *list);

/* An association to be added; its names are bytes, copied as UTF-8. */
struct share_association {
    int64_t id, parent_id;
    const char *names[3]; /* account, user, partition */
    size_t lengths[3];
    bool parent_shares;
    int64_t shares;
    const struct values *values;
    const char *grp_tres_mins, *tres_run_mins; /* NULL: nothing */
    uint32_t place;                            /* among its siblings; all 0: by names */
};
void share_list_add(struct share_list *list, const struct share_association *association);

/* Once all are there: depth first, by place, users before accounts, bytewise. */
void share_list_sort(struct share_list *list);
/* Of what is shown, no user whom the viewer may not see. */
void share_list_hide_others(struct share_list *list, const struct permissions *permissions);
/* Of the rest, only the associations that are selected, and with names or users the accounts on the
 * way to them. */
void share_list_filter(struct share_list *list, const struct permissions *permissions,
                       const struct association_selection *selection);
/* Of what is shown, no accounts. */
void share_list_hide_accounts(struct share_list *list);

/* As a table (report/table.h) of sshare's columns, those of the view fairmill_sshare: the list as a
 * cluster of it. */
extern const struct table_layout share_layout;
/* The same columns as they are chosen: with `all` also those of TRES, with `partitions` people get
 * that column even where nobody has a partition. */
#define SHARE_COLUMNS 17
void share_columns(struct column columns[SHARE_COLUMNS], bool all, bool partitions);
void share_list_answer(const struct share_list *list, struct answer *answer);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PUBLISHED_H
#define FAIRMILL_RESULTS_PUBLISHED_H

#include "core/fairshare/fairshare.h"
#include "report/selection.h"
#include "results/permissions_rows.h"
#include "util/name_list.h"

struct db_value;

/* What is published, as every command reads it: which clusters, how each was computed, and the rows
 * of their associations.  All of it is read in one transaction. */

/* Whom a command was asked about; an empty list asks for all. */
struct published_filter {
    struct name_list clusters, names, accounts, users;
    bool of_jobs;    /* about the jobs of these users */
    bool of_any_age; /* the command itself says how old the results are */
};

/* A cluster that is published, and the run that published it. */
struct published_cluster {
    char *name;
    const struct algorithm *algorithm;
    int64_t as_of;
    uint64_t half_life; /* seconds; 0: no decay */
    char *time_zone;
    struct settings *settings;        /* of the run, read back from what it recorded */
    struct fairshare_options options; /* of the run */
    char *usage_unit;                 /* what its usage is counted in */
    /* From published_read_tree() on: the associations as the core has them, to be asked about and
     * to be computed again with something changed.  Usage is as published, a double of decayed
     * TRES-seconds, so it is exact where that is: mostly where nothing decays. */
    struct decay_table *decay;
    struct names *names;   /* UTF-8 */
    struct tree *tree;     /* NULL before; usage is rolled up */
    struct values *values; /* by node, as published */
    uint32_t *order;       /* by node, likewise: 1 + how many are ahead; 0: has no fairshare */
};

struct published {
    struct db *db;                      /* in a read-only transaction, up to published_close() */
    struct permissions permissions;     /* who is told */
    struct published_cluster *clusters; /* by name */
    size_t count;
    struct published_filter filter;         /* of published_select(), whose names must stay */
    struct association_selection selection; /* its names, accounts and users */
};

/* The time zone that all published runs used; NULL if they differ, if it is the host's, or if
 * nothing is published. */
const char *published_zone(const struct published *published);
/* When usage was reset for everybody, but by the ledger: as the run that published had it. */
struct reset_period published_reset_period(const struct published_cluster *cluster);
/* Open the results, begin the transaction and read which clusters are published.  Free `published`
 * also when this fails. */
int published_begin(struct published *published, const struct settings *settings,
                    struct error *err);
/* Whether a cluster of this name is among them. */
bool published_has(const struct published *published, const char *asked);
/* Leave only the clusters that are asked for, and warn of stale results.  ERROR_OTHER where nothing
 * is published yet, ERROR_USAGE where a cluster is not there or a user may not be shown. */
int published_select(struct published *published, const struct published_filter *filter,
                     struct error *err);
/* Say on standard error how old stale results are; once a process, as some commands open them
 * twice.  published_select() does so. */
int published_warn_of_age(const struct published *published, struct error *err);
/* End the transaction; what was read stays. */
void published_close(struct published *published);
void published_free(struct published *published);

/* Those of the layout of a cluster; NULL: of the first one. */
const struct terminology *published_words(const struct published *published, const char *cluster);

/* What the cluster counts as usage, if it chooses that; NULL: it counts TRES-seconds. */
const char *published_unit(const struct published_cluster *cluster);

/* What is private (PRIVATE_...) on any of the clusters, by what their runs recorded or by the
 * settings that read them: what everybody may read names no user then. */
unsigned published_private(const struct published *published);

/* The one cluster that was asked for; NULL and ERROR_USAGE where there are several. */
struct published_cluster *published_only(const struct published *published, struct error *err);

/* An association as it is published; texts are UTF-8 and hold during the call. */
struct published_row {
    int64_t id, parent_id; /* parent_id 0: the root */
    const char *account, *user, *partition;
    bool parent_shares;
    int64_t shares; /* 0 where they are the parent's */
    struct values values;
    uint32_t order;     /* 1 + how many are ahead; 0: it has no fairshare */
    uint32_t tie_order; /* its place where slurmctld visits what ties; NO_TIE_ORDER */
    const char *grp_tres_mins, *tres_run_mins; /* NULL: nothing */
    bool usage_is_set;
};
#define NO_TIE_ORDER UINT32_MAX
typedef void published_row_taker(void *context, const struct published_row *row);

/* Complain of values of an association at a point of history that are no numbers: fairshare,
 * usage_raw, level_fs.  No run of ours has written such; whoever reads them leaves them out. */
void published_check_point(const char *cluster, int64_t id, int64_t at,
                           const struct db_value *values);

/* Hand out the rows of a cluster, by id, and note which accounts and users of the filter are among
 * them. */
int published_read_rows(struct published *published, const struct published_cluster *cluster,
                        published_row_taker *take, void *context, struct error *err);
/* The tree and its values. */
int published_read_tree(struct published *published, struct published_cluster *cluster,
                        struct error *err);
/* Once the rows of all clusters were read: ERROR_USAGE where a NAME, account or user of the
 * filter was not met. */
int published_check_names(const struct published *published, struct error *err);
/* The same for who has no use for the rows: they are read now if a name was not met yet. */
int published_look_for_names(struct published *published, struct error *err);

#endif

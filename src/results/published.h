/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PUBLISHED_H
#define FAIRMILL_RESULTS_PUBLISHED_H

#include "core/fairshare/fairshare.h"
#include "core/insight/standing.h"
#include "report/selection.h"
#include "results/permissions_rows.h"
#include "util/name_list.h"

struct db_value;
struct row_ids;

/*
 * The published results as commands read them.  They consist of the clusters, the settings of their
 * runs, and the rows of their associations.  All data are read in one transaction.  Functions that
 * return int return -1 on error.
 */

/* The selection of a command; an empty list selects all. */
struct published_filter {
    struct name_list clusters, names, accounts, users;
    bool of_jobs;    /* the command shows jobs of these users */
    bool of_any_age; /* the command shows the age of the results itself */
};

/* A published cluster, and the run that published it. */
struct published_cluster {
    char *name;
    const struct algorithm *algorithm;
    int64_t as_of;
    uint64_t half_life;               /* in seconds; 0 means no decay */
    char *time_zone, *version;        /* version: of the fairmill that ran */
    struct settings *settings;        /* settings of the run, as it recorded them */
    struct fairshare_options options; /* options of the run */
    char *usage_unit;                 /* unit of its usage */
    int64_t associations, users;      /* numbers of the run; associations of users are users */
    /*
     * Set by published_read_tree(): the associations as the core represents them, for queries and
     * for computations with changes.  Usage is converted from the published double of decayed
     * TRES-seconds.  The result is exact if the double is exact, which is mostly the case without
     * decay.
     */
    struct decay_table *decay;
    struct names *names; /* UTF-8 */
    /* NULL before that call; an account's usage includes its members' usage */
    struct tree *tree;
    struct values *values; /* indexed by node, as published */
    /* Indexed by node: 1 + the number of members that rank higher; 0 without fairshare. */
    uint32_t *order;
    struct user_places *places; /* indexed by node; 0 if an older release published the results */
    bool is_part;               /* the tree was read by published_read_levels() */
};

struct published {
    struct db *db;                      /* in a read-only transaction until published_close() */
    struct permissions permissions;     /* of the requesting user */
    struct published_cluster *clusters; /* in ascending order of name */
    size_t count;
    struct published_filter filter;         /* from published_select(); not owned */
    struct association_selection selection; /* names, accounts and users of the filter */
};

/*
 * Returns the time zone that all published runs used.  Returns NULL if they differ, if it is the
 * host's, or if nothing is published.
 */
const char *published_zone(const struct published *published);

/*
 * Returns the period of the resets that apply to all users, according to the settings of the
 * published run.  Ledger resets are not included.
 */
struct reset_period published_reset_period(const struct published_cluster *cluster);

/*
 * Opens the results, begins the transaction and reads which clusters are published.  Call
 * published_free() even if this fails.
 */
int published_begin(struct published *published, const struct settings *settings,
                    struct error *err);

/* Returns true if a cluster with this name is published. */
bool published_has(const struct published *published, const char *asked);

/*
 * Keeps only the clusters of the filter, and calls published_warn().  Fails with ERROR_OTHER if
 * nothing is published yet.  Fails with ERROR_USAGE if a cluster of the filter does not exist, or
 * if the requesting user must not see a user of the filter.
 */
int published_select(struct published *published, const struct published_filter *filter,
                     struct error *err);

/*
 * Warns on standard error of stale results, with their age, and of results of an earlier release,
 * which lack what this release adds.  Warns only once in a process, because some commands open the
 * results twice.
 */
int published_warn(const struct published *published, struct error *err);

/* Ends the transaction; the data that was read remains valid. */
void published_close(struct published *published);
void published_free(struct published *published);

/*
 * Returns the terminology of a cluster's scheduler, or of the first cluster's if `cluster` is NULL.
 */
const struct terminology *published_words(const struct published *published, const char *cluster);

/*
 * Returns the unit of usage if the cluster's scheduler has a configurable unit.  Otherwise returns
 * NULL, which means TRES-seconds.
 */
const char *published_unit(const struct published_cluster *cluster);

/*
 * Returns the TRES that the cluster can deliver, as its run computed fairshare, or NAN if unknown.
 * Without decay, only the settings can contain it.  If they do not, the cluster's tree must have
 * been read.
 */
double published_capacity(const struct published_cluster *cluster);

/*
 * Returns the kinds of information (PRIVATE_...) that are hidden on any of the clusters, according
 * to the settings of their runs or of this process.  If the result is not 0, output that all users
 * can read must not contain user names.
 */
unsigned published_private(const struct published *published);

/*
 * Returns the only selected cluster.  If several clusters are selected, sets ERROR_USAGE and
 * returns NULL.
 */
struct published_cluster *published_only(const struct published *published, struct error *err);

/* A published association.  Texts are UTF-8 and valid during the call. */
struct published_row {
    int64_t id, parent_id; /* parent_id is 0 for the root */
    const char *account, *user, *partition;
    bool parent_shares;
    int64_t shares; /* 0 if `parent_shares` is true */
    struct values values;
    uint32_t order;     /* 1 + the number of members that rank higher; 0: no fairshare */
    uint32_t tie_order; /* its place in slurmctld's order of ties, or NO_TIE_ORDER */
    const char *grp_tres_mins, *tres_run_mins; /* may be NULL */
    bool usage_is_set;
    struct user_places places; /* 0 if an older release published the row */
};
#define NO_TIE_ORDER UINT32_MAX
typedef void published_row_taker(void *context, const struct published_row *row);

/*
 * Checks the values fairshare, usage_raw and level_fs of an association at a history point.  Prints
 * a warning for each value that is not a number (NAN).  No run writes such values, and callers skip
 * them.
 */
void published_check_point(const char *cluster, int64_t id, int64_t at,
                           const struct db_value *values);

/*
 * Calls `take` for each association of a cluster, in ascending order of id.  Records which accounts
 * and users of the filter were found.
 */
int published_read_rows(struct published *published, const struct published_cluster *cluster,
                        published_row_taker *take, void *context, struct error *err);

/* Works as published_read_rows() for these ids, in ascending order; NULL means all. */
int published_read_rows_of(struct published *published, const struct published_cluster *cluster,
                           const struct row_ids *ids, published_row_taker *take, void *context,
                           struct error *err);

/*
 * Reads the published associations of a cluster into its members `tree`, `names`, `values`, `order`
 * and `places`, instead of those that were read before.  Fails with ERROR_OTHER if no rows are
 * published, and with another class if the rows do not form a tree.
 */
int published_read_tree(struct published *published, struct published_cluster *cluster,
                        struct error *err);

/*
 * Works as published_read_tree() for these ids, which must include the root; NULL means all.  If it
 * fails, these members remain NULL.
 */
int published_read_tree_of(struct published *published, struct published_cluster *cluster,
                           const struct row_ids *ids, struct error *err);

/*
 * Call after the rows of all clusters were read.  Fails with ERROR_USAGE if a NAME, account or user
 * of the filter was not found.
 */
int published_check_names(const struct published *published, struct error *err);

#endif

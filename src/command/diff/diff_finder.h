/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_DIFF_DIFF_FINDER_H
#define FAIRMILL_COMMAND_DIFF_DIFF_FINDER_H

#include <stdbool.h>
#include <stdint.h>

#include "compute/computation.h"
#include "compute/recorded_state.h"
#include "compute/stepped_usage.h"
#include "report/differences.h"
#include "settings/settings.h"

struct names;
struct printed_row;
struct sshare_print;
struct tree;

/* What diff is asked: a published cluster, and what sshare or scontrol printed of it. */
struct diff_case {
    const struct settings *settings;
    const struct published_cluster *cluster;
    const char *login; /* the only user who may be shown; NULL: everybody may be */
    const struct sshare_print *print;
    struct db *source; /* NULL: it cannot be read */
    int64_t printed_at;
    uint64_t period;      /* of slurmctld's steps, seconds */
    uint64_t newest_step; /* 0: to be found */
    bool ends_free;       /* what a job ran since the last step is not charged when it ends */
};

/* What the search for causes knows.  It goes from stage to stage, from our values to the printed
 * ones; each stage takes one cause away, and what it changes is what the cause explains. */

/* What the values are at one stage, by node of the base tree. */
struct stage {
    double *usage, *fairshare, *level_fs;
};

/* Settings without some causes: each one that is left out brings them nearer to what slurmctld
 * does. */
struct reduced_settings {
    struct settings settings;    /* a copy */
    struct charge_weights whole; /* what slurm.conf says of billing, once it is needed */
};

struct finder {
    const struct diff_case *asked;
    struct differences *differences;
    struct ledger *ledger;           /* NULL once it is left out */
    struct recorded_state notes;     /* without it */
    struct reduced_settings reduced; /* less the causes that were taken away */
    struct fairshare_options options;
    const struct tree *tree; /* the base: all stages are by its nodes */
    struct names *names;
    struct computation first, newest; /* as the settings have it, and less causes */
    bool computed;                    /* `newest` is another one than `first` */
    struct printed_match *match;
    struct stage last;
    double *own;                 /* usage charged to the association itself, at this stage */
    double *blur, *fresh, *late; /* of stepped usage; NULL without jobs */
    struct stepped_usage stepped;
};

void stage_free(struct stage *stage);
/* The stage with these values, which are by the nodes of `tree`. */
struct stage finder_stage_of(const struct finder *finder, const struct tree *tree,
                             const struct values *values);

/* Where a node of the base is in another tree; NO_NODE where it is not. */
uint32_t place_in_tree(const struct tree *tree, const struct node *node);
/* How much a value changes; 0 where one of them is NAN. */
double stage_change(double from, double to);
/* The cause explains what is different at this stage, which is the last from now on.  The finder
 * frees it. */
void finder_explain(struct finder *finder, enum cause cause, struct stage stage);

/* Compute the cluster from the accounting database, by the settings less the causes that were taken
 * away, as of the print.  -1 leaves nothing to be freed. */
int finder_compute(struct finder *finder, struct computation *computation, struct error *err);

/* A tree like the base, with the printed shares where `printed`; to be destroyed. */
int finder_build_tree(const struct finder *finder, bool printed, struct tree **tree,
                      struct error *err);
/* Every value of such a tree in which the associations have this usage of their own, in
 * TRES-seconds by node of the base; to be freed.  NULL on failure. */
struct values *finder_values_with(const struct finder *finder, struct tree *tree, const double *own,
                                  struct error *err);
/* The stage of such a tree with finder->own. */
int finder_compute_stage(const struct finder *finder, struct tree *tree, struct stage *stage,
                         struct error *err);

/* Which association of a tree each printed line is. */
struct printed_match {
    const struct printed_row **rows; /* by node; NULL: not printed */
    struct usage_bounds *bounds;     /* by node: of the usage that was printed */
    uint32_t *nodes;                 /* by row of the differences */
};

/* Fill it, and the differences' rows with the names of those that are in both.  The print may have
 * ids; else names tell, and of those that are printed alike, as partitions are not always, those
 * with the printed shares come first, then they are in slurmctld's own order where the tree is
 * `ordered`, else in that of partitions.
 *
 * RawUsage is cut to an integer, but NormUsage has an association's part of the root's usage to
 * all its digits, under Fair Tree of the same instant.  So what one prints narrows down the root's
 * usage, and that all others. */
void printed_match_make(struct printed_match *match, const struct sshare_print *print,
                        const struct tree *tree, const struct names *names, bool ordered,
                        struct differences *differences);
void printed_match_free(struct printed_match *match);

/* Leave a cause out of the settings; false where it is not in them.  `findings` are those of the
 * computation that was made with the settings as they are. */
bool settings_without(struct reduced_settings *reduced, enum cause cause,
                      const struct findings *findings);

/* Note what cannot be known, with these settings and maybe without the accounting database. */
void diff_note_unknown(struct differences *differences, const struct settings *settings,
                       bool has_source, double unattributed_usage);

#endif

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

/* The input of a comparison: a published cluster, and the output of sshare or scontrol for it. */
struct diff_case {
    const struct settings *settings;
    const struct published_cluster *cluster;
    const char *login; /* the only user who may be shown; NULL: all users may be shown */
    const struct sshare_print *print;
    struct db *source; /* NULL if it cannot be read */
    int64_t printed_at;
    uint64_t period;      /* seconds between two decay steps of slurmctld */
    uint64_t newest_step; /* epoch seconds of the newest step; 0: unknown, search for it */
    /* slurmctld does not charge a job for the time between the last step and the job's end */
    bool ends_free;
};

/* The state of the search for causes.  The search proceeds in stages from fairmill's values to the
 * printed values.  Each stage removes one cause, and the resulting change of a value is the amount
 * of that cause. */

/* The values at one stage, indexed by node of the base tree. */
struct stage {
    double *usage, *fairshare, *level_fs;
};

/* Settings from which some causes were removed.  Each removed cause makes them more similar to
 * slurmctld's behavior. */
struct reduced_settings {
    struct settings settings;    /* a copy, which is changed */
    struct charge_weights whole; /* the billing weights of slurm.conf, read when they are needed */
};

struct finder {
    const struct diff_case *asked;
    struct differences *differences;
    struct ledger *ledger;           /* NULL after CAUSE_LEDGER was removed */
    struct recorded_state notes;     /* the recorded state, without the ledger */
    struct reduced_settings reduced; /* the settings without the causes that were removed */
    struct fairshare_options options;
    const struct tree *tree; /* the base tree; all stages use its nodes */
    struct names *names;
    /* `first` with the unchanged settings, `newest` with the reduced settings */
    struct computation first, newest;
    bool computed; /* `newest` differs from `first` */
    struct printed_match *match;
    struct stage last;
    double *own;                 /* usage charged to the association itself, at this stage */
    double *blur, *fresh, *late; /* see struct stepped_usage; NULL without `source` */
    struct stepped_usage stepped;
};

void stage_free(struct stage *stage);
/* Returns a stage with these values, which are indexed by node of `tree`.  The stage is indexed by
 * node of the base tree; the caller frees it with stage_free(). */
struct stage finder_stage_of(const struct finder *finder, const struct tree *tree,
                             const struct values *values);

/* Returns the index in `tree` of a node of the base tree, or NO_NODE. */
uint32_t place_in_tree(const struct tree *tree, const struct node *node);
/* Returns the change of a value, or 0 if either value is NAN. */
double stage_change(double from, double to);
/* Attributes the change since the last stage to `cause`.  `stage` becomes the last stage, and the
 * finder takes ownership of it. */
void finder_explain(struct finder *finder, enum cause cause, struct stage stage);

/* Computes the cluster from the accounting database for the time of the output, with the reduced
 * settings.  Returns -1 on error, and then `computation` holds no memory. */
int finder_compute(struct finder *finder, struct computation *computation, struct error *err);

/* Builds a tree like the base tree; if `printed`, with the printed shares.  The caller destroys
 * it. */
int finder_build_tree(const struct finder *finder, bool printed, struct tree **tree,
                      struct error *err);
/* Computes the values of a tree from finder_build_tree().  `own` contains the usage charged to each
 * association itself in TRES-seconds, indexed by node of the base tree.  The caller frees the
 * values.  Returns NULL on error. */
struct values *finder_values_with(const struct finder *finder, struct tree *tree, const double *own,
                                  struct error *err);
/* Sets `*stage` to the values of a tree from finder_build_tree() with the usage in finder->own.
 * The caller frees it with stage_free().  Returns -1 on error. */
int finder_compute_stage(const struct finder *finder, struct tree *tree, struct stage *stage,
                         struct error *err);

/* Maps printed rows to associations. */
struct printed_match {
    const struct printed_row **rows; /* indexed by node; NULL: not printed */
    struct usage_bounds *bounds;     /* indexed by node: bounds of the printed usage */
    uint32_t *nodes;                 /* indexed by row of the differences: the row's node */
};

/*
 * Fills `match`, and fills differences->rows with the associations that both fairmill and the
 * output have.
 *
 * A row is matched by its id.  If the output does not contain ids, it is matched by its names.
 * Several associations can have the same printed names, for example without a column of partitions.
 * In that case, an association with the printed shares is preferred.  Among equal candidates, rows
 * are matched in slurmctld's order if `ordered`, otherwise in the order of the partitions.
 *
 * RawUsage is truncated to an integer.  Under Fair Tree, NormUsage has all digits of an
 * association's fraction of the root's usage at the same time.  So each row narrows the bounds of
 * the root's usage, and the root's bounds narrow the bounds of all other rows.
 */
void printed_match_make(struct printed_match *match, const struct sshare_print *print,
                        const struct tree *tree, const struct names *names, bool ordered,
                        struct differences *differences);
void printed_match_free(struct printed_match *match);

/* Removes a cause from the settings.  Returns false if the settings do not have this cause.
 * `findings` come from the computation with the current settings. */
bool settings_without(struct reduced_settings *reduced, enum cause cause,
                      const struct findings *findings);

/* Adds sentences to differences->unknown about facts that cannot be known with these settings.  If
 * `has_source` is false, adds only the causes that need the accounting database.
 * `unattributed_usage` is the usage without an association. */
void diff_note_unknown(struct differences *differences, const struct settings *settings,
                       bool has_source, double unattributed_usage);

#endif

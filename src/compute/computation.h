/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_COMPUTATION_H
#define FAIRMILL_COMPUTE_COMPUTATION_H

#include "core/fairshare/algorithm.h"
#include "core/tree/association_history.h"
#include "core/usage/checkpoint.h"
#include "results/publish.h"
#include "source/layout.h"

struct ledger;
struct tres_usage;

/* The data and results of one computation for a cluster. */
struct computation {
    struct source source; /* the cluster, its database and the settings to compute with */
    struct accounting *accounting;
    bool accounting_is_lent; /* accounting comes from accounting_lend(); only its rows are owned */
    struct tree *tree;
    struct values *values;
    uint32_t *pbs_order; /* indexed by node, see core/fairshare/pbs.h; NULL if not needed */
    uint32_t *order; /* indexed by node, for the settings' algorithm (core/fairshare/algorithm.h) */
    struct queue *queue;               /* pending jobs; NULL if the layout has no queue */
    struct formula_jobs *formula_jobs; /* pending jobs in the order of a formula; or NULL */
    struct tres_minutes *tres_minutes; /* NULL if the layout has no TRES */
    struct tres_usage *tres;           /* usage by TRES; NULL if no TRES is kept */
    unsigned used_numbers;             /* highest number that a TRES has ever had in this cluster */
    struct findings *findings;
    struct decay_table *decay;
    struct usage_starts starts; /* initial usage, unless a reset was later */
    struct ledger_state *ledger;
    struct usage_sums *unattributed;  /* usage whose association has no node in the tree */
    struct fairshare_options options; /* the options that the values are computed with */
    double capacity;                  /* R_H, see compute_capacity(); NAN if unknown */
    /* The first seconds included in usage: first_behind_end of the time that was charged after the
     * end of suspended jobs, and first_charge of all other time. */
    uint64_t first_charge, first_behind_end;
    const struct factor_history *factors; /* usage factors of QOS; NULL if the layout lacks them */
    struct factor_history *own_factors;   /* backs `factors` if there is no recorded state */
    struct usage_owners *owners; /* owners of usage; NULL if each association owns its usage */
    /* Receives each charge that is included in usage; or NULL */
    struct charge_accumulator *watcher;
    uint64_t selected;      /* if not 0, `watcher` needs only charges of this association and its
                             * descendants; the usage of other associations is then incomplete */
    uint64_t *selected_ids; /* ids of the associations whose rows are read (compute/associations.c);
                             * NULL means all */
    size_t selected_count;
    struct association_times *times; /* states of associations to be recorded; NULL if they are
                                      * already recorded or unknown */
    struct split *multi;             /* if set, receives the charges instead of the tree */
    struct run_record record;
    /* For a past time: the number of associations by source of evidence, and the text of
     * record.message. */
    struct association_history_counts past_counts;
    char message[160];
};
/*
 * Returns a computation that has read nothing.  The settings, database and name of `source` must
 * outlive it.
 */
struct computation computation_of(const struct source *source);
/*
 * Returns the Slurm release that the values conform to.  It comes from the settings, or else from
 * slurmctld's registration.  Otherwise it is the oldest release that could have made the tables.
 * Returns NULL if the source is not Slurm's.
 */
const struct release *release_of(const struct settings *settings,
                                 const struct accounting *accounting);
/*
 * Begins a computation for the time `now`, with the entries of `ledger` that apply at that time.
 * `ledger` is NULL if there are no entries.
 */
void computation_begin(struct computation *computation, const struct ledger *ledger, uint64_t now);
/* Frees everything except for the run record, which stays valid. */
void computation_free(struct computation *computation);

/*
 * Returns the sum to which usage of `association` is added.  The pointer is valid until the next
 * call.
 */
struct wide *computation_sum_of(struct computation *computation, uint64_t association);
/* Returns the sums to which all usage is added: the charge and the kept TRES. */
struct usage_place computation_place(struct computation *computation, uint64_t association);
/* Loads these sums into the processor's cache, if the tree has the association. */
void computation_fetch(const struct computation *computation, uint64_t association);
/*
 * Returns the time of the last reset; earlier usage is ignored.  This is the last periodic reset of
 * the settings or the ledger's last reset of the whole cluster, whichever is later.  Returns 0 if
 * there was no reset.
 */
uint64_t last_reset(const struct settings *settings, const struct ledger_state *ledger,
                    uint64_t now);
/*
 * Sets `err` to say that the usage of `association` exceeds the range of the integers.  Returns -1.
 */
int usage_beyond_range(uint64_t association, struct error *err);

/* The record of a full run in which no value is known yet. */
extern const struct run_record run_record_empty;

#endif

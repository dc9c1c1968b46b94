/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_COMPUTATION_H
#define FAIRMILL_COMPUTE_COMPUTATION_H

#include "core/fairshare/algorithm.h"
#include "core/tree/association_history.h"
#include "results/publish.h"
#include "source/layout.h"

struct ledger;

/* What is computed for a cluster. */
struct computation {
    struct source source; /* what it is of, and the settings that it is made with */
    struct accounting *accounting;
    bool accounting_is_lent; /* but for its rows (accounting_lend()) */
    struct tree *tree;
    struct values *values;
    uint32_t *pbs_order; /* by node, where anybody asks for it (core/fairshare/pbs.h); or NULL */
    uint32_t *order;     /* by node, under the settings' algorithm (core/fairshare/algorithm.h) */
    struct queue *queue; /* jobs that wait; NULL where the layout has none */
    struct formula_jobs *formula_jobs; /* likewise, where a formula makes their order */
    struct tres_minutes *tres_minutes; /* NULL where the layout has no TRES */
    struct findings *findings;
    struct decay_table *decay;
    struct usage_starts starts; /* with which usage begins, unless a reset was later */
    struct ledger_state *ledger;
    struct usage_sums *unattributed;  /* usage whose association has no place in the tree */
    struct fairshare_options options; /* that the values are computed with */
    double capacity;                  /* R_H of SPEC 4; NAN where it is unknown */
    /* The first second that counts; and that of what is charged behind the end of suspended jobs,
     * which the former leaves out. */
    uint64_t first_charge, first_behind_end;
    const struct factor_history *factors; /* of QOS; NULL: the layout has none */
    struct factor_history *own_factors;   /* these, where no prior has them */
    struct usage_owners *owners;          /* whose usage an association's is; NULL: its own */
    struct charge_accumulator *watcher;   /* gets each charge that counts; NULL: nobody does */
    uint64_t selected;      /* the association of which, and of all below, it needs charges; 0: all.
                             * Usage of others is not whole then. */
    uint64_t *selected_ids; /* whose rows these are (compute/associations.c); NULL: all are read */
    size_t selected_count;
    struct association_times *times; /* to be recorded; NULL: they are, or are unknown */
    struct split *multi;             /* adds charges up instead of the tree; NULL: there is none */
    struct run_record record;
    struct association_history_counts past_counts; /* of an instant that is over */
    char message[160];                             /* likewise, the record's */
};
/* Nothing is read yet.  The source's settings, database and name must live as long. */
struct computation computation_of(const struct source *source);
/* The release of the slurmctld that the settings conform to: the one they say, else the one with
 * which it registered, else the oldest that the tables can be of; NULL where nothing is of Slurm.
 */
const struct release *release_of(const struct settings *settings,
                                 const struct accounting *accounting);
/* Begin it as of an instant, with what counts of a ledger then (NULL: an empty one). */
void computation_begin(struct computation *computation, const struct ledger *ledger, uint64_t now);
/* Leaves the record. */
void computation_free(struct computation *computation);

/* Where usage of an association is added up; it holds until the next is asked for. */
struct wide *computation_sum_of(struct computation *computation, uint64_t association);
/* Since when usage counts: the settings' last reset, or the ledger's of the whole cluster; 0. */
uint64_t last_reset(const struct settings *settings, const struct ledger_state *ledger,
                    uint64_t now);
/* Fails: the integers are too small for an association's usage. */
int usage_beyond_range(uint64_t association, struct error *err);

/* A record of a full run in which nothing is known yet. */
extern const struct run_record run_record_empty;

#endif

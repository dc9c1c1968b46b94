/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_H
#define FAIRMILL_COMPUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/tree/past.h"
#include "results/publish.h"

struct accounting;
struct charge_watcher;
struct clock;
struct db;
struct error;
struct findings;
struct ledger;
struct ledger_state;
struct queue;
struct sealing;
struct settings;
struct tree;
struct usage_sums;
struct values;
struct wide;

/* What is computed for a cluster. */
struct computation {
    struct accounting *accounting;
    struct tree *tree;
    struct values *values;
    struct queue *queue; /* jobs that wait; NULL where the layout has none */
    struct findings *findings;
    struct clock *clock;
    struct ledger_state *ledger;
    struct usage_sums *unattributed;      /* usage whose association has no place in the tree */
    double capacity;                      /* R_H of SPEC 4; NAN where it is unknown */
    uint64_t first_charge;                /* the first second that counts */
    const struct charge_watcher *watcher; /* who looks at each charge; NULL: nobody */
    struct run_record record;
    struct past_counts told; /* of an instant that is over: whose word the associations are */
    char said[160];          /* likewise, the record's message */
};

/* What the results database tells of a cluster before it is computed. */
struct remembered {
    const struct ledger *ledger; /* counts up to now; NULL: an empty one */
    struct past *past; /* NULL: of now; else the associations are those of its instant, which is
                        * `now`, and what runs tell is already in it */
};

/* Read a cluster in one snapshot, which ends with its last row.  `now` NULL: the wall clock once
 * the snapshot is open.  `ordered`: read what slurmctld's ties need even if the settings do not.
 * With a sealing only what it needs is read, and its sums are still to be folded in. */
int compute_read(struct computation *computation, const struct settings *settings,
                 struct db *source, const char *cluster, const struct remembered *remembered,
                 const int64_t *now, bool ordered, struct sealing *sealing,
                 const char *source_identity, struct error *err);
/* Where usage of an association is added up; it holds until the next is asked for. */
struct wide *computation_sum_of(struct computation *computation, uint64_t association);
/* Since when usage counts: the settings' last reset, or the ledger's of the whole cluster; 0. */
uint64_t last_reset(const struct settings *settings, const struct ledger_state *ledger,
                    uint64_t now);
/* Then compute every value.  -1 leaves the computation to be freed. */
int compute_values(struct computation *computation, const struct settings *settings,
                   const struct sealing *sealing, struct error *err);

/* R_H: what the cluster could have delivered in the time that usage is compared with, as of an
 * instant, its last reset (0: none) and the first second that counts; NAN where it is unknown. */
double compute_capacity(const struct settings *settings, const struct accounting *accounting,
                        uint64_t now, uint64_t reset, uint64_t first_charge);

/* Both, without a sealing. */
int compute_cluster(struct computation *computation, const struct settings *settings,
                    struct db *source, const char *cluster, const struct remembered *remembered,
                    const int64_t *now, bool ordered, struct error *err);
/* Likewise, under the eyes of a watcher. */
int compute_watched(struct computation *computation, const struct settings *settings,
                    struct db *source, const char *cluster, const struct remembered *remembered,
                    const int64_t *now, const struct charge_watcher *watcher, struct error *err);
void computation_free(struct computation *computation);

/* A record of a full run in which nothing is known yet. */
extern const struct run_record run_record_empty;

#endif

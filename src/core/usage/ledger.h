/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_LEDGER_H
#define FAIRMILL_CORE_USAGE_LEDGER_H

#include "core/usage/checkpoint.h"
#include "core/usage/decay_table.h"

/* The ledger: dated entries by which people correct usage.  None is ever changed or deleted; one
 * that was wrong is undone by another.
 *
 * An entry counts in every run whose `now` is not before the entry's instant, however late it was
 * entered, so that any past instant can be computed again from the entries that there are.  What
 * it does is an integer like any charge (decay_table.h):
 *
 *     credit, debit   a charge of X TRES for the second that ends at the instant, which comes off
 *                     or goes on the association's usage
 *     refund          what the job's rows that began up to the instant charge, with the same
 *                     interval, comes off: as if they had not run
 *     reset           usage of some associations, or of all, before the instant does not count
 *     set             a reset to an amount: usage of some associations before the instant does not
 *                     count, and X TRES-seconds are there at the instant, of one of them
 *     undo            the undone entry does not count at any instant; an undo can be undone */

enum ledger_kind {
    LEDGER_CREDIT,
    LEDGER_DEBIT,
    LEDGER_REFUND,
    LEDGER_RESET,
    LEDGER_SET,
    LEDGER_UNDO
};
#define LEDGER_KINDS (LEDGER_UNDO + 1)

/* As the result tables and people have it. */
const char *ledger_kind_name(enum ledger_kind kind);
/* Whether it has an association and an amount; and whether it may have associations that it covers.
 */
bool ledger_kind_has_amount(enum ledger_kind kind);
bool ledger_kind_resets(enum ledger_kind kind);
/* LEDGER_KINDS: there is none of this name. */
enum ledger_kind ledger_kind_named(const char *name);

struct ledger_entry {
    uint64_t id, time;
    enum ledger_kind kind;
    uint64_t association;  /* LEDGER_CREDIT, _DEBIT, _SET */
    uint64_t tres_seconds; /* likewise; below 2^63 */
    uint64_t job;          /* LEDGER_REFUND */
    bool of_cluster;       /* LEDGER_RESET: of everything, else of what was added for it */
    uint64_t undoes;       /* LEDGER_UNDO: an entry's id */
};

/* What a reset, or a set, covers: an association id as job rows have it. */
struct ledger_cover {
    uint64_t id, association;
};

/* A cluster's entries in any order. */
struct ledger {
    struct ledger_entry *entries;
    size_t count;
    struct ledger_cover *covers;
    size_t cover_count;
};
struct ledger *ledger_create(void);
void ledger_destroy(struct ledger *ledger);
void ledger_add(struct ledger *ledger, const struct ledger_entry *entry);
void ledger_add_cover(struct ledger *ledger, uint64_t id, uint64_t association);

/* The last of the chain of undos that begins with an entry: the entry itself where none undid it.
 * It is the only one of the chain that can be undone now.  NULL where there is no such entry. */
const struct ledger_entry *ledger_last_undo(const struct ledger *ledger, uint64_t id);
/* Whether an entry counts, at its instant and after: the undos of its chain are even. */
bool ledger_is_undone(const struct ledger *ledger, uint64_t id);

/* The entries that begin to count after an instant, up to another one. */
struct ledger *ledger_coming(const struct ledger *ledger, uint64_t now, uint64_t end);
/* When the next of these does: the first instant after another, UINT64_MAX where there is none.
 * `of_past`: only of refunds, and resets and sets of associations, which change what the past
 * counts for. */
uint64_t ledger_next(const struct ledger *coming, uint64_t after, bool of_past);
/* A ledger in which those of them that are dated up to `until` are dated `now`: what they leave of
 * what was used before, so that a set is a reset. */
struct ledger *ledger_foreseen(const struct ledger *ledger, uint64_t now, uint64_t until);

struct ledger_reset {
    uint64_t association, time, entry;
};

/* What counts at an instant. */
struct ledger_state {
    uint64_t cluster_reset;           /* the last one of all associations; 0 for none */
    uint64_t cluster_reset_entry;     /* its id */
    struct ledger_entry *adjustments; /* credits and debits, and sets that no later reset undid */
    size_t adjustment_count;
    struct job_keys refunded;    /* ids of jobs, in order */
    uint64_t *refunded_until;    /* of each: rows that began later were not refunded */
    struct ledger_reset *resets; /* by association, instant and entry */
    size_t reset_count;
    struct id_index *places; /* association -> its first reset */
};
/* Of no ledger (NULL): nothing. */
struct ledger_state *ledger_at(const struct ledger *ledger, uint64_t now);
void ledger_state_destroy(struct ledger_state *state);

/* The last reset of an association before an instant, 0 where there is none.  Resets of the whole
 * cluster are the clock's start, and not among these. */
uint64_t ledger_reset_before(const struct ledger_state *state, uint64_t association,
                             uint64_t before);
/* A hash of all that ledger_reset_before() can return for this `before`; 0 where that is nothing.
 */
uint64_t ledger_resets_hash(const struct ledger_state *state, uint64_t before);

/* Whether a job's row that began at this instant was refunded. */
bool ledger_refunds(const struct ledger_state *state, uint64_t job, uint64_t begin);

/* What a credit, debit or set is: `units` times `weight`, 0 where it does not count any more;
 * *negative where it comes off. */
uint128 ledger_weight(const struct ledger_state *state, const struct ledger_entry *adjustment,
                      const struct decay_table *decay, uint128 *units, bool *negative);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_LEDGER_H
#define FAIRMILL_CORE_USAGE_LEDGER_H

#include "core/usage/checkpoint.h"
#include "core/usage/decay_table.h"

/*
 * The ledger: dated entries with which administrators correct usage.  Entries are never changed or
 * deleted; a later entry can undo a wrong one.
 *
 * An entry takes effect in each run with a `now` at or after the entry's time, even if the entry
 * was made later.  So the values of any past time can be computed again from the entries.  The
 * effect of an entry is an integer, like a charge (decay_table.h):
 *
 *     credit, debit  subtracts or adds a charge of X TRES for the second that ends at its time
 *     refund         removes the charges of the job's rows that began at or before its time
 *     reset          removes usage of some or all associations before its time
 *     set            resets some associations, then adds X TRES-seconds at its time to one of them
 *     undo           cancels another entry at all times; an undo can be undone
 */

enum ledger_kind {
    LEDGER_CREDIT,
    LEDGER_DEBIT,
    LEDGER_REFUND,
    LEDGER_RESET,
    LEDGER_SET,
    LEDGER_UNDO
};
#define LEDGER_KINDS (LEDGER_UNDO + 1)

/* Returns the name in the result tables and in text output. */
const char *ledger_kind_name(enum ledger_kind kind);
/*
 * ledger_kind_has_amount() returns true for kinds with an association and an amount.
 * ledger_kind_resets() returns true for kinds that remove usage and may cover associations.
 */
bool ledger_kind_has_amount(enum ledger_kind kind);
bool ledger_kind_resets(enum ledger_kind kind);
/* Returns the kind with this name, or LEDGER_KINDS if the name is unknown. */
enum ledger_kind ledger_kind_named(const char *name);

struct ledger_entry {
    uint64_t id, time;
    enum ledger_kind kind;
    uint64_t association;  /* for LEDGER_CREDIT, _DEBIT and _SET */
    uint64_t tres_seconds; /* for LEDGER_CREDIT, _DEBIT and _SET; below 2^63 */
    uint64_t job;          /* for LEDGER_REFUND */
    bool of_cluster;       /* for LEDGER_RESET: covers all associations, not a list */
    uint64_t undoes;       /* for LEDGER_UNDO: the id of the undone entry */
};

/* An association that a reset or set with this entry id covers, by its id in job rows. */
struct ledger_cover {
    uint64_t id, association;
};

/* The entries of a cluster, in any order. */
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

/*
 * Returns the last entry of the chain of undos that starts with entry `id`, or entry `id` itself if
 * it was not undone.  Only the returned entry of the chain can be undone now.  Returns NULL if no
 * entry has this id.
 */
const struct ledger_entry *ledger_last_undo(const struct ledger *ledger, uint64_t id);
/* Returns true if the entry was undone and has no effect: its chain has an odd number of undos. */
bool ledger_is_undone(const struct ledger *ledger, uint64_t id);

/*
 * Returns a ledger with the entries that take effect after `now` and not after `end`.  The caller
 * destroys the ledger.
 */
struct ledger *ledger_coming(const struct ledger *ledger, uint64_t now, uint64_t end);
/*
 * Returns the time of the first entry in `coming` after `after`, or UINT64_MAX if no such entry
 * exists.  With `of_past`, considers only entries that change earlier usage: refunds, and resets
 * and sets of associations.
 */
uint64_t ledger_next(const struct ledger *coming, uint64_t after, bool of_past);
/*
 * Returns a copy of `ledger` in which future entries already change past usage.  A refund, or a
 * reset or set of associations, that is dated after `now` and not after `until` gets the time
 * `now`.  A set with a new time becomes a reset.  The caller destroys the copy.
 */
struct ledger *ledger_foreseen(const struct ledger *ledger, uint64_t now, uint64_t until);

struct ledger_reset {
    uint64_t association, time, entry;
};

/* The effective entries at one time. */
struct ledger_state {
    uint64_t cluster_reset;           /* time of the last reset of all associations, or 0 */
    uint64_t cluster_reset_entry;     /* id of the entry with that reset */
    struct ledger_entry *adjustments; /* credits, debits, and sets that no later reset removes */
    size_t adjustment_count;
    struct job_keys refunded;    /* job ids, ascending */
    uint64_t *refunded_until;    /* for each job: rows that began later are not refunded */
    struct ledger_reset *resets; /* sorted by association, time and entry */
    size_t reset_count;
    struct id_index *places; /* association to its first reset */
};
/*
 * Returns the state at `now`, or an empty state if `ledger` is NULL.  The caller destroys the
 * state.
 */
struct ledger_state *ledger_at(const struct ledger *ledger, uint64_t now);
void ledger_state_destroy(struct ledger_state *state);

/*
 * Returns the time of the last reset of an association before `before`, or 0.  Resets of the whole
 * cluster are not included; they set the start of the decay table.
 */
uint64_t ledger_reset_before(const struct ledger_state *state, uint64_t association,
                             uint64_t before);
/*
 * Returns a hash of all values that ledger_reset_before() can return for `before`, or 0 if all of
 * these values are 0.
 */
uint64_t ledger_resets_hash(const struct ledger_state *state, uint64_t before);

/* Returns true if the job's row that began at `begin` was refunded. */
bool ledger_refunds(const struct ledger_state *state, uint64_t job, uint64_t begin);

/*
 * Computes the effect of a credit, debit or set.  Sets `*units` to the entry's amount in units
 * (decay_table.h) and returns the weight, which is 0 if the entry no longer has an effect.  Sets
 * `*negative` to true if `*units` times the weight must be subtracted.
 */
uint128 ledger_weight(const struct ledger_state *state, const struct ledger_entry *adjustment,
                      const struct decay_table *decay, uint128 *units, bool *negative);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_LEDGER_BOOK_H
#define FAIRMILL_RESULTS_LEDGER_BOOK_H

#include "core/usage/ledger.h"

struct findings;
struct text;

/*
 * The ledger of all clusters, with the hashes that prove that it is complete.
 *
 * All other results can be recomputed, but a lost ledger entry cannot.  So each entry has a hash,
 * and a chain value, which is a hash over this hash and the hashes of all earlier entries.  The
 * hash and the chain value are stored in fairmill_ledger_chain when the entry is made.  In
 * addition, each run records the hashes of the entries that it applies.
 *
 * A recorded entry that is missing is lost; an entry with a different hash was changed.  If an
 * entry and its hash are both missing, the chain value of the next entry does not match.  These
 * checks detect losses and accidental changes.  They do not detect forgery, because a program that
 * can write rows can also compute and write the hashes.
 */

/*
 * An entry with all columns, even those not needed by any computation.  Texts are UTF-8; an absent
 * name is "".
 */
struct ledger_record {
    struct ledger_entry entry; /* kind is LEDGER_KINDS if unknown */
    int64_t entered_at;
    char *cluster, *who, *why;
    char *account, *user, *partition;
    /*
     * Associations to which a `set` entry applies, or a `reset` entry that is not for the whole
     * cluster.
     */
    struct job_keys covers;
};
void ledger_record_free(struct ledger_record *record);

/* Size of a 128-bit hash in hexadecimal digits, with the terminating NUL. */
#define LEDGER_HASH 33

/* A recorded hash of an entry. */
struct ledger_mark {
    uint64_t id;
    char *cluster;
    char hash[LEDGER_HASH], chain[LEDGER_HASH];
};
struct ledger_marks {
    struct ledger_mark *list;
    size_t count;
};

/* The entries and hashes, all in ascending order of id. */
struct ledger_book {
    struct ledger_record *records;
    size_t count;
    /*
     * Hashes that were stored with the entries.  Entries of release 0.1.0 and rows that were added
     * by hand have no such hash.
     */
    struct ledger_marks made;
    struct ledger_marks counted; /* recorded by runs that applied the entries; no chain values */
    /* Associations of lost resets, in ascending order of entry and association. */
    struct ledger_cover *loose;
    size_t loose_count;
};
void ledger_book_free(struct ledger_book *book);

/* Removes a cluster's entries that no run has applied and that were entered at `from` or later. */
void ledger_book_keep_counted(struct ledger_book *book, const char *cluster, int64_t from);

/* Returns a cluster's entries.  The caller frees them with ledger_destroy(). */
struct ledger *ledger_of(const struct ledger_book *book, const char *cluster);

/* Return the entry or the hash with this id, or NULL. */
const struct ledger_record *ledger_book_find(const struct ledger_book *book, uint64_t id);
const struct ledger_mark *ledger_mark_find(const struct ledger_marks *marks, uint64_t id);

/* Sets `hash` to the hash of an entry. */
void ledger_hash(const struct ledger_record *record, char hash[LEDGER_HASH]);

/*
 * Replaces `chain`, the chain value of the previous entry, by the value of the next entry with this
 * hash.  `chain` is "" before the first entry.
 */
void ledger_link(char chain[LEDGER_HASH], const char *hash);

/*
 * An entry that was lost or changed and that no later entry undoes.  An undone entry has no effect
 * on usage, so its loss is accepted.
 */
struct ledger_fault {
    uint64_t id;
    const char *cluster; /* NULL if no remaining row shows the cluster */
    bool lost;           /* true if lost, false if changed */
    bool unproven;       /* no hash is stored, but nothing else is wrong */
};
struct ledger_faults {
    struct ledger_fault *list;
    size_t count;
    char chain[LEDGER_HASH]; /* chain value of the whole ledger, for the next entry */
};

/*
 * Returns the lost and changed entries.  The book must remain valid as long as the result, which
 * the caller frees with ledger_faults_free().
 */
struct ledger_faults ledger_faults_of(const struct ledger_book *book);

/*
 * Returns the entries without a hash in fairmill_ledger_chain, if they follow the first entry that
 * has such a hash, or were entered at `since` or later.  Also returns entries whose hash was
 * recorded for another cluster.
 */
struct ledger_faults ledger_unproven_of(const struct ledger_book *book, int64_t since);
void ledger_faults_free(struct ledger_faults *faults);

/* Removes the faults that are certainly of other clusters. */
void ledger_faults_keep(struct ledger_faults *faults, const char *cluster);

/*
 * Appends the faults as text, such as `the ledger: entry 5 is lost, entry 7 is not as it was
 * entered`.
 */
void ledger_faults_add_words(struct text *text, const struct ledger_faults *faults);

/* Adds a finding for each fault. */
void ledger_faults_note(const struct ledger_faults *faults, struct findings *findings);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_LEDGER_BOOK_H
#define FAIRMILL_RESULTS_LEDGER_BOOK_H

#include "core/usage/ledger.h"

struct findings;
struct text;

/* The ledger of all clusters as the result tables have it, with what proves that it is whole.
 *
 * Whatever else is lost is computed again; an entry cannot be.  So each has a hash, and a hash of
 * that with all before it, the chain, both of which are stored when it is made; and each run notes
 * the entries that it counts.  What was noted and is not there is lost, and what has another hash
 * was changed.  Where row and hash went together, the next one's link does not fit.  This tells of
 * loss and accident: who writes rows and knows the hash can write both. */

/* An entry with all its columns, also those that no computation needs.  Texts are UTF-8; a name is
 * "" where there is none. */
struct ledger_record {
    struct ledger_entry entry; /* its kind is LEDGER_KINDS where that is not known */
    int64_t entered_at;
    char *cluster, *who, *why;
    char *account, *user, *partition;
    struct job_keys
        covers; /* the associations of a set, or a reset that is not of the whole cluster */
};
void ledger_record_free(struct ledger_record *record);

/* 128 bits in hexadecimal digits. */
#define LEDGER_HASH 33

/* What was noted of an entry. */
struct ledger_mark {
    uint64_t id;
    char *cluster;
    char hash[LEDGER_HASH], chain[LEDGER_HASH];
};
struct ledger_marks {
    struct ledger_mark *list;
    size_t count;
};

/* All by id. */
struct ledger_book {
    struct ledger_record *records;
    size_t count;
    struct ledger_marks made;    /* when entries were made: not those of 0.1.0, or by hand */
    struct ledger_marks counted; /* when a run counted them, without the chain */
    struct ledger_cover *loose;  /* what lost resets cover, by entry and association */
    size_t loose_count;
};
void ledger_book_free(struct ledger_book *book);

/* Drop a cluster's entries that no run has counted and that were entered at an instant or later. */
void ledger_book_keep_counted(struct ledger_book *book, const char *cluster, int64_t from);

/* A cluster's entries, to be destroyed. */
struct ledger *ledger_of(const struct ledger_book *book, const char *cluster);
/* NULL: there is none. */
const struct ledger_record *ledger_book_find(const struct ledger_book *book, uint64_t id);
const struct ledger_mark *ledger_mark_find(const struct ledger_marks *marks, uint64_t id);

void ledger_hash(const struct ledger_record *record, char hash[LEDGER_HASH]);
/* Go on from a chain ("" before the first entry) to that of the next entry; `chain` is both. */
void ledger_link(char chain[LEDGER_HASH], const char *hash);

/* An entry that is not as it was, and that no later one undoes: an undo says that it does not
 * count, so its loss is accepted. */
struct ledger_fault {
    uint64_t id;
    const char *cluster; /* NULL: nothing is left that says which */
    bool lost;           /* else it is another one than was entered */
    bool unproven;       /* or is as it was, as far as anything tells: its hash is not there */
};
struct ledger_faults {
    struct ledger_fault *list;
    size_t count;
    char chain[LEDGER_HASH]; /* of the whole ledger, to go on from */
};
/* Look through the book, which must last as long as the faults, to be given back. */
struct ledger_faults ledger_faults_of(const struct ledger_book *book);
/* Look for entries without the hash that is stored when an entry is made: those behind the first
 * that has one, and those that were entered at this time or later; and for those whose hash is of
 * another cluster. */
struct ledger_faults ledger_unproven_of(const struct ledger_book *book, int64_t since);
void ledger_faults_free(struct ledger_faults *faults);
/* Leave only those that are, or may be, of this cluster. */
void ledger_faults_keep(struct ledger_faults *faults, const char *cluster);
/* Add them in words: `the ledger: entry 5 is lost, entry 7 is not as it was entered`. */
void ledger_faults_add_words(struct text *text, const struct ledger_faults *faults);
/* Add them to what was odd. */
void ledger_faults_note(const struct ledger_faults *faults, struct findings *findings);

#endif

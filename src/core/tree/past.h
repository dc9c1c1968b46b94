/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_PAST_H
#define FAIRMILL_CORE_PAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct associations;
struct findings;

/* The associations as of an instant that is over.
 *
 * They are what the source has now, with each known change since then taken back.  Changes are
 * known from two sides: earlier runs noted what they saw (fairmill_share_change), and the source
 * noted what was done to an association and when.  A change between two runs has its instant from
 * the source, or else from the run that saw it.  Where an association changed and neither has how
 * or when, it is taken as it is now (or as the first run saw it), and a finding says so.  The
 * second of the last run may not have been over: a source without times cannot say, and there, too,
 * associations are taken as they are now. */

enum change_kind {
    CHANGE_ADDED,     /* the source says that it was made, or made again */
    CHANGE_SHARES,    /* that its shares were set */
    CHANGE_REMOVED,   /* that it was deleted */
    CHANGE_SEEN,      /* a run saw it so */
    CHANGE_SEEN_GONE, /* a run saw that it is not there any more */
};

/* A change of an association.  Names are numbers in past.names. */
struct change {
    int64_t at; /* epoch seconds */
    uint32_t id;
    enum change_kind kind;
    bool has_shares;
    int32_t shares;
    /* What follows is set for CHANGE_ADDED and CHANGE_SEEN. */
    uint32_t parent_id; /* 0: unknown, or the root's; then the name links */
    uint32_t account, user, partition, parent_account;
    uint64_t sequence; /* set by past_add() */
};

/* All associations of a user, or of an account and of all accounts below it, were removed. */
struct removal {
    int64_t at;
    bool of_account;
    uint32_t name;
    uint64_t sequence;
};

/* When the source made an association, and when it last touched it. */
struct touched {
    uint64_t id;
    int64_t created, modified;
};

#define NEVER (-1) /* no such instant, or it is not known */

struct past {
    int64_t now;
    struct names *names;
    struct change *changes; /* those of runs first */
    size_t count, run_count;
    struct removal *removals;
    size_t removal_count;
    struct touched *touched;
    size_t touched_count;
    int64_t seen_from, seen_until; /* NEVER where no run saw anything */
    int64_t reach;                 /* the oldest change that the source still has; or NEVER */
    uint64_t sequence;
};

/* `now` is the instant that is asked for. */
struct past *past_create(int64_t now);
void past_destroy(struct past *past);

/* Add the changes that runs noted first, then those of the source.  The first run noted every
 * association that there was. */
void past_add(struct past *past, const struct change *change);
void past_set_seen(struct past *past, int64_t from, int64_t until);
/* Changes of the source are added in the order in which they were made.  They can be added again
 * from the start after past_forget_source(). */
void past_forget_source(struct past *past);
void past_add_removal(struct past *past, int64_t at, bool of_account, uint32_t name);
void past_set_reach(struct past *past, int64_t oldest);
void past_set_times(struct past *past, uint64_t id, int64_t created, int64_t modified);

/* How many associations were not what they are now, by where that is known from; and how many are
 * in doubt. */
struct past_counts {
    size_t by_runs, by_source, by_times, unknown;
};

/* Make what the source has now (rows are memory that can be resized) what it was.  Names may be
 * added. */
void past_apply(const struct past *past, struct associations *associations,
                struct findings *findings, struct past_counts *counts);

/* Number the rows so that siblings stand in the order of their lineages, whatever their parent: the
 * lineage has an account by its name, and a user by `0-` and its name, and its partition
 * (accounting_storage of slurmdbd 23.11 and later). */
void past_order(const struct associations *associations);

#endif

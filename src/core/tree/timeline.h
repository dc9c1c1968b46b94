/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_TREE_TIMELINE_H
#define FAIRMILL_CORE_TREE_TIMELINE_H

#include "core/tree/association.h"
#include "core/tree/association_history.h"

/* What was done to each association between two instants at which it is known how all of them were:
 * the last run before the one that is asked for, and the first run after it, or now. */

#define NO_ROW SIZE_MAX

/* Whose word something is. */
enum evidence_source { EVIDENCE_RUNS, EVIDENCE_SOURCE, EVIDENCE_TIMES };

/* An association at one end. */
struct state {
    bool known; /* false: no run was before; all else is empty */
    bool lives;
    bool named;      /* whether the row has names; and shares, where it lives */
    bool has_parent; /* whether the row has its parent, or the last one that it had */
    struct association row;
    int64_t modified; /* when it was last touched; NEVER where it is unknown */
    enum evidence_source told;
};

/* An association that is there now, or that somebody names. */
struct subject {
    uint32_t id;
    size_t row;                               /* NO_ROW where it is not there now */
    int64_t created, modified;                /* or NEVER */
    const struct observation *before, *after; /* NULL: that run did not see it (changed) */
    const struct change *changes, *end;       /* up to the later end, the oldest first */
};

struct timeline {
    const struct association_history *history;
    struct associations present; /* its names are those of the changes, too */
    bool lost_parents;     /* whether it is unknown where some account was before it was added */
    int64_t root_modified; /* when the root was last touched, at the later end; or NEVER */
    int64_t from, until;   /* the ends: NEVER where there was no run, INT64_MAX is now */
    struct change *changes;
    size_t change_count;
    struct subject *subjects;
    size_t subject_count;
    struct id_index *places;
    uint32_t *translated; /* by number in the past's names: the number in present.names */
};

/* Fill it from past and present.  The subjects have the same places with runs and without. */
struct timeline timeline_make(const struct association_history *history,
                              const struct associations *present, bool with_runs);
void timeline_free(struct timeline *timeline);
/* NULL where nothing is known of the id. */
struct subject *timeline_subject(const struct timeline *timeline, uint64_t id);
/* What is there now of it; NULL where it is not. */
const struct association *timeline_row(const struct timeline *timeline,
                                       const struct subject *subject);

/* The two ends. */
struct state timeline_before(const struct timeline *timeline, const struct subject *subject);
struct state timeline_after(const struct timeline *timeline, const struct subject *subject);

#endif

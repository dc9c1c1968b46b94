/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_TREE_TIMELINE_H
#define FAIRMILL_CORE_TREE_TIMELINE_H

#include "core/tree/association.h"
#include "core/tree/association_history.h"

/*
 * The changes of each association in an interval around the requested time.  The interval starts at
 * the last run at or before the requested time, and ends at the first run after it, or now.  The
 * states of all associations at the start and at the end of the interval are known.
 */

#define NO_ROW SIZE_MAX

/* The origin of a value. */
enum evidence_source { EVIDENCE_RUNS, EVIDENCE_SOURCE, EVIDENCE_TIMES };

/* The state of an association at the start or at the end of the interval. */
struct state {
    bool known;      /* false if there is no earlier run; the other members are then empty */
    bool lives;      /* it exists: it is not deleted */
    bool named;      /* `row` has names and, if the association exists, shares */
    bool has_parent; /* `row` has the parent or, after a removal, the last parent */
    struct association row;
    int64_t modified; /* time of the last modification, or NEVER if unknown */
    enum evidence_source told;
};

/* An association that exists now or that any evidence mentions. */
struct subject {
    uint32_t id;
    size_t row;                               /* NO_ROW if there is no current row */
    int64_t created, modified;                /* NEVER if unknown */
    const struct observation *before, *after; /* NULL without an observation of that run */
    const struct change *changes, *end;       /* up to the end of the interval, oldest first */
};

struct timeline {
    const struct association_history *history;
    struct associations present; /* current rows; `names` also numbers the names in the changes */
    bool lost_parents;           /* an account was added again and its earlier parent is unknown */
    int64_t root_modified; /* time of the root's last modification up to the end of the interval, or
                              NEVER */
    int64_t from, until;   /* the interval; `from` is NEVER without an earlier run; `until` is
                              INT64_MAX if it ends now */
    struct change *changes;
    size_t change_count;
    struct subject *subjects;
    size_t subject_count;
    struct id_index *places;
    uint32_t *translated; /* maps numbers in history->names to numbers in present.names */
};

/*
 * Builds the timeline from the history and the current rows, which must remain valid.  May add
 * names to present->names.  If `with_runs` is false, ignores the observations; each subject has the
 * same index in both cases.  The caller frees the timeline with timeline_free().
 */
struct timeline timeline_make(const struct association_history *history,
                              const struct associations *present, bool with_runs);
void timeline_free(struct timeline *timeline);
/* Returns the subject with this id, or NULL. */
struct subject *timeline_subject(const struct timeline *timeline, uint64_t id);
/* Returns the current row of a subject, or NULL. */
const struct association *timeline_row(const struct timeline *timeline,
                                       const struct subject *subject);

/* Return the state of a subject at the start and at the end of the interval. */
struct state timeline_before(const struct timeline *timeline, const struct subject *subject);
struct state timeline_after(const struct timeline *timeline, const struct subject *subject);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_FACTOR_HISTORY_H
#define FAIRMILL_CORE_USAGE_FACTOR_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct transaction;

/*
 * The usage factors of QOS, with the times from which they apply.
 *
 * Evidence comes from txn_table, which takes precedence, and from runs.  Runs record the content of
 * txn_table, so that factors remain known when rows of txn_table are purged.  Factors that runs
 * observed in qos_table are used only if txn_table does not determine the factor:
 *
 *   - The first observed factor applies until the first row of txn_table, unless that row is
 *     earlier than the observation.
 *
 *   - If two runs observed different factors and no row between the runs explains the change, the
 *     new factor applies from the later run on.  Usage before the later run keeps the factor with
 *     which slurmctld charged it, as far as this factor is known.  The same rule applies if the
 *     very first run observes a factor that txn_table lacks.
 *
 *   - If runs observed no change, but a late-arriving row contradicts them, the row is used.
 *
 * The first known factor also applies to earlier times.  If that factor results from a change, the
 * earlier factor may have been different.
 *
 * The row of a removed QOS always has factor 1, so the row is ignored.  The last factor before the
 * removal continues to apply.
 */

enum factor_evidence {
    FACTOR_ADDED,   /* txn_table: the QOS was added with this factor */
    FACTOR_CHANGED, /* txn_table: the factor was changed to this one */
    FACTOR_SEEN,    /* not in txn_table; first observed by a run */
};
/*
 * Convert to and from the name in fairmill_qos_change.  factor_evidence_of() returns false if the
 * name is unknown.
 */
const char *factor_evidence_name(enum factor_evidence told);
bool factor_evidence_of(const char *name, enum factor_evidence *told);

#define FACTOR_UNSEEN (-1) /* no run or no time */

/* A factor that applies to a QOS from `at` on. */
struct factor_point {
    uint64_t id;
    int64_t at;
    enum factor_evidence told;
    /* For FACTOR_SEEN, the time of the last run that observed a different factor, or FACTOR_UNSEEN.
     * It equals `at` if txn_table contradicts the observation and takes precedence. */
    int64_t seen_before;
    double factor;
    const char *name; /* from the accounting database, or as recorded */
};

/* A current row of qos_table. */
struct qos_row {
    uint64_t id;
    const char *name; /* not owned */
    bool deleted;
    double factor;
    const char *limits; /* GrpTRESMins as `id=minutes,...`; "" or NULL if none; not owned */
    bool no_decay;      /* its usage does not decay (sacctmgr: Flags=NoDecay) */
};

struct factor_history {
    int64_t last_seen;          /* time of the last run that recorded factors */
    int64_t distrusted;         /* time of a damaged record; if set, no record is used */
    struct factor_point *notes; /* recorded points, in ascending order of id and time */
    size_t note_count;
    struct arena *names; /* allocates the names in `notes` */

    const struct qos_row *rows;
    size_t row_count;
    struct factor_event *events;
    size_t event_count;
    struct arena *texts; /* allocates the names in `events` */
    bool complete;       /* all available rows of txn_table were read */
    bool whole;          /* no row of txn_table was purged */

    struct factor_point *points; /* the result, in ascending order of id and time */
    size_t point_count;
    bool undated; /* this run is the first that observes a change of unknown time */
};

struct factor_history *factor_history_create(void);
void factor_history_destroy(struct factor_history *history);

/*
 * Adds a recorded point.  Call it in ascending order of id and, for each id, of time.  Copies
 * `note`.
 */
void factor_history_note(struct factor_history *history, const struct factor_point *note);
/*
 * Returns the time from which rows of txn_table must be read to complete the recorded points; 0
 * means all of them.
 */
int64_t factor_history_since(const struct factor_history *history);

/*
 * Adds a transaction of the accounting database.  Call it in order of time.  Returns false if the
 * transaction cannot be interpreted.  factor_history_forget_source() discards everything from the
 * database, so that it can be read again.
 */
void factor_history_forget_source(struct factor_history *history);
bool factor_history_add(struct factor_history *history, const struct transaction *transaction);

/*
 * Computes the points from the recorded points, the transactions and the current rows, which must
 * remain valid.  In `times`, `time` is the time of the computation.  `now` is the time at which the
 * rows were read, but not later than `time`.
 */
struct factor_times {
    int64_t now, time;
};
void factor_history_make(struct factor_history *history, const struct qos_row *rows, size_t count,
                         struct factor_times times);

/* Returns true if the point only records an observed factor that txn_table contradicts.  Such a
 * factor never applied and must be ignored. */
bool factor_is_overruled(const struct factor_point *point);

/* Returns a hash of the usage factors of all QOS that apply before `reach`, with the times from
 * which they apply.  Times are in epoch seconds. */
uint64_t factor_history_hash(const struct factor_history *history, int64_t reach);

/* Returns the points of the QOS at index `*at`, and advances `*at` to the next QOS. */
struct factor_points {
    const struct factor_point *points;
    size_t count;
};
struct factor_points factor_history_next(const struct factor_history *history, size_t *at);
/* Returns true if point `i` is the first point of the QOS or has a different factor than the point
 * before it.  Returns false if factor_is_overruled() is true for point `i`. */
bool factor_points_change(const struct factor_points *points, size_t i);

#endif

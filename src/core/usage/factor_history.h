/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_FACTOR_HISTORY_H
#define FAIRMILL_CORE_USAGE_FACTOR_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct transaction;

/* The usage factors of QOS, and since when each holds.
 *
 * txn_table decides.  Runs record what it contains, so that its factors remain known when its rows
 * are purged.  What runs saw in qos_table counts only where txn_table does not tell:
 *
 * - The first factor that a run saw holds until the first row of txn_table that is not older.
 * - If two runs saw different factors and no row between them tells why, the new one counts from
 *   the later run on: what was charged until then was charged as slurmctld did for as long as is
 *   known.  The same holds if the first run of all sees a factor that txn_table does not have.
 * - If runs saw no change, and a row that arrives late contradicts them, that row counts.
 *
 * Before the first factor that is known, that one counts, too; if the first that is known of a QOS
 * is a change, that may be wrong.
 *
 * The row of a removed QOS has factor 1, whatever it was: it contains nothing.  The last factor
 * before the removal stays. */

enum factor_evidence {
    FACTOR_ADDED,   /* txn_table says that the QOS was added with it */
    FACTOR_CHANGED, /* that it was changed to it */
    FACTOR_SEEN,    /* it does not; a run saw it first */
};
/* Its name in fairmill_qos_change; and the number of a name, false where there is none. */
const char *factor_evidence_name(enum factor_evidence told);
bool factor_evidence_of(const char *name, enum factor_evidence *told);

#define FACTOR_UNSEEN (-1) /* no run, or no instant */

/* From `at` on the QOS has a factor. */
struct factor_point {
    uint64_t id;
    int64_t at;
    enum factor_evidence told;
    int64_t seen_before; /* FACTOR_SEEN: the run before, which saw a different one; unseen; or `at`:
                          * txn_table contradicts it and counts */
    double factor;
    const char *name; /* as the source has it, or as it was noted */
};

/* A QOS as the source has it now. */
struct qos_row {
    uint64_t id;
    const char *name; /* held by others */
    bool deleted;
    double factor;
};

struct factor_history {
    int64_t last_seen;          /* the last run that noted what it saw */
    int64_t distrusted;         /* a note of then is not as it was written, so that none counts */
    struct factor_point *notes; /* by id, and instant */
    size_t note_count;
    struct arena *names; /* of the notes */

    const struct qos_row *rows;
    size_t row_count;
    struct factor_event *events;
    size_t event_count;
    struct arena *texts; /* of the events */
    bool complete;       /* txn_table was read as far as it goes back ... */
    bool whole;          /* ... and that is to its beginning */

    struct factor_point *points; /* what is known, by id and time */
    size_t point_count;
    bool undated; /* this run is the first to see a change that nothing dates */
};

struct factor_history *factor_history_create(void);
void factor_history_destroy(struct factor_history *history);

/* Add a note; by ascending id, and of each by ascending instant. */
void factor_history_note(struct factor_history *history, const struct factor_point *note);
/* Rows of txn_table from this instant on say what notes do not; 0: all of them are needed. */
int64_t factor_history_since(const struct factor_history *history);

/* What the source tells, which can be told anew after factor_history_forget_source().  Transactions
 * are added in the order of their time; false where one is not understood. */
void factor_history_forget_source(struct factor_history *history);
bool factor_history_add(struct factor_history *history, const struct transaction *transaction);

/* Make the points from all this and from the rows that the source has now: `now` is when they were
 * read, or `instant` if that is earlier; `instant` is the time of the computation. */
struct factor_times {
    int64_t now, time;
};
void factor_history_make(struct factor_history *history, const struct qos_row *rows, size_t count,
                         struct factor_times times);

/* Whether a point is only the record of a factor that runs saw and txn_table contradicts. */
bool factor_is_overruled(const struct factor_point *point);

/* A hash of what the points say of the time before `reach`. */
uint64_t factor_history_hash(const struct factor_history *history, int64_t reach);

/* The points of one QOS, from place `at` on; at moves behind them. */
struct factor_points {
    const struct factor_point *points;
    size_t count;
};
struct factor_points factor_history_next(const struct factor_history *history, size_t *at);
/* Whether the factor changes at a point. */
bool factor_points_change(const struct factor_points *points, size_t i);

#endif

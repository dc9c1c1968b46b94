/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_DAYS_H
#define FAIRMILL_RESULTS_DAYS_H

#include "core/usage/kept_tres.h"
#include "results/day_spool.h"

struct day_waits;
struct error;
struct findings;
struct rollup;
struct slice;

/* Days of usage that did not match their stored hashes. */
struct day_repairs {
    uint64_t days, rows; /* recomputed */
    double drift;        /* largest difference, in TRES-seconds */
    uint64_t lost;       /* days that cannot be recomputed because their jobs were purged */
    uint64_t first_lost; /* start of the first of these days */
    uint64_t waits;      /* days whose numbers of waiting jobs were counted again */
};

/*
 * The daily usage of associations, as charged and by kept TRES.  A run collects the usage while it
 * reads jobs, and day_rows_write() writes it.  Days begin at midnight in the process's time zone.
 * Times are in epoch seconds.
 */
struct days {
    uint64_t *starts; /* start of each day; starts[count] is the end of the last day */
    size_t count;
    uint64_t now;
    unsigned used_numbers;        /* highest number of a TRES whose amounts are read from rows */
    const struct kept_tres *kept; /* the TRES whose amounts the days have; the caller owns them */
    /*
     * stored days before this time began in a different time zone and are not changed; 0 if there
     * are no such days
     */
    uint64_t border;
    bool anew;             /* all jobs were read; else only jobs that are not in the checkpoint */
    bool unsealed_is_kept; /* a checkpoint is stored, from which the next run continues */
    bool may_look_back;    /* the run's time was given by the user and may be in the past */
    /*
     * An incremental run changes the stored rows only if the run at this time wrote them.  If a
     * different run wrote them, day_rows_write() leaves the rows unchanged if `may_wait` is true,
     * and fails with ERROR_DAMAGED otherwise.
     */
    uint64_t goes_on_from;
    bool may_wait;
    /*
     * These fields select the days whose rows are verified even if they do not change.  The run
     * verifies all days, the days that begin from check_from to before check_to, or the days that
     * begin at check_all_from or later.  If `in_turn` is true, day_rows_write() sets the fields so
     * that each day is verified once in `round_s` seconds.
     */
    bool check_all;
    uint64_t check_from, check_to;
    uint64_t check_all_from;
    bool in_turn;
    uint64_t round_s;
    uint64_t oldest_end; /* earliest end time of a job; UINT64_MAX if no job has ended */
    size_t last;         /* index of the last day that find_day() found */
    size_t earliest;     /* index of the first day with usage; `count` if there is no usage */
    struct day_spool *checkpointed, *open; /* usage of checkpointed jobs, and of all other jobs */
    struct day_waits *waits; /* started jobs by waiting time, or NULL; the caller owns them */
    bool failed; /* the days cannot be stored: the disk is full, or a sum is out of range */
    /* set by day_rows_write(): the stored rows are not those of the run that made the checkpoint */
    bool behind;
    struct day_repairs repairs; /* set by day_rows_write() */
};

/*
 * Returns the days that begin at `from` or later, up to `now`.  `kept` must outlive the days; NULL
 * means that no TRES is kept.  The caller frees the days with days_destroy(), which accepts NULL.
 */
struct days *days_create(uint64_t from, uint64_t now, const struct kept_tres *kept);

/*
 * Returns the days from `first` up to `now`.  If `first` is not the start of a day, the first day
 * lasts from `first` to the next midnight.
 */
struct days *days_create_at(uint64_t first, uint64_t now, const struct kept_tres *kept);
void days_destroy(struct days *days);

/*
 * Adds the usage of a job from `start` to `end` in epoch seconds, or subtracts this usage if `rate`
 * is negative.  Ignores time that is not in any of the days.  Returns -1 if the disk is full.
 */
int days_add(struct days *days, bool checkpointed, const struct usage_rate *rate, uint64_t start,
             uint64_t end, struct error *err);

/*
 * Adds the part of a rollup's usage that is in `interval`.  The rollup replaces purged job rows,
 * and its usage is spread evenly over its time.  `price` is the charge rate; it is 0 if the
 * rollup's TRES is not charged.  `tres` is the index of the TRES in days->kept, or
 * days->kept->count if it is not kept.  Returns -1 if the disk is full or a sum is out of range.
 */
int days_add_rollup(struct days *days, const struct slice *interval, const struct rollup *rollup,
                    uint128 price, size_t tres, struct error *err);

/* Calls day_spool_spill_rest() for days->checkpointed and for days->open. */
int days_spill_rest(struct days *days, struct error *err);

/*
 * Records in the log and in `findings` that the days cannot be stored, and sets days->failed.  The
 * run continues, because fairshare does not depend on these statistics.
 */
void days_give_up(struct days *days, struct findings *findings, const struct error *err);

/*
 * Returns the index of the last day that begins at `time` or earlier, or 0 if all days begin later.
 */
size_t days_search(const struct days *days, uint64_t time);

/*
 * Returns the index of the day that begins at `start`, or days->count if no day begins at `start`.
 */
size_t days_find(const struct days *days, uint64_t start);

/*
 * Adds the sums of a day in `spool` (days->checkpointed or days->open) to `into`.  See
 * day_spool_take().
 */
int days_take(struct days *days, struct day_spool *spool, size_t day, struct day_sums *into,
              struct error *err);

#endif

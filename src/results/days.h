/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_DAYS_H
#define FAIRMILL_RESULTS_DAYS_H

#include "core/usage/day_sums.h"

struct error;
struct findings;
struct rollup;
struct slice;

/* What was found not to be as an earlier run had stored it. */
struct day_repairs {
    uint64_t days, rows; /* that were made anew */
    double drift;        /* the largest difference in TRES-seconds */
    uint64_t lost;       /* days that cannot be made anew, since their jobs were purged ... */
    uint64_t first_lost; /* ... and when the first of them began */
};

/* What associations used on each day: gathered while a run reads jobs, and written by
 * day_rows_write(). Days are those of the process's time zone. */
struct days {
    uint64_t *starts; /* where each day begins, and behind the last where that ends */
    size_t count;
    uint64_t now;
    uint64_t border;       /* stored days before it are of another time zone, and stay; 0: none */
    bool anew;             /* all jobs were read; else those that were not sealed */
    bool unsealed_is_kept; /* there is a seal, on which the next run will go on */
    bool may_look_back;    /* the run was asked for an instant, which may be before others */
    uint64_t goes_on_from; /* not `anew`: the instant of the run whose rows are added to ... */
    bool may_wait;         /* ... and if it is not theirs, they stay as they are for now */
    bool check_all;        /* read every day's rows, whether or not they are to change ... */
    uint64_t check_from, check_to; /* ... or those of days that begin between these ... */
    uint64_t check_all_from;       /* ... or from this on */
    bool in_turn;                  /* day_rows_write() chooses these, so that all come ... */
    uint64_t round_s;              /* ... within so many seconds */
    uint64_t oldest_end;           /* of all job rows; UINT64_MAX where none has ended */
    size_t last;                   /* the day that was found last */
    size_t earliest;               /* the first day with a sum; `count`: none has */
    struct day_spool *checkpointed,
        *open;   /* the usage of jobs that are sealed, and of the others */
    bool failed; /* they cannot be kept: no room, or beyond our integers */
    bool behind; /* set by day_rows_write(): rows are of an earlier run than the seal */
    struct day_repairs repairs; /* set by day_rows_write() */
};

/* The days that begin at `from` or later, up to now. */
struct days *days_create(uint64_t from, uint64_t now);
/* The same, with what is left of the day that `first` is in as the first of them. */
struct days *days_create_at(uint64_t first, uint64_t now);
void days_destroy(struct days *days);

/* Add what a job used from `start` to `end`, or take it back. */
int days_add(struct days *days, bool checkpointed, const struct usage_rate *rate, uint64_t start,
             uint64_t end, struct error *err);
/* Add the part of a rollup, which stands for jobs that were purged, that is in a slice. */
int days_add_rollup(struct days *days, const struct slice *interval, const struct rollup *rollup,
                    uint128 price, struct error *err);

/* As day_spool_spill_rest(). */
int days_spill_rest(struct days *days, struct error *err);

/* They cannot be kept: note why.  Statistics never stop fairshare. */
void days_give_up(struct days *days, struct findings *findings, const struct error *err);

/* The day that begins at `start`; days->count where none does. */
size_t days_find(const struct days *days, uint64_t start);

/* Add the sums of a day in `sealed` or `open` to `into`; day by day, as day_spool_take(). */
int days_take(struct days *days, struct day_spool *spool, size_t day, struct day_sums *into,
              struct error *err);

/* Sums of usage by day and association, which are added in any order and taken day by day.  Neither
 * memory nor time grows with the length of jobs: what is too much for memory lies in a temporary
 * file, and a job that lasts for months makes sums for its first and its last day only; between
 * them it is a rate. */

struct day_spool *day_spool_create(void);
void day_spool_destroy(struct day_spool *spool);

/* Add to what an association used on a day: so many seconds of a rate, or `more`.  Fails where the
 * file has no room, or `more` is beyond the range of our integers; a sum beyond it is an error
 * where it is taken or written. */
int day_spool_add_product(struct day_spool *spool, uint32_t day, const struct usage_rate *rate,
                          uint64_t seconds, struct error *err);
int day_spool_add(struct day_spool *spool, uint32_t day, uint64_t id, const struct wide *more,
                  struct error *err);
/* Add a rate for every second of the days from `first` to the one before `end`. */
int day_spool_add_rate(struct day_spool *spool, uint32_t first, uint32_t end,
                       const struct usage_rate *rate, struct error *err);

/* Where there is a file, write the sums that memory still holds to it, too.  It is for when all is
 * added, and others need memory before days are taken.  Fails where the file has no room. */
int day_spool_spill_rest(struct day_spool *spool, struct error *err);

/* The error of a sum that is beyond the range; returns -1. */
int day_beyond_range(uint64_t id, struct error *err);

/* Add the sums of a day, which has so many seconds, to `into`.  Days are taken in ascending order,
 * each at most once.  Fails where what was added is beyond the range, or the file cannot be read.
 */
int day_spool_take(struct day_spool *spool, uint32_t day, uint64_t seconds, struct day_sums *into,
                   struct error *err);
/* Let days be taken again from the first one on. */
void day_spool_rewind(struct day_spool *spool);

#endif

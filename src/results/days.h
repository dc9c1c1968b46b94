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

/* What associations used on each day: gathered while a run reads jobs, and written by day_rows.h.
 * Days are those of the process's time zone. */
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
    uint64_t check_from, check_to;   /* ... or those of days that begin between these ... */
    uint64_t check_all_from;         /* ... or from this on */
    bool in_turn;                    /* day_rows_write() chooses these, so that all come ... */
    uint64_t round_s;                /* ... within so many seconds */
    uint64_t oldest_end;             /* of all job rows; UINT64_MAX where none has ended */
    size_t last;                     /* the day that was found last */
    size_t earliest;                 /* the first day with a sum; `count`: none has */
    struct day_spool *sealed, *open; /* the usage of jobs that are sealed, and of the others */
    bool failed;                     /* they cannot be kept: no room, or beyond our integers */
    bool behind; /* set by day_rows_write(): rows are of an earlier run than the seal */
    struct day_repairs repairs; /* set by day_rows_write() */
};

/* The days that begin at `from` or later, up to now. */
struct days *days_create(uint64_t from, uint64_t now);
/* The same, with what is left of the day that `first` is in as the first of them. */
struct days *days_create_at(uint64_t first, uint64_t now);
void days_destroy(struct days *days);

/* Add what a job used from `start` to `end`, or take it back. */
int days_add(struct days *days, bool sealed, const struct usage_rate *rate, uint64_t start,
             uint64_t end, struct error *err);
/* Add the part of a rollup, which stands for jobs that were purged, that is in a slice. */
int days_add_rollup(struct days *days, const struct slice *slice, const struct rollup *rollup,
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

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_INSIGHT_BUDGET_H
#define FAIRMILL_CORE_INSIGHT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct reset_period;

/*
 * Budgets: GrpTRESMins limits of associations and QOS.  slurmctld lets no further job start when
 * the usage, in whole minutes, has reached the limit.
 */

/* A limit with its usage.  Usage is in TRES-seconds. */
struct budget {
    bool is_qos;
    uint32_t node;        /* of the association; unused for a QOS */
    uint64_t qos;         /* id of the QOS; unused for an association */
    const char *qos_name; /* as in the accounting database; unused for an association */
    unsigned number;      /* of the TRES (core/usage/kept_tres.h) */
    const char *tres;     /* name of the TRES, in UTF-8 */
    uint64_t limit_minutes;
    double used_s;      /* decayed; for an association, including everything below it */
    uint64_t running_s; /* that running jobs may still use, likewise */
    /* A QOS only: mean usage per second, undecayed, in the last seven days; NAN if unknown. */
    double recent_rate;
    bool no_decay; /* the usage does not decay; a periodic reset still sets it to 0 */
};

/* The future of a budget if usage continues at one rate. */
struct budget_outlook {
    double used_s, limit_s; /* TRES-seconds */
    double rate;            /* TRES-seconds per second; NAN if unknown */
    uint64_t now;           /* epoch seconds */
    uint64_t half_life_s;   /* 0: no decay */
    const struct reset_period *period;
};

/* A limit that is not reached within this time counts as never reached. */
#define BUDGET_YEARS 100

/*
 * Returns the first time, in epoch seconds, at which the usage has reached the limit: `now` if it
 * has already.  A periodic reset sets the usage to 0.  The search ends with the first whole period
 * after the current one, because all later ones are alike.  Returns -1 if the limit is not reached.
 */
int64_t budget_exhausted_at(const struct budget_outlook *outlook);

/* Returns the start of the period over which the recent rate is the mean: midnight seven local days
 * before the day of `now`. */
uint64_t budget_recent_from(uint64_t now);

#endif

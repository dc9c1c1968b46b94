/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_INSIGHT_FORECAST_H
#define FAIRMILL_CORE_INSIGHT_FORECAST_H

#include "core/fairshare/fairshare.h"
#include "core/usage/calendar.h"

/* What a run will compute at a later instant, for different projections of what is used until then.
 *
 * What was used up to now only ages.  A later run may have a coarser epoch (usage/decay_table.h),
 * on which older usage does not count any more.  The past is therefore given once for each epoch
 * that a run will have, and again where a coming entry of the ledger changes it; so the integers
 * are those of that run. */

/* What each node itself was charged up to now, as far as it counts in a run from the instant `from`
 * on with this grid; in the units of the grid of now. */
struct forecast_past {
    uint64_t from, epoch;
    struct wide *own; /* by node */
};

/* Who uses the cluster from now on. */
enum projection {
    PROJECTION_NOTHING, /* nobody */
    PROJECTION_ALL,     /* everybody at their rates */
    PROJECTION_OTHERS,  /* everybody except the entity and those below it */
    PROJECTION_JOB,     /* the same, and the entity runs one job */
    PROJECTIONS,
};

struct forecast {
    struct tree *tree; /* its usage is overwritten for each instant */
    uint32_t entity;   /* whose values are asked for */
    bool *in_entity;   /* by node: whether it is the entity or below it */
    uint64_t now, half_life;
    struct reset_period period;
    uint64_t least_reset;  /* the last reset that people entered up to now; 0: none */
    struct ledger *coming; /* entries that begin to count later */
    const struct algorithm *algorithm;
    struct fairshare_options options; /* clock and capacity are set here */
    /* What the cluster could deliver up to `now`, with its last reset and its first charge. */
    double (*capacity)(const void *context, uint64_t now, uint64_t reset, uint64_t first_charge);
    const void *context; /* of capacity() */
    /* Called for each instant that all is computed for, which takes time; NULL: nobody asks. */
    void (*computed)(void *context, uint64_t at);
    void *computed_context;
    uint64_t first_charge;      /* UINT64_MAX: there was none */
    struct forecast_past *past; /* by ascending `from` */
    size_t past_count;
    uint128 *rates;   /* by node: units a second, below 2^127 */
    uint128 job_rate; /* likewise, from now on */
    uint64_t job_s;
    struct values *values; /* by node; overwritten */
};

struct forecast_point {
    uint64_t at;
    double factor, level_fs, usage; /* of the entity; NAN where there is none */
    uint32_t rank;                  /* 0: none */
};

/* A projection from instant to instant.  Where the algorithm can tell the entity's values from the
 * usage of few others, and usage goes on at one rate, nothing else is computed; the values are the
 * same. */
struct projected;
struct projected *projected_begin(const struct forecast *forecast, enum projection projection);
void projected_end(struct projected *projected);
/* The values at an instant, now or later.  ERROR_DATA where usage leaves the integers' range. */
int projected_at(struct projected *projected, uint64_t at, struct forecast_point *point,
                 struct error *err);

/* When does the entity reach a value?  The value is the factor, or level_fs where there is none. */
struct crossing_search {
    double value;
    uint64_t end;    /* of the search */
    uint64_t step_s; /* see below */
};
/* The instant, to the minute, at which the value is first reached or, where it is reached now,
 * first is not any more; 0 where that does not happen up to the end.  The search looks at every
 * `step_s` seconds, at each reset of usage and at each entry of the ledger.  What comes and goes
 * between two of these instants is not seen. */
int projected_crossing(struct projected *projected, const struct crossing_search *search,
                       uint64_t *crossing, struct error *err);

/* What was charged in so many seconds, a second; the largest rate where that is more than one. */
uint128 forecast_rate(const struct wide *charged, uint64_t seconds);

/* projected_crossing() compares this value: the factor, or level_fs where there is none. */
double forecast_value(const struct forecast_point *point);

#endif

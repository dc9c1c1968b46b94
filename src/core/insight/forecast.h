/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_INSIGHT_FORECAST_H
#define FAIRMILL_CORE_INSIGHT_FORECAST_H

#include "core/fairshare/fairshare.h"
#include "util/calendar.h"

/*
 * Computes the values that a run will have at a later time, for different projections of the usage
 * until then.
 *
 * Past usage only decays.  A later run may have a later decay epoch (usage/decay_table.h).  In a
 * later epoch, the unit of sums is larger and the oldest usage is ignored.  Past usage is therefore
 * given once for each decay epoch, and again after each future ledger entry that changes it.  So
 * the integers are the same as in the later run.
 */

/* The usage that was charged to each node itself until now and that a run at or after `from` with
 * this epoch still includes.  Sums are in the unit of the current epoch. */
struct forecast_past {
    uint64_t from, epoch;
    struct wide *own; /* indexed by node */
};

/* The assumed usage from now on. */
enum projection {
    PROJECTION_NOTHING, /* no usage */
    PROJECTION_ALL,     /* all associations continue at their rates */
    PROJECTION_OTHERS,  /* all except the entity and its descendants continue */
    PROJECTION_JOB,     /* as PROJECTION_OTHERS, and the entity runs one job */
    PROJECTIONS,
};

struct forecast {
    struct tree *tree; /* its usage is overwritten for each time */
    uint32_t entity;   /* the node whose values are requested */
    bool *in_entity;   /* indexed by node: true for the entity and its descendants */
    uint64_t now, half_life;
    struct reset_period period;
    uint64_t least_reset;  /* last reset in the ledger up to now; 0 if none */
    struct ledger *coming; /* entries that take effect later */
    const struct algorithm *algorithm;
    struct fairshare_options options; /* the decay table and the capacity are set here */
    /* Returns the cluster's capacity in TRES-seconds for a run at `now`, with this last reset and
     * this first charge. */
    double (*capacity)(const void *context, uint64_t now, uint64_t reset, uint64_t first_charge);
    const void *context; /* argument of capacity() */
    /* Called for each time whose values are computed completely, which is slow.  May be NULL. */
    void (*computed)(void *context, uint64_t at);
    void *computed_context;
    uint64_t first_charge;      /* time of the first charge, or UINT64_MAX */
    struct forecast_past *past; /* in ascending order of `from` */
    size_t past_count;
    uint128 *rates;   /* indexed by node: units per second, below 2^127 */
    uint128 job_rate; /* units per second during the job */
    uint64_t job_s;
    struct values *values; /* indexed by node; overwritten */
};

/* Selects the association to forecast, a node of the forecast's tree. */
void forecast_choose(struct forecast *forecast, uint32_t entity);
/* Frees the members that are arrays or ledgers.  Does not free the tree. */
void forecast_free(struct forecast *forecast);

/* Fills `own` with the remaining usage at the later time `at` of all usage charged to each node
 * itself up to now.  Ignores usage before `start`.  `own` is indexed by node, and its elements are
 * initially 0. */
struct forecast_reader {
    int (*fill)(void *context, uint64_t at, uint64_t start, struct wide *own, struct error *err);
    void *context;
};
/* Sets forecast->past.  It contains the remaining usage for the present decay epoch, which is
 * `own`, and for each later epoch up to `end` in which usage up to now is still included.  There
 * are at most eight later epochs.  It also contains the remaining usage after each future ledger
 * entry. Takes ownership of `own`. */
int forecast_read_past(struct forecast *forecast, struct wide *own, uint64_t end,
                       const struct forecast_reader *reader, struct error *err);

struct forecast_point {
    uint64_t at;
    double factor, level_fs, usage; /* of the entity; NAN if undefined */
    uint32_t rank;                  /* 0 if none */
};

/* Computes a projection at successive times.  If the algorithm has find_one() and usage continues
 * at one rate, computes only the entity's values.  The results do not depend on this. */
struct projected;
/* The caller frees the result with projected_end().  `forecast` must outlive it. */
struct projected *projected_begin(const struct forecast *forecast, enum projection projection);
void projected_end(struct projected *projected);
/* Sets `point` to the values at a time, which must not be before now.  Fails with ERROR_DATA if
 * usage leaves the range of the integers. */
int projected_at(struct projected *projected, uint64_t at, struct forecast_point *point,
                 struct error *err);

/* Sets `*places` to the places of all users at a time, indexed by node.  The caller frees them. */
int projected_places(struct projected *projected, uint64_t at, uint32_t **places,
                     struct error *err);
/* Sets the usage of all nodes of the tree, but not of its levels, to the values at a time.  Sets
 * `*weight` to the usage of one unit per second from now until then.  Returns false if the usage is
 * not linear. */
bool projected_set_usage(struct projected *projected, uint64_t at, uint128 *weight);

/* A search for the time at which the entity reaches a value.  The value is the factor, or level_fs
 * if there is no factor. */
struct crossing_search {
    double value;
    uint64_t end;    /* end of the search */
    uint64_t step_s; /* maximum distance between two examined times */
};
/* Sets *crossing to the first time at which the value is reached, with an accuracy of one minute.
 * If the value is already reached now, sets *crossing to the first time at which it is no longer
 * reached.  Sets *crossing to 0 if there is no such time before the end of the search.  The search
 * examines a time every `step_s` seconds, at each reset of usage and at each ledger entry.  It
 * misses values that are reached only between two of these times. */
int projected_crossing(struct projected *projected, const struct crossing_search *search,
                       uint64_t *crossing, struct error *err);

/* Rates are means of this number of days. */
#define FORECAST_RATE_DAYS 7
/* Returns the mean rate, in units per second, of a charge over `seconds`.  The result is 0 for a
 * negative charge, and at most 2^126. */
uint128 forecast_rate(const struct wide *charged, uint64_t seconds);

/* Returns the value that projected_crossing() compares: the factor, or level_fs if there is no
 * factor. */
double forecast_value(const struct forecast_point *point);

#endif

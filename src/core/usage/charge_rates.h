/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_CHARGE_RATES_H
#define FAIRMILL_CORE_USAGE_CHARGE_RATES_H

#include "core/usage/charge_rate.h"

/*
 * Charge rates by partition and QOS.  They combine the weights and factors of the settings with the
 * TRES and QOS of the accounting database.
 */

/* The ids of these TRES in every slurmdbd. */
enum { TRES_CPU = 1, TRES_BILLING = 5 };

/* The quantity by which a job is charged. */
enum charge_basis {
    CHARGE_AUTO, /* its weighted TRES if weights are set for it and their sum, rounded down, equals
                    its billing; otherwise its billing */
    CHARGE_BILLING, /* its billing, or 0 */
    CHARGE_CPU,
    CHARGE_TRES, /* its weighted TRES */
};

/* How the weighted TRES are combined into a charge; see PriorityFlags in slurm.conf(5). */
enum weight_rule {
    WEIGHTS_SUM,
    WEIGHTS_MAX_TRES, /* the maximum of cpu, mem, node and each gres, plus the sum of the others */
    WEIGHTS_MAX_TRES_GRES, /* the maximum of cpu, mem and node, plus the sum of the others */
};

/* The maximum number of weights in each list. */
#define WEIGHTS_LIMIT 64

struct tres_weight {
    char *type, *name; /* as in `gres/gpu`; the name may be "" */
    struct decimal weight;
    unsigned halvings; /* the weight is divided by 2^halvings */
};
struct weight_list {
    struct tres_weight *weights;
    size_t count;
};
/* Weights for the jobs of one partition, in place of the general weights. */
struct named_weights {
    char *name; /* UTF-8 */
    struct weight_list list;
};

/* A factor that the settings assign to a QOS or a partition. */
struct named_factor {
    char *name; /* UTF-8 */
    struct decimal factor;
};
struct factor_list {
    struct named_factor *factors;
    size_t count;
};

struct charge_weights {
    enum weight_rule weight_rule;
    struct weight_list weights;
    struct named_weights *partition_weights;
    size_t partition_weight_count;
    struct factor_list qos_factors, partition_factors;
};
/* Returns true if there are factors or weights for partitions. */
bool charge_weights_have_partitions(const struct charge_weights *weights);
/* Returns true if jobs may be charged by their weighted TRES: always with CHARGE_TRES, and with
 * CHARGE_AUTO if any weights are set. */
bool charge_weights_count(const struct charge_weights *weights, enum charge_basis charge);
void charge_weights_free(struct charge_weights *weights);

/* The charge rate of one TRES for the jobs of one partition and QOS. */
struct tres_rate {
    uint64_t id;
    bool in_maximum; /* if set, only the largest of these TRES is charged; other TRES are summed */
    uint128 rate;
    double weight; /* without factors, as slurmctld uses it */
};
struct charge_rate {
    uint128 rate; /* for billing or CPUs */
    bool weighs;  /* true if weights apply */
    size_t tres_count;
    const struct tres_rate *tres; /* valid if `weighs` */
    uint32_t list;         /* 0 for the general weights; otherwise the weights of `partition` */
    const char *partition; /* name of a partition; "" for the general weights */
    const struct charge_rate *later; /* the rate from later_from on, or NULL */
    uint64_t later_from;
};
/* Returns the rate of the chain that applies at `time`. */
const struct charge_rate *charge_rate_at(const struct charge_rate *rate, uint64_t time);

/*
 * Returns the rate of one TRES under CHARGE_TRES, or 0 if the TRES is not charged.  With any other
 * basis, returns the rate for billing or CPUs.
 */
uint128 charge_rate_of_tres(const struct charge_rate *rate, enum charge_basis charge,
                            uint64_t tres);

/*
 * Creates charge rates for these weights.  `weights` must outlive them.  First add the rows of the
 * accounting database with the functions below, then call charge_rates_find().
 */
struct charge_rates *charge_rates_create(enum charge_basis charge,
                                         const struct charge_weights *weights);
void charge_rates_destroy(struct charge_rates *rates);
/*
 * Add a row of tres_table or qos_table.  Like Slurm, compares names of TRES without regard to case.
 */
void charge_rates_add_tres(struct charge_rates *rates, uint64_t id, const char *type,
                           const char *name);
void charge_rates_add_qos(struct charge_rates *rates, uint64_t id, const char *name, size_t length,
                          double usage_factor);
/* A usage factor of a QOS from a time on.  The first factor also applies before that time. */
struct factor_span {
    uint64_t from;
    double factor;
};
/* Replaces the factors of an added QOS.  `spans` is in ascending order and not empty. */
void charge_rates_set_factors(struct charge_rates *rates, uint64_t qos,
                              const struct factor_span *spans, size_t count);
/*
 * Returns the first rate of the chain for a job, valid until charge_rates_destroy().  A QOS that
 * was not added has factor 1.  If `partition` is a comma-separated list, uses its first name,
 * unless the settings contain the whole text as one name.
 */
const struct charge_rate *charge_rates_find(struct charge_rates *rates, uint64_t qos,
                                            const char *partition, size_t length);
bool charge_rates_has_qos(const struct charge_rates *rates, uint64_t qos);
/* Returns the rate with the general weights and without factors. */
const struct charge_rate *charge_rates_plain(struct charge_rates *rates);

/*
 * Iterate over names in the settings that no added row or requested job had, to report likely
 * mistakes.  Start with `*at` = 0.  Return NULL at the end.  TRES with weight 0 are omitted.
 */
const char *charge_rates_unused_qos(const struct charge_rates *rates, size_t *at);
const char *charge_rates_unused_partition(const struct charge_rates *rates, size_t *at);
const struct tres_weight *charge_rates_unused_tres(const struct charge_rates *rates, size_t *at);

/*
 * Returns a hash of the data from the database that determine the charge rates before `reach`.
 * These are the ids of TRES with a weight, and QOS factors that differ from 1.  If the hash
 * changes, stored sums of that time are no longer valid.
 */
uint64_t charge_rates_hash(const struct charge_rates *rates, uint64_t reach);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_CHARGE_RATES_H
#define FAIRMILL_CORE_USAGE_CHARGE_RATES_H

#include "core/usage/charge_rate.h"

/* Who pays what: the settings' weights and factors, and what the accounting database says of its
 * TRES and QOS. */

/* The ids that every slurmdbd gives these TRES. */
enum { TRES_CPU = 1, TRES_BILLING = 5 };

/* What a job is charged each second. */
enum charge_basis {
    CHARGE_AUTO,    /* its weighted TRES where there are weights for it and cutting what they make
                     * gives its billing; else as CHARGE_BILLING */
    CHARGE_BILLING, /* its billing; 0 where it has none */
    CHARGE_CPU,
    CHARGE_TRES, /* its weighted TRES */
};

/* How weighted TRES make a charge, in the words of slurm.conf's PriorityFlags. */
enum weight_rule {
    WEIGHTS_SUM,
    WEIGHTS_MAX_TRES,      /* the highest of cpu, mem, node and every gres, and the sum of others */
    WEIGHTS_MAX_TRES_GRES, /* the highest of cpu, mem and node, and the sum of others */
};

/* No more TRES than this may have weights, in each list. */
#define WEIGHTS_LIMIT 64

struct tres_weight {
    char *type, *name; /* as in `gres/gpu`; no name is "" */
    struct decimal weight;
    unsigned halvings; /* the weight is divided by 2^halvings */
};
struct weight_list {
    struct tres_weight *weights;
    size_t count;
};
/* What jobs of one partition pay instead of the weights for all. */
struct named_weights {
    char *name; /* UTF-8 */
    struct weight_list list;
};

/* What the settings give a QOS or a partition. */
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
/* Whether it says anything of partitions. */
bool charge_weights_have_partitions(const struct charge_weights *weights);
/* Whether it has weights that count under a basis. */
bool charge_weights_count(const struct charge_weights *weights, enum charge_basis charge);
void charge_weights_free(struct charge_weights *weights);

/* What the jobs of a partition and a QOS pay for each TRES. */
struct tres_rate {
    uint64_t id;
    bool in_maximum; /* the highest of these counts, of all others the sum */
    uint128 rate;
    double weight; /* without any factor, as slurmctld has it */
};
struct charge_rate {
    uint128 rate; /* of billing and CPUs */
    bool weighs;  /* there are weights that count */
    size_t tres_count;
    const struct tres_rate *tres;    /* where it weighs */
    uint32_t list;                   /* 0: the weights for all; else those of a partition, ... */
    const char *partition;           /* ... of this name; "" */
    const struct charge_rate *later; /* what holds from an instant on; NULL: this one always does */
    uint64_t later_from;
};
/* The tariff of a chain that holds at an instant. */
const struct charge_rate *charge_rate_at(const struct charge_rate *rate, uint64_t time);

/* What a TRES that is charged by this basis costs; 0 where it is not charged. */
uint128 charge_rate_of_tres(const struct charge_rate *rate, enum charge_basis charge,
                            uint64_t tres);

/* The pricing must stay. */
struct charge_rates *charge_rates_create(enum charge_basis charge,
                                         const struct charge_weights *weights);
void charge_rates_destroy(struct charge_rates *rates);
/* A row of the database's tables.  Names of TRES compare as in Slurm, without regard to case. */
void charge_rates_add_tres(struct charge_rates *rates, uint64_t id, const char *type,
                           const char *name);
void charge_rates_add_qos(struct charge_rates *rates, uint64_t id, const char *name, size_t length,
                          double usage_factor);
/* What the usage factor of a QOS was: by ascending instant, the first also before its own. */
struct factor_span {
    uint64_t from;
    double factor;
};
void charge_rates_set_factors(struct charge_rates *rates, uint64_t qos,
                              const struct factor_span *spans, size_t count);
/* The tariff of a job, once all rows were added.  It holds until charge_rates_destroy().  A QOS
 * that was not added has factor 1.  Of several partitions, separated by commas, the first counts.
 */
const struct charge_rate *charge_rates_find(struct charge_rates *rates, uint64_t qos,
                                            const char *partition, size_t length);
bool charge_rates_has_qos(const struct charge_rates *rates, uint64_t qos);
/* The tariff without any factor. */
const struct charge_rate *charge_rates_plain(struct charge_rates *rates);

/* Names that the settings have and nothing that was added or looked for: which of them is at or
 * behind *at, or NULL; *at moves on.  Of TRES only those that should charge. */
const char *charge_rates_unused_qos(const struct charge_rates *rates, size_t *at);
const char *charge_rates_unused_partition(const struct charge_rates *rates, size_t *at);
const struct tres_weight *charge_rates_unused_tres(const struct charge_rates *rates, size_t *at);

/* A hash of what prices before `reach` hang on besides the settings: the ids of TRES that have a
 * weight, and the factors of QOS, unless they are the usual 1.  Where it differs, what jobs did
 * before then is charged something else. */
uint64_t charge_rates_hash(const struct charge_rates *rates, uint64_t reach);

#endif

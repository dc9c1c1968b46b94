/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_SETTINGS_H
#define FAIRMILL_SETTINGS_SETTINGS_H

#include <sys/types.h>

#include "core/fairshare/fairshare.h"
#include "core/usage/calendar.h"
#include "core/usage/usage.h"
#include "db/db.h"
#include "settings/pbs_values.h"

/* slurm.conf's PriorityFlags, without those that choose an algorithm. */
enum priority_flag {
    PRIORITY_ACCRUE_ALWAYS = 1 << 0,
    PRIORITY_CALCULATE_RUNNING = 1 << 1,
    PRIORITY_INCR_ONLY = 1 << 2,
    PRIORITY_MAX_TRES = 1 << 3, /* how TRESBillingWeights make a charge; the next one is stronger */
    PRIORITY_MAX_TRES_GRES = 1 << 4,
    PRIORITY_NO_NORMAL_ASSOC = 1 << 5,
    PRIORITY_NO_NORMAL_PART = 1 << 6,
    PRIORITY_NO_NORMAL_QOS = 1 << 7,
    PRIORITY_NO_NORMAL_TRES = 1 << 8,
    PRIORITY_NO_NORMAL_ALL = 15 << 5,
    PRIORITY_SMALL_RELATIVE_TO_TIME = 1 << 9,
};

/* Where the value of a setting comes from. */
struct setting_origin {
    enum { FROM_DEFAULT, FROM_SETTINGS, FROM_SLURM_CONF } from;
    char *value;      /* NULL: there is none */
    const char *file; /* of slurm.conf: the file, the line, and the key as it is spelled there */
    unsigned line;
    const char *slurm_key;
    const char *old_key; /* the former key that the settings file uses, or NULL */
};

/* Settings as they count, checked.  settings/load.h reads them from the settings file,
 * settings_recorded() from the text that a run recorded; settings/table.h has the table of all
 * keys. */

enum usage_source { USAGE_OF_JOBS, USAGE_OF_ROLLUPS };
enum decay { DECAY_EXACT, DECAY_STEPS };
enum suspended { SUSPENDED_CHARGED, SUSPENDED_OMITTED };

/* In which order slurmctld visits accounts that tie: that of the collation of the lineage column,
 * as after a start, or bytewise, as after an association was added. */
enum ties { TIES_BY_COLLATION, TIES_BY_BYTES };

/* What is hidden of other users: their associations, and their waiting jobs. */
enum { PRIVATE_USAGE = 1, PRIVATE_JOBS = 2, PRIVATE_ALL = PRIVATE_USAGE | PRIVATE_JOBS };

/* Who asks over the socket of `fairmill answer`: a user of this system, by the word of the kernel.
 * NULL wherever a pointer to one stands: who runs this process. */
struct client {
    uid_t uid;
    const char *login;
    int journal; /* a file: where this process logs what the user is not told */
};

struct settings {
    struct db_settings source, results;
    const char *layout;
    const char *associations, *usage; /* relations of the layout plain */
    const char *clusters;             /* names separated by commas; "all" */
    uint64_t deadline_s;
    int64_t max_lag_s; /* -1: none */
    enum bad_rows on_bad_rows;
    const char *shares_file; /* paths, separated by commas; "": none */
    bool share_database;

    enum usage_source usage_source;
    uint64_t half_life_s;     /* 0: no decay */
    bool half_life_of_source; /* it is not given, and the scheduler's parameters say it */
    enum decay decay;
    struct reset_period reset_period;
    const char *reset_anchor;
    const char *time_zone;
    uint64_t zone; /* calendar_zone() of it; 0: the settings are for reading */
    enum charge_basis charge;
    struct charge_weights weights;
    enum suspended suspended;
    uint64_t open_job_cap_s;
    uint64_t checkpoint_after_s, full_every_s;
    uint64_t horizon_s; /* 0: none */

    const struct algorithm *algorithm;
    enum conformance conformance;
    const struct release *slurm_release; /* NULL: the one that the cluster registered with */
    enum ties ties;
    double dampening;
    double capacity; /* of the charged TRES; 0: what the cluster's registration says */
    double capacity_half_lives;
    double pbs_minimum_usage;

    uint64_t history_interval_s;     /* 0: every run */
    uint64_t history_days, run_days; /* 0: none are kept, and all are */

    uint64_t alert_after_s;
    unsigned private; /* PRIVATE_...: what of others is hidden from users */

    uint64_t weight_age, weight_assoc, weight_fairshare, weight_job_size, weight_partition,
        weight_qos;
    const char *weight_tres; /* TRES=NUMBER, separated by commas */
    uint64_t max_age_s;
    bool favor_small;
    const char *partition_factors;    /* PARTITION:NUMBER, separated by commas; NULL: of `slurm` */
    const char *qos_priority_factors; /* QOS:NUMBER, likewise */
    unsigned priority_flags;          /* of enum priority_flag */

    const char *pbs[PBS_KEYS]; /* "": not given */

    const char *slurm_path;         /* of a slurm.conf; "": none */
    struct slurm_conf *slurm;       /* its content; NULL: none, or the settings are for reading */
    struct setting_origin *origins; /* of each line of the table; fields point to the texts */
    size_t origin_count;

    char *path;                  /* of the file */
    const struct client *client; /* who is told; NULL: who runs this */
    char *text;                  /* every setting as it counts, a line each, and the zone */
    char *charges;               /* only those that the charge of a closed job depends on */
    char digest[33];             /* of the text */
};

void settings_destroy(struct settings *settings);

/* Whether [source] clusters has this cluster. */
bool settings_want_cluster(const struct settings *settings, const char *cluster);

extern const char *const conformance_names[]; /* by the enum's order, ended by NULL */
const char *conformance_name(enum conformance conformance);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_SETTINGS_H
#define FAIRMILL_SETTINGS_SETTINGS_H

#include <sys/types.h>

#include "core/fairshare/fairshare.h"
#include "core/usage/usage.h"
#include "db/db.h"
#include "settings/pbs_values.h"
#include "util/calendar.h"

/* The PriorityFlags of slurm.conf, except the flags that select an algorithm. */
enum priority_flag {
    PRIORITY_ACCRUE_ALWAYS = 1 << 0,
    PRIORITY_CALCULATE_RUNNING = 1 << 1,
    PRIORITY_INCR_ONLY = 1 << 2,
    PRIORITY_MAX_TRES = 1 << 3, /* for charges; PRIORITY_MAX_TRES_GRES takes precedence */
    PRIORITY_MAX_TRES_GRES = 1 << 4,
    PRIORITY_NO_NORMAL_ASSOC = 1 << 5,
    PRIORITY_NO_NORMAL_PART = 1 << 6,
    PRIORITY_NO_NORMAL_QOS = 1 << 7,
    PRIORITY_NO_NORMAL_TRES = 1 << 8,
    PRIORITY_NO_NORMAL_ALL = 15 << 5,
    PRIORITY_SMALL_RELATIVE_TO_TIME = 1 << 9,
};

/* The source of a setting's value. */
struct setting_origin {
    enum { FROM_DEFAULT, FROM_SETTINGS, FROM_SLURM_CONF } from;
    char *value; /* NULL if there is no value */
    /* If FROM_SLURM_CONF, the file, the line and the key as slurm.conf spells it. */
    const char *file;
    unsigned line;
    const char *slurm_key;
    const char *old_key; /* the former key that the settings file uses, or NULL */
};

/*
 * The effective settings, after validation.  settings_load() reads them from the settings file,
 * settings_recorded() from the text that a run recorded.  settings/table.h lists all keys.
 */

enum usage_source { USAGE_OF_JOBS, USAGE_OF_ROLLUPS };
enum decay { DECAY_EXACT, DECAY_STEPS };
enum suspended { SUSPENDED_CHARGED, SUSPENDED_OMITTED };

/*
 * The order in which slurmctld visits tied accounts.  After slurmctld has started, this is the
 * order of the lineage column by collation.  After an association was added, it is the order by
 * bytes.
 */
enum ties { TIES_BY_COLLATION, TIES_BY_BYTES };

/* Information hidden from other users: associations with their usage, and pending jobs. */
enum { PRIVATE_USAGE = 1, PRIVATE_JOBS = 2, PRIVATE_ALL = PRIVATE_USAGE | PRIVATE_JOBS };

/*
 * The client of `fairmill answer`, as the kernel identifies the peer of the socket.  A NULL pointer
 * to a client means the user that runs this process.
 */
struct client {
    uid_t uid;
    const char *login;
    int journal; /* file descriptor of the log, for messages that the client must not see */
};

struct settings {
    struct db_settings source, results;
    const char *layout;
    /* Names of the relations of layout plain; usage_tres may be "". */
    const char *associations, *usage, *usage_tres;
    const char *clusters; /* comma-separated names, or "all" */
    uint64_t deadline_s;
    int64_t max_lag_s; /* -1 for no limit */
    enum bad_rows on_bad_rows;
    const char *shares_file; /* comma-separated paths, or "" */
    bool share_database;

    enum usage_source usage_source;
    uint64_t half_life_s;     /* 0 for no decay */
    bool half_life_of_source; /* half_life is not set, so the scheduler's parameters determine it */
    enum decay decay;
    struct reset_period reset_period;
    const char *reset_anchor;
    const char *time_zone;
    uint64_t zone; /* calendar_zone() of time_zone; 0 if loaded for reading results */
    enum charge_basis charge;
    struct charge_weights weights;
    enum suspended suspended;
    const char *tres; /* "auto", "none", or comma-separated names of the TRES to keep apart */
    uint64_t open_job_cap_s;
    uint64_t checkpoint_after_s, full_every_s;
    uint64_t horizon_s; /* 0 for no limit */

    const struct algorithm *algorithm;
    enum conformance conformance;
    const struct release *slurm_release; /* NULL for the release that the cluster registered */
    enum ties ties;
    double dampening;
    double capacity; /* of the charged TRES; 0 for the capacity that the cluster registered */
    double capacity_half_lives;
    double pbs_minimum_usage;

    uint64_t history_interval_s; /* 0 to store a point in every run */
    /* If history_days is 0, no history is kept.  If run_days is 0, all runs are kept. */
    uint64_t history_days, run_days;

    uint64_t alert_after_s;
    unsigned private; /* a set of PRIVATE_ bits */

    /* Mail of `fairmill notify`. */
    const char *mail_from;   /* an address; "" if there is no mail */
    const char *mail_domain; /* appended to logins, or "" */
    const char *mailer;      /* a program and its arguments, separated by spaces */
    bool mail_statements;
    double mail_budget; /* percent of a limit; 0 for no messages */
    double mail_share;  /* usage divided by share; 0 for no messages */

    uint64_t weight_age, weight_assoc, weight_fairshare, weight_job_size, weight_partition,
        weight_qos;
    const char *weight_tres; /* comma-separated TRES=NUMBER */
    uint64_t max_age_s;
    bool favor_small;
    /* Comma-separated PARTITION:NUMBER; NULL if the factors are in `slurm`. */
    const char *partition_factors;
    const char *qos_priority_factors; /* comma-separated QOS:NUMBER */
    unsigned priority_flags;          /* a set of enum priority_flag */

    const char *pbs[PBS_KEYS]; /* "" if not set */

    const char *slurm_path; /* of slurm.conf, or "" */
    /* The contents of slurm.conf; NULL without slurm_path and if loaded for reading results. */
    struct slurm_conf *slurm;
    /* Indexed by row of settings_table.  Owns the texts of the fields. */
    struct setting_origin *origins;
    size_t origin_count;

    char *path;                  /* of the settings file */
    const struct client *client; /* NULL for the user that runs this process */
    char *text;                  /* a line for each setting, and a line for the time zone */
    /* the lines of `text` on which the charge of a finished job depends */
    char *charges;
    char digest[33]; /* of `text` */
};

/* Accepts NULL. */
void settings_destroy(struct settings *settings);

/* Returns true if [source] clusters selects this cluster. */
bool settings_want_cluster(const struct settings *settings, const char *cluster);

extern const char *const conformance_names[]; /* indexed by enum conformance; ends with NULL */
const char *conformance_name(enum conformance conformance);

#endif

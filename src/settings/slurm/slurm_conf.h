/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_SLURM_SLURM_CONF_H
#define FAIRMILL_SETTINGS_SLURM_SLURM_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

/* Parses a slurm.conf and the files that it includes, by Slurm's rules. */

struct slurm_place {
    const char *file;
    unsigned line;
};

/* The caller's function that receives the lines, and its data. */
struct slurm_reader {
    /*
     * Called for each logical line that is not empty, without comments, continuations and escapes.
     * May modify the line.  Returns -1 to stop the reading.
     */
    int (*take)(void *context, struct slurm_place place, char *line, struct error *err);
    void *context;
    const char *const *cluster; /* points to the replacement of %c in an Include, or to NULL */
    struct arena *arena;        /* owns the paths */
};

/* The files that were read, each file before the files that it includes. */
struct slurm_files {
    struct slurm_file {
        const char *path; /* owned by the reader's arena */
        int64_t changed;  /* last modification, in epoch seconds */
    } * each;
    size_t count;
};

/*
 * Reads a file with all files that it includes, and appends them to `files`.  The caller frees
 * files->each.  Fails with ERROR_SETTINGS; the message names the file and the line.
 */
int slurm_file_read(const struct slurm_reader *reader, const char *path, struct slurm_files *files,
                    struct error *err);

/*
 * Splits the next `KEY=VALUE` off the line at `*at`, in place, and removes double quotes around the
 * value.  Returns false if the line does not continue with a pair.  In that case, `*at` points to
 * the remaining text, which is "" at the end of the line.
 */
struct slurm_pair {
    char *key, *value;
};
bool slurm_pair_next(char **at, struct slurm_pair *pair);

/*
 * The contents of a slurm.conf that affect priorities, nodes and partitions.  Other lines are
 * discarded, because they may be secret.  slurm_conf_read() in settings/slurm/slurm_read.h reads
 * it.
 */

/* Keys that have a line of their own.  If a key is repeated, its last line is used. */
enum slurm_key {
    SLURM_ACCOUNTING_ENFORCE,
    SLURM_CLUSTER_NAME,
    SLURM_DAMPENING_FACTOR,
    SLURM_CALC_PERIOD,
    SLURM_DECAY_HALF_LIFE,
    SLURM_FAVOR_SMALL,
    SLURM_FLAGS,
    SLURM_MAIL_DOMAIN,
    SLURM_MAX_AGE,
    SLURM_MAX_NODE_COUNT,
    SLURM_SITE_FACTOR_PLUGIN,
    SLURM_TYPE,
    SLURM_USAGE_RESET_PERIOD,
    SLURM_WEIGHT_AGE,
    SLURM_WEIGHT_ASSOC,
    SLURM_WEIGHT_FAIRSHARE,
    SLURM_WEIGHT_JOB_SIZE,
    SLURM_WEIGHT_PARTITION,
    SLURM_WEIGHT_QOS,
    SLURM_WEIGHT_TRES,
    SLURM_PRIVATE_DATA,
    SLURM_KEYS
};
/* Returns the name of the key in slurm.conf, such as "PriorityMaxAge". */
const char *slurm_key_name(enum slurm_key key);

/* The value of a key as written; `value` is NULL if the key is missing. */
struct slurm_given {
    const char *value;
    struct slurm_place place;
};

/* The sums over a set of nodes. */
struct slurm_tres {
    const char *name; /* "gres/gpu"; a typed GPU is also counted as "gres/gpu:a100" */
    uint64_t count;
};
struct slurm_totals {
    uint64_t nodes, cpus, memory; /* memory in MiB */
    uint64_t node_memory;         /* the memory of the largest node, in MiB */
    uint64_t spec_cpus;           /* the part of `cpus` that jobs cannot use */
    struct slurm_tres *gres;
    size_t gres_count;
};

/*
 * Partitions that share a node are in the same pool.  If each shares nodes with a third partition,
 * they are also in the same pool.
 */
struct slurm_partition {
    const char *name;
    struct slurm_place place;
    uint64_t job_factor; /* PriorityJobFactor */
    uint64_t tier;       /* PriorityTier */
    uint64_t max_time;   /* in minutes, or SLURM_UNLIMITED */
    uint64_t max_nodes;  /* MaxNodes, or SLURM_UNLIMITED */
    const char *closed;  /* the State in which no job can start, DOWN or INACTIVE, or NULL */
    const char *pool;    /* the first name, in bytewise order, of the partitions of its pool */
    const char *billing_weights; /* TRESBillingWeights; NULL if missing, so that CPUs are billed */
    struct slurm_totals totals;
    bool may_have_more; /* the partition may have nodes that slurm.conf does not define */
};

/* A warning about a line of slurm.conf. */
struct slurm_note {
    struct slurm_place place;
    const char *text;
};

struct slurm_conf {
    struct arena *arena; /* owns all strings */
    const char *path;
    struct slurm_files files; /* this file and the files that it includes */
    struct slurm_given given[SLURM_KEYS];
    struct slurm_partition *partitions;
    size_t partition_count;
    struct slurm_totals totals; /* of all nodes of the cluster */
    struct slurm_note *notes;
    size_t note_count;
};

/* Accepts NULL. */
void slurm_conf_destroy(struct slurm_conf *conf);

/* Adds a warning of at most 511 bytes.  After 100 warnings, does nothing. */
void slurm_conf_note(struct slurm_conf *conf, struct slurm_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

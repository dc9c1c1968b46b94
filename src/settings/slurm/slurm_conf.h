/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_SLURM_SLURM_CONF_H
#define FAIRMILL_SETTINGS_SLURM_SLURM_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

/* The lines of a slurm.conf and of the files that it includes, read as Slurm reads them. */

struct slurm_place {
    const char *file;
    unsigned line;
};

/* Who gets the lines. */
struct slurm_reader {
    /* A line that is not blank, without comments, continued lines joined, escapes resolved.  It
     * may be written to. */
    int (*take)(void *context, struct slurm_place place, char *line, struct error *err);
    void *context;
    const char *const *cluster; /* points to what %c in an Include stands for, or to NULL */
    struct arena *arena;        /* keeps the names of files */
};

/* The files that were read, in the order in which they were begun. */
struct slurm_files {
    struct slurm_file {
        const char *path; /* of the reader's arena */
        int64_t changed;  /* when it was changed last */
    } * each;
    size_t count;
};

/* Read a file with all that it includes.  ERROR_SETTINGS names file and line. */
int slurm_file_read(const struct slurm_reader *reader, const char *path, struct slurm_files *files,
                    struct error *err);

/* The next `KEY=VALUE` of a line, cut out of it; a value with blanks is in double quotes.  Where
 * there is none the answer is false, and *at is the rest of the line: "" at its end. */
struct slurm_pair {
    char *key, *value;
};
bool slurm_pair_next(char **at, struct slurm_pair *pair);

/* What a slurm.conf says of priorities, nodes and partitions.  Nothing else of it is kept, as it
 * may hold secrets.  settings/slurm/slurm_read.h reads it. */

/* Keys with a line of their own.  The last of several lines counts. */
enum slurm_key {
    SLURM_ACCOUNTING_ENFORCE,
    SLURM_CLUSTER_NAME,
    SLURM_DAMPENING_FACTOR,
    SLURM_CALC_PERIOD,
    SLURM_DECAY_HALF_LIFE,
    SLURM_FAVOR_SMALL,
    SLURM_FLAGS,
    SLURM_MAX_AGE,
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
/* As slurm.conf spells it: "PriorityMaxAge". */
const char *slurm_key_name(enum slurm_key key);

/* The value of a key as it is written; NULL: the key is not there. */
struct slurm_given {
    const char *value;
    struct slurm_place place;
};

/* What nodes have in all. */
struct slurm_tres {
    const char *name; /* "gres/gpu"; of a typed one "gres/gpu:a100" as well */
    uint64_t count;
};
struct slurm_totals {
    uint64_t nodes, cpus, memory; /* memory in MiB */
    uint64_t spec_cpus;           /* of the CPUs, those that are kept from jobs */
    struct slurm_tres *gres;
    size_t gres_count;
};

struct slurm_partition {
    const char *name;
    struct slurm_place place;
    uint64_t job_factor;         /* PriorityJobFactor */
    uint64_t max_time;           /* minutes; SLURM_UNLIMITED */
    const char *billing_weights; /* TRESBillingWeights; NULL: none, so jobs are billed CPUs */
    struct slurm_totals totals;
};

/* Something that looks wrong, and is no error. */
struct slurm_note {
    struct slurm_place place;
    const char *text;
};

struct slurm_conf {
    struct arena *arena; /* of all texts */
    const char *path;
    struct slurm_files files; /* this one and those that it includes */
    struct slurm_given given[SLURM_KEYS];
    struct slurm_partition *partitions;
    size_t partition_count;
    struct slurm_totals totals; /* of the cluster */
    struct slurm_note *notes;
    size_t note_count;
};

void slurm_conf_destroy(struct slurm_conf *conf);

/* Keep a note; a hundred are kept at most. */
void slurm_conf_note(struct slurm_conf *conf, struct slurm_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

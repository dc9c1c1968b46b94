/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_SLURM_SLURM_MODEL_H
#define FAIRMILL_SETTINGS_SLURM_SLURM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "settings/slurm/slurm_conf.h"

struct arena;
struct error;
struct slurm_partition;
struct slurm_totals;

/* The lines of slurm.conf with many keys, which define nodes, sets of nodes and partitions. */

enum slurm_kind { SLURM_NODE, SLURM_SET, SLURM_PARTITION, SLURM_KINDS };

/* The keys of these lines that fairmill uses. */
enum {
    NODE_CPUS,
    NODE_PROCS,
    NODE_BOARDS,
    NODE_SOCKETS,
    NODE_SOCKETS_PER_BOARD,
    NODE_CORES,
    NODE_THREADS,
    NODE_MEMORY,
    NODE_GRES,
    NODE_FEATURES,
    NODE_SPEC_COUNT,
    NODE_SPEC_LIST,
    RECORD_VALUES /* the maximum over all kinds */
};
enum { SET_NODES, SET_FEATURE };
enum {
    PARTITION_NODES,
    PARTITION_JOB_FACTOR,
    PARTITION_TIER,
    PARTITION_PRIORITY,
    PARTITION_MAX_TIME,
    PARTITION_MAX_NODES,
    PARTITION_STATE,
    PARTITION_WEIGHTS,
};

struct slurm_record {
    enum slurm_kind kind;
    struct slurm_place place;
    const char *name;
    const char *values[RECORD_VALUES]; /* NULL if missing */
};

/* Returns the kind of line that starts with this key, or SLURM_KINDS if no kind does. */
enum slurm_kind slurm_kind_of(const char *key);

/* A line after its first pair was split off. */
struct slurm_line {
    struct slurm_place place;
    struct slurm_pair first;
    char *rest; /* the text after the first pair; slurm_record_read() modifies it */
};
/*
 * Parses a line into `*record`.  Copies values that the line does not set from `defaults`.  The
 * arena owns the strings.  Fails with ERROR_SETTINGS; the message names the file and the line.
 */
int slurm_record_read(struct slurm_record *record, const struct slurm_record *defaults,
                      const struct slurm_line *line, struct arena *arena, struct error *err);

/*
 * Fail with ERROR_SETTINGS because of one value, or because of the record's name.  Always return
 * -1.  The message names the file and the line, quotes the value and ends with `wanted` or `why`.
 */
int slurm_record_refuse(const struct slurm_record *record, int value, const char *wanted,
                        struct error *err);
int slurm_record_refuse_name(const struct slurm_record *record, const char *why, struct error *err);

/* Sets the factor, tier, limits and state of a partition.  Fails with ERROR_SETTINGS. */
int slurm_partition_read(struct slurm_partition *partition, const struct slurm_record *record,
                         struct error *err);

/* The hardware of each node of a NodeName line. */
struct slurm_model {
    uint64_t cpus, memory; /* memory in MiB */
    uint64_t spec_cpus;    /* CPUs that CoreSpecCount or CpuSpecList reserves */
    struct slurm_tres *gres;
    size_t gres_count;
    const char *features; /* or NULL */
};

/*
 * Limits for each resource of a node and for the number of nodes, so that sums cannot overflow.
 * Slurm accepts half as many nodes.
 */
#define SLURM_OF_A_NODE_AT_MOST (UINT64_C(1) << 46)
#define SLURM_NODES_AT_MOST 131072

/*
 * Derives the model from a NodeName record.  The arena owns the strings.  Fails with
 * ERROR_SETTINGS.  The caller frees model->gres, even on error.
 */
int slurm_model_read(struct slurm_model *model, const struct slurm_record *record,
                     struct arena *arena, struct error *err);
bool slurm_model_has_feature(const struct slurm_model *model, const char *feature);
/* Adds `nodes` nodes of the model to the totals.  The caller frees totals->gres. */
void slurm_totals_add(struct slurm_totals *totals, const struct slurm_model *model, uint64_t nodes);

#endif

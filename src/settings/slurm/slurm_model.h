/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_SLURM_SLURM_MODEL_H
#define FAIRMILL_SETTINGS_SLURM_SLURM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "settings/slurm/slurm_conf.h"

struct arena;
struct error;
struct slurm_totals;

/* A line of a slurm.conf that has many keys: of nodes, of a set of nodes, or of a partition. */

enum slurm_kind { SLURM_NODE, SLURM_SET, SLURM_PARTITION, SLURM_KINDS };

/* The values of such lines that matter here. */
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
    RECORD_VALUES /* the most of any kind */
};
enum { SET_NODES, SET_FEATURE };
enum {
    PARTITION_NODES,
    PARTITION_JOB_FACTOR,
    PARTITION_PRIORITY,
    PARTITION_MAX_TIME,
    PARTITION_WEIGHTS,
};

struct slurm_record {
    enum slurm_kind kind;
    struct slurm_place place;
    const char *name;
    const char *values[RECORD_VALUES]; /* NULL: not given */
};

/* The kind of lines that begin with this key; SLURM_KINDS: it is none of those. */
enum slurm_kind slurm_kind_of(const char *key);

/* A line, of which the first pair is read. */
struct slurm_line {
    struct slurm_place place;
    struct slurm_pair first;
    char *rest; /* what is behind the pair; it is written to */
};
/* Read a line.  Values that it does not give are the defaults'. */
int slurm_record_read(struct slurm_record *record, const struct slurm_record *defaults,
                      const struct slurm_line *line, struct arena *arena, struct error *err);

/* Say that a value is not what it must be; -1. */
int slurm_record_refuse(const struct slurm_record *record, int value, const char *wanted,
                        struct error *err);
int slurm_record_refuse_name(const struct slurm_record *record, const char *why, struct error *err);

/* What each node of a NodeName line has. */
struct slurm_model {
    uint64_t cpus, memory;
    uint64_t spec_cpus; /* CPUs of the cores that CoreSpecCount or CpuSpecList keeps from jobs */
    struct slurm_tres *gres;
    size_t gres_count;
    const char *features; /* NULL: none */
};

/* No node has more of anything, so that no sum over SLURM_NODES_AT_MOST nodes overflows.  That
 * number is twice what Slurm takes. */
#define SLURM_OF_A_NODE_AT_MOST (UINT64_C(1) << 46)
#define SLURM_NODES_AT_MOST 131072

/* Free model->gres, also where it fails. */
int slurm_model_read(struct slurm_model *model, const struct slurm_record *record,
                     struct arena *arena, struct error *err);
bool slurm_model_has_feature(const struct slurm_model *model, const char *feature);
/* Add so many nodes of the model; free totals->gres. */
void slurm_totals_add(struct slurm_totals *totals, const struct slurm_model *model, uint64_t nodes);

#endif

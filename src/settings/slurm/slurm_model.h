/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_SLURM_MODEL_H
#define FAIRMILL_SETTINGS_SLURM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct error;
struct slurm_record;
struct slurm_totals;

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

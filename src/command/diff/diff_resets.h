/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_DIFF_RESETS_H
#define FAIRMILL_COMMAND_DIFF_RESETS_H

#include "compute/stepped_usage.h"
#include "core/usage/seal.h"

struct names;
struct text;
struct tree;

/* Where slurmctld was told to forget usage, or has lost it: all that was used before some instant
 * is missing in an association, in everything below it, and in every sum above it. */

struct reset_search {
    const struct tree *tree;               /* the base */
    const struct computation *computation; /* whose tree may be another one */
    struct stepped_usage *stepped;         /* of the computation */
    /* By node of the base: */
    const struct usage_bounds *printed; /* NAN: not printed */
    const double *own;                  /* charged to it by our computation */
    const struct ledger_state *ledger;  /* ours */
    const double *blur;                 /* how far that may be off, all below included */
};

struct found_reset {
    uint32_t node;
    uint64_t step, later;  /* so many seconds after a step */
    bool in_ledger;        /* ours has it, too */
    struct job_keys ended; /* jobs that ended between: all they were charged is gone */
};

struct resets {
    struct found_reset *list;
    size_t count;
    /* By node of the base: */
    double *own;     /* with the resets */
    uint32_t *cover; /* the node whose reset covers it; or NO_NODE */
};

/* The answer is to be freed with resets_free(). */
int resets_find(struct resets *resets, const struct reset_search *search, struct error *err);
void resets_free(struct resets *resets);

/* The commands by which our ledger has it, too: the first, and those of the jobs that ended. */
void reset_add_command(struct text *text, const struct reset_search *search,
                       const struct found_reset *reset, const struct names *names,
                       const char *cluster);
void reset_add_refund(struct text *text, const struct found_reset *reset, uint64_t job,
                      const char *cluster);

#endif

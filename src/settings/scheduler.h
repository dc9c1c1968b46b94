/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_SCHEDULER_H
#define FAIRMILL_SETTINGS_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

struct settings;

/*
 * The differences between Slurm and OpenPBS in terms and rules.  scheduler.c defines one struct for
 * each scheduler, and the source types.  Other code must use these structs and not test for a
 * scheduler by name.  A module of a higher layer that has functions for each scheduler keeps an
 * array of these functions, indexed by `kind`.
 */
enum scheduler_kind { SCHEDULER_SLURM, SCHEDULER_OPENPBS, SCHEDULERS };

/* A scheduler's terms in text output.  Columns and JSON fields have the same names for all. */
struct terminology {
    const char *user, *one_user, *users; /* one_... is capitalized, to start a sentence */
    const char *account, *one_account, *accounts;
    const char *partition;
    const char *association, *associations;
    const char *unit;   /* follows an amount of usage */
    const char *either; /* a user or an account */
    const char *number; /* precedes an association's id */
    /* Terms of the report for the share of the whole tree and for the effective usage.  `share` is
     * NULL if the report computes that share itself. */
    const char *share, *effective_usage;
    /* Pairs of sshare's heading and its replacement in text output, ended by a pair of NULL; NULL
     * to keep all headings. */
    const char *const (*headings)[2];
};

struct scheduler_default {
    const char *section, *key, *value;
};

struct scheduler {
    enum scheduler_kind kind;
    struct terminology terms;
    /*
     * The scheduler's pbsfs prints the tree.  It prints 0 as the root's number, and the last member
     * of a group first.  Runs publish the order of entities with any algorithm.
     */
    bool has_pbsfs;
    bool has_conformances;   /* its documents and its program define different values */
    bool registers_capacity; /* a cluster registers its capacity */
    bool orders_by_formula;  /* a formula orders pending jobs; they have no weights */
    bool decays_in_steps;    /* its parameters define the decay steps and thus the half-life */
    /* each cluster defines its unit of usage; if false, the unit is TRES-seconds */
    bool has_unit;
    uint32_t zero_shares; /* the id of the association with 0 shares by default, or 0 */
    /* The reasons why whatif rejects changes; NULL if it accepts them. */
    const char *no_removal, *no_parent_shares, *no_weights;
    const struct scheduler_default *defaults; /* defaults of settings, ended by NULL; may be NULL */
};

/* The source types, which are the values of [source] layout. */
struct source_type {
    const char *name;
    enum scheduler_kind scheduler;
    bool is_slurmdbd;       /* has TRES, QOS, partitions, rollups, lineages; sacctmgr changes it */
    const char *correction; /* how to correct bad data; follows `next: ` in a message */
};
extern const struct source_type source_types[]; /* ends with a NULL name */

/*
 * Returns the type of the source, its scheduler or the scheduler's terms.  If the settings are NULL
 * or have no layout, returns slurmdbd, Slurm or Slurm's terms.
 */
const struct source_type *source_type_of(const struct settings *settings);
const struct scheduler *scheduler_of(const struct settings *settings);

/* Returns the replacement of a heading, or the heading itself.  `terms` may be NULL. */
const char *terminology_heading(const struct terminology *terms, const char *heading);
const struct terminology *terminology_of(const struct settings *settings);

#endif

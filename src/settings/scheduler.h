/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_SCHEDULER_H
#define FAIRMILL_SETTINGS_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

struct settings;

/* A scheduler whose clusters fairmill reads.  What differs between Slurm and OpenPBS, for people
 * and in rules, is in one struct for each of them; scheduler.c has both, and the types of sources.
 * No other place asks for a scheduler by its name.  A module of a higher layer that has functions
 * for each scheduler has an array of them by `kind`. */
enum scheduler_kind { SCHEDULER_SLURM, SCHEDULER_OPENPBS, SCHEDULERS };

/* The terms of a scheduler, for sentences.  Names of columns and of JSON's fields are the same for
 * all schedulers. */
struct terminology {
    const char *user, *one_user, *users; /* `one` begins a sentence */
    const char *account, *one_account, *accounts;
    const char *partition;
    const char *association, *associations;
    const char *unit;   /* follows an amount of usage */
    const char *either; /* a user or an account */
    const char *number; /* precedes an association's id */
    /* Of the page: a share of the whole tree, NULL if the page computes it; effective usage. */
    const char *share, *effective_usage;
    /* Of tables for people: pairs of a heading that sshare has and another one, ended by NULL;
     * NULL: all stay. */
    const char *const (*headings)[2];
};

struct scheduler_default {
    const char *section, *key, *value;
};

struct scheduler {
    enum scheduler_kind kind;
    struct terminology terms;
    /* pbsfs prints its tree: the root's number is 0, the last member of a group comes first, and
     * the order of its entities is published, whatever the algorithm is. */
    bool has_pbsfs;
    bool has_conformances;   /* its documents and its program compute different values */
    bool registers_capacity; /* a cluster registers how much it can deliver */
    bool orders_by_formula;  /* a formula orders pending jobs; they have no weights */
    bool decays_in_steps;    /* it has parameters for its half-life and its steps */
    bool has_unit;           /* clusters choose what usage counts; else it is TRES-seconds */
    uint32_t zero_shares;    /* the id of an association that has none by default; 0: none is so */
    /* Why whatif rejects changes; NULL: it accepts them. */
    const char *no_removal, *no_parent_shares, *no_weights;
    const struct scheduler_default *defaults; /* of settings, ended by NULL; NULL: none differ */
};

/* The values of [source] layout. */
struct source_type {
    const char *name;
    enum scheduler_kind scheduler;
    bool is_slurmdbd;       /* has TRES, QOS, partitions, rollups, lineages; sacctmgr changes it */
    const char *correction; /* how bad data is corrected: what follows `next: ` */
};
extern const struct source_type source_types[]; /* ended by a NULL name */

/* The type of the settings' source; without a layout it is the first one. */
const struct source_type *source_type_of(const struct settings *settings);
/* Its scheduler; that of slurmdbd if the settings are NULL. */
const struct scheduler *scheduler_of(const struct settings *settings);

/* What a heading is in these words; NULL: it stays. */
const char *terminology_heading(const struct terminology *terms, const char *heading);
/* The words of the settings' scheduler; NULL: of Slurm. */
const struct terminology *terminology_of(const struct settings *settings);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_DIFFERENCES_H
#define FAIRMILL_REPORT_DIFFERENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer;

/*
 * Compares fairmill's values with sshare's output, and finds the cause of each difference.
 */

/*
 * Causes of differences, in the order in which they are removed.  The amount of a cause is the
 * change of a value when this cause is removed in addition to the causes before it.  So the amounts
 * add up to the difference.  differences.c has a sentence about each cause.
 */
enum cause {
    CAUSE_AGE,
    CAUSE_DELETED,
    CAUSE_TIES,
    CAUSE_READDED,
    CAUSE_RELEASE,
    CAUSE_ORDER,
    CAUSE_LEDGER,
    CAUSE_FACTORS,
    CAUSE_SUSPENDED,
    CAUSE_ROLLUP,
    CAUSE_BILLING,
    CAUSE_CAPS,
    CAUSE_STEPS,
    CAUSE_RESET,
    CAUSE_SHARES,
    CAUSE_PASS,
    CAUSE_SECOND,
    CAUSES,
};

/*
 * A value of fairmill (`ours`), the printed one or NAN, the amount that each cause adds to
 * fairmill's value, and the unexplained part of the difference (`left`).
 */
struct difference {
    double ours, printed, causes[CAUSES], left;
};

/* Printed columns that contradict the other printed columns or the jobs. */
enum contradiction {
    WRONG_NORM_SHARES = 1,
    WRONG_NORM_USAGE = 2,
    WRONG_EFFECTIVE_USAGE = 4,
    WRONG_LEVEL_FS = 8,
};

struct compared_association {
    uint32_t id;
    bool is_user;
    const char *account, *user, *partition; /* UTF-8 */
    struct difference usage, fairshare;
    unsigned contradictions;
    bool level_fs_differs; /* `contradictions` has WRONG_LEVEL_FS */
};

struct differences {
    struct arena *texts; /* owns the names in the rows */
    const char *cluster;
    const char *login;         /* the only user who may be shown; NULL: all users */
    int64_t as_of, printed_at; /* times of fairmill's run and of sshare's output, epoch seconds */
    const struct algorithm *algorithm;
    uint64_t period, newest_step;      /* seconds; 0: steps were not computed */
    struct compared_association *rows; /* rows in depth-first order */
    size_t count;
    /* number of users of the cluster; Fair Tree's rank is the factor multiplied by this number */
    uint32_t users;
    size_t only_printed, only_ours; /* number of associations that only one side has */
    const char *first_only_printed, *first_only_ours; /* NULL: none */
    double period_decay;    /* fraction of usage that decays in a period; NAN if not computed */
    const char *unknown[8]; /* sentences about facts that cannot be known; NULL-terminated */
};

/* Returns true if no difference is left unexplained and both sides have the same associations. */
bool differences_are_explained(const struct differences *differences);

/*
 * Adds two rows for each association: `rawusage` and `fairshare`.  The page shows the differences,
 * their causes and the unexplained parts.
 */
extern const struct table_layout differences_layout;
void differences_answer(const struct differences *differences, struct answer *answer);

#endif

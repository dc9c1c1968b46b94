/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_DIFFERENCES_H
#define FAIRMILL_REPORT_DIFFERENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer;

/* Our values against those that sshare printed, and what explains each difference. */

/* In the order in which they are taken away: what a cause explains is how far a value goes when it
 * is taken away too, so that all of them sum up to the difference. */
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

/* A value: ours, what was printed (NAN: nothing), what each cause adds to ours, and what is left
 * of the difference. */
struct difference {
    double ours, printed, causes[CAUSES], left;
};

/* Printed columns that do not follow from the others of the print, and from jobs. */
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
    bool level_fs_differs; /* WRONG_LEVEL_FS is among them */
};

struct differences {
    struct arena *texts; /* of the rows' names */
    const char *cluster;
    const char *login;         /* the only user who may be shown; NULL: everybody may be */
    int64_t as_of, printed_at; /* of our run; of the print */
    const struct algorithm *algorithm;
    uint64_t period, newest_step;      /* seconds; 0: steps were not computed */
    struct compared_association *rows; /* depth first */
    size_t count;
    uint32_t users;                 /* of the cluster: a rank of Fair Tree is a factor times this */
    size_t only_printed, only_ours; /* associations */
    const char *first_only_printed, *first_only_ours; /* NULL: none */
    double period_decay;    /* the part of usage that decays in a period; NAN if not computed */
    const char *unknown[8]; /* sentences: what cannot be known; ended by NULL */
};

/* Whether all of it is explained: nothing is left, and nobody is only in the print or only in ours.
 */
bool differences_are_explained(const struct differences *differences);

/* The page for people shows what differs, the causes, and what is left.  Rows are two for each
 * association: of `rawusage` and of `fairshare`. */
extern const struct table_layout differences_layout;
void differences_answer(const struct differences *differences, struct answer *answer);

#endif

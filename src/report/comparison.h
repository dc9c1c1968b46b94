/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_COMPARISON_H
#define FAIRMILL_REPORT_COMPARISON_H

#include "core/fairshare/fairshare.h"
#include "core/insight/correlation.h"

struct answer;

/* Compares all algorithms, in both conformance modes, for the same shares and usage. */

/* An algorithm in one conformance mode, with each user's factor and rank. */
struct variant {
    const struct algorithm *algorithm;
    enum conformance conformance;
    double *factors; /* indexed like comparison.users */
    uint32_t *ranks; /* indexed like comparison.users; the best rank is the number of users */
    struct ordering ordering; /* order by rank; empty unless `known` */
    uint32_t differs;         /* number of users whose rank differs in the other mode */
    bool known;               /* false if the capacity is needed but unknown; ranks are then 0 */
    bool shown; /* shown in tables: it has the run's mode, or its ranks differ from that mode */
};

struct compared_user {
    uint32_t id, spread;                    /* spread: highest rank minus lowest rank */
    const char *account, *user, *partition; /* UTF-8 */
};

struct terminology;

struct comparison {
    const char *cluster;
    const struct terminology *terms;
    int64_t as_of;
    const struct algorithm *algorithm; /* algorithm of the run */
    enum conformance conformance;      /* conformance mode of the run */
    const char *conformances[2];       /* names of the conformance modes */
    struct variant *variants;
    size_t variant_count;
    struct compared_user *users; /* in the tree's order */
    uint32_t *by_spread;         /* indexes into users, largest spread first */
    uint32_t user_count;
    uint32_t listed, top; /* number of users that may be listed, and that are printed */
};

/*
 * Adds a row for each printed user and variant.  The page has a line for each user and a column for
 * each variant, then the differences, then the correlations between variants.
 */
extern const struct table_layout comparison_layout;
void comparison_answer(const struct comparison *comparison, struct answer *answer);

#endif

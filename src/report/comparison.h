/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_COMPARISON_H
#define FAIRMILL_REPORT_COMPARISON_H

#include "core/fairshare/fairshare.h"
#include "core/insight/correlation.h"

struct answer;

/* The same shares and usage as each algorithm has them, in both conformances. */

/* An algorithm under a conformance, and each user's factor and rank. */
struct variant {
    const struct algorithm *algorithm;
    enum conformance conformance;
    double *factors;          /* by user */
    uint32_t *ranks;          /* by user, as runs decide them; the best has the number of users */
    struct ordering ordering; /* by them; nothing where they are not known */
    uint32_t differs;         /* users with another rank than under the other conformance */
    bool known;               /* not without a capacity; ranks are 0 */
    bool shown;               /* in tables: of the run's own conformance, or not the same as it */
};

struct compared_user {
    uint32_t id, spread;                    /* between its highest and its lowest rank */
    const char *account, *user, *partition; /* UTF-8 */
};

struct terminology;

struct comparison {
    const char *cluster;
    const struct terminology *terms;
    int64_t as_of;
    const struct algorithm *algorithm; /* of the run */
    enum conformance conformance;      /* likewise */
    const char *conformances[2];       /* their names */
    struct variant *variants;
    size_t variant_count;
    struct compared_user *users; /* in the tree's order */
    uint32_t *by_spread;         /* their places, who moves most first */
    uint32_t user_count;
    uint32_t listed, top; /* so many users may be listed; so many are printed */
};

/* Answer with a row for each user that is printed under each variant.  The page has the users with
 * a column for each variant, what differs, and how similar the variants are. */
extern const struct table_layout comparison_layout;
void comparison_answer(const struct comparison *comparison, struct answer *answer);

#endif

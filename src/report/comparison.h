/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_COMPARISON_H
#define FAIRMILL_REPORT_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fairshare/fairshare.h"

struct text;

/* The same shares and usage as each algorithm has them, in both conformances. */

/* One of them, and each user's factor and rank. */
struct way {
    const struct algorithm *algorithm;
    enum conformance conformance;
    double *factors;  /* by user */
    uint32_t *ranks;  /* likewise; the highest factor has the number of users, as in Fair Tree */
    uint32_t differs; /* users with another rank than under the other conformance */
    bool known;       /* not without a capacity; ranks are 0 */
    bool shown;       /* in tables: of the run's own conformance, or not the same as it */
};

struct compared_user {
    uint32_t id, spread;                    /* between its highest and its lowest rank */
    const char *account, *user, *partition; /* UTF-8 */
};

struct comparison {
    const char *cluster;
    int64_t as_of;
    const struct algorithm *algorithm; /* of the run */
    enum conformance conformance;      /* likewise */
    const char *conformances[2];       /* their names */
    struct way *ways;
    size_t way_count;
    struct compared_user *users; /* in the tree's order */
    uint32_t *by_spread;         /* their places, who moves most first */
    uint32_t user_count;
    uint32_t listed, top; /* so many users may be told of; so many are printed */
};

/* The forms: what comes before the first cluster, a cluster, and what comes after the last. */
struct comparison_form {
    void (*begin)(struct text *text);
    void (*add)(struct text *text, const struct comparison *comparison, bool first);
    void (*end)(struct text *text);
};
extern const struct comparison_form comparison_table, comparison_json, comparison_csv;

#endif

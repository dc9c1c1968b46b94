/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_EXPLAINED_H
#define FAIRMILL_REPORT_EXPLAINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/insight/explain.h"

struct answer;
struct arena;
struct json_t;
struct names;
struct permissions;
struct table_layout;
struct terminology;
struct text;

/* What `fairmill explain` prints, in words and in rows. */
struct explained {
    const char *cluster;
    int64_t as_of;
    const struct names *names; /* UTF-8 */
    const struct explain_input *input;
    const struct explanation *explanation;
    const struct terminology *terms;
    const struct permissions *permissions; /* who is told */
    const char *unit;                      /* what the cluster counts; NULL: TRES-seconds */
};

/* The job records and days of `one` that weigh most, the heaviest first.  Amounts are TRES-seconds:
 * what was used, and what decay has left of it. */
#define CONTRIBUTORS_AT_MOST 10
struct job_contributor {
    uint64_t id_job;
    const char *job_id;      /* its own id, UTF-8 */
    const char *user;        /* UTF-8; empty where the association is gone */
    int64_t start, end;      /* end 0: it runs */
    double used, left, part; /* part: of what is left of all records */
};
struct day_contributor {
    int64_t first; /* second of the day */
    double used, left, part;
};
struct weights {
    bool days_only; /* single jobs were not read */
    struct arena *texts;
    struct job_contributor jobs[CONTRIBUTORS_AT_MOST];
    struct day_contributor days[CONTRIBUTORS_AT_MOST];
    size_t job_count, day_count;
    uint64_t all_records;
    size_t all_days;
    double left;   /* of all records */
    double ledger; /* what amounts of the ledger add to that; below 0 where they come off */
};

/* Answer with an explanation.  Its rows are the associations on the path to `one`, and on that to
 * `other`.  With weights (or NULL) they are job records, of weights_layout, and JSON has the
 * associations among its facts.  The page has numbers from which each other one follows by hand,
 * and says in words what they mean; a line is no longer than 80 columns where names and numbers let
 * it. */
extern const struct table_layout explanation_layout, weights_layout;
void explanation_answer(const struct explained *explained, const struct weights *weights,
                        struct answer *answer);

/* What explanation_answer() is made of: the rows; the numbers of both paths and the formulas; what
 * weighs most, which is the heaviest job records and days of `one`, and its siblings. */
void explanation_add_rows(const struct explained *explained, const struct weights *weights,
                          struct answer *answer);
void explanation_add_table(struct answer *answer, const struct explained *explained);
void weights_add_page(struct text *text, const struct explained *explained,
                      const struct weights *weights);
void weights_add_facts(struct json_t *facts, const struct explained *explained,
                       const struct weights *weights);

#endif

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
struct standing_facts;
struct table_layout;
struct terminology;
struct text;
struct usage_unit;

/* The output of `fairmill explain`, in sentences and rows.  In the comments below, `one` and
 * `other` are explanation->one and explanation->other, the explained associations. */
struct explained {
    const char *cluster;
    int64_t as_of;
    const struct names *names; /* UTF-8 */
    const struct explain_input *input;
    const struct explanation *explanation;
    const struct terminology *terms;
    const struct permissions *permissions; /* permissions of the requesting user */
    const char *unit;                      /* unit of usage of OpenPBS; NULL: of Slurm */
    const struct usage_unit *usage;        /* terms for usage of Slurm */
    const struct standing_facts *standing; /* facts about `one`; NULL if two are compared */
};

/*
 * The job records and days of `one` with the most remaining usage, in descending order.  `used` and
 * `left` are usage before and after decay, in TRES-seconds.
 */
#define CONTRIBUTORS_AT_MOST 10
struct job_contributor {
    uint64_t id_job;
    const char *job_id;      /* id in the scheduler's form, UTF-8 */
    const char *user;        /* UTF-8; empty if the association is missing */
    int64_t start, end;      /* epoch seconds; end is 0 if the job is running */
    double used, left, part; /* part: fraction of the remaining usage of all records */
};
struct day_contributor {
    int64_t first; /* start of the day, epoch seconds */
    double used, left, part;
};
struct weights {
    bool days_only; /* the job records were not read */
    struct arena *texts;
    struct job_contributor jobs[CONTRIBUTORS_AT_MOST];
    struct day_contributor days[CONTRIBUTORS_AT_MOST];
    size_t job_count, day_count;
    uint64_t all_records;
    size_t all_days;
    double left;   /* remaining usage of all records */
    double ledger; /* amount that the ledger adds to it; negative if it subtracts */
};

/*
 * Adds an explanation to `answer`.  The rows are the associations on the path to `one` and then on
 * the path to `other`.  If `weights` is not NULL, the layout is weights_layout and the rows are job
 * records; JSON then has the associations among its facts.
 *
 * The page shows all numbers that are needed to check the values by hand, and explains them in
 * sentences.  Lines have at most 80 columns unless names and numbers are too long.
 */
extern const struct table_layout explanation_layout, weights_layout;
void explanation_answer(const struct explained *explained, const struct weights *weights,
                        struct answer *answer);

/*
 * The parts of explanation_answer(). explanation_add_rows() adds the rows, and
 * explanation_add_table() the numbers of both paths with the formulas.  The weights_...() functions
 * add the job records, days and siblings that contribute most to the usage of `one`.
 */
void explanation_add_rows(const struct explained *explained, const struct weights *weights,
                          struct answer *answer);
void explanation_add_table(struct answer *answer, const struct explained *explained);
void weights_add_page(struct text *text, const struct explained *explained,
                      const struct weights *weights);
void weights_add_facts(struct json_t *facts, const struct explained *explained,
                       const struct weights *weights);

#endif

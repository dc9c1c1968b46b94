/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PRIORITIES_H
#define FAIRMILL_REPORT_PRIORITIES_H

#include <stdbool.h>

#include "report/column.h"
#include "util/name_list.h"

struct priority_job;
struct queue;
struct table;
struct permissions;

/* The jobs that wait on a cluster, and the columns that programs have of them. */

/* What a priority is a sum of, besides TRES. */
enum prio_part {
    PRIO_AGE,
    PRIO_ASSOC,
    PRIO_FAIRSHARE,
    PRIO_JOB_SIZE,
    PRIO_PARTITION,
    PRIO_QOS,
    PRIO_PARTS,
};
extern const char *const prio_part_names[PRIO_PARTS];

/* What a name of the formula stood for. */
struct prio_term {
    const char *name;
    double value;
};

/* A job in one partition and with one QOS. */
struct prio_row {
    uint64_t key; /* job_db_inx */
    int64_t id_job;
    const char *user, *account, *partition, *qos;
    double factor[PRIO_PARTS], weighted[PRIO_PARTS];
    const char *tres_factors, *tres_weighted;
    int64_t site, nice; /* 0 where it is not known */
    bool site_known, nice_known;
    int64_t priority; /* 0 where there is none */
    double norm;
    const char *job_id; /* its own id; NULL: id_job */
    bool of_formula;    /* a formula makes its priority; the rest is of such a job */
    bool has_priority;
    double value;      /* of the formula; NAN */
    const char *why;   /* NULL: there is nothing to say */
    const char *terms; /* what its names stood for: `ncpus=4 fairshare_factor=0.5` */
    const struct prio_term *first_term; /* the same, by name */
    size_t term_count;
    double what_if; /* what another formula makes of it; NAN */
    bool best;
    bool is_weights; /* it is no job: `factor` and `weighted` are the weights */
};

/* A cluster's weights, as its run had them. */
struct prio_weights {
    uint64_t of[PRIO_PARTS];
    const char *tres; /* as in slurm.conf; "" */
};

struct prio_list {
    char *cluster;
    int64_t as_of;
    struct prio_weights weights;
    bool of_formula;     /* as its rows: a formula orders them */
    bool names_qos;      /* and accounts: so does sprio -l of the cluster's release */
    struct arena *arena; /* of all texts */
    struct prio_row *rows;
    size_t count;
};
struct prio_list *prio_list_create(const char *cluster, int64_t as_of);
void prio_list_destroy(struct prio_list *list);
/* Bytes as UTF-8, which hold as long as the list. */
const char *prio_list_text(struct prio_list *list, const char *bytes, size_t length);
/* Texts must be of prio_list_text(). */
void prio_list_add(struct prio_list *list, const struct prio_row *row);

/* Whether the row is of the job of this id; of a text its number will do. */
bool prio_is_job(const char *id, const struct prio_row *row);

/* What is shown; an empty list is everything. */
struct prio_filter {
    struct name_list users, partitions;
    const struct name_list *accounts;      /* with those below; NULL: all */
    struct name_list jobs;                 /* ids */
    const struct permissions *permissions; /* who is told */
};
void prio_list_filter(struct prio_list *list, const struct prio_filter *filter);

/* The columns that programs have, and those who choose them by name: weighted values, or with
 * `normalized` factors in their place, under the same headings.  Their names are another. */
#define PRIO_COLUMNS 32
void prio_columns(struct column columns[PRIO_COLUMNS], bool normalized);
/* Show what only jobs that a formula orders have in every form. */
void prio_columns_of_formula(struct column columns[PRIO_COLUMNS]);
/* Why such a job is not among those that run, in words; what is not known stays. */
const char *prio_why(const char *why);
/* What the weighted TRES of a row add up to, as they are printed. */
double prio_tres_sum(const struct prio_row *row);
/* Add a cluster's jobs, or its weights in their place, to a table. */
void prio_list_print(const struct prio_list *list, struct table *table, bool only_weights);

/* Add the rows of a queue that was computed to a list, of the jobs that are `wanted`; NULL: of all.
 */
void prio_list_add_queue(struct prio_list *list, const struct queue *queue,
                         bool (*wanted)(const void *context, const struct priority_job *job),
                         const void *context);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PRIORITIES_H
#define FAIRMILL_REPORT_PRIORITIES_H

#include "report/column.h"
#include "util/name_list.h"

struct table;

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

/* A job in one partition and with one QOS. */
struct prio_row {
    uint64_t key; /* job_db_inx */
    int64_t id_job;
    const char *user, *account, *partition, *qos;
    double factor[PRIO_PARTS], weighted[PRIO_PARTS];
    const char *tres_factors, *tres_weighted;
    int64_t site, nice; /* 0 where it is not known */
    bool site_known, nice_known;
    int64_t priority;
    double norm;
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

/* What is shown; an empty list is everything. */
struct prio_filter {
    struct name_list users, partitions;
    const uint64_t *jobs; /* ids */
    size_t job_count;
};
void prio_list_filter(struct prio_list *list, const struct prio_filter *filter);

/* The columns that programs have, and those who choose them by name: weighted values, or with
 * `normalized` factors in their place, under the same headings.  Their names are another. */
#define PRIO_COLUMNS 27
void prio_columns(struct column columns[PRIO_COLUMNS], bool normalized);
/* Add a cluster's jobs, or its weights in their place, to a table. */
void prio_list_print(const struct prio_list *list, struct table *table, bool only_weights);

#endif

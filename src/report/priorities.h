/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PRIORITIES_H
#define FAIRMILL_REPORT_PRIORITIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct error;
struct text;

/* The jobs that wait on a cluster, in sprio's columns, and the forms that `fairmill prio` prints
 * them in. */

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
    struct arena *arena; /* of all texts */
    struct prio_row *rows;
    size_t count, room;
};
struct prio_list *prio_list_create(const char *cluster, int64_t as_of);
void prio_list_destroy(struct prio_list *list);
/* Bytes as UTF-8, which hold as long as the list. */
const char *prio_list_text(struct prio_list *list, const char *bytes, size_t length);
/* Texts must be of prio_list_text(). */
void prio_list_add(struct prio_list *list, const struct prio_row *row);

/* What is shown; NULL is everything. */
struct prio_filter {
    const char *users, *partitions; /* names separated by commas */
    const uint64_t *jobs;           /* ids */
    size_t job_count;
};
void prio_list_filter(struct prio_list *list, const struct prio_filter *filter);

/* Sort by letters of a format, `u,-y`: behind `-` the highest comes first.  Equal jobs stand by
 * their ids, and rows of a job by priority.  ERROR_USAGE names a letter that is none. */
int prio_list_sort(struct prio_list *list, const char *keys, struct error *err);

/* A column: a letter of sprio's, `%[.][size]letter`, and what stands behind it. */
struct prio_column {
    char letter;
    bool right;   /* justified */
    size_t width; /* 0: as wide as its cell */
    char *suffix;
};
struct prio_format {
    char *prefix;
    struct prio_column *columns;
    size_t count;
};
/* ERROR_USAGE where a format is none of sprio's. */
int prio_format_parse(struct prio_format *format, const char *text, struct error *err);
void prio_format_free(struct prio_format *format);

/* What sprio would show of these weights: those that are not 0, or with `all` everything. */
void prio_default_format(struct text *text, const struct prio_weights *weights, bool all,
                         bool normalized, bool with_users);

/* How a list is printed. */
struct prio_look {
    const char *format; /* cells that are too wide are cut; NULL: sprio's own, where they are not */
    bool all, normalized, with_users, no_header;
    bool only_weights; /* no jobs */
    bool named;        /* a line with the cluster's name comes first */
};

struct prio_form {
    void (*begin)(struct text *text, const struct prio_look *look);
    /* The format was parsed before, so this cannot fail. */
    void (*add)(struct text *text, const struct prio_list *list, const struct prio_look *look,
                bool first);
    void (*end)(struct text *text);
};
extern const struct prio_form prio_table, prio_parsable, prio_json;

#endif

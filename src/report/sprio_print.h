/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_SPRIO_PRINT_H
#define FAIRMILL_REPORT_SPRIO_PRINT_H

#include "report/printed.h"
#include "report/priorities.h"

/* What sprio printed of jobs: as a table, or with bars between fields (sprio -o '%i|%u|...'), where
 * headings say what is what.  Without headings there must be bars and as many fields as
 * %i|%u|%r|%Y|%A|%B|%F|%J|%P|%Q|%S|%T|%N or %i|%u|%r|%y|%a|%b|%f|%j|%p|%q|%t have, with %n last or
 * behind %r or without it.  What has a point is a factor (sprio -n), else it is weighted. */

/* A job, in one partition and with one QOS. */
struct printed_job {
    unsigned line;
    int64_t id;
    const char *user, *account, *partition, *qos; /* NULL: not printed; of a table maybe cut */
    struct printed_number priority;               /* cut to an integer */
    struct printed_number norm, site, nice;
    struct printed_number factor[PRIO_PARTS], weighted[PRIO_PARTS];
    const char *tres, *tres_factors; /* weighted values; those with points.  NULL: not printed */
    bool tres_cut;                   /* they may go on */
};

struct sprio_print {
    bool is_table;                     /* in which names may be cut */
    size_t partition_width, qos_width; /* at least: what is shorter is whole */
    struct arena *arena;
    struct printed_job *rows;
    size_t count;
};

/* Read a print; of one with several clusters, only what is of this one.
 * ERROR_DATA says which line is wrong, or that there are no jobs. */
int sprio_print_read(struct sprio_print *print, struct span text, const char *cluster,
                     struct error *err);
void sprio_print_free(struct sprio_print *print);

#endif

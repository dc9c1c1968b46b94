/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_JOB_REVERSALS_H
#define FAIRMILL_REPORT_JOB_REVERSALS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/priorities.h"

/* What would turn the order of two jobs that wait, each of which has a priority that weights make.
 */

struct job_reversals {
    int64_t points; /* that `behind` lacks: with so many more it would be ahead */
    /* The factor that each part of `behind` would need, all else as it is; NAN where its weight is
     * 0 or the highest factor does not do. */
    double factor[PRIO_PARTS];
    const char *qos, *partition; /* one of the queue that has such a factor; NULL: none has */
    uint64_t age_s;       /* so much longer it would have to have waited; 0: that does not do */
    bool reverses_by_age; /* it will be ahead while both go on ageing, */
    uint64_t by_age_s;    /* in so many seconds */
};

/* `behind` has not the higher priority.  `max_age` is in seconds, not 0. */
void job_reversals_find(const struct prio_list *list, const struct prio_row *behind,
                        const struct prio_row *ahead, uint64_t max_age,
                        struct job_reversals *reversals);

#endif

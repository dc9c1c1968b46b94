/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_TIMELINE_H
#define FAIRMILL_CORE_TIMELINE_H

#include "core/tree/past.h"
#include "core/tree/association.h"

/* The changes that are known of the past, by association, the oldest first. */

#define NO_ROW SIZE_MAX

/* An association that is there now, or that some change names. */
struct subject {
    uint32_t id;
    size_t row;                /* NO_ROW where it is not there now */
    int64_t created, modified; /* or NEVER */
    const struct change *changes, *end;
};

struct timeline {
    const struct past *past;
    struct associations present; /* its names are those of the changes, too */
    struct change *changes;
    size_t change_count;
    struct subject *subjects;
    size_t subject_count;
    struct id_index *places;
    uint32_t *translated; /* by number in the past's names: the number in present.names */
};

/* Fill it from past and present. */
void timeline_fill(struct timeline *timeline);
void timeline_free(struct timeline *timeline);
/* NULL where nothing is known of the id. */
struct subject *timeline_subject(const struct timeline *timeline, uint64_t id);
/* What is there now of it; NULL where it is not. */
const struct association *timeline_row(const struct timeline *timeline,
                                       const struct subject *subject);

/* Whether a run saw the change; whether after it the association is there, and the change has all
 * of it; whether after it the association is gone. */
bool change_is_of_run(const struct change *change);
bool change_is_present(const struct change *change);
bool change_is_gone(const struct change *change);

#endif

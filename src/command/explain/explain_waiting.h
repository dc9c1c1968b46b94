/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_EXPLAIN_WAITING_H
#define FAIRMILL_COMMAND_EXPLAIN_WAITING_H

#include <stdbool.h>

struct error;
struct name_list;
struct settings;
struct table;
struct text;

/* Jobs that wait, as they are published. */
struct waiting_question {
    const struct settings *settings;
    const struct name_list *clusters; /* to look in; none: all */
    const char *const *ids;           /* one or two */
    int count;
    /* Where the answer goes: */
    struct text *text;   /* for people; NULL: it is for programs, */
    struct table *table; /* as rows of this */
};

/* Explain them.  *found is whether all of them wait on one cluster, and may be shown. */
int explain_waiting(const struct waiting_question *question, bool *found, struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_REFUSED_H
#define FAIRMILL_IMPORT_REFUSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/pbs/fields.h"

struct db;
struct error;

/* Lines of accounting logs that cannot be read: pbs_refused.  Each import tries them again, since a
 * later release may read them. */

struct refused_line {
    char *name; /* of the log */
    uint64_t row;
    char *text;
    bool is_read; /* now */
};

struct refused_list {
    struct refused_line *lines;
    size_t count, bytes;
};

/* Add a line, unless the list has a thousand already. */
void refused_list_add(struct refused_list *list, const char *name, uint64_t row, struct part line);
/* Empty the list, and free its memory. */
void refused_list_free(struct refused_list *list);

/* All lines of a cluster, in the order of the logs. */
int refused_read(struct db *db, const char *cluster, struct refused_list *list, struct error *err);
/* Store the lines, or remove the lines that are read now.  In the caller's transaction. */
int refused_store(struct db *db, const char *cluster, const struct refused_list *list,
                  struct error *err);
int refused_remove(struct db *db, const char *cluster, const struct refused_list *list,
                   struct error *err);

#endif

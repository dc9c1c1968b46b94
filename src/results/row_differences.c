/* SPDX-License-Identifier: MIT */
#include "results/row_differences.h"

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

static struct table_differences *differences_of(struct row_differences *differences,
                                                const char *table)
{
    for (size_t i = 0; i < differences->count; i++)
        if (!strcmp(differences->tables[i].table, table))
            return &differences->tables[i];
    struct table_differences *added = memory_append(&differences->tables, &differences->count);
    *added = (struct table_differences){ .table = table };
    return added;
}

void row_differences_add(struct row_differences *differences,
                         const struct row_difference *difference)
{
    struct table_differences *of = differences_of(differences, difference->table);
    if (of->count++ >= DIFFERENCES_AT_MOST)
        return;
    struct row_difference *own = &of->list[of->listed++];
    *own = *difference;
    own->key = memory_text(difference->key);
    own->column = difference->column ? memory_text(difference->column) : NULL;
    own->stored = difference->stored ? memory_text(difference->stored) : NULL;
    own->computed = difference->computed ? memory_text(difference->computed) : NULL;
}

bool row_differences_have(const struct row_differences *differences, const char *table,
                          int64_t part)
{
    for (size_t i = 0; i < differences->count; i++) {
        const struct table_differences *of = &differences->tables[i];
        if (strcmp(of->table, table) != 0)
            continue;
        for (size_t k = 0; k < of->listed; k++)
            if (of->list[k].part == part)
                return true;
        return of->count > of->listed;
    }
    return false;
}

void row_differences_set_cause(struct row_differences *differences, const char *table, int64_t part,
                               enum difference_cause cause)
{
    for (size_t i = 0; i < differences->count; i++) {
        struct table_differences *of = &differences->tables[i];
        for (size_t k = 0; !strcmp(of->table, table) && k < of->listed; k++)
            if (of->list[k].part == part)
                of->list[k].cause = cause;
    }
}

void row_differences_free(struct row_differences *differences)
{
    for (size_t i = 0; i < differences->count; i++)
        for (size_t k = 0; k < differences->tables[i].listed; k++) {
            struct row_difference *each = &differences->tables[i].list[k];
            free(each->key);
            free(each->column);
            free(each->stored);
            free(each->computed);
        }
    free(differences->tables);
    *differences = (struct row_differences){ 0 };
}

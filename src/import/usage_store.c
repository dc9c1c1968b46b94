/* SPDX-License-Identifier: MIT */
#include "import/usage_store.h"

#include "import/entities.h"
#include "results/rows.h"
#include "sql.h"
#include "util/error.h"

static int write_usage(struct db *db, const char *cluster, const struct usage_list *list,
                       struct error *err)
{
    int result = 0;
    struct row_writer rows = { .db = db, .table = "pbs_usage" };
    for (size_t i = 0; i < list->count && !result; i++) {
        const struct row_field fields[] = {
            { "cluster", 't', db_text(cluster) },
            { "name", 't', db_text(list->lines[i].name) },
            { "as_of", 'i', db_integer(list->written) },
            { "usage", 'r', db_real(list->lines[i].usage) },
            { "last_decay", 'i', db_integer(list->last_decay) },
        };
        result = rows_add(&rows, fields, COUNT(fields), err);
    }
    return rows_end(&rows, result, err);
}

static int write_entities(struct db *db, const char *cluster, const struct usage_list *list,
                          struct error *err)
{
    struct entities *entities = entities_read(db, cluster, err);
    if (!entities)
        return -1;
    for (size_t i = 0; i < list->count; i++)
        entities_see_usage(entities, list->lines[i].name, list->written);
    int result = entities_store(entities, err);
    entities_destroy(entities);
    return result;
}

int usage_store(struct db *db, const char *cluster, const struct usage_list *list,
                struct error *err)
{
    const struct db_value key[] = { db_text(cluster), db_integer(list->written) };
    int result =
        db_begin(db, err) || db_execute(db, sql_query_pbs_usage_forget, key, 2, NULL, err) ||
                write_usage(db, cluster, list, err) || write_entities(db, cluster, list, err)
            ? -1
            : 0;
    return rows_commit(db, result, err);
}

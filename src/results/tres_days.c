/* SPDX-License-Identifier: MIT */
#include "results/tres_days.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "results/rows.h"
#include "sql.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/name_list.h"
#include "util/text.h"

/* The rows are sorted by TRES, so a TRES of several clusters is added once. */
static int tres_days_read_names(struct db *db, const struct name_list *clusters,
                                struct name_list *kept, struct error *err)
{
    const struct db_value *row;
    struct db_rows *rows = db_query(db, sql_query_tres_name_all, NULL, 0, "tt", err);
    while (db_fetch(rows, &row, err) > 0) {
        char *tres = db_value_text(&row[0]), *cluster = db_value_text(&row[1]);
        bool is_new = !kept->count || strcmp(kept->values[kept->count - 1], tres) != 0;
        if (is_new && name_list_wants(clusters, cluster))
            name_list_add(kept, tres, strlen(tres));
        free(tres);
        free(cluster);
    }
    return db_finish(rows);
}

static int tres_days_reject(const char *asked, const struct name_list *kept, struct error *err)
{
    struct text names = { 0 };
    for (size_t i = 0; i < kept->count; i++)
        text_format(&names, "%s%s", i ? ", " : ", only that of ", kept->values[i]);
    fail(err, ERROR_USAGE, "the usage of TRES '%s' is not kept%s; see the setting [usage] tres",
         asked, kept->count ? names.bytes : "");
    text_free(&names);
    return -1;
}

int tres_days_find(struct db *db, const struct name_list *clusters, const char *asked, char **tres,
                   struct error *err)
{
    struct name_list kept = { 0 };
    const char *found = NULL;
    int result = tres_days_read_names(db, clusters, &kept, err);
    for (size_t i = 0; !result && !found && i < kept.count; i++)
        if (!strcasecmp(kept.values[i], asked))
            found = kept.values[i];
    if (!result && !found)
        result = tres_days_reject(asked, &kept, err);
    if (!result && tres)
        *tres = memory_text(found);
    name_list_free(&kept);
    return result;
}

int tres_days_number(struct db *db, const char *cluster, const char *tres, int64_t *number,
                     struct error *err)
{
    const struct db_value arguments[] = { db_text(cluster), db_text(tres) };
    *number = 0;
    return rows_read_integer(db, sql_query_tres_name_find, arguments, COUNT(arguments), number,
                             err) < 0
               ? -1
               : 0;
}

int tres_days_first_day(struct db *db, const char *cluster, int64_t number, int64_t *day,
                        struct error *err)
{
    const struct db_value arguments[] = { db_text(cluster), db_integer(number) };
    int found =
        rows_read_integer(db, sql_query_tres_day_first, arguments, COUNT(arguments), day, err);
    if (!found)
        *day = INT64_MAX;
    return found < 0 ? -1 : 0;
}

struct db_rows *tres_days_query(struct db *db, const char *cluster, int64_t number, int64_t from,
                                int64_t to, struct error *err)
{
    const struct db_value arguments[] = { db_integer(number), db_text(cluster), db_integer(from),
                                          db_integer(to) };
    return db_query(db, sql_query_tres_day_span, arguments, COUNT(arguments), "iin", err);
}

/* SPDX-License-Identifier: MIT */
#include "results/published_tres.h"

#include "db/db.h"
#include "results/published.h"
#include "sql.h"
#include "util/text.h"

int published_tres_read(const struct published *published, const struct published_cluster *cluster,
                        published_tres_taker *take, void *context, struct error *err)
{
    const struct db_value *row, name = db_text(cluster->name);
    struct db_rows *rows = db_query(published->db, sql_query_published_tres, &name, 1, "it", err);
    struct text minutes = { 0 };
    while (db_fetch(rows, &row, err) > 0) {
        bool is_used = row[1].type == DB_TEXT;
        minutes.length = 0;
        if (is_used)
            text_add_bytes(&minutes, row[1].text.bytes, row[1].text.length);
        take(context, row[0].integer, is_used ? minutes.bytes : NULL);
    }
    text_free(&minutes);
    return db_finish(rows);
}

int published_seconds_read(const struct published *published,
                           const struct published_cluster *cluster, published_seconds_taker *take,
                           void *context, struct error *err)
{
    const struct db_value *row, name = db_text(cluster->name);
    struct db_rows *rows = db_query(published->db, sql_query_published_tres_seconds, &name, 1,
                                    "i"
                                    "rrrrrrrrrrrrrrrr"
                                    "iiiiiiiiiiiiiiii",
                                    err);
    while (db_fetch(rows, &row, err) > 0) {
        struct published_seconds seconds = { 0 };
        for (size_t i = 0; i < KEPT_TRES_LIMIT; i++) {
            const struct db_value *used = &row[1 + i], *running = used + KEPT_TRES_LIMIT;
            seconds.used[i] = used->type == DB_NULL ? 0 : used->real;
            seconds.running[i] = db_value_integer(running, 0);
        }
        take(context, row[0].integer, &seconds);
    }
    return db_finish(rows);
}

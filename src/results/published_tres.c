/* SPDX-License-Identifier: MIT */
#include "results/published_tres.h"

#include "results/published.h"
#include "results/rows.h"
#include "sql.h"
#include "util/text.h"

int published_tres_read(const struct published *published, const struct published_cluster *cluster,
                        const struct row_ids *ids, published_tres_taker *take, void *context,
                        struct error *err)
{
    const struct db_value *row;
    struct id_rows rows = { .db = published->db,
                            .sql = sql_query_published_tres,
                            .cluster = cluster->name,
                            .column_types = "it",
                            .ids = ids };
    struct text minutes = { 0 };
    while (id_rows_fetch(&rows, &row, err) > 0) {
        bool is_used = row[1].type == DB_TEXT;
        minutes.length = 0;
        if (is_used)
            text_add_bytes(&minutes, row[1].text.bytes, row[1].text.length);
        take(context, row[0].integer, is_used ? minutes.bytes : NULL);
    }
    text_free(&minutes);
    return id_rows_finish(&rows);
}

int published_seconds_read(const struct published *published,
                           const struct published_cluster *cluster, const struct row_ids *ids,
                           published_seconds_taker *take, void *context, struct error *err)
{
    const struct db_value *row;
    struct id_rows rows = { .db = published->db,
                            .sql = sql_query_published_tres_seconds,
                            .cluster = cluster->name,
                            .column_types = "i"
                                            "rrrrrrrrrrrrrrrr"
                                            "iiiiiiiiiiiiiiii",
                            .ids = ids };
    while (id_rows_fetch(&rows, &row, err) > 0) {
        struct published_seconds seconds = { 0 };
        for (size_t i = 0; i < KEPT_TRES_LIMIT; i++) {
            const struct db_value *used = &row[1 + i], *running = used + KEPT_TRES_LIMIT;
            seconds.used[i] = used->type == DB_NULL ? 0 : used->real;
            seconds.running[i] = db_value_integer(running, 0);
        }
        take(context, row[0].integer, &seconds);
    }
    return id_rows_finish(&rows);
}

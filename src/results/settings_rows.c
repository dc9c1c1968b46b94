/* SPDX-License-Identifier: MIT */
#include "results/settings_rows.h"

#include <stdlib.h>
#include <string.h>

#include "results/publication.h"
#include "results/rows.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "sql.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

/*
 * Returns 1 if the row exists, 0 if not, and -1 on error.  Sets `*same` to whether it has this
 * text.
 */
static int is_there(struct db *db, const struct db_value *row, bool *same, struct error *err)
{
    const struct db_value *found;
    struct db_rows *rows = db_query(db, sql_query_settings_text, row, 1, "t", err);
    bool there = db_fetch(rows, &found, err) > 0;
    *same = there && found[0].type == DB_TEXT && found[0].text.length == row[1].text.length &&
            !memcmp(found[0].text.bytes, row[1].text.bytes, row[1].text.length);
    return db_finish(rows) ? -1 : there;
}

int settings_rows_write(const struct publisher *publisher, struct error *err)
{
    const struct settings *settings = publisher->settings;
    struct text converted = { 0 };
    struct db_value row[] = { db_text(settings->digest), rows_text(settings->text, &converted) };
    struct db_value mend[] = { row[1], row[0] };
    struct error ignored;
    bool same;
    int there = is_there(publisher->db, row, &same, err);
    /* If the row cannot be added, check whether a run of another cluster has just added it. */
    if (!there && (!db_execute(publisher->db, sql_query_settings_add, row, 2, NULL, err) ||
                   is_there(publisher->db, row, &same, &ignored) > 0))
        there = 1;
    else if (there > 0 && !same &&
             db_execute(publisher->db, sql_query_settings_mend, mend, 2, NULL, err))
        there = -1;
    text_free(&converted);
    return there > 0 ? 0 : -1;
}

int settings_rows_check(struct db *db, struct text *digests, struct error *err)
{
    const struct db_value *row;
    struct db_rows *rows = db_query(db, sql_query_settings_last, NULL, 0, "tt", err);
    while (db_fetch(rows, &row, err) > 0) {
        char *digest = db_value_text(&row[0]), *text = db_value_text(&row[1]);
        char wanted[SETTINGS_DIGEST];
        settings_digest_of(text, wanted);
        if (strcmp(digest, wanted) != 0) {
            text_add(digests, digests->length ? ", " : "");
            text_add_printable(digests, digest);
        }
        free(digest);
        free(text);
    }
    return db_finish(rows);
}

char *settings_rows_text(struct db *db, const char *digest, struct error *err)
{
    const struct db_value *row, argument = db_text(digest);
    struct db_rows *rows = db_query(db, sql_query_settings_text, &argument, 1, "t", err);
    char *text = db_fetch(rows, &row, err) > 0 ? db_value_text(&row[0]) : NULL;
    db_finish(rows);
    return text;
}

int settings_rows_read(const struct publisher *publisher, struct settings_digests *digests,
                       struct error *err)
{
    struct db_value cluster = db_text(publisher->cluster);
    const struct db_value *row;
    *digests = (struct settings_digests){ 0 };
    struct db_rows *rows =
        db_query(publisher->db, sql_query_settings_of_runs, &cluster, 1, "t", err);
    while (db_fetch(rows, &row, err) > 0)
        *memory_append(&digests->digests, &digests->count) = db_value_text(&row[0]);
    if (!db_finish(rows))
        return 0;
    settings_digests_free(digests);
    return -1;
}

int settings_rows_prune(const struct publisher *publisher, const struct settings_digests *digests,
                        struct error *err)
{
    for (size_t i = 0; i < digests->count; i++) {
        struct db_value digest = db_text(digests->digests[i]);
        int64_t run;
        int used = rows_read_integer(publisher->db, sql_query_settings_used, &digest, 1, &run, err);
        if (used < 0 ||
            (!used && db_execute(publisher->db, sql_query_settings_remove, &digest, 1, NULL, err)))
            return -1;
    }
    return 0;
}

void settings_digests_free(struct settings_digests *digests)
{
    for (size_t i = 0; i < digests->count; i++)
        free(digests->digests[i]);
    free(digests->digests);
    *digests = (struct settings_digests){ 0 };
}

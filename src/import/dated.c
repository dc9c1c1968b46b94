/* SPDX-License-Identifier: MIT */
#include "import/dated.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "results/rows.h"
#include "sql.h"
#include "util/error.h"
#include "util/instant.h"
#include "util/memory.h"
#include "util/text.h"

int dated_check(const char *name, int64_t since, int64_t instant, struct error *err)
{
    if (since < instant)
        return 0;
    struct text text = { 0 };
    instant_add(&text, since);
    fail(err, ERROR_DATA, "'%s' is as it is since %s; a change has to be after that", name,
         text.bytes);
    text_free(&text);
    return -1;
}

/* What was noted of a value last. */
struct noted {
    bool there;
    int64_t since;
    char *value;
};

struct dating {
    struct db *db;
    const char *cluster;
    struct dated_values values;
    struct noted *noted;
};

static void note(struct noted *noted, const struct db_value *row)
{
    free(noted->value);
    noted->there = true;
    noted->since = db_value_integer(&row[1], 0);
    noted->value = row[2].type == DB_NULL ? NULL : db_value_text(&row[2]);
}

static int read_noted(const struct dating *dating, struct error *err)
{
    const struct db_value *row;
    struct db_value name = db_text(dating->cluster);
    struct db_rows *rows = db_query(dating->db, sql_query_pbs_setting_read, &name, 1, "tit", err);
    while (db_fetch(rows, &row, err) > 0) {
        for (size_t i = 0; i < dating->values.count; i++) {
            if (reads_as(row[0].text.bytes, row[0].text.length, dating->values.values[i].name))
                note(&dating->noted[i], row);
        }
    }
    return db_finish(rows);
}

static bool is_same(const struct noted *noted, const char *value)
{
    if (!noted->there || !noted->value || !value)
        return noted->there && noted->value == value;
    return !strcmp(noted->value, value);
}

static bool is_first(const struct dating *dating)
{
    for (size_t i = 0; i < dating->values.count; i++) {
        if (dating->noted[i].there)
            return false;
    }
    return true;
}

static int write_changes(const struct dating *dating, int64_t instant, uint64_t *changed,
                         struct error *err)
{
    int result = 0;
    struct row_writer rows = { .db = dating->db, .table = "pbs_setting" };
    int64_t since = is_first(dating) ? 0 : instant;
    for (size_t i = 0; i < dating->values.count && !result; i++) {
        const struct dated_value *value = &dating->values.values[i];
        const struct noted *noted = &dating->noted[i];
        const struct row_field fields[] = {
            { "cluster", 't', db_text(dating->cluster) },
            { "name", 't', db_text(value->name) },
            { "since", 'i', db_integer(since) },
            { "value", 't', db_text(value->value) },
        };
        if (is_same(noted, value->value))
            continue;
        result = noted->there ? dated_check(value->name, noted->since, instant, err) : 0;
        if (!result)
            result = rows_add(&rows, fields, COUNT(fields), err);
        ++*changed;
    }
    return rows_end(&rows, result, err);
}

int dated_store(struct db *db, const char *cluster, struct dated_values values, int64_t instant,
                uint64_t *changed, struct error *err)
{
    struct dating dating = { db, cluster, values,
                             memory_zeroed(values.count, sizeof *dating.noted) };
    int result = read_noted(&dating, err) || write_changes(&dating, instant, changed, err) ? -1 : 0;
    for (size_t i = 0; i < values.count; i++)
        free(dating.noted[i].value);
    free(dating.noted);
    return result;
}

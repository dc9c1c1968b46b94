/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "command/published_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "db/db.h"
#include "report/priorities.h"
#include "sql.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

/* The columns of sql_query_shown_priorities. */
enum {
    KEY,
    ID,
    USER,
    ACCOUNT,
    PARTITION,
    QOS,
    BEST,
    FACTORS,
    WEIGHTED = FACTORS + PRIO_PARTS,
    TRES_FACTORS = WEIGHTED + PRIO_PARTS,
    TRES_WEIGHTED,
    SITE,
    NICE,
    PRIORITY,
    NORM,
};

static const char *text_of(struct prio_list *list, const struct db_value *value)
{
    return prio_list_text(list, value->text.bytes, value->text.length);
}

static int64_t integer_of(const struct db_value *value)
{
    return value->type == DB_INTEGER ? value->integer : 0;
}

static void add_row(struct prio_list *list, const struct db_value *row)
{
    struct prio_row added = {
        .key =
            row[KEY].type == DB_UNSIGNED ? row[KEY].unsigned_integer : (uint64_t)row[KEY].integer,
        .id_job = row[ID].integer,
        .user = text_of(list, &row[USER]),
        .account = text_of(list, &row[ACCOUNT]),
        .partition = text_of(list, &row[PARTITION]),
        .qos = text_of(list, &row[QOS]),
        .best = row[BEST].integer == 1,
        .tres_factors = text_of(list, &row[TRES_FACTORS]),
        .tres_weighted = text_of(list, &row[TRES_WEIGHTED]),
        .site = integer_of(&row[SITE]),
        .nice = integer_of(&row[NICE]),
        .site_known = row[SITE].type == DB_INTEGER,
        .nice_known = row[NICE].type == DB_INTEGER,
        .priority = row[PRIORITY].integer,
        .norm = row[NORM].real,
    };
    for (enum prio_part part = 0; part < PRIO_PARTS; part++) {
        added.factor[part] = row[FACTORS + (int)part].real;
        added.weighted[part] = row[WEIGHTED + (int)part].real;
    }
    prio_list_add(list, &added);
}

int published_jobs_read(struct db *db, struct prio_list *list, struct error *err)
{
    struct db_rows *rows;
    const struct db_value *row;
    struct db_value cluster = db_text(list->cluster);
    if (db_query(db, sql_query_shown_priorities, &cluster, 1, "iittttirrrrrrrrrrrrttiiir", &rows,
                 err))
        return -1;
    int got;
    while ((got = db_fetch(rows, &row, err)) > 0)
        add_row(list, row);
    db_finish(rows);
    return got;
}

/* The value of a key in the text of a run's settings; the end of the line ends it. */
static struct db_value setting_in(const char *text, const char *key)
{
    size_t length = strlen(key);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (!strncmp(line, key, length) && !strncmp(line + length, " = ", 3))
            return db_bytes(line + length + 3, strcspn(line + length + 3, "\n"));
    return db_bytes("", 0);
}

static void take_weights(struct prio_list *list, const char *text)
{
    static const char *const keys[PRIO_PARTS] = {
        "priority.weight_age",      "priority.weight_assoc",     "priority.weight_fairshare",
        "priority.weight_job_size", "priority.weight_partition", "priority.weight_qos",
    };
    for (enum prio_part part = 0; part < PRIO_PARTS; part++) {
        struct db_value value = setting_in(text, keys[part]);
        number_unsigned(value.text.bytes, value.text.length, &list->weights.of[part]);
    }
    struct db_value tres = setting_in(text, "priority.weight_tres");
    list->weights.tres = text_of(list, &tres);
}

int published_weights_read(struct db *db, struct prio_list *list, struct error *err)
{
    struct db_rows *rows;
    const struct db_value *row;
    struct db_value cluster = db_text(list->cluster);
    if (db_query(db, sql_query_shown_settings, &cluster, 1, "t", &rows, err))
        return -1;
    int got = db_fetch(rows, &row, err);
    if (got > 0 && row[0].type == DB_TEXT) {
        char *text = memory_bytes(row[0].text.bytes, row[0].text.length);
        take_weights(list, text);
        free(text);
    }
    db_finish(rows);
    return got < 0 ? -1 : 0;
}

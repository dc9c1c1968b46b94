/* SPDX-License-Identifier: MIT */
#include "import/groups.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "import/dated.h"
#include "import/entities.h"
#include "results/rows.h"
#include "sql.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* A line that holds; whether the new file has its name, and has it as it is. */
struct held_line {
    struct group_line line;
    int64_t place;
    bool listed, kept;
};

struct group_change {
    struct db *db;
    const char *cluster;
    const struct group_list *list;
    int64_t instant;
    bool first; /* nothing was ever held */
    struct held_line *held;
    size_t held_count;
    struct names *names; /* of held lines, by their places */
};

static int read_held(struct group_change *change, struct error *err)
{
    const struct db_value *row;
    struct db_value name = db_text(change->cluster);
    struct db_rows *rows = db_query(change->db, sql_query_pbs_group_read, &name, 1, "ttiii", err);
    while (db_fetch(rows, &row, err) > 0) {
        change->held = memory_grown(change->held, change->held_count, sizeof *change->held);
        struct held_line *held = &change->held[change->held_count++];
        *held = (struct held_line){ .line = { db_value_text(&row[0]), db_value_text(&row[1]),
                                              db_value_integer(&row[2], 0),
                                              db_value_integer(&row[3], 0) },
                                    .place = db_value_integer(&row[4], 0) };
        names_add(change->names, held->line.name, strlen(held->line.name));
    }
    return db_finish(rows);
}

static bool is_same(const struct held_line *held, const struct group_line *line, size_t place)
{
    return !strcmp(held->line.parent, line->parent) && held->line.cresgroup == line->cresgroup &&
           held->line.shares == line->shares && held->place == (int64_t)place;
}

/* What the file has and is not held as it is there, in `fresh`, by line. */
static uint64_t compare(struct group_change *change, bool *fresh)
{
    uint64_t changed = 0;
    for (size_t i = 0; i < change->list->count; i++) {
        const struct group_line *line = &change->list->lines[i];
        uint32_t at = names_find(change->names, line->name, strlen(line->name));
        struct held_line *held = at == INDEX_NONE ? NULL : &change->held[at];
        fresh[i] = !held || !is_same(held, line, i);
        if (held) {
            held->listed = true;
            held->kept = !fresh[i];
        }
        changed += fresh[i];
    }
    for (size_t i = 0; i < change->held_count; i++)
        changed += !change->held[i].listed;
    return changed;
}

static int end_held(const struct group_change *change, struct error *err)
{
    for (size_t i = 0; i < change->held_count; i++) {
        const struct held_line *held = &change->held[i];
        const struct db_value arguments[] = { db_integer(change->instant), db_text(change->cluster),
                                              db_text(held->line.name) };
        if (!held->kept && db_execute(change->db, sql_query_pbs_group_end, arguments, 3, NULL, err))
            return -1;
    }
    return 0;
}

static int add_fresh(const struct group_change *change, const bool *fresh, struct error *err)
{
    int result = 0;
    struct row_writer rows = { .db = change->db, .table = "pbs_group" };
    for (size_t i = 0; i < change->list->count && !result; i++) {
        const struct group_line *line = &change->list->lines[i];
        const struct row_field fields[] = {
            { "cluster", 't', db_text(change->cluster) },
            { "name", 't', db_text(line->name) },
            { "since", 'i', db_integer(change->first ? 0 : change->instant) },
            { "until", 'i', db_integer(0) },
            { "parent", 't', db_text(line->parent) },
            { "cresgroup", 'i', db_integer(line->cresgroup) },
            { "shares", 'i', db_integer(line->shares) },
            { "place", 'i', db_integer((int64_t)i) },
        };
        if (fresh[i])
            result = rows_add(&rows, fields, COUNT(fields), err);
    }
    return rows_end(&rows, result, err);
}

static int store_entities(const struct group_change *change, struct error *err)
{
    struct entities *entities = entities_read(change->db, change->cluster, err);
    if (!entities)
        return -1;
    for (size_t i = 0; i < change->list->count; i++) {
        const struct group_line *line = &change->list->lines[i];
        entities_number(entities, line->name, line->cresgroup, change->first ? 0 : change->instant);
    }
    int result = entities_store(entities, err);
    entities_destroy(entities);
    return result;
}

/* ---- all of it ---- */

static int store_changes(struct group_change *change, uint64_t *changed, struct error *err)
{
    int64_t last = -1;
    struct db_value name = db_text(change->cluster);
    int found = rows_read_integer(change->db, sql_query_pbs_group_last, &name, 1, &last, err);
    if (found < 0 || read_held(change, err))
        return -1;
    change->first = !found;
    bool *fresh = memory_zeroed(change->list->count, sizeof *fresh);
    *changed = compare(change, fresh);
    int result = 0;
    if (*changed)
        /* A change between two others would put back what the later one removed. */
        result = dated_check("resource_group", last, change->instant, err) ||
                         end_held(change, err) || add_fresh(change, fresh, err) ||
                         store_entities(change, err)
                     ? -1
                     : 0;
    free(fresh);
    return result;
}

int groups_store(struct db *db, const char *cluster, const struct group_list *list, int64_t instant,
                 uint64_t *changed, struct error *err)
{
    struct group_change change = {
        .db = db, .cluster = cluster, .list = list, .instant = instant, .names = names_create()
    };
    int result = db_begin(db, err) ? -1 : store_changes(&change, changed, err);
    result = rows_commit(db, result, err);
    for (size_t i = 0; i < change.held_count; i++) {
        free(change.held[i].line.name);
        free(change.held[i].line.parent);
    }
    free(change.held);
    names_destroy(change.names);
    return result;
}

/* SPDX-License-Identifier: MIT */
#include "results/published_budgets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/db.h"
#include "report/budget.h"
#include "results/published.h"
#include "results/rows.h"
#include "settings/settings.h"
#include "sql.h"
#include "util/error.h"
#include "util/memory.h"

/* The associations of a cluster, in ascending order of id. */
struct budget_path {
    int64_t id, parent_id; /* parent_id is 0 for the root */
    bool is_named, is_above_named;
    bool is_own, is_above_own; /* of the requesting user */
    bool is_resolved;          /* the members below are set; see budget_resolve() */
    bool is_below_named, is_below_own;
};

struct budget_search {
    struct published *published;
    const struct published_cluster *cluster;
    bool *met;
    bool limited; /* the requesting user must not see all limits */
    struct budget_path *paths;
    size_t count;
};

static struct budget_path *budget_path_of(const struct budget_search *search, int64_t id)
{
    size_t low = 0, high = search->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (search->paths[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < search->count && search->paths[low].id == id ? &search->paths[low] : NULL;
}

/* ---- The associations ---- */

static bool budget_note_names(const struct budget_search *search,
                              const struct association_name *name)
{
    const struct name_list *names = &search->published->filter.names;
    const struct permissions *permissions = &search->published->permissions;
    bool is_named = false;
    if (!permissions_show(permissions, search->cluster->name, name->account, name->user))
        return false;
    for (size_t i = 0; i < names->count; i++)
        if (association_name_match(name, names->values[i]) != NAME_OTHER)
            is_named = search->met[i] = true;
    return is_named;
}

static bool budget_is_own(const struct budget_search *search, const struct association_name *name)
{
    const struct permissions *permissions = &search->published->permissions;
    return search->limited &&
           (*name->user
                ? !strcmp(name->user, permissions->login)
                : permissions_coordinate(permissions, search->cluster->name, name->account));
}

static int budget_read_paths(struct budget_search *search, struct error *err)
{
    const struct db_value *row, cluster = db_text(search->cluster->name);
    struct db_rows *rows =
        db_stream(search->published->db, sql_query_budget_paths, &cluster, 1, "iittt", err);
    while (db_fetch(rows, &row, err) > 0) {
        char *texts[] = { db_value_text(&row[2]), db_value_text(&row[3]), db_value_text(&row[4]) };
        const struct association_name name = { texts[0], texts[1], texts[2] };
        *memory_append(&search->paths, &search->count) = (struct budget_path){
            .id = row[0].integer,
            .parent_id = db_value_integer(&row[1], 0),
            .is_named = budget_note_names(search, &name),
            .is_own = budget_is_own(search, &name),
        };
        for (size_t i = 0; i < COUNT(texts); i++)
            free(texts[i]);
    }
    return db_finish(rows);
}

/* Marks the associations above a named one, and those above an own one. */
static void budget_mark_above(struct budget_search *search)
{
    for (size_t i = 0; i < search->count; i++) {
        bool named = search->paths[i].is_named, own = search->paths[i].is_own;
        struct budget_path *at = &search->paths[i];
        while (at && ((named && !at->is_above_named) || (own && !at->is_above_own))) {
            at->is_above_named |= named;
            at->is_above_own |= own;
            at = budget_path_of(search, at->parent_id);
        }
    }
}

/*
 * Sets whether the association, and each one above it, is a named or an own one or is below one.
 * Visits each association once, however many limits are below it.
 */
static void budget_resolve(struct budget_search *search, struct budget_path *path)
{
    struct budget_path **way = NULL, *above = NULL;
    size_t count = 0;
    for (struct budget_path *at = path; at && !at->is_resolved;
         at = budget_path_of(search, at->parent_id)) {
        at->is_resolved = true; /* also ends a loop */
        *memory_append(&way, &count) = at;
    }
    if (count)
        above = budget_path_of(search, way[count - 1]->parent_id);
    for (; count; above = way[--count]) {
        struct budget_path *at = way[count - 1];
        at->is_below_named = at->is_named || (above && above->is_below_named);
        at->is_below_own = at->is_own || (above && above->is_below_own);
    }
    free(way);
}

/* ---- The limits ---- */

static bool budget_is_shown(const struct budget_search *search, const struct budget_row *row,
                            const struct budget_path *path)
{
    const struct permissions *permissions = &search->published->permissions;
    if (!search->limited)
        return true;
    return *row->user
               ? permissions_show(permissions, search->cluster->name, row->account, row->user)
               : path && (path->is_above_own || path->is_below_own);
}

static bool budget_is_wanted(struct budget_search *search, const struct budget_row *row)
{
    const struct name_list *names = &search->published->filter.names;
    if (!strcmp(row->kind, "association")) {
        struct budget_path *path = budget_path_of(search, row->id);
        budget_resolve(search, path);
        return budget_is_shown(search, row, path) &&
               (!names->count || (path && (path->is_above_named || path->is_below_named)));
    }
    bool wanted = !names->count;
    for (size_t i = 0; i < names->count; i++)
        if (name_is(names->values[i], row->qos))
            wanted = search->met[i] = true;
    return wanted;
}

static struct budget_row budget_row_of(const struct db_value *row)
{
    double used = (double)row[8].integer, limit = (double)row[7].integer;
    return (struct budget_row){
        .kind = db_value_text(&row[0]),
        .id = row[1].integer,
        .account = db_value_text(&row[2]),
        .user = db_value_text(&row[3]),
        .partition = db_value_text(&row[4]),
        .qos = db_value_text(&row[5]),
        .tres = db_value_text(&row[6]),
        .limit = row[7].integer,
        .used = row[8].integer,
        .running = row[9].integer,
        .left = row[10].integer,
        .exhausted_at = db_value_integer(&row[11], 0),
        .used_percent = limit > 0 ? 100 * used / limit : INFINITY,
    };
}

static int budget_read_rows(struct budget_search *search, struct budget_rows *list,
                            struct error *err)
{
    const struct db_value *row, cluster = db_text(search->cluster->name);
    struct db_rows *rows =
        db_query(search->published->db, sql_query_budget_read, &cluster, 1, "titttttiiiii", err);
    while (db_fetch(rows, &row, err) > 0) {
        struct budget_rows one = { memory_zeroed(1, sizeof *one.rows), 1 };
        *one.rows = budget_row_of(row);
        if (budget_is_wanted(search, one.rows)) {
            *memory_append(&list->rows, &list->count) = *one.rows;
            free(one.rows);
        } else {
            budget_rows_free(&one);
        }
    }
    return db_finish(rows);
}

int published_budgets_read(struct published *published, const struct published_cluster *cluster,
                           bool *met, struct budget_rows *list, struct error *err)
{
    struct budget_search search = {
        .published = published,
        .cluster = cluster,
        .met = met,
        .limited =
            permissions_are_limited_on(&published->permissions, cluster->name, PRIVATE_USAGE),
    };
    int result = 0;
    if (search.limited || published->filter.names.count)
        result = budget_read_paths(&search, err);
    if (!result) {
        budget_mark_above(&search);
        result = budget_read_rows(&search, list, err);
    }
    free(search.paths);
    return result;
}

int published_enforcement_read(const struct published *published,
                               const struct published_cluster *cluster, int *enforced,
                               struct error *err)
{
    const struct db_value *row, name = db_text(cluster->name);
    *enforced = -1;
    if (!cluster->settings->slurm_path || !*cluster->settings->slurm_path)
        return 0;
    /* A run publishes TRESRunMins of the root only if slurm.conf enforces limits. */
    struct db_rows *rows = db_query(published->db, sql_query_budget_enforced, &name, 1, "t", err);
    if (db_fetch(rows, &row, err) > 0)
        *enforced = row[0].type == DB_TEXT;
    return db_finish(rows);
}

/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "results/snapshot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/usage/clock.h"
#include "core/finding.h"
#include "core/tree/tree.h"
#include "db/db.h"
#include "settings/recorded.h"
#include "settings/settings.h"
#include "sql.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"

static int fill_snapshot(struct snapshot *snapshot, const struct db_value *row, struct error *err)
{
    char *algorithm = db_value_text(&row[1]);
    char *conformance = db_value_text(&row[2]);
    char *text = db_value_text(&row[4]);
    struct settings *settings = settings_recorded(text);
    bool slurmctld = !strcmp(conformance, conformance_name(CONFORMANCE_SLURMCTLD));
    *snapshot = (struct snapshot){
        .cluster = db_value_text(&row[0]),
        .algorithm = algorithm_named(algorithm),
        .as_of = row[3].integer,
        .half_life = (uint64_t)row[5].integer,
        .options = { .conformance = slurmctld ? CONFORMANCE_SLURMCTLD : CONFORMANCE_DOCUMENTS,
                     .dampening = settings->dampening,
                     .pbs_minimum_usage = settings->pbs_minimum_usage,
                     .capacity = NAN },
    };
    free(algorithm);
    free(conformance);
    free(text);
    settings_destroy(settings);
    return snapshot->algorithm
               ? 0
               : fail(err, ERROR_DATA, "fairmill_run holds an algorithm that is not known");
}

int snapshots_read(struct db *db, struct snapshots *snapshots, struct error *err)
{
    const struct db_value *row;
    struct db_rows *rows = db_query(db, sql_query_snapshot_runs, NULL, 0, "tttiti", err);
    if (!rows)
        return -1;
    int got;
    while ((got = db_fetch(rows, &row, err)) > 0) {
        snapshots->clusters =
            memory_resized(snapshots->clusters, snapshots->count + 1, sizeof *snapshots->clusters);
        if (fill_snapshot(&snapshots->clusters[snapshots->count++], row, err)) {
            got = -1;
            break;
        }
    }
    db_finish(rows);
    return got;
}

/* The rows as they are read: what the tree is made of, and what is published. */
struct reading {
    struct association *rows;
    struct values *values;
    uint32_t *ids;
    size_t count, room;
    uint32_t empty_name;
};

/* The columns of sql_query_snapshot_rows. */
enum { ID, PARENT_ID, ACCOUNT, USER, PARTITION, SHARES, RANK, INFINITE, FIRST_VALUE };

static struct values values_of(const struct db_value *row)
{
    const struct db_value *value = &row[FIRST_VALUE];
    struct values values = {
        .shares_norm = db_value_real(&value[0]),
        .usage_raw = db_value_real(&value[1]),
        .usage_norm = db_value_real(&value[2]),
        .capacity_usage = db_value_real(&value[3]),
        .level_shares_norm = db_value_real(&value[4]),
        .level_usage = db_value_real(&value[5]),
        .classic_usage = db_value_real(&value[6]),
        .classic_factor = db_value_real(&value[7]),
        .linear_usage = db_value_real(&value[8]),
        .linear_factor = db_value_real(&value[9]),
        .depth_oblivious_ratio = db_value_real(&value[10]),
        .depth_oblivious_factor = db_value_real(&value[11]),
        .level_fs = db_value_real(&value[12]),
        .fair_tree_factor = db_value_real(&value[13]),
        .pbs_tree_usage = db_value_real(&value[14]),
        .pbs_factor = db_value_real(&value[15]),
        .fair_tree_rank = row[RANK].type == DB_INTEGER ? (uint32_t)row[RANK].integer : 0,
    };
    if (row[INFINITE].type == DB_INTEGER && row[INFINITE].integer)
        values.level_fs = INFINITY;
    return values;
}

static uint32_t name_of(struct names *names, const struct db_value *value)
{
    return names_add(names, value->text.bytes, value->text.length);
}

static void add_row(struct reading *reading, struct names *names, const struct db_value *row)
{
    if (reading->count == reading->room) {
        reading->room = reading->room ? reading->room * 2 : 256;
        reading->rows = memory_resized(reading->rows, reading->room, sizeof *reading->rows);
        reading->values = memory_resized(reading->values, reading->room, sizeof *reading->values);
        reading->ids = memory_resized(reading->ids, reading->room, sizeof *reading->ids);
    }
    bool root = row[PARENT_ID].type != DB_INTEGER;
    uint32_t account = name_of(names, &row[ACCOUNT]);
    reading->rows[reading->count] = (struct association){
        .id = (uint32_t)row[ID].integer,
        .parent_id = root ? 0 : (uint32_t)row[PARENT_ID].integer,
        .account = account,
        .user = name_of(names, &row[USER]),
        .partition = name_of(names, &row[PARTITION]),
        .parent_account = root ? reading->empty_name : account,
        .shares = row[SHARES].type == DB_INTEGER ? (int32_t)row[SHARES].integer : SHARES_PARENT,
    };
    reading->ids[reading->count] = (uint32_t)row[ID].integer;
    reading->values[reading->count++] = values_of(row);
}

static int read_rows(struct db *db, struct snapshot *snapshot, struct reading *reading,
                     struct error *err)
{
    const struct db_value *row, cluster = db_text(snapshot->cluster);
    struct db_rows *rows = db_query(db, sql_query_snapshot_rows, &cluster, 1,
                                    "iittti"
                                    "ii"
                                    "rrrrrrrrrrrrrrrr",
                                    err);
    while (db_fetch(rows, &row, err) > 0)
        add_row(reading, snapshot->names, row);
    return db_finish(rows);
}

/* The nearest integer to what is published; what is not nothing stays so.  With decay the clock's
 * units are finer than a double. */
static bool take_usage(const struct clock *clock, double published, struct wide *usage)
{
    if (!(published > 0))
        return true;
    double half = clock_half_life(clock) ? 0 : 0.5 / (double)UNITS_PER_TRES;
    if (!clock_sum_of(clock, published + half, usage))
        return false;
    if (wide_is_zero(usage))
        usage->word[0] = 1;
    return true;
}

/* slurmctld visits tied accounts in an order that is not published, but the ranks tell it. */
static void restore_order(struct tree *tree, const struct values *values)
{
    uint32_t *best = memory_zeroed(tree->count, sizeof *best);
    for (uint32_t i = tree->count; i-- > 1;) {
        uint32_t above = tree->nodes[i].fairshare_parent;
        if (values[i].fair_tree_rank > best[i])
            best[i] = values[i].fair_tree_rank;
        if (best[i] > best[above])
            best[above] = best[i];
    }
    for (uint32_t i = 0; i < tree->count; i++)
        tree->nodes[i].order = UINT32_MAX - best[i];
    free(best);
}

/* Put what was read where its node is. */
static int take_values(struct snapshot *snapshot, const struct reading *reading, struct error *err)
{
    struct tree *tree = snapshot->tree;
    snapshot->clock = clock_create(snapshot->half_life, (uint64_t)snapshot->as_of, 0);
    snapshot->options.clock = snapshot->clock;
    snapshot->values = memory_zeroed(tree->count, sizeof *snapshot->values);
    bool fits = true;
    for (size_t i = 0; i < reading->count; i++) {
        uint32_t node = tree_place(tree, reading->ids[i]);
        snapshot->values[node] = reading->values[i];
        fits &= take_usage(snapshot->clock, reading->values[i].usage_raw, &tree->nodes[node].usage);
    }
    if (!fits || !tree_sum_levels(tree))
        return fail(err, ERROR_DATA, "fairmill_fairshare holds a usage that no run can compute");
    restore_order(tree, snapshot->values);
    const struct values *root = &snapshot->values[0];
    if (root->capacity_usage > 0)
        snapshot->options.capacity = root->usage_raw / root->capacity_usage;
    return 0;
}

int snapshot_read(struct db *db, struct snapshot *snapshot, struct error *err)
{
    struct findings *findings = findings_create();
    struct reading reading = { 0 };
    snapshot->names = names_create();
    reading.empty_name = names_add(snapshot->names, "", 0);
    int result = read_rows(db, snapshot, &reading, err);
    if (!result && !reading.count)
        result = fail(err, ERROR_OTHER, "no results yet");
    if (!result)
        result = tree_build(&snapshot->tree,
                            &(struct associations){ reading.rows, reading.count, snapshot->names,
                                                    reading.empty_name },
                            BAD_ROWS_FAIL, findings, err);
    if (!result)
        result = take_values(snapshot, &reading, err);
    free(reading.rows);
    free(reading.values);
    free(reading.ids);
    findings_destroy(findings);
    return result;
}

void snapshots_free(struct snapshots *snapshots)
{
    for (size_t i = 0; i < snapshots->count; i++) {
        struct snapshot *each = &snapshots->clusters[i];
        free(each->cluster);
        tree_destroy(each->tree);
        free(each->values);
        clock_destroy(each->clock);
        if (each->names)
            names_destroy(each->names);
    }
    free(snapshots->clusters);
    free(snapshots->login);
}

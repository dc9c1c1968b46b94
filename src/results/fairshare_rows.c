/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/fairshare/algorithm.h"
#include "core/insight/standing.h"
#include "core/tree/tree.h"
#include "core/usage/decay_table.h"
#include "core/usage/kept_tres.h"
#include "results/publication.h"
#include "results/rows.h"
#include "results/stored_state.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "source/tres_minutes.h"
#include "sql.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/*
 * The view fairmill_fairshare joins two tables.  The table fairmill_tree has the columns that
 * depend only on shares, parents and names; it is written when they change.  The table
 * fairmill_value has the columns that each run computes.  The table lacks columns that the view can
 * compute exactly from other columns.  So a run writes half of the data that the view shows.
 */

static const char tree_table[] = "fairmill_tree", value_table[] = "fairmill_value";

/* VALUE_ROOM includes the columns of usage by TRES. */
enum {
    TREE_COLUMNS = 14,
    PLACE_COLUMNS = 4,
    VALUE_COLUMNS = 24,
    VALUE_ROOM = VALUE_COLUMNS + 2 * KEPT_TRES_LIMIT
};

enum { CACHE_LINE = 64, ROWS_AHEAD = 8 };

struct fairshare_rows_writer {
    const struct publisher *publisher;
    const struct publication *publication;
    bool is_fair_tree;
    bool pbs_own;               /* the PBS values differ from the classic values */
    struct user_places *places; /* indexed by node */
    /* Indexed by node: place in the order of slurmctld or pbsfs; NULL if not needed. */
    uint32_t *ties;
    uint64_t *name_words; /* the hash of each name, indexed by number */
    struct text converted[3];
};

static void make_tree_row(struct fairshare_rows_writer *writer, uint32_t i, struct row_field *row)
{
    const struct tree *tree = writer->publication->tree;
    const struct names *names = writer->publication->names;
    const struct node *node = &tree->nodes[i];
    const struct values *values = &writer->publication->values[i];
    const char *limit = tres_minutes_of(writer->publication->tres_minutes, i).group_limit;
    const struct row_field made[TREE_COLUMNS] = {
        { "cluster", 't', db_text(writer->publisher->cluster) },
        { "id_assoc", 'i', db_integer(node->id) },
        { "parent_id", 'i', i ? db_integer(tree->nodes[node->parent].id) : db_null() },
        { "depth", 'i', db_integer(node->depth) },
        { "account", 't', rows_text(names_text(names, node->account), &writer->converted[0]) },
        { "user_name", 't', rows_text(names_text(names, node->user), &writer->converted[1]) },
        { "partition_name", 't',
          rows_text(names_text(names, node->partition), &writer->converted[2]) },
        { "shares", 'i', node_has_parent_shares(node) ? db_null() : db_integer(node->shares) },
        { "shares_norm", 'r', rows_real(values->shares_norm) },
        { "level_shares_norm", 'r', rows_real(values->level_shares_norm) },
        { "tie_order", 'i', writer->ties ? db_integer(writer->ties[i]) : db_null() },
        { "grp_tres_mins", 't', limit ? db_text(limit) : db_null() },
        { "pbs_own", 'i', db_integer(writer->pbs_own) },
        { "usage_is_set", 'i', node->usage_is_set ? db_integer(1) : db_null() },
    };
    memcpy(row, made, sizeof made);
}

/* Hashing each name once is faster than looking up the names of each row. */
static uint64_t *hash_names(const struct names *names, struct text *converted)
{
    uint32_t count = names_count(names);
    uint64_t *words = memory_zeroed(count, sizeof *words);
    for (uint32_t i = 0; i < count; i++) {
        struct db_value name = rows_text(names_text(names, i), converted);
        words[i] = row_hash_word(&name);
    }
    return words;
}

static uint64_t word_of_integer(int64_t number, bool is_null)
{
    struct db_value value = is_null ? db_null() : db_integer(number);
    return row_hash_word(&value);
}

static uint64_t word_of_real(double number)
{
    struct db_value value = rows_real(number);
    return row_hash_word(&value);
}

/* Adds the same columns as make_tree_row(), except for the cluster. */
static void add_tree_row(const struct fairshare_rows_writer *writer, uint32_t i,
                         struct row_hash *stored)
{
    const struct tree *tree = writer->publication->tree;
    const struct node *node = &tree->nodes[i];
    const struct values *values = &writer->publication->values[i];
    const char *limit = tres_minutes_of(writer->publication->tres_minutes, i).group_limit;
    const uint64_t words[TREE_COLUMNS - 1] = {
        node->id,
        word_of_integer(i ? tree->nodes[node->parent].id : 0, !i),
        node->depth,
        writer->name_words[node->account],
        writer->name_words[node->user],
        writer->name_words[node->partition],
        word_of_integer(node->shares, node_has_parent_shares(node)),
        word_of_real(values->shares_norm),
        word_of_real(values->level_shares_norm),
        word_of_integer(writer->ties ? writer->ties[i] : 0, !writer->ties),
        limit ? row_hash_of_text(limit, strlen(limit)) : word_of_integer(0, true),
        writer->pbs_own,
        word_of_integer(1, !node->usage_is_set),
    };
    row_hash_add(stored, words, COUNT(words));
}

/*
 * Returns the usage of the depth-oblivious algorithm for its column.  Returns NAN (stored as NULL)
 * if the view gets the same value from ratio * shares.  Subnormal products are stored, because some
 * database systems reject such a product in the view.
 */
static double own_depth_oblivious_usage(const struct values *values)
{
    double product = values->depth_oblivious_ratio * values->shares_norm;
    bool is_product = product == values->depth_oblivious_usage &&
                      (isnormal(product) || values->depth_oblivious_ratio == 0);
    return is_product ? NAN : values->depth_oblivious_usage;
}

/*
 * Returns the order of a node for its column.  With Fair Tree, returns NULL if the view computes
 * the same value from the rank.
 */
static struct db_value own_order(const struct fairshare_rows_writer *writer, uint32_t i)
{
    const struct publication *publication = writer->publication;
    uint32_t order = publication->order[i];
    uint32_t rank = publication->values[i].fair_tree_rank;
    bool is_place =
        writer->is_fair_tree && order == place_of_rank(rank, publication->tree->user_count);
    return order && !is_place ? db_integer(order) : db_null();
}

/*
 * Makes the columns of the places.  A column is NULL if the view computes it: the last place if it
 * equals the first one and, with Fair Tree, the place of a user.  The number of users is NULL for a
 * user, who needs none.
 */
static void make_places(const struct fairshare_rows_writer *writer, uint32_t i,
                        struct row_field *row)
{
    const struct user_places *places = &writer->places[i];
    const struct tree *tree = writer->publication->tree;
    uint32_t rank = writer->publication->values[i].fair_tree_rank;
    bool is_account = places->users && !tree->nodes[i].is_user;
    bool is_place = writer->is_fair_tree && places->first == place_of_rank(rank, tree->user_count);
    const struct row_field made[] = {
        { "users_below", 'i', is_account ? db_integer(places->users) : db_null() },
        { "first_place", 'i', places->users && !is_place ? db_integer(places->first) : db_null() },
        { "last_place", 'i', places->last > places->first ? db_integer(places->last) : db_null() },
        { "places_interleaved", 'i', places->interleaved ? db_integer(1) : db_null() },
    };
    memcpy(row, made, sizeof made);
}

/* The names of the columns, indexed by the number of a TRES minus 1. */
static const char *const usage_columns[] = {
    "tres_1", "tres_2",  "tres_3",  "tres_4",  "tres_5",  "tres_6",  "tres_7",  "tres_8",
    "tres_9", "tres_10", "tres_11", "tres_12", "tres_13", "tres_14", "tres_15", "tres_16",
};
static const char *const running_columns[] = {
    "running_1",  "running_2",  "running_3",  "running_4",  "running_5",  "running_6",
    "running_7",  "running_8",  "running_9",  "running_10", "running_11", "running_12",
    "running_13", "running_14", "running_15", "running_16",
};

static struct db_value usage_or_null(double usage)
{
    return usage > 0 ? db_real(usage) : db_null();
}

static struct db_value running_or_null(uint64_t seconds)
{
    return seconds ? db_integer(seconds < INT64_MAX ? (int64_t)seconds : INT64_MAX) : db_null();
}

/*
 * Makes the columns of every number that is in use.  A TRES that is no longer kept has NULL,
 * because a row that is updated in place would otherwise keep its old value.  Returns the number of
 * columns.
 */
static size_t add_tres_columns(const struct fairshare_rows_writer *writer, uint32_t node,
                               struct row_field *row)
{
    const struct publication *publication = writer->publication;
    const struct kept_tres *kept = publication->kept;
    const int128 *sums = kept ? &publication->tres_sums[node * kept->count] : NULL;
    size_t count = 0;
    for (unsigned i = 0, k = 0; i < KEPT_TRES_LIMIT; i++) {
        if (!publication->numbers || !publication->numbers->names[i])
            continue;
        bool is_kept = kept && k < kept->count && kept->tres[k].number == i + 1;
        row[count++] = (struct row_field){ usage_columns[i], 'r',
                                           is_kept ? usage_or_null(decay_table_narrow_usage(
                                                         publication->decay, sums[k]))
                                                   : db_null() };
        row[count++] = (struct row_field){ running_columns[i], 'i',
                                           is_kept ? running_or_null(tres_minutes_running(
                                                         publication->tres_minutes, node, k))
                                                   : db_null() };
        k += is_kept;
    }
    return count;
}

/* Returns the number of columns. */
static size_t make_value_row(struct fairshare_rows_writer *writer, uint32_t i,
                             struct row_field *row)
{
    const struct publication *publication = writer->publication;
    const struct values *values = &publication->values[i];
    const uint32_t *pbs_order = publication->pbs_order;
    const char *running = tres_minutes_of(publication->tres_minutes, i).running;
    const struct row_field made[VALUE_COLUMNS - PLACE_COLUMNS] = {
        { "cluster", 't', db_text(writer->publisher->cluster) },
        { "id_assoc", 'i', db_integer(publication->tree->nodes[i].id) },
        { "usage_raw", 'r', rows_real(values->usage_raw) },
        { "usage_norm", 'r', rows_real(values->usage_norm) },
        { "capacity_usage", 'r', rows_real(values->capacity_usage) },
        { "level_usage", 'r', rows_real(values->level_usage) },
        { "classic_usage", 'r', rows_real(values->classic_usage) },
        { "classic_factor", 'r', rows_real(values->classic_factor) },
        { "linear_usage", 'r', rows_real(values->linear_usage) },
        { "linear_factor", 'r', rows_real(values->linear_factor) },
        { "depth_oblivious_ratio", 'r', rows_real(values->depth_oblivious_ratio) },
        { "depth_oblivious_factor", 'r', rows_real(values->depth_oblivious_factor) },
        { "depth_oblivious_usage", 'r', rows_real(own_depth_oblivious_usage(values)) },
        { "level_fs", 'r', rows_real(values->level_fs) },
        { "fair_tree_rank", 'i',
          values->fair_tree_rank ? db_integer(values->fair_tree_rank) : db_null() },
        { "pbs_tree_usage", 'r', writer->pbs_own ? rows_real(values->pbs_tree_usage) : db_null() },
        { "pbs_factor", 'r', writer->pbs_own ? rows_real(values->pbs_factor) : db_null() },
        { "fairshare_order", 'i', own_order(writer, i) },
        { "pbs_order", 'i', pbs_order && pbs_order[i] ? db_integer(pbs_order[i]) : db_null() },
        { "tres_run_mins", 't', running ? db_text(running) : db_null() },
    };
    memcpy(row, made, sizeof made);
    make_places(writer, i, row + COUNT(made));
    return VALUE_COLUMNS + add_tres_columns(writer, i, row + VALUE_COLUMNS);
}

static bool same_real(double one, double other)
{
    return one == other || (isnan(one) && isnan(other));
}

/*
 * Returns true if any PBS value differs from the value of the classic algorithm; then the run
 * writes all PBS values.  Without a minimum usage and without dampening, all values are equal.
 */
static bool has_own_pbs(const struct publication *publication)
{
    for (uint32_t i = 0; i < publication->tree->count; i++) {
        const struct values *values = &publication->values[i];
        if (!same_real(values->pbs_tree_usage, values->classic_usage) ||
            !same_real(values->pbs_factor, values->classic_factor))
            return true;
    }
    return false;
}

/*
 * Another program may have changed rows.  A full run compares all rows; an incremental run compares
 * one part of a large table.  A hash of the run_id selects the part.  The run_id itself, modulo the
 * number of parts, might never select some parts, because all clusters share the sequence of
 * run_ids.
 *
 * A part has about ROWS_LOOKED_AT rows, and more if the table has more than PARTS times as many.
 */
#define ROWS_LOOKED_AT 1000
#define PARTS 16

static size_t count_parts(const struct publication *publication)
{
    size_t parts = publication->looks_at_all ? 1 : publication->tree->count / ROWS_LOOKED_AT;
    return parts < 1 ? 1 : parts > PARTS ? PARTS : parts;
}

static int look_at_some(struct fairshare_rows_writer *writer, bool *as_stored, struct error *err)
{
    const struct tree *tree = writer->publication->tree;
    const uint64_t run = (uint64_t)writer->publisher->run_id;
    size_t parts = count_parts(writer->publication);
    size_t part = (size_t)(hash_words(&run, 1) % parts);
    size_t from = tree->count * part / parts, to = tree->count * (part + 1) / parts;
    const struct db_value arguments[] = {
        db_text(writer->publisher->cluster),
        db_integer(part ? tree->nodes[tree->by_id[from]].id : INT64_MIN),
        db_integer(part + 1 < parts ? tree->nodes[tree->by_id[to]].id - 1 : INT64_MAX),
    };
    const struct db_value *row;
    struct row_hash found = { 0 }, computed = { 0 };
    for (size_t at = from; at < to; at++)
        add_tree_row(writer, tree->by_id[at], &computed);
    struct db_rows *rows = db_query(writer->publisher->db, sql_query_tree_part, arguments,
                                    COUNT(arguments), "iiitttirritii", err);
    while (db_fetch(rows, &row, err) > 0)
        row_hash_add_values(&found, row, TREE_COLUMNS - 1);
    int result = db_finish(rows);
    *as_stored = !result && row_hash_same(&found, &computed);
    /* A value of the wrong type is a difference, not an error. */
    return result && err->class != ERROR_DATA ? -1 : 0;
}

/* Sets `*is_there` to whether fairmill_tree already has the rows with this hash. */
static int find_tree(struct fairshare_rows_writer *writer, const struct row_hash *wanted,
                     bool *is_there, struct error *err)
{
    struct row_hash stored;
    if (stored_read_all(writer->publisher->db, writer->publisher->cluster, tree_table, &stored,
                        err))
        return -1;
    *is_there = row_hash_same(&stored, wanted);
    return *is_there ? look_at_some(writer, is_there, err) : 0;
}

static int fairshare_rows_clear(const struct fairshare_rows_writer *writer, const char *statement,
                                struct error *err)
{
    struct db_value cluster = db_text(writer->publisher->cluster);
    return db_execute(writer->publisher->db, statement, &cluster, 1, NULL, err);
}

static int fairshare_rows_keep(const struct fairshare_rows_writer *writer, const char *table,
                               struct row_hash stored, struct error *err)
{
    return stored_write(writer->publisher->db, writer->publisher->cluster, table,
                        &(struct hash_segment){ 0, stored }, err);
}

static int write_tree(struct fairshare_rows_writer *writer, const struct row_hash *stored,
                      struct error *err)
{
    const struct tree *tree = writer->publication->tree;
    struct row_writer rows = { .db = writer->publisher->db, .table = tree_table };
    struct row_field row[TREE_COLUMNS];
    if (fairshare_rows_clear(writer, sql_query_tree_clear, err))
        return -1;
    for (uint32_t i = 0; i < tree->count; i++) {
        make_tree_row(writer, tree->by_id[i], row);
        rows_add(&rows, row, TREE_COLUMNS, err);
    }
    return rows_end(&rows, 0, err) ? -1 : fairshare_rows_keep(writer, tree_table, *stored, err);
}

/*
 * Rows are in order of ids, and the arrays in order of the tree.  Loads the data of a row to come
 * into the cache, or each row would wait for the memory.
 */
static void fetch_row(const struct fairshare_rows_writer *writer, size_t at)
{
    const struct publication *publication = writer->publication;
    const struct tree *tree = publication->tree;
    if (at >= tree->count)
        return;
    uint32_t i = tree->by_id[at];
    const char *values = (const char *)&publication->values[i];
    __builtin_prefetch(&tree->nodes[i].id);
    __builtin_prefetch(&publication->order[i]);
    __builtin_prefetch(&writer->places[i]);
    for (size_t k = 0; k < sizeof(struct values); k += CACHE_LINE)
        __builtin_prefetch(values + k);
    __builtin_prefetch(values + sizeof(struct values) - 1);
    if (publication->kept)
        __builtin_prefetch(&publication->tres_sums[i * publication->kept->count]);
    tres_minutes_fetch(publication->tres_minutes, i);
}

/*
 * Writes all values, because nearly all change with each run.  If the database does not update in
 * place, removes all rows first; to replace them one by one would take a third longer.  Writes in
 * key order, so that the database need not search for a row's position or split a page that it has
 * just filled.
 */
static int fairshare_rows_write_values(struct fairshare_rows_writer *writer, bool in_place,
                                       struct error *err)
{
    const struct tree *tree = writer->publication->tree;
    struct row_writer rows = { .db = writer->publisher->db,
                               .table = value_table,
                               .keys = in_place ? 2 : 0 };
    struct row_field row[VALUE_ROOM];
    struct row_hash stored = { 0 };
    if (!in_place && !writer->publisher->clears_values &&
        fairshare_rows_clear(writer, sql_query_value_clear, err))
        return -1;
    for (uint32_t i = 0; i < tree->count; i++) {
        fetch_row(writer, (size_t)i + ROWS_AHEAD);
        size_t columns = make_value_row(writer, tree->by_id[i], row);
        row_hash_add_fields(&stored, row + 1, columns - 1);
        rows_add(&rows, row, columns, err);
    }
    return rows_end(&rows, 0, err) ? -1 : fairshare_rows_keep(writer, value_table, stored, err);
}

/* Removes values of associations that no longer exist; no view shows them. */
static int remove_strays(const struct fairshare_rows_writer *writer, struct error *err)
{
    struct db_value cluster = db_text(writer->publisher->cluster);
    int64_t count = 0;
    int found =
        rows_read_integer(writer->publisher->db, sql_query_value_count, &cluster, 1, &count, err);
    if (found < 0 || count == writer->publication->tree->count)
        return found < 0 ? -1 : 0;
    return fairshare_rows_clear(writer, sql_query_value_strays, err);
}

int fairshare_rows_write(const struct publisher *publisher, const struct publication *publication,
                         struct error *err)
{
    const struct settings *settings = publisher->settings;
    struct fairshare_rows_writer writer = {
        .publisher = publisher,
        .publication = publication,
        .is_fair_tree = settings->algorithm == algorithm_named("fair_tree"),
        .pbs_own = has_own_pbs(publication),
        .ties = settings->conformance == CONFORMANCE_SLURMCTLD || scheduler_of(settings)->has_pbsfs
                    ? tree_places_in_order(publication->tree)
                    : NULL,
        .places = user_places_create(publication->tree, publication->order),
    };
    struct row_hash stored = { 0 };
    writer.name_words = hash_names(publication->names, &writer.converted[0]);
    for (uint32_t i = 0; i < publication->tree->count; i++)
        add_tree_row(&writer, i, &stored);
    bool is_there = false;
    int result = publisher->locked ? find_tree(&writer, &stored, &is_there, err) : 0;
    bool in_place = is_there && publisher->db->driver->updates_in_place;
    if (!result && !is_there)
        result = write_tree(&writer, &stored, err);
    if (!result)
        result = fairshare_rows_write_values(&writer, in_place, err);
    if (!result && in_place)
        result = remove_strays(&writer, err);
    for (size_t i = 0; i < COUNT(writer.converted); i++)
        text_free(&writer.converted[i]);
    free(writer.name_words);
    free(writer.ties);
    free(writer.places);
    return result;
}

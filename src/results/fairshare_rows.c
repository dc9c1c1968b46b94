/* SPDX-License-Identifier: MIT */
#include "results/fairshare_rows.h"

#include <math.h>
#include <string.h>

#include "results/publication.h"
#include "results/rows.h"
#include "settings/settings.h"
#include "sql.h"
#include "util/index.h"
#include "util/text.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct db_column fairshare_columns[] = {
    { "cluster", 't' },
    { "id_assoc", 'i' },
    { "parent_id", 'i' },
    { "depth", 'i' },
    { "account", 't' },
    { "user_name", 't' },
    { "partition_name", 't' },
    { "shares", 'i' },
    { "shares_norm", 'r' },
    { "level_shares_norm", 'r' },
    { "usage_raw", 'r' },
    { "usage_norm", 'r' },
    { "capacity_usage", 'r' },
    { "level_usage", 'r' },
    { "classic_usage", 'r' },
    { "classic_factor", 'r' },
    { "linear_usage", 'r' },
    { "linear_factor", 'r' },
    { "depth_oblivious_ratio", 'r' },
    { "depth_oblivious_factor", 'r' },
    { "level_fs", 'r' },
    { "level_fs_infinite", 'i' },
    { "fair_tree_rank", 'i' },
    { "fair_tree_factor", 'r' },
    { "pbs_target", 'r' },
    { "pbs_tree_usage", 'r' },
    { "pbs_factor", 'r' },
    { "fairshare", 'r' },
    { "run_id", 'i' },
    { "computed_at", 'i' },
};
static const struct row_table fairshare_table = { "fairmill_fairshare", fairshare_columns,
                                                  COUNT(fairshare_columns) };

struct writer {
    const struct publisher *publisher;
    const struct publication *publication;
    int64_t as_of;
    struct text converted[3];
};

static void fill_row(struct writer *writer, uint32_t i, struct db_value *row)
{
    const struct tree *tree = writer->publication->tree;
    const struct names *names = writer->publication->names;
    const struct node *node = &tree->nodes[i];
    const struct values *values = &writer->publication->values[i];
    const struct algorithm *algorithm = writer->publisher->settings->algorithm;
    bool root = i == 0;
    struct db_value filled[] = {
        db_text(writer->publisher->cluster),
        db_integer(node->id),
        root ? db_null() : db_integer(tree->nodes[node->parent].id),
        db_integer(node->depth),
        rows_text(names_text(names, node->account), &writer->converted[0]),
        rows_text(names_text(names, node->user), &writer->converted[1]),
        rows_text(names_text(names, node->partition), &writer->converted[2]),
        node_has_parent_shares(node) ? db_null() : db_integer(node->shares),
        rows_real(values->shares_norm),
        rows_real(values->level_shares_norm),
        rows_real(values->usage_raw),
        rows_real(values->usage_norm),
        rows_real(values->capacity_usage),
        rows_real(values->level_usage),
        rows_real(values->classic_usage),
        rows_real(values->classic_factor),
        rows_real(values->linear_usage),
        rows_real(values->linear_factor),
        rows_real(values->depth_oblivious_ratio),
        rows_real(values->depth_oblivious_factor),
        rows_real(values->level_fs),
        root ? db_null() : db_integer(isinf(values->level_fs) ? 1 : 0),
        values->fair_tree_rank ? db_integer(values->fair_tree_rank) : db_null(),
        rows_real(values->fair_tree_factor),
        rows_real(values->shares_norm),
        rows_real(values->pbs_tree_usage),
        rows_real(values->pbs_factor),
        rows_real(algorithm->factor(values)),
        db_integer(writer->publisher->run_id),
        db_integer(writer->as_of),
    };
    _Static_assert(COUNT(filled) == COUNT(fairshare_columns), "a value for each column");
    memcpy(row, filled, sizeof filled);
}

int fairshare_rows_clear(const struct publisher *publisher, struct error *err)
{
    struct db_value cluster = db_text(publisher->cluster);
    return db_execute(publisher->db, sql_query_fairshare_clear, &cluster, 1, NULL, err);
}

int fairshare_rows_write(const struct publisher *publisher, const struct publication *publication,
                         int64_t as_of, struct error *err)
{
    struct writer writer = { publisher, publication, as_of, { { 0 } } };
    /* Nearly every value changes with every run, so that to replace rows one by one takes longer by
     * a third.  In the order of the key a database need not search for where a row belongs, nor
     * split a page that it has just filled. */
    if (fairshare_rows_clear(publisher, err))
        return -1;
    struct db_bulk *bulk = rows_begin(publisher->db, &fairshare_table, 0, err);
    for (uint32_t i = 0; i < publication->tree->count; i++) {
        struct db_value row[COUNT(fairshare_columns)];
        fill_row(&writer, publication->tree->by_id[i], row);
        db_bulk_row(bulk, row, err);
    }
    for (size_t i = 0; i < COUNT(writer.converted); i++)
        text_free(&writer.converted[i]);
    return db_bulk_end(bulk, err);
}

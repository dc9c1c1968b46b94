/* SPDX-License-Identifier: MIT */
#include "results/publication.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/tree/lineage.h"
#include "results/kept.h"
#include "results/rows.h"
#include "settings/settings.h"
#include "source/tres_minutes.h"
#include "sql.h"
#include "util/index.h"
#include "util/text.h"

struct writer {
    const struct publisher *publisher;
    const struct publication *publication;
    int64_t as_of;
    uint32_t *ties; /* by node: when slurmctld or pbsfs visits it; NULL: neither is asked */
    struct row_writer rows;
    struct kept_rows kept;
    struct text converted[3];
};

static void write_row(struct writer *writer, uint32_t i, struct error *err)
{
    const struct tree *tree = writer->publication->tree;
    const struct names *names = writer->publication->names;
    const struct node *node = &tree->nodes[i];
    const struct values *values = &writer->publication->values[i];
    const struct algorithm *algorithm = writer->publisher->settings->algorithm;
    uint32_t order = writer->publication->order[i];
    const uint32_t *pbs_order = writer->publication->pbs_order;
    const struct tres_minutes_texts tres = tres_minutes_of(writer->publication->tres_minutes, i);
    bool root = i == 0;
    struct row_field row[] = {
        { "cluster", 't', db_text(writer->publisher->cluster) },
        { "id_assoc", 'i', db_integer(node->id) },
        { "parent_id", 'i', root ? db_null() : db_integer(tree->nodes[node->parent].id) },
        { "depth", 'i', db_integer(node->depth) },
        { "account", 't', rows_text(names_text(names, node->account), &writer->converted[0]) },
        { "user_name", 't', rows_text(names_text(names, node->user), &writer->converted[1]) },
        { "partition_name", 't',
          rows_text(names_text(names, node->partition), &writer->converted[2]) },
        { "shares", 'i', node_has_parent_shares(node) ? db_null() : db_integer(node->shares) },
        { "shares_norm", 'r', rows_real(values->shares_norm) },
        { "level_shares_norm", 'r', rows_real(values->level_shares_norm) },
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
        { "level_fs", 'r', rows_real(values->level_fs) },
        { "level_fs_infinite", 'i',
          root ? db_null() : db_integer(isinf(values->level_fs) ? 1 : 0) },
        { "fair_tree_rank", 'i',
          values->fair_tree_rank ? db_integer(values->fair_tree_rank) : db_null() },
        { "fair_tree_factor", 'r', rows_real(values->fair_tree_factor) },
        { "pbs_target", 'r', rows_real(values->shares_norm) },
        { "pbs_tree_usage", 'r', rows_real(values->pbs_tree_usage) },
        { "pbs_factor", 'r', rows_real(values->pbs_factor) },
        { "fairshare", 'r', rows_real(algorithm->factor(values)) },
        { "run_id", 'i', db_integer(writer->publisher->run_id) },
        { "computed_at", 'i', db_integer(writer->as_of) },
        { "fairshare_order", 'i', order ? db_integer(order) : db_null() },
        { "depth_oblivious_usage", 'r', rows_real(values->depth_oblivious_usage) },
        { "grp_tres_mins", 't', tres.group_limit ? db_text(tres.group_limit) : db_null() },
        { "tres_run_mins", 't', tres.running ? db_text(tres.running) : db_null() },
        { "tie_order", 'i', writer->ties ? db_integer(writer->ties[i]) : db_null() },
        { "pbs_order", 'i', pbs_order && pbs_order[i] ? db_integer(pbs_order[i]) : db_null() },
    };
    kept_add_fields(&writer->kept, row + 1, COUNT(row) - 1);
    rows_add(&writer->rows, row, COUNT(row), err);
}

int fairshare_rows_write(const struct publisher *publisher, const struct publication *publication,
                         int64_t as_of, struct error *err)
{
    struct db_value cluster = db_text(publisher->cluster);
    struct writer writer = {
        .publisher = publisher,
        .publication = publication,
        .as_of = as_of,
        .ties = publisher->settings->conformance == CONFORMANCE_SLURMCTLD ||
                        settings_of_pbs(publisher->settings)
                    ? tree_places_in_order(publication->tree)
                    : NULL,
        .rows = { .db = publisher->db, .table = "fairmill_fairshare" },
    };
    int result = -1;
    /* Nearly every value changes with every run, so that to replace rows one by one takes longer by
     * a third.  In the order of the key a database need not search for where a row belongs, nor
     * split a page that it has just filled. */
    if (db_execute(publisher->db, sql_query_fairshare_clear, &cluster, 1, NULL, err))
        goto done;
    for (uint32_t i = 0; i < publication->tree->count; i++)
        write_row(&writer, publication->tree->by_id[i], err);
    for (size_t i = 0; i < COUNT(writer.converted); i++)
        text_free(&writer.converted[i]);
    if (!rows_end(&writer.rows, 0, err))
        result = kept_write(publisher->db, publisher->cluster, writer.rows.table,
                            &(struct kept_part){ 0, writer.kept }, err);
done:
    free(writer.ties);
    return result;
}

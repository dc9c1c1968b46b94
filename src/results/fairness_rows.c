/* SPDX-License-Identifier: MIT */
#include "results/fairness_rows.h"

#include "core/insight/fairness.h"
#include "results/kept.h"
#include "results/publication.h"
#include "results/rows.h"

int fairness_rows_write(const struct publisher *publisher, const struct tree *tree,
                        const struct values *values, int64_t as_of, struct error *err)
{
    struct row_writer writer = { .db = publisher->db, .table = "fairmill_fairness", .keys = 3 };
    struct kept_part part = { .part = as_of };
    for (enum fairness_scope scope = 0; scope < FAIRNESS_SCOPES; scope++) {
        const struct fairness fairness = fairness_of(tree, values, scope);
        struct row_field row[] = {
            { "cluster", 't', db_text(publisher->cluster) },
            { "as_of", 'i', db_integer(as_of) },
            { "scope", 't', db_text(fairness_scope_name(scope)) },
            { "members", 'i', db_integer(fairness.members) },
            { "jain", 'r', rows_real(fairness.jain) },
            { "use_over", 'r', rows_real(fairness.use_over) },
            { "share_over", 'r', rows_real(fairness.share_over) },
            { "use_under", 'r', rows_real(fairness.use_under) },
            { "share_under", 'r', rows_real(fairness.share_under) },
        };
        kept_add_fields(&part.kept, row + 2, COUNT(row) - 2);
        rows_add(&writer, row, COUNT(row), err);
    }
    if (rows_end(&writer, 0, err))
        return -1;
    return kept_write(publisher->db, publisher->cluster, kept_fairness.name, &part, err);
}

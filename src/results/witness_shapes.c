/* SPDX-License-Identifier: MIT */
#include "results/witness_shapes.h"

#include <string.h>

#include "sql.h"

/* Its hash covers them all. */
static const char *const of_earlier_runs[] = { "full_as_of",   "checked_to", "jobs_from",
                                               "first_charge", "hash",       NULL };
/* How the run went, and where. */
static const char *const of_the_run[] = {
    "duration_ms",
    "kind",
    "why",
    "jobs_read",
    "source_newest",
    "source_lag",
    "drift_max",
    "drifted_associations",
    "version",
    "host",
    "os_user",
    "message",
    NULL,
};

/* clang-format off */
const struct witness_shape witness_shapes[] = {
    { .name = "fairmill_seal", .clear = sql_query_seal_clear, .kind = OF_SEAL, .except = of_earlier_runs },
    { .name = "fairmill_seal_usage", .keys = { "id_assoc" }, .clear = sql_query_seal_usage_clear,
      .kind = OF_SEAL },
    { .name = "fairmill_seal_open", .keys = { "job_key" }, .clear = sql_query_seal_open_clear,
      .remove = sql_query_seal_open_remove, .kind = OF_SEAL },
    { .name = "fairmill_seal_odd", .keys = { "kind", "subject", "time_end" },
      .clear = sql_query_seal_odd_clear, .kind = OF_SEAL },
    { .name = "fairmill_seal_slice", .keys = { "day" }, .clear = sql_query_seal_slice_clear,
      .remove = sql_query_seal_slice_remove, .kind = OF_SEAL },
    { .name = "fairmill_usage_day", .keys = { "day", "id_assoc" },
      .clear = sql_query_usage_day_clear, .remove = sql_query_usage_day_remove, .kind = BY_DAY },
    { .name = "fairmill_usage_open", .keys = { "day", "id_assoc" },
      .clear = sql_query_usage_open_clear, .remove = sql_query_usage_open_remove, .kind = BY_DAY },
    { .name = "fairmill_tree", .keys = { "id_assoc" }, .clear = sql_query_tree_clear,
      .in_order = true },
    { .name = "fairmill_value", .keys = { "id_assoc" }, .clear = sql_query_value_clear,
      .in_order = true },
    { .name = "fairmill_job_priority", .keys = { "job_db_inx", "partition_name", "qos" },
      .clear = sql_query_job_priority_clear, .in_order = true },
    { .name = "fairmill_job_term", .keys = { "job_db_inx", "name" },
      .clear = sql_query_job_term_clear, .in_order = true },
    { .name = "fairmill_usage_span", .in_order = true },
    { .name = "fairmill_privilege", .keys = { "user_name", "account" },
      .clear = sql_query_privilege_clear },
    { .name = "fairmill_run", .keys = { "run_id" }, .except = of_the_run },
};
/* clang-format on */

const size_t witness_shape_count = sizeof witness_shapes / sizeof *witness_shapes;
const struct witness_shape *const witness_seal_shape = &witness_shapes[0];

const struct witness_shape *witness_shape_named(const char *name)
{
    for (size_t i = 0; i < witness_shape_count; i++)
        if (!strcmp(witness_shapes[i].name, name))
            return &witness_shapes[i];
    return NULL;
}

size_t witness_key_count(const struct witness_shape *shape)
{
    size_t count = 0;
    while (shape->keys[count])
        count++;
    return count;
}
